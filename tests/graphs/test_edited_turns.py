"""A message that is edited after it was reflected: the new words are read, the old ones let go."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from langmemory import MemoryStore
from langmemory.changes import ChangeSet, UpdateMemory
from langmemory.formation.batch import Batch
from langmemory.formation.rules import RuleExtractor
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.operations.gathering import Gathering
from langmemory.ports.facts import Extraction
from langmemory.reflection import LocalReflectionExecutor, WorkOptions
from tests.believing import believing_graph
from tests.graphs.test_reflection_graph import (
    HAMBURG,
    JOB,
    LENA,
    VALENCIA,
    answer,
    facts,
    rows_of,
    said,
)
from tests.scripted import ScriptedModel

WORDS = "I live in Hamburg. I have a cat called Tofu."
NEW = "I live in Kiel. I have a cat called Tofu."
BEFORE = {"Lena lives in Hamburg.": "active", "Lena has a cat called Tofu.": "active"}
AFTER = {
    "Lena lives in Hamburg.": "superseded",
    "Lena lives in Kiel.": "active",
    "Lena has a cat called Tofu.": "active",
}


def edit(store: MemoryStore, key: str, text: str) -> None:
    item = store.get(LENA, key)
    assert item is not None
    store.put(LENA, key, {**item.value, "content": text})


def reflect(store: MemoryStore, *script: str) -> list[str]:
    model = ScriptedModel(script=list(script)) if script else None
    done: list[str] = believing_graph(store, model=model).invoke(JOB)["runs"]
    return done


def ids(store: MemoryStore) -> dict[str, str]:
    rows = [row for row in rows_of(store) if str(row.get("key", "")).startswith("fact/")]
    return {row["value"]["text"]: row["key"] for row in rows if "value" in row}


def recalled(store: MemoryStore) -> list[str]:
    return sorted(
        one.text for one in store.recall("Where does Lena live?", LENA, kinds=["semantic"])
    )


async def test_an_edited_turn_is_read_once_more_and_an_undo_takes_it_back(
    store: MemoryStore,
) -> None:
    """The new words are read once, in a run; what they repeat keeps its id; undone, it is as before,
    and nothing is read again by itself. A second edit, also to the first words, is read, too."""
    [key] = said(store, WORDS)
    [first] = reflect(store)
    cat = ids(store)["Lena has a cat called Tofu."]
    edit(store, key, NEW)
    [waiting] = store.admin.unread_threads()
    assert waiting.turns == 1
    done = await build_reflection_graph(store).ainvoke(JOB)
    assert done["runs"] != [first]
    assert facts(store) == AFTER
    assert recalled(store) == ["Lena has a cat called Tofu.", "Lena lives in Kiel."]
    assert ids(store)["Lena has a cat called Tofu."] == cat
    assert [entry.action for entry in store.changes.history(LENA, cat)] == ["add"]
    assert store.admin.unread_threads() == []
    assert reflect(store) == []

    store.changes.undo(done["runs"][0])
    assert facts(store) == BEFORE
    assert reflect(store) == []

    edit(store, key, "I live in Bonn. I have a cat called Tofu.")
    assert len(reflect(store)) == 1
    assert "Lena lives in Bonn." in recalled(store)
    edit(store, key, WORDS)
    [last] = reflect(store)
    assert {text for text, status in facts(store).items() if status == "active"} == set(BEFORE)
    store.changes.undo(last)
    assert recalled(store) == ["Lena has a cat called Tofu.", "Lena lives in Bonn."]


def test_what_changes_no_words_causes_nothing(store: MemoryStore) -> None:
    """The same words again, another field, and words that are back before anybody read others, leave
    a turn read."""
    [key] = said(store, WORDS)
    reflect(store)
    edit(store, key, WORDS)
    item = store.get(LENA, key)
    assert item is not None
    store.put(LENA, key, {**item.value, "mood": "good"})
    edit(store, key, NEW)
    edit(store, key, WORDS)
    assert store.admin.unread_threads() == []
    assert Gathering(store).next_batch(LENA) is None
    assert reflect(store) == []


def test_an_edited_turn_is_not_read_together_with_what_came_much_later(store: MemoryStore) -> None:
    """It is a batch of its own, with what was said before it."""
    first, second, _ = said(store, "Hello.", "I live in Hamburg.", "Bye.")
    reflect(store)
    said(store, "It is raining.", at="2026-04-02")
    edit(store, second, "I live in Kiel.")
    batch = Gathering(store).next_batch(LENA, "t1")
    assert batch is not None
    assert [turn.text for turn in batch.turns] == ["I live in Kiel."]
    assert [turn.key for turn in batch.before] == [first]
    assert len(reflect(store)) == 2


def test_an_answer_that_is_made_anew_takes_nothing_from_the_person(store: MemoryStore) -> None:
    """The assistant's turn is read with its new words; what the person said stays."""
    _, assistant = store.remember(
        LENA,
        [
            {"role": "user", "name": "Lena", "content": WORDS},
            {"role": "assistant", "content": "You live in Hamburg."},
        ],
        thread_id="t1",
    )
    reflect(store)
    edit(store, assistant, "How is Kiel?")
    assert len(reflect(store)) == 1
    assert facts(store) == BEFORE
    assert store.admin.unread_threads() == []


