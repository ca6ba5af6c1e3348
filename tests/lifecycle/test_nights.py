"""Nights of maintenance over a real file: applied, resumed, taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import InvalidNamespaceError

from langmemory.changes import AddMemory, ChangeSet, Facets
from langmemory.context.citations import Usage
from langmemory.errors import ConfigError, DatabaseError, MaintenanceBusyError
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.maintenance import tasks
from langmemory.maintenance.night import CHANGES_AT_ONCE, Night
from langmemory.maintenance.report import TaskReport
from langmemory.operations.maintaining import Maintaining
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

ADA: Namespace = ("memories", "ada")
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def learn(store: MemoryStore, count: int, *, days: float = 200, **facets: Any) -> list[str]:
    """Facts learned from one turn, said so many days before `NOW`; their keys."""
    [turn] = store.remember(
        ADA,
        [{"role": "user", "content": "I say much.", "at": NOW - timedelta(days=days)}],
        thread_id=f"t{days}",
    )
    keys = [f"fact/{days:g}-{n}" for n in range(count)]
    store.changes.apply(
        ChangeSet(
            namespace=ADA, run_id=f"learn-{days}-{count}", kind="reflection", reason="test",
            changes=tuple(
                AddMemory(
                    key=key,
                    value={"text": f"Ada likes number {key}", "fact_kind": "preference"},
                    facets=Facets(kind="semantic", **facets),
                    evidence=(turn,),
                )
                for key in keys
            ),
        )
    )  # fmt: skip
    return keys


def cite(
    store: MemoryStore, key: str, times: int, *, right: int = 0, relevance: float = 0.9
) -> None:
    """Count citations of a memory, the last one at `NOW`."""
    store.admin.count_usage(
        [
            Usage(
                namespace=list(ADA), key=key, loaded=times, referenced=times, succeeded=right,
                read_tokens=9, discovery_tokens=9, matched=times, relevance=relevance * times,
                cited_at_us=int(NOW.timestamp() * 1_000_000),
            )
        ]
    )  # fmt: skip
    store.admin.usage(ADA)  # waits until the counts are in the file


def night(store: MemoryStore, **given: Any) -> dict[str, Any]:
    """Return the outcome of a night at `NOW`."""
    options = {name: given.pop(name) for name in ("tasks",) if name in given}
    graph = build_maintenance_graph(store, now=lambda: NOW, **options)
    found: dict[str, Any] = graph.invoke(given)
    return found


def lines(found: dict[str, Any], task: str) -> list[str]:
    """Return the changes of a task."""
    [report] = [one for one in found["reports"] if one["task"] == task]
    return list(report["lines"])


def known(store: MemoryStore) -> list[dict[str, Any]]:
    """All that the file knows, without the record of what happened."""
    rows = store.admin.export(history=False)
    return [row for row in rows if row["type"] != "meta"]


def test_citations_keep_their_relevance_and_time(store: MemoryStore) -> None:
    """Citations keep their count, mean relevance and last time, and an export carries them."""
    [key] = learn(store, 1)
    cite(store, key, 3, relevance=0.6)
    cite(store, key, 1, relevance=1.0)
    with Maintaining(store).view(ADA) as view:
        found = view.aged()
    assert found.cited.tolist() == [4]
    assert found.relevance.tolist() == pytest.approx([0.7])
    assert found.used_at.tolist() == [int(NOW.timestamp() * 1_000_000)]
    with MemoryStore(":memory:") as other:
        other.admin.import_rows(list(store.admin.export()))
        with Maintaining(other).view(ADA) as view:
            assert view.aged().relevance.tolist() == pytest.approx([0.7])


def test_a_night_promotes_and_demotes_with_reasons(store: MemoryStore) -> None:
    """Cited memories rise and unused ones fall; the history names both and the figures."""
    old = learn(store, 3)
    [used] = learn(store, 1, days=2)
    cite(store, used, 12)
    found = night(store)
    assert lines(found, "promote")
    assert len(lines(found, "demote")) == 1, "a twentieth, one at least"
    item = store.changes.history(ADA, used)[-1]
    assert item.run_id is not None
    assert item.run_id.startswith("night/")
    assert "cited 12 times" in str(item.reason)
    assert any(
        "unused for 200 days" in str(store.changes.history(ADA, key)[-1].reason) for key in old
    )


def test_nobody_is_asked_about_fading_memories_where_use_is_not_measured(
    store: MemoryStore,
) -> None:
    """Without a citation "unused" says nothing: a person is asked once use is counted, and health says so."""
    learn(store, 1, days=900, importance=0.9)
    assert lines(night(store, tasks=["reviews"]), "reviews") == []
    told = [one.what + one.advice for one in store.admin.health(now=NOW).findings()]
    assert any("nobody is asked about fading memories" in one for one in told)
    cite(store, learn(store, 1, days=2)[0], 1)
    [line] = lines(night(store, tasks=["reviews"]), "reviews")
    assert line.startswith("review decay/")
    told = [one.what + one.advice for one in store.admin.health(now=NOW).findings()]
    assert not any("fading memories" in one for one in told)


def test_who_does_not_cite_is_asked_about_what_was_not_shown(store: MemoryStore) -> None:
    """Without citations what a recall returned counts as in use, and a person is asked about the rest."""
    [faded] = learn(store, 1, days=900, importance=0.9)
    store.put(ADA, "tea", {"text": "Ada drinks green tea", "importance": 0.9})
    assert store.recall("What does Ada drink?", ADA, limit=1).results[0].memory.key == "tea"
    store.admin.health()  # writes what was returned
    night(store, tasks=["reviews"])
    assert [one.memories for one in store.changes.reviews()] == [(faded,)]


def test_what_an_agent_saved_ages(store: MemoryStore) -> None:
    """What has no evidence is put away, evicted and asked about by the same rules; nobody touches what
    somebody confirmed."""
    for number in range(30):
        text = f"The build of service {number % 3} fails without the flag"
        store.put(ADA, f"saved{number}", {"text": text, "importance": 0.9})
    store.put(
        ADA, "kept", {"text": "Never deploy on a Friday", "verified": True, "importance": 0.9}
    )
    later = datetime.now(UTC) + timedelta(days=700)
    store.put(ADA, "used", {"text": "The staging server is slow"})
    used = Usage(
        namespace=[*ADA], key="used", loaded=1, referenced=1, succeeded=1, read_tokens=9, discovery_tokens=9,
        cited_at_us=int(later.timestamp() * 1_000_000),
    )  # fmt: skip
    store.admin.count_usage([used])
    policies = PolicyOptions(max_facts=5)
    graph = build_maintenance_graph(
        store, now=lambda: later, tasks=["demote", "evict", "reviews"], policies=policies
    )
    outcome = graph.invoke({})
    for task in ("demote", "evict", "reviews"):
        changed = lines(outcome, task)
        assert changed, task
        assert not any("kept" in one for one in changed)


def test_what_was_taken_back_is_not_done_again(store: MemoryStore) -> None:
    """A person who takes a night back does not find it done anew in the morning."""
    learn(store, 1)
    [used] = learn(store, 1, days=2)
    cite(store, used, 12)
    store.lifecycle.undo(night(store)["night"])
    again = night(store)
    assert lines(again, "promote") == lines(again, "demote") == []
    assert any("taken back" in one for report in again["reports"] for one in report["refused"])


def test_a_dry_run_changes_nothing(store: MemoryStore) -> None:
    """A dry run tells the changes, and leaves no run and no lease."""
    learn(store, 2)
    [used] = learn(store, 1, days=2)
    cite(store, used, 12)
    store.admin.usage()
    before = known(store)
    assert lines(night(store, dry_run=True), "promote")
    assert known(store) == before
    assert store.lifecycle.nights() == []


def test_many_changes_are_several_runs(store: MemoryStore) -> None:
    """A task applies at most so many changes in one transaction, and undo takes all of them back."""
    keys = learn(store, CHANGES_AT_ONCE + 10, status="approved")
    found = night(store, tasks=["graduate"])
    assert len(store.lifecycle.nights()[0].runs) == 2
    assert store.get(ADA, keys[-1]) is not None
    assert len(store.lifecycle.undo(found["night"]).applied) == 2


def test_a_failed_task_keeps_the_others_and_stops_graduation(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If one task fails the others run, the report says why, and nothing graduates that night."""
    learn(store, 1, status="approved")

    def broken(night: Night, report: TaskReport) -> None:
        raise DatabaseError("The disk is on fire.")

    monkeypatch.setitem(tasks.TASKS, "demote", broken)  # type: ignore[arg-type]
    found = night(store)
    by_task = {report["task"]: report for report in found["reports"]}
    assert by_task["demote"]["error"] == "DatabaseError: The disk is on fire."
    assert by_task["evict"]["error"] is None
    assert by_task["graduate"]["lines"] == []
    assert "demote failed" in by_task["graduate"]["refused"][0]


