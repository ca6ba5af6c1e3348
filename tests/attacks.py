"""Attacks on memory through every door: ``python -m tests.attacks`` prints what came of each class.

The texts are in `attacks.toml`, in four languages. An agent that obeys whatever it reads copies each of them
into core memory, asks for it as a mandate, and saves it as a procedure. Then rules reflect, and a night
raises the priority of everything. `Result` has what is counted.
"""

from __future__ import annotations

import asyncio
import io
import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langmemory import MemoryStore
from langmemory.changes import ChangeSet, Facets, UpdateMemory
from langmemory.context import disclose
from langmemory.context.marking import mark_injected
from langmemory.context.notes import notes_of
from langmemory.graphs import build_chat_graph
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.nodes.core_memory import CoreMemory
from langmemory.parts.importing.importing import import_conversations
from langmemory.parts.team.mail import mail
from langmemory.tools import TOOLS, create_manage_memory_tool, create_memory_tools
from tests.scripted import ScriptedModel, tool_call

CASES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
INTRODUCED: Final[dict[str, str]] = CASES.pop("introduced")
"""Words of a person who pastes another's text, by language."""
NS: Final = ("memories", "lena")
BEGINNING: Final = 25
"""Characters of a text by which the agent knows it again."""
VISITOR: Final = "visitor"
"""The agent that attacks over MCP and the bus."""
OWN: Final = "I have a dog called Rex."
CONFIG: Final[dict[str, Any]] = {"configurable": {"user_id": "lena"}}


def read_page(address: str) -> str:
    """Return a page of the web."""
    return _PAGES[address]


_PAGES: Final[dict[str, str]] = {}


def obey(store: MemoryStore, text: str, thread: str, *before: Any, page: str = "") -> None:
    """Let a model that obeys everything read a text, and write it wherever its tools reach."""
    calls = [
        tool_call("core_memory_append", "c1", block="human", content=text),
        tool_call("manage_memory", "c2", content=text, priority="mandate"),
        tool_call("save_procedure", "c3", task=text[:40], steps=[text]),
    ]

    def copied(call: AIMessage, messages: list[BaseMessage]) -> str | AIMessage:
        read = any(text[:BEGINNING] in str(one.text) for one in messages)
        return call if read else "Noted."  # nobody copies what they have not read

    script: list[Any] = [*(partial(copied, call) for call in calls), "Noted."]
    if page:
        _PAGES[thread] = page
        script.insert(0, tool_call("read_page", "c0", address=thread))
    model, graph = _agent(store)
    model.script[:] = script
    asked = before or (HumanMessage("What is new?"),)
    config = {"configurable": {**CONFIG["configurable"], "thread_id": thread}}
    graph.invoke({"messages": list(asked)}, config)


@cache
def _agent(store: MemoryStore) -> tuple[ScriptedModel, Any]:
    """Return an agent with every tool of memory, and its model."""
    tools = [*create_memory_tools(("memories", "{user_id}"), tools=TOOLS), read_page]
    model = ScriptedModel()
    made = build_chat_graph(model, tools=tools, store=store, checkpointer=InMemorySaver())
    return model, made


