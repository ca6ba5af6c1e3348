"""``python -m benchmarks``: MemoryStore against LangGraph's own stores, on this machine."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks import (
    bandwidth,
    concurrency,
    contenders,
    footprint,
    machine,
    plots,
    report,
    searching,
    writing,
)
from benchmarks.contenders import Contender
from benchmarks.dataset import Dataset, Namespace, spans
from benchmarks.extensions import loadable_sqlite
from benchmarks.measure import Row, Sample
from benchmarks.searching import Effort, user_of
from benchmarks.vectors import CACHE, DISTINCT, Gaussian, Static, Vectors, real_vectors

BENCH: Namespace = ("bench",)
PEERS_UP_TO = 100_000
"""Above this, MemoryStore alone: a peer would need minutes to fill and seconds a search."""
PER_USER = 100

QUICK = Effort(seconds=0.2, queries=40)
FULL = Effort(seconds=1.5, queries=300)


def sizes(text: str) -> list[int]:
    """ "1k,10k,100k,1m" → numbers."""
    units = {"k": 1_000, "m": 1_000_000}
    return [
        int(float(part[:-1]) * units[part[-1]]) if part[-1] in units else int(part)
        for part in text.lower().split(",")
    ]


@dataclass(kw_only=True)
class Bench:
    """One run: what to measure with, and where the numbers go."""

    console: Console
    effort: Effort
    sqlite: str | None
    folder: Path
    """For the store files, removed afterwards."""
    result: report.Result

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        start = time.perf_counter()
        with self.console.status(what):
            yield
        self.console.print(f"[dim]{time.perf_counter() - start:6.1f} s[/]  {what}")

    def filled(
        self, contender: Contender, dataset: Dataset, namespace_of: Callable[[int], Namespace]
    ) -> None:
        """Fill a store with the data set and record the pace."""
        with self.step(f"filling {contender.name} with {dataset.size:,}"):
            puts = dataset.puts(namespace_of)
            start = time.perf_counter()
            contenders.fill(contender, puts)
            each = (time.perf_counter() - start) * 1e3 / dataset.size
        self.result.rows.append(
            Row(
                shape="put, filling by 1,000, each",
                size=dataset.size,
                contender=contender.name,
                temperature="hot",
                sample=Sample(p50=each, p95=each, max=each, calls=dataset.size),
                vectors=dataset.source.name,
                extra={"calls_per_second": 1e3 / each},
            )
        )

    @contextmanager
    def mine(
        self, dataset: Dataset, path: Path, namespace_of: Callable[[int], Namespace]
    ) -> Iterator[list[Contender]]:
        """MemoryStore, filled once, open in every mode: semantic, hybrid, keyword, async."""
        embedder, dims = dataset.embedder, dataset.source.dims
        with ExitStack() as opened:
            hybrid = contenders.ours(path, embedder, dims, "hybrid")
            opened.callback(hybrid.close)
            self.filled(hybrid, dataset, namespace_of)
            semantic = contenders.ours(path, embedder, dims, "semantic")
            opened.callback(semantic.close)
            keyword = contenders.ours(path, embedder, dims, "keyword")
            opened.callback(keyword.close)
            awaited = contenders.ours_async(path, embedder, dims, "semantic")
            opened.callback(awaited.close)
            yield [semantic, hybrid, keyword, awaited]

    @contextmanager
    def peers(
        self, dataset: Dataset, path: Path, namespace_of: Callable[[int], Namespace]
    ) -> Iterator[list[Contender]]:
        """LangGraph's stores, filled; the asynchronous one shares the synchronous one's file."""
        embedder, dims = dataset.embedder, dataset.source.dims
        stores: list[Contender] = []
        with ExitStack() as opened:
            if self.sqlite and dataset.size <= PEERS_UP_TO:
                stores.append(contenders.sqlite(path, embedder, dims))
                opened.callback(stores[-1].close)
                self.filled(stores[-1], dataset, namespace_of)
                stores.append(contenders.sqlite_async(path, embedder, dims))
                opened.callback(stores[-1].close)
            if dataset.size <= PEERS_UP_TO:
                stores.append(contenders.in_memory(embedder, dims))
                self.filled(stores[-1], dataset, namespace_of)
            yield stores

    @contextmanager
    def in_wal(self, dataset: Dataset, path: Path) -> Iterator[list[Contender]]:
        """SqliteStore with the journal MemoryStore has, for the writes: there it decides most."""
        if not self.sqlite or dataset.size > PEERS_UP_TO:
            yield []
            return
        store = contenders.sqlite_in_wal(path, dataset.embedder, dataset.source.dims)
        try:
            self.filled(store, dataset, lambda _: BENCH)
            yield [store]
        finally:
            store.close()

    def search(self, stores: Sequence[Contender], dataset: Dataset, shape: searching.Shape) -> None:
        semantic, hybrid = stores[:2]
        others = [store for store in stores if store.name == "SqliteStore"]
        pairs = [(mine, other) for other in others for mine in (semantic, hybrid)]
        with self.step(f"searching {dataset.size:,}: {shape.name}, {dataset.source.name}"):
            rows = searching.measure(stores, pairs, dataset, shape, self.effort)
            self.result.rows.extend(rows)

    def one_namespace(self, dataset: Dataset) -> None:
        """Everything about one big namespace: search, filters, threads, footprint, writes."""
        path = self.folder / f"ours-{dataset.size}.db"
        peer_path = self.folder / f"sqlite-{dataset.size}.db"
        with (
            self.mine(dataset, path, lambda _: BENCH) as mine,
            self.peers(dataset, peer_path, lambda _: BENCH) as peers,
        ):
            stores = mine + peers
            shape = searching.one_namespace(dataset, BENCH)
            self.search(stores, dataset, shape)
            for filtered in searching.filtered(dataset, BENCH):
                self.search(stores, dataset, filtered)
            rows, seconds = self.result.rows, self.effort.seconds
            threaded = mine[:2] + [s for s in peers if s.name == "SqliteStore"]
            with self.step(f"threads on {dataset.size:,}"):
                rows.extend(concurrency.readers(threaded, dataset, shape, seconds))
            with self.step(f"memory, files and opening, {dataset.size:,}"):
                self.footprints(dataset, {"MemoryStore": path, "SqliteStore": peer_path})
            with (
                self.in_wal(dataset, self.folder / f"wal-{dataset.size}.db") as wal,
                self.step(f"gets and puts, {dataset.size:,}"),
            ):
                rows.extend(writing.measure([mine[1], *peers, *wal], dataset, BENCH, seconds))
            with self.step(f"readers beside a writer, other processes, {dataset.size:,}"):
                beside = concurrency.readers_beside_writer
                rows.extend(beside(threaded, dataset, shape, BENCH, seconds))
                rows.extend(concurrency.other_process(mine[1], path, dataset))

    def footprints(self, dataset: Dataset, files: dict[str, Path]) -> None:
        if not footprint.STATUS.exists():
            self.console.print(f"[yellow]No {footprint.STATUS} here: footprints left out.")
            return
        embed = dataset.embedder.embed_query
        asked = np.array([embed(q.text) for q in dataset.queries], dtype=np.float32)
        for name, path in files.items():
            if path.exists():
                taken = footprint.in_fresh_process(name, path, dataset.size, BENCH, asked)
                self.result.footprints.append(taken)

    def many_namespaces(self, dataset: Dataset) -> None:
        """A hundred facts for each of many users: one user's, and all of them by prefix."""
        users = dataset.size // PER_USER
        with (
            self.mine(dataset, self.folder / "users.db", lambda i: user_of(i, users)) as mine,
            self.peers(dataset, self.folder / "peer.db", lambda i: user_of(i, users)) as peers,
        ):
            self.search(mine + peers, dataset, searching.one_of_many(dataset, users))
            self.search(mine + peers, dataset, searching.prefix_over_all(dataset, users))

    def alone(self, dataset: Dataset) -> None:
        """Other vectors, ours alone: the peers read every row and do not care."""
        path = self.folder / f"{dataset.source.name}-{dataset.size}.db"
        with self.mine(dataset, path, lambda _: BENCH) as mine:
            self.search(mine[:2], dataset, searching.one_namespace(dataset, BENCH))

    def brute_force(self, dataset: Dataset, rate: float) -> None:
        self.result.brute_force.append(bandwidth.brute_force(dataset.vectors, rate))


