"""The door to recall: what may be read at all, and what happens when something is missing."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.store.base import PutOp

from langmemory.changes import AddMemory, ChangeSet
from langmemory.config import Config
from langmemory.context import disclose
from langmemory.context.tokens import count_text
from langmemory.embeddings.query_cache import QueryCache
from langmemory.errors import ConfigError, InvalidFilterError
from langmemory.recall.presets import BALANCED
from langmemory.stores import MemoryStore, reembed
from langmemory.stores.face import bound
from langmemory.types import Granularity
from tests.places import NUL
from tests.stores.embedders import WordEmbeddings

NS = ("home",)
LONG = "A long story about gardens and what grows there. " * 4


def index(embeddings: WordEmbeddings) -> Any:
    return {"embed": embeddings, "dims": embeddings.dims}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_recall_without_its_embedder(tmp_path: Path, asynchronous: bool) -> None:
    """When the embedder fails or the file was re-embedded, words answer and the trace says so."""
    path = tmp_path / "m.db"
    embeddings = WordEmbeddings()
    with MemoryStore(path, index=index(embeddings)) as store:
        store.remember(NS, [("user", "the heron is grey"), ("user", "a car")], thread_id="t")

        async def recall() -> tuple[list[str], tuple[str, ...]]:
            found = await store.arecall("heron", NS) if asynchronous else store.recall("heron", NS)
            return [result.text for result in found.results], found.trace.degraded

        texts, degraded = await recall()
        assert (texts[0], degraded) == ("the heron is grey", ())
        embeddings.fail_after = 0
        embeddings_cache = store._core.indexing.embedder
        embeddings_cache._queries = QueryCache()  # type: ignore[union-attr]
        texts, degraded = await recall()
        assert texts[0] == "the heron is grey"
        assert any("embedder failed" in one for one in degraded)
        embeddings.fail_after = None
        reembed(str(path), index=index(WordEmbeddings(8, "words-b")))
        texts, degraded = await recall()
        assert texts[0] == "the heron is grey"
        assert any("re-embedded" in one for one in degraded)


def test_what_a_viewer_may_read() -> None:
    """Private memories of others are out of reach of a viewer by any option and any count; the
    owner and the application read them; superseded facts only when asking for the past."""
    store = MemoryStore(":memory:")
    for key, owner, privacy in (
        ("own", "tom", "private"), ("theirs", "maria", "private"), ("ours", "maria", "shared"),
        ("all", None, "public"), ("past", "tom", "shared"),
    ):  # fmt: skip
        store.put(NS, key, {"text": f"a heron note {key}"})
        with store._core.engine.write() as connection:
            connection.execute(
                "UPDATE item SET owner = ?, privacy = ? WHERE key = ?", (owner, privacy, key)
            )
    with store._core.engine.write() as connection:
        connection.execute("UPDATE item SET status = 'superseded' WHERE key = 'past'")

    def keys(viewer: str | None = None, **options: Any) -> set[str]:
        found = bound(store, viewer).recall("heron note", NS, limit=99, **options)
        return {result.memory.key for result in found.results}

    assert keys() == {"own", "theirs", "ours", "all"}
    assert keys(viewer="tom") == {"own", "ours", "all"}
    assert keys(viewer="stranger") == {"ours", "all"}
    assert keys(viewer="tom", filter={"text": {"$contains": "theirs"}}) == set()
    assert keys(viewer="tom", exclude=["own"]) == {"ours", "all"}
    assert keys(as_of=datetime.now(UTC), viewer="tom") == {"own", "ours", "all", "past"}
    assert keys(kinds=["episodic"]) == set()


def test_options_nobody_knows() -> None:
    """A misspelt option, preset or operator is an error, never ignored."""
    store = MemoryStore(":memory:")
    with pytest.raises(ConfigError, match=r"Unknown recall option limt\. Known: limit"):
        store.recall("x", NS, limt=3)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="preset 'fastest'"):
        store.recall("x", NS, preset="fastest")
    with pytest.raises(ConfigError, match="limit is -1"):
        store.recall("x", NS, limit=-1)
    with pytest.raises(InvalidFilterError):
        store.recall("x", NS, filter={"a": {"$near": 1}})


def test_a_preset_of_ones_own_may_be_the_default() -> None:
    """recall.preset names any preset; one that there is not is told when the store is opened, with
    those there are."""
    recall: dict[str, Any] = {"preset": "mine", "presets": {"mine": {"depth": 7}}}
    with MemoryStore(":memory:", config=Config.model_validate({"recall": recall})) as store:
        assert store.recall("heron", NS).trace.preset == "mine"
    recall["preset"] = "main"
    known = r"'main' \(recall.preset in the configuration\). Known: balanced, fast, mine, thorough"
    with pytest.raises(ConfigError, match=known):
        MemoryStore(":memory:", config=Config.model_validate({"recall": recall}))


def test_any_number_of_keys_may_be_excluded() -> None:
    """50,000 keys are left out as three are, also where recall follows a graph, and whatever
    characters they have."""
    store = MemoryStore(":memory:")
    odd = [f"odd{NUL}", 'quoted "key"', "鷺"]
    for key in (*odd, "plain"):
        store.put(NS, key, {"text": f"a heron, noted as {key[:3]}"})
    add = AddMemory(key="fact/1", value={"text": "Ada saw a heron"}, evidence=("plain",))
    store.changes.apply(
        ChangeSet(namespace=NS, run_id="r", kind="reflection", reason="a walk", changes=(add,))
    )
    many = [*odd, *(f"thread/{n}" for n in range(50_000))]
    found = store.recall("Who saw a heron?", NS, exclude=many)
    assert {result.memory.key for result in found.results} <= {"plain", "fact/1"}
    assert found.results


def test_keys_and_kinds_may_come_from_a_generator() -> None:
    """`exclude` and `kinds` accept a generator and treat it like a list."""
    store = MemoryStore(":memory:")
    for key in "abc":
        store.put(NS, key, {"text": f"heron {key}", "kind": "core" if key == "b" else "semantic"})
    options: dict[str, Any] = {"exclude": iter(["a"]), "kinds": iter(["semantic"])}
    assert [result.memory.key for result in store.recall("heron", NS, **options).results] == ["c"]


def test_what_a_thread_was_given_is_known_to_one_store(tmp_path: Path) -> None:
    """A store does not give a thread the same memory twice; another one on the file does not know of
    it, and leaves out what ``exclude`` names."""
    with MemoryStore(tmp_path / "m.db") as one, MemoryStore(tmp_path / "m.db") as other:
        one.put(NS, "k", {"text": "a heron"})
        assert len(one.recall("heron", NS, thread_id="t")) == 1
        assert len(one.recall("heron", NS, thread_id="t")) == 0
        assert len(other.recall("heron", NS, thread_id="t", exclude=["k"])) == 0
        assert len(other.recall("heron", NS, thread_id="t")) == 1


def test_what_a_thread_was_given_is_known_by_namespace_and_key() -> None:
    """The memory of one person does not stand for that of another under the same key, however the
    key is written; ``exclude`` means the key wherever it is."""
    store = MemoryStore(":memory:")
    places = {(("users", who), key) for who in ("ada", "bob") for key in ("food", f'odd{NUL} "鷺"')}
    for namespace, key in sorted(places):
        store.put(namespace, key, {"text": f"{namespace[1]} likes pizza"})
    given = [store.recall("pizza", ("users",), thread_id="t", limit=1) for _ in places]
    found = [(one.memory.namespace, one.memory.key) for recall in given for one in recall.results]
    assert sorted(found) == sorted(places)
    assert not store.recall("pizza", ("users",), thread_id="t").results
    left = store.recall("pizza", ("users",), exclude=["food"])
    assert {one.memory.key for one in left.results} == {f'odd{NUL} "鷺"'}


@pytest.mark.parametrize("query", ["", "   ", "heron", "?!", "x" * 50_000])
def test_limits_of_a_recall(query: str) -> None:
    """No query and no limit makes recall fail; nothing is returned beyond the limit."""
    store = MemoryStore(":memory:")
    store.remember(NS, [("user", f"heron {n}") for n in range(5)], thread_id="t")
    for limit in (0, 1, 5, 2**40, 2**70):
        assert len(store.recall(query, NS, limit=limit)) <= min(limit, 5)
    assert len(store.recall(query, NS, budget_tokens=0)) == 0


def test_without_a_limit_the_budget_decides() -> None:
    """As many results as have room are returned, best first; a limit that is given still holds."""
    store = MemoryStore(":memory:")
    store.remember(NS, [("user", f"heron number {n:02}") for n in range(60)], thread_id="t")
    each = count_text("heron number 00")
    assert len(store.recall("heron", NS)) == 10
    assert len(store.recall("heron", NS, budget_tokens=25 * each)) == 25
    assert len(store.recall("heron", NS, budget_tokens=1000 * each)) == BALANCED.depth
    assert len(store.recall("heron", NS, budget_tokens=25 * each, limit=3)) == 3


@pytest.mark.parametrize(
    "option", [{"budget_tokens": "500"}, {"budget_tokens": -1}, {"min_score": "high"}]
)
def test_numbers_that_are_none_are_refused_by_name(option: Any) -> None:
    """A budget or a score that is no number is an error naming it, not a search that fails later."""
    store = MemoryStore(":memory:")
    store.put(NS, "k", {"text": "a heron"})
    ((name, value),) = option.items()
    with pytest.raises(ConfigError, match=f"{name} is {value!r}"):
        store.recall("heron", NS, **option)


@pytest.mark.parametrize("granularity", ["turn", "session"])
def test_what_many_namespaces_say_takes_one_place(granularity: Granularity) -> None:
    """The same text under the same key of many people leaves room for what else there is, and the trace
    has all of those that were left out, each by its own name."""
    store = MemoryStore(":memory:")
    store.batch(
        [PutOp(("users", f"u{n}"), "daily", {"text": "Remember the pills"}) for n in range(300)]
        + [PutOp(("users", f"u{n}"), "note", {"text": f"Of pills, note {n}"}) for n in range(30)]
    )
    found = store.recall("the pills", ("users",), granularity=granularity, explain=True)
    assert len({result.text for result in found.results}) == 10
    assert len(found.trace.removed) == 299
    assert all(name.startswith("daily in users/u") for name in found.trace.removed)
    assert all("the same as daily in users/u" in why for why in found.trace.removed.values())


@pytest.mark.parametrize("option", [{"kinds": 5}, {"exclude": 5}, {"kinds": "core"}])
def test_what_is_no_list_is_refused_by_name(option: Any) -> None:
    """Kinds and keys are given as a list; anything else is an error that names the option."""
    ((name, value),) = option.items()
    with pytest.raises(ConfigError, match=f"{name} is {value!r}; it must be a list of strings"):
        MemoryStore(":memory:").recall("heron", NS, **option)


@pytest.mark.parametrize("search", ["hybrid", "keyword"])
def test_other_forms_of_a_word_are_found(tmp_path: Path, search: str) -> None:
    """A question in German or Spanish finds its words inflected and without umlauts, each form once,
    before and after the words are copied into memory."""
    texts = [
        "Tomaten aus dem Garten",
        "wir streichen die kueche",
        "mañana me operan",
        "ein Fahrrad",
    ]
    asked = {
        "Welche Tomate mag ich?": texts[0],
        "Wer hat die Küche gestrichen?": texts[1],
        "¿Cuándo me operaron?": texts[2],
    }
    config = Config.model_validate({"search": {"mode": search}})
    with MemoryStore(tmp_path / "m.db", config=config) as store:
        for number, text in enumerate(texts):
            store.put(NS, str(number), {"text": text})
        for query, text in asked.items():
            assert store.search(NS, query=query)[0].value["text"] == text
            if search == "keyword":
                assert len(store.search(NS, query=query)) == 1


def test_a_named_assistant_is_one(tmp_path: Path) -> None:
    """The role of a message decides which turns are the assistant's, under any name. Questions are
    about the person unless they ask for the assistant's words."""
    said = [
        AIMessage(
            "A dentist like Doctor Weber is good for your teeth, dentist visits help", name="Juno"
        ),
        HumanMessage("My dentist is Doctor Krause", name="Lena"),
    ]
    with MemoryStore(tmp_path / "m.db") as store:
        store.remember(NS, said, thread_id="t")

        def preferred(query: str) -> dict[str | None, float]:
            found = store.recall(query, NS, explain=True)
            return {result.speaker: result.parts["speaker"] for result in found}

        assert preferred("Which dentist is mine?") == {"Lena": 1, "Juno": 0}
        assert preferred("Which dentist did you recommend?") == {"Lena": 0, "Juno": 1}
        assert preferred("What does Juno say of dentists?") == {"Lena": 0, "Juno": 1}


