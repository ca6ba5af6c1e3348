"""The remote form, against clients that only note what they are asked."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import langmem
import pytest
from langchain_core.messages import HumanMessage
from langgraph.func import entrypoint
from langgraph_sdk._sync.runs import SyncRunsClient

from langmemory.errors import ConfigError
from langmemory.nodes import RememberNode
from langmemory.reflection import Debounce, ReflectionExecutor, RemoteReflectionExecutor
from langmemory.reflection.executor import reflection_thread
from langmemory.stores import MemoryStore

ITEM = {"namespace": ["memories", "anna"], "key": "k", "value": {"text": "Anna likes tea"}}


class FakeServer:
    """Both clients of a server that schedules everything and finds one item."""

    def __init__(self) -> None:
        self.scheduled: list[dict[str, Any]] = []
        self.searched: list[tuple[Any, dict[str, Any]]] = []
        self.sync = SimpleNamespace(
            runs=SimpleNamespace(create=self.create),
            store=SimpleNamespace(search_items=self.search),
        )
        self.asynchronous = SimpleNamespace(store=SimpleNamespace(search_items=self.asearch))

    def create(self, **arguments: Any) -> dict[str, Any]:
        for name in arguments:  # nothing the SDK does not know
            assert name in SyncRunsClient.create.__annotations__ or name == "thread_id"
        self.scheduled.append(arguments)
        return {"run_id": f"run-{len(self.scheduled)}"}

    def search(self, namespace: Any, **arguments: Any) -> dict[str, Any]:
        self.searched.append((namespace, arguments))
        return {"items": [ITEM]}

    async def asearch(self, namespace: Any, **arguments: Any) -> dict[str, Any]:
        return self.search(namespace, **arguments)


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


def connect(server: FakeServer, module: Any = ReflectionExecutor, **options: Any) -> Any:
    clients: dict[str, Any] = {"client": server.asynchronous, "sync_client": server.sync}
    return module("reflect", ("memories", "anna"), **clients, **options)


def test_a_run_is_scheduled_in_a_thread_of_its_own(server: FakeServer) -> None:
    """The conversation's thread, to which a replaced run would be rolled back, is left alone; the
    same conversation always has the same reflection thread, so that a later run replaces it."""
    with connect(server) as executor:
        assert isinstance(executor, RemoteReflectionExecutor)
        config = {"configurable": {"thread_id": "t", "user_id": "anna", "api_key": "secret"}}
        payload = {"messages": [HumanMessage("hello")]}
        future = executor.submit(payload, config, after_seconds=30)
        assert future.result(10) == {"run_id": "run-1"}
        executor.submit(payload, config, thread_id="t").result(10)
        executor.submit(payload, thread_id=None).result(10)
    first, second, alone = server.scheduled
    assert first == {
        "thread_id": reflection_thread("reflect", ("memories", "anna"), "t"),
        "assistant_id": "reflect",
        "input": payload,
        "config": {"configurable": {"user_id": "anna", "namespace": ["memories", "anna"]}},
        "multitask_strategy": "rollback",
        "after_seconds": 30,
        "if_not_exists": "create",
    }
    assert second["thread_id"] == first["thread_id"] != "t"
    assert alone["thread_id"] not in (None, first["thread_id"])


def test_it_schedules_what_langmem_schedules(server: FakeServer) -> None:
    """From within a run: the same arguments, thread and namespace apart."""
    for module in (langmem.ReflectionExecutor, ReflectionExecutor):
        with connect(server, module) as executor:

            @entrypoint()
            def chat(n: int, executor: Any = executor) -> None:
                executor.submit({"n": n}, after_seconds=5).result(10)

            chat.invoke(1, {"configurable": {"thread_id": "t"}})
    theirs, ours = server.scheduled
    for run in (theirs, ours):
        assert list(run["config"].pop("configurable")["namespace"]) == ["memories", "anna"]
        del run["thread_id"]
    assert ours == theirs


def test_a_later_run_arrives_after_what_it_replaces(server: FakeServer) -> None:
    """A server that is slow to take a run does not let the next one of that conversation overtake
    it, which would then be the one replaced; other conversations need not wait."""
    go_on, create = threading.Event(), server.create

    def slow(**arguments: Any) -> dict[str, Any]:
        if arguments["input"] == {"n": 0}:
            assert go_on.wait(10)
        return create(**arguments)

    server.sync.runs.create = slow
    with connect(server) as executor:
        sent = [executor.submit({"n": n}, thread_id="t") for n in range(3)]
        executor.submit({"n": "other"}, thread_id="u").result(10)
        go_on.set()
        for future in sent:
            future.result(10)
    assert [run["input"]["n"] for run in server.scheduled] == ["other", 0, 1, 2]


async def test_search_asks_the_servers_store(server: FakeServer) -> None:
    """In the executor's namespace unless another is named; items have their namespace as a tuple."""
    with connect(server) as executor:
        found = executor.search("tea", filter={"kind": "x"}, limit=3)
        assert [(item["namespace"], item["key"]) for item in found] == [(("memories", "anna"), "k")]
        assert await executor.asearch(namespace="other") == found
    (place, asked), (other, _) = server.searched
    assert place == ("memories", "anna")
    assert asked == {"query": "tea", "filter": {"kind": "x"}, "limit": 3, "offset": 0}
    assert other == ("other",)


def test_remember_node_hands_turns_to_a_server(server: FakeServer) -> None:
    """After the quiet time, with what the reflection graph needs to find them."""
    with connect(server, debounce=Debounce(debounce_seconds=60)) as executor:
        node = RememberNode(
            ("memories", "{user_id}"),
            store=MemoryStore(":memory:", index=False),
            reflection=executor,
        )
        config = {"configurable": {"thread_id": "t", "user_id": "ben"}}
        node.invoke({"messages": [HumanMessage("hello")]}, config)
    (run,) = server.scheduled
    assert run["input"] == {"namespace": ["memories", "ben"], "thread_id": "t"}
    assert run["config"]["configurable"]["namespace"] == ["memories", "ben"]
    assert run["after_seconds"] == 60


def test_threads_of_one_name_are_those_of_their_people(server: FakeServer) -> None:
    """One person's turns in a thread are not rolled back by another person's thread of the same
    name."""
    with connect(server) as executor:
        for user in ("anna", "ben", "anna"):
            executor.submit(("memories", user), thread_id="monday").result(10)
    anna, ben, again = [run["thread_id"] for run in server.scheduled]
    assert anna == again != ben


def test_local_options_do_not_go_with_a_server() -> None:
    """They are refused rather than ignored."""
    with pytest.raises(ConfigError, match="own store and workers"):
        ReflectionExecutor("reflect", "memories", lanes=2)  # type: ignore[call-overload]
