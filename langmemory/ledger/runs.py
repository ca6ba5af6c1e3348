"""Runs as rows, and what each of them changed."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

from langmemory.ledger.connection import Connection
from langmemory.ledger.history import LIVES
from langmemory.ledger.namespaces import below, from_path, inside, to_path
from langmemory.ledger.values import from_us
from langmemory.types import Namespace, Run, RunKind
from langmemory.values import from_json, to_json

UNDO: Final = "undo/"
"""Begins the id of the run that undoes a run; there is at most one."""

AGAIN: Final = "again/"
"""Begins the id of the run that lets the turns of a reflection be read again; at most one each."""

FOLLOWS: Final = "follows/"
"""Begins the id of the run that was planned after another one and is undone together with it."""

SEED: Final = "seed/"
"""Begins the id of a run that fills a memory from files: written in many transactions, undone as one."""

CURRENT: Final[ContextVar[str | None]] = ContextVar("langmemory_run", default=None)
"""The run to which whatever is put in this context belongs; None: to none."""

_COLUMNS = "r.id, r.kind, n.path, r.at, r.reason, r.note, r.undone_by"
_TABLES = "run r JOIN namespace n ON n.id = r.namespace"


def insert(
    connection: Connection,
    run_id: str,
    *,
    kind: RunKind,
    namespace: int,
    at_us: int,
    reason: str,
    note: Mapping[str, Any],
) -> None:
    if (current := CURRENT.get()) not in (None, run_id):
        note = {**note, "seed": current}
    connection.execute(
        "INSERT INTO run (id, kind, namespace, at, reason, note) VALUES (?, ?, ?, ?, ?, ?)",
        (run_id, kind, namespace, at_us, reason, to_json(note)),
    )


def after(connection: Connection, at_us: int) -> set[str]:
    """Return the ids of the runs after a time."""
    rows = connection.execute("SELECT id FROM run WHERE at > ?", (at_us,))
    return {str(row[0]) for row in rows}


def find(connection: Connection, run_id: str) -> Run | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE r.id = ?", (run_id,)
    ).fetchone()
    return None if row is None else _run(row)


def newest(
    connection: Connection,
    namespace: Namespace,
    limit: int,
    *,
    after: tuple[int, str] | None = None,
) -> list[Run]:
    """Return the runs in a namespace and below it, newest first; ``after`` is the time and id of the last
    one of the page before."""
    where, bindings = inside("r.namespace", namespace)
    if after is not None:
        where += " AND r.at <= ? AND (r.at < ? OR r.id < ?)"
        bindings = (*bindings, after[0], *after)
    start = "run r"
    if namespace and holds_few_runs(connection, namespace):
        query, labels = below(namespace)
        where, bindings = f"r.namespace IN {query} AND {where}", (*labels, *bindings)
    else:
        start = "run r INDEXED BY run_at"
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM {start} CROSS JOIN namespace n ON n.id = r.namespace "
        f"WHERE {where} ORDER BY r.at DESC, r.id DESC LIMIT ?",
        (*bindings, limit),
    )
    return [_run(row) for row in rows]


FEW_RUNS: Final = 2_000


def holds_few_runs(connection: Connection, namespace: Namespace) -> bool:
    """Return whether so few runs are of a namespace and what is below it that they are better sorted than
    looked for among all of the file."""
    query, bindings = below(namespace)
    (found,) = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM run WHERE namespace IN {query} LIMIT ?)",
        (*bindings, FEW_RUNS),
    ).fetchone()
    return bool(found < FEW_RUNS)


RESTORE: Final = "restore/"
"""Begins the ids of the runs by which somebody made an archived memory active again."""
NIGHT: Final = "night/"
"""Begins the ids of the runs of maintenance: ``night/<night>/<task>/<n>``."""


def of_night(connection: Connection, night: str) -> list[Run]:
    """Return the runs of one night of maintenance, in the order in which they were applied."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE r.id >= ? AND r.id < ? ORDER BY r.at, r.id",
        (f"{NIGHT}{night}/", f"{NIGHT}{night}0"),
    )
    return [_run(row) for row in rows]


class Night(NamedTuple):
    """Where a night stands among others."""

    last_us: int
    """When its last run here was applied."""
    id: str


