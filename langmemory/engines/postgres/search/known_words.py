"""Which words the keyword index knows: asked of a query's words, and of those that are near one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from langmemory.engines.postgres.connection import Connection
from langmemory.engines.postgres.keywords import of_namespace, tokenized
from langmemory.engines.postgres.search.keyword_search import Part, quoted
from langmemory.ledger.filters import TRUE, Condition
from langmemory.ledger.namespaces import find
from langmemory.ledger.scopes import visible_to
from langmemory.search.word_search import Current
from langmemory.types import Namespace

FIRST: Final = 256
"""Rows that are looked at before the others, to see whether one has a word."""
FEW: Final = 48
"""Words up to which a viewer's own view counts, as in a memory file."""


def stems(words: Sequence[str]) -> Sequence[str]:
    """Return the words (letters only) as the index has them."""
    together = tokenized(" ".join(words))
    if len(together) == len(words):
        return together
    return [" ".join(tokenized(word)) for word in words]


def known(
    connection: Connection,
    namespace: Namespace,
    words: Sequence[str],
    viewer: str | None,
    *,
    copy: Current | None = None,
) -> Mapping[str, str]:
    """Return those of the words (lower case, letters only) that an item in a namespace or below it
    holds, with their tokens.

    Args:
        viewer: Whose view it is: what others keep to themselves is not known, unless there are more
            than `FEW` words. None sees everything.
        copy: The index in memory, as of this reader's snapshot.
    """
    tokens = stems(words)
    visible = visible_to(viewer) if len(words) <= FEW else TRUE
    held = set[str]()
    asked: Sequence[int] = range(len(words))
    if copy is not None and visible is TRUE:
        there = np.flatnonzero(copy.words.having(tokens)).tolist()  # of many, hardly any
        asked = asked if len(copy.changed) else there
        found = {tokens[place] for place in there}
        held = {one for one in found if _is_copied(connection, copy, namespace, one)}
    if copy is None or visible is not TRUE or len(copy.changed):
        rest = list(dict.fromkeys(one for one in tokens if one and one not in held))
        if rest:
            held |= _looked_up(connection, namespace, rest, visible)
    return {words[place]: tokens[place] for place in asked if tokens[place] in held}


def _is_copied(connection: Connection, copy: Current, namespace: Namespace, token: str) -> bool:
    """Return whether a row of the copy that still counts holds a token."""
    words, _, gone, _ = copy
    rows = words.rows[words.held(token)]
    if gone is not None:
        rows = rows[~gone[rows]]
    below = words.below(connection, namespace) if len(rows) else None
    if below is None or not len(rows) or not len(below):
        return bool(len(rows)) and below is None
    few, many = sorted((below, rows), key=len)
    return any(  # of a frequent word one of the first is there
        (many.take(many.searchsorted(some), mode="clip") == some).any()
        for some in (few[:FIRST], few[FIRST:])
    )


def _looked_up(
    connection: Connection, namespace: Namespace, tokens: Sequence[str], visible: Condition
) -> set[str]:
    """Return those of the tokens that a row in a namespace and below it holds, of an item that a
    condition holds for."""
    tokens = _in_index(connection, tokens)
    if not tokens or (not namespace and visible is TRUE):
        return set(tokens)
    within = ""
    if namespace:
        namespace_id = find(connection, namespace)
        if namespace_id is None:
            return set()
        within = f" & {quoted(of_namespace(namespace_id))}"
    queries = [Part(tuple(one.split())).query + within for one in tokens]
    rows = connection.execute(
        "SELECT q.place FROM unnest(?) WITH ORDINALITY AS q (query, place) WHERE EXISTS ("
        "SELECT 1 FROM keyword k CROSS JOIN item i ON i.id = k.item "
        f"WHERE k.words @@ q.query::tsquery AND {visible.sql})",
        (connection.text_array(queries), *visible.bindings),
    ).fetchall()
    return {tokens[row[0] - 1] for row in rows}


def _in_index(connection: Connection, tokens: Sequence[str]) -> list[str]:
    """Return those of the tokens that the index has; of several that stand together, if it has all."""
    words = list({word for token in tokens for word in token.split()})
    rows = connection.raw.execute(
        b"SELECT word FROM word_count WHERE word = ANY(%s)", (words,)
    ).fetchall()
    there = {row[0] for row in rows}
    return [token for token in tokens if there.issuperset(token.split())]
