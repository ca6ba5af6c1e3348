"""German. "morgen" is tomorrow; "am Morgen" and "guten Morgen" are not."""

from __future__ import annotations

from langmemory.formation.dates.words import TimeWords, form, unit_words

LAST = r"(?:letzte[rnsm]?|vergangene[rnsm]?|vorige[rnsm]?)"
THIS = r"(?:diese[rnsm]?)"
NEXT = r"(?:nächste[rnsm]?|kommende[rnsm]?)"
DAY_NAME = (
    r"(?:(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag),?\s+"
    r"(?:den\s+|dem\s+)?)?"
)

GERMAN = TimeWords(
    code="de",
    numbers={
        **{
            word: number
            for number, words in enumerate(
                ("ein eine einem einen einer", "zwei", "drei", "vier", "fünf", "sechs", "sieben",
                 "acht", "neun", "zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn"),
                start=1,
            )
            for word in words.split()
        },
        "zwanzig": 20, "dreißig": 30, "einer halben": 0.5, "einem halben": 0.5,
        "anderthalb": 1.5, "eineinhalb": 1.5, "zweieinhalb": 2.5, "dreieinhalb": 3.5,
    },
    few=r"ein\s+paar|einigen|einige|mehreren",
    units=unit_words(
        minute="minute minuten", hour="stunde stunden", day="tag tage tagen tages",
        week="woche wochen", month="monat monate monaten monats", year="jahr jahre jahren jahres heuer",
        decade="jahrzehnt jahrzehnte jahrzehnten",
    ),
    weekend=r"wochenendes?",
    weekdays={
        "montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag": 5,
        "sonnabend": 5, "sonntag": 6,
    },
    seasons={
        "frühling": (3, 3), "frühjahr": (3, 3), "sommer": (6, 3), "sommers": (6, 3),
        "herbst": (9, 3), "winter": (12, 3), "frühjahrs": (3, 3),
    },
    decades={
        "sechziger": 1960, "siebziger": 1970, "achtziger": 1980, "neunziger": 1990,
        "sechzigern": 1960, "siebzigern": 1970, "achtzigern": 1980, "neunzigern": 1990,
    },
    weeks={"acht tagen": 1, "8 tagen": 1},
    days={
        "vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2,
    },
    nights={
        "heute morgen": (0, 5, 12), "heute früh": (0, 5, 12), "heute vormittag": (0, 8, 12),
        "heute mittag": (0, 11, 14), "heute nachmittag": (0, 12, 18), "heute abend": (0, 18, 24),
        "heute nacht": (0, 0, 6), "gestern nacht": (-1, 18, 24),
    },
    parts={
        "früh": (5, 12), "morgen": (5, 12), "vormittag": (8, 12), "mittag": (11, 14),
        "nachmittag": (12, 18), "abend": (18, 24), "nacht": (18, 24),
    },
    holidays={
        "heiligabend": (12, 24, 1), "weihnachten": (12, 25, 2), "silvester": (12, 31, 1),
        "neujahr": (1, 1, 1), "nikolaus": (12, 6, 1),
    },
    edges=(
        r"(?:zu\s+)?(?:anfang|beginn)\s+(?:des\s+|der\s+|dieses\s+)?",
        r"mitte\s+(?:des\s+|der\s+|dieses\s+)?",
        r"ende\s+(?:des\s+|der\s+|dieses\s+)?",
    ),
    clock=r",?\s+(?:um\s+|gegen\s+)(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s*(?P<am>uhr)?",
    lead=r"(?:im|am|in|an|seit|bis|ab|zu|über|vom|zum|um|gegen|diesen)(?:\s+(?:dem|den|der|das|die|jahr))*\s+",
    since=r"(?:seit|ab)(?:\s+(?:dem|der))?\s+",
    behind=r"seit\s+(?:\w+\s+){0,4}",
    until=r"bis(?:\s+(?:zum|zur))?\s+",
    to=r"\s*(?:–|—|-|bis)\s*(?:zum\s+|zur\s+)?",
    anchor=r"(?:am\s+|an\s+dem\s+|in\s+der\s+|die\s+|der\s+)?ANCHOR\s+(?:(?P<back>vor)|(?P<ahead>nach))"
    r"\s+(?:dem\s+|der\s+)?",
    between=r"zwischen\s+(?:dem\s+)?",
    and_=r"\s+und\s+(?:dem\s+)?",
    within=r"\s+(?:des\s+|der\s+)?",
    never_before=r"\b(?:jede[rnms]?|alle|pro|vor|nach|zwischen|eine[smn]?)\s+(?:zweiten\s+)?(?:dem\s+|der\s+)?",
    never_after=r"\s*(?:%|alte?[rnms]?\b|(?:des|im)\s+(?:monats?|jahre?s?)\b)",
    filler=r"etwa|ungefähr|circa|ca|rund|so|am|im|in|an|dem|den|der|das|die|gegen|um|irgendwann|zum|zu",
    forms=(
        # "In acht Tagen" is in a week; before the same words counted.
        form(r"vor\s+{weeks}", -1),
        form(r"in\s+{weeks}", 1),
        form(r"vor\s+(?:etwa\s+|rund\s+|ungefähr\s+)?{n}\s+{unit}", -1),
        form(r"in\s+(?:etwa\s+|rund\s+|ungefähr\s+)?{n}\s+{unit}", 1),
        form(r"(?:schon\s+)?seit\s+(?:etwa\s+|rund\s+|über\s+)?{n}\s+{unit}", -1, role="since"),
        form(r"(?P<period>heuer)", 0),
        form(r"(?:in\s+)?vorletzte[rnsm]?\s+{period}", -2),
        form(r"(?:in\s+)?übernächste[rnsm]?\s+{period}", 2),
        form(r"(?<!am )(?<!guten )(?<!jeden )(?<!eines )(?<!zum )(?<!den ){named}"),
        form(r"{night}"),
        form(rf"{LAST}\s+{{target}}", -1),
        form(rf"{THIS}\s+{{target}}", 0),
        form(rf"{NEXT}\s+{{target}}", 1),
        form(rf"(?:{{month}}|{{season}}|{{holiday}})\s+{LAST}\s+jahres", year_step=-1),
        form(rf"{LAST}\s+jahr\s+(?:im\s+|an\s+|zu\s+)?(?:{{month}}|{{season}}|{{holiday}})",
             year_step=-1),
        form(rf"{NEXT}\s+jahr\s+(?:im\s+|an\s+|zu\s+)?(?:{{month}}|{{season}}|{{holiday}})",
             year_step=1),
        form(rf"(?:{{month}}|{{season}}|{{holiday}})\s+{NEXT}\s+jahres", year_step=1),
        form(r"(?:{month}|{season}|{holiday})\s+dieses\s+jahres", year_step=0),
        form(rf"{DAY_NAME}{{day}}\.\s*{{month}}(?:\s+{{year}})?"),
        form(rf"{DAY_NAME}{{day}}\.\s*{{monthnum}}\.\s*{{year}}"),
        form(rf"(?:am|vom|zum|bis|seit|ab)\s+{DAY_NAME}{{day}}\.\s*{{monthnum}}\."),
        form(r"(?:vom\s+)?{day}\.?\s*(?:–|-|bis(?:\s+zum)?)\s*{day2}\.\s*{month}(?:\s+{year})?"),
        form(r"(?:{month}|{season}|{holiday})\s+{year}"),
        form(r"(?:an|zu|seit|bis|letzte[sn]?|nächste[sn]?)?\s*{holiday}"),
        form(r"{month}", needs="lead"),
        form(r"{season}", needs="lead"),
        form(r"{weekday}", needs="lead"),
        form(r"{weekend}", needs="lead"),
        form(r"{year}", needs="lead"),
        form(r"{period}", 0, needs="edge"),
        form(r"(?:den\s+)?{decade}(?:(?<=\d)ern?|(?<!\d)(?:er|ern)?)(?:[\s-]+jahren?)?",
             needs="lead"),
        form(r"{year}-{monthnum}-{day}"),
    ),
)  # fmt: skip
