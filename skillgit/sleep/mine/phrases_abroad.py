"""The words of `phrases` in German, French, Spanish, Russian, Chinese and Japanese."""

from __future__ import annotations

from skillgit.sleep.mine.phrases import one_of

NEGATIVE = one_of(
    r"\b(?:falsch|fehlerhaft|kaputt|stimmt (?:so |leider |immer noch |noch )?nicht|(?:funktioniert|geht|klappt|"
    r"läuft|passt|baut|kompiliert) (?:\w+ ){0,3}nicht|"
    r"immer noch (?:nicht|falsch|kaputt|der|ein|fehler)|schon wieder|nicht (?:richtig|korrekt|das,? was|was ich|"
    r"gut)|du hast [^.\n]{0,40}(?:vergessen|übersehen|ignoriert))\b",
    r"^nein\b(?!,? (?:danke|alles|passt|das (?:war|ist) alles|nichts))",
    r"\b(?:(?:marche|fonctionne|compile|passe) (?:toujours |encore )?pas|toujours (?:pas|faux|cassé|la même)|"
    r"c'est (?:faux|pas (?:bon|ça|correct|ce que))|ce n'est pas|"
    r"pas (?:correct|bon|ce que j)|tu as (?:oublié|cassé|ignoré)|encore (?:faux|une erreur|la même))\b",
    r"^(?:non|faux)\b(?!,? (?:merci|c'est (?:tout|bon)|rien))",
    r"\b(?:no (?:funciona|sirve|compila|es (?:correcto|eso|lo que)|está bien|está correcto)|sigue (?:sin|fallando|"
    r"mal|roto|igual)|está (?:mal|roto|equivocado)|incorrecto|"
    r"equivocado|(?:todavía|aún) (?:no|falla)|(?:te )?olvidaste)\b",
    r"\b(?:не работает|не компилируется|неверно|неправильно|(?:всё|все) (?:ещё|еще) (?:не|ошибка|сломан)\w*|"
    r"по-прежнему не|не то,? что|это не то|не так|не помогло|опять (?:не|ошибка)|"
    r"снова (?:не|ошибка)|сломал\w*|ты забыл\w*)\b",
    r"^нет\b(?!,? (?:спасибо|всё|все|ничего|это всё))",
    r"不对|不對|(?<!没)(?<!沒)错了|錯了|还是(?:不|错|有)|還是(?:不|錯|有)|不行|不正确|不正確|没有?用|没用|不工作|(?:有|出)问题|不是这样|不是我|又错|报错|重新(?:做|写|来)|"
    r"失败了",
    r"違う|違います|違って|間違|動かない|動きません|動作しない|動作しません|ダメ|だめ|直って(?:い)?ない|直っていません|まだ(?:エラー|動|直|だめ|ダメ|おかしい)|おかしい|やり直し|そうじゃな|"
    r"ではありません",
)

POSITIVE = one_of(
    r"\b(?:perfekt|prima|klasse|großartig|wunderbar|hervorragend|sehr gut|passt so|"
    r"stimmt(?: so)?(?! (?:\w+ )?nicht)|(?:funktioniert|klappt|läuft|geht) (?:jetzt|super|gut|wunderbar|"
    r"einwandfrei))\b",
    r"^(?:super|toll|genau|passt|funktioniert|klappt)(?=[,.! ]|$)(?! (?:\w+ ){0,3}nicht)",
    r"\b(?:parfait|génial|(?<!ne )ça (?:marche|fonctionne)(?! (?:toujours |encore )?pas)|c'est (?:bon|parfait|"
    r"exact|ça)|très bien|bravo|exactement|impeccable|nickel)\b",
    r"\b(?:perfecto|genial|excelente|estupendo|muy bien|ya funciona|(?<!no )funciona (?:bien|ahora|perfecto)|"
    r"exacto|buen trabajo)\b",
    r"\b(?:отлично|идеально|прекрасно|замечательно|превосходно|молодец|(?<!не )(?:теперь |всё |все )работает|"
    r"всё верно|все верно|так и надо|то что нужно)\b",
    r"很好|完美|可以了|不错|不錯|太好了|(?<!不)正确|没问题|沒問題|没错|沒錯|太棒|好极了|搞定",
    r"完璧|いいね|いいです|できました|できた|動いた|動きました|素晴らし|(?<!は)正しいです|助かり|問題(?:ない|ありません|なし)|ばっちり|バッチリ|その通り",
)

THANKS = one_of(
    r"^(?:danke|vielen dank|merci|gracias|muchas gracias|спасибо|большое спасибо)\b",
    r"^(?:谢谢|多谢|感谢|ありがと)",
)

RESTATED = one_of(
    r"\b(?:immer|niemals|nie wieder|künftig|in zukunft|ab jetzt|stattdessen|nicht [^.,\n]{1,40},? sondern|sollte|"
    r"soll (?:immer|nur|nicht)|bitte (?:nur|kein\w*|ohne|nicht))\b",
    r"\b(?:toujours|jamais|désormais|à l'avenir|plutôt|au lieu d|il faut|devrait|doit|sans (?:le|la|les))\b",
    r"\b(?:siempre|nunca|en vez de|en lugar de|a partir de ahora|debe(?:ría)?|sin (?:el|la|los|las))\b",
    r"\b(?:всегда|никогда|вместо|впредь|должн[оаы]?|нужно (?:всегда|только)|не [^.,\n]{1,40},? а )\b",
    r"(?:总是|永远|不要|应该|必须|而不是|以后|请用|改成|只要)",
    r"(?:必ず|常に|絶対に|しないで|代わりに|べき|今後|にしてください|だけで)",
)
