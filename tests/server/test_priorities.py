"""Who may say what stands in every prompt, at each door, and who is said to have said it."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from tests.server.client import API, ELSEWHERE, problem, serving, token_of
from tests.server.mcp_client import in_process

from langmemory.context.disclosure import disclose  # isort: skip
from langmemory.remote import RemoteMemoryStore  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving as serving_at  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.tools import create_manage_memory_tool  # isort: skip
from langmemory.types import Memory, Priority, TokenScope  # isort: skip

PLACE = ("memories", "maria")
SAID = "Invoices are in euros only."


def asked(store: MemoryStore) -> list[Any]:
    return [one for one in store.changes.reviews(PLACE) if one.about == "mandate"]


def only(store: MemoryStore) -> Memory:
    [found] = store.admin.memories(PLACE)
    return found


@pytest.mark.parametrize("scope", ["write", "admin"])
@pytest.mark.parametrize("door", ["semantic", "put", "batch", "episodic", "correction", "mcp"])
async def test_a_mandate_is_for_an_admin_or_a_person(
    store: MemoryStore, door: str, scope: TokenScope
) -> None:
    """With scope write it is a guardrail, and a review asks a person, once for the same words; who may not
    give it may not decide the review either."""
    token = token_of(store, None, PLACE, scope=scope, agent="planner")
    value = {"text": SAID, "priority": "mandate"}
    if door == "correction":
        store.put(PLACE, "k", {"text": SAID})
    async with (
        serving(store, address=ELSEWHERE, token=token) as client,
        in_process(store, token) as model,
    ):
        for _ in range(2):
            match door:
                case "semantic":
                    sent = {"key": "k", "value": value}
                    answer = await client.post(
                        f"{API}/semantic", json=sent, headers={"Idempotency-Key": "i"}
                    )
                case "put":
                    answer = await client.put(f"{API}/semantic/k", json={"value": value})
                case "batch":
                    op = {"op": "put", "namespace": PLACE, "key": "k", "value": value}
                    answer = await client.post(f"{API}/store/batch", json={"ops": [op]})
                case "episodic":
                    sent = {"text": SAID, "thread_id": "t", "priority": "mandate"}
                    answer = await client.post(
                        f"{API}/episodic", json=sent, headers={"Idempotency-Key": "i"}
                    )
                case "correction":
                    sent = {"key": "k", "priority": "mandate"}
                    answer = await client.post(f"{API}/corrections", json=sent)
                case _:
                    await model.call("remember", texts=[SAID], priority="mandate")
                    continue
            assert answer.is_success, answer.text
        if scope == "admin":
            assert (only(store).priority, asked(store)) == ("mandate", [])
            return
        assert only(store).priority == "guardrail"
        [review] = asked(store)
        assert SAID in review.question
        refused = await client.post(f"{API}/reviews/{review.id}", json={"option": "always"})
        assert problem(refused) == "scope"
        assert "admin" in await model.refused("review", id=review.id, option="always")
        store.changes.decide(review.id, "always", by="maria")
        assert only(store).priority == "mandate"
        if door == "put":  # what a person decided stays, as long as it says the same
            await client.put(f"{API}/semantic/k", json={"value": value})
            assert (only(store).priority, len(asked(store))) == ("mandate", 0)
            await client.put(f"{API}/semantic/k", json={"value": {**value, "text": "In yen."}})
            assert (only(store).priority, len(asked(store))) == ("guardrail", 1)


@pytest.mark.parametrize("priority", get_args(Priority))
async def test_each_door_takes_the_other_priorities(store: MemoryStore, priority: Priority) -> None:
    """REST and MCP take them from a token of scope write, the tool of a graph from a model."""
    given = "guardrail" if priority == "mandate" else priority
    token = token_of(store, None, PLACE)
    async with in_process(store, token) as model:
        await model.done("remember", texts=[SAID], priority=priority)
    assert only(store).priority == given
    store.admin.delete_namespace(PLACE)
    tool = create_manage_memory_tool(PLACE, store=store)
    told = tool.invoke({"content": SAID, "priority": priority})
    assert only(store).priority == given
    assert ("a person is asked" in told) == (priority == "mandate") == bool(asked(store))


async def test_what_an_agent_says_is_spoken_by_the_agent(store: MemoryStore) -> None:
    """At each door, unless it names who said it."""
    token = token_of(store, None, PLACE, agent="planner")
    async with (
        serving(store, address=ELSEWHERE, token=token) as client,
        in_process(store, token) as model,
        in_process(store, token_of(store, None, PLACE)) as nameless,
    ):
        await model.done("remember", texts=["I measured it over MCP."])
        await model.done("remember", texts=["Tofu is mine."], speaker="Maria")
        await nameless.done("remember", texts=["I have no name."])
        for sent in ({}, {"speaker": "Ida"}):
            body = {"text": f"I saw an event {sent}.", "thread_id": "t", **sent}
            assert (await client.post(f"{API}/episodic", json=body)).is_success
            value = {"text": f"A fact {sent}.", **sent}
            assert (await client.post(f"{API}/semantic", json={"value": value})).is_success
        said = [{"role": "user", "content": "Ship it?"}, {"role": "assistant", "content": "Yes."}]
        body = {"messages": said, "thread_id": "u"}
        assert (await client.post(f"{API}/remember", json=body)).is_success
    create_manage_memory_tool(PLACE, store=store).invoke(
        {"content": "I tidied up."}, {"configurable": {"agent": "cleaner"}}
    )
    speakers = {one.text: one.speaker for one in store.admin.memories(PLACE)}
    assert speakers == {
        "I measured it over MCP.": "planner", "Tofu is mine.": "Maria",
        "I have no name.": "assistant", "I saw an event {}.": "planner",
        "I saw an event {'speaker': 'Ida'}.": "Ida", "A fact {}.": "planner",
        "A fact {'speaker': 'Ida'}.": "Ida", "Ship it?": "user", "Yes.": "planner",
        "I tidied up.": "cleaner",
    }  # fmt: skip


@pytest.mark.parametrize("scope", ["write", "admin"])
def test_a_remote_tool_asks_a_person_too(store: MemoryStore, scope: TokenScope) -> None:
    """A graph over a server asks as one over a file does, whatever the token of the application may do."""
    with (
        serving_at(create_app(store)) as address,
        RemoteMemoryStore(address, token=token_of(store, None, PLACE, scope=scope)) as remote,
    ):
        told = create_manage_memory_tool(PLACE, store=remote).invoke(
            {"content": SAID, "priority": "mandate"}
        )
        assert "a person is asked" in told
        remote.put(PLACE, "own", {"text": "In yen.", "priority": "mandate"})
    assert {one.question.partition(": ")[2] for one in asked(store)} == (
        {SAID} if scope == "admin" else {SAID, "In yen."}
    )


@pytest.mark.parametrize(("importance", "letter"), [(0.89, "R"), (0.9, "G"), (1.0, "G")])
def test_what_is_vital_is_shown_as_a_guardrail(
    store: MemoryStore, importance: float, letter: str
) -> None:
    """From an importance of .9 on, be it a memory, an item or a result of a recall; what is put away, or
    stands in every prompt, stays what it is."""
    store.put(PLACE, "k", {"text": "Maria is allergic to nuts.", "importance": importance})
    for found in (
        store.admin.memories(PLACE), store.search(PLACE), store.recall("nuts", PLACE).results
    ):  # fmt: skip
        [entry] = disclose(found).entries
        assert entry.label[0] == letter
    store.put(PLACE, "k", {"text": "Nuts.", "importance": importance, "priority": "mandate"})
    assert disclose(store.search(PLACE)).entries[0].label[0] == "M"
    store.put(PLACE, "k", {"text": "Nuts.", "importance": importance, "priority": "archive"})
    assert not disclose(store.search(PLACE)).entries


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("graph/entity", {"name": "Ada", "text": "Ada is a person."}),
        ("graph/relationship", {"source": "Ada", "relation": "works at", "target": "Initech"}),
        ("graph/link", {"source": "known", "relation": "requires", "target": "artifact:api"}),
        ("swarm/tasks", {"title": "Mend the bridge"}),
        ("swarm/decisions", {"what": "Use steel", "why": "It is strong."}),
        ("procedures", {"task": "mend a bridge", "steps": ["look", "weld"]}),
    ],
)
@pytest.mark.parametrize(
    ("agent", "scope", "trust"),
    [("robo", "write", "agent"), ("robo", "admin", "person"), (None, "write", "person")],
)
async def test_what_an_agent_states_is_trusted_as_an_agent(
    store: MemoryStore, path: str, body: dict[str, Any], agent: str | None, scope: Any, trust: str
) -> None:
    """Claims, links, tasks, decisions and procedures have the trust of the token that adds them."""
    home = ("home",)
    store.put(home, "known", {"text": "The bridge is old."})
    token = token_of(store, None, home, scope=scope, agent=agent)
    async with serving(store, address=ELSEWHERE, token=token) as client:
        answer = await client.post(f"{API}/{path}", json={"namespace": home, **body})
    assert answer.status_code == 200, answer.text
    added = [one for one in store.admin.memories(home) if one.key != "known"]
    assert {one.trust for one in added} == {trust}