def test_one_process_maintains_a_file(store: MemoryStore) -> None:
    """Whoever holds the lease keeps others out, by name, until it is given back."""
    learn(store, 1)
    room = Maintaining(store)
    room.take_lease("elsewhere:1", 60)
    with pytest.raises(MaintenanceBusyError, match="elsewhere:1"):
        night(store)
    room.give_back_lease("elsewhere:1")
    assert night(store)["night"]


def test_an_unknown_task_is_named(store: MemoryStore) -> None:
    """A task that does not exist is refused with those that do."""
    with pytest.raises(ConfigError, match=r"no task 'tidy'. Known: .*promote"):
        build_maintenance_graph(store, tasks=["tidy"])


def test_health_tells_figures_and_next_steps(store: MemoryStore) -> None:
    """Health counts what is there, and each finding names a next step."""
    learn(store, 3)
    found = store.admin.health(now=NOW)
    assert (found.turns, found.facts, found.stale) == (1, 3, 3)
    assert sum(store.admin.health().growth) == 4
    assert all(finding.advice for finding in found.findings())
    with MemoryStore(":memory:") as empty:
        assert empty.admin.health().findings() == []


def test_what_is_not_embedded_on_purpose_lacks_no_vector(store: MemoryStore) -> None:
    """Summaries, items without an index and items without text are not told to lack a vector."""
    learn(store, 3)
    store.put(("notes",), "hidden", {"text": "not to be found"}, index=False)
    store.put(("notes",), "empty", {"text": ""})
    assert lines(night(store), "summarise")
    assert store.admin.health().without_vector == 0


