"""Changes of reviews as rows: opened and decided; and which questions nothing is left of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from langmemory.changes import (
    WITHDRAWN,
    AddMemory,
    Change,
    ChangeSet,
    DecideReview,
    OpenReview,
    UpdateMemory,
    WithdrawReview,
)
from langmemory.errors import ChangeError
from langmemory.formation.wording import wording
from langmemory.languages import detect_language
from langmemory.ledger.changes.run import ChangeRun, Unchanged
from langmemory.ledger.records import items, reviews
from langmemory.ledger.tables.connection import Connection
from langmemory.ledger.tables.times import from_us
from langmemory.types import Namespace, Review

Options = Mapping[str, Sequence[Mapping[str, Any]]]
"""The changes behind each option, as JSON."""


Lines = Callable[[Namespace, str], Sequence[str]]
"""The lines of a core block, by its name."""


def unanswered(connection: Connection, asked: Iterable[Review]) -> list[Review]:
    """Return those of the open questions that need an answer: what they ask about is there, and no core
    block says by now what they would add."""
    lines = cache(partial(_lines, connection))  # hundreds may suggest something for one block
    return [one for one in asked if not _is_moot(connection, one, lines)]


def _is_moot(connection: Connection, review: Review, lines: Lines) -> bool:
    gone = (items.find(connection, review.namespace, key) is None for key in review.memories)
    match review.about:
        case "contradiction" | "duplicate":
            return any(gone)
        case "approval" | "dependant" | "entity" | "core file":
            return next(gone, False)
        case "run" | "core" if review.memories and all(gone):
            return True
        case "core":
            options = reviews.options(connection, review.id)
            return _is_said(review.namespace, options, lines)
    return False


def _lines(connection: Connection, namespace: Namespace, block: str) -> list[str]:
    item = items.find(connection, (*namespace, "core"), block)
    if item is None:
        return []
    [memory] = items.memories(connection, np.array([item]))
    return str(memory.value.get("content", "")).splitlines()


def _is_said(namespace: Namespace, options: Options, lines: Lines) -> bool:
    """Return whether the core block has a line that says what was suggested for it."""
    value = next((dict(one["value"]) for one in options.get("add", ()) if one.get("value")), {})
    there = lines(namespace, str(value.get("block")))
    if not there:
        return False
    text = str(value.get("text", ""))
    language = detect_language(text).code
    wanted = wording(text, language)
    said = (wording(line, language) for line in there)
    return any(wanted.words <= line.words and wanted.agrees(line) for line in said)


def said_already(
    connection: Connection, namespace: Namespace, changes: Iterable[Change]
) -> frozenset[str]:
    """Return the ids of reviews to be opened that suggest what the core block says already."""
    lines = cache(partial(_lines, connection))
    return frozenset(
        one.id
        for one in changes
        if isinstance(one, OpenReview)
        and one.about == "core"
        and _is_said(namespace, _as_json(one), lines)
    )


def _as_json(change: OpenReview) -> dict[str, list[dict[str, Any]]]:
    return {
        option: [one.model_dump(mode="json") for one in changes]
        for option, changes in change.options.items()
    }


def open_review(run: ChangeRun, change: OpenReview) -> None:
    namespace = run.change_set.namespace
    known = reviews.find(run.connection, change.id)
    if known is not None and known.namespace != namespace:
        raise ChangeError(
            f"Run {run.id!r} opens the review {change.id!r}, which is one of {known.namespace}. "
            "Give every review an id of its own; nothing was written."
        )
    id = change.id
    while known is not None and known.decision == WITHDRAWN:
        id += "+"  # by itself, so that an undo of either run leaves the other's as it was
        known = reviews.find(run.connection, id)
    if known is not None:
        raise Unchanged("was asked before")
    if any(run.find(key) is None for key in change.memories):
        raise Unchanged("a memory it is about was deleted")
    if change.id in run.said:
        raise Unchanged("the block says so already")
    review = Review(
        id=id, namespace=namespace, about=change.about, question=change.question,
        memories=change.memories, options=tuple(change.options), run_id=run.id,
        opened_at=from_us(run.now_us),
    )  # fmt: skip
    reviews.insert(run.connection, review, run.namespace, _as_json(change), run.now_us)


def decide(run: ChangeRun, change: DecideReview) -> None:
    known = _asked(run, change.id, "decides")
    if change.option not in known.options:
        raise ChangeError(
            f"Review {change.id!r} cannot be decided as {change.option!r}. Its options: "
            f"{', '.join(map(repr, known.options))}."
        )
    if known.decision == WITHDRAWN:
        raise ChangeError(
            f"Review {change.id!r} was withdrawn: what it is about changed since. `changes.reviews()`, or "
            "`langmemory reviews`, lists what is asked by now; nothing was written."
        )
    if known.decision is not None:
        raise ChangeError(
            f"Review {change.id!r} was decided as {known.decision!r} already. Undo that run to "
            "decide it anew; nothing was written."
        )
    reviews.decide(run.connection, change.id, change.option, run.id)


def check_answers(connection: Connection, change_set: ChangeSet) -> None:
    """Check that an answer writes over nothing that changed since the question was asked.

    Raises:
        ChangeError: It would.
    """
    namespace = change_set.namespace
    for answer in change_set.changes:
        asked = reviews.find(connection, answer.id) if isinstance(answer, DecideReview) else None
        if asked is None or asked.decision is not None:  # as `decide` says
            continue
        for change in change_set.changes:
            match change:
                case UpdateMemory() if change.value is not None:
                    item = items.find(connection, namespace, change.key)
                case AddMemory() if change.facets.kind == "core":
                    item = items.find(connection, namespace, change.key)
                case _:
                    item = None
            if item is None:
                continue
            [memory] = items.memories(connection, np.array([item]))
            if memory.updated_at > asked.opened_at:
                raise ChangeError(
                    f"Review {asked.id!r} was asked before {memory.key!r} changed, at "
                    f"{memory.updated_at.isoformat(timespec='seconds')}; its answer would write over "
                    "that. Decide it otherwise, and make the change by hand; nothing was written."
                )


def withdraw(run: ChangeRun, change: WithdrawReview) -> None:
    known = _asked(run, change.id, "withdraws")
    if known.decision is not None:
        raise Unchanged(f"was decided as {known.decision!r} already")
    reviews.decide(run.connection, change.id, WITHDRAWN, run.id)


def _asked(run: ChangeRun, review_id: str, does: str) -> Review:
    known = reviews.find(run.connection, review_id)
    if known is None or known.namespace != run.change_set.namespace:
        raise ChangeError(
            f"Run {run.id!r} {does} the review {review_id!r}, which there is not in "
            f"{run.change_set.namespace}; nothing was written."
        )
    return known