@pytest.mark.parametrize(
    "filter",
    [{"content": {"$contains": "heron"}}, {"content": {"$gt": "I"}}, {"content": {"$ne": LONG}}],
)
def test_neighbours_pass_the_filter_too(filter: dict[str, Any]) -> None:
    """Turns around a match, or from the period in question, are returned if the filter accepts
    them, however long they are."""
    store = MemoryStore(":memory:")
    said = [
        ("user", "I saw a heron"),
        ("assistant", LONG),
        ("user", "Nice"),
        ("user", "HERON" * 40),
    ]
    now = datetime(2026, 11, 22, tzinfo=UTC)
    store.remember(NS, said, thread_id="t", at=datetime(2026, 11, 21, 9, tzinfo=UTC))
    passing = {item.key for item in store.search(NS, filter=filter)}
    for query in ("Who saw a heron?", "What did I say yesterday?"):
        found = store.recall(query, NS, filter=filter, now=now)
        assert found.results
        assert {result.memory.key for result in found.results} <= passing


def test_a_long_session_does_not_hide_the_others(tmp_path: Path) -> None:
    """As many sessions as are wanted are found, also where one has said most about it."""
    with MemoryStore(tmp_path / "m.db") as store:
        said = [f"The ferry to Naxos, part {n}: it left at {n} past noon." for n in range(400)]
        store.remember(NS, [("user", text) for text in said], thread_id="long")
        for n in range(6):
            store.remember(NS, [("user", f"Somebody took a ferry, day {n}.")], thread_id=f"t{n}")
        found = store.recall("the ferry to Naxos at noon", NS, limit=5, granularity="session")
    assert len({result.memory.thread_id for result in found}) == len(found) == 5
    assert found.results[0].memory.thread_id == "long"


