"""English. "On Friday" needs its preposition; "sun", "sat", "may" and "march" their capital."""

from __future__ import annotations

from langmemory.formation.dates.words import TimeWords, form, unit_words
from langmemory.languages.language import ordered, word_set

TENS = ordered("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBERS: dict[str, float] = {
    word: number
    for number, word in enumerate(
        ordered(
            """one two three four five six seven eight nine ten eleven twelve thirteen fourteen
            fifteen sixteen seventeen eighteen nineteen twenty"""
        ),
        start=1,
    )
}

ENGLISH = TimeWords(
    code="en",
    numbers={
        **NUMBERS,
        **{
            f"{ten}{joint}{one}": 10 * tens + number
            for tens, ten in enumerate(TENS, start=2)
            for joint in " -"
            for one, number in list(NUMBERS.items())[:9]
        },
        **{ten: 10 * tens for tens, ten in enumerate(TENS, start=2)},
        "a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a couple": 2,
        "half a": 0.5, "half an": 0.5, "one and a half": 1.5,
    },
    few=r"a\s+few|several|some",
    half=r"\s+and\s+a\s+half",
    units=unit_words(
        minute="minute minutes min mins", hour="hour hours", day="day days", week="week weeks",
        month="month months", year="year years", decade="decade decades",
    ),
    weekend=r"week-?end",
    weekdays={
        name: day
        for day, names in enumerate(
            ("monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs",
             "friday fri", "saturday sat", "sunday sun")
        )
        for name in names.split()
    },
    decades={
        "sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990,
    },
    weeks={"a fortnight": 2, "two fortnights": 4},
    days={
        "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "today": 0,
        "tomorrow": 1, "the day after tomorrow": 2, "day after tomorrow": 2,
    },
    nights={
        "last night": (-1, 18, 24), "this morning": (0, 5, 12), "this afternoon": (0, 12, 18),
        "this evening": (0, 18, 24), "tonight": (0, 18, 24), "the night before last": (-2, 18, 24),
    },
    parts={"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)},
    holidays={
        "christmas eve": (12, 24, 1), "christmas day": (12, 25, 1), "boxing day": (12, 26, 1),
        "christmas": (12, 25, 1), "new year's eve": (12, 31, 1), "new year's day": (1, 1, 1),
        "new year's": (1, 1, 1), "halloween": (10, 31, 1), "valentine's day": (2, 14, 1),
    },
    edges=(
        r"(?:the\s+)?(?:beginning|start)\s+of\s+(?:the\s+)?|(?:the\s+)?early(?:\s+in)?[\s-]+(?:the\s+)?",
        r"(?:the\s+)?middle\s+of\s+(?:the\s+)?|(?:the\s+)?mid[\s-]*",
        r"(?:the\s+)?end\s+of\s+(?:the\s+)?|(?:the\s+)?late(?:\s+in)?[\s-]+(?:the\s+)?",
    ),
    clock=r",?\s+(?:at\s+)?(?:about\s+|around\s+)?(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?"
    r"\s*(?:(?P<pm>p\.?m\b\.?)|(?P<am>a\.?m\b\.?))?",
    lead=r"(?:on\s+)?the\s+(?:night|evening|morning|afternoon)\s+of\s+(?:the\s+)?|(?:back\s+)?(?:in|on|by|during|over|around|about|at|of|this|as\s+of|till|until|since)"
    r"(?:\s+the)?(?:\s+year)?\s+",
    since=r"(?:ever\s+)?(?:since|as\s+of|starting|from)(?:\s+(?:the|on|in))?\s+",
    behind=r"since\s+(?:[\w-]+\s+){0,4}",
    until=r"(?:up\s+)?(?:until|till)(?:\s+(?:the|on))?\s+",
    since_after=r"\s+on(?:wards?)?\b(?!\s+\w)",
    to=r"\s*(?:–|—|-|to|until|till|through)\s*(?:on\s+|in\s+|the\s+)?",
    anchor=r"(?:on\s+|in\s+)?(?:the\s+)?ANCHOR\s+(?:right\s+)?(?:(?P<back>before)|(?P<ahead>after)|of)"
    r"\s+(?:the\s+)?",
    between=r"between\s+",
    and_=r"\s+and\s+(?:the\s+)?",
    never_before=r"\b(?:before|after|within|than|every|each|per|most|same|once\s+(?:a|an)|any|all|alternate|one|some)"
    r"(?:\s+other)?\s+(?:\w+,\s+|\w+\s+and\s+)?(?:the\s+)?",
    never_after=r"\s+(?:of\s+fame|of\s+(?:the|each|every)\s+(?:month|year)\b|week\b|old\b|each|every|edition|model|version|percent|%"
    r"|(?!was\b|has\b|does\b|this\b|always\b|is\b|perhaps\b|thanks\b|as\b|us\b|plus\b)[a-z]{3,}s\b)",
    filler=r"about|around|roughly|approximately|circa|ca|sometime|some\s+time|back|just|on|in|at|by|of"
    r"|the|during|over|or\s+so|early|late|as|exactly|this\s+coming",
    within=r"\s+(?:of\s+)?",
    capital=frozenset(("may", "march")),
    short=word_set("mon tue tues wed thu thur thurs fri sat sun jan mar"),
    forms=(
        form(r"{n}\s+{unit}\s+(?:ago|back|earlier\s+than\s+now)", -1),
        form(r"{n}\s+{unit}\s+from\s+(?:now|today)", 1),
        form(r"{n}\s+{unit}\s+(?:from|on)\s+(?:{named}|{weekday})", 1),
        form(r"{weeks}\s+ago", -1),
        form(r"in\s+{weeks}(?:'s\s+time)?", 1),
        form(r"in\s+(?:about\s+|around\s+)?{n}\s+{unit}(?:'s?\s+time|\s+time)?(?!\s+of\b)", 1),
        form(r"for\s+the\s+(?:last|past)\s+{n}\s+{unit}", -1, role="since"),
        form(r"(?:the\s+)?(?:{period}|{weekend})\s+before\s+last", -2),
        form(r"(?:the\s+)?(?:{period}|{weekend})\s+after\s+next", 2),
        form(r"{named}"),
        form(r"{night}"),
        form(r"(?:the\s+)?(?:this\s+)?(?:last|past|previous)\s+{target}", -1),
        form(r"this\s+(?:coming\s+)?{target}", 0),
        form(r"(?:the\s+)?(?:next|upcoming|coming)\s+{target}", 1),
        form(r"(?:this\s+coming)\s+{target}", 1),
        form(r"(?:{month}|{season}|{holiday})\s+(?:of\s+)?last\s+year", year_step=-1),
        form(r"last\s+year(?:'s\s+|\s+in\s+){month}", year_step=-1),
        form(r"(?:{month}|{season}|{holiday})\s+(?:of\s+)?next\s+year", year_step=1),
        form(r"(?:{month}|{season}|{holiday})\s+(?:of\s+)?this\s+year", year_step=0),
        form(
            r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+)?(?:the\s+)?{day}(?:st|nd|rd|th)?"
            r"(?:\s+of)?\s+{month},?\s+{year}"
        ),
        form(
            r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+)?(?:the\s+)?{day}(?:st|nd|rd|th)?"
            r"(?:\s+of)?\s+{month}"
        ),
        form(
            r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+)?{month}\s+(?:the\s+)?{day}"
            r"(?:st|nd|rd|th)?(?:,?\s+{year})?"
        ),
        form(r"(?:from\s+)?(?:the\s+)?{day}(?:st|nd|rd|th)?\s*(?:–|-|to|until)\s*(?:the\s+)?{day2}"
             r"(?:st|nd|rd|th)?(?:\s+of)?\s+{month}(?:,?\s+{year})?"),
        form(r"{month}\s+{day}\s*(?:–|-|to)\s*{day2}(?:,?\s+{year})?"),
        form(r"(?:{month}|{season}),?\s+(?:of\s+|in\s+)?{year}"),
        form(r"{holiday},?\s+(?:of\s+)?{year}"),
        form(r"(?:last|past)\s+{holiday}", -1),
        form(r"next\s+{holiday}", 1),
        form(r"{holiday}", needs="lead"),
        form(r"{month}", needs="lead"),
        form(r"{season}", needs="lead"),
        form(r"{weekday}", needs="lead"),
        form(r"{weekend}", needs="lead"),
        form(r"(?<!\bat ){year}", needs="lead"),
        form(r"(?:the\s+|this\s+)?{period}", 0, needs="edge"),
        # Not the 30 of "at 30".
        form(r"(?:the\s+)?['’]?{decade}(?:(?<=\d)['’]?s|(?<!\d))", needs="lead"),
        form(r"{year}-{monthnum}-{day}"),
        form(r"{year}/{monthnum}/{day}"),
        # 3/4/2021 may be either; 25/4/2021 and 4/25/2021 may not.
        form(r"(?P<day>1[3-9]|2\d|3[01])/{monthnum}/{year}"),
        form(r"{monthnum}/(?P<day>1[3-9]|2\d|3[01])/{year}"),
    ),
)  # fmt: skip
