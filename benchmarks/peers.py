"""LangGraph's stores beside ours, call by call in one process: get, search, put one, put a hundred.

python -m benchmarks.peers 1000 10000 100000

All embed with the embedded model while they are called. The server of the stores on PostgreSQL is that of
`benchmarks.postgres`; PostgresStore makes its HNSW index when it is filled.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from langgraph.store.base import PutOp

from benchmarks.extensions import loadable_sqlite

loadable_sqlite()  # before the stores are imported

from benchmarks import contenders, postgres  # noqa: E402
from benchmarks.contenders import Contender, get, search  # noqa: E402
from benchmarks.corpus import Corpus  # noqa: E402
from benchmarks.machine import description  # noqa: E402
from benchmarks.measure import Call, interleaved  # noqa: E402
from benchmarks.postgres import DIMS, NEVER_STORED, Items, Static, row  # noqa: E402

SECONDS = 8.0
PLACE = ("memories",)
SHAPES = ("get", "search", "put one", "put 100")


def call_of(shape: str, contender: Contender, size: int, base: int) -> Call:
    """The nth call of a shape; puts are of facts from ``base`` on, which no other shape puts."""
    corpus = Corpus()

    def put(numbers: range) -> object:
        return contender.run(
            [PutOp(PLACE, f"new{i}", {"text": corpus.fact(i).text}) for i in numbers]
        )

    calls: dict[str, Call] = {
        "get": lambda n: get(contender, PLACE, f"m{n * 7_919 % size}"),
        "search": lambda n: search(contender, PLACE, corpus.fact(n * 7_919 % size).question),
        "put one": lambda n: put(range(base + n, base + n + 1)),
        "put 100": lambda n: put(range(base + 100 * n, base + 100 * n + 100)),
    }
    return calls[shape]


def main() -> None:
    for name, value in description(None).items():
        print(f"* {name}: {value}")
    with postgres.server() as url:
        for size in [int(one) for one in sys.argv[1:]] or [1_000, 10_000]:
            measure(url, size)


def measure(url: str, size: int) -> None:
    items = Items(size, 1)
    with (
        tempfile.TemporaryDirectory() as name,
        postgres.database(url, None) as conninfo,
        ExitStack() as closing,
    ):
        folder, embedder = Path(name), Static()
        stores: list[Contender] = [
            contenders.ours(folder / "ours.db", embedder, DIMS, "hybrid"),
            contenders.ours(folder / "semantic.db", embedder, DIMS, "semantic"),
            contenders.sqlite(folder / "sqlite.db", embedder, DIMS),
            contenders.sqlite_in_wal(folder / "wal.db", embedder, DIMS),
            contenders.in_memory(embedder, DIMS),
        ]
        for one in stores:
            contenders.fill(one, items.puts(range(size)))
        ours, theirs = postgres.ours(conninfo, "hybrid", None), postgres.theirs(conninfo)
        ours.name = f"{ours.name}, PostgreSQL"
        postgres.filled(ours, items)
        postgres.filled_peer(theirs, conninfo, items, late=True)
        stores += [ours, theirs]
        for one in stores:
            closing.callback(one.close)
        print(f"\n{size:,} items; p50 (p95) in ms, processor time of the client\n")
        print(row("call", *(one.name for one in stores), "load"))
        print(row(*["---"] * (len(stores) + 2)), flush=True)
        for number, shape in enumerate(SHAPES):
            base = NEVER_STORED + 1_000_000 * number
            calls = {one.name: call_of(shape, one, size, base) for one in stores}
            samples = interleaved(calls, seconds=SECONDS)
            print(row(shape, *map(postgres.shown, samples.values()), postgres.load()), flush=True)


if __name__ == "__main__":
    main()