def test_a_daily_reminder_does_not_hide_what_else_is_known(tmp_path: Path) -> None:
    """Where one text was said so often that it alone fills the candidates, recall looks further, and
    the other memories are found."""
    with MemoryStore(tmp_path / "m.db") as store:
        for day in range(120):
            store.remember(
                NS, [("assistant", "Reminder: take your pills now.")], thread_id=f"day{day}"
            )
        doctor = "The doctor changed my tablets: the white ones at eight in the evening, with food."
        store.remember(NS, [("user", doctor)], thread_id="visit")
        found = store.recall("Which pills do I take?", NS, explain=True)
        assert [result.text for result in found.results].count(doctor) == 1
        assert len(found.results) == 2
        assert len(found.trace.removed) == 119


def test_the_parts_of_a_score_make_the_score() -> None:
    """A rank score is the relevance times the multipliers, that of a fact which stands for a turn the
    turn's; and each stage tells where it moved a result, to the place where it is."""
    store = MemoryStore(":memory:")
    said = [("user", f"I saw heron number {n} by the lake") for n in range(6)]
    keys = store.remember(NS, said, thread_id="t")
    store.put(NS, "sure", {"text": "A heron stands by the lake", "importance": 0.9})
    facts = tuple(
        AddMemory(key=f"fact/{n}", value={"text": f"Ada saw heron {n} by a lake"}, evidence=(key,))
        for n, key in enumerate(keys)
    )
    store.changes.apply(
        ChangeSet(namespace=NS, run_id="r", kind="reflection", reason="a walk", changes=facts)
    )
    results = store.recall("Who saw a heron by the lake?", NS, explain=True).results
    for place, result in enumerate(results, start=1):
        why = result.explanation
        assert why is not None
        own = result.parts["relevance"] * math.prod(why.multipliers.values())
        assert result.parts["rank"] == pytest.approx(max(own, result.parts.get("derivation", 0)))
        assert not why.moves or why.moves[-1].endswith(f"-> {place}")
        assert not any(move.startswith("diversity") for move in why.moves)
    assert any("derivation" in result.parts for result in results)


