"""Use of memories is counted for whoever reads over a server as for a graph beside the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.server.client import API, ELSEWHERE, serving, token_of
from tests.server.mcp_client import in_process

from langchain_core.messages import AIMessage, HumanMessage  # isort: skip
from langgraph.graph import START, StateGraph  # isort: skip
from langmemory import RemoteMemoryStore  # isort: skip
from langmemory.changes import AddEntity  # isort: skip
from langmemory.citing import note_id  # isort: skip
from langmemory.nodes import MemoryState, RecallNode, RememberNode  # isort: skip
from langmemory.server import serving as loopback  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

HOME = ("home",)
CAT, DOG = f"R:{note_id(HOME, 'cat')}", f"R:{note_id(HOME, 'dog')}"


@pytest.fixture
def store(store: MemoryStore) -> MemoryStore:
    """Two memories."""
    store.put(HOME, "cat", {"text": "Tofu the cat sleeps on the piano"})
    store.put(HOME, "dog", {"text": "Rex the dog barks at the postman"})
    return store


def counts(store: MemoryStore) -> dict[str, tuple[int, int, int]]:
    """How often each memory was shown, cited and right."""
    return {one.key: (one.loaded, one.referenced, one.succeeded) for one in store.admin.usage()}


async def test_rest_counts_what_it_shows_and_takes_what_came_of_it(store: MemoryStore) -> None:
    """A block counts once as shown; a report of an answer counts once however often it comes, and whether it
    was right may come later; what only a person looks at does not count."""
    asked = {"namespace": HOME, "query": "Where does Tofu the cat sleep?", "limit": 1}
    async with serving(store) as client:

        async def post(path: str, **body: Any) -> Any:
            answer = await client.post(f"{API}/context/{path}", json=body)
            assert answer.status_code == 200, answer.text
            return answer.json()

        [entry] = (await post("inject", **asked))["entries"]
        await post("inject", **asked, counted=False)
        assert counts(store) == {"cat": (1, 0, 0)}
        for right in (None, None, True, True):
            body = {"namespace": HOME, "cited": [entry["label"]], "right": right, "answer": "a1"}
            assert (await post("usage", **body))["value"] == 1
        assert counts(store) == {"cat": (1, 1, 1)}
        told = await post(
            "usage", namespace=HOME, shown=[CAT, DOG, "R:00000000"], cited=[DOG], right=False
        )
        assert told["value"] == 2
    assert counts(store) == {"cat": (2, 1, 1), "dog": (1, 1, 0)}


async def test_every_door_tells_how_a_memory_is_cited(store: MemoryStore) -> None:
    """Recall, a list and a single memory say the label that the block shows, whatever the priority."""
    store.put(HOME, "fire", {"text": "Tofu the cat gets no milk", "priority": "guardrail"})
    store.put(HOME, "vital", {"text": "Tofu the cat needs insulin", "importance": 0.95})
    asked = {"namespace": HOME, "query": "What does Tofu the cat need?", "min_score": None}
    async with serving(store) as client:
        block = (await client.post(f"{API}/context/inject", json=asked)).json()
        found = (await client.post(f"{API}/recall", json=asked)).json()["results"]
        listed = (await client.get(f"{API}/memories", params={"namespace": "home"})).json()["items"]
        one = (await client.get(f"{API}/memories/vital", params={"namespace": "home"})).json()
    shown = {entry["key"]: entry["label"] for entry in block["entries"]}
    assert shown.items() <= {one["memory"]["key"]: one["memory"]["label"] for one in found}.items()
    assert shown.items() <= {one["key"]: one["label"] for one in listed}.items()
    assert {label[0] for label in shown.values()} == {"G", "R"}
    assert one["label"] == shown["vital"]
    assert {one.label for one in store.recall(asked["query"], HOME)} >= set(shown.values())


async def test_a_cited_procedure_learns_from_answers(store: MemoryStore) -> None:
    """Over REST and MCP an answer that was right or wrong is the outcome of a procedure that it cites: once,
    by its last report; what is not known yet is none."""
    one = store.procedures.add(HOME, "feed the cat", ["open the tin", "fill the bowl"])
    label = f"R:{note_id(HOME, one.key)}"

    def outcomes() -> tuple[int, int]:
        found = store.procedures.get(HOME, one.key)
        assert found is not None
        return found.outcomes.succeeded, found.outcomes.failed

    async with serving(store) as client:
        for right, answer, expected in (
            (None, "a1", (0, 0)), (True, "a1", (1, 0)), (True, "a1", (1, 0)), (False, "a1", (0, 1)),
            (False, "a2", (0, 2)), (True, None, (1, 2)),
        ):  # fmt: skip
            body = {"namespace": HOME, "cited": [label, CAT], "right": right, "answer": answer}
            assert (await client.post(f"{API}/context/usage", json=body)).json()["value"] == 2
            assert outcomes() == expected
        shown = {"namespace": HOME, "shown": [label], "right": True, "answer": "a3"}
        await client.post(f"{API}/context/usage", json=shown)
        assert outcomes() == (1, 2)
    async with in_process(store, token_of(store, None, HOME)) as agent:
        await agent.done("admin_report_usage", cited=[label], right=True, answer="a4")
    assert outcomes() == (2, 2)


async def test_an_agent_over_mcp_counts(store: MemoryStore) -> None:
    """What `recall` lists was shown, and what `get_memory` or `fetch` reads was used."""
    async with in_process(store, token_of(store, None, HOME)) as client:
        await client.done("recall", query="Where does Tofu the cat sleep?", limit=1)
        await client.done("get_memory", id=CAT)
        await client.done("fetch", id=CAT)
        await client.done("admin_report_usage", cited=[CAT], right=True, answer="a1")
    assert counts(store) == {"cat": (1, 3, 1)}


async def test_a_token_counts_only_where_it_reaches(store: MemoryStore) -> None:
    """Ids and counts of memories elsewhere, or of others' private ones, change nothing."""
    store.put(HOME, "diary", {"text": "x", "owner": "anna", "privacy": "private"})
    used = {"loaded": 1, "referenced": 1, "succeeded": 1, "read_tokens": 1, "discovery_tokens": 1}
    for token in (token_of(store, None, ("office",)), token_of(store, "ben", HOME)):
        async with serving(store, address=ELSEWHERE, token=token) as client:
            diary = f"R:{note_id(HOME, 'diary')}"
            answer = await client.post(
                f"{API}/context/usage", json={"cited": [diary], "right": True}
            )
            assert answer.json()["value"] == 0
            counted = {"counts": [{"namespace": HOME, "key": "diary", **used}]}
            assert (await client.post(f"{API}/context/counts", json=counted)).status_code < 300
    assert counts(store) == {}


