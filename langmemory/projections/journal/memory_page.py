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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
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
_TITLES: Final = frozenset({"Memory", _OTHERS, *(name for name, _ in _GROUPS)})
_CORE: Final = "Core: "
_CHARACTERS_A_TOKEN: Final = 4
_ID: Final = re.compile(r"(?:^|\s+)\^([0-9a-f]{10})\s*$")
_ID_WITHIN: Final = re.compile(r"(?:^|(?<=\s))\^([0-9a-f]{10})(?=\s|$)")
_ITEM: Final = re.compile(r"^\s*(?:[-*+]|(\d{1,9})[.)])(?:\s+|$)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_FENCE: Final = re.compile(r"\s*(`{3,}(?!.*`)|~{3,}|<!--)")
_RULE: Final = re.compile(r" {0,3}(?:([-*_])(?:\s*\1){2,}|=+)\s*$")
MOST_ITEMS: Final = 999
"""Of a list with numbers; a larger number within a text is a year, say."""
_WRITTEN: Final = re.compile(r"^<!-- written (\{[^<>]*\}) -->[ \t\r]*$", re.MULTILINE)
"""Below it somebody may have gone on."""
_WRAPPED: Final = re.compile(r"(?<=\S)\n(?=[^\W\d_])")
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
    unread: Sequence[str] = ()
    """What else was written, and is neither a line nor a block: tables, code, headings."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed or self.added or self.core or self.unread)

    def within(self, others: Edits) -> bool:
        """Return whether all of these are among others."""
        return (
            self.changed.items() <= others.changed.items()
            and set(self.removed) <= set(others.removed)
            and set(self.added) <= set(others.added)
            and self.core.items() <= others.core.items()
            and set(self.unread) <= set(others.unread)
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


def core_digests(text: str) -> tuple[str, str]:
    """Return what stands for the text of a core block: with its indentation, and as pages had it before.
    Lines of a paragraph may be wrapped otherwise."""
    lines = (f"{_indent(one)}{_plain(line(one))}" for one in text.splitlines())
    exact = _WRAPPED.sub(" ", "\n".join(lines))
    return hashlib.sha256(exact.encode()).hexdigest()[:16], digest(text)


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _unquoted(line: str) -> str:
    """Return a line of a core block as it was written, with its indentation."""
    bare = re.sub(r"^\s*> ?", "", line) if line.lstrip().startswith(">") else line.strip()
    return f"{_indent(bare)}{_plain(bare)}".rstrip()


def _mark(plain: str) -> str:
    return hashlib.sha256(" ".join(plain.split()).encode()).hexdigest()[:16]


def render(page: MemoryPage, budget_tokens: int) -> str:
    """Return the page as Markdown: core blocks, and as many of the memories as the budget allows."""
    left = budget_tokens * _CHARACTERS_A_TOKEN
    blocks, core = [f"# Memory\n{MARK}"], {}
    for label, content in page.core.items():
        quoted = [f"> {_indent(one)}{line(one)}".rstrip() for one in content.splitlines()]
        blocks.append("\n".join([f"## {_CORE}{label}", "", *quoted]))
        core[label] = core_digests(content)[0]
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


def is_memory_page(text: str, marks: Collection[str] = (MARK,)) -> bool:
    """Whether a text is a page that langmemory wrote, edited or not. A formatter may put blank lines into
    it."""
    return next(islice(filter(str.strip, text.splitlines()[:5]), 1, None), None) in marks


def edits_of(text: str) -> Edits:
    """Return what a person made of a page since it was written.

    Raises:
        MemoryPageError: What was written cannot be told.
    """
    written = written_of(text)
    said: list[tuple[str, str]] = []
    unread = list[str]()
    core: dict[str, list[str]] = defaultdict(list)
    for one in _blocks(_WRITTEN.sub("", text).splitlines()):
        label = one.heading.removeprefix(_CORE)
        in_core = one.heading.startswith(_CORE)
        if one.kind == "heading":
            if (in_core and label not in written.core) or (
                not in_core and one.heading not in _TITLES
            ):
                unread.append(one.text)
        elif one.kind == "quote" and in_core and label in written.core:
            core[label] += [*([""] if core[label] else []), *map(_unquoted, one.text.splitlines())]
        elif one.kind in ("item", "paragraph") and not (in_core and one.kind == "paragraph"):
            said += one.said(written.lines)
        elif other := one.text.replace(MARK, "").strip():
            unread.append(other)
    seen, added = _by_name(said, written)
    blocks = {label: "\n".join(lines).strip("\n") for label, lines in core.items()}
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
            if content.strip() and written.core[label] not in core_digests(content)
        },
        unread=unread,
    )


def _by_name(said: Iterable[tuple[str, str]], written: Written) -> tuple[dict[str, str], list[str]]:
    """Return which text stands at each id, and the texts of no id. A line that is there twice, or lost its
    id, is known by its words."""
    seen, left = dict[str, str](), list[str]()
    as_written = {told: name for name, (_, told) in written.lines.items()}
    for name, text in said:
        own = as_written.get(_mark(text), "")
        if own and (not name or name == own):
            left += [seen[own]] if own in seen and _mark(seen[own]) != _mark(text) else []
            seen[own] = text
        elif name in seen or not name:
            left.append(text)
        else:
            seen[name] = text
    return seen, [one for one in left if one]


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of a page that belong together."""

    kind: str
    """``heading``, ``item``, ``paragraph``, ``quote``; ``other`` for what is nothing of these."""
    heading: str
    """That it stands under; its own text, of a heading."""
    lines: tuple[str, ...]
    """As they are in the page, with the blank lines behind."""

    @property
    def text(self) -> str:
        return "\n".join(one.rstrip() for one in self.lines).strip()

    def names(self) -> list[str]:
        """Return the ids in its lines."""
        return [name for one in self.lines for name in _ID_WITHIN.findall(one)]

    def said(self, known: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the texts of an item or paragraph with their ids, ``""`` where a text has none. What a
        formatter wrapped is one text; what was written behind an id belongs to it."""
        lines = [one for one in self.lines if one.strip()]
        if self.kind == "item":
            lines[0] = _ITEM.sub("", lines[0])
        lines = [part for one in lines for part in _split_behind(one, known)]
        parts, name = list[tuple[str, list[str]]](), ""
        words = list[str]()
        for one in lines:
            found = _ID.search(one)
            words.append(_ID.sub("", one))
            if found is not None and (found[1] in known or not parts):
                name = found[1] if found[1] in known else ""
                parts.append((name, words))
                words = []
        if words and parts:
            parts[-1][1].extend(words)
        elif words:
            parts.append(("", words))
        for name, text in parts:
            if plain := _plain(" ".join(text)):
                yield name, plain


def _split_behind(line: str, known: Collection[str]) -> Iterator[str]:
    """Yield the parts of a line that end in a known id, and what stands behind the last one."""
    begun = 0
    for found in _ID_WITHIN.finditer(line):
        if found[1] in known:
            yield line[begun : found.end()]
            begun = found.end()
    if not begun or line[begun:].strip():
        yield line[begun:]


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    """Yield the blocks of a page, in order; nothing of it is between them."""
    kind, heading, until, is_over = "", "", "", False
    block: list[str] = []
    for one in lines:
        begun = None if until or not one.strip() else _begun(one, kind, is_over=is_over)
        is_over = until in one if until else not one.strip()
        until = "" if is_over else until
        if begun is not None:
            if block:
                yield _Block(kind or "other", heading, tuple(block))
            kind, block = begun, []
            if kind == "heading":
                heading = _plain(one.strip().strip("#"))
            elif (fence := _FENCE.match(one)) is not None:
                closing = "-->" if fence[1] == "<!--" else fence[1]
                is_over = closing in one[fence.end() :]
                until = "" if is_over else closing
        block.append(one)
    if block:
        yield _Block(kind or "other", heading, tuple(block))


def _begun(line: str, kind: str, *, is_over: bool) -> str | None:
    """Return the kind of the block that a line begins; None where it goes on with the one before."""
    follows = kind in ("item", "paragraph", "quote") and not is_over
    if _HEADING.match(line):
        return "heading"
    if line.lstrip().startswith(">"):
        return None if kind == "quote" and not is_over else "quote"
    if _FENCE.match(line) or _RULE.match(line) or line.lstrip().startswith("|"):
        return None if kind == "other" and not is_over and not _FENCE.match(line) else "other"
    item = _ITEM.match(line)
    # As CommonMark has it: else a year at the beginning of a wrapped line would be a number.
    if (
        item
        and (kind == "item" or not follows or item[1] in (None, "1"))
        and not (follows and item[1] not in (None, "1") and int(item[1] or 0) > MOST_ITEMS)
    ):
        return "item"
    if follows or (kind == "other" and not is_over):
        return None
    return None if kind == "item" and line[:1].isspace() else "paragraph"


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
        blocks = {
            name: one for name, one in told.core.items() if one in core_digests(core.get(name, ""))
        }
        kept = {"namespace": told.namespace, "owner": told.owner, "lines": lines, "core": blocks}
        text = _WRITTEN.sub(lambda _: _comment(kept), text)
    except MemoryPageError:
        lines, blocks = {}, {}
    return "".join(_without(text, lines, blocks))


def _without(text: str, lines: Mapping[str, object], blocks: Mapping[str, object]) -> Iterator[str]:
    for one in _blocks(text.splitlines(keepends=True)):
        is_gone = one.heading.startswith(_CORE) and one.heading.removeprefix(_CORE) not in blocks
        if not (is_gone and one.kind in ("quote", "heading")) and lines.keys() >= set(one.names()):
            yield from one.lines


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
            "its last line, which says what was written, is gone or was changed. Keep elsewhere what you "
            "wrote, and delete the file to have it written anew."
        ) from error


def _plain(text: str) -> str:
    """The words of a line, as they were before `line` made them harmless."""
    return _ESCAPED.sub("", " ".join(text.split())).replace("&lt;", "<")
