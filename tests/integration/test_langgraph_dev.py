"""The repository as LangGraph's development server runs it, spoken to over HTTP on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from langmemory import MemoryStore
from langmemory.labels import id_of, label_of
from langmemory.types import Job
from tests.integration.langgraph_server import copy_project, langgraph_dev
from tests.waiting import until

REPOSITORY = Path(__file__).parents[2]

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("langgraph-dev")]  # one server


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_project(REPOSITORY, tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def client(project: Path) -> Iterator[SyncLangGraphClient]:
    environ = {
        "MEMORY_DB_PATH": str(project / "memory.db"),
        "PYTHONPATH": str(REPOSITORY),
        "BG_JOB_ISOLATED_LOOPS": "true",  # runs and API in threads of their own: several stores
    }
    with langgraph_dev(project, environ) as url, get_sync_client(url=url) as client:
        yield client


def say(client: SyncLangGraphClient, text: str, user: str, thread: str | None = None) -> Any:
    """One turn, in a new thread unless one is given; the thread's state after it."""
    thread = thread or client.threads.create()["thread_id"]
    messages = [{"role": "user", "content": text}]
    return client.runs.wait(thread, "chat", input={"messages": messages}, context={"user_id": user})


def test_a_fact_told_in_one_thread_is_recalled_in_another(client: SyncLangGraphClient) -> None:
    """A user's message is in the memory block of their next thread."""
    say(client, "My dog is called Bello and he is a terrier.", "anna")
    state = say(client, "What is my dog called?", "anna")
    assert "Bello" in state["memory_block"]["text"]
    assert "Bello" in state["messages"][-1]["content"]
    assert "No chat model is configured" in state["messages"][-1]["content"]


def test_two_users_do_not_see_each_other(client: SyncLangGraphClient) -> None:
    """A user's block never holds what another user said."""
    say(client, "My cat is called Minka.", "berta")
    state = say(client, "What is my cat called?", "carla")
    assert "Minka" not in str(state)


def test_a_run_without_user_id_belongs_to_the_local_user(client: SyncLangGraphClient) -> None:
    """Studio works before anything is configured."""
    thread = client.threads.create()["thread_id"]
    messages = [{"role": "user", "content": "I keep three bee hives."}]
    client.runs.wait(thread, "chat", input={"messages": messages})
    found = client.store.search_items(["memories", "local"], query="bee hives")["items"]
    assert any("three bee hives" in str(item["value"]) for item in found)


def test_stateless_runs_of_one_conversation_repeat_nothing(client: SyncLangGraphClient) -> None:
    """A client that keeps the conversation itself, and names no thread, has each turn remembered once."""
    talk: list[dict[str, str]] = []
    for text in ("My parrot is called Rio.", "What is my parrot called?", "Thanks."):
        talk.append({"role": "user", "content": text})
        context = {"user_id": "greta"}
        state: Any = client.runs.wait(None, "chat", input={"messages": talk}, context=context)
        talk.append({"role": "assistant", "content": state["messages"][-1]["content"]})
    found = client.store.search_items(["memories", "greta"], filter={"role": "user"})["items"]
    assert sorted(item["value"]["content"] for item in found) == sorted(
        turn["content"] for turn in talk if turn["role"] == "user"
    )
    assert len({item["value"]["thread_id"] for item in found}) == 1


def test_streaming_shows_every_step(client: SyncLangGraphClient) -> None:
    """A stream names recall, model and remember in order, and carries the answer's tokens."""
    thread = client.threads.create()["thread_id"]
    steps: list[str] = []
    tokens = 0
    for part in client.runs.stream(
        thread,
        "chat",
        input={"messages": [{"role": "user", "content": "Hello there"}]},
        context={"user_id": "dora"},
        stream_mode=["updates", "messages-tuple"],
    ):
        if part.event == "updates":
            steps.extend(part.data)
        tokens += part.event == "messages"
    assert steps == ["recall", "model", "remember"]
    assert tokens > 0


def test_the_store_api_works_over_http(client: SyncLangGraphClient) -> None:
    """Put, get, search, list namespaces and delete reach the same store as the graph."""
    namespace = ["api", "tests"]
    client.store.put_item(namespace, "tea", {"content": "Anna drinks green tea."})
    client.store.put_item(namespace, "coffee", {"content": "Bert drinks coffee.", "cups": 2})

    item = client.store.get_item(namespace, "tea")
    assert item["value"] == {"content": "Anna drinks green tea."}
    assert item["namespace"] == namespace

    found = client.store.search_items(["api"], query="who likes green tea?", limit=1)["items"]
    assert [hit["key"] for hit in found] == ["tea"]
    assert found[0]["score"] is not None
    filtered = client.store.search_items(["api"], filter={"cups": 2})["items"]
    assert [hit["key"] for hit in filtered] == ["coffee"]

    assert client.store.list_namespaces(prefix=["api"])["namespaces"] == [namespace]
    client.store.delete_item(namespace, "tea")
    client.store.delete_item(namespace, "coffee")
    assert client.store.search_items(["api"])["items"] == []