def local(store: MemoryStore, play: Callable[[Any], None]) -> None:
    play(store)


def remote(store: MemoryStore, play: Callable[[Any], None]) -> None:
    with loopback.serving(create_app(store)) as address, RemoteMemoryStore(address) as client:
        play(client)


@pytest.mark.parametrize("door", [local, remote])
def test_a_graph_counts_the_same_from_afar(store: MemoryStore, door: Any) -> None:
    """A node beside the file and one on another machine count what was shown, cited and not corrected."""

    def answer(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(f"On the piano [{CAT}]")]}

    def play(place: Any) -> None:
        built = (
            StateGraph(MemoryState)
            .add_node("recall", RecallNode(HOME, limit=1))
            .add_node("answer", answer)
            .add_node("remember", RememberNode(("talk",)))
        )
        built.add_edge(START, "recall").add_edge("recall", "answer").add_edge("answer", "remember")
        state: Any = {}
        for text in ("Where does Tofu the cat sleep?", "And where does Tofu the cat sleep now?"):
            messages = [*state.get("messages", []), HumanMessage(text)]
            state = built.compile(store=place).invoke(
                {**state, "messages": messages},
                {"configurable": {"thread_id": "t", "user_id": "anna"}},
            )

    door(store, play)
    assert counts(store) == {"cat": (2, 2, 2)}


def test_finding_out_costs_the_turns_a_fact_was_made_from(store: MemoryStore) -> None:
    """Where a value says what it took, that counts; of a fact else its evidence, and of others their text."""
    from tests.graph_world import apply, fact

    said = [{"role": "user", "content": "My sister moved to Porto with her dog. " * 20}]
    [turn] = store.remember(HOME, said, thread_id="t")
    made = fact(
        "fact", "Anna lives in Porto.", "anna", "lives_in", literal="Porto", evidence=[turn]
    )
    apply(store, "run", AddEntity(key="anna", name="Anna"), *made, namespace=HOME)
    store.put(HOME, "dear", {"text": "42", "discovery_tokens": 15_000})
    ids = [note_id(HOME, key) for key in ("fact", "dear", "cat")]
    assert store.admin.report_usage(HOME, shown=ids) == 3
    found = {one.key: one.discovery_tokens for one in store.admin.usage()}
    assert found["dear"] == 15_000
    assert found["fact"] == len(said[0]["content"].strip()) // 4
    assert found["cat"] < 20
