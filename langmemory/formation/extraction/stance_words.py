"""Words by which a sentence says that its claim is over, planned, supposed or only remembered.

Each pattern is looked for in a sentence without apostrophes ("doesnt"). English, German and Spanish.
"""

from __future__ import annotations

import re
from typing import Final

from langmemory.languages.language import word_set


def _words(*lines: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(lines)})\b", re.IGNORECASE)


OVER: Final = _words(
    r"no longer|stopped|quit|ceased|gave up|given up",
    r"(?:not|never|nobody|cannot|\w+nt)\b.*\b(?:any ?more|any longer)",
    r"(?:nicht|kein\w*)\b.*\bmehr|hat aufgehört",
    r"ya no|dejó de",
)
"""What was so is over, whatever the tense."""

FORMERLY: Final = _words(
    r"(?<!is )(?<!are )(?<!am )(?<!getting )(?<!got )used to|formerly|previously",
    r"once(?! (?:a|an|per|every|in|upon)\b)|former|ex|back then|at the time|in the past|long ago",
    r"as a (?:child|kid|teen(?:ager)?|student|boy|girl|young \w+)",
    r"in (?:his|her|their|my) (?:youth|childhood)",
    r"raised in|brought up in",
    r"früher|damals|ehemals|ehemalige[rnms]?|einst|als (?:kind|student\w*)",
    r"antes(?! de)|antiguamente|solía|de (?:niñ[oa]|joven)|antigu[oa]",
)
"""Words that put the sentence into the past."""

FORMER_ROLE: Final = re.compile(
    r"\b(?:former|ex|ehemalige[rnms]?|frühere[rnms]?|antigu[oa]) (?P<role>\w+)", re.IGNORECASE
)
"""Who somebody was to another."""

INSTEAD: Final = re.compile(
    r"\b(?:instead of|rather than|statt|anstatt|anstelle von|en vez de|en lugar de)(?: \w+){0,2}$",
    re.IGNORECASE,
)
"""Right before what something else is to take the place of."""

EPISODES: Final = _words(
    r"reactions?|attacks?|emergency|episodes?|flare-?ups?|seizures?",
    r"(?:\w+)?(?:reaktion|anfall|notfall|schock|schub)|reacci[óo]n|ataque|crisis|brote",
)
"""What happens to whom has an illness: that it happened does not say that it is over."""

ENDED: Final = _words(
    r"(?:moved|relocated|transferred|switched|changed|fled) (?:away |over )?from|moved out of",
    r"(?<!year )(?<!years )(?<!month )(?<!months )(?<!week )(?<!weeks )(?<!day )(?<!days )(?<!hour )"
    r"(?<!hours )(?<!time )left(?! for\b)|walked out (?:on|of)",
    r"resigned from|fired (?:from|by)|laid off (?:from|by)|retired from|dropped out of",
    r"graduated from|expelled from",
    r"sold|gave away|given away|got rid of|threw (?:away|out)|donated|scrapped|returned|traded in",
    r"broke up with|broken up with|split (?:up )?(?:from|with)|separated from",
    r"divorced(?: from)?|dumped|parted (?:with|from)",
    r"fell out with|lost touch with|cancel+ed|unsubscribed from|dropped|abandoned|over with",
    r"done with|finished with|outgrew",
    r"recovered from|cured of|got over|went off(?! to\b)|lost (?:all )?interest in|verkauft\w*|verließ",
    r"verlassen|gekündigt|getrennt von|geschieden von|vendió|dejó|rompió con",
)
"""Verbs that end what holds between somebody and what comes next after them."""

OFF: Final = _words(
    r"wont|decid\w+ (?:not to|against)|ruled out|called off|backed out of|turned down|rejected",
    r"declined|withdrew",
    r"gave up on|wird nicht|hat abgesagt|abgesagt|ha cancelado|canceló",
)
"""Before a claim that was planned: the plan is off."""

NOT_TO_BE: Final = _words(
    r"(?:is|are|was|got|been) (?:off|cancel+ed|called off|not happening)|fell through",
    r"did not work out|didnt work out",
    r"wont happen|came to nothing|not happening|fällt aus|ist abgesagt|se canceló",
)
"""After a claim that was planned: the plan is off."""

ENDED_AFTER: Final = _words(
    r"(?:is|are|was|has|have) (?:over|done|ended|finished|history|gone|behind \w+)|ended",
    r"came to an end|broke up|split up",
    r"got divorced|divorced|separated|is no more|ran away|was (?:stolen|sold|given away)",
    r"ist (?:vorbei|aus|weg)|se acabó|terminó",
)
"""After a claim: it is over."""

DEAD: Final = (
    r"(?:(?:has|have|had|just|sadly|suddenly|recently|finally) ){0,2}"
    r"(?:died|dies|passed away|is dead|is deceased|was put (?:down|to sleep)|did not survive"
    r"|was killed|was run over"
    r"|has passed|ist (?:\w+ ){0,2}(?:gestorben|tot|verstorben)|starb|verstarb|murió|falleció"
    r"|ha muerto|ha fallecido)\b"
)
"""What follows the name of somebody who is dead."""

STILL: Final = _words(
    r"still|since|by now|now|today|to this day|these days|noch|seit|jetzt|heute|todavía|aún"
    r"|sigue|desde|ahora"
)
"""With one of them, the past reaches into the present, or is told from it."""

