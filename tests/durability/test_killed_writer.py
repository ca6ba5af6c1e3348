"""A process killed in the middle of writes loses nothing it was told is stored."""

from __future__ import annotations

import json
import signal
from multiprocessing.connection import Connection
from pathlib import Path

from tests.children import process_context
from tests.durability.consistency import check_consistency
from tests.durability.writers import NAMESPACE, Values, open_store, write_until_killed
from tests.seeds import examples

KILLS = examples(50, first=10)


def acknowledged(pipe: Connection) -> tuple[list[Values], Values]:
    """All that the dead writer's pipe still holds: changes done, and the one perhaps not done."""
    done: list[Values] = []
    intent: Values = {}
    try:
        while True:
            message = json.loads(pipe.recv_bytes())
            if "intent" in message:
                intent = message["intent"]
            else:
                done.append(message["done"])
                intent = {}
    except EOFError:
        return done, intent


def stored(path: Path) -> Values:
    store = open_store(path)
    items = store.search(NAMESPACE, limit=1_000)
    store.close()
    return {item.key: item.value["n"] for item in items}


def without_deleted(state: Values) -> Values:
    return {key: n for key, n in state.items() if n is not None}


def test_every_acknowledged_write_survives_kills(tmp_path: Path) -> None:
    """After each SIGKILL the file holds every acknowledged change, and of the unfinished one all
    or nothing; in the end it is intact and its parts agree."""
    path = tmp_path / "memory.db"
    context = process_context()
    state: Values = {}
    writes = interrupted = 0
    for seed in range(KILLS):
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=write_until_killed, args=(path, seed, theirs), daemon=True)
        child.start()
        theirs.close()
        child.join(60)
        assert child.exitcode == -signal.SIGKILL
        done, unfinished = acknowledged(ours)
        for change in done:
            state |= change
        writes += len(done)
        found = stored(path)
        completed = state | unfinished
        assert found in (without_deleted(state), without_deleted(completed))
        interrupted += bool(unfinished)
        state = completed if found == without_deleted(completed) else state
        if seed % 10 == 9:
            assert check_consistency(path) == len(found)
    assert writes > KILLS, "the writers were killed before they wrote"
    assert interrupted > KILLS // 5, "the kills did not fall into writes"
