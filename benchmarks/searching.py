"""Search latency with its quality beside it: one namespace, one of many, all, and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.contenders import Contender, Filter, search
from benchmarks.dataset import FILTERS, Dataset, Namespace, Query
from benchmarks.measure import Call, Row, hot, interleaved, one, settle

TIE = 1e-5
"""Cosines this near to the tenth best count as among the ten: float32 sums differ by order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """One way to search: where each query looks, through which filter, and which facts qualify."""

    name: str
    queries: Sequence[Query]
    namespace: Callable[[Query], Namespace]
    rows: Callable[[Query], slice]
    """The facts in scope, as a slice over their numbers."""
    filter: Filter | None = None


def one_namespace(dataset: Dataset, namespace: Namespace) -> Shape:
    return Shape(
        name="one namespace",
        queries=dataset.queries,
        namespace=lambda _: namespace,
        rows=lambda _: slice(None),
    )


def filtered(dataset: Dataset, namespace: Namespace) -> Iterable[Shape]:
    """Questions about facts the filter lets through come first in `found`; all count for recall."""
    for share, condition in FILTERS.items():
        ((name, wanted),) = condition.items()
        step = {"rare": 1_000, "group": 100, "half": 2}[name]
        yield Shape(
            name=f"{share} filter",
            queries=dataset.queries,
            namespace=lambda _: namespace,
            rows=lambda _, wanted=wanted, step=step: slice(wanted, None, step),  # type: ignore[misc]
            filter=condition,
        )


def user_of(i: int, users: int) -> Namespace:
    """Facts are dealt out to the users in turn."""
    return ("users", f"u{i % users}")


def one_of_many(dataset: Dataset, users: int) -> Shape:
    """Each question asks in the namespace of its own fact."""

    def user(query: Query) -> int:
        return (query.source if query.source is not None else len(query.text)) % users

    return Shape(
        name=f"one of {users:,} namespaces",
        queries=dataset.queries,
        namespace=lambda query: user_of(user(query), users),
        rows=lambda query: slice(user(query), None, users),
    )


def prefix_over_all(dataset: Dataset, users: int) -> Shape:
    return Shape(
        name=f"prefix over {users:,} namespaces",
        queries=dataset.queries,
        namespace=lambda _: ("users",),
        rows=lambda _: slice(None),
    )


def call_of(contender: Contender, shape: Shape) -> Call:
    def call(n: int) -> object:
        query = shape.queries[n % len(shape.queries)]
        return search(contender, shape.namespace(query), query.text, shape.filter)

    return call


def quality(
    contender: Contender, dataset: Dataset, shape: Shape, *, queries: int
) -> tuple[float, float | None]:
    """Recall@10 against exact cosine, and the share of questions whose own fact came back. What is
    returned from outside of the scope counts for neither, however near it is."""
    recalls: list[float] = []
    found: list[bool] = []
    for query in shape.queries[:queries]:
        rows = shape.rows(query)
        cosines = dataset.cosines[query.number]
        allowed = cosines[rows]
        k = min(10, len(allowed))
        tenth = np.partition(allowed, -k)[-k]
        results = search(contender, shape.namespace(query), query.text, shape.filter)
        in_scope = range(dataset.size)[rows]
        numbers = [n for item in results if (n := int(item.key.removeprefix("m"))) in in_scope]
        recalls.append(float(np.sum(cosines[numbers] >= tenth - TIE)) / k)
        if query.source is not None and query.source in in_scope:
            found.append(query.source in numbers)
    return float(np.mean(recalls)), float(np.mean(found)) if found else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """How long one measurement may take, and how many queries judge quality."""

    seconds: float
    queries: int
    """For stores that are not exact: as many as fit into `seconds` judge the exact ones."""

    def queries_for(self, contender: Contender, call: Call) -> int:
        if contender.name.startswith("MemoryStore"):
            return self.queries
        milliseconds = min(one(call, n)[0] for n in range(2))  # the first one warms up
        return max(4, min(self.queries, int(1_000 * self.seconds / milliseconds)))


def measure(
    contenders: Sequence[Contender],
    pairs: Sequence[tuple[Contender, Contender]],
    dataset: Dataset,
    shape: Shape,
    effort: Effort,
) -> Iterable[Row]:
    """Every contender hot with its quality, then each pair call by call."""
    for contender in contenders:
        call = call_of(contender, shape)
        judged = effort.queries_for(contender, call)
        recall, found = quality(contender, dataset, shape, queries=judged)
        settle(call)
        yield Row(
            shape=shape.name,
            size=dataset.size,
            contender=contender.name,
            temperature="hot",
            sample=hot(call, seconds=effort.seconds),
            recall=recall,
            found=found,
            vectors=dataset.source.name,
            extra={"queries_judged": judged},
        )
    for mine, other in pairs:
        samples = interleaved(
            {c.name: call_of(c, shape) for c in (mine, other)}, seconds=effort.seconds
        )
        for name, against in ((mine.name, other.name), (other.name, mine.name)):
            yield Row(
                shape=shape.name,
                size=dataset.size,
                contender=name,
                temperature="interleaved",
                sample=samples[name],
                vectors=dataset.source.name,
                extra={"with": against},
            )
