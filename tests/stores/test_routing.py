"""`recall(documents=…)`: what was said and what is written, in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from langgraph.store.base import InvalidNamespaceError

from langmemory import MemoryStore
from langmemory.context.tokens import count_text
from langmemory.types import Recall, RecallResult

ANA = ("memories", "ana")
PLACE = ("documents",)
MANUAL = """# Ferry

## Booking

A cabin is booked at the counter in hall two. Book it two days before.

## Luggage

Each passenger may bring three bags.
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """A memory with talk and a manual."""
    with MemoryStore(tmp_path / "memory.db") as found:
        fill(found)
        yield found


def fill(store: MemoryStore) -> None:
    said = [
        "We decided to take the ferry on Friday because flying is too dear.",
        "Bo gets seasick on every boat.",
        "My sister Ida lives in Kiel.",
    ]
    store.remember(ANA, [("user", text) for text in said], thread_id="t")
    store.documents.add(text=MANUAL, name="ferry.md")


def texts(recall: Recall) -> str:
    return "\n".join(one.text for one in recall.results)


def test_one_question_asks_both(store: MemoryStore) -> None:
    """A message with two questions finds the decision and the manual, and the trace says what was asked."""
    asked = "Why did we decide to take the ferry, and how is a cabin booked?"
    found = store.recall(asked, ANA, documents=PLACE, limit=4)
    assert found.query == asked
    assert "flying is too dear" in texts(found)
    assert "hall two" in texts(found)
    why, how = found.trace.questions.items()
    assert why[0] == "Why did we decide to take the ferry?"
    assert why[1] < 0.5 < how[1]


def test_the_likelier_layer_stands_first(store: MemoryStore) -> None:
    """A question to the manual begins with the manual, one to what was said with that."""
    manual = store.recall("How many bags may a passenger bring?", ANA, documents=PLACE)
    assert "three bags" in manual.results[0].text
    said = store.recall("Where does my sister live?", ANA, documents=PLACE)
    assert "Kiel" in said.results[0].text
    assert not any(one.memory.kind == "resource" for one in said.results)


def test_what_documents_answer_is_shown_beside_a_little_talk() -> None:
    """In a new memory all of what was said seems likely; what a file answers is shown all the same."""
    store = MemoryStore(":memory:")
    said = (
        "Hi, I'm Ada. I work on heron and I'm allergic to peanuts.",
        "We decided to move heron's deploy to Thursdays because Fridays broke twice.",
    )
    store.remember(
        ("few",),
        [(role, text) for one in said for role, text in (("user", one), ("ai", "Ok."))],
        thread_id="t",
    )
    text = (
        "# Heron\n\nHeron tells birds apart by their calls.\n\n"
        "## Deploy\n\nHeron is deployed by `make ship`, which pushes the image to Frankfurt.\n"
    )
    store.documents.add(text=text, name="README.md", namespace=("heron",))
    for asked, answer in (
        ("What does heron do?", "birds apart"),
        ("How is heron deployed?", "make ship"),
    ):
        found = store.recall(asked, ("few",), documents=("heron",), min_score="auto")
        assert answer in texts(found)
        assert said[1] in texts(found)
    own = store.recall("What am I allergic to?", ("few",), documents=("heron",), min_score="auto")
    assert {one.memory.kind for one in own.results} == {"episodic"}


def test_without_documents_nothing_changes(store: MemoryStore, tmp_path: Path) -> None:
    """Where none are asked, or there are none, or no chunk is among the kinds, the answer is the same."""
    asked, now = "Why the ferry, and who is seasick?", datetime(2026, 1, 1, tzinfo=UTC)
    plain = store.recall(asked, ANA, now=now)
    assert plain.trace.questions == {}
    for more in ({"documents": None}, {"documents": ("elsewhere",)}):
        assert store.recall(asked, ANA, now=now, **more).results == plain.results
    of_kind = store.recall(asked, ANA, now=now, kinds=["episodic"], documents=PLACE)
    assert of_kind.results == plain.results


def test_documents_of_namespaces_below_are_not_asked(store: MemoryStore) -> None:
    """What is kept for one person below the namespace is nobody else's to find."""
    store.documents.add(
        text="# Bags\n\nBo's bags weigh nine kilos.\n", name="bo.md", namespace=(*PLACE, "bo")
    )
    found = store.recall("How heavy are Bo's bags?", ANA, documents=PLACE)
    assert "nine kilos" not in texts(found)
    own = store.recall("How heavy are Bo's bags?", ANA, documents=(*PLACE, "bo"))
    assert "nine kilos" in texts(own)