def test_private_words_stay_private(store: MemoryStore) -> None:
    """Facts of an edited private turn belong to its owner alone."""
    [key] = said(store, WORDS, owner="lena", privacy="private")
    reflect(store)
    edit(store, key, NEW)
    reflect(store)
    assert facts(store) == AFTER
    tom = store.for_viewer("tom")
    assert list(tom.recall("Where does Lena live?", LENA)) == []
    assert tom.search(LENA) == []


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_an_edit_while_a_turn_is_read_is_not_lost(store: MemoryStore, call: str) -> None:
    """Facts of replaced words are not written; the new words are read."""
    [key] = said(store, WORDS)

    class Slow(RuleExtractor):
        def extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
            found = super().extract(batch, names=names)
            if batch.turns[0].text == WORDS:
                edit(store, key, NEW)
            return found

        async def aextract(self, batch: Batch, *, names: Sequence[str] = ()) -> Extraction:
            return self.extract(batch, names=names)

    graph = build_reflection_graph(store, extractor=Slow())
    await graph.ainvoke(JOB) if call == "async" else graph.invoke(JOB)
    assert facts(store) == {text: "active" for text, status in AFTER.items() if status == "active"}
    assert store.admin.unread_threads() == []


def test_an_edit_while_a_job_waits_is_read_with_it(store: MemoryStore) -> None:
    """The job reads what the turn says when it is done."""
    [key] = said(store, WORDS)
    graph = build_reflection_graph(store)
    often = WorkOptions(poll_seconds=0.05)
    with LocalReflectionExecutor(graph, store, options=often) as executor:
        executor.submit(JOB).result(timeout=30)
        edit(store, key, "I live in Bonn.")
        late = executor.submit(JOB, after_seconds=3_600)
        edit(store, key, NEW)
        store.jobs.run_now(executor.name)
        late.result(timeout=30)
    assert facts(store) == AFTER


def test_nothing_is_taken_back_by_an_answer_nobody_can_read(store: MemoryStore) -> None:
    """A model that answers nonsense has not read the new words: what was known stands, and is taken
    back when they are read again."""
    [key] = said(store, "I live in Hamburg.")
    reflect(store, answer(HAMBURG))
    edit(store, key, "I live in Valencia now.")
    reflect(store, "Nonsense.", "Nonsense.")
    assert facts(store) == {"Lena lives in Hamburg.": "active"}
    assert store.changes.reviews() == []
    assert len(store.changes.read_again()) == 1
    reflect(store, answer(VALENCIA))
    assert facts(store) == {
        "Lena lives in Hamburg.": "superseded",
        "Lena lives in Valencia now.": "active",
    }