REPORTED: Final = _words(
    r"said|says|told|mention(?:ed|s)|explain(?:ed|s)|stat(?:ed|es)|replied|noted|shared that|confirmed",
    r"clarified|revealed|admitted|sagte|erwähnte|erzählte|dijo|mencionó|contó",
)
"""After them the past tense may be that of the report: "said that she lived in Kiel"."""

PAST_STATES: Final = word_set(
    """lived worked studied dated owned belonged taught led managed knew resided stayed rented shared
    attended interned freelanced volunteered temped reported drove grew spoke played ate drank
    liked loved hated suffered had kept
    wohnte lebte arbeitete studierte hatte besaß spielte kannte leitete mochte fuhr sprach
    vivía vivió trabajaba trabajó estudiaba estudió tenía era estaba conocía jugaba hablaba"""
)
"""Verbs of a state in the past tense; one of a change, as "moved", begins what holds now."""

REMEMBERS: Final = _words(
    r"remember(?:s|ed|ing)?|recall(?:s|ed|ing)?|reminisc\w+|nostalgi\w+|look(?:s|ed|ing)? back",
    r"miss(?:es|ed|ing)?|erinner\w+|vermisst|recuerda|extraña|echa de menos",
)
"""What comes after them is remembered."""

WAS: Final = word_set("was were war waren fue fueron")
STATES: Final = word_set(
    """married engaged employed based enrolled together single living working studying teaching dating
    called named known allergic friends close friends in at with on from
    a an the her his their my our very best
    verheiratet verlobt angestellt allergisch bei in mit casada casado con en"""
)
"""What "was" may stand before to tell a state; "was hired by" begins what holds now."""

PLANS: Final = _words(
    r"might"
    r"|(?<!in )(?<!last )(?<!next )(?<!since )(?<!this )(?<!of )(?<!by )(?<!until )(?<!early )(?<!late )"
    r"may(?= (?!and|or|the|but|to|we|i|she|he|they|a|of)[a-z]+)|wants?|wanted|wanting",
    r"wish(?:es|ed|ing)?|hop(?:e|es|ed|ing)|hopefully",
    r"dream(?:s|ed|t|ing)?|consider(?:s|ed|ing)?|plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|aim(?:s|ing)?",
    r"(?:think|talk|dream)(?:s|ing|ed)? (?:about|of)|thought (?:about|of)|toy(?:s|ing) with",
    r"contemplat\w+|fantasi[sz]\w+|negotiat\w+|proposed",
    r"(?:will|shall)(?! have been\b)|going to|gonna|wanna|about to",
    r"due to (?!the\b|her\b|his\b|a\b)|set to|ready to",
    r"would|could|should|ought to|needs? to|look(?:s|ing)? (?:forward|to|for|into|at)",
    r"appl(?:y|ies|ied|ying) (?:for|to|at|with)|applications?|interview(?:s|ed|ing)?",
    r"offer(?:s|ed)?|shortlisted",
    r"decid(?:e|es|ed|ing) (?:to|on)|agree[ds]? to|promise[ds]? to|expect(?:s|ed|ing)? to",
    r"tr(?:y|ies|ied|ying) to",
    r"sav(?:e|es|ing) (?:up|for|to)|prepar(?:es?|ing) (?:to|for)|tempted|supposed to",
    r"scheduled to|waiting (?:list|to)",
    r"one day|some ?day|eventually|soon|invited|eager to|cannot wait|cant wait",
    r"ask(?:s|ed)? \w+ to|encourag\w+",
    r"next (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|tomorrow",
    r"plant|planen|möchten?|würden?|könnten?|wollte|überlegt|hofft|träumt|hat vor|bewirbt",
    r"bewarb|beworben",
    r"bald|eines tages|irgendwann|demnächst",
    r"querría|quisiera|quiere|planea|piensa|espera|sueña|va a(?= \w+[aei]r(?:se)?\b)|podría|pronto|algún día",
)
"""It may come to be so, or somebody wants it."""

SUPPOSED: Final = _words(
    r"if|unless|suppos(?:e|es|ing|edly)|imagin(?:e|es|ed|ing)|pretend(?:s|ed|ing)?|whether",
    r"wonder(?:s|ed|ing)?",
    r"(?:would|could|might) have|almost|nearly|maybe|perhaps|possibly|probably|presumably|apparently",
    r"not sure|unsure|guess(?:es|ed|ing)?|joke[ds]?|rumou?r\w*|as though",
    r"in (?:a|the|her|his) (?:game|novel|story|film|movie|play|dream)",
    r"wäre|hätte|wenn|falls|ob|vielleicht|angeblich|vermutlich|stellt sich vor|fast|beinahe",
    r"ojalá|quizás?|tal vez|acaso|casi|imagina|supuestamente",
)
"""Before a claim they make it a supposition."""

DENIED: Final = _words(
    r"(?:not|isnt|never|no longer) (?:true|correct|right|the case)|untrue|wrong|incorrect|a lie|false",
    r"stimmt nicht|falsch|nicht wahr|unwahr|no es (?:cierto|verdad)|es falso|mentira",
)
"""Before a claim ("it is not true that") they deny it."""
