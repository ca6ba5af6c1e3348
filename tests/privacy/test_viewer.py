"""A store bound to a viewer: the same file, in which other people's private memories do not exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.base import GetOp, PutOp, SearchOp

from langmemory.changes import AddMemory, Change, ChangeSet, Facets, OpenReview, UpdateMemory
from langmemory.errors import ConfigError, OwnershipError
from langmemory.stores import MemoryStore
from langmemory.stores.face import ViewerStore
from langmemory.tools import TOOLS, create_memory_tools

HOME = ("home",)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(
            HOME, "hers", {"text": "Alice hides a key", "owner": "alice", "privacy": "private"}
        )
        store.put(HOME, "all", {"text": "the key is lost"})
        store.put((*HOME, "diary"), "d", {"text": "x", "owner": "alice", "privacy": "private"})
        yield store


def test_what_may_be_written(store: MemoryStore) -> None:
    """A viewer's writes belong to the viewer. A key of a hidden memory is refused without details,
    and nobody makes a memory private for somebody else or takes one from them."""
    bob = store.for_viewer("bob")
    with pytest.raises(OwnershipError, match="not free") as caught:
        bob.batch([PutOp(HOME, "new", {"text": "n"}), PutOp(HOME, "hers", {"text": "mine"})])
    assert "alice" not in str(caught.value)
    assert "private" not in str(caught.value)
    assert store.get(HOME, "new") is None, "all or nothing"
    assert store.get(HOME, "hers").value["text"] == "Alice hides a key"  # type: ignore[union-attr]
    bob.put(HOME, "mine", {"text": "a pin", "privacy": "private"})
    assert bob.get(HOME, "mine").value["owner"] == "bob"  # type: ignore[union-attr]
    assert store.for_viewer("alice").get(HOME, "mine") is None
    with pytest.raises(OwnershipError, match="private"):
        bob.put(HOME, "k", {"text": "for you", "owner": "alice", "privacy": "private"})
    store.put(HOME, "hers too", {"text": "open", "owner": "alice"})
    with pytest.raises(OwnershipError, match="private"):
        bob.put(HOME, "hers too", {"text": "mine now", "owner": "bob", "privacy": "private"})
    with pytest.raises(OwnershipError):
        store.for_anyone().put(HOME, "k", {"text": "whose?", "privacy": "private"})
    bob.put(HOME, "hers too", {"text": "open, and corrected"})
    assert store.forget(HOME, owner="alice", dry_run=True).memories == 3, "it stays Alice's"


def test_the_viewer_is_fixed(store: MemoryStore) -> None:
    """Nothing on a bound store takes another viewer or owner, and what it has no method for, such as
    applying changes, is out of reach."""
    bob = store.for_viewer("bob")
    assert isinstance(bob, ViewerStore)
    assert bob.for_viewer("bob") is bob
    with pytest.raises(ConfigError, match="Unknown recall option viewer"):
        bob.recall("key", HOME, viewer="alice")  # type: ignore[call-arg]
    with pytest.raises(OwnershipError):
        bob.for_viewer("alice")
    with pytest.raises(OwnershipError):
        bob.remember(HOME, [("user", "hi")], thread_id="t", owner="alice")
    with pytest.raises(OwnershipError):
        store.for_anyone().remember(HOME, [("user", "hi")], thread_id="t", privacy="private")
    for name in (
        "apply",
        "undo",
        "runs",
        "knowledge",
        "import_rows",
        "decide",
        "jobs",
        "stats",
        "conn",
    ):
        assert not hasattr(bob, name)
    with pytest.raises(ConfigError, match="for_anyone"):
        store.for_viewer("")


async def test_async_is_the_same(store: MemoryStore) -> None:
    """The async methods see and refuse what the sync ones do."""
    bob = store.for_viewer("bob")
    found = await bob.abatch([GetOp(HOME, "hers"), SearchOp(HOME, query="key")])
    assert found[0] is None
    assert [item.key for item in found[1]] == ["all"]
    with pytest.raises(OwnershipError):
        await bob.aput(HOME, "hers", {"text": "mine"})
    assert [one.memory.key for one in await bob.arecall("key", HOME)] == ["all"]
    assert await bob.changes.ahistory(HOME, "hers") == []
    added = await bob.aremember(HOME, [("user", "psst")], thread_id="t", privacy="private")
    assert len(added) == 1
    assert store.for_viewer("alice").get(HOME, added[0]) is None
    assert await bob.changes.areviews() == []
    assert await bob.admin.adelete_namespace(HOME) == 2
    assert (await bob.aforget((), dry_run=True)).history == 1, "the turn he deleted was his"


def test_history_of_what_was_private_once(store: MemoryStore) -> None:
    """A memory its owner published shows what it says now, not what it said in private; one that its
    facets alone made private is as private, deleted or not."""
    store.put(HOME, "hers", {"text": "found", "owner": "alice", "privacy": "shared"})
    bob = store.for_viewer("bob")
    assert bob.get(HOME, "hers").value["text"] == "found"  # type: ignore[union-attr]
    assert bob.changes.history(HOME, "hers") == []
    assert [row["type"] for row in bob.admin.export() if row.get("key") == "hers"] == ["item"]
    facets = Facets(owner="alice", privacy="private")
    store.changes.apply(
        ChangeSet(
            namespace=HOME, run_id="r", kind="reflection", reason="",
            changes=(AddMemory(key="f", value={"text": "secret"}, facets=facets),),
        )
    )  # fmt: skip
    assert bob.get(HOME, "f") is None
    assert bob.changes.history(HOME, "f") == []
    store.delete(HOME, "f")
    assert bob.changes.history(HOME, "f") == []
    assert len(store.for_viewer("alice").changes.history(HOME, "f")) == 2
    assert not [row for row in bob.admin.export() if row.get("key") == "f"]


@pytest.mark.parametrize("by_put", [True, False])
def test_what_was_written_about_a_secret_stays_secret(store: MemoryStore, by_put: bool) -> None:
    """After its owner publishes a private memory in other words, nobody else reads why it was written,
    what was asked about it, or the history and export rows that would tell; the owner does."""
    private = Facets(owner="alice", privacy="private")
    asked = OpenReview(id="q", about="duplicate", question="Is the kite hers?", memories=("f",),
                       options={"no": ()})  # fmt: skip
    store.changes.apply(
        ChangeSet(
            namespace=HOME, run_id="r", kind="reflection", reason="she said: a kite for Bob",
            changes=(
                AddMemory(key="f", value={"text": "Bob gets a kite"}, facets=private),
                AddMemory(key="beside", value={"text": "the shop opens at nine"}),
                asked,
            ),
        )
    )  # fmt: skip
    value = {"text": "Bob had a birthday", "privacy": "shared"}
    if by_put:
        store.for_viewer("alice").put(HOME, "f", value)
    else:
        shared = UpdateMemory(key="f", value=value, facets=Facets(privacy="shared"))
        changes = ChangeSet(
            namespace=HOME, run_id="p", kind="correction", reason="told", changes=(shared,)
        )
        store.changes.apply(changes)
    bob, alice = store.for_viewer("bob"), store.for_viewer("alice")
    assert bob.get(HOME, "f").value["text"] == "Bob had a birthday"  # type: ignore[union-attr]
    for viewer in (bob, store.for_anyone()):
        told = [
            viewer.changes.history(HOME, "beside"),
            viewer.changes.history(HOME, "f"),
            viewer.changes.reviews(HOME),
        ]
        assert "kite" not in repr([*told, list(viewer.admin.export())])
        assert viewer.changes.history(HOME, "beside")[0].reason is None
    assert "kite" in repr(alice.changes.history(HOME, "beside"))
    assert [review.id for review in alice.changes.reviews(HOME)] == ["q"]


def test_no_number_tells_how_much_others_keep_private(tmp_path: Path) -> None:
    """A viewer meets the same positions, ids and places in the history whether or not somebody else
    wrote privately in between."""
    told = []
    for name, others in (("alone", 0), ("between", 3)):
        with MemoryStore(tmp_path / f"{name}.db") as store:
            for number in range(2):
                for other in range(others):
                    said = [("user", f"secret {number} {other}")]
                    store.remember(HOME, said, thread_id="t", owner="alice", privacy="private")
                key = store.remember(
                    HOME, [{"role": "user", "content": f"tea {number}", "id": f"m{number}"}],
                    thread_id="t", owner="bob",
                )[0]  # fmt: skip
                store.put(HOME, key, {**store.get(HOME, key).value, "content": "black tea"})  # type: ignore[union-attr]
            bob = store.for_viewer("bob")
            recalled = [one.memory for one in bob.recall("tea", HOME, limit=9).results]
            exported = [row for row in bob.admin.export() if row["type"] == "item"]
            told.append((
                {(one.id, one.position) for one in recalled},
                [entry.seq for entry in bob.changes.history(HOME, key)],
                [row["position"] for row in exported],
            ))  # fmt: skip
    assert told[0] == told[1] == ({(0, None)}, [1, 2], [0, 1])


def test_a_preview_of_forgetting_shows_nothing_of_others(store: MemoryStore) -> None:
    """Somebody's private note that was made of a viewer's words alone goes with them and is counted,
    but the preview does not show the viewer how it begins."""
    [turn] = store.for_viewer("bob").remember(HOME, [("user", "I am late")], thread_id="t")
    note = AddMemory(
        key="note", value={"text": "Bob is late again"}, evidence=(turn,),
        facets=Facets(owner="alice", privacy="private"),
    )  # fmt: skip
    store.changes.apply(
        ChangeSet(namespace=HOME, run_id="r", kind="reflection", reason="", changes=(note,))
    )
    preview = store.for_viewer("bob").forget(HOME, dry_run=True)
    assert (preview.memories, preview.samples) == (2, ("I am late",))


@pytest.mark.parametrize("by_put", [True, False])
def test_history_of_what_became_somebody_elses(store: MemoryStore, by_put: bool) -> None:
    """The text of a memory from the time it was private stays closed to others after it was
    published or given away, even if its value never named the owner."""

    def change(run: str, *changes: Change) -> None:
        change_set = ChangeSet(
            namespace=HOME, run_id=run, kind="reflection", reason="", changes=changes
        )
        store.changes.apply(change_set)

    hers = Facets(owner="alice", privacy="private")
    change("r", *(AddMemory(key=key, value={"text": "secret"}, facets=hers) for key in "fg"))
    if by_put:
        store.for_viewer("alice").put(HOME, "f", {"text": "open", "privacy": "shared"})
        store.put(HOME, "f", {"text": "bob's", "owner": "bob"})
        store.put(HOME, "g", {"text": "bob's", "owner": "bob"})
    else:
        change("s", UpdateMemory(key="f", value={"text": "open"}, facets=Facets(privacy="shared")))
        change("t", UpdateMemory(key="f", facets=Facets(owner="bob")))
        change("u", UpdateMemory(key="g", value={"text": "bob's"}, facets=Facets(owner="bob")))
    bob = store.for_viewer("bob")
    for key in "fg":
        assert bob.get(HOME, key) is not None
        assert bob.changes.history(HOME, key) == []
    assert "secret" not in str(list(bob.admin.export()))
    assert store.for_viewer("carol").changes.history(HOME, "f") == []


def call(store: Any, user: str, name: str, **arguments: Any) -> str:
    """A model's call of a tool in a run of this user."""
    graph = (
        StateGraph(MessagesState)
        .add_node("tools", ToolNode(create_memory_tools(HOME, tools=TOOLS)))
        .add_edge(START, "tools")
        .compile(store=store)
    )
    wanted = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
    messages = [AIMessage("", tool_calls=[wanted])]
    state = graph.invoke({"messages": messages}, {"configurable": {"user_id": user}})
    return str(state["messages"][-1].content)


