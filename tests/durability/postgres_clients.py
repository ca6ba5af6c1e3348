"""Child processes of the soak of a PostgreSQL server: clients, a worker and a subscriber in each.

What they were told is in files beside them, line by line, which a SIGKILL leaves as they are.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp

from langmemory import MemoryStore
from langmemory.changes import AddMemory, Change, ChangeSet, UpdateMemory
from langmemory.embeddings.mock import MockEmbedder
from langmemory.errors import DatabaseError
from langmemory.ports.jobs import NewJob
from langmemory.reflection import WorkOptions
from langmemory.reflection.worker import Worker
from langmemory.types import FeedEvent, Job

KIND, OVER = "soak", "over"
LOCKS = 6
"""Locks of the jobs: of each, one runs at a time."""
FACTS = 3
"""Memories that a change set adds, all or none."""
KEYS = 20
"""Keys of a client, few enough that puts overwrite and deletes hit."""
TALLY = "tally"
"""A memory of each lock that counts its jobs: one done twice would be seen."""
WORK = WorkOptions(
    max_attempts=1_000, retry_initial_seconds=0.05, retry_max_seconds=1, lease_seconds=20,
    poll_seconds=0.5,
)  # fmt: skip
"""A lease outlasts a crash of the server, for as long as which no worker can renew it."""

logger = logging.getLogger(__name__)


def open_store(address: str) -> MemoryStore:
    """Open the store, again and again while its server is away."""
    embedder = MockEmbedder(dims=32).embeddings
    index = {"dims": 32, "embed": embedder, "fields": ["text"]}
    while True:
        try:
            return MemoryStore(address, index=index)
        except DatabaseError:
            time.sleep(0.1)


class Log:
    """Lines of JSON, each written whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def add(self, *line: Any) -> None:
        os.write(self._file, (json.dumps(line) + "\n").encode())


