"""`MEMORY.md`: what memory holds, as one page that a person may read and edit; and reading the edits.

A line is a memory, and ends in its id. At the end of the page a comment says what was written, as digests, so
that edits are found by comparing the page with itself, and what changed in memory meanwhile by comparing it
with memory.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langmemory.ports.journal import RememberedRow
from langmemory.projections.journal.pages import folders_of, line
from langmemory.types import Namespace

NAME: Final = "MEMORY.md"
MARK: Final = (
    "<!-- Written by langmemory from its memory. Lines may be changed, added and deleted: "
    "`langmemory journal --take-edits` takes that up, and so does every night. -->"
)
"""Second line of every page: files without it are nobody's but their author's."""
_GROUPS: Final[Sequence[tuple[str, tuple[str, ...]]]] = (
    ("Rules", ("rule", "procedure")),
    ("Habits and insights", ("habit", "insight")),
    ("Preferences", ("preference",)),
    ("Plans and decisions", ("plan", "decision")),
)
_OTHERS: Final = "Facts"
_CORE: Final = "Core: "
_CHARACTERS_A_TOKEN: Final = 4
_ID: Final = re.compile(r"\s+\^([0-9a-f]{10})\s*$")
_ITEM: Final = re.compile(r"\s*[-*+]\s+(.*)$")
_WRITTEN: Final = re.compile(r"<!-- written (\{.*\}) -->\s*\Z", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(?=[(\[#>+*=|`~_.)-])")


class MemoryPageError(ValueError):
    """A page cannot be read: its last line, which says what was written, is gone or not as it was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPage:
    """What one namespace holds, for everybody in it or for the owner of what is private."""

    namespace: Namespace
    owner: str | None
    """Whose private memories; None: what everybody in the namespace may read."""
    core: Mapping[str, str] = field(default_factory=dict)
    """Core blocks that say something, by label."""
    rows: Sequence[RememberedRow] = ()
    """The most salient first."""

    @property
    def path(self) -> tuple[str, ...]:
        """Folders and file name."""
        return path_of(self.namespace, self.owner)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What a page was when it was written."""

    namespace: Namespace
    owner: str | None
    lines: Mapping[str, tuple[str, str]]
    """Id of a line → key of the memory, digest of the text."""
    core: Mapping[str, str]
    """Label of a core block → digest of its text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edits:
    """What a person made of a page."""

    written: Written
    changed: Mapping[str, str] = field(default_factory=dict)
    """Key of a memory → its new text."""
    removed: Sequence[str] = ()
    """Keys of memories whose lines are gone."""
    added: Sequence[str] = ()
    """Texts of new lines."""
    core: Mapping[str, str] = field(default_factory=dict)
    """Label of a core block → its new text."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed or self.added or self.core)

    def within(self, others: Edits) -> bool:
        """Return whether all of these are among others."""
        return (
            self.changed.items() <= others.changed.items()
            and set(self.removed) <= set(others.removed)
            and set(self.added) <= set(others.added)
            and self.core.items() <= others.core.items()
        )

    def digest_of(self, key: str) -> str:
        """Return the digest of the text that was written for a memory; ``""`` where none was."""
        return next((told for one, told in self.written.lines.values() if one == key), "")


def path_of(namespace: Namespace, owner: str | None, name: str = NAME) -> tuple[str, ...]:
    """Return folders and file name of a page beside those of the journal."""
    return (*folders_of(namespace, owner), name)


def digest(text: str) -> str:
    """Return what stands for a text in the last line of a page."""
    return _mark(" ".join(_plain(line(one)) for one in text.splitlines()))


def _mark(plain: str) -> str:
    return hashlib.sha256(" ".join(plain.split()).encode()).hexdigest()[:16]


def render(page: MemoryPage, budget_tokens: int) -> str:
    """Return the page as Markdown: core blocks, and as many of the memories as the budget allows."""
    left = budget_tokens * _CHARACTERS_A_TOKEN
    blocks, core = [f"# Memory\n{MARK}"], {}
    for label, content in page.core.items():
        quoted = [f"> {line(one)}".rstrip() for one in content.splitlines()]
        blocks.append("\n".join([f"## {_CORE}{label}", "", *quoted]))
        core[label] = digest(content)
        left -= len(blocks[-1])
    lines: dict[str, tuple[str, str]] = {}
    groups: dict[str, list[str]] = defaultdict(list)
    for row in page.rows:
        name = hashlib.sha256(row.key.encode()).hexdigest()[:10]
        text = f"- {line(row.text)} ^{name}"
        if len(text) > left or name in lines or not row.text.strip():
            continue
        left -= len(text)
        lines[name] = (row.key, digest(row.text))
        groups[_group(row.statement)].append(text)
    for title in (*(name for name, _ in _GROUPS), _OTHERS):
        if groups[title]:
            blocks.append(f"## {title}\n\n" + "\n".join(groups[title]))
    told = {"namespace": page.namespace, "owner": page.owner, "lines": lines, "core": core}
    blocks.append(_comment(told))
    return "\n\n".join(blocks) + "\n"


def _group(statement: str) -> str:
    return next((name for name, statements in _GROUPS if statement in statements), _OTHERS)


def _comment(told: Mapping[str, Any]) -> str:
    text = json.dumps(told).replace("-", "\\u002d").replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- written {text} -->"


def is_memory_page(text: str) -> bool:
    """Whether a text is a page that langmemory wrote, edited or not."""
    return text.splitlines()[1:2] == [MARK]


def edits_of(text: str) -> Edits:
    """Return what a person made of a page since it was written.

    Raises:
        MemoryPageError: What was written cannot be told.
    """
    written = written_of(text)
    seen, added = dict[str, str](), list[str]()
    core: dict[str, list[str]] = defaultdict(list)
    heading = ""
    for one in _WRITTEN.sub("", text).splitlines()[2:]:
        if one.startswith("#"):
            heading = one.lstrip("#").strip()
        elif heading.startswith(_CORE) and one.startswith(">"):
            core[heading.removeprefix(_CORE)].append(_plain(one[1:]))
        elif (item := _ITEM.match(one)) is not None:
            name = _ID.search(item[1])
            said = _plain(_ID.sub("", item[1]))
            if name is not None and name[1] in written.lines:
                seen[name[1]] = said
            elif said:
                added.append(said)
    blocks = {label: "\n".join(lines).strip() for label, lines in core.items()}
    return Edits(
        written=written,
        changed={
            key: seen[name]
            for name, (key, told) in written.lines.items()
            if seen.get(name) and _mark(seen[name]) != told
        },
        removed=[key for name, (key, _) in written.lines.items() if not seen.get(name)],
        added=added,
        core={
            label: content
            for label, content in blocks.items()
            if content and label in written.core and _mark(content) != written.core[label]
        },
    )


def prune_page(text: str, holding: Iterable[str], core: Mapping[str, str]) -> str:
    """Return a page, edited or not, without what does not hold any more.

    Args:
        text: Of the page. Where what was written cannot be told, all lines with ids and all core blocks go.
        holding: Keys of the memories that may stand on it.
        core: Core blocks by label; those that say something else by now go, too.
    """
    keys = set(holding)
    try:
        told = written_of(text)
        lines = {name: one for name, one in told.lines.items() if one[0] in keys}
        blocks = {name: one for name, one in told.core.items() if digest(core.get(name, "")) == one}
        kept = {"namespace": told.namespace, "owner": told.owner, "lines": lines, "core": blocks}
        text = _WRITTEN.sub(lambda _: _comment(kept) + "\n", text)
    except MemoryPageError:
        lines, blocks = {}, {}
    return "".join(_without(text, lines, blocks))


def _without(text: str, lines: Mapping[str, object], blocks: Mapping[str, object]) -> Iterator[str]:
    gone = False
    for one in text.splitlines(keepends=True):
        if one.startswith("#"):
            heading = one.lstrip("#").strip()
            gone = heading.startswith(_CORE) and heading.removeprefix(_CORE) not in blocks
        name = _ID.search(one)
        if not (gone and one.startswith((">", "#"))) and (name is None or name[1] in lines):
            yield one


def written_of(text: str) -> Written:
    """Return what a page was when it was written.

    Raises:
        MemoryPageError: That cannot be told.
    """
    found = _WRITTEN.search(text)
    try:
        told = json.loads(found[1]) if found and is_memory_page(text) else {}
        return Written(
            namespace=tuple(map(str, told["namespace"])),
            owner=told["owner"],
            lines={name: (str(key), str(one)) for name, (key, one) in told["lines"].items()},
            core={str(label): str(one) for label, one in told["core"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MemoryPageError(
            "its last line, which says what was written, is gone or was changed. Delete the file to "
            "have it written anew."
        ) from error


def _plain(text: str) -> str:
    """The words of a line, as they were before `line` made them harmless."""
    return _ESCAPED.sub("", " ".join(text.split())).replace("&lt;", "<")
