"""A confidence is private to its speaker, whether a rule or a model finds it, together with its
turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore, build_reflection_graph
from langmemory.config import Config, PrivacyConfig
from langmemory.formation.batch import Batch
from langmemory.formation.confidences import confidence_of, told_openly
from langmemory.ports.facts import Extraction, Fact, SessionSummary
from tests.tables import tables

CASES = tables(__file__)

NS = ("memories", "home")

CONFIDED = CASES["confided"]

OPEN = CASES["open"]


@pytest.mark.parametrize(
    ("why", "text"), [(why, text) for why, texts in CONFIDED.items() for text in texts.split("|")]
)
def test_what_is_confided_is_known(why: str, text: str) -> None:
    """Requests in four languages, and what is told of surprises, health and money, are known by rule."""
    assert confidence_of(text) == why


@pytest.mark.parametrize("text", OPEN.split("|"))
def test_ordinary_talk_stays_open(text: str) -> None:
    """Talk that only looks like it is for everybody."""
    assert confidence_of(text) is None


def say(store: MemoryStore, *texts: str, owner: str | None = "mia", thread: str = "t") -> list[str]:
    """One turn of the user, an answer, and so on."""
    keys: list[str] = []
    for place, text in enumerate(texts):
        role = "assistant" if place % 2 else "user"
        said = [{"role": role, "content": text, "id": f"{thread}{len(keys)}{text[:9]}"}]
        keys += store.remember(NS, said, thread_id=thread, owner=owner)
    return keys


def seen(store: MemoryStore, viewer: str) -> set[str]:
    return {
        str(i.value.get("content") or i.value["text"])
        for i in store.for_viewer(viewer).search(NS, limit=99)
    }


@pytest.mark.parametrize(
    "request_", ["Keep that to yourself.", "Behalt das für dich.", "别告诉任何人。"]
)
def test_a_request_hides_what_was_said_before_it(store: MemoryStore, request_: str) -> None:
    """A confided message, the answers to it and its earlier facts become private to their owner;
    others find neither them nor their words beside other turns."""
    say(store, "The bins go out on Thursday.", "Noted.")
    say(store, "I work at a circus called Zirkon.", "At Zirkon, how nice.")
    build_reflection_graph(store).invoke({"namespace": list(NS)})
    assert any("circus" in text or "Zirkon" in text for text in seen(store, "noor"))
    say(store, request_, "My lips are sealed.")
    build_reflection_graph(store).invoke({"namespace": list(NS)})
    assert seen(store, "noor") == {"The bins go out on Thursday.", "Noted."}
    assert any("Zirkon" in text for text in seen(store, "mia"))
    noor = store.for_viewer("noor").recall("Zirkon circus", NS, limit=20)
    assert all("Zirkon" not in one.text and not one.parts.get("keyword") for one in noor.results)
    assert "Zirkon" in store.for_viewer("mia").recall("Zirkon circus", NS).results[0].text


async def test_what_is_made_private_is_recorded_and_can_be_undone(store: MemoryStore) -> None:
    """The run that made turns private says why, and undoing it shows them to everybody again."""
    said = [
        ("user", "I'm pregnant."),
        ("assistant", "Congratulations on the pregnancy!"),
        ("user", "Tea?"),
    ]
    await store.aremember(NS, said, thread_id="t", owner="mia")
    assert seen(store, "noor") == {"Tea?"}
    [run] = [run for run in store.changes.runs(NS) if run.kind == "maintenance"]
    assert run.reason == "2 memories made private: about the speaker's health"
    assert "pregnan" not in run.reason.replace("pregnancy", "")
    store.changes.undo(run.id)
    assert len(seen(store, "noor")) == 3


def test_a_rule_hides_nothing_where_nobody_owns_it_or_it_is_off(tmp_path: Path) -> None:
    """Without an owner nothing is made private, since nobody could read it; nor where it is switched
    off, or the application says that it is public."""
    off = Config(privacy=PrivacyConfig(confidences=False))
    with MemoryStore(tmp_path / "off.db", config=off) as store:
        say(store, "I'm pregnant.")
        assert seen(store, "noor") == {"I'm pregnant."}
    with MemoryStore(tmp_path / "on.db") as store:
        say(store, "I'm pregnant.", owner=None)
        store.remember(NS, [("user", "I earn 60k")], thread_id="x", owner="mia", privacy="public")
        assert seen(store, "noor") == {"I'm pregnant.", "I earn 60k"}


@pytest.mark.parametrize(
    ("text", "open_", "secret"),
    [
        ("I work at Aldi. My salary is 2100 euros. I live in Ghent.", ["Aldi", "Ghent"], "2100"),
        ("I'm in debt, 9000 euros. My brother Piet lives in Lund.", ["Piet", "Lund"], "9000"),
        ("Ich wohne in Jena. Mein Gehalt ist 3000 Euro.", ["Jena"], "3000"),
        ("Vivo en Lugo. Gano 3000 euros al mes.", ["Lugo"], "3000"),
        ("我住在成都。我的工资是八千。", ["成都"], "八千"),
        ("I have diabetes. I live in Cork.", ["Cork"], "diabetes"),
    ],
)
def test_other_sentences_of_a_confidential_turn_are_shared(
    store: MemoryStore, text: str, open_: list[str], secret: str
) -> None:
    """The turn is private, and of its facts those that its confidential sentences tell; a later request
    makes all of it private."""
    say(store, text)
    build_reflection_graph(store).invoke({"namespace": list(NS)})
    others = " ".join(seen(store, "noor"))
    assert all(word in others for word in open_)
    assert secret not in others
    assert text not in others
    assert text in seen(store, "mia")
    store.remember(NS, [("user", "Keep that to yourself.")], thread_id="t", owner="mia")
    assert not seen(store, "noor")


def test_what_goes_on_with_a_confidence_stays_private(store: MemoryStore) -> None:
    """A sentence that speaks of the same, and all of a turn that tells of a surprise."""
    text = "I have cancer. The operation is in Ghent on 4 May. I live in Cork."
    assert not told_openly("The operation is in Ghent on 4 May", text)
    assert told_openly("Mia lives in Cork", text)
    say(store, "I'm planning a surprise party for Noor. I live in Cork.")
    build_reflection_graph(store).invoke({"namespace": list(NS)})
    assert not seen(store, "noor")


def test_the_whole_of_a_turn_that_was_given_as_private_stays_so(store: MemoryStore) -> None:
    """An application's word is about all of a turn, whatever its sentences say."""
    text = "I live in Ghent. My salary is 2100 euros."
    store.remember(NS, [("user", text)], thread_id="t", owner="mia", privacy="private")
    build_reflection_graph(store).invoke({"namespace": list(NS)})
    assert not seen(store, "noor")
    assert any("Ghent" in one for one in seen(store, "mia") - {text})