def test_documents_of_several_namespaces_are_asked(store: MemoryStore) -> None:
    """The best of all of them answers, each once, whichever is named first; one without documents is no
    matter, one that is no namespace is refused."""
    bags = "# Bags\n\nBo's bags weigh nine kilos.\n"
    store.documents.add(text=bags, name="bo.md", namespace=(*PLACE, "bo"))
    both = [PLACE, (*PLACE, "bo"), PLACE, ("documents", "nobody")]
    for order in (both, both[::-1]):
        heavy = store.recall("How heavy are Bo's bags?", ANA, documents=order)
        assert "nine kilos" in heavy.results[0].text
        many = store.recall("How many bags may each passenger bring?", ANA, documents=order)
        assert "three bags" in many.results[0].text
        for found in (heavy, many):
            keys = [(one.memory.namespace, one.memory.key) for one in found.results]
            assert len(keys) == len(set(keys))
            scores = [one.score for one in found.results]
            assert scores == sorted(scores, reverse=True)
    with pytest.raises(InvalidNamespaceError):
        store.recall("How many bags?", ANA, documents=[PLACE, ()])


def test_a_private_chunk_stays_its_owners(store: MemoryStore) -> None:
    """A viewer finds no chunk that belongs to somebody else in private."""
    [item] = [one for one in store.search(PLACE, limit=9) if "three bags" in str(one.value)]
    store.put(PLACE, item.key, {**item.value, "owner": "bo", "privacy": "private"})
    asked = "How many bags may a passenger bring?"
    seen = store.for_viewer("ana").recall(asked, ANA, documents=PLACE)
    assert "three bags" not in texts(seen)
    assert "three bags" in texts(store.for_viewer("bo").recall(asked, ANA, documents=PLACE))


def test_other_options_hold_for_both(store: MemoryStore) -> None:
    """Limit, budget, times, keys that are left out and an explanation are of the whole answer."""
    asked = "Why did we take the ferry, and how is a cabin booked?"
    assert len(store.recall(asked, ANA, documents=PLACE, limit=1)) == 1
    assert len(store.recall(asked, ANA, documents=PLACE, limit=0)) == 0
    small = store.recall(asked, ANA, documents=PLACE, budget_tokens=30)
    assert 0 < sum(count_text(one.text) for one in small.results) <= 30
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert len(store.recall(asked, ANA, documents=PLACE, since=tomorrow)) == 0
    explained = store.recall(asked, ANA, documents=PLACE, explain=True)
    assert explained.results[0].explanation is not None
    assert any(name.startswith("documents: ") for name in explained.trace.candidates)
    left = {one.memory.key for one in explained.results}
    assert len(store.recall(asked, ANA, documents=PLACE, exclude=left)) == 0
    believed = store.recall(asked, ANA, documents=PLACE, known_at=datetime.now(UTC))
    assert {one.memory.key for one in believed.results} == left


def test_the_whole_store_may_be_asked_with_documents(store: MemoryStore) -> None:
    """A namespace that holds the documents as well gives each chunk once."""
    found = store.recall("How many bags may a passenger bring?", (), documents=PLACE)
    keys = [one.memory.key for one in found.results]
    assert len(keys) == len(set(keys))
    assert "three bags" in texts(found)


async def test_async_is_alike(store: MemoryStore) -> None:
    """`arecall` answers as `recall` does."""
    asked, now = "How is a cabin booked?", datetime(2026, 1, 1, tzinfo=UTC)
    there = await store.arecall(asked, ANA, documents=PLACE, now=now)
    assert there.results == store.recall(asked, ANA, documents=PLACE, now=now).results


def test_a_planner_takes_the_message_apart(tmp_path: Path) -> None:
    """A planner's questions are looked up; where it fails, the rules do it and the trace says so. A reranker
    sees what was said and the documents together, once."""
    fails = False
    seen: list[set[str]] = []

    def planner(query: str) -> list[str]:
        if fails:
            raise ConnectionError("refused")
        return ["How many bags may a passenger bring?", "Who gets seasick?"]

    def reranker(query: str, results: Sequence[RecallResult]) -> list[int]:
        seen.append({one.memory.kind for one in results})
        return list(reversed(range(len(results))))

    with MemoryStore(tmp_path / "memory.db", planner=planner, reranker=reranker) as store:
        fill(store)
        found = store.recall("Bags and seasickness?", ANA, documents=PLACE)
        assert list(found.trace.questions) == planner("")
        assert seen == [{"episodic", "resource"}]
        fails = True
        found = store.recall("How is a cabin booked?", ANA, documents=PLACE)
        assert list(found.trace.questions) == ["How is a cabin booked?"]
        assert (
            "planner failed, taken apart by rules: ConnectionError: refused" in found.trace.degraded
        )


def test_a_bad_namespace_is_refused(store: MemoryStore) -> None:
    """A namespace of documents that is none is named."""
    for wrong in ("documents", (), ("a.b",)):
        with pytest.raises(InvalidNamespaceError):
            store.recall("How is a cabin booked?", ANA, documents=wrong)  # type: ignore[arg-type]
