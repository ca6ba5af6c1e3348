"""The reflection graph: what is new is read once, written whole or not at all, and asked for once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langmemory import MemoryStore
from langmemory.changes import AddEntity, ChangeSet
from langmemory.errors import ConfigError, ModelUnavailableError, StalePlanError
from langmemory.formation import settling
from langmemory.formation.batch import Batch
from langmemory.formation.contradiction.grouping import MOST_UNDECIDED
from langmemory.formation.contradiction.pairs import Group
from langmemory.formation.extraction.extractor import MAX_NAMES
from langmemory.formation.judging import StructuralJudge, Verdicts
from langmemory.formation.rules import RuleExtractor
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.ledger import evidence
from langmemory.ports.facts import CoreSuggestion, Extraction, Fact
from langmemory.reflection.steps import MAX_PLANS
from tests.believing import believing_graph
from tests.scripted import ScriptedModel
from tests.stores.embedders import WordEmbeddings

LENA = ("memories", "lena")
JOB = {"namespace": list(LENA), "thread_id": "t1"}


def said(
    store: MemoryStore, *texts: str, thread: str = "t1", at: str = "2026-03-02", **facets: Any
) -> list[str]:
    """Lena says something, a minute apart."""
    messages = [
        {"role": "user", "name": "Lena", "content": text, "at": f"{at}T10:{minute:02}:00+01:00"}
        for minute, text in enumerate(texts)
    ]
    return store.remember(LENA, messages, thread_id=thread, **facets)


def answer(*facts: dict[str, Any], **more: Any) -> str:
    return json.dumps({"facts": list(facts), "summary": {"text": ""}, "core": [], **more})


def fact(text: str, *claim: str, evidence: str = "t1", **more: Any) -> dict[str, Any]:
    subject, relation, object = claim
    claims = [
        {"subject": subject, "relation": relation, "object": object, "object_is_entity": True}
    ]
    return {"text": text, "evidence": [evidence], "kind": "fact", "claims": claims, **more}


HAMBURG = fact("Lena lives in Hamburg.", "Lena", "lives_in", "Hamburg")
VALENCIA = fact("Lena lives in Valencia now.", "Lena", "lives_in", "Valencia")


def facts(store: MemoryStore) -> dict[str, str]:
    """Text → status, of everything that was derived."""
    rows = [row for row in rows_of(store) if str(row.get("key", "")).startswith("fact/")]
    return {row["value"]["text"]: row.get("status", "active") for row in rows if "value" in row}


def rows_of(store: MemoryStore) -> list[dict[str, Any]]:
    """An export, without its heading."""
    return list(store.admin.export())[1:]


def test_rules_reflect_without_a_model(store: MemoryStore) -> None:
    """Without any model the graph finds facts, supersedes what changed, and leaves nothing unread."""
    said(store, "I live in Hamburg.", "My sister Katrin lives in Bremen.")
    said(store, "I moved to Valencia.", thread="t2", at="2026-07-01")
    done = build_reflection_graph(store).invoke({"namespace": list(LENA)})
    assert facts(store)["Lena lives in Hamburg."] == "superseded"
    assert facts(store)["Katrin lives in Bremen."] == "active"
    assert len(done["runs"]) == 2
    assert len(done["superseded"]) == 1
    assert done["model_calls"] == 0
    assert store.admin.unread_threads() == []


@pytest.mark.parametrize("batches", [1, 2, 3])
def test_who_returns_is_back(store: MemoryStore, batches: int) -> None:
    """A value that holds again after another one is what holds now, however many turns a batch has:
    the later statement is no repetition of the earlier."""
    said(store, "I live in Hamburg.", at="2026-01-02")
    graph = build_reflection_graph(store)
    if batches > 2:
        graph.invoke(JOB)
    said(store, "I live in Hamburg.", "I moved to Valencia.", at="2026-03-02", thread="t2")
    if batches > 1:
        graph.invoke({"namespace": list(LENA)})
    said(store, "I moved back to Hamburg.", at="2026-06-02", thread="t3")
    graph.invoke({"namespace": list(LENA)})
    held = [
        (row["value"]["text"], row["status"])
        for row in rows_of(store)
        if str(row.get("key")).startswith("fact/") and "value" in row
    ]
    assert held[-1] == ("Lena lives in Hamburg.", "active")
    assert [status for _, status in held].count("active") == 1


WORDS = "Lena lives in Hamburg."
PLAIN = [
    {"content": WORDS},  # as `create_manage_memory_tool` writes it
    {"text": WORDS},
    {"kind": "Memory", "content": {"content": WORDS}},
]


def noted(store: MemoryStore, value: dict[str, Any], at: str) -> None:
    """An application wrote it on that day."""
    store.put(LENA, "note", value)
    rows = list(store.admin.export())
    written = {"created_at": f"{at}T10:00:00+00:00", "updated_at": f"{at}T10:00:00+00:00"}
    store.admin.delete_namespace(LENA)
    store.admin.import_rows([row | written if row.get("key") == "note" else row for row in rows])


def homes(store: MemoryStore) -> set[str]:
    found = store.recall("Where does Lena live?", LENA, kinds=["semantic"])
    return {one.text for one in found.results}


@pytest.mark.parametrize("value", PLAIN)
def test_what_an_application_wrote_swallows_no_fact(
    store: MemoryStore, value: dict[str, Any]
) -> None:
    """A plain memory with the words of a fact claims nothing: the fact is learned beside it, gives way
    and returns; the plain one ends with it, and an undo brings back both."""
    noted(store, value, "2026-01-01")
    graph = build_reflection_graph(store)
    for at, text, now in (
        ("2026-01-02", "I live in Hamburg.", WORDS),
        ("2026-03-02", "I moved to Valencia.", "Lena lives in Valencia."),
        ("2026-05-02", "I moved back to Hamburg.", WORDS),
    ):
        said(store, text, thread=at, at=at)
        graph.invoke({"namespace": list(LENA)})
        assert homes(store) == {now}
    assert [edge.relation for edge in store.graph(LENA).edges("Lena")] == ["lives_in"]
    for run in store.changes.runs(LENA)[:2]:
        store.changes.undo(run.id)
    assert [item.key for item in store.search(LENA, filter={}) if item.key == "note"] == ["note"]
    assert homes(store) == {WORDS}


@pytest.mark.parametrize("kept", ["pinned", "newer"])
def test_what_a_person_confirmed_or_wrote_later_stays(store: MemoryStore, kept: str) -> None:
    """Only what was written before the news, and is not pinned, ends with the fact that gives way."""
    value: dict[str, Any] = {"text": WORDS, **({"pinned": True} if kept == "pinned" else {})}
    noted(store, value, "2026-01-01" if kept == "pinned" else "2026-04-01")
    graph = build_reflection_graph(store)
    for at, text in (("2026-01-02", "I live in Hamburg."), ("2026-03-02", "I moved to Valencia.")):
        said(store, text, thread=at, at=at)
        graph.invoke({"namespace": list(LENA)})
    assert homes(store) == {WORDS, "Lena lives in Valencia."}


@pytest.mark.parametrize("option", ["new", "old", "both"])
def test_what_a_person_decides_ends_what_an_application_wrote(
    store: MemoryStore, option: str
) -> None:
    """The application's memory in the words of the fact that a person decides against is over with
    it, and an undo brings back both."""
    kiel, bonn = "Lena was born in Kiel.", "Lena was born in Bonn."
    graph = build_reflection_graph(store)
    for at, text in (("2026-01-02", "I was born in Kiel."), ("2026-03-02", "I was born in Bonn.")):
        said(store, text, thread=at, at=at)
        graph.invoke({"namespace": list(LENA)})
    noted(store, {"text": bonn if option == "old" else kiel}, "2026-01-01")
    [review] = store.changes.reviews(LENA)

    def born() -> list[str]:
        found = store.recall("Where was Lena born?", LENA, kinds=["semantic"])
        return sorted(one.text for one in found.results)

    before = born()
    decision = store.changes.decide(review.id, option)
    assert set(born()) == {"new": {bonn}, "old": {kiel}, "both": {kiel, bonn}}[option]
    store.changes.undo(decision.run_id)
    assert born() == before


def test_a_person_decides_without_an_embedder() -> None:
    """A decision does not wait for an embedder that cannot be asked."""
    embedder = WordEmbeddings()
    with MemoryStore(":memory:", index={"embed": embedder, "dims": embedder.dims}) as store:
        graph = build_reflection_graph(store)
        for text in ("I was born in Kiel.", "I was born in Bonn."):
            said(store, text, thread=text)
            graph.invoke({"namespace": list(LENA)})
        [review] = store.changes.reviews(LENA)
        embedder.fail_after = 0
        store.changes.decide(review.id, "new")
        assert set(facts(store).values()) == {"active", "superseded"}


def test_what_gave_way_is_not_approved_back(store: MemoryStore) -> None:
    """Who says yes to a fact that was superseded since the question was asked does not make it hold
    beside what took its place; until then it was so."""
    graph = build_reflection_graph(store)
    for at, who, text in (
        ("2026-01-02", "Tom", "I live in Oslo."),
        ("2026-02-02", "Lena", "My friend Tom lives in Kiel."),
        ("2026-06-02", "Tom", "I moved to Rome."),
    ):
        message = {"role": "user", "name": who, "content": text, "at": f"{at}T10:00:00+01:00"}
        store.remember(LENA, [message], thread_id=at)
        graph.invoke({"namespace": list(LENA)})
    [review] = store.changes.reviews(LENA)
    done = store.changes.decide(review.id, "approve")
    assert "gave way" in done.lines[0]
    homes = {text: status for text, status in facts(store).items() if "lives in" in text}
    assert homes == {
        "Tom lives in Oslo.": "superseded",
        "Tom lives in Kiel.": "superseded",
        "Tom lives in Rome.": "active",
    }
    assert store.changes.reviews(LENA) == []


def test_until_when_is_learned_of_what_is_known(store: MemoryStore) -> None:
    """A fact without an end gets one when it is told, and ends then and not before."""
    graph = build_reflection_graph(store)
    said(store, "I work at Initech.", at="2098-01-02")
    graph.invoke(JOB)
    said(store, "I work at Initech until March.", at="2098-02-02", thread="t2")
    graph.invoke({"namespace": list(LENA)})
    rows = [row for row in rows_of(store) if "Initech" in str(row.get("value", {}).get("text"))]
    ends = {row["invalid_at"] for row in rows if str(row["key"]).startswith("fact/")}
    assert ends == {"2098-03-31T23:00:00+00:00"}


def test_a_namespace_may_be_a_single_label(store: MemoryStore) -> None:
    """A namespace given as a string is one label, not one a letter."""
    message = {"role": "user", "name": "Lena", "content": "I live in Rome."}
    store.remember(("household",), [message], thread_id="t1")
    assert build_reflection_graph(store).invoke({"namespace": "household"})["added"]


def test_a_second_run_adds_nothing(store: MemoryStore) -> None:
    """Reflected turns are not read again, and the model is not called."""
    said(store, "I live in Hamburg.")
    model = ScriptedModel(script=[answer(HAMBURG)], otherwise=RuntimeError("asked again"))
    graph = build_reflection_graph(store, model=model)
    graph.invoke(JOB)
    before = rows_of(store)
    assert graph.invoke(JOB)["runs"] == []
    assert rows_of(store) == before


@pytest.mark.parametrize("when", ["while it is read", "while it is compared"])
@pytest.mark.parametrize("how", ["forget", "delete"])
def test_what_goes_meanwhile_does_not_come_back(store: MemoryStore, when: str, how: str) -> None:
    """A turn that somebody forgets or deletes while it is reflected leaves nothing: no fact, no
    entity, no question, and no summary that retells it. What the other turns say is learned."""
    said(store, "My boss is Uwe.", thread="t0", at="2026-01-01")
    uwe, ann = (fact(f"Lena's boss is {who}.", "Lena", "boss", who) for who in ("Uwe", "Ann"))
    graph = believing_graph(store, model=ScriptedModel(script=[answer(uwe)]))
    graph.invoke({**JOB, "thread_id": "t0"})
    key, _ = said(store, "Zqxhummel is ill.", "My boss is Ann.")

    def gone() -> None:
        if store.get(LENA, key) is None:
            return
        if how == "forget":
            store.forget(LENA, keys=[key])
        else:
            store.delete(LENA, key)

    class Meanwhile(StructuralJudge):
        def judge(self, group: Group) -> Verdicts:
            gone()
            return super().judge(group)

    made = answer(
        fact("Zqxhummel is ill.", "Zqxhummel", "has_illness", "cancer"),
        {**ann, "evidence": ["t2"]},
        summary={"text": "Zqxhummel is ill, and Ann is the boss."},
        core=[{"block": "human", "text": "Knows Zqxhummel", "evidence": ["t1"]}],
    )

    def read(_: Any) -> str:
        if when == "while it is read":
            gone()
        return made

    model = ScriptedModel(script=[read])
    graph = believing_graph(store, model=model, judge=Meanwhile(), journal=False)
    done = graph.invoke(JOB)
    assert store.get(LENA, key) is None
    assert "Lena's boss is Ann." in facts(store)
    told = [row for row in rows_of(store) if row["type"] != "history"]
    assert "Zqxhummel" not in json.dumps(told)
    assert len(done["runs"]) == 1
    assert all(review.about != "core" for review in store.changes.reviews(LENA))


def test_batches_follow_the_conversation(store: MemoryStore) -> None:
    """A long thread is read in order, in batches of so many tokens, each with what came before it."""
    said(store, *(f"This is sentence number {n} of a long talk." for n in range(12)))
    model = ScriptedModel(otherwise=answer())
    graph = build_reflection_graph(store, model=model, batch_tokens=60)
    assert len(graph.invoke(JOB)["runs"]) == len(model.prompts) > 2
    shown = [prompt[-1].text for prompt in model.prompts]
    new = [text.partition("# Conversation")[2] for text in shown]
    places = [[n for n in range(12) if f"number {n} of" in text] for text in new]
    assert [n for place in places for n in place] == list(range(12))
    assert f"number {places[0][-1]} of" in shown[1].partition("# Conversation")[0]


def test_a_batch_fits_into_the_window_of_the_model(store: MemoryStore) -> None:
    """A quarter of a small window is for the conversation; of unknown window, the usual batch is read."""
    said(store, *(f"This is sentence number {n} of a long talk." for n in range(12)))
    runs = []
    for profile in ({"max_input_tokens": 240}, None):
        model = ScriptedModel(otherwise=answer(), profile=profile)
        done = build_reflection_graph(store, model=model).invoke(JOB)
        runs.append(len(done["runs"]))
        for one in done["runs"]:
            store.changes.undo(one)
            store.changes.read_again(LENA, run_id=one)
    assert runs[0] > runs[1] == 1


async def test_async_and_a_checkpointer(store: MemoryStore) -> None:
    """Every state of an asynchronous run is JSON, and a checkpointer keeps it."""
    said(store, "I live in Hamburg.")
    said(store, "I live in Valencia now.", thread="t2", at="2026-07-01")
    model = ScriptedModel(script=[answer(HAMBURG), answer(VALENCIA)])
    saver = InMemorySaver()
    graph = build_reflection_graph(store, model=model, checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "reflections"}}
    done = await graph.ainvoke({"namespace": list(LENA)}, config)
    assert [*facts(store).values()].count("superseded") == 1
    assert done["model_calls"] == 2
    states = [state.values async for state in graph.aget_state_history(config)]
    assert len(states) > 15
    json.dumps([{**values, "messages": []} for values in states])


def test_a_broken_off_run_goes_on_from_its_checkpoint(store: MemoryStore) -> None:
    """A run that ended after extraction goes on where it was, without asking the model again."""
    said(store, "I live in Hamburg.")
    model = ScriptedModel(script=[answer(HAMBURG)], otherwise=RuntimeError("asked again"))
    graph = build_reflection_graph(store, model=model, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "r"}}
    graph.invoke(JOB, config, interrupt_after=["extract"])
    assert facts(store) == {}
    graph.invoke(None, config)
    assert facts(store) == {"Lena lives in Hamburg.": "active"}


@pytest.mark.parametrize("broken", ["extract", "judge", "apply"])
def test_a_failing_step_writes_nothing(
    store: MemoryStore, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If any step fails, nothing of its batch is written or counts as read; the caller is told."""
    said(store, "I live in Hamburg.")
    model = ScriptedModel(otherwise=answer(HAMBURG))

    class Broken:
        def fail(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("broken")

        extract = judge = fail

    parts: dict[str, Any] = {"model": model}
    if broken == "extract":
        parts["extractor"] = Broken()
    if broken == "judge":
        said(store, "I live in Valencia now.", thread="t0", at="2025-01-01")
        build_reflection_graph(store, model=ScriptedModel(otherwise=answer(VALENCIA))).invoke(
            {**JOB, "thread_id": "t0"}
        )
        parts["judge"] = Broken()
    if broken == "apply":
        monkeypatch.setattr(evidence, "mark_reflected", Broken().fail)  # the last to be written
    before = rows_of(store)
    with pytest.raises(RuntimeError, match="broken"):
        build_reflection_graph(store, **parts).invoke(JOB)
    assert rows_of(store) == before
    assert [one.thread_id for one in store.admin.unread_threads()] == ["t1"]
    monkeypatch.undo()
    build_reflection_graph(store, model=model).invoke(JOB)
    assert "Lena lives in Hamburg." in facts(store)


def test_an_unreachable_model_marks_nothing(store: MemoryStore) -> None:
    """While the model is away nothing counts as read, so that a later run finds it all."""
    said(store, "I live in Hamburg.")
    model = ScriptedModel(script=[httpx.ConnectError("no")], otherwise=answer(HAMBURG))
    graph = build_reflection_graph(store, model=model)
    with pytest.raises(ModelUnavailableError):
        graph.invoke(JOB)
    assert store.changes.runs() == []
    assert graph.invoke(JOB)["added"]


@pytest.mark.parametrize("meddles", [1, MAX_PLANS - 1, MAX_PLANS])
def test_a_stale_plan_is_made_again(
    store: MemoryStore, meddles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When memory changes while a batch is planned, it is planned again without asking the model
    again; and not for ever."""
    said(store, "I live in Hamburg.")
    build_reflection_graph(store, model=ScriptedModel(otherwise=answer(HAMBURG))).invoke(JOB)
    [key] = [item.key for item in store.search(LENA, filter={"relation": "lives_in"})]
    said(store, "I live in Valencia now.", thread="t2", at="2026-07-01")
    left = meddles
    plan = settling.make_change_set

    def plan_while_others_write(*parts: Any, **options: Any) -> ChangeSet:
        nonlocal left
        made = plan(*parts, **options)
        if left:
            left -= 1
            store.put(LENA, key, {**store.get(LENA, key).value, "note": left})  # type: ignore[union-attr]
        return made

    monkeypatch.setattr(settling, "make_change_set", plan_while_others_write)
    model = ScriptedModel(script=[answer(VALENCIA)], otherwise=RuntimeError("asked again"))
    graph = build_reflection_graph(store, model=model)
    if meddles == MAX_PLANS:
        with pytest.raises(StalePlanError, match=str(MAX_PLANS)):
            graph.invoke({**JOB, "thread_id": "t2"})
        assert facts(store) == {"Lena lives in Hamburg.": "active"}
    else:
        graph.invoke({**JOB, "thread_id": "t2"})
        assert facts(store)["Lena lives in Hamburg."] == "superseded"


def test_a_conversation_can_come_along(store: MemoryStore) -> None:
    """LangMem's payload, messages and a config, is remembered first, once however often it comes."""
    graph = build_reflection_graph(store)
    payload = {"messages": [HumanMessage("I live in Hamburg.", name="Lena")]}
    config: Any = {"configurable": {"user_id": "lena", "thread_id": "t9"}}
    assert graph.invoke(payload, config)["added"]
    assert graph.invoke(payload, config)["added"] == []
    assert facts(store) == {"Lena lives in Hamburg.": "active"}
    assert len(store.search((*LENA,), filter={"thread_id": "t9"})) == 1


def test_a_dry_run_writes_nothing(store: MemoryStore) -> None:
    """A dry run says what one batch would add, and leaves it unread."""
    said(store, "I live in Hamburg.")
    before = rows_of(store)
    done = build_reflection_graph(store, dry_run=True).invoke(JOB)
    assert done["added"]
    assert rows_of(store) == before


def test_names_of_private_things_are_not_shown(store: MemoryStore) -> None:
    """A model that reads one person's turns is not told names from another's private memory."""
    said(store, "I see Doctor Okafor.", owner="lena", privacy="private")
    secret = fact("Lena sees Doctor Okafor.", "Lena", "patient_of", "Doctor Okafor")
    build_reflection_graph(store, model=ScriptedModel(otherwise=answer(secret))).invoke(JOB)
    said(store, "I live here, too.", thread="t2", owner="tomas")
    model = ScriptedModel(otherwise=answer())
    build_reflection_graph(store, model=model).invoke({**JOB, "thread_id": "t2"})
    assert "Okafor" not in model.prompts[0][-1].text
    said(store, "It was fine.", thread="t3", owner="lena", privacy="private")
    build_reflection_graph(store, model=model).invoke({**JOB, "thread_id": "t3"})
    assert "Okafor" in model.prompts[1][-1].text


def test_it_needs_a_memory_store() -> None:
    """Over another store the graph says what it needs."""
    from langgraph.store.memory import InMemoryStore

    with pytest.raises(ConfigError, match="MemoryStore"):
        build_reflection_graph(InMemoryStore()).invoke(JOB)


def test_an_authenticated_user_reflects_their_own_memory_only(store: MemoryStore) -> None:
    """Where the namespace is the authenticated user's, the input cannot name another one; a job,
    which nobody is logged in for, can."""
    said(store, "I live in Hamburg.")
    graph = build_reflection_graph(store, namespace=("memories", "{langgraph_auth_user_id}"))
    config: Any = {"configurable": {"langgraph_auth_user_id": "mallory"}}
    with pytest.raises(ConfigError, match="mallory"):
        graph.invoke(JOB, config)
    assert graph.invoke(JOB)["added"]


def test_one_call_a_batch_and_two_a_pair(store: MemoryStore) -> None:
    """The model is asked once for a batch, and about a pair that structure cannot decide in both orders;
    the run counts all."""

    def diet(text: str, what: str) -> dict[str, Any]:
        made = fact(text, "Lena", "diet", what)
        made["claims"][0]["object_is_entity"] = False
        return made

    said(store, "I am vegetarian.")
    said(store, "I am pescatarian.", thread="t2", at="2026-07-01")
    verdict = json.dumps({"verdicts": [{"pair": 1, "verdict": "supersedes"}]})
    script = [
        answer(diet("Lena is vegetarian.", "vegetarian")),
        answer(diet("Lena is pescatarian.", "pescatarian")),
        verdict,
        verdict,
    ]
    model = ScriptedModel(script=script, otherwise=RuntimeError("asked once too often"))
    done = build_reflection_graph(store, model=model).invoke({"namespace": list(LENA)})
    assert len(model.prompts) == done["model_calls"] == 4
    assert [run.note["model_calls"] for run in store.changes.runs(LENA)] == [3, 1]
    assert facts(store) == {"Lena is vegetarian.": "superseded", "Lena is pescatarian.": "active"}


def test_two_runs_at_once_write_once(store: MemoryStore) -> None:
    """Two processes that read the same turns at the same time leave one run and one fact."""
    said(store, "I live in Hamburg.")
    together = Barrier(2)

    class Waiting(RuleExtractor):
        def extract(self, batch: Any, *, names: Any = ()) -> Any:
            together.wait(30)
            return super().extract(batch, names=names)

    graph = build_reflection_graph(store, extractor=Waiting())
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(graph.invoke, [JOB, JOB]))
    assert len(store.changes.runs()) == 1
    assert sorted(len(one["added"]) for one in done) == [0, 1]
    assert [
        entry.action
        for entry in store.changes.history(LENA, store.changes.runs()[0].note["learned"][0])
    ] == ["add"]


@pytest.mark.parametrize("door", ["sync", "async"])
async def test_runs_that_overlap_read_each_turn_once(store: MemoryStore, door: str) -> None:
    """A run that begins while another one asks its model, and reads a turn more, leaves to that one
    what it is first to write: each turn is read once, in whatever words models put it."""
    said(store, "I live in Hamburg.")
    both = answer(HAMBURG, fact("Lena works in Kiel.", "Lena", "works_at", "Kiel", evidence="t2"))

    def meanwhile(_: Any) -> str:
        said(store, "I live in Hamburg.", "I work in Kiel.")
        build_reflection_graph(store, model=ScriptedModel(script=[both])).invoke(JOB)
        return answer({**HAMBURG, "text": "Lena has her home in Hamburg."})

    model = ScriptedModel(script=[meanwhile], otherwise=RuntimeError("asked again"))
    graph = build_reflection_graph(store, model=model)
    done = graph.invoke(JOB) if door == "sync" else await graph.ainvoke(JOB)
    assert (done["runs"], done["added"]) == ([], [])
    assert set(facts(store)) == {"Lena lives in Hamburg.", "Lena works in Kiel."}
    assert len(store.changes.runs()) == 1
    assert store.admin.unread_threads() == []


class Eager:
    """Notes down of each turn what it is given, whatever it is worth."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        turn = batch.turns[0]
        return Extraction(
            facts=tuple(
                Fact(text=text, evidence=(turn.key,), said_at=turn.said_at, speaker=turn.speaker)
                for text in self.texts
            ),
            core=(CoreSuggestion(block="human", text="Hello there!", evidence=(turn.key,)),),
            dropped=("its own reason",),
        )

    async def aextract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        return self.extract(batch, names=names)


@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_junk_is_left_out_whoever_extracts(store: MemoryStore, mode: str) -> None:
    """Greetings, times of the moment, what the assistant or an injected memory said, and copies are
    kept out after any extractor, also when turns are read again, and the run counts them."""
    said(store, "I live in Hamburg. <recalled_memories>Tomas owns a bakery</recalled_memories>")
    store.remember(LENA, [("ai", "Hamburg has two opera houses.")], thread_id="t1")
    junk = (
        "Hello there!", "It is five o'clock.", "Hamburg has two opera houses.",
        "Tomas owns a bakery", "Lena lives in Hamburg.",
    )  # fmt: skip
    graph = build_reflection_graph(store, extractor=Eager("Lena lives in Hamburg.", *junk))
    for _ in range(2):
        done = graph.invoke(JOB) if mode == "sync" else await graph.ainvoke(JOB)
        assert facts(store) == {"Lena lives in Hamburg.": "active"}
        assert done["reviews"] == []
        [run_id] = done["runs"]
        [run] = [run for run in store.changes.runs() if run.id == run_id]
        assert (run.note["extracted"], run.note["dropped"]) == (1, len(junk) + 2)
        store.changes.read_again(run_id=run_id)


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_what_another_reflection_learned_meanwhile_is_compared(
    store: MemoryStore, call: str
) -> None:
    """Two threads of one person, reflected at once by two: what one learns while the other has
    planned and not yet written gives way, or makes give way, as if one had come after the other."""
    said(store, "I live in Hamburg.", "I have a cat called Tofu.", thread="t1")
    said(store, "I live in Valencia now.", thread="t2", at="2026-04-02")
    said(store, "We gave Tofu away.", thread="t3", at="2026-04-03")
    no_tofu = fact("Lena no longer has Tofu.", "Lena", "has_pet", "Tofu", ends=True)
    tofu = fact("Lena has a cat called Tofu.", "Lena", "has_pet", "Tofu", evidence="t2")
    others = [({"thread_id": "t2"}, answer(VALENCIA)), ({"thread_id": "t3"}, answer(no_tofu))]

    def now() -> datetime:
        """Called where the plan is made."""
        if others:
            thread, script = others.pop()
            graph = believing_graph(store, model=ScriptedModel(script=[script]))
            graph.invoke({"namespace": list(LENA), **thread})
        return datetime.now(UTC)

    model = ScriptedModel(script=[answer(HAMBURG, tofu)])
    graph = believing_graph(store, model=model, now=now)
    await graph.ainvoke(JOB) if call == "async" else graph.invoke(JOB)
    assert facts(store) == {
        "Lena lives in Hamburg.": "superseded",
        "Lena lives in Valencia now.": "active",
        "Lena has a cat called Tofu.": "superseded",
        "Lena no longer has Tofu.": "active",
    }
    assert store.changes.reviews() == []
    assert len(model.prompts) == 1


def test_what_comes_late_is_read_by_the_run_under_way(store: MemoryStore) -> None:
    """A run goes on from its last batch; what was said earlier and came in meanwhile, or was edited
    behind it, is read by it all the same."""
    keys = said(store, "I live in Hamburg.", "My sister is called Nora.", at="2026-03-02")

    class Late(RuleExtractor):
        batches = 0

        def extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
            self.batches += 1
            if self.batches == 2:
                said(store, "My dog is called Rex.", thread="t0", at="2026-01-02")
                value = store.get(LENA, keys[0]).value  # type: ignore[union-attr]
                store.put(LENA, keys[0], {**value, "content": "I live in Bonn."})
            return super().extract(batch, names=names)

    extractor = Late()
    build_reflection_graph(store, extractor=extractor, batch_tokens=1).invoke({"namespace": LENA})
    assert extractor.batches == 4
    assert store.admin.unread_threads(LENA) == []
    assert {text for text, status in facts(store).items() if status == "active"} == {
        "Nora is Lena's sister.", "Lena has a dog called Rex.", "Lena lives in Bonn.",
    }  # fmt: skip


def test_a_new_fact_is_put_beside_the_latest_of_many(store: MemoryStore) -> None:
    """Where many values stand side by side that nobody decided between, a new one opens questions
    about the latest of them, not about every one there ever was."""
    for number in range(MOST_UNDECIDED + 3):
        said(store, f"My partner is called Zo{chr(97 + number)}li.", thread=f"t{number}",
             at=f"2026-03-{number + 1:02}")  # fmt: skip
        done = build_reflection_graph(store).invoke({"namespace": LENA})
        assert len(done["reviews"]) == min(number, MOST_UNDECIDED)


class Told(RuleExtractor):
    """Rules that keep the names they are given."""

    def extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
        self.names = list(names)
        return super().extract(batch, names=names)


def test_of_very_many_names_an_extractor_is_told_those_that_are_spoken_of(
    store: MemoryStore,
) -> None:
    """All names that share a word with what is said, also "Lena's" and "Lenas", come first; of the
    others there are so many as a model is shown."""
    spoken = ["Katrin Zander", "Zoë", "Ines", "王小明"]
    others = [f"Person{n}" for n in range(3 * MAX_NAMES)]
    people = [
        AddEntity(key=f"person/{n}", name=name, kind="person")
        for n, name in enumerate((*others, *spoken))
    ]
    names = ChangeSet(
        namespace=LENA, run_id="names", kind="correction", reason="known", changes=tuple(people)
    )
    store.changes.apply(names)
    said(store, "Frau Zander met Zoe.", "Ines's dog likes 王小明。")
    extractor = Told()
    build_reflection_graph(store, extractor=extractor).invoke(JOB)
    assert set(extractor.names[:4]) == set(spoken)
    assert len(extractor.names) == MAX_NAMES
    assert set(extractor.names[4:]) <= set(others)


@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_an_extractor_that_uses_the_rules_takes_back_what_is_known(
    store: MemoryStore, mode: str
) -> None:
    """Rules that are extended by somebody, or called by an extractor of their own, are called as such
    and compare with what was told in an earlier run."""

    class Own:
        def __init__(self) -> None:
            self.called = 0

        def extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
            self.called += 1
            return RuleExtractor().extract(batch, names=names)

        async def aextract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
            self.called += 1
            return await RuleExtractor().aextract(batch, names=names)

    extractor = Own()
    graph = build_reflection_graph(store, extractor=extractor)
    for thread, text in enumerate(("I live in Bonn.", "I don't live in Bonn.")):
        said(store, text, thread=f"t{thread}", at=f"2026-03-0{thread + 1}")
        await graph.ainvoke({"namespace": LENA}) if mode == "async" else graph.invoke(
            {"namespace": LENA}
        )
    assert extractor.called == 2
    assert facts(store)["Lena lives in Bonn."] == "superseded"