def test_a_summary_tells_what_the_turn_says_now(store: MemoryStore) -> None:
    """Where all its turns are read with it; else a person is asked whether it holds still."""
    first, second = said(store, "I live in Hamburg.", "I like it here.")
    reflect(store, answer(HAMBURG, summary={"text": "Lena is at home in Hamburg."}))
    edit(store, first, "I live in Valencia now.")
    reflect(store, answer(VALENCIA, summary={"text": "Lena is at home in Valencia."}))
    [review] = store.changes.reviews()
    assert review.about == "dependant"
    store.changes.decide(review.id, "over")
    edit(store, first, "I live in Hamburg.")
    edit(store, second, "I hate it here.")
    reflect(store, answer(HAMBURG, summary={"text": "Lena hates Hamburg."}))
    texts = [row["value"].get("text") for row in rows_of(store) if row.get("kind") == "archival"]
    assert texts == ["Lena hates Hamburg."]


def test_evidence_that_is_withdrawn_comes_back_with_an_undo(store: MemoryStore) -> None:
    """A change set may take evidence from a memory; the history does not tell which, its undo gives
    it back, and an export does not carry it."""
    first, second = said(store, "I live in Hamburg.", "I live in Hamburg, as I said.")
    store.put(LENA, "home", {"text": "Lena lives in Hamburg."})

    def change(run: str, **what: tuple[str, ...]) -> None:
        update = UpdateMemory(key="home", **what)  # type: ignore[arg-type]
        store.changes.apply(
            ChangeSet(
                namespace=LENA, run_id=run, kind="correction", reason="test", changes=(update,)
            )
        )

    change("give", evidence=(first, second))
    change("take", withdrawn=(first,))
    assert [one.key for one in store.changes.evidence(LENA, "home")] == [second]
    assert "withdrawn" not in store.changes.history(LENA, "home")[-1].facets
    assert not any("withdrawn" in (row.get("facets") or {}) for row in rows_of(store))
    store.changes.undo("take")
    assert sorted(one.key for one in store.changes.evidence(LENA, "home")) == sorted(
        [first, second]
    )
    store.changes.undo("give")
    assert store.changes.evidence(LENA, "home") == []


def test_a_question_about_what_an_edit_took_back_is_withdrawn(store: MemoryStore) -> None:
    """It is closed by the run that read the new words, and opened again by its undo; asked anew when
    the first words are back."""
    said(store, "I was born in Hamburg.")
    reflect(store)
    [key] = said(store, "I was born in Bonn.", at="2026-04-02")
    reflect(store)
    [review] = store.changes.reviews()
    assert review.about == "contradiction"

    edit(store, key, "I live in Bonn.")
    [second] = reflect(store)
    assert store.changes.reviews() == []
    assert [one.decision for one in store.changes.reviews(open_only=False)] == ["withdrawn"]
    store.changes.undo(second)
    assert store.changes.reviews() == [review]

    edit(store, key, "I live in Kiel.")
    [third] = reflect(store)
    edit(store, key, "I was born in Bonn.")
    [fourth] = reflect(store)
    [again] = store.changes.reviews()
    assert (again.about, again.memories) == (review.about, review.memories)
    store.changes.undo(fourth)
    assert store.changes.reviews() == []
    store.changes.undo(third)
    assert store.changes.reviews() == [review]


def test_an_answer_does_not_date_what_an_edit_took_back(store: MemoryStore) -> None:
    """A fact that waits and would replace one which was taken back meanwhile: approved, it replaces
    nothing, so that the other has held at no time."""
    [key] = said(store, "I live in Hamburg.")
    reflect(store, answer(HAMBURG))
    said(store, "I live in Valencia now.", at="2026-04-02")
    reflect(store, answer({**VALENCIA, "confidence": 0.4}))
    [review] = store.changes.reviews()
    edit(store, key, "I like Hamburg.")
    reflect(store, answer())
    store.changes.decide(review.id, "approve")
    graph = store.graph(LENA, as_of=datetime(2026, 3, 20, tzinfo=UTC))
    assert facts(store)["Lena lives in Valencia now."] == "active"
    assert list(graph.subgraph().edges) == []
