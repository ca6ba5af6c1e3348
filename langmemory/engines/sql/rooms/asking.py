"""Questions of recall to models: asked while no snapshot is open.

A model takes a second. A snapshot held so long keeps SQLite from emptying its WAL, and ``:memory:``
from being used by anybody else. So recall runs until it would ask, the model is asked outside, and
recall runs again, on a new snapshot, with the answer: some milliseconds beside the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from time import perf_counter
from typing import Any

from langmemory.recall.models import Expander, Reranker
from langmemory.types import Recall, RecallResult


class Asking:
    """The models of one recall, as often as it runs. Each is asked once at most; that it failed is
    told to the pipeline as if it had been asked there."""

    def __init__(self, expander: Expander | None, reranker: Reranker | None) -> None:
        self._began = perf_counter()
        self._models = expander, reranker
        self.expander = self._expand if expander else None
        self.reranker = self._rerank if reranker else None
        self._waiting: Callable[[], None] | None = None
        self._expansion: Future[list[str]] | None = None
        self._order: Future[list[int]] | None = None
        self._ranked: dict[int, int] = {}
        """Ids of the results that were put in order, by their place."""
        self._milliseconds: dict[str, float] = {}

    def ask(self) -> bool:
        """Ask what the last run would have asked; whether there was anything, and recall is to run
        again."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return False
        waiting()
        return True

    def timed(self, recall: Recall) -> Recall:
        """The last run, with the time of all."""
        if not self._milliseconds:
            return recall
        spent = dict(recall.trace.milliseconds)
        for stage in spent.keys() & self._milliseconds.keys():
            spent[stage] += self._milliseconds[stage]
        spent["total"] = (perf_counter() - self._began) * 1000
        return replace(recall, trace=replace(recall.trace, milliseconds=spent))

    def _expand(self, query: str) -> Sequence[str]:
        if self._expansion is not None:
            return self._expansion.result()
        expander, _ = self._models
        assert expander is not None

        def ask() -> None:
            self._expansion = self._answer("expansion", lambda: _listed(expander(query)))

        self._waiting = ask
        return ()

    def _rerank(self, query: str, results: Sequence[RecallResult]) -> list[int]:
        if self._order is not None:
            return self._in_order(self._order.result(), results)
        _, reranker = self._models
        assert reranker is not None

        def ask() -> None:
            self._ranked = {place: one.memory.id for place, one in enumerate(results)}
            self._order = self._answer("rerank", lambda: list(reranker(query, results)))

        self._waiting = self._waiting or ask  # what an expansion finds is to be ranked, too
        return []

    def _in_order(self, order: Iterable[int], results: Sequence[RecallResult]) -> list[int]:
        """The answer for these results; memory may have changed since it was given."""
        places = {one.memory.id: place for place, one in enumerate(results)}
        found = (places.get(self._ranked[one]) if one in self._ranked else one for one in order)
        return [place for place in found if place is not None]

    def _answer(self, stage: str, ask: Callable[[], Any]) -> Future[Any]:
        began, answer = perf_counter(), Future[Any]()
        try:
            answer.set_result(ask())
        except Exception as error:  # a provider's or a user's own code may raise anything
            answer.set_exception(error)
        self._milliseconds[stage] = (perf_counter() - began) * 1000
        return answer


def _listed(queries: Sequence[str]) -> list[str]:
    return [queries] if isinstance(queries, str) else list(queries)
