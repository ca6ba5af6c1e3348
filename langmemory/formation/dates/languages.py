"""The languages whose times have patterns here."""

from __future__ import annotations

import re
from functools import lru_cache

from langmemory.formation.dates.chinese import CHINESE
from langmemory.formation.dates.english import ENGLISH
from langmemory.formation.dates.german import GERMAN
from langmemory.formation.dates.spanish import SPANISH
from langmemory.formation.dates.words import Form, TimeWords, compiled, one_of

TIME_WORDS: dict[str, TimeWords] = {
    words.code: words for words in (ENGLISH, GERMAN, SPANISH, CHINESE)
}


@lru_cache(maxsize=32)
def forms(code: str) -> tuple[tuple[Form, re.Pattern[str]], ...]:
    """The compiled forms of a language of `TIME_WORDS`."""
    return compiled(TIME_WORDS[code])


@lru_cache(maxsize=32)
def anchor(code: str) -> str:
    """What puts a day or a week in relation to the time that follows, with its names filled in."""
    words = TIME_WORDS[code]
    units = [name for name, unit in words.units.items() if unit in ("day", "week", "month", "year")]
    number = rf"(?:(?P<n>\d{{1,3}}|{one_of(words.numbers)})\s+)?"
    names = f"{number}(?P<anchor>{one_of([*units, *words.weekdays])}|{words.weekend})"
    return words.anchor.replace("ANCHOR", names)
