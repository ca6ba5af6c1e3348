"""Changes of reviews as rows: opened and decided."""

from __future__ import annotations

from langmemory.changes import WITHDRAWN, DecideReview, OpenReview, WithdrawReview
from langmemory.errors import ChangeError
from langmemory.sqlite.file.times import from_us
from langmemory.sqlite.records import reviews
from langmemory.stores.changes.run import ChangeRun, Unchanged
from langmemory.types import Review


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
    review = Review(
        id=id, namespace=namespace, about=change.about, question=change.question,
        memories=change.memories, options=tuple(change.options), run_id=run.id,
        opened_at=from_us(run.now_us),
    )  # fmt: skip
    options = {
        option: [one.model_dump(mode="json") for one in changes]
        for option, changes in change.options.items()
    }
    reviews.insert(run.connection, review, run.namespace, options, run.now_us)


def decide(run: ChangeRun, change: DecideReview) -> None:
    known = reviews.find(run.connection, change.id)
    if known is None or known.namespace != run.change_set.namespace:
        raise ChangeError(
            f"Run {run.id!r} decides the review {change.id!r}, which there is not in "
            f"{run.change_set.namespace}; nothing was written."
        )
    if change.option not in known.options:
        raise ChangeError(
            f"Review {change.id!r} cannot be decided as {change.option!r}. Its options: "
            f"{', '.join(map(repr, known.options))}."
        )
    if known.decision is not None:
        raise ChangeError(
            f"Review {change.id!r} was decided as {known.decision!r} already. Undo that run to "
            "decide it anew; nothing was written."
        )
    reviews.decide(run.connection, change.id, change.option, run.id)


def withdraw(run: ChangeRun, change: WithdrawReview) -> None:
    known = reviews.find(run.connection, change.id)
    if known is None or known.namespace != run.change_set.namespace:
        raise ChangeError(
            f"Run {run.id!r} withdraws the review {change.id!r}, which there is not in "
            f"{run.change_set.namespace}; nothing was written."
        )
    if known.decision is not None:
        raise Unchanged(f"was decided as {known.decision!r} already")
    reviews.decide(run.connection, change.id, WITHDRAWN, run.id)