def nights(
    connection: Connection, namespace: Namespace, limit: int, *, after: Night | None = None
) -> dict[Night, list[Run]]:
    """Nights that changed a namespace or what is below it, newest first, with their runs in order;
    ``after`` is the last one of the page before."""
    query, bindings = below(namespace)
    having = "TRUE"
    if after is not None:
        having = "(max(r.at), r.note ->> '$.night') < (?, ?)"
        bindings = (*bindings, *after)
    rows = connection.execute(
        f"SELECT r.note ->> '$.night', max(r.at) FROM run r WHERE r.namespace IN {query} "
        "AND r.kind = 'maintenance' AND r.note ->> '$.night' IS NOT NULL "
        f"GROUP BY r.note ->> '$.night' HAVING {having} "
        "ORDER BY max(r.at) DESC, r.note ->> '$.night' DESC LIMIT ?",
        (*bindings, limit),
    ).fetchall()
    return {Night(row[1], str(row[0])): of_night(connection, row[0]) for row in rows}


def changes_of_night(connection: Connection, night: str, task: str, namespace: Namespace) -> int:
    """Return how many memories a task has changed in a namespace in one night, and nobody took back."""
    row = connection.execute(
        "SELECT coalesce(sum(json_array_length(r.note, '$.keys')), 0) FROM run r "
        "JOIN namespace n ON n.id = r.namespace WHERE r.id >= ? AND r.id < ? AND n.path = ? "
        "AND r.undone_by IS NULL",
        (f"{NIGHT}{night}/{task}/", f"{NIGHT}{night}/{task}0", to_path(namespace)),
    ).fetchone()
    return int(row[0])


def undone_keys(connection: Connection, namespace: Namespace, task: str) -> set[str]:
    """Keys of the memories that a task of maintenance changed in runs that were taken back; and for what
    archives memories, of those that somebody restored."""
    rows = connection.execute(
        "SELECT k.value FROM namespace n JOIN run r ON r.namespace = n.id "
        "CROSS JOIN json_each(r.note, '$.keys') k WHERE n.path = ?1 AND (r.kind = 'maintenance' "
        "AND r.undone_by IS NOT NULL AND r.note ->> '$.task' = ?2 OR ?2 = 'evict' "
        "AND r.undone_by IS NULL AND substr(r.id, 1, length(?3)) = ?3)",
        (to_path(namespace), task, RESTORE),
    )
    return {str(row[0]) for row in rows}


def failed_reflections(
    connection: Connection, namespace: Namespace, failure: str, thread: str | None
) -> list[Run]:
    """Return the reflections in a namespace and below it, of one thread or any, that note this failure and
    were neither undone nor read again since; oldest first."""
    query, bindings = below(namespace)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE r.namespace IN {query} "
        "AND r.kind = 'reflection' AND r.undone_by IS NULL "
        "AND EXISTS (SELECT 1 FROM json_each(r.note, '$.failures') f WHERE f.value = ?) "
        "AND coalesce(r.note ->> '$.thread_id' = ?, true) "
        "AND NOT EXISTS (SELECT 1 FROM run a WHERE a.id = ? || r.id) ORDER BY r.at, r.id",
        (*bindings, failure, thread, AGAIN),
    )
    return [_run(row) for row in rows]


def undoes_what_stands(connection: Connection, run_id: str) -> bool:
    """Return whether this would be the undo of a run that was not undone here."""
    if not run_id.startswith(UNDO):
        return False
    run = find(connection, run_id.removeprefix(UNDO))
    return run is not None and run.undone_by is None


def is_again(connection: Connection, undo: str | None) -> bool:
    """Return whether this run is the undo of a reflection whose turns are to be read again."""
    if undo is None or not undo.startswith(UNDO):
        return False
    return find(connection, AGAIN + undo.removeprefix(UNDO)) is not None


def _run(row: tuple[Any, ...]) -> Run:
    return Run(
        id=row[0], kind=row[1], namespace=from_path(row[2]), at=from_us(row[3]), reason=row[4],
        note=from_json(row[5]), undone_by=row[6],
    )  # fmt: skip


def following(connection: Connection, run_id: str) -> list[str]:
    """Return the ids of runs that follow from a run and stand, newest first; see `FOLLOWS` and `SEED`."""
    run = find(connection, FOLLOWS + run_id)
    found = [] if run is None or run.undone_by is not None else [run.id]
    if run_id.startswith(SEED):
        rows = connection.execute(
            "SELECT id FROM run WHERE note ->> '$.seed' = ? AND undone_by IS NULL "
            "AND kind <> 'undo' ORDER BY at DESC, id DESC",
            (run_id,),
        )
        found += [str(row[0]) for row in rows]
    return found


