"""Texts of documents in chunks: sections by their headings, and within these whole blocks and sentences.

A chunk is a part of the text as it is, from `Chunk.start` to `Chunk.end`, so that a quotation of it is exact.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final, Literal

from langmemory.languages.passages import sentence_starts

if TYPE_CHECKING:
    from markdown_it.token import Token

Layout = Literal["markdown", "rst", "python", "code", "plain"]
"""How a text shows its parts."""

CHUNK_CHARACTERS: Final = 1_000
"""About so long is a chunk; a shorter section is one by itself."""
HEADING_CHARACTERS: Final = 200
"""Of one heading; what is longer is cut."""

_RST_UNDERLINE: Final = re.compile(r"([=\-`:.'\"~^_*+#])\1{2,}\s*$")
_DEFINITION: Final = re.compile(r"^[A-Za-z_@#<].*$", re.MULTILINE)
"""A line of code that is not indented, and begins something."""
_NEWLINE: Final = r"(?:\r\n|\r(?!\n)|\n)"
LINE_END: Final = re.compile(_NEWLINE)
"""As CommonMark, Python and editors count lines; a form feed ends none."""
_PARAGRAPH_END: Final = re.compile(rf"{_NEWLINE}[ \t]*{_NEWLINE}\s*")
_BLANK_LINES: Final = re.compile(rf"(?:[ \t\f\v]*{_NEWLINE})*")
FRONT_MATTER: Final = re.compile(
    rf"\A---[ \t]*{_NEWLINE}(.*?(?<=[\r\n]))?(?:---|\.\.\.)[ \t]*(?:{_NEWLINE}|\Z)", re.DOTALL
)
"""What stands between its marks is its group."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text under one heading."""

    start: int
    end: int
    heading: tuple[str, ...]
    """The headings above it, outermost first."""
    body: int
    """Where its own heading ends."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text that is found and cited by itself."""

    start: int
    """In characters of the text."""
    end: int
    first_line: int
    """From 1."""
    last_line: int
    heading: tuple[str, ...]
    """The headings above it, outermost first."""


def split(text: str, layout: Layout, *, characters: int = CHUNK_CHARACTERS) -> list[Chunk]:
    """Return a text in chunks, in order. Nothing but blank lines lies between them.

    Args:
        text: Of one document.
        layout: How it shows its parts. What cannot be read so is plain.
        characters: About how long a chunk is at most; a sentence or line up to half as long again is left
            whole.
    """
    lines = [0, *(found.end() for found in LINE_END.finditer(text))]
    return [
        Chunk(
            start=start,
            end=end,
            first_line=bisect_right(lines, start),
            last_line=bisect_right(lines, end - 1),
            heading=section.heading,
        )
        for section in _joined(text, _sections(text, layout, lines))
        for start, end in _parts(text, section, layout, characters)
    ]


def _sections(text: str, layout: Layout, lines: Sequence[int]) -> Iterable[Section]:
    if layout == "markdown":
        return _between(text, _markdown_headings(text, lines))
    if layout == "rst":
        return _between(text, _rst_headings(text))
    if layout == "python":
        return _python_sections(text, lines)
    return [Section(0, len(text), (), 0)]


def _joined(text: str, sections: Iterable[Section]) -> Iterator[Section]:
    """Yield the sections, a heading with nothing below it as a part of the section that follows. Headings of
    which none is below the one before go under what is above all of them, as a list does."""
    alone: Section | None = None
    for section in sections:
        if not text[section.start : section.end].strip():
            continue
        if alone is not None:
            heading = section.heading
            if heading[: len(alone.heading)] != alone.heading:
                both = zip(alone.heading, heading, strict=False)
                heading = tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], both))
            section = Section(alone.start, section.end, heading, section.body)
        alone = None
        if text[section.body : section.end].strip():
            yield section
        else:
            alone = section
    if alone is not None:
        yield alone


def _between(text: str, headings: Iterable[tuple[int, int, int, str]]) -> Iterator[Section]:
    """Yield the sections that headings begin, each given as its place, its end, its level and its words."""
    above: list[tuple[int, str]] = []
    start = body = 0
    for place, end, level, words in headings:
        yield Section(start, place, tuple(one for _, one in above), body)
        above = [one for one in above if one[0] < level]
        above.append((level, " ".join(words.split())[:HEADING_CHARACTERS]))
        start, body = place, end
    yield Section(start, len(text), tuple(one for _, one in above), body)


