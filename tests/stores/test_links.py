"""Links between memories, documents, tasks and agents, and what a task depends on by them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from langmemory.changes import ChangeSet, Supersede
from langmemory.errors import (
    ConfigError,
    EntityNameError,
    InvalidValueError,
    OwnershipError,
)
from langmemory.stores import MemoryStore

TEAM = ("team", "shop")


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    """A store with a task and what there is to know for it."""
    opened = MemoryStore(tmp_path / "memory.db", index=False)
    opened.put(
        TEAM, "ship", {"record": "task", "title": "Ship checkout", "text": "Ship checkout: open"}
    )
    for key, text in (
        ("prices", "Prices are in euros"), ("vat", "VAT is 21 percent"), ("dollars", "Prices are in dollars"),
        ("pay", "POST /pay takes cents"), ("august", "No releases in August"), ("über", "Straße und 价格"),
    ):  # fmt: skip
        opened.put(TEAM, key, {"text": text})
    return opened


def texts(store: MemoryStore, task: str = "ship", **options: int) -> list[str]:
    """What a task depends on."""
    return [one.name for one in store.graph(TEAM).context_for(task, **options).entries]


def test_a_context_follows_links_in_an_order_that_explains_itself(store: MemoryStore) -> None:
    """The task, what it requires with who provides it and in turn, what affects any of it, what it relates
    to; what gave way is told, and its successor stands in its place."""
    graph = store.graph(TEAM)
    graph.link("ship", "relates_to", "über")
    graph.link("august", "affects", "prices")
    graph.link("Ship checkout", "requires", "dollars")  # by its title
    graph.link("prices", "supersedes", "dollars")
    graph.link("prices", "requires", "vat")
    graph.link("ship", "requires", "artifact:payment API")
    graph.link("pay", "provides", "artifact:payment API")
    graph.link("pay", "requires", "prices")  # reached twice, stands once
    found = graph.context_for("ship")
    assert [(one.name, one.why, one.through, one.depth) for one in found.entries] == [
        ("Ship checkout", "task", None, 0),
        ("Prices are in euros", "requires", "Ship checkout", 1),
        ("payment API", "requires", "Ship checkout", 1),
        ("POST /pay takes cents", "provides", "payment API", 2),
        ("VAT is 21 percent", "requires", "Prices are in euros", 2),
        ("No releases in August", "affects", "Prices are in euros", 2),
        ("Straße und 价格", "relates_to", "Ship checkout", 1),
    ]
    assert found.entries[1].instead_of == ("Prices are in dollars",)
    assert [(one.name, one.why, one.by) for one in found.left_out] == [
        ("Prices are in dollars", "superseded", "Prices are in euros")
    ]
    assert (found.cycles, found.complete) == ((), True)
    assert asyncio.run(graph.acontext_for("ship")) == found


def test_a_small_budget_cuts_what_is_farthest_and_says_so(store: MemoryStore) -> None:
    """The task itself stands there whatever the budget; the others as long as there is room."""
    graph = store.graph(TEAM)
    graph.link("ship", "requires", "prices")
    graph.link("prices", "requires", "vat")
    store.put(TEAM, "vat", {"text": "long " * 2_000})
    found = graph.context_for("ship", budget_tokens=300)
    assert [one.complete for one in found.entries] == [True, True, False]
    assert found.tokens < 400
    least = graph.context_for("ship", budget_tokens=1)
    assert [one.name for one in least.entries] == ["Ship checkout"]
    assert {one.why for one in least.left_out} == {"budget"}
    with pytest.raises(ConfigError, match="budget_tokens is 0"):
        graph.context_for("ship", budget_tokens=0)


def test_a_circle_is_told_and_followed_once(store: MemoryStore) -> None:
    """Things that require each other each stand there once, and the circle is named."""
    graph = store.graph(TEAM)
    for one, other in (("ship", "prices"), ("prices", "vat"), ("vat", "ship")):
        graph.link(one, "requires", other)
    found = graph.context_for("ship")
    assert len(found.entries) == 3
    assert found.cycles == (
        ("Ship checkout", "Prices are in euros", "VAT is 21 percent", "Ship checkout"),
    )
    assert "circle: Ship checkout requires" in found.text


def test_a_chain_of_thousands_ends_and_says_so(store: MemoryStore) -> None:
    """A context looks at a bounded number of things, and says that there are more."""
    from langmemory.context import dependencies

    linked = _Chain()
    found = dependencies.task_context(linked, "item:0")
    assert not found.complete
    assert len(found.entries) + len(found.left_out) == dependencies.MOST
    assert "There is more than" in found.text


class _Chain:
    """Each requires the next."""

    def edges(self, anchor: str) -> tuple[object, ...]:
        from langmemory.types import Edge

        number = int(anchor[5:])
        edge = Edge(
            subject=anchor, relation="requires", object=f"item:{number + 1}", literal=None, fact="f",
            namespace=TEAM, valid_at=None, invalid_at=None, created_at=datetime.now(UTC),
            expired_at=None, status="active",
        )  # fmt: skip
        return (edge,)

    def thing(self, anchor: str) -> object:
        from langmemory.context.dependencies import Thing

        return Thing(key=anchor, name=anchor, kind="memory", text="x")


def test_links_are_edges_with_times_and_are_undone_as_runs(store: MemoryStore) -> None:
    """A link has the times of edges: ended it stands in the past, and undoing brings it back."""
    graph = store.graph(TEAM)
    march = datetime(2026, 3, 1, tzinfo=UTC)
    made = graph.link("agent:writer", "works_on", "ship", valid_at=march, reason="assigned")
    assert graph.link("agent:writer", "works_on", "ship") == made  # nothing twice
    assert made.valid_at == march
    ended = graph.unlink("agent:writer", "works_on", "ship", at=march + timedelta(days=2))
    assert (ended.fact, ended.invalid_at) == (made.fact, march + timedelta(days=2))
    assert graph.edges("agent:writer") == ()
    assert len(graph.edges("agent:writer", past=True)) == 1
    then = store.graph(TEAM, as_of=march + timedelta(days=1))
    assert [edge.relation for edge in then.edges("agent:writer")] == ["works_on"]
    with pytest.raises(ConfigError, match="another time"):
        then.link("ship", "requires", "vat")
    with pytest.raises(InvalidValueError, match="no link"):
        graph.unlink("agent:writer", "works_on", "ship")
    unlinked, linked, *_ = store.changes.runs(TEAM)
    store.changes.undo(unlinked.id)
    assert len(graph.edges("agent:writer")) == 1
    graph.link("agent:writer", "works_on", "vat")
    store.changes.undo(linked.id)  # though another link ends at the same agent
    assert [edge.object for edge in graph.edges("agent:writer")] == ["item:vat"]
    assert store.admin.check() == []


def test_wrong_ends_and_relations_name_the_next_step(store: MemoryStore) -> None:
    """What is not there, not clear, or no link is refused with what to do instead."""
    graph = store.graph(TEAM)
    for source, relation, target, error, message in (
        ("ship", "requires", "nothing", EntityNameError, "Pass the key of a memory"),
        ("ship", "needs", "vat", InvalidValueError, "pass one of these: requires"),
        ("ship", "requires", "ship", InvalidValueError, "with itself"),
        ("ship", "requires", "", InvalidValueError, "pass a key or a name"),
        ("agent: x", "works_on", "ship", InvalidValueError, "without blanks"),
    ):
        with pytest.raises(error, match=message):
            graph.link(source, relation, target)  # type: ignore[arg-type]
    store.put(TEAM, "again", {"record": "task", "title": "Ship checkout", "text": "twin"})
    with pytest.raises(EntityNameError, match="2 are called"):
        graph.link("Ship checkout", "requires", "vat")
    assert graph.edges() == ()


def test_a_viewer_is_told_of_no_link_to_what_is_private_or_gone(store: MemoryStore) -> None:
    """Neither links nor contexts, entities, pictures or errors tell of an end that a viewer may not know
    of, also where it became private later; who may know of it sees it."""
    graph = store.graph(TEAM)
    graph.link("ship", "requires", "vat")
    graph.link("vat", "requires", "prices")
    joe, mia = store.for_viewer("joe"), store.for_viewer("mia")
    assert texts(joe) == ["Ship checkout", "VAT is 21 percent", "Prices are in euros"]  # type: ignore[arg-type]
    store.put(TEAM, "vat", {"text": "VAT is 21 percent", "privacy": "private", "owner": "mia"})
    assert texts(joe) == ["Ship checkout"]  # type: ignore[arg-type]
    assert joe.graph(TEAM).edges(past=True) == joe.graph(TEAM).entities(past=True) == ()
    assert joe.graph(TEAM).subgraph().entities == ()
    assert len(mia.graph(TEAM).edges()) == 2
    assert "VAT" not in joe.graph(TEAM).context_for("ship").text
    with pytest.raises(EntityNameError):
        joe.graph(TEAM).link("ship", "affects", "vat")
    secret = mia.graph(TEAM).link("vat", "affects", "ship")
    assert store.admin.memory(TEAM, secret.fact).privacy == "private"  # type: ignore[union-attr]
    store.put(TEAM, "raise", {"text": "A raise", "privacy": "private", "owner": "joe"})
    with pytest.raises(InvalidValueError, match="private to several"):
        graph.link("raise", "affects", "vat")
    own = joe.graph(TEAM).link("august", "affects", "ship")
    with pytest.raises(OwnershipError):
        mia.graph(TEAM).unlink("august", "affects", "ship")
    store.delete(TEAM, "august")
    assert own.fact not in {edge.fact for edge in graph.edges(past=True)}
    assert texts(store) == ["Ship checkout", "VAT is 21 percent", "Prices are in euros"]


def test_what_gave_way_in_memory_gives_way_in_a_context(store: MemoryStore) -> None:
    """A memory that was superseded, or archived, is left out as one that a link says is superseded."""
    graph = store.graph(TEAM)
    graph.link("ship", "requires", "dollars")
    graph.link("ship", "requires", "august")
    store.changes.apply(
        ChangeSet(
            namespace=TEAM, run_id="r", kind="correction", reason="euros",
            changes=(Supersede(key="dollars", by="prices", invalid_at=datetime.now(UTC)),),
        )
    )  # fmt: skip
    store.changes.archive(TEAM, "august", reason="over")
    found = graph.context_for("ship")
    assert [one.name for one in found.entries] == ["Ship checkout", "Prices are in euros"]
    assert {(one.name, one.why) for one in found.left_out} == {
        ("Prices are in dollars", "superseded"),
        ("No releases in August", "archived"),
    }


def test_of_a_plan_that_was_rewritten_twice_under_its_title_the_last_one_counts(
    store: MemoryStore,
) -> None:
    """What took the place of something is told by its key: versions are often called alike."""
    graph = store.graph(TEAM)
    for key in ("first", "second", "third"):
        store.put(TEAM, key, {"record": "task", "title": "Plan", "text": f"the {key} plan"})
    graph.link("ship", "requires", "first")
    graph.link("second", "supersedes", "first")
    graph.link("third", "supersedes", "second")
    assert [one.key for one in graph.context_for("ship").entries][1:] == ["item:third"]


def test_what_is_left_out_takes_no_more_room_than_what_is_there(store: MemoryStore) -> None:
    """Of many circles, and of many names that are left out, a few are told, and how many there are."""
    graph = store.graph(TEAM)
    several = [f"n{number}" for number in range(12)]
    for key in several:
        store.put(TEAM, key, {"text": f"part {key} of the plan"})
        store.put(TEAM, f"old-{key}", {"text": f"older {key} of the plan"})
        graph.link(key, "supersedes", f"old-{key}")
        graph.link("ship", "requires", f"old-{key}")
    for one in several[:6]:
        for other in several[:6]:
            if one != other:
                graph.link(one, "requires", other)
    found = graph.context_for("ship", budget_tokens=50)
    assert len(found.cycles) == 5
    assert "and 2 more" in found.text
    assert found.tokens < 600


def test_a_document_is_named_however_its_accents_are_written(
    store: MemoryStore, tmp_path: Path
) -> None:
    """Some systems write the path of a file with composed letters, others without."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gro\u0308\u00dfe.md").write_text("# Maße\n\nSieben Ellen.\n")
    store.documents.add(tmp_path / "docs", namespace=TEAM)
    store.graph(TEAM).link("ship", "requires", "gr\u00f6\u00dfe.md")
    assert "Sieben Ellen" in store.graph(TEAM).context_for("ship").text


def test_links_are_no_memories_to_recall_and_go_with_what_is_forgotten(store: MemoryStore) -> None:
    """No search finds a link, a transfer carries it, and forgetting one end leaves nothing of it."""
    graph = store.graph(TEAM)
    graph.link("ship", "requires", "vat", reason="because of the secret")
    graph.link("ship", "requires", "prices")
    assert {one.memory.key for one in store.recall("what requires what, link", TEAM)} <= {
        "ship", "prices", "vat", "dollars", "pay", "august", "über",
    }  # fmt: skip
    with MemoryStore(":memory:", index=False) as other:
        other.admin.import_rows(store.admin.export())
        assert len(other.graph(TEAM).edges()) == 2
        assert texts(other) == texts(store)
    store.forget(TEAM, keys=["vat"])
    assert [edge.object for edge in graph.edges(past=True)] == ["item:prices"]
    assert texts(store) == ["Ship checkout", "Prices are in euros"]
    assert store.admin.check() == []
