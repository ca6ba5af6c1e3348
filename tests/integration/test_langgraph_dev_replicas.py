"""Two replicas of the chat graph and one worker, on one PostgreSQL database."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra postgres is not installed")

from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from langmemory import MemoryStore
from tests import postgres_server
from tests.integration.langgraph_server import OFFLINE, copy_project, langgraph_dev

REPOSITORY = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.integration,
    pytest.mark.thorough,
    pytest.mark.xdist_group("langgraph-dev"),
]
USER = "anna"
PLACE = ("memories", USER)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    address = postgres_server.fresh()
    yield address
    postgres_server.drop(address)


@pytest.fixture(scope="module")
def replicas(
    address: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[SyncLangGraphClient]]:
    """Two servers, each in a folder of its own, that share nothing but the database; and a worker."""
    environ = {"MEMORY_DB_PATH": address, "PYTHONPATH": str(REPOSITORY), **OFFLINE}
    with ExitStack() as stack:
        clients = []
        for name in ("one", "two"):
            project = copy_project(REPOSITORY, tmp_path_factory.mktemp(name))
            url = stack.enter_context(langgraph_dev(project, environ))
            clients.append(stack.enter_context(get_sync_client(url=url)))
        worker = subprocess.Popen(
            [sys.executable, "-m", "langmemory", "worker"],
            env={**os.environ, **environ}, cwd=tmp_path_factory.mktemp("worker"),
        )  # fmt: skip
        stack.callback(worker.wait, 60)
        stack.callback(worker.terminate)
        yield clients


def say(client: SyncLangGraphClient, text: str) -> Any:
    thread = client.threads.create()["thread_id"]
    messages = [{"role": "user", "content": text}]
    return client.runs.wait(thread, "chat", input={"messages": messages}, context={"user_id": USER})


def test_what_is_told_to_one_replica_is_recalled_by_the_other(
    replicas: list[SyncLangGraphClient],
) -> None:
    """What a person tells one server is in the memory block of their next thread on the other, both ways."""
    one, two = replicas
    say(one, "My dog is called Bello and he is a terrier.")
    state = say(two, "What is my dog called?")
    assert "Bello" in state["memory_block"]["text"]
    say(two, "My cat is called Minka.")
    state = say(one, "What is my cat called?")
    assert "Minka" in state["memory_block"]["text"]


def test_what_either_replica_heard_is_reflected_once_by_the_worker(
    replicas: list[SyncLangGraphClient], address: str
) -> None:
    """The worker makes facts of what was told to both, none twice, and both know them."""
    one, two = replicas
    say(one, "I live in Hamburg.")
    say(two, "My sister Katrin lives in Bremen.")
    with MemoryStore(address) as store:
        queued = sum(store.jobs.counts().values())  # of both tests, or of this one alone
        assert queued >= 2
        for _ in range(1_800):
            store.jobs.run_now("reflection")  # they would wait until the conversations are quiet
            if store.jobs.counts().get("done") == queued:
                break
            time.sleep(0.1)
        assert store.jobs.counts() == {"done": queued}
    for client in replicas:
        found = client.store.search_items(list(PLACE), filter={"relation": "lives_in"})["items"]
        assert sorted(item["value"]["object"] for item in found) == ["Bremen", "Hamburg"]