def run(bench: Bench, vectors: Vectors, chosen: Sequence[int]) -> None:
    with bench.step("memory bandwidth"):
        rate = bandwidth.bytes_per_second()
        bench.result.bytes_per_second = rate
    for size in chosen:
        dataset = Dataset(source=vectors, size=size)
        bench.brute_force(dataset, rate)
        bench.one_namespace(dataset)
        bench.alone(Dataset(source=Gaussian(), size=size))
        if not isinstance(vectors, Static):
            bench.alone(Dataset(source=Static(), size=size))
    if shared := [size for size in chosen if size <= PEERS_UP_TO]:
        bench.many_namespaces(Dataset(source=vectors, size=max(shared)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sizes", help="default 1k,10k,100k; add 1m for ours alone")
    parser.add_argument("--quick", action="store_true", help="1k and 10k, fewer calls: a minute")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    chosen = sizes(options.sizes or ("1k,10k" if options.quick else "1k,10k,100k"))

    console = Console()
    sqlite = loadable_sqlite()
    if sqlite is None:
        console.print("[red]No sqlite3 that loads extensions and no pysqlite3: no SqliteStore.")
    vectors = real_vectors(console, spans(max(chosen)))
    origins = [vectors.origin, Gaussian().origin]
    if max(chosen) > DISTINCT:
        origins.append(f"above {DISTINCT:,} items the real vectors are used again, with noise")
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="stores-", dir=CACHE))
    bench = Bench(
        console=console,
        effort=QUICK if options.quick else FULL,
        sqlite=sqlite,
        folder=folder,
        result=report.Result(machine=machine.description(sqlite), vectors=origins),
    )
    try:
        run(bench, vectors, sorted(chosen))
    finally:
        shutil.rmtree(folder)
    report.write(bench.result, options.out)
    plots.write(bench.result, options.out)
    for verdict in bench.result.verdicts:
        mark = "[green]met   [/]" if verdict.met else "[red]missed[/]"
        console.print(mark, f"{verdict.what}: {verdict.achieved} (target {verdict.wanted})")
    console.print(f"{options.out / 'RESULTS.md'}")


if __name__ == "__main__":
    main()
