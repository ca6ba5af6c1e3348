"""The events of a store: what it does, with counts, ids and milliseconds; and `store.feed`, which has them in
order, to be read on from where one was."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar, get_args

from langmemory.arguments import whole_number
from langmemory.errors import ConfigError
from langmemory.events import Contents, Event, Fields
from langmemory.ledger import feed
from langmemory.ledger.engine import Engine
from langmemory.ledger.feed import Place, Selection
from langmemory.namespaces import check_namespace
from langmemory.operations.cursors import Cursors, Sealer
from langmemory.steps import twin
from langmemory.types import Applied, FeedPage, FeedType, Forgotten, Kind, Namespace, Recall

_LOGGER: Final = logging.getLogger("langmemory.store")


def _recalled(found: Recall) -> Fields:
    fields: dict[str, Any] = {"results": len(found), "preset": found.trace.preset}
    if found.trace.degraded:
        fields["degraded"] = len(found.trace.degraded)
    return fields


def _applied(done: Applied) -> Fields:
    fields: dict[str, Any] = {
        "run": done.run_id, "changes": len(done.lines), "added": len(done.added),
        "changed": len(done.changed), "removed": len(done.removed),
    }  # fmt: skip
    flags = {name: True for name in ("dry_run", "repeated") if getattr(done, name)}
    return fields | flags


def _forgotten(done: Forgotten) -> Fields:
    fields: dict[str, Any] = {
        "run": done.run_id, "memories": done.memories, "history": done.history,
        "facts_kept": done.facts_kept, "edges": done.edges, "entities": done.entities,
    }  # fmt: skip
    return fields | ({"dry_run": True} if done.dry_run else {})


def _documents(found: Recall) -> Fields:
    """Return the results as LangSmith shows those of a retriever."""
    return {
        "documents": [
            {
                "type": "Document",
                "page_content": one.text,
                "metadata": {"key": one.memory.key, "score": one.score},
            }
            for one in found
        ]
    }


RECALL: Final = Event(
    name="recall",
    counts=_recalled,
    logger=_LOGGER,
    run_type="retriever",
    contents=Contents(
        wanted=lambda store, *_, **__: bool(store.config.tracing.texts),
        inputs=lambda _, query="", *__, **___: {"query": query},
        outputs=_documents,
    ),
)
REMEMBER: Final = Event(name="remember", counts=lambda keys: {"added": len(keys)}, logger=_LOGGER)
APPLY: Final = Event(name="apply", counts=_applied, logger=_LOGGER)
UNDO: Final = Event(name="undo", counts=_applied, logger=_LOGGER)
REMOVE: Final = Event(name="remove", counts=_applied, logger=_LOGGER)
FORGET: Final = Event(name="forget", counts=_forgotten, logger=_LOGGER)


TYPES: Final[tuple[FeedType, ...]] = get_args(FeedType)
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
EVERYBODYS: Final[tuple[FeedType, ...]] = ("run", "job")
NameT = TypeVar("NameT", bound=str)
NAME: Final = "feed"


class Feed:
    """The events of a file that whoever asks may know of. They are there from the history: whoever was
    away reads on from the cursor of the last event they had."""

    __slots__ = ("_cursors", "_engine", "_viewer")

    def __init__(self, engine: Engine, viewer: str | None) -> None:
        """``viewer`` None is the application, which is told of everything."""
        self._engine, self._viewer = engine, viewer
        self._cursors = Cursors(engine)

    def read(
        self,
        *,
        after: str | None = None,
        until: str | None = None,
        limit: int = 200,
        namespaces: Sequence[Namespace] = ((),),
        types: Sequence[FeedType] | None = None,
        kinds: Sequence[Kind] | None = None,
    ) -> FeedPage:
        """Return the next events, oldest first.

        Args:
            after: The cursor of an event, a page or `end`; None starts with the first event.
            until: Likewise, where to stop; None is now.
            limit: The most events.
            namespaces: Prefixes by whole labels; ``()`` is the whole file.
            types: None is all that the viewer may be told of. Runs and jobs concern everybody's memory:
                only the application is told of them, and of jobs only for the whole file.
            kinds: Of memories; None is all. Without ``types`` they leave out everything but memories.
                A memory that is gone is told of also where its kind is not known any more.

        Raises:
            ConfigError: An argument is wrong, or a cursor is none of this file.
        """
        closed = [] if self._viewer is None else [one for one in types or () if one in EVERYBODYS]
        if closed:
            raise ConfigError(
                f"types names {', '.join(closed)}, which concern everybody's memory: a viewer is not told "
                "of them. Leave them out, or ask the application's store."
            )
        limit = whole_number("limit", limit, least=1)
        selection = Selection(
            viewer=self._viewer,
            namespaces=tuple(check_namespace(one, may_be_empty=True) for one in namespaces),
            types=_known("types", types, TYPES if kinds is None else ("memory",), TYPES),
            kinds=None if kinds is None else _known("kinds", kinds, KINDS, KINDS),
        )
        if not selection.namespaces:
            raise ConfigError(
                "namespaces is empty; pass at least one, or ((),) for the whole file."
            )
        sealer = self._cursors.sealer(NAME)
        start = Place(0, 0) if after is None else _opened(sealer, after)
        with self._engine.read() as snapshot:
            stop = feed.end(snapshot.connection) if until is None else _opened(sealer, until)
            found, more = feed.read(snapshot.connection, selection, start, stop, limit)
        events = tuple(replace(event, cursor=sealer.sealed(place)) for place, event in found)
        next_ = events[-1].cursor if more else sealer.sealed(stop)
        return FeedPage(events=events, next=next_, more=more)

    aread = twin(read)

    def end(self) -> str:
        """Return the cursor behind everything that has happened."""
        sealer = self._cursors.sealer(NAME)
        with self._engine.glance() as snapshot:
            return sealer.sealed(feed.end(snapshot.connection))

    aend = twin(end)

    def listen(self, wake: Callable[[], object]) -> Callable[[], None]:
        """Call ``wake`` when something may have happened; see `Engine.listen`."""
        return self._engine.listen(wake)

    def moved_since(self, cursor: str) -> bool:
        """Return whether anything happened after a cursor, whoever may know of it. It is cheap enough to
        be asked several times a second.

        Raises:
            ConfigError: The cursor is none of this file.
        """
        place = _opened(self._cursors.sealer(NAME), cursor)
        with self._engine.glance() as snapshot:
            return feed.end(snapshot.connection) != place


def _opened(sealer: Sealer, cursor: str) -> Place:
    history, activity = sealer.opened(cursor)
    return Place(int(history), int(activity))


def _known(
    name: str, given: Sequence[NameT] | None, default: tuple[NameT, ...], known: tuple[NameT, ...]
) -> tuple[NameT, ...]:
    if given is None:
        return default
    wrong = [one for one in given if one not in known]
    if wrong or not given or isinstance(given, str):
        raise ConfigError(f"{name} is {given!r:.80}; pass some of {', '.join(known)}.")
    return tuple(dict.fromkeys(given))