def test_what_had_no_room_is_told() -> None:
    """The trace of a recall within a budget counts what was returned, and names what was too long."""
    store = MemoryStore(":memory:")
    store.put(NS, "short", {"text": "a heron"})
    store.put(NS, "long", {"text": "a heron " * 100})
    found = store.recall("heron", NS, budget_tokens=20, explain=True)
    assert [result.memory.key for result in found.results] == ["short"]
    assert found.trace.candidates["results"] == 1
    assert found.trace.removed["long"].startswith("budget: ")


def test_a_single_memory_with_the_words_has_a_score() -> None:
    """One memory, embedded by somebody's model, that says what is asked scores above 0, so that a
    guardrail is shown."""
    store = MemoryStore(":memory:", index=index(WordEmbeddings()))
    store.put(NS, "k", {"text": "Maria must not eat peanuts", "priority": "guardrail"})
    found = store.recall("What must Maria not eat?", NS)
    assert found.results[0].score > 0.3
    assert disclose(found.results).entries


def test_a_result_is_of_the_day_it_was_said() -> None:
    """`at` is the start of validity if a fact has one, else the day somebody said it; other
    memories have the time they were stored."""
    with MemoryStore(":memory:", index=False) as store:
        said = {"said_at": "2026-01-11T09:00:00+01:00"}
        for key, more in (("said", said), ("odd", {"said_at": "once"}), ("put", {})):
            store.put(NS, key, {"text": f"Katrin is Lena's sister, {key}.", **more})
        found = {one.memory.key: one for one in store.recall("Katrin sister", NS).results}
    assert found["said"].at.isoformat() == "2026-01-11T09:00:00+01:00"
    for key in ("odd", "put"):
        assert found[key].at == found[key].memory.created_at


def test_a_question_of_one_sign_is_read_once(store: MemoryStore) -> None:
    """20,000 of whatever sign take two seconds of a processor at most: no pattern begins anew at each."""
    store.put(NS, "k", {"text": "Tofu is a cat"})
    for signs in ('"', "'", "(", "-", ".", "?", "，", "“", "#", "1", "x", " x", "a-", "a.b ", "那"):
        begun = process_time()
        store.recall((signs * 20_000)[:20_000], NS)
        assert process_time() - begun < 2, signs
