"""Words that mean little or much when requests are compared, in the languages that people most often write in."""

from __future__ import annotations

from skillgit.skills.words import words_of


def _words(text: str) -> frozenset[str]:
    return frozenset(words_of(text))


COURTESY = _words(
    "please pls kindly hi hello hey thanks thank can could would will you now just me again bitte danke merci gracias "
    "por favor пожалуйста спасибо 请 請"
)
"""Words that change nothing about what is asked."""

ARTICLES = _words(
    "a an the this that these those my our your their der die das den dem ein eine le la les un une el los las"
)
"""Words before a thing that do not tell which."""

SMALL = _words(
    "of for to in on at by from with as and or is are was were be been do does did it its i we s und oder für von zu "
    "im am et ou de des du y o en в на и с по 的 了"
)
"""Words by which two ways to ask the same may differ."""

NEGATIONS = _words("not no never without don doesn isn nicht kein keine ohne pas sans sin нет не без 不 没 無 ない")
"""Words that turn a request into its opposite."""

COMMON = _words(
    "what which who when where why how there here they them have has had not but all any some make makes give gives "
    "write answer user person should must only same more than then into about"
)
"""Words that any two requests may share, whatever they are about."""

REPORTS = _words(
    "done fixed updated added created removed deleted changed renamed moved implemented committed pushed merged "
    "installed reverted refactored written ok okay sure understood noted got sorry apologies certainly absolutely "
    "great here i we you your welcome glad happy all now everything erledigt fertig gerne hier ich hecho listo aquí "
    "he fait terminé voici je готово вот я"
)
"""Words with which an answer begins that tells of work or speaks to the person, and is no value."""

REPORT_STARTS = ("no problem", "of course", "my pleasure", "the file", "the test", "完了", "完成", "已", "好的", "はい")
"""The same, of several words or in writing without spaces."""
