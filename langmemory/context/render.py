"""The second and third layer of disclosure, for a model that wants to know more.

The timeline (what happened around a memory), and one memory in full with the evidence it rests on. Each
returns a `MemoryBlock`, so that what is cited from them is counted like what stood in the prompt; all keep
strictly to `max_tokens`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from langmemory.context.disclosure import (
    MINIMUM_TEXT_CHARS,
    Disclosed,
    MemoryBlock,
    disclosed,
    line_head,
    note_line,
)
from langmemory.context.marking import one_line, quoted_lines
from langmemory.context.notes import Note, Recalled, note_of, notes_of
from langmemory.context.tokens import DEFAULT_COUNTER, TokenCounter, count_text, longest

LAST = datetime.max.replace(tzinfo=UTC)


def timeline(
    around: Recalled,
    neighbours: Iterable[Recalled],
    *,
    max_tokens: int = 800,
    token_counter: TokenCounter = DEFAULT_COUNTER,
) -> MemoryBlock:
    """Return what happened before and after a memory, oldest first, the memory itself marked with ``>``.

    Neighbours are added from the nearest on while they fit, each cut to half of the budget;
    those without a time keep the order they came in, after the dated ones.
    """
    anchor = note_of(around)
    notes = sorted(
        notes_of([*neighbours, around]), key=lambda note: (note.at is None, note.at or LAST)
    )
    place = next((i for i, note in enumerate(notes) if note.id == anchor.id), None)
    if place is None:
        return MemoryBlock(omitted=(anchor.label,))
    shown: dict[int, str] = {}
    for i in sorted(range(len(notes)), key=lambda i: (abs(i - place), -i)):
        line = _timeline_line(notes[i], shown, i, place, max_tokens, token_counter)
        if line is None:
            break
        shown[i] = line
    return _block(
        [(notes[i], shown[i]) for i in sorted(shown)],
        tuple(note.label for i, note in enumerate(notes) if i not in shown),
        token_counter,
    )


def full(
    memory: Recalled,
    evidence: Iterable[Recalled] = (),
    *,
    max_tokens: int = 2000,
    token_counter: TokenCounter = DEFAULT_COUNTER,
) -> MemoryBlock:
    """A memory in full, its line breaks kept behind quotation bars, then what it rests on.

    The text comes first; evidence gets what it leaves.
    """
    note = note_of(memory)
    head = f"[{note.label}] {', '.join(filter(None, [note.origin, note.kind]))}"
    body = "\n".join(quoted_lines(note.text))
    text = longest(body, lambda part: count_text(f"{head}\n{part}", token_counter) <= max_tokens)
    if text is None:
        return MemoryBlock(omitted=(note.label,))
    first = [(note, f"{head}\n{text}")]
    rest = [(each, f"from {note_line(each)}") for each in notes_of(evidence)]
    return _as_many_as_fit(first + rest, max_tokens, token_counter)


def _timeline_line(
    note: Note,
    shown: Mapping[int, str],
    index: int,
    place: int,
    max_tokens: int,
    token_counter: TokenCounter,
) -> str | None:
    """The line of the note at `index` if it fits among those `shown`; None otherwise."""
    mark, most, least_chars = (
        ("> ", max_tokens, 1) if index == place else ("  ", max_tokens // 2, MINIMUM_TEXT_CHARS)
    )
    head = mark + line_head(note)

    def fits(text: str) -> bool:
        lines = {**shown, index: head + text}
        together = "\n".join(lines[i] for i in sorted(lines))
        return (
            count_text(lines[index], token_counter) <= most
            and count_text(together, token_counter) <= max_tokens
        )

    text = longest(one_line(note.text), fits, minimum_chars=least_chars)
    return None if text is None else head + text


def _as_many_as_fit(
    lines: Sequence[tuple[Note, str]], max_tokens: int, token_counter: TokenCounter
) -> MemoryBlock:
    shown: list[tuple[Note, str]] = []
    omitted: list[str] = []
    for note, line in lines:
        attempt = "\n".join([*(text for _, text in shown), line])
        if count_text(attempt, token_counter) <= max_tokens:
            shown.append((note, line))
        else:
            omitted.append(note.label)
    return _block(shown, tuple(omitted), token_counter)


def _block(
    shown: Sequence[tuple[Note, str]], omitted: tuple[str, ...], token_counter: TokenCounter
) -> MemoryBlock:
    if not shown:
        return MemoryBlock(omitted=omitted)
    text = "\n".join(line for _, line in shown)
    count = functools.partial(count_text, token_counter=token_counter)
    entries: list[Disclosed] = [disclosed(note, line, count) for note, line in shown]
    return MemoryBlock(
        text=text,
        tokens=count_text(text, token_counter),
        entries=tuple(entries),
        omitted=omitted,
    )
