"""How a recalled memory is shown at a terminal: what, when, who, and why it was found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from langmemory.resources import citation, is_chunk

if TYPE_CHECKING:
    from langmemory.types import Recall, RecallResult

NEAR = 0.3
"""Of meanings: the cosine from which it is named."""

REASONS = {
    "speaker": "their words",
    "session": "same conversation",
    "answers_previous": "answers the one before",
    "temporal": "of that time",
    "identifier": "names it",
    "claim": "states it",
}
"""Signals between 0 and 1 that are named when they are strong."""

STRONG = 0.75

EXCERPT_CHARACTERS = 280

NAME_WIDTH = 16
"""Columns for who and where; longer ones fold, and leave the text its room."""


def results(recall: Recall, width: int) -> Table | Group:
    """The results as a table, or under each other where too little of `width` is left for the text."""
    from langmemory.recall.explain import NARROW

    several = of_several_namespaces(recall)
    narrow = width < NARROW + (NAME_WIDTH if several else 0)
    return _list(recall, several) if narrow else _table(recall, several)


def _table(recall: Recall, several: bool) -> Table:
    """One row a result: what, when, who, where if that differs, score and parts, why."""
    table = Table(box=None, padding=(0, 2, 1, 0), header_style="dim", expand=True)
    table.add_column("what", ratio=1, overflow="fold")
    table.add_column("when", no_wrap=True)
    table.add_column("who", max_width=NAME_WIDTH, overflow="fold")
    if several:
        table.add_column("where", max_width=NAME_WIDTH, overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("why", max_width=26)
    for result in recall.results:
        table.add_row(
            excerpt(result),
            when(result),
            *(who(result), where(result)) if several else (who(result),),
            f"{result.score:.3f}",
            why(result),
        )
    return table


def _list(recall: Recall, several: bool) -> Group:
    lines: list[Text] = []
    for result in recall.results:
        figures = f"{result.score:.3f}", *([where(result)] if several else [])
        lines += result_lines(result, *figures, limit=EXCERPT_CHARACTERS)
    return Group(*lines)


def result_lines(result: RecallResult, *figures: str, limit: int) -> list[Text]:
    """A result as lines: text, when and who with the `figures`, why; and an empty one."""
    facts = " · ".join((when(result), who(result), *figures))
    return [excerpt(result, limit), Text(facts, "dim"), why(result), Text()]


def excerpt(result: RecallResult, limit: int = EXCERPT_CHARACTERS) -> Text:
    """The text on one line, at most `limit` characters around its first matched word, with the
    matched words in bold."""
    words = matched_words(result)
    text = " ".join(result.text.split())
    pattern = re.compile("|".join(rf"\b{re.escape(word)}" for word in words), re.IGNORECASE)
    if len(text) > limit:
        first = pattern.search(text) if words else None
        start = max(0, min((first.start() if first else 0) - limit // 3, len(text) - limit))
        if start:
            start = text.find(" ", start) + 1
        cut = text[start : start + limit]
        if start + limit < len(text):
            cut = cut.rsplit(" ", 1)[0] + " …"
        text = ("… " if start else "") + cut
    shown = Text(text)
    if words:
        shown.highlight_regex(re.compile(rf"(?:{pattern.pattern})\w*", re.IGNORECASE), "bold cyan")
    return shown


def when(result: RecallResult) -> str:
    """The day, as in `14 Mar 2026`."""
    return f"{result.at.day} {result.at:%b %Y}"


def who(result: RecallResult) -> str:
    """Return who said it; of a part of a document where it stands, of a fact that nobody said where it is
    from."""
    if is_chunk(result.memory.value):
        return citation(result.memory.value)
    source = result.speaker or result.memory.value.get("source")
    return " ".join(source.split()) if isinstance(source, str) and source else "–"


def where(result: RecallResult) -> str:
    return "/".join(result.memory.namespace)


def of_several_namespaces(recall: Recall) -> bool:
    return len({result.memory.namespace for result in recall.results}) > 1


def why(result: RecallResult) -> Text:
    """The matched words, and what else speaks strongly for it. `--explain` has the figures."""
    words = matched_words(result)
    parts = result.parts
    reasons = [
        *(["near in meaning"] if parts.get("dense", 0) >= NEAR else []),
        *(label for name, label in REASONS.items() if parts.get(name, 0) >= STRONG),
    ]
    lines = [Text(", ".join(words), "cyan"), Text(" · ".join(reasons), "dim")]
    return Text("\n").join(line for line in lines if line)


def matched_words(result: RecallResult) -> tuple[str, ...]:
    return result.explanation.matched_words if result.explanation else ()