def lines(path: Path) -> list[Any]:
    """Return what a `Log` holds."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def told(event: FeedEvent) -> list[Any]:
    """Return an event as it is compared."""
    place = None if event.namespace is None else list(event.namespace)
    return [event.type, event.action, place, event.id]


class Client:
    """Writes of all kinds, one after the other. Each is announced, and tried until it is acknowledged."""

    def __init__(self, store: MemoryStore, folder: Path, name: str, seed: int) -> None:
        self._store, self._rng, self.name = store, random.Random(seed), name
        self._log = Log(folder / f"{name}.client")
        self._errors = Log(folder / "errors")
        self._numbers = itertools.count(seed * 1_000_000)

    def run(self, over: threading.Event) -> None:
        writes = (self._put, self._put, self._batch, self._remember, self._apply, self._enqueue)
        while not over.is_set():
            try:
                self._rng.choice(writes)(next(self._numbers))
            except BaseException as error:  # none is expected: the test shows it
                self._errors.add("unexpected", f"{type(error).__name__}: {error}"[:500])
                raise

    def _until_acknowledged(self, kind: str, what: Any, write: Callable[[], Any]) -> None:
        self._log.add("begun", kind, what)
        while True:
            try:
                write()
                break
            except DatabaseError as error:
                self._errors.add("retried", f"{kind}: {error}"[:160])
                time.sleep(0.05)
        self._log.add("done", kind, what)

    def _put(self, n: int) -> None:
        self._put_all({f"k{self._rng.randrange(KEYS)}": n})

    def _batch(self, n: int) -> None:
        keys = self._rng.sample(range(KEYS), 5)
        self._put_all({f"k{key}": None if self._rng.random() < 0.2 else n for key in keys})

    def _put_all(self, values: dict[str, int | None]) -> None:
        def value(n: int | None) -> dict[str, Any] | None:
            return None if n is None else {"text": f"note {n} of {self.name}", "n": n}

        place = ("soak", "items", self.name)
        ops = [PutOp(place, key, value(n)) for key, n in values.items()]
        self._until_acknowledged("put", values, lambda: self._store.batch(ops))

    def _remember(self, n: int) -> None:
        turn = {"role": "user", "content": f"turn {n} of {self.name}", "id": f"turn-{n}"}
        place = ("soak", "turns", self.name)
        self._until_acknowledged(
            "remember", n, lambda: self._store.remember(place, [turn], thread_id=self.name)
        )

    def _apply(self, n: int) -> None:
        adds = tuple(
            AddMemory(key=f"{n}-{one}", value={"text": f"fact {one} of {n}"})
            for one in range(FACTS)
        )
        change_set = ChangeSet(
            namespace=("soak", "facts", self.name), run_id=f"soak/{n}", kind="reflection",
            reason="soak", changes=adds,
        )  # fmt: skip
        self._until_acknowledged("apply", n, lambda: self._store.changes.apply(change_set))

    def _enqueue(self, n: int) -> None:
        """One token is put into the queue once: where the answer is lost, nobody knows whether it is in."""
        lock = f"soak.jobs.{self._rng.randrange(LOCKS)}"
        job = NewJob(kind=KIND, lock=lock, thread=None, payload={"token": n}, config={})
        self._log.add("begun", "enqueue", n)
        try:
            self._store.jobs.enqueue(job, lambda _: None).result()
        except DatabaseError as error:
            self._errors.add("given up", f"enqueue: {error}"[:160])
            time.sleep(0.05)
        else:
            self._log.add("done", "enqueue", n)


def perform(store: MemoryStore, log: Log, job: Job) -> None:
    """Add a memory for the job, and one more to the tally of its lock."""
    log.add("begun", job.id, job.lock, job.attempts, time.time())
    place, token = tuple(job.lock.split(".")), job.payload["token"]
    seen = store.changes.history(place, TALLY)
    found = store.get(place, TALLY)
    count = 1 if found is None else found.value["count"] + 1
    value = {"text": f"{count} jobs", "count": count}
    tally: Change = (
        AddMemory(key=TALLY, value=value) if found is None else UpdateMemory(key=TALLY, value=value)
    )
    store.changes.apply(
        ChangeSet(
            namespace=place, run_id=f"job/{token}", kind="reflection", reason="soak",
            changes=(AddMemory(key=f"{token}", value={"text": f"job {token}"}), tally),
            planned_at=seen[-1].seq if seen else None,
        )
    )  # fmt: skip
    log.add("ended", job.id, job.lock, job.attempts, time.time())


def follow(store: MemoryStore, path: Path, over: threading.Event, errors: Log) -> None:
    """Read the feed on from where an earlier process was killed, until nothing is left."""
    log, known = Log(path), lines(path)
    cursor = known[-1][0] if known else None
    while True:
        last = over.is_set()
        try:
            page = store.feed.read(after=cursor, limit=100)
        except DatabaseError as error:
            errors.add("retried", f"feed: {error}"[:160])
            time.sleep(0.05)
            continue
        cursor = page.next
        if page.events:
            log.add(cursor, [told(one) for one in page.events])
        elif last:
            return
        if not page.more:
            time.sleep(0.02)


def work(address: str, folder: Path, number: int, life: int, clients: int) -> None:
    """Be a process of the soak, until there is a file `OVER`, or until killed."""
    logging.disable()  # lost leases and lost connections are meant
    store, over = open_store(address), threading.Event()
    log, errors = Log(folder / f"{number}.worker"), Log(folder / "errors")
    worker = Worker(
        store.jobs, lambda job: perform(store, log, job), kind=KIND, lanes=2, options=WORK
    )
    worker.start()
    threads = [
        threading.Thread(
            target=Client(store, folder, f"{number}-{n}", (life * 10 + number) * 10 + n).run,
            args=(over,),
        )
        for n in range(clients)
    ]
    follower = threading.Thread(
        target=follow, args=(store, folder / f"{number}.follower", over, errors)
    )
    for one in (*threads, follower):
        one.start()
    while not (folder / OVER).exists():
        time.sleep(0.05)
    over.set()
    for one in threads:
        one.join()
    while store.jobs.unfinished():
        time.sleep(0.1)
    worker.stop()
    follower.join()  # what comes later, the test reads on
    store.close()