class Model:
    """Says that one fact of a batch is private, as a model does."""

    def extract(self, batch: Batch, *, names: Any = ()) -> Extraction:
        facts = [
            Fact(
                text=f"Mia said: {turn.text}", evidence=(turn.key,), said_at=turn.said_at,
                speaker=turn.speaker, owner=turn.owner,
                privacy="private" if "elections" in turn.text else "shared",
            )
            for turn in batch.turns
        ]  # fmt: skip
        summary = SessionSummary(
            text="Mia talked of " + ", ".join(turn.text for turn in batch.turns)
        )
        return Extraction(facts=tuple(facts), summary=summary)

    async def aextract(self, batch: Batch, *, names: Any = ()) -> Extraction:
        return self.extract(batch)


def test_a_private_fact_of_a_model_hides_its_turn(store: MemoryStore) -> None:
    """Where a model says that a fact is private, its turn and the summary that retells it are, too;
    undoing the reflection gives the turn back, and it is read no second time meanwhile."""
    for text in ("I vote for the greens in all elections.", "The bins go out on Thursday."):
        store.remember(NS, [("user", text)], thread_id="t", owner="mia")
    done = build_reflection_graph(store, extractor=Model()).invoke({"namespace": list(NS)})
    assert len(done["runs"]) == 1
    assert store.admin.unread_threads() == []
    assert seen(store, "noor") == {
        "The bins go out on Thursday.", "Mia said: The bins go out on Thursday."
    }  # fmt: skip
    assert len(seen(store, "mia")) == 5
    store.changes.undo(done["runs"][0])
    assert "I vote for the greens in all elections." in seen(store, "noor")