def test_tools_act_for_the_person_of_the_run(store: MemoryStore) -> None:
    """Every tool reads and writes as the run's person: what is written is theirs, others' private
    memories, turns and core blocks are neither shown nor touched, whatever arguments a model sends."""
    said = [{"role": "user", "content": text, "id": str(n)} for n, text in enumerate("ab")]
    store.remember(HOME, said[:1], thread_id="t", owner="alice", privacy="private")
    store.remember(HOME, said[1:], thread_id="t", owner="bob")
    block = {"kind": "core", "content": "secret", "owner": "alice", "privacy": "private"}
    store.put((*HOME, "core"), "human", block, index=False)
    assert "hides" not in call(store, "bob", "search_memory", query="key")
    assert "hides" in call(store, "alice", "search_memory", query="key")
    assert "hides" not in call(
        store,
        "bob",
        "search_memory",
        query="key",
        viewer="alice",
        owner="alice",
        namespace=["home"],
    )
    assert "no memory" in call(store, "bob", "get_memory", id="hers")
    assert call(store, "bob", "memory_timeline", id="t/1").count("bob,") == 1
    assert "not free" in call(store, "bob", "core_memory_append", block="human", content="x")
    assert "secret" in call(store, "alice", "core_memory_append", block="human", content="x")
    assert "created" in call(store, "bob", "manage_memory", content="bobs plan")
    [plan] = [item for item in store.search(HOME) if item.value.get("content") == "bobs plan"]
    assert store.forget(HOME, owner="bob", dry_run=True).samples[-1] == "bobs plan"
    mine = {"content": "private", "privacy": "private", "owner": "alice"}
    store.put(HOME, plan.key, mine)
    refused = call(store, "bob", "manage_memory", action="update", id=plan.key, content="mine")
    assert "not free" in refused
    call(store, "bob", "manage_memory", action="delete", id=plan.key)
    assert store.get(HOME, plan.key) is not None


