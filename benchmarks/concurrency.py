"""Several readers, readers beside a writer, and how soon another process's write is seen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import chain
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from langgraph.store.base import PutOp

from benchmarks.contenders import Contender, Mode, ours, search
from benchmarks.dataset import FRESH, FRESH_START, Dataset, Namespace, value_of
from benchmarks.measure import Call, Row, Sample, one
from benchmarks.searching import Shape, call_of
from benchmarks.vectors import Lookup, Matrix

ROUNDS = 30
"""Puts of another process that are waited for."""


def _loop(call: Call, first: int, stop: threading.Event) -> list[float]:
    taken: list[float] = []
    while not stop.is_set():
        taken.append(one(call, first + len(taken))[0])
    return taken


def together(calls: Sequence[Call], seconds: float) -> tuple[list[list[float]], float]:
    """Every call in a thread of its own, repeated for `seconds`: milliseconds, one list each, and
    the seconds it took until the last one had returned. What a call raises ends the benchmark: a
    store that fails is not a fast one."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(calls)) as pool:
        start = time.perf_counter()
        loops = [pool.submit(_loop, call, i * 50, stop) for i, call in enumerate(calls)]
        wait(loops, timeout=seconds, return_when=FIRST_EXCEPTION)
        stop.set()
        taken = [loop.result() for loop in loops]
        return taken, time.perf_counter() - start


def readers(
    contenders: Sequence[Contender], dataset: Dataset, shape: Shape, seconds: float
) -> Iterable[Row]:
    """1, 2 and 4 threads searching one store object."""
    for contender in contenders:
        for threads in (1, 2, 4):
            calls = [call_of(contender, shape)] * threads
            each, elapsed = together(calls, seconds)
            taken = list(chain.from_iterable(each))
            yield Row(
                shape=f"{threads} reader{'s'[: threads > 1]}",
                size=dataset.size,
                contender=contender.name,
                temperature="hot",
                sample=Sample.of(taken),
                extra={"calls_per_second": len(taken) / elapsed},
            )


def readers_beside_writer(
    contenders: Sequence[Contender],
    dataset: Dataset,
    shape: Shape,
    namespace: Namespace,
    seconds: float,
) -> Iterable[Row]:
    """Two threads searching while a third puts one fact after the other, through one object."""
    for contender in contenders:

        def put(n: int, contender: Contender = contender) -> object:
            value = value_of(n, dataset.fresh[n % FRESH])
            return contender.run([PutOp(namespace, f"beside{n}", value)])

        each, elapsed = together([*[call_of(contender, shape)] * 2, put], seconds)
        first, second, writes = each
        for name, taken in (("2 readers beside a writer", first + second), ("that writer", writes)):
            yield Row(
                shape=name,
                size=dataset.size,
                contender=contender.name,
                temperature="hot",
                sample=Sample.of(taken),
                extra={"calls_per_second": len(taken) / elapsed},
            )


def _put_on_demand(
    pipe: Connection,
    open_store: Callable[[Path, Lookup, int, Mode], Contender],
    path: Path,
    namespace: Namespace,
    text: str,
    vector: Matrix,
) -> None:
    """Child process: puts a fact whenever asked and answers when it was acknowledged."""
    lookup = Lookup()
    lookup.add([text], vector)
    store = open_store(path, lookup, vector.shape[1], "hybrid")
    pipe.send(0.0)
    while (key := pipe.recv()) is not None:
        store.run([PutOp(namespace, key, value_of(0, text))])
        pipe.send(time.monotonic())
    store.close()


def other_process(reader: Contender, path: Path, dataset: Dataset) -> Iterable[Row]:
    """From another process's acknowledged put to the end of the first search that returns it."""
    namespace = ("elsewhere",)
    text = dataset.fresh[0]
    vector = dataset.source.of("texts", FRESH_START, FRESH_START + 1)
    context = get_context("spawn")
    pipe, theirs = context.Pipe()
    child = context.Process(
        target=_put_on_demand, args=(theirs, ours, path, namespace, text, vector), daemon=True
    )
    child.start()
    pipe.recv()
    taken: list[float] = []
    searches = 0
    for n in range(ROUNDS):
        pipe.send(f"seen{n}")
        acknowledged = pipe.recv()
        seen = False
        while not seen:
            results = search(reader, namespace, text)
            searches += 1
            seen = f"seen{n}" in {item.key for item in results}
        taken.append((time.monotonic() - acknowledged) * 1e3)
        reader.run([PutOp(namespace, f"seen{n}", None)])
    pipe.send(None)
    child.join()
    yield Row(
        shape="other process's put until seen",
        size=dataset.size,
        contender=reader.name,
        temperature="hot",
        sample=Sample.of(taken),
        extra={"searches_each": searches / ROUNDS},
    )
