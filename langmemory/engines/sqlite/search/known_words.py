"""Which words the keyword index knows: asked of a query's words, and of those that are near one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from langmemory.engines.sqlite.file.connection import Connection
from langmemory.engines.sqlite.search.keyword_search import rows_with, tokenized
from langmemory.ledger.filters import TRUE, Condition
from langmemory.ledger.namespaces import find
from langmemory.ledger.scopes import visible_to
from langmemory.search.scope_plan import CardinalityCache
from langmemory.search.word_search import Current
from langmemory.types import Namespace

FEW: Final = 48
"""Words that FTS5 is asked for one by one, 10 to 40 microseconds each; to read all its tokens that begin
alike takes a microsecond for each of these."""


def stems(connection: Connection, words: Sequence[str]) -> Sequence[str]:
    """Return the words (letters only) as the index has them."""
    together = tokenized(connection, " ".join(words))
    if len(together) == len(words):
        return together
    return [" ".join(tokenized(connection, word)) for word in words]


def known(
    connection: Connection,
    cardinalities: CardinalityCache,
    namespace: Namespace,
    words: Sequence[str],
    *,
    viewer: str | None = None,
    copy: Callable[[], Current | None],
) -> Mapping[str, str]:
    """Return those of the words (lower case, letters only) that an item in a namespace or below it
    holds, with their tokens.

    Args:
        namespace: Whose words are asked for.
        words: If more than `FEW`, they begin alike: what begins so is looked through.
        viewer: Whose view it is: what others keep to themselves is not known, unless there are more than
            `FEW` words. None sees everything.
        copy: The index in memory, as of this reader's snapshot.
    """
    within = ""
    if namespace:
        namespace_id = find(connection, namespace)
        if namespace_id is None:
            return {}
        within = f'ns : "n{namespace_id}" AND '
    asked = dict(zip(words, stems(connection, words), strict=True))
    held: list[str] = []
    if len(asked) > FEW:
        current = copy()
        asked = _in_file(connection, asked, current)
        if current is not None and not len(current.changed):
            rows = current.words.below(connection, namespace)
            return {
                word: token
                for word, token in asked.items()
                if rows is None or current.words.stands_in(rows, token)
            }
    else:  # mostly a query's own, which are asked again
        size = cardinalities.size(connection)
        held = [
            one
            for one in asked
            if rows_with(connection, cardinalities, f'{within}"{one}"', 1, size)
        ]
    # That none did is asked anew: a name may just have been told.
    rest = [one for one in asked if one not in held]
    quoted = " OR ".join(f'"{one}"' for one in rest)
    if rest and _matches(connection, f"{within}({quoted})"):
        held += [one for one in rest if _matches(connection, f'{within}"{one}"')]
    if viewer is not None and len(words) <= FEW:
        visible = visible_to(viewer)
        held = [one for one in held if _matches(connection, f'{within}"{one}"', visible)]
    return {word: asked[word] for word in held}


def _matches(connection: Connection, expression: str, among: Condition = TRUE) -> bool:
    """Return whether a row matches, of an item that a condition holds for."""
    row = connection.execute(
        "SELECT 1 FROM keyword k CROSS JOIN item i ON i.id = k.rowid "
        f"WHERE k.keyword MATCH ? AND {among.sql} LIMIT 1",
        (expression, *among.bindings),
    ).fetchone()
    return row is not None


def _in_file(
    connection: Connection, asked: Mapping[str, str], copy: Current | None
) -> dict[str, str]:
    """Return those of the words whose tokens are in the index."""
    if copy is not None:
        held = copy.words.having(list(asked.values()))
        found = {word: token for (word, token), one in zip(asked.items(), held, strict=True) if one}
        if found or not len(copy.changed):
            return found
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.known_word USING fts5vocab('main', 'keyword', 'row')"
    )
    looked_up = asked.values()
    there = {
        token
        for (token,) in connection.execute(
            "SELECT term FROM temp.known_word WHERE term BETWEEN ? AND ?",
            (min(looked_up), max(looked_up)),
        )
    }
    return {word: token for word, token in asked.items() if token in there}