def test_each_night_of_a_thread_is_a_night_of_its_own(store: MemoryStore) -> None:
    """A night that runs in the thread of an earlier one, as in Studio, has an id, reports and an input of its
    own: a failure of the last one keeps nothing from graduating, and a dry run does not stay one."""
    learn(store, 1, status="approved")
    graph = build_maintenance_graph(store, now=lambda: NOW, checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "nights"}}

    def broken(night: Night, report: TaskReport) -> None:
        raise DatabaseError("The disk is on fire.")

    first = graph.invoke({"namespace": ["memories"], "dry_run": True}, config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tasks.TASKS, "demote", broken)  # type: ignore[arg-type]
        second = graph.invoke({}, config)
    third = graph.invoke({}, config)
    assert len({found["night"] for found in (first, second, third)}) == 3
    assert [len(found["reports"]) for found in (first, second, third)] == [len(tasks.TASKS)] * 3
    assert lines(third, "graduate")


def test_studio_gets_a_form_for_the_input_of_a_night(store: MemoryStore) -> None:
    """The graph tells what a night may be given, and what it returns."""
    graph = build_maintenance_graph(store)
    assert set(graph.get_input_jsonschema()["properties"]) == {"namespace", "dry_run"}
    assert set(graph.get_output_jsonschema()["properties"]) == {"night", "reports"}


def test_a_night_refuses_a_namespace_that_is_a_string(store: MemoryStore) -> None:
    """A string as namespace is an error that names it, not a night over nothing."""
    with pytest.raises(InvalidNamespaceError, match="'memories' is a string"):
        night(store, namespace="memories")


def test_a_night_keeps_the_file_in_order(store: MemoryStore) -> None:
    """A night checks the file, tells its figures, and merges what single writes left behind."""
    learn(store, 5)
    by_task = {report["task"]: report for report in night(store)["reports"]}
    assert by_task["health"]["figures"]["facts"] == 5
    assert by_task["optimise"]["figures"].get("written_anew", 0) == 0
    assert store.admin.check() == []


def test_a_damaged_file_stops_graduation(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file is inconsistent the night says so, and nothing graduates."""
    learn(store, 1, status="approved")
    monkeypatch.setattr("langmemory.operations.admin.Admin.check", lambda _: ["a row is lost"])
    by_task = {report["task"]: report for report in night(store)["reports"]}
    assert "a row is lost" in by_task["health"]["error"]
    assert by_task["graduate"]["lines"] == []


def test_the_numbers_of_the_rules_are_data(store: MemoryStore) -> None:
    """A program sets any number of the rules without a key of the configuration."""
    [used] = learn(store, 1, days=2)
    cite(store, used, 3)
    easy = PolicyOptions(guardrail_cited=3)
    graph = build_maintenance_graph(store, now=lambda: NOW, policies=easy)
    assert lines(graph.invoke({}), "promote")


def test_no_more_questions_wait_than_max_reviews(store: MemoryStore) -> None:
    """Night after night without an answer leaves the questions of the first; an answer makes room for one."""
    learn(store, 9, days=400, importance=0.9)
    [used] = learn(store, 1, days=2)
    cite(store, used, 1)
    night(store, tasks=["reviews"])
    first = {one.id for one in store.changes.reviews(ADA)}
    assert len(first) == PolicyOptions().max_reviews
    assert lines(night(store, tasks=["reviews"]), "reviews") == []
    store.changes.decide(min(first), "pin")
    assert len(lines(night(store, tasks=["reviews"]), "reviews")) == 1
