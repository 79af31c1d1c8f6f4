"""The words by which people say that an answer was wrong, or right, in English: lower case, straight apostrophes.

They must be about the answer: "it doesn't work" is, "write a test for what doesn't work" is not.
"""

from __future__ import annotations

import re


def one_of(*patterns: str) -> re.Pattern[str]:
    """A pattern that matches what any of these does."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_START = (
    r"(?:^|(?<=[.!?,;:\n(–—])|(?<= - )|(?<=\bbut)|(?<=\bbut it)|(?<=\bstill)|(?<=\bnow)|(?<=\band)|(?<=\bhmm)|"
    r"(?<=\bsorry)|(?<=\bunfortunately))\s*"
)
_THAT = r"(?:(?<![a-z0-9] )|(?<=\bbut )|(?<=\band )|(?<=\bno )|(?<=\bso )|(?<=\bok ))that"
_IT = (
    rf"(?:\b(?:it|{_THAT}|this|they|these|those|your \w+|the (?:\w+ )?(?:fix|change|changes|answer|result|"
    rf"output|code|script|tests?|"
    r"build|solution|patch|page|app|query|function|command|error|bug|problem|issue))\s)"
)
_HOW = (
    r"(?:(?:still|just|really|also|clearly|completely|totally|simply|plain|all|now|again|a bit|way|far|much|"
    r"unfortunately|actually|even)\s){0,3}"
)
_NOT = (
    r"(?:doesn'?t|does not|didn'?t|did not|don'?t|do not|isn'?t|is not|aren'?t|wasn'?t|was not|won'?t|can'?t|"
    r"cannot|still not|not)"
)
_WORKS = (
    r"(?:work(?:ing|ed)?|compil(?:e|ing)|build(?:ing)?|run(?:ning)?|help(?:ing|ed)?|fix(?:ed)?|pass(?:ing)?|"
    r"render(?:ing)?|load(?:ing)?|"
    r"start(?:ing)?|match|solve[d]?|right|correct(?:ly)?|it\b|true|good|enough|acceptable|ok(?:ay)?|done|finished|"
    r"complete|there|quite|"
    r"what (?:i|we)|how (?:i|we)|the (?:right|same|correct|point)|make sense|look (?:right|good|correct))\b"
)
_BAD = (
    r"(?:wrong|incorrect|broken|nonsense|useless|rubbish|garbage|bad|worse|terrible|awful|ugly|buggy|bogus|"
    r"outdated|off|"
    r"too (?:long|short|verbose|wordy|many|much|slow|complicated|big|small|vague|generic|formal|wide|narrow))\b"
)
_FAILS = (
    r"(?:fails?|failed|failing|crash(?:es|ed|ing)?|breaks|broke|hangs|errors?(?: out)?|throws|threw|times out|"
    r"returns? (?:nothing|null|none|an error))\b"
)

HARMLESS = one_of(
    r"\bno longer \w+",
    r"\bno (?:more )?(?:errors?|problems?|issues?|worries|rush|need|doubt|idea|thanks?)\b",
    rf"\b(?:not|isn't|aren't|wasn't|nothing(?: is|'s)?|never|neither) (?:longer )?{_BAD}",
    r"\bwhat(?:'s| is| was| went|'re| are)? (?:\w+ )?wrong\b",
    r"\bgo(?:es)? wrong\b",
    r"\bif (?:it|this|that|something|anything) [^.,;]{0,40}",
    r"(?<!why )\b(?:didn't|don't|doesn't|isn't|wasn't|aren't|haven't) (?:you|i|we|it|that|this)\b[^.!?\n]{0,80}\?",
    r"\b(?:that's|it's|that is|it is|this is) (?:not|no) (?:a |an )?(?:big |real )?(?:problem|issue|bug|necessary|"
    r"needed|important|urgent|"
    r"bad|your fault|rush|hurry|deal)\b",
    r"\b(?:not|nothing) (?:only|just|sure|yet|now|else|necessarily|needed|necessary)\b",
    r"\bno,? (?:that's|that is|it's|it is|this is) (?:all|it|fine|ok|okay|"
    r"good|great|perfect|right|correct|everything)\b",
    r"\bno,? (?:nothing|thanks|thank you|i'm good|we're good|go ahead|please continue|don't worry)\b[^.!?\n]{0,40}",
    r"\bwhy (?:is|was|does|did|do) [^?\n]{0,120}\?",
)
"""What sounds like blame and is none; taken out before anything is looked for."""

NEGATIVE = one_of(
    r"^no+(?:pe)?(?=[,.!:;–—]|$|\s(?:that|it|this|i|you|not|don't|do not|use|wait|stop|the other|we|please|wrong|"
    r"make|put|keep))",
    r"^(?:nah|nay|wrong|incorrect|false|broken|bad|ugh|wtf|not (?:quite|really|right|correct|good|it|fixed|"
    r"working))\b",
    rf"{_IT}(?:is |are |was |were |looks? |seems? |got )?{_HOW}{_NOT}\s{_HOW}{_WORKS}",
    rf"\b(?:it|{_THAT}|this)(?:'s| is| was)? {_HOW}{_NOT}\s{_HOW}{_WORKS}",
    rf"{_START}{_HOW}(?:doesn'?t|does not|didn'?t|did not|not) {_HOW}{_WORKS}",
    rf"\b(?:it|{_THAT}|this|they|these|those|you|your \w+|(?:the|my) (?:\w+ )?(?:answer|result|output|fix|code|"
    rf"change|number|value|format|order|"
    rf"date|name|total|link|page|build|test|tests|script))(?:'s|'re| is| are| was| were| looks?| seems?| feels?|"
    rf" got) {_HOW}(?:the )?{_BAD}",
    rf"{_START}(?:still|totally|completely|way|far|just|that's|it's) {_HOW}{_BAD}",
    rf"^{_BAD}",
    rf"(?:{_IT}|\b(?:but|and|now)\s)(?:is |are |keeps? )?{_HOW}{_FAILS}(?! (?:if|when|unless|because you))",
    r"\bstill (?:not|broken|wrong|fail\w*|doesn't|does not|isn't|is not|getting|get|see|seeing|the same|crash\w*|"
    r"throws?|throwing|missing|red|there|happen\w*|"
    r"an? error|shows?|showing|have|has|having|says?|using|uses|no|can't|cannot|won't)\b",
    r"\b(?:the )?same (?:error|problem|issue|bug|mistake|failure)\b",
    r"\b(?:error|fails?|failing|broken|wrong|mistake) again\b",
    r"\bagain (?:wrong|broken|failing)\b",
    r"\b(?:get|getting|got|gives?(?: me)?|see|seeing) (?:(?:an?|the|this|that|another|a new) )?(?:\w+ )?(?:error|"
    r"exception|traceback|failure|warning)s?\b",
    r"\byou(?:'ve| have)?(?: still| just| also| again| completely)? (?:missed|forgot(?:ten)?|ignored|broke|broken|"
    r"misunderstood|misread|skipped|left out|overlooked|"
    r"made (?:a mistake|an error|(?:that|this|it) up)|hallucinated|invented|mixed up|messed up|got (?:it|that|"
    r"this) wrong|failed)\b",
    r"\byou(?: still| again)? (?:didn't|did not|haven't|have not|don't|never)\b",
    r"\byou (?:should(?: not|n't)? have|were(?: not|n't)? supposed to|weren't asked)\b(?! (?:access|received|"
    r"gotten|everything|the|a|all|it)\b)",
    r"\b(?:that's|that is|this is|it's|it is|that was|that isn't|this isn't|it isn't|those are|"
    r"these are)(?: (?:still|just|really|clearly|definitely|certainly))?(?: not)? "
    r"(?:(?:not|n't) )?(?:not (?:what|how|the|a|an|where|why|who|my|our)|the wrong|what i (?:didn't|don't))",
    r"\b(?:isn't|wasn't|not) what (?:i|we) (?:asked|want|wanted|meant|said|need|needed|expected|had in mind)\b",
    r"\bwrong (?:file|function|way|one|place|branch|format|order|number|name|answer|approach|direction|person|date|"
    r"unit|units|line|version|language|column|"
    r"table|type|value|sign|test|folder|path)\b",
    r"\b(?:i|we) (?:already |just |specifically |clearly |explicitly |only )?(?:said|told you|"
    r"asked (?:you )?(?:for|to|not)|meant)\b",
    r"\b(?:as|like) i (?:already )?said\b",
    r"\btry (?:it |that )?(?:again|harder|once more)\b",
    r"\b(?:redo|re-do) (?:it|this|that)\b",
    r"\bdo (?:it|this|that) (?:again|over)\b",
    r"\bstart over\b",
    r"\b(?:undo|revert|roll back|rollback) (?:it|that|this|your|these|those|what you)\b",
    r"\b(?:roll|put|change|turn) (?:it|that|this) back\b",
    r"^(?:please )?(?:fix|correct|undo|revert) (?:it|that|this)(?: please)?[.!]*$",
    r"\bwhy (?:didn't|haven't|don't|can't|won't) you\b",
    r"\bwhy (?:do|are) you (?:keep|still|always)\b",
    r"\b(?:it|this|that|you)(?:'s|'re| is| are) (?:still )?missing\b",
    r"^missing\b",
    r"\bi (?:don't|do not|didn't|did not) (?:like|want (?:it|this|that|the|any))\b",
    r"(?:^|[.!?,;\n] ?|\bbut |\band |\bno )(?:it|this|that)(?:'s not| is not| isn't| wasn't| doesn't| does not|"
    r" didn't| did not|"
    r" won't| can't| cannot) \w+",
    r"\b(?:it|this|your \w+) (?:still )?(?:ignores?|misses|omits|lacks|forgets|loses|drops)\b",
    r"\bhallucinat\w+",
    r"\bmade (?:that|it|this) up\b",
    r"\b(?:you|this|that|it) (?:just )?(?:broke|breaks)\b",
    r"\bare you (?:kidding|serious|sure\?)",
    r"\b(?:almost|nearly|close)[,.]? but\b",
)

POSITIVE = one_of(
    r"^(?:ok(?:ay)?,? |yes,? |yep,? |ah,? |oh,? |wow,? |alright,? )?(?:perfect|great|excellent|awesome|amazing|"
    r"brilliant|wonderful|fantastic|superb|nice|sweet|lovely|cool|"
    r"exactly|correct|good|bingo|hooray|yay|beautiful|impressive|neat)(?=\s*(?:[,.!;:\n–—)-]|$|:\)|👍|🎉|thanks|"
    r"thank|work\b|job\b|stuff\b|one\b|catch\b|idea\b|answer\b|"
    r"now\b|that\b|this\b|it\b|so\b|and\b|!))",
    r"(?<=[.!,;] )(?:perfect|great|excellent|awesome|amazing|brilliant|wonderful|fantastic|exactly|"
    r"beautiful)(?=\s*(?:[,.!]|$))",
    r"\b(?:nice|good|great|excellent|amazing|fantastic|solid) (?:work|job|stuff|catch|one|answer|call)\b",
    r"\bwell done\b",
    r"(?<!if )(?<!how )(?<!sure )(?<!whether )(?<!that )(?<!so )(?<!until )(?<!ensure )(?<!when )(?<!check )"
    r"\b(?:it|that|this|everything|all|which|and|now) "
    r"(?:(?:all|just|really|finally|now|also|indeed) )*(?:works?|worked|is working|does work)\b(?! (?:on|in|with|"
    r"for|by|if|when|like|around)\b)",
    r"\b(?:works|working|fixed|solved|passes|passing|done|green|resolved) (?:now|perfectly|great|fine|well|nicely|"
    r"like a charm|as expected|beautifully)\b",
    r"^(?:works|worked|fixed|solved|all green|lgtm|ship it|love it|yes,? (?:exactly|perfect|that's|please do))\b",
    r"\bworks!",
    r"\blgtm\b",
    r"\b(?:that|this|it)(?: (?:finally|really|totally|completely))? (?:fixed|solved|did|resolved) (?:it|that|the|"
    r"my|this)\b",
    r"\bthat did the trick\b",
    r"\blooks? (?:\w+ )?(?:good|great|right|correct|perfect|fine|nice|better|amazing|awesome|excellent)\b(?! (?:on|"
    r"in|if|for)\b)(?!\?)",
    r"\b(?:that's|that is|this is|it's|it is|they're|these are|you're|that was)(?: (?:exactly|absolutely|"
    r"really|so|much|just|very|now|totally|quite|all))* (?:right|correct|perfect|"
    r"great|good|better|excellent|awesome|it|fine|what i (?:wanted|needed|meant|asked)|how i (?:wanted|"
    r"want))\b(?! (?:to|for|if|enough to|on)\b)(?!\?)",
    r"\ball (?:is )?(?:good|fine|correct|right|set)(?=[,.!]|$)",
    r"\b(?:tests?|build|ci|everything|all) (?:all |is |are )?(?:pass(?:es|ing)?|green)(?: now)?(?=[,.!]|$)",
    r"\bexactly what (?:i|we)\b",
    r"\bmuch better\b(?!\?)",
    r"\b(?:i )?(?:love|like) (?:it|this|that)\b(?! (?:to|if)\b)",
    r"\bspot on\b",
    r"\bproblem solved\b",
)

THANKS = one_of(
    r"^(?:ok(?:ay)?,? |great,? |cool,? |perfect,? |many |yes,? |alright,? |ah,? )?(?:thanks|thank you|thx|ty|"
    r"cheers|tysm|much appreciated)\b(?! in advance)",
    r"^no,? (?:that's|that is|that was) (?:all|it|everything)[.,!]? (?:thanks|thank you|thx)\b",
)
"""Politeness: praise when a turn begins with it and says nothing else of the answer."""

NOT_PRAISE = one_of(
    r"\b(?:not|isn't|wasn't|aren't|doesn't|don't|never|hardly|nothing)(?: (?:\w+ ){0,2})(?:great|perfect|good|nice|"
    r"excellent|right|correct|better|works?|working|"
    r"fine|awesome|like|love|look)\b",
    r"\b(?:would|'d|could|might|will) (?:be|look|work)(?: \w+)? (?:great|nice|good|perfect|better|awesome|fine|"
    r"cool|lovely)\b",
    r"\b(?:nice|good|great) to have\b",
    r"\b(?:great|nice|good|perfect|cool),? if\b",
    r"\b(?:make|making|ensure|check|verify|confirm|see|test|so|until|how|why|whether|if)(?: \w+){0,3} (?:works?|"
    r"is (?:correct|right))\b",
    r"\bgood (?:morning|afternoon|evening|day|question|practice|practices|first)\b",
    r"\bis (?:it|this|that) (?:\w+ )?(?:right|correct|good|fine|ok)\b",
    r"\bnot (?:bad)\b",
)
"""What sounds like praise and is none."""

BUT = re.compile(
    r"\b(?:but|however|except|although|though|yet|only that|aber|allerdings|mais|pero|но|однако)\b(?! (?:also|next|"
    r"now|could you also|can you also|"
    r"let's|otherwise))|但|可是|不过|ただ|しかし|でも"
)

RESTATED = one_of(
    r"\b(?:from now on|in (?:the )?future|next time|going forward|for future reference|as a rule|every time|"
    r"henceforth)\b",
    r"(?:^|(?<=[.!?,;:\n–—]))\s*(?:(?:please|and|also|but|no|ok|okay|great|thanks|so),?\s+){0,2}(?:you (?:must|"
    r"should) )?(?:always|never)\s(?!mind)\w",
    r"\b(?:must|should|shall|ought to|have to|has to|needs? to)(?: \w+)? (?:always|never)\b",
    r"\bplease (?:always|never)\b",
    r"(?:^|(?<=[.!;:\n–—]))\s*(?:(?:please|no|and|also|but),?\s+){0,2}(?:don't|do not|stop|avoid|quit)\s+(?!forget|"
    r"worry|hesitate|mind|bother)(?![^.!?\n]{0,60}\b(?:yet|for now|right now|today)\b)\w+",
    r"\binstead(?:,? (?:please|of)\b|[.!]|$)",
    r"\buse [^.\n]{1,80} (?:instead|rather than|not)\b",
    r"\brather than\b",
    r"\bnot [^.,;\n]{1,40},? but (?!also)\w",
    r"\b(?:should|must|needs? to|has to|have to|ought to)(?: (?:only|just|not|also|be|have|start|end|use|say|read|"
    r"look|contain|go|come|include|return|show|stay|"
    r"follow|fit|mention|match))\b",
    r"\bshouldn't\b",
    r"\bmustn't\b",
    r"\b(?:write|spell|format|phrase|call|name|put|return|give|say|show|express|answer)(?: (?:it|this|that|them|"
    r"the \w+|me))? (?:as|like this|in the form|with|without|in (?:lower|upper|title|capital|all)|"
    r"only|just)\b",
    r"\b(?:make|keep) (?:it|this|that|them|the \w+) (?:short|shorter|longer|brief|concise|simple|simpler|under|"
    r"below|within|at most|to)\b",
    r"\bi(?:'d| would)? (?:prefer|rather|want (?:it|this|that|them|the|you|only|just)|need (?:it|this|that|them|"
    r"you|only|just)|like (?:it|them) (?:to|in|as))\b",
    r"^(?:please )?(?:only|just) (?:the|a|an|one|its|in|with|give|numbers?|digits?|\d+)\b",
    r"^(?:please,? )?without\b",
    r"^(?:actually|rather)[, ]",
    r"\bremember (?:that|to|this)\b",
    r"\bmake sure (?:to|that|you|it|they|the)\b",
)
"""How people say how it is to be, whether or not they say that it was wrong."""