def forget_who(connection: Connection, namespace: Namespace, person: str) -> None:
    """Runs in a namespace and below it do not tell any more that this person decided them."""
    query, bindings = below(namespace)
    connection.execute(
        "UPDATE run SET note = json_remove(note, '$.by') "
        f"WHERE namespace IN {query} AND note ->> '$.by' = ?",
        (*bindings, person),
    )


def forgettings(connection: Connection) -> set[str]:
    """Return the ids of the runs that forgot something."""
    return {str(row[0]) for row in connection.execute("SELECT id FROM run WHERE kind = 'forget'")}


def is_blank(connection: Connection, run_id: str | None) -> bool:
    """Return whether a run's record told of something that was forgotten since, and does not any more."""
    run = None if run_id is None else find(connection, run_id)
    return run is not None and not run.reason


def mark_undone(connection: Connection, run_id: str, undone_by: str) -> None:
    connection.execute("UPDATE run SET undone_by = ? WHERE id = ?", (undone_by, run_id))


class Step(NamedTuple):
    """One change of one item by a run."""

    seq: int
    item: int
    action: str
    before: str | None
    """JSON of the value before it."""
    facets: dict[str, Any]
    """Columns before it, ``updated_at`` included."""


def steps(connection: Connection, run_id: str) -> list[Step]:
    """Return the changes of a run, in order."""
    rows = connection.execute(
        "SELECT seq, item, action, before, facets FROM history WHERE run = ? ORDER BY seq",
        (run_id,),
    )
    return [
        Step(seq, item, action, before, {} if facets is None else from_json(facets))
        for seq, item, action, before, facets in rows
    ]


def keys_without_record(connection: Connection, run_id: str) -> list[str]:
    """Return the keys of items that a run gave evidence, mentions or edges without any record of it: it
    came with an import, for items that were here and kept their own history."""
    rows = connection.execute(
        "SELECT key FROM item WHERE id IN (SELECT item FROM evidence WHERE run = ?1 UNION "
        "SELECT item FROM mention WHERE run = ?1 UNION SELECT fact FROM edge WHERE run = ?1) "
        "AND id NOT IN (SELECT item FROM history WHERE run = ?1) ORDER BY key",
        (run_id,),
    )
    return [str(row[0]) for row in rows]


class Later(NamedTuple):
    """A change of an item after a certain one."""

    action: str
    at_us: int
    run: str | None


_STANDING: Final = (
    f"r.undone_by IS NULL AND (h.run IS NULL OR substr(h.run, 1, {len(UNDO)}) <> '{UNDO}') "
    "ORDER BY h.at, h.seq"
)
"""Without changes of runs that were undone and of their undos, which together left everything as it
was, also where they came with an import."""


def later(connection: Connection, item: int, seq: int) -> list[Later]:
    """Return changes of an item after ``seq`` that are not undone."""
    rows = connection.execute(
        "SELECT h.action, h.at, h.run FROM history h LEFT JOIN run r ON r.id = h.run "
        f"WHERE h.item = ? AND h.seq > ? AND {_STANDING}",
        (item, seq),
    )
    return [Later(*row) for row in rows]


def later_in(connection: Connection, namespace: Namespace, key: str, seq: int) -> list[Later]:
    """As `later`, of whatever else was under a key after the change ``seq``. By time: an import
    writes lives that are over after the present one."""
    rows = connection.execute(
        "SELECT h.action, h.at, h.run FROM history o JOIN history h "
        "ON h.item <> o.item AND (h.at, h.seq) > (o.at, o.seq) LEFT JOIN run r ON r.id = h.run "
        f"WHERE o.seq = ?3 AND h.item IN ({LIVES}) AND {_STANDING}",
        (to_path(namespace), key, seq),
    )
    return [Later(*row) for row in rows]


# How entity links stood before a run changed them: {entity key: (key it was one with, run)}.

Links = dict[str, tuple[str | None, str | None]]


def links(connection: Connection, run_id: str) -> Links:
    row = connection.execute("SELECT links FROM run WHERE id = ?", (run_id,)).fetchone()
    return {key: (before[0], before[1]) for key, before in from_json(row[0]).items()}


def keep_links(connection: Connection, run_id: str, before: Links) -> None:
    if before:
        connection.execute("UPDATE run SET links = ? WHERE id = ?", (to_json(before), run_id))
