"""Whether a statement speaks of what was or of what is to come, by its verbs.

"The wedding is on 3 March" is ahead, "the wedding was on 3 March" is over. A date without a year and a
weekday are resolved by it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from langmemory.languages import primary
from langmemory.languages.temporal.calendar import Prefer


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tenses:
    """Patterns, whatever the case, in the order in which they decide."""

    ahead: str
    over: str
    present: str
    occasions: str
    """What takes place: of a state, "in March" may be when it began."""


_IRREGULAR = (
    "was|were|had|did|went|met|flew|got|took|ran|bought|came|saw|won|gave|held|left|spent|ate|drove|"
    "sang|began|broke|"
    "lost|sold|became|made|said|told|found|felt|fell|threw|wrote|read|rode|swam|sat|stood|slept|spoke|"
    "taught|thought|"
    "brought|built|caught|chose|drew|drank|forgot|grew|heard|hid|hit|hurt|kept|knew|led|lent|paid|put|"
    "quit|rang|sent|"
    "shot|showed|shut|struck|swore|tore|understood|woke|wore|used to"
)
_TENSES = {
    "en": _Tenses(
        ahead=(
            r"\b(?:will|shall|'ll|going to|upcoming|coming up|about to|plans?|intends?|next|tomorrow|"
            r"takes? place|"
            r"(?:is|are|am|'s|'re|'m|gets?)(?: \w+)? (?:\w+ing|scheduled|planned|set|booked|due|"
            r"expected|invited|"
            r"to be|married|engaged|promoted)|starts?|begins?|opens?|turns)\b"
        ),
        over=rf"\b(?:{_IRREGULAR}|\w{{2,}}ed|(?:has|have|'ve) (?:\w+ )?(?:been|\w+en|\w+ed|gone|met|had))\b",
        present=r"\b(?:is|are|am|'s|'re|has|have|happens|visits?|flies|fly|goes|go|moves?|leaves?|"
            r"arrives?|marr(?:y|ies)|\w+s)\b",
        occasions=(
            r"\b(?:wedding|concert|exam|trip|flight|party|appointment|interview|meeting|conference|"
            r"marathon|race|surgery|"
            r"operation|holiday|vacation|visit|match|game|show|festival|graduation|funeral|ceremony|"
            r"deadline|due date|"
            r"reunion|audition|hearing|viva|defence|defense|check-?up|scan|launch|move|workshop|course|"
            r"class|lecture|"
            r"performance|recital|exhibition|tournament|anniversary|baptism|christening|dinner|lunch|"
            r"date|event|opening|"
            r"tour|retreat|camp|test|talk|presentation)\b"
        ),
    ),
    "de": _Tenses(
        ahead=r"\b(?:wird|werden|werde|findet|finden|plant|will|möchte|demnächst|nächste\w*|beginnt|"
            r"startet|steht an|kommende\w*)\b",
        over=r"\b(?:war|waren|hatte\w*|wurde\w*|ging|fuhr|flog|traf|kam|sah|lief|gab|fand|bekam|zog|"
            r"\w{3,}te|(?:hat|habe|haben|ist|sind|bin) .*ge\w+(?:t|en)|\w*ge\w{2,}(?:t|en)(?= (?:hat|"
            r"ist|worden)))\b",
        present=r"\b(?:ist|sind|hat|haben|heiratet|heiraten|fliegt|reist|fährt|besucht|geht|zieht|läuft|"
            r"\w+t)\b",
        occasions=r"(?:hochzeit|konzert|prüfung|reise|flug|feier|termin|gespräch|konferenz|marathon|"
            r"operation|urlaub|besuch|spiel|festival|beerdigung|umzug|kurs|geburt|party|fest)\w*\b",
    ),
    "es": _Tenses(
        ahead=r"\b(?:va a|van a|voy a|vamos a|será|serán|tendrá|planea|piensa|quiere|próxim[oa]|empieza|"
            r"comienza|se celebra|\w+(?:ará|erá|irá|arán|erán|irán))\b",
        over=r"\b(?:fue|fueron|era|eran|tuvo|estuvo|hizo|vino|\w{2,}(?:ó|aron|ieron|aba|ía)|(?:ha|han|"
            r"he|hemos) \w+[dt]o)\b",
        present=r"\b(?:es|son|está|están|tiene|tienen|viaja|visita|vuela|va|se casa|se casan|\w+[ae])\b",
        occasions=r"\b(?:boda|concierto|examen|viaje|vuelo|fiesta|cita|entrevista|reunión|conferencia|"
            r"maratón|operación|vacaciones|visita|partido|festival|graduación|funeral|curso)\b",
    ),
    "zh": _Tenses(
        ahead=r"将|將|要|会|會|打算|计划|計劃|准备|即将|下周|下个月|明天|明年",
        over=r"了|过|過|曾|去年|上周|上个月|昨天|当时",
        present=r"在|是|有|去|结婚|举行",
        occasions=r"婚礼|婚禮|音乐会|考试|旅行|航班|聚会|预约|面试|会议|马拉松|手术|假期|比赛|毕业|葬礼",
    ),
}  # fmt: skip


def tense(text: str, language: str, *, is_event: bool) -> Prefer | None:
    """Whether what a statement tells lies behind or ahead of when it was said; None where its words
    do not say.

    Args:
        text: the statement.
        language: BCP 47 code of it.
        is_event: whether it tells of something that takes place, whatever it is called.
    """
    words = _TENSES.get(primary(language))
    if words is None:
        return None

    def has(pattern: str) -> bool:
        return re.search(pattern, text, re.IGNORECASE) is not None

    if not is_event and not has(words.occasions):
        return None
    # "Was going to" is over; "is getting married" is not, though "married" may be past.
    if has(words.ahead) and not (has(words.over) and re.search(r"\b(?:was|were|war|fue)\b", text)):
        return "future"
    if has(words.over):
        return "past"
    return "future" if has(words.present) else None
