"""Answers: what tools return, as text that a model can use and as JSON for programs.

Memories are other people's words. In both forms they are escaped, see `langmemory.context.marking`; in text
they stand as quoted lines between tags. What a program needs word for word it reads over REST.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from langgraph.store.base import Item

from langmemory.citing import digest
from langmemory.context.disclosure import CITE, HEADER, as_much, line_head, line_tail, note_line
from langmemory.context.marking import CLOSE_TAG, OPEN_TAG, one_line, quoted_lines
from langmemory.context.notes import Note, note_of
from langmemory.context.tokens import count_text
from langmemory.nodes.lookup import LONG_ID_CHARS
from langmemory.recall.excerpt import Excerpts
from langmemory.types import Kind, Memory, RecallResult, Review
from langmemory.wire import Deferred

LINE_TOKENS = 200
"""Of a memory in a list; `get_memory` shows all of it."""
TITLE_CHARS = 80


class Answer(Deferred):
    """The base of what tools return."""


class SeenMemory(Answer):
    """One memory."""

    id: str
    """By which the other tools know it, and answers cite it."""
    text: str
    kind: Kind
    who: str | None
    """Who said it, if that is known."""
    at: datetime | None
    """When it was said or became true, if that is known."""
    validity: str
    """Of a fact: since or until when it is true."""
    source: str | None
    """Of a part of a document: where it stands, as `guide.md#L10-L24`."""
    earlier: bool
    """Whether something newer has taken its place."""
    score: float | None = None
    """Of a search: how likely it is part of the answer, 0 to 1."""

    @classmethod
    def of(cls, note: Note, text: str | None = None) -> SeenMemory:
        """Return a note as a program may have it; ``text`` is the escaped part that is shown."""
        whole = "\n".join(line.removeprefix("| ") for line in quoted_lines(note.text))
        return cls(
            id=note.label,
            text=whole if text is None else text,
            kind=note.kind,
            who=one_line(note.speaker) if note.speaker else None,
            at=note.at,
            validity=note.validity,
            source=one_line(note.source) if note.source else None,
            earlier=note.earlier,
            score=note.score,
        )


class FoundMemories(Answer):
    """What a search found, best first."""

    memories: list[SeenMemory]


class MemoryInFull(Answer):
    """A memory, and what it rests on."""

    memory: SeenMemory
    evidence: list[SeenMemory]


class SeenTimeline(Answer):
    """What was said around a memory, oldest first."""

    id: str
    """Of the message in the middle."""
    memories: list[SeenMemory]


class Stored(Answer):
    """What was remembered."""

    ids: list[str]
    """Of the memories that were added; what was known already is not among them."""
    redacted: dict[str, int]
    """How many credentials were replaced before they were stored, by kind."""


class ForgetResult(Answer):
    """What went, or would go."""

    done: bool
    """False: this was the dry run, and nothing was changed."""
    for_good: bool
    """Whether nothing is left of it in the file; else the run can be undone."""
    memories: list[SeenMemory]
    """Those that were named, as they were."""
    also: dict[str, int]
    """What else goes with them, or went, such as records of their history."""
    confirmation: str | None = None
    """Of a dry run: call again with the same ids and this, to do it."""
    run_ids: list[str]
    """By which it stands in the history."""


class OpenQuestion(Answer):
    """A question that somebody has to decide."""

    id: str
    about: str
    question: str
    options: list[str]
    opened_at: datetime

    @classmethod
    def of(cls, review: Review) -> OpenQuestion:
        """Return a review as a model may see it."""
        return cls(
            id=review.id,
            about=review.about,
            question=one_line(review.question),
            options=list(review.options),
            opened_at=review.opened_at,
        )


class Questions(Answer):
    """Open questions, or the decision of one."""

    open: list[OpenQuestion]
    decided: str | None = None
    """The question that was decided now."""
    run_id: str | None = None
    """The run in which the decision was carried out; it can be undone."""


class Hit(Answer):
    """One result, as ChatGPT takes it."""

    id: str
    title: str
    url: str


class Hits(Answer):
    """Results, as ChatGPT takes them."""

    results: list[Hit]


class Document(Hit):
    """One memory in full, as ChatGPT takes it."""

    text: str
    metadata: dict[str, str]


def listed(
    recalled: Iterable[RecallResult | Memory | Item | Mapping[str, Any]], query: str | None = None
) -> tuple[str, list[SeenMemory]]:
    """Return memories as quoted lines, and as data, each cut to `LINE_TOKENS`. Results of a search have their
    scores behind the text."""
    excerpts = Excerpts(query) if query else None
    lines, seen = [], []
    for one in recalled:
        note = note_of(one)
        scored = "" if note.score is None else f" (score {note.score:.2f})"
        head, tail = line_head(note), line_tail(note) + scored

        def fits(part: str, head: str = head) -> bool:
            return count_text(head + part) <= LINE_TOKENS

        part = as_much(note, fits, excerpts)
        text = one_line(note.text) if part is None else part
        lines.append(note_line(note) + scored if part is None else head + part + tail)
        seen.append(SeenMemory.of(note, text))
    return fenced(lines), seen


def fenced(lines: Sequence[str], header: str = f"{HEADER} {CITE}") -> str:
    """Return lines as quoted memory."""
    return "\n".join([OPEN_TAG, header, *lines, CLOSE_TAG])


def hit_of(recalled: RecallResult | Memory | Item) -> Hit:
    """Return what ChatGPT lists of a memory."""
    note = note_of(recalled)
    id, title = digest(note.namespace, note.key)[:LONG_ID_CHARS], one_line(note.text)
    if len(title) > TITLE_CHARS:
        title = title[:TITLE_CHARS].rstrip() + "…"
    return Hit(id=id, title=title, url=f"memory://item/{id}")


def count_more(counts: Mapping[str, int]) -> str:
    """Return ``2 history, 1 edges``, without what is none."""
    return ", ".join(f"{number:,} {word}" for word, number in counts.items() if number)
