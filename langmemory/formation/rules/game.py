"""Games in which people speak as somebody else: "Let's role-play", "my character"."""

from __future__ import annotations

import re
from functools import cache

from langmemory.formation.rules.patterns import GRAMMARS

REACH = 10
"""Turns after the one that begins a game, or goes on with it, are part of it."""
READ = 2000
"""Characters of a turn in which a game is begun or ended."""


class Game:
    """Whether the turns of a thread, heard one after the other, are part of a game."""

    def __init__(self) -> None:
        self._left = 0

    def hear(self, text: str) -> bool:
        """Whether a turn is part of a game. The one that ends it is not."""
        text = text[:READ]
        begins, ends = _signs()
        if self._left and ends.search(text):
            self._left = 0
        elif begins.search(text):
            self._left = REACH
            return True
        elif self._left:
            self._left -= 1
            return True
        return False


@cache
def _signs() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What begins a game, and what ends one, in any language."""
    begins = "|".join(grammar.plays for grammar in GRAMMARS.values())
    ends = "|".join(grammar.plays_no_more for grammar in GRAMMARS.values())
    return re.compile(begins, re.IGNORECASE), re.compile(ends, re.IGNORECASE)