@pytest.mark.parametrize("way", ["context", "configurable"])
def test_an_email_address_is_a_user_id(client: SyncLangGraphClient, way: str) -> None:
    """Whose id is an e-mail address has memories of their own, which the store's routes reach by the
    escaped label: they are found, got, listed and deleted there."""
    user = f"priya.{way}@example.co.uk"
    for text in ("My rabbit is called Flocke.", "What is my rabbit called?"):
        thread = client.threads.create()["thread_id"]
        given: Any = (
            {"context": {"user_id": user}}
            if way == "context"
            else {"config": {"configurable": {"user_id": user}}}
        )
        said = {"messages": [{"role": "user", "content": text}]}
        state: Any = client.runs.wait(thread, "chat", input=said, **given)
    assert "Flocke" in state["memory_block"]["text"]

    own = ["memories", label_of(user)]
    found = client.store.search_items(own, filter={"role": "user"})["items"]
    assert len(found) == 2
    assert found[0]["namespace"] == own
    assert client.store.get_item(own, found[0]["key"])["value"] == found[0]["value"]
    assert own in client.store.list_namespaces(prefix=["memories"])["namespaces"]
    assert id_of(own[1]) == user
    for item in client.store.search_items(own)["items"]:
        client.store.delete_item(own, item["key"])
    assert client.store.search_items(own)["items"] == []


@pytest.mark.parametrize(
    ("graph", "state", "nodes"),
    [
        ("chat", "memory_block", {"recall", "model", "tools", "remember"}),
        ("reflection", "plan", {"gather", "extract", "contradict", "plan", "apply"}),
    ],
)
def test_studio_gets_schemas_and_drawing(
    client: SyncLangGraphClient, graph: str, state: str, nodes: set[str]
) -> None:
    """The server answers Studio's requests for a graph."""
    assistant = client.assistants.search(graph_id=graph)[0]["assistant_id"]
    schemas = client.assistants.get_schemas(assistant)
    assert state in (schemas["state_schema"] or {})["properties"]
    assert "user_id" in (schemas["context_schema"] or {})["properties"]
    assert nodes <= {node["id"] for node in client.assistants.get_graph(assistant)["nodes"]}


def test_what_was_said_is_reflected(client: SyncLangGraphClient, project: Path) -> None:
    """The chat leaves its turns to reflection, and the reflection graph makes facts of them."""
    thread = client.threads.create()["thread_id"]
    say(client, "I live in Hamburg and my sister Katrin lives in Bremen.", "flora", thread)
    [job] = waiting(project / "memory.db", "flora")
    assert job.thread == thread
    done = client.runs.wait(None, "reflection", input={}, context={"user_id": "flora"})
    assert len(done["runs"]) == 1
    found = client.store.search_items(["memories", "flora"], filter={"relation": "lives_in"})
    assert {item["value"]["object"] for item in found["items"]} == {"Hamburg", "Bremen"}
    again = client.runs.wait(None, "reflection", input={}, context={"user_id": "flora"})
    assert again["runs"] == []


def test_a_night_of_maintenance_is_served(client: SyncLangGraphClient, project: Path) -> None:
    """The server runs the maintenance graph: a dry run changes nothing, a night changes what it told, with a
    report for each task, and the changes can be taken back."""
    place = ["memories", "hanna"]
    client.store.put_item(
        place, "tea", {"text": "Hanna drinks tea.", "status": "approved", "kind": "semantic"}
    )
    namespace = {"namespace": place}
    planned: Any = client.runs.wait(None, "maintenance", input={**namespace, "dry_run": True})
    by_task = {report["task"]: report for report in planned["reports"]}
    assert next(iter(by_task)) == "health"
    assert not any(report["error"] for report in planned["reports"])
    assert by_task["graduate"]["told"] == [
        "active now: 'Hanna drinks tea.' (approved, and nothing objected)"
    ]
    with MemoryStore(project / "memory.db") as store:
        assert store.lifecycle.nights(tuple(place)) == []
        done: Any = client.runs.wait(None, "maintenance", input=namespace)
        [night] = store.lifecycle.nights(tuple(place))
        assert night.id == done["night"]
        assert len(store.lifecycle.undo(night.id).applied) == len(night.runs) == 1


def waiting(path: Path, user: str) -> list[Job]:
    """The jobs in the server's memory file that are for this person, once there is one: the chat does
    not wait until they are written."""
    with MemoryStore(path) as store:

        def found() -> list[Job]:
            return [job for job in store.jobs.listed() if job.lock == f"memories.{user}"]

        until(found)
        return found()