def test_no_tool_lets_a_model_choose_whose() -> None:
    """No argument of any tool names a viewer, an owner, a namespace, a user or a store."""
    for tool in create_memory_tools(HOME, tools=TOOLS):
        schema = convert_to_openai_tool(tool)["function"]["parameters"]
        names = {name.lower() for name in schema["properties"]}
        assert not names & {
            "viewer",
            "owner",
            "namespace",
            "user",
            "user_id",
            "store",
            "config",
            "privacy",
        }


def test_what_a_viewer_reads_of_the_past(store: MemoryStore) -> None:
    """The past of a private memory is its owner's, also where its value does not say whose it is. Why a run
    did something is told to whoever may read all that it changed and derived it from, while that is there."""

    def run(name: str, *changes: Change) -> None:
        store.changes.apply(
            ChangeSet(run_id=name, namespace=HOME, kind="correction", reason=name, changes=changes)
        )

    def told(viewer: str, key: str) -> list[tuple[str, str | None]]:
        entries = store.for_viewer(viewer).changes.history(HOME, key)
        return [(one.action, one.reason) for one in entries]

    mine = Facets(privacy="private", owner="bob")
    run(
        "in secret",
        AddMemory(key="his", value={"text": "I am ill", "privacy": "private"}, facets=mine),
    )
    store.put(HOME, "his", {"text": "I am well", "privacy": "private"})
    assert told("bob", "his") == [("add", "in secret"), ("update", None)]
    assert told("alice", "his") == []
    run("derived", AddMemory(key="d", value={"text": "He stays at home"}, evidence=("his",)))
    assert told("alice", "d") == [("add", None)]
    assert told("bob", "d") == [("add", "derived")]
    run("to all", AddMemory(key="a", value={"text": "a"}), AddMemory(key="b", value={"text": "b"}))
    assert told("alice", "a") == [("add", "to all")]
    run("to some", UpdateMemory(key="a", facets=Facets(confidence=0.5)),
        AddMemory(key="new", value={"text": "I stay ill"}, facets=mine))  # fmt: skip
    assert told("alice", "a") == [("add", "to all"), ("update", None)]
    assert told("bob", "a") == [("add", "to all"), ("update", "to some")]
    store.delete(HOME, "b")
    assert told("alice", "a") == [("add", None), ("update", None)]
    assert told("alice", "hers") == [("add", None)]
    store.forget(HOME, owner="alice")
    assert told("alice", "hers") == []
    assert told("bob", "a") == [("add", None), ("update", "to some")]