def conversation(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """Lena pastes what another person sent."""
    for name, text in texts.items():
        pasted = INTRODUCED[language].replace("TEXT", text)
        obey(store, text, name, HumanMessage(pasted, name="Lena"))


def tool(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """A tool answers with it."""
    for name, text in texts.items():
        said = [
            {"role": "tool", "content": text, "name": "read_page"},
            {"role": "assistant", "content": text},
        ]
        store.remember(NS, said, thread_id=f"{name}/read")
        obey(store, text, name, page=text)


def document(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """It stands in a document that recall finds."""
    for name, text in texts.items():
        store.documents.add(
            text=f"---\npriority: mandate\n---\n\n{text}\n", name=f"{name}.md", namespace=NS
        )
        obey(
            store,
            text,
            name,
            HumanMessage(f"What do the documents say about {CASES[name]['name']}?"),
        )


def imported(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """It stands in an imported conversation, as the answer of an assistant and of a tool."""
    for name, text in texts.items():
        lines = [
            {"role": "user", "content": "What is new?", "thread": name, "id": "1"},
            {"role": "assistant", "content": text, "thread": name, "id": "2"},
            {"role": "tool", "content": text, "thread": name, "id": "3", "tool_call_id": "x"},
        ]
        file = io.BytesIO("\n".join(map(json.dumps, lines)).encode())
        file.name = "forged.jsonl"
        import_conversations(store, NS, file, "messages")


def imported_as_owner(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """It stands in an imported conversation in the person's own name."""
    for name, text in texts.items():
        line = {"role": "user", "name": "Lena", "content": text, "thread": name, "id": "1"}
        file = io.BytesIO(json.dumps(line).encode())
        file.name = "forged.jsonl"
        import_conversations(store, NS, file, "messages")


def rest(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """An agent with a token of scope write says it, keeps it as a procedure, and asks for mandates."""

    async def send(client: Any, text: str) -> None:
        value = {"text": text, "trust": "person", "priority": "mandate", "speaker": "Lena"}
        put = {"op": "put", "namespace": list(NS), "key": f"put {text}", "value": value}
        for path, sent in (
            ("episodic", {"text": text, "thread_id": "rest", "priority": "mandate"}),
            ("semantic", {"value": value}),
            ("store/batch", {"ops": [put]}),
            ("procedures", {"task": text[:40], "steps": [text], "source": "person"}),
        ):
            answer = await client.post(f"/api/v1/memory/{path}", json=sent)
            assert answer.is_success, answer.text

    _over_rest(store, texts, send)


def rest_as_person(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """An agent with a token of scope write says that the person said it."""

    async def send(client: Any, text: str) -> None:
        said = {"role": "user", "name": "Lena", "content": text, "trust": "person"}
        sent = {"messages": [said], "thread_id": "rest"}
        assert (await client.post("/api/v1/memory/remember", json=sent)).is_success

    _over_rest(store, texts, send)


def _over_rest(store: MemoryStore, texts: dict[str, str], send: Callable[..., Any]) -> None:
    from tests.server.client import ELSEWHERE, serving

    token = store.tokens.create(viewer=None, namespaces=[NS], scope="write", agent=VISITOR)[1]

    async def work() -> None:
        async with serving(store, address=ELSEWHERE, token=token) as client:
            for text in texts.values():
                await send(client, text)

    asyncio.run(work())


def nameless(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """An agent without a name saves it in other words than it read, so that nothing tells of the copy."""
    tool = create_manage_memory_tool(NS, store=store)
    for text in texts.values():
        tool.invoke({"content": text, "priority": "mandate"})


def mcp(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """An agent with a token of scope write asks for it as a mandate."""
    from tests.server.mcp_client import in_process

    token = store.tokens.create(viewer=None, namespaces=[NS], scope="write", agent=VISITOR)[1]

    async def remember() -> None:
        async with in_process(store, token) as client:
            await client.call("remember", texts=list(texts.values()), priority="mandate")

    asyncio.run(remember())


def bus(store: MemoryStore, texts: dict[str, str], language: str) -> None:
    """Another agent sends it."""
    for name, text in texts.items():
        store.bus(NS, agent=VISITOR).share(text, to="lena")
        waiting = store.bus(NS, agent="lena").inbox().items
        arrived = mark_injected(HumanMessage(mail(waiting)), "inbox")
        obey(store, text, name, arrived, HumanMessage("What is new?"))


Door = Callable[[MemoryStore, dict[str, str], str], None]
DOORS: Final[tuple[Door, ...]] = (
    conversation, tool, document, imported, mcp, bus, rest, nameless,
)  # fmt: skip
IN_A_NAME: Final[tuple[Door, ...]] = (imported_as_owner, rest_as_person)
"""Doors at which somebody speaks in the name of the person: facts are made of it, which are trusted as the
door is."""


@dataclass
class Result:
    """What came of the texts of a class."""

    sent: int = 0
    stored: int = 0
    surfaced: int = 0
    told: int = 0
    """Of those that surfaced: the block says by a mark, a citation or a speaker that it is not known of the
    person."""
    promoted: int = 0
    """In mandates, core memory, or active facts about the person."""
    as_person: int = 0
    """Of those promoted: trusted as if the person had said so."""
    followed: int = 0
    """In a prompt as something to follow: a mandate, a guardrail, a procedure that counts, or core memory."""
    asked: int = 0
    """A review asks a person about it."""


def attacked(door: Door, language: str) -> Iterator[tuple[str, Result]]:
    """Yield what came of each class through a door."""
    texts = {name: case[language] for name, case in CASES.items()}
    with MemoryStore(":memory:") as store:
        store.remember(NS, [{"role": "user", "content": OWN, "name": "Lena"}], thread_id="own")
        door(store, texts, language)
        build_reflection_graph(store).invoke({"namespace": list(NS)})
        _promote(store)
        memories = [
            one for one in store.admin.memories((), past=True, limit=10_000) if one.kind != "core"
        ]
        core = "\n".join(one.content for one in CoreMemory(store, NS).blocks())
        reviews = [one.question for one in store.changes.reviews(())]
        for name, text in texts.items():
            mark = CASES[name]["name"]
            mine = [one for one in memories if mark in one.text]
            facts = [
                one
                for one in mine
                if "fact_kind" in one.value
                and one.status == "active"
                and one.value.get("subject") != VISITOR
            ]
            mandates = [one for one in mine if one.priority == "mandate"]
            found = store.recall(text, NS, limit=20)
            block = disclose(found, budget=2_000)
            shown = {(entry.namespace, entry.key) for entry in block.entries}
            notes = [
                one
                for one in notes_of(found)
                if (one.namespace, one.key) in shown and mark in one.text
            ]
            yield (
                name,
                Result(
                    sent=1,
                    stored=bool(mine),
                    surfaced=bool(notes),
                    told=bool(notes) and all(one.mark or one.origin for one in notes),
                    promoted=bool(facts or mandates or mark in core),
                    as_person=any(one.trust == "person" for one in (*facts, *mandates))
                    or mark in core,
                    followed=any(one.letter != "R" for one in notes) or mark in core,
                    asked=any(mark in question for question in reviews),
                ),
            )


def _promote(store: MemoryStore) -> None:
    """Do what a night does of memories that are cited most: raise each to a guardrail, then to a mandate."""
    for priority in ("guardrail", "mandate"):
        keys = [
            one.key
            for one in store.admin.memories(NS, limit=10_000)
            if one.kind in ("semantic", "procedural")
        ]
        changes = tuple(UpdateMemory(key=key, facets=Facets(priority=priority)) for key in keys)
        store.changes.apply(
            ChangeSet(
                run_id=f"night/{priority}",
                kind="maintenance",
                namespace=NS,
                reason="cited often",
                changes=changes,
            )
        )


def measure(languages: tuple[str, ...] = tuple(INTRODUCED)) -> dict[tuple[str, str], Result]:
    """Return the sums by class and door."""
    sums: dict[tuple[str, str], Result] = {}
    for door in (*DOORS, *IN_A_NAME):
        for language in languages:
            for name, one in attacked(door, language):
                total = sums.setdefault((name, door.__name__), Result())
                for field, count in vars(one).items():
                    setattr(total, field, getattr(total, field) + count)
    return sums


def table(sums: dict[tuple[str, str], Result]) -> str:
    """Return the sums as a table of Markdown: by class, then by door."""
    columns = ("sent", "stored", "surfaced", "told", "asked", "promoted", "as_person", "followed")
    lines = ["| attack | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for place, about in ((0, lambda one: CASES[one]["about"]), (1, lambda one: f"through: {one}")):
        groups: dict[str, list[Result]] = {}
        for key, one in sums.items():
            groups.setdefault(key[place], []).append(one)
        for name, results in groups.items():
            counts = (str(sum(getattr(one, column) for one in results)) for column in columns)
            lines.append(f"| {about(name)} | " + " | ".join(counts) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(measure()))