def open_fence(text: str) -> str:
    """Return the mark of a fence of Markdown that nobody closed; empty where there is none."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").disable("inline").parse(text)
    if not tokens or tokens[-1].type != "fence":
        return ""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # as CommonMark has them
    return "" if is_closed(tokens[-1], lines) else tokens[-1].markup


def is_closed(fence: Token, lines: Sequence[str]) -> bool:
    """Return whether somebody closed a fence of Markdown; ``lines`` are those of the text it stands in."""
    begins, ends = fence.map or (0, 0)
    last = lines[ends - 1].strip("> \t")
    return ends - begins > 1 and set(last) == {fence.markup[0]} and len(last) >= len(fence.markup)


def _markdown_headings(text: str, lines: Sequence[int]) -> Iterator[tuple[int, int, int, str]]:
    """Yield the headings of CommonMark; front matter is none."""
    from markdown_it import MarkdownIt

    front = FRONT_MATTER.match(text)
    begins = front.end() if front else 0
    skipped = bisect_right(lines, begins) - 1
    tokens = MarkdownIt("commonmark").disable("inline").parse(text[begins:])
    for token, inner in pairwise(tokens):
        if token.type == "heading_open" and token.map is not None and token.level == 0:
            first, last = (one + skipped for one in token.map)
            end = lines[last] if last < len(lines) else len(text)
            yield lines[first], end, int(token.tag[1:]), inner.content


def _rst_headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield lines that are underlined; the order in which their marks first appear is their level."""
    levels: list[str] = []
    place, title, over = 0, "", ""
    begins = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        mark = bare[:1] if _RST_UNDERLINE.match(bare) else ""
        if mark and title.strip() and not title[0].isspace() and len(bare) >= len(title.rstrip()):
            kind = f"{over}{mark}"
            if kind not in levels:
                levels.append(kind)
            yield begins, place + len(line), levels.index(kind) + 1, title.strip()
            title = over = ""
        elif mark and not title.strip():
            over, begins = mark, place
            title = ""
        else:
            if not over:
                begins = place
            title = bare
            if not bare:
                over = ""
        place += len(line)


def _python_sections(text: str, lines: Sequence[int]) -> Iterable[Section]:
    """Return the module's own lines, and functions and classes, with the name that they are reached by."""
    try:
        with warnings.catch_warnings():  # of escapes in the strings of somebody else's code
            warnings.simplefilter("ignore")
            module = ast.parse(text)
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ):  # of another version, or no Python
        return [Section(0, len(text), (), 0)]
    places: list[tuple[int, int, tuple[str, ...]]] = []

    def begins(node: ast.stmt) -> int:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        return lines[min([node.lineno, *(one.lineno for one in decorators)]) - 1]

    def walk(nodes: Iterable[ast.stmt], above: tuple[str, ...]) -> None:
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                is_class = isinstance(node, ast.ClassDef)
                body = begins(node.body[0] if is_class else node)
                places.append((begins(node), body, (*above, node.name)))
                if is_class:
                    walk(node.body, (*above, node.name))
                end = node.end_lineno or node.lineno
                if end < len(lines):
                    places.append((lines[end], lines[end], above))

    walk(module.body, ())
    found: list[Section] = []
    start = body = 0
    heading: tuple[str, ...] = ()
    for place, after, names in places:
        if place > start and text[start:place].strip():
            found.append(Section(start, place, heading, body))
            start = place
        body, heading = after, names
    return [*found, Section(start, len(text), heading, body)]


def _parts(
    text: str, section: Section, layout: Layout, characters: int
) -> Iterator[tuple[int, int]]:
    """Yield the places of the chunks of a section, without the blank lines around them."""
    cuts = _cuts(text[section.start : section.end], layout, characters)
    for start, end in zip(cuts, [*cuts[1:], section.end - section.start], strict=True):
        part = text[section.start + start : section.start + end]
        if part.strip():
            blank = _BLANK_LINES.match(part)
            begins = section.start + start + (blank.end() if blank else 0)
            yield begins, section.start + start + len(part.rstrip())


def _cuts(text: str, layout: Layout, characters: int) -> list[int]:
    """Return where the chunks of a section begin: at the end of a paragraph or block if there is one in
    reach, else of a sentence or line, else of a word."""
    cuts = [0]
    if len(text) <= characters * 1.5:
        return cuts
    blocks = [found.end() for found in _PARAGRAPH_END.finditer(text)]
    if layout in ("code", "python"):
        blocks = sorted({*blocks, *(found.start() for found in _DEFINITION.finditer(text))})
    sentences = sentence_starts(text)
    while len(text) - cuts[-1] > characters * 1.5:
        least, most = cuts[-1] + characters // 3, cuts[-1] + characters
        cut = _last_between(blocks, least, most) or _last_between(sentences, least, most)
        if cut is None:
            cut = _first_between(sentences, most, cuts[-1] + int(characters * 1.5))
        if cut is None:
            space = text.rfind(" ", least, most)
            cut = space + 1 if space > 0 else most
        cuts.append(cut)
    return cuts


def _last_between(places: Sequence[int], least: int, most: int) -> int | None:
    at = bisect_right(places, most)
    return places[at - 1] if at and places[at - 1] >= least else None


def _first_between(places: Sequence[int], least: int, most: int) -> int | None:
    at = bisect_right(places, least)
    return places[at] if at < len(places) and places[at] <= most else None
