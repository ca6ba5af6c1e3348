"""Open questions as rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langmemory.errors import DatabaseError
from langmemory.ledger.connection import Connection
from langmemory.ledger.filters import TRUE, Condition
from langmemory.ledger.namespaces import below, from_path
from langmemory.ledger.scopes import is_visible, was_private
from langmemory.ledger.values import from_us
from langmemory.types import Namespace, Review
from langmemory.values import from_json, to_json

_COLUMNS = (
    "v.id, n.path, v.about, v.question, v.items, v.options, v.run, v.opened_at, v.decision, "
    "v.decided_run"
)
_TABLES = "review v JOIN namespace n ON n.id = v.namespace"

_HIDDEN = (
    "json_array_length(v.items) = 0 OR EXISTS (SELECT 1 FROM json_each(v.items) j LEFT JOIN item i "
    "ON i.namespace = v.namespace AND i.key = j.value WHERE i.id IS NULL OR NOT {visible} OR {secret}) "
    "OR EXISTS (SELECT 1 FROM json_tree(v.options) o WHERE o.key = 'privacy' "
    "AND o.atom = 'private' AND NOT EXISTS (SELECT 1 FROM json_tree(v.options) w "
    "WHERE w.parent = o.parent AND w.key = 'owner' AND w.atom = nullif({viewer}, '')))"
)
"""A question may quote its memories, and what an answer would add: who may not read one of them, or
might not at some time, or one that is gone, may not read it."""
_PARSED = "(json_valid(v.items) AND json_valid(v.options))"


def is_open(viewer: str) -> str:
    """Return whether a viewer, given by an expression, may read a row ``v`` of the reviews; one that cannot
    be parsed nobody may."""
    hidden = _HIDDEN.format(
        visible=is_visible("i", viewer), secret=was_private("i.id", viewer), viewer=viewer
    )
    return f"NOT CASE WHEN {_PARSED} THEN ({hidden}) ELSE TRUE END"


def open_to(viewer: str | None) -> Condition:
    """Return whether a viewer may read a row ``v`` of the reviews, see `is_open`."""
    if viewer is None:
        return TRUE
    sql = is_open("?")
    return Condition(sql, (viewer,) * sql.count("?"))


def insert(
    connection: Connection,
    review: Review,
    namespace: int,
    options: dict[str, list[dict[str, Any]]],
    opened_us: int,
) -> None:
    connection.execute(
        "INSERT INTO review (id, namespace, about, question, items, options, run, opened_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            review.id, namespace, review.about, review.question,
            json.dumps(review.memories, ensure_ascii=False), to_json(options), review.run_id,
            opened_us,
        ),
    )  # fmt: skip


def find(connection: Connection, review_id: str) -> Review | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE v.id = ?", (review_id,)
    ).fetchone()
    return None if row is None else _review(row)


def options(connection: Connection, review_id: str) -> dict[str, list[dict[str, Any]]]:
    """Return the changes behind each option of a review that exists, as JSON."""
    row = connection.execute("SELECT options FROM review WHERE id = ?", (review_id,)).fetchone()
    found: dict[str, list[dict[str, Any]]] = _parse_json(row[0], review_id, dict)
    for changes in found.values():
        if not isinstance(changes, list) or not all(isinstance(one, dict) for one in changes):
            raise damage_error(review_id)
    return found


def list_reviews(
    connection: Connection,
    namespace: Namespace,
    *,
    open_only: bool,
    viewer: str | None,
    after: tuple[int, str] | None = None,
    limit: int = -1,
) -> list[Review]:
    """Return the reviews in a namespace and below it, oldest first; for a viewer only those whose memories
    are all there for them to read.

    Args:
        after: When the last one of the page before was opened, and its id.
        limit: At most so many; -1 is all.
    """
    query, bindings = below(namespace)
    where = f"v.namespace IN {query}"
    if after is not None:
        where += " AND v.opened_at >= ? AND (v.opened_at > ? OR v.id > ?)"
        bindings = (*bindings, after[0], *after)
    if open_only:
        where += " AND v.decision IS NULL"
    if viewer is not None:
        open_ = open_to(viewer)
        # A row that cannot be parsed raises the error that names it, below.
        where += f" AND ({open_.sql} OR NOT {_PARSED})"
        bindings = (*bindings, *open_.bindings)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE {where} ORDER BY v.opened_at, v.id LIMIT ?",
        (*bindings, limit),
    )
    return [_review(row) for row in rows]


def _review(row: Sequence[Any]) -> Review:
    return Review(
        id=row[0], namespace=from_path(row[1]), about=row[2], question=row[3],
        memories=tuple(_parse_json(row[4], row[0], list)),
        options=tuple(_parse_json(row[5], row[0], dict)), run_id=row[6],
        opened_at=from_us(row[7]), decision=row[8],
    )  # fmt: skip


def _parse_json(stored: str, review_id: str, type: type[list[Any] | dict[str, Any]]) -> Any:
    try:
        found = from_json(stored)
    except ValueError as error:
        raise damage_error(review_id) from error
    if not isinstance(found, type):
        raise damage_error(review_id)
    return found


def damage_error(review_id: str) -> DatabaseError:
    """Return the error for a review of which something else is stored than was written."""
    return DatabaseError(
        f"Review {review_id!r} cannot be read: what is stored of it is not what was written. The file is "
        "damaged; `langmemory doctor` reports more, and `--rescue FILE` writes out what can be read."
    )


def decide(connection: Connection, review_id: str, option: str | None, run: str | None) -> None:
    """Write down the answer; None opens the question again."""
    connection.execute(
        "UPDATE review SET decision = ?, decided_run = ? WHERE id = ?", (option, run, review_id)
    )


def take_back(connection: Connection, run: str) -> tuple[list[str], list[str]]:
    """Remove the reviews a run opened and open again those it decided: (their ids, and theirs)."""
    opened = connection.execute("DELETE FROM review WHERE run = ? RETURNING id", (run,)).fetchall()
    reopened = connection.execute(
        "UPDATE review SET decision = NULL, decided_run = NULL WHERE decided_run = ? RETURNING id",
        (run,),
    ).fetchall()
    return sorted(row[0] for row in opened), sorted(row[0] for row in reopened)
