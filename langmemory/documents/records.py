"""Documents and their sources as a store holds them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from langgraph.store.base import Item

from langmemory.documents.converting import Converted
from langmemory.documents.files import Content, Stamp, matches
from langmemory.documents.splitting import FRONT_MATTER
from langmemory.resources import CLIENT, KEYS
from langmemory.types import Namespace

SOURCES: Final = "doc-source/"
"""Begin the keys of sources."""
DIGITS: Final = 16
"""Of the hash of a text or place."""
TITLE_CHARACTERS: Final = 10_000
"""Of a text, among which its title is looked for."""
_TITLE: Final = re.compile(r"^title:[ \t]*([^\s>|].*)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A file or text that was read."""

    id: str
    namespace: Namespace
    path: str
    """Relative to its root, with ``/``; of a text its name."""
    root: str
    """The folder that it was found in, behind ``client:`` where that is on a client's machine; empty for what
    was given as text or bytes."""
    title: str
    sha256: str
    """Of its bytes."""
    bytes: int
    chunks: int
    read_at: datetime

    @property
    def key(self) -> str:
        """Of the item that says what was read."""
        return f"{KEYS}{self.id}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A folder that is read again by `Documents.refresh`."""

    namespace: Namespace
    root: str
    pattern: str
    """Of a glob: which files of the folder. Empty: all that can be read."""
    ignore: tuple[str, ...]
    failed: Mapping[str, str] = field(default_factory=dict)
    """What could not be read of it last time, and why."""
    left_out: tuple[str, ...] = ()
    """Paths of files and folders that somebody took out. They are not read unless they are added again."""

    @classmethod
    def of(cls, item: Item) -> Source:
        """Return what such an item says."""
        value: Mapping[str, Any] = item.value
        return cls(
            namespace=tuple(item.namespace), root=str(value["root"]), pattern=str(value["pattern"]),
            ignore=tuple(value["ignore"]), failed=dict(value.get("failed") or {}),
            left_out=tuple(value.get("left_out") or ()),
        )  # fmt: skip

    @property
    def key(self) -> str:
        """Of its item."""
        return f"{SOURCES}{digest(self.root, self.pattern)}"

    @property
    def value(self) -> dict[str, Any]:
        """Of its item."""
        left_out = {"left_out": list(self.left_out)} if self.left_out else {}
        return {
            "kind": "resource", "record": "source", "root": self.root, "pattern": self.pattern,
            "ignore": list(self.ignore), "failed": dict(self.failed), **left_out,
        }  # fmt: skip

    def holds(self, path: str) -> bool:
        """Return whether a file of the folder is one of them."""
        return not self.pattern or matches(self.pattern, path)

    def leaves_out(self, path: str) -> bool:
        """Return whether somebody took a file of the folder out, or a folder that it is in."""
        return any(path == one or path.startswith(f"{one}/") for one in self.left_out)


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """A part of a document, as it is found and cited."""

    key: str
    heading: str
    """The headings above it."""
    place: str
    """As in `citation`: ``L10-L24``, ``page=3``; empty where the format has none."""
    text: str

    @classmethod
    def of(cls, item: Item) -> Chunk:
        """Return what such an item says."""
        value: Mapping[str, Any] = item.value
        heading, place = str(value.get("heading") or ""), str(value.get("place") or "")
        return cls(key=item.key, heading=heading, place=place, text=str(value["text"]))


@dataclass(kw_only=True, slots=True)
class Synced:
    """What was done with documents, by their paths."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    """The path now, and the path before."""
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """What could not be read, and why. What was known of it stays."""
    unlinked: dict[str, str] = field(default_factory=dict)
    """Documents whose front matter names links that could not be read or made, and why."""
    chunks: int = 0
    """That are new, or otherwise than before."""

    def __iadd__(self, other: Synced) -> Synced:
        """Take the account of others into this one."""
        for name in ("added", "changed", "removed"):
            getattr(self, name).extend(getattr(other, name))
        self.moved |= other.moved
        self.failed |= other.failed
        self.unlinked |= other.unlinked
        self.unchanged += other.unchanged
        self.chunks += other.chunks
        return self

    @property
    def documents(self) -> int:
        """How many were written or taken out."""
        return len(self.added) + len(self.changed) + len(self.moved) + len(self.removed)

    def __bool__(self) -> bool:
        """Whether anything was done, or could not be."""
        return bool(self.documents or self.failed)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as its item says."""

    document: Document
    stamp: Stamp
    keys: tuple[str, ...]
    """Of its chunks, in order, without what all of them begin with."""
    updated_at: datetime
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What its front matter names, by relation."""


def record(
    document: Document,
    content: Content,
    keys: Sequence[str],
    converted: Converted | None,
    known: StoredDocument | None,
    links: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the value of the item that says what was read."""
    title = known.document.title if known is not None else ""
    if converted is not None:
        title = _title(converted)
    named = {"links": {relation: list(ends) for relation, ends in links.items()}} if links else {}
    return {
        "kind": "resource", "record": "document", "document": document.id, "path": document.path,
        "root": document.root, "title": title[:200], "sha256": content.sha256, "bytes": len(content.data),
        "size": content.stamp.size, "modified_ns": content.stamp.modified_ns, "chunks": " ".join(keys),
        **named,
    }  # fmt: skip


def _title(converted: Converted) -> str:
    """Return what a text is called: by its front matter, else its first line."""
    front = FRONT_MATTER.match(converted.text) if converted.layout == "markdown" else None
    if front is not None and (named := _TITLE.search(front[1] or "")):
        return named[1].strip("\"' \t")
    begins = front.end() if front is not None else 0
    lines = converted.text[begins : begins + TITLE_CHARACTERS].splitlines()
    return next((one for line in lines if (one := line.strip('#" \t')).strip("=-")), "")


_FIELDS: Final[Mapping[str, Mapping[str, type]]] = {
    "document": {
        "document": str, "path": str, "root": str, "title": str, "sha256": str, "bytes": int,
        "size": int, "modified_ns": int, "chunks": str,
    },
    "source": {"root": str, "pattern": str, "ignore": list},
}  # fmt: skip
"""Of the values of records."""


def is_record(value: Mapping[str, Any], record: str) -> bool:
    """Return whether a value is such a record, whole: others may write values that only call themselves
    so."""
    fields = _FIELDS[record].items()
    return value.get("record") == record and all(
        isinstance(value.get(name), kind) for name, kind in fields
    )


def stored_document(item: Item) -> StoredDocument:
    """Return what such an item says."""
    value: Mapping[str, Any] = item.value
    keys = tuple(str(value["chunks"]).split())
    return StoredDocument(
        document=Document(
            id=str(value["document"]), namespace=tuple(item.namespace), path=str(value["path"]),
            root=str(value["root"]), title=str(value["title"]), sha256=str(value["sha256"]),
            bytes=int(value["bytes"]), chunks=len(keys), read_at=item.updated_at,
        ),
        stamp=Stamp(int(value["size"]), int(value["modified_ns"])),
        keys=keys,
        updated_at=item.updated_at,
        links=dict(value.get("links") or {}),
    )  # fmt: skip


def folder(root: str) -> Path:
    """Return the folder of a root."""
    return Path(root.removeprefix(CLIENT))


def digest(*parts: str) -> str:
    """Return the id of what has these names."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
