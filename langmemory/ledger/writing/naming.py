"""Naming: what the people who speak are called where others read of them.

A turn without a name is its owner's, and is stored under the owner's id. Once somebody says what they are
called, that name is shown instead, also of what was stored before: the stored words, keys and entities
stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from langmemory.formation.entities.roles import person_words
from langmemory.languages.spelling import name_key
from langmemory.ledger.records import standing
from langmemory.ledger.tables.connection import Connection
from langmemory.messages import ANONYMOUS, is_own
from langmemory.types import Memory, Namespace

_SUMMARY: Final = "archival"
_DIGITS: Final = re.compile(r"\d+")
_IN_WORD: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff]"
"""A character that goes on a word; Chinese and Japanese are written without spaces between words."""


def unnumbered(memory: Memory) -> Memory:
    """Return the memory without the numbers whose gaps tell a viewer how much others keep private."""
    return replace(memory, id=0, position=None)


class Names:
    """The names of people in memories, as one viewer may know it. Reads each name once.

    Args:
        viewer: Who reads; None is the application. A name that somebody told in private is theirs.
    """

    def __init__(self, connection: Connection, viewer: str | None) -> None:
        self._connection = connection
        self._viewer = viewer
        self._found: dict[tuple[Namespace, str | None], str | None] = {}

    def of(self, namespace: Namespace, owner: str | None) -> str | None:
        """Return what somebody said they are called; None where they did not, or it is not clear.

        Args:
            namespace: Exactly this one.
            owner: Their id; None is whoever speaks where no run says who it is.
        """
        place = (namespace, owner)
        if place not in self._found:
            connection, viewer = self._connection, self._viewer
            norm = name_key(owner or "user")
            name = standing.self_named(connection, namespace, owner, norm, viewer)
            if (
                name is not None
                and owner is not None
                and standing.named_by_others(connection, namespace, owner, name, viewer)
            ):
                name = f"{name} ({owner})"
            self._found[place] = name
        return self._found[place]

    def shown(self, memory: Memory) -> Memory:
        """Return the memory with the names of those it speaks of."""
        speaker = memory.speaker
        if speaker is None and memory.kind != _SUMMARY:
            return memory
        anonymous = speaker is None or speaker.casefold() in ANONYMOUS
        if not anonymous and (memory.owner is None or speaker != memory.owner):
            return memory
        name = self._name(memory.namespace, memory.owner, anonymous=anonymous)
        if name is None:
            return memory
        text = memory.text
        # What was said stays as it was said, and "u-17's name is Priya" says who is who.
        if memory.kind != "episodic" and memory.value.get("relation") not in standing.NAMING:
            text = self.written(memory.namespace, memory.owner, text, anonymous=anonymous)
        return replace(memory, text=text, speaker=None if speaker is None else name)

    def written(
        self, namespace: Namespace, owner: str | None, text: str, *, anonymous: bool
    ) -> str:
        """Return the text of a fact with the name of whoever it calls the user, or by their id."""
        name = self._name(namespace, owner, anonymous=anonymous)
        if name is None:
            return text
        if not anonymous:
            assert owner is not None
            return _renamed(text, owner, name)
        genitive = f"{name}’" if name[-1] in "sßxz" else f"{name}s"
        for pattern, written in person_words().the_user:
            by = written.format(name=_literal(name), genitive=_literal(genitive))
            text = re.sub(pattern, by, text)
        return text

    def _name(self, namespace: Namespace, owner: str | None, *, anonymous: bool) -> str | None:
        name = self.of(namespace, owner)
        if name is None and anonymous and owner and not is_own(namespace, owner):
            return owner
        return name

    def told(
        self, namespace: Namespace, owner: str | None, value: Mapping[str, Any], text: str
    ) -> str:
        """Return a text of a stored value, as `shown` gives it."""
        speaker = value.get("speaker")
        if value.get("relation") in standing.NAMING:
            return text
        anonymous = speaker is None or str(speaker).casefold() in ANONYMOUS
        if not anonymous and (owner is None or speaker != owner):
            return text
        return self.written(namespace, owner, text, anonymous=anonymous)

    def of_entity(self, namespace: Namespace, entity: str) -> str | None:
        """Return what an entity is called that bears an id, or is somebody's by it ("u-17's sister")."""
        owner, of, role = entity.partition("'s ")
        name = self.of(namespace, None if owner.casefold() in ANONYMOUS else owner)
        return None if name is None else f"{name}{of}{role}"


def _renamed(text: str, owner: str, name: str) -> str:
    """Return the text with a name for an id. Where the name stands already, it stays; a number is an id
    only where the text begins with it."""
    if _DIGITS.fullmatch(owner):
        return re.sub(rf"^{owner}(?!{_IN_WORD})", _literal(name), text)
    begun, ends = re.escape(owner[0].upper() + owner[1:]), rf"(?!{_IN_WORD})"
    begins = rf"(?<!{_IN_WORD})(?<!@)"
    return re.sub(
        rf"{begins}{re.escape(name)}{ends}|^{begun}{ends}|{begins}{re.escape(owner)}{ends}",
        _literal(name),
        text,
    )


def _literal(name: str) -> str:
    return name.replace("\\", r"\\")
