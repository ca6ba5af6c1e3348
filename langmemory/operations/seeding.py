"""The run of a seeding: whatever is written within it is undone as one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langmemory.ledger import runs
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import run_in_write
from langmemory.ledger.namespaces import intern
from langmemory.namespaces import check_namespace
from langmemory.operations.gathering import OpenStore
from langmemory.types import Namespace


@contextmanager
def seeding(
    store: OpenStore, namespace: Namespace, source: str, note: Mapping[str, Any]
) -> Iterator[str]:
    """Let everything that this context writes be of one run, and yield its id.

    The run of a namespace and a source is the same each time until it is undone, so that a seeding that was
    killed goes on in its run.

    Args:
        namespace: Where the run is listed.
        source: What the memory is filled from, such as a folder.
        note: For the record; that of the first time is kept.
    """
    namespace, core = check_namespace(namespace, written=True), store._core
    name = hashlib.sha256("\0".join((*namespace, "", source)).encode()).hexdigest()[:16]

    def begun(connection: Connection) -> str:
        run_id = runs.SEED + name
        while (run := runs.find(connection, run_id)) is not None and run.undone_by is not None:
            run_id += "+"
        if run is None:
            runs.insert(
                connection, run_id, kind="correction", namespace=intern(connection, namespace),
                at_us=core.now_us(), reason=f"seeded from {source}", note=note,
            )  # fmt: skip
        return run_id

    run_id = run_in_write(core.engine, begun)
    token = runs.CURRENT.set(run_id)
    try:
        yield run_id
    finally:
        runs.CURRENT.reset(token)
