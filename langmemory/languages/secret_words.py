"""How texts announce a password, a PIN or a key: the topic ``secrets`` of each language, and its patterns.

A text of one language may name a secret in another, so the words of all languages make one pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from langmemory.languages.tables import Topic
from langmemory.languages.writing import is_unspaced

_QUOTED: Final = r"[\"'“”‘„«`](?P<quoted>[^\"'“”‘’„«»`\n]{3,100})[\"'“”’»`]"
Words = frozenset[str]
Patterns = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class SecretWords:
    """Words are in lower case; `Patterns` are regular expressions without groups, whatever the case.

    Those whose names end in ``signs`` are plain: a text without any of them needs no closer look.
    """

    passwords: tuple[str, ...] = ()
    """Plain words for a password."""
    ambiguous: Words = frozenset()
    """Those of them that mean other things as well: Spanish "clave"."""
    predicates: Words = frozenset()
    """Words that follow "the password is" without being one."""
    ordinary_endings: tuple[str, ...] = ()
    """Endings of further ones: "ed" of "changed"."""
    mine: Patterns = ()
    """What says whose it is: "my"."""
    of: Patterns = ()
    """What says of what it is a password: "for"."""
    says: Patterns = ()
    """Verbs between a secret's name and the secret: "is"."""
    was: Patterns = ()
    """Further verbs, of passwords and keys alone: "will be"."""
    now: Patterns = ()
    """What may follow the verb: "now"."""
    says_within: Patterns = ()
    """`says` of a script without spaces."""
    was_within: Patterns = ()
    """`was` of a script without spaces."""
    changed_to: Patterns = ()
    """Between a password's name and a new one: "changed to"."""
    its: Patterns = ()
    """Between a password and its name, behind the verb: "hunter2 is my password"."""
    phrases: Patterns = ()
    """Names of a recovery phrase."""
    phrase_signs: tuple[str, ...] = ()
    sentence: Words = frozenset()
    """Words of a sentence, not of a recovery phrase."""
    pins: Patterns = ()
    pins_near: Patterns = ()
    """Words for a PIN that may stand further from it."""
    pin_signs: tuple[str, ...] = ()
    card_codes: Patterns = ()
    """Names of a card's security code."""
    card_code_signs: tuple[str, ...] = ()
    key_kinds: Patterns = ()
    """What a key is for: "api"."""
    key_nouns: Patterns = ()
    """Words for a key behind one of `key_kinds`."""
    plain_keys: Patterns = ()
    """Words for a key without one of them, where it may be an id as well: "token"."""
    keys: Patterns = ()
    """Whole names of a key."""
    key_signs: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    """Plain words; a key whose name ends with one is counted as a token."""
    other_numbers: Patterns = ()
    """Before a number that is no card's, whatever its checksum: "order"."""
    numbers: Patterns = ()
    """What may follow: "number"."""
    units: Patterns = ()
    """Units of a length: "the password is 12 characters"."""
    joints: Patterns = ()
    """What may follow a secret within a sentence: "and". In small letters."""

    @cached_property
    def password_pattern(self) -> re.Pattern[str]:
        """A password that the text announces, in the groups ``quoted`` or ``value``; see the others."""
        spaced = _any(map(re.escape, (one for one in self.passwords if not is_unspaced(one))))
        within = _any(map(re.escape, filter(is_unspaced, self.passwords)))
        return _compiled(
            rf"(?P<mine>\b(?:{_any(self.mine)})\b[^.!?\n:=：]{{0,30}}?)?"
            rf"(?P<noun>(?<![^\W_])(?:{spaced}|pass(?=\s*[:=]))|{within})[\"']?"
            rf"(?P<of>{self._of}){self._is}(?:{_QUOTED}|(?P<value>[^\s\"“”，。；、！？]{{3,100}}))"
        )

    @cached_property
    def password_elsewhere(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """A password that another took the place of, and one that stands before its name."""
        nouns = _any(map(re.escape, self.passwords))
        return (
            _compiled(
                rf"(?:{nouns})\b[^.!?\n]{{0,30}}?\s(?:{_any(self.changed_to)})\s+"
                rf"(?:{_QUOTED}|(?P<value>\S{{6,100}}))"
            ),
            _compiled(
                rf"(?:{_QUOTED}|(?<!\S)(?P<value>\S{{4,100}}))\s+(?:{_any(self.says)})\s+"
                rf"(?:{_any(self.its)})\s+(?:[\w-]+\s+){{0,2}}?(?:{nouns})\b"
            ),
        )

    @cached_property
    def phrase_pattern(self) -> re.Pattern[str]:
        """A recovery phrase."""
        return _compiled(
            rf"(?<!\w)(?:{_any(self.phrases)}){self._of}{self._is}"
            r"[\"'“„]?(?P<value>[^\W\d_]+(?:[ ,-]+[^\W\d_]+){3,23})"
        )

    @cached_property
    def pin_pattern(self) -> re.Pattern[str]:
        """A PIN, in the groups ``value`` or ``secret``."""
        return _compiled(
            rf"\b(?:{_any(self.pins)})(?P<of>{self._of})(?:\s*[:=：]\s*|{self._says})"
            r"(?P<value>\d{4,8})\b(?!\s*(?:[cm]m\b|%|€|\$|[.,]\d))"
            rf"|\b(?:{_any(self.pins_near)})\b[^.!?\n\d]{{0,30}}(?P<secret>\d{{4,8}})\b"
        )

    @cached_property
    def card_code_pattern(self) -> re.Pattern[str]:
        """A card's security code."""
        says = _any((*self.says, *self.says_within, "[:=：]"))
        return _compiled(rf"(?:{_any(self.card_codes)})\s*(?:{says})?\s*(?P<value>\d{{3,4}})\b")

    @cached_property
    def key_pattern(self) -> re.Pattern[str]:
        """The name of a key, in the group ``plain`` where it may be that of an id."""
        kinds = (
            rf"(?:(?:{_any(self.key_kinds)})[\s_-]*)+(?:access[\s_-]*)?(?:{_any(self.key_nouns)})"
        )
        return _compiled(
            rf"(?<![A-Za-z]){kinds}|(?<![A-Za-z])(?P<plain>{_any(self.plain_keys)})|{_any(self.keys)}"
        )

    @cached_property
    def key_value(self) -> re.Pattern[str]:
        """What follows the name of a key."""
        return _compiled(rf"[\"']?{self._of}{self._is}[\"'“`]?(?P<value>[A-Za-z0-9_\-+/=.]{{16,}})")

    @cached_property
    def other_number(self) -> re.Pattern[str]:
        """The end of a text before a number that is no card's."""
        says = _any((*(rf"{one} " for one in self.says), *self.says_within))
        return _compiled(
            rf"(?:{_any(self.other_numbers)})[ _-]?(?:{_any(self.numbers)})?[ #:：-]*(?:{says})?\W*$"
        )

    @cached_property
    def unit(self) -> re.Pattern[str]:
        """What follows the length of a secret."""
        return _compiled(rf"[\s-]*(?:{_any(self.units)})")

    @cached_property
    def clause_end(self) -> re.Pattern[str]:
        """The end of a clause behind a secret."""
        joints = _any(self.joints)
        return re.compile(rf"[.!?,;)\"'”]*(?:\s*$|\s*\n|[.!?,;]\s|\s+(?:{joints})\b)")

    @property
    def _of(self) -> str:
        return rf"(?:\s+(?:{_any(self.of)})\b[^.!?\n:=：]{{1,60}}?)?"

    @property
    def _says(self) -> str:
        return rf"\s+(?:{_any(self.says)})\s+|\s*(?:{_any(self.says_within)})\s*"

    @property
    def _is(self) -> str:
        spaced = rf"(?:{_any((*self.says, *self.was))})(?:\s+(?:{_any(self.now)}))?\s*:?\s+"
        within = rf"(?:{_any((*self.says_within, *self.was_within))})\s*[:：]?\s*"
        return rf"(?:\s*(?P<sign>[:=：])\s*|\s+{spaced}|\s*{within})"


def _any(patterns: Iterable[str]) -> str:
    return "|".join(patterns) or "(?!)"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_SECRETS: Final = Topic(
    SecretWords,
    "secrets",
    about="how passwords, PINs and keys are announced",
    without="only secrets of a form of their own are redacted",
)


def secret_words() -> SecretWords:
    """Return the words of all languages."""
    return _SECRETS.everywhere
