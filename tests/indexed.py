"""What the keyword index of a store holds, asked alike of every engine."""

from __future__ import annotations

from langmemory.ports.candidates import KeywordQuery
from langmemory.stores import MemoryStore
from langmemory.types import Scope


def holding(
    store: MemoryStore, words: str, *, body: bool = True, context: bool = True
) -> list[int]:
    """Return the ids of the items that hold these words side by side, in their text or in that of their
    neighbours, whatever their status."""
    query = KeywordQuery(
        phrases=(words,), body_weight=float(body), context_weight=0.5 * float(context)
    )
    with store._core.engine.read() as snapshot:
        scope = snapshot.scoped(Scope(namespace=()))
        ids, scores = snapshot.keyword(scope, query, 10_000, complete=True)
    return sorted(ids[scores > 0].tolist())
