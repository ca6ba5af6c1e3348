"""The data set that fills every store: facts, questions, and the exact answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from langgraph.store.base import PutOp

from benchmarks.corpus import Corpus
from benchmarks.vectors import Lookup, Matrix, Vectors, What

Namespace = tuple[str, ...]

QUESTIONS = 200
"""Queries that are questions, about the first facts: these facts are in every size."""
STATEMENTS = 100
"""Queries that are themselves statements, of facts that were never stored."""
STATEMENTS_START = 1_000_000
FRESH_START = 2_000_000
FRESH = 4_000
"""Facts kept back for the write measurements."""


def spans(size: int) -> list[tuple[What, int, int]]:
    """Everything that has to be embedded for a data set of `size`."""
    return [
        ("texts", 0, size),
        ("texts", FRESH_START, FRESH_START + FRESH),
        ("texts", STATEMENTS_START, STATEMENTS_START + STATEMENTS),
        ("questions", 0, QUESTIONS),
    ]


FILTERS: dict[str, dict[str, Any]] = {
    "0.1 %": {"rare": 7},
    "1 %": {"group": 7},
    "50 %": {"half": 1},
}
"""Share of the items that pass → filter on a value put by `value_of`."""


def value_of(i: int, text: str) -> dict[str, Any]:
    return {"text": text, "rare": i % 1_000, "group": i % 100, "half": i % 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    number: int
    text: str
    source: int | None
    """Index of the fact the question is about; None for a statement."""


@dataclass(kw_only=True)
class Dataset:
    """`size` facts with their vectors, and the queries."""

    source: Vectors
    size: int

    @cached_property
    def texts(self) -> list[str]:
        return Corpus().texts(0, self.size)

    @cached_property
    def vectors(self) -> Matrix:
        return self.source.of("texts", 0, self.size)

    @cached_property
    def fresh(self) -> list[str]:
        return Corpus().texts(FRESH_START, FRESH_START + FRESH)

    @cached_property
    def queries(self) -> list[Query]:
        """Questions and statements, two to one, in one mixed order."""
        asked = Corpus().questions(0, QUESTIONS)
        told = Corpus().texts(STATEMENTS_START, STATEMENTS_START + STATEMENTS)
        pairs = [*((text, i) for i, text in enumerate(asked)), *((text, None) for text in told)]
        order = np.random.default_rng(0).permutation(len(pairs))
        mixed = [pairs[i] for i in order]
        return [Query(number=n, text=text, source=i) for n, (text, i) in enumerate(mixed)]

    @cached_property
    def embedder(self) -> Lookup:
        lookup = Lookup()
        lookup.add(self.texts, self.vectors)
        lookup.add(self.fresh, self.source.of("texts", FRESH_START, FRESH_START + FRESH))
        asked = self.source.of("questions", 0, QUESTIONS)
        lookup.add(Corpus().questions(0, QUESTIONS), asked)
        stop = STATEMENTS_START + STATEMENTS
        told = Corpus().texts(STATEMENTS_START, stop)
        lookup.add(told, self.source.of("texts", STATEMENTS_START, stop))
        return lookup

    def puts(self, namespace_of: Callable[[int], Namespace]) -> list[PutOp]:
        """The whole data set as put operations; `namespace_of(i)` says where fact i belongs."""
        return [
            PutOp(namespace_of(i), f"m{i}", value_of(i, text)) for i, text in enumerate(self.texts)
        ]

    @cached_property
    def cosines(self) -> Matrix:
        """Of every query with every fact, by brute force: float32[queries, size]."""
        embed = self.embedder.embed_query
        asked = np.array([embed(query.text) for query in self.queries], dtype=np.float32)
        cosines: Matrix = asked @ self.vectors.T
        return cosines
