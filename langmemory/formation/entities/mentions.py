"""Which names a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from langmemory.languages import is_unspaced
from langmemory.languages.spelling import name_key
from langmemory.types import Entity

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def names_in(text: str) -> Iterator[str]:
    """Runs of up to four words that may be a name, the text's own spelling kept; in unspaced
    scripts every run of two to six characters."""
    words = list(_WORD.finditer(text))
    for start, first in enumerate(words):
        for end in range(start, min(start + 4, len(words))):
            run = text[first.start() : words[end].end()]
            yield run
            for possessive in ("'s", "’s"):
                if run.endswith(possessive):
                    yield run.removesuffix(possessive)
        if is_unspaced(first[0]):
            word = first[0]
            for at in range(len(word)):
                for length in range(2, 7):
                    if at + length <= len(word):
                        yield word[at : at + length]


def written_as(entity: Entity, name: str) -> bool:
    """A name with a capital is only meant by one with a capital: "Will" is not "will"."""
    spelled = (n for n in (entity.name, *entity.aliases) if name_key(n) == name_key(name))
    return any(name[:1].isupper() or not n[:1].isupper() for n in spelled)
