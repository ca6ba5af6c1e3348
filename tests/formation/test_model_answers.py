"""From what a model answers to what a store believes: as a careful person would have noted it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from langmemory import MemoryStore
from langmemory.operations.gathering import Gathering
from tests.believing import believing_graph
from tests.scripted import ScriptedModel

NS = ("memories", "lena")
KIEL = ("Lena lives in Kiel.", ("Lena", "lives_in", "Kiel"))


class Reader:
    """A store, and a model that extracts what a test says and judges every pair the same."""

    def __init__(self, path: Path) -> None:
        self.store = MemoryStore(path / "memory.db")
        self.verdict = "unclear"
        self.judged = 0
        self._notes: dict[str, Any] = {}
        self._graph = believing_graph(self.store, model=ScriptedModel(otherwise=self._answer))

    def hears(
        self,
        *said: str | tuple[str, str],
        day: str = "2023-05-01",
        facts: list[dict[str, Any]],
    ) -> list[str]:
        """Lena, or who is named, says this; what its reflection runs are."""
        told = [one if isinstance(one, tuple) else ("Lena", one) for one in said]
        self.store.remember(
            NS,
            [
                {
                    "role": "user",
                    "name": name,
                    "content": text,
                    "at": f"{day}T10:0{minute}:00+02:00",
                }
                for minute, (name, text) in enumerate(told)
            ],
            thread_id=day,
        )
        self._notes = {"facts": facts}
        runs: list[str] = self._graph.invoke({"namespace": NS})["runs"]
        return runs

    def believes(self) -> set[str]:
        """Facts that hold."""
        keys = [one.key for one in self.store.search(NS, limit=100) if one.key.startswith("fact/")]
        with Gathering(self.store).knowledge(NS) as knowledge:
            found = [known.memory for key in keys if (known := knowledge.by_key(key))]
        return {one.text for one in found if one.status == "active" and one.invalid_at is None}

    def claims(self, name: str) -> set[tuple[str, str]]:
        """Relations that hold of somebody, and to what."""
        graph = self.store.graph(NS)
        found = graph.entity(name)
        return {
            (
                edge.relation,
                edge.literal or (edge.object or "").partition("/")[2].rpartition("-")[0],
            )
            for edge in (found.edges if found else ())
            if found and edge.subject == found.key and edge.status == "active"
        }

    def _answer(self, messages: list[BaseMessage]) -> str:
        asked = str(messages[0].content)
        if asked.startswith("You read"):
            return json.dumps(self._notes)
        pairs = re.findall(r"Pair (\d+)", str(messages[-1].content))
        if asked.startswith("You compare"):
            self.judged += 1
            return json.dumps({"verdicts": [{"pair": n, "verdict": self.verdict} for n in pairs]})
        return json.dumps({"verdicts": [{"pair": n, "verdict": "unsure"} for n in pairs]})


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    found = Reader(tmp_path)
    with found.store:
        yield found


def fact(text: str, *claims: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    triples = [dict(zip(("subject", "relation", "object"), each, strict=True)) for each in claims]
    return {"text": text, "evidence": ["t1"], "kind": "fact", "claims": triples, **more}


def test_no_longer_is_no_repetition(reader: Reader) -> None:
    """ "No longer works at Initech" ends "works at Initech", also where the model forgets to say so,
    and an undo brings it back."""
    works = ("Lena", "works_at", "Initech")
    reader.hears("I work at Initech.", facts=[fact("Lena works at Initech.", works)])
    over = fact("Lena no longer works at Initech.", works)
    [run] = reader.hears("I no longer work there.", day="2023-06-01", facts=[over])
    assert reader.believes() == {"Lena no longer works at Initech."}
    reader.store.changes.undo(run)
    assert reader.believes() == {"Lena works at Initech."}


@pytest.mark.parametrize(
    "text",
    [
        "Lena never lived in Bonn.",
        "Lena would live in Bonn if she found a job.",
        "Lena wants to live in Bonn one day.",
        "Lena's mother lives in Bonn.",
    ],
)
def test_what_is_not_so_ends_nothing(reader: Reader, text: str) -> None:
    """A claim that its own sentence denies, wishes for, or makes of somebody else supersedes
    nothing, and is no edge."""
    reader.hears("I live in Kiel.", facts=[fact(*KIEL)])
    said = fact(text, ("Lena", "lives_in", "Bonn"))
    reader.hears(text, day="2023-06-01", facts=[said])
    assert reader.believes() == {KIEL[0], text}
    assert ("lives_in", "bonn") not in reader.claims("Lena")


def test_a_plan_can_be_called_off(reader: Reader) -> None:
    """That something is over which was only planned is asked about; what holds stays."""
    reader.hears("I live in Kiel.", facts=[fact(*KIEL)])
    bonn = ("Lena", "lives_in", "Bonn")
    reader.hears(
        "I will move to Bonn.", day="2023-06-01",
        facts=[fact("Lena plans to move to Bonn.", bonn, kind="plan")],
    )  # fmt: skip
    reader.verdict = "supersedes"
    off = fact("Lena is not moving to Bonn after all.", bonn, ends=True)
    reader.hears("I am not moving to Bonn after all.", day="2023-07-01", facts=[off])
    assert reader.judged == 2  # in both orders
    assert reader.believes() == {KIEL[0], "Lena is not moving to Bonn after all."}


def test_what_a_fact_says_besides_outlives_it(reader: Reader) -> None:
    """Katrin moves, and is Lena's sister still, by the same evidence; an undo takes both back."""
    text = "Lena's sister Katrin lives in Bremen."
    sister = ("Katrin", "sister_of", "Lena")
    reader.hears(
        "My sister Katrin lives in Bremen.",
        facts=[fact(text, ("Katrin", "lives_in", "Bremen"), sister)],
    )
    moved = fact("Katrin lives in Bonn.", ("Katrin", "lives_in", "Bonn"))
    [run] = reader.hears("Katrin moved to Bonn.", day="2023-06-01", facts=[moved])
    assert reader.believes() == {"Katrin lives in Bonn.", "Katrin is sibling of Lena."}
    assert ("sibling_of", "lena") in reader.claims("Katrin")
    reader.store.changes.undo(run)
    assert reader.believes() == {text}


def test_what_changes_in_the_same_batch_is_not_kept(reader: Reader) -> None:
    """Two halves of one fact change at once: neither comes back as a rest of it."""
    both = fact(
        "Lena lives in Porto with her cat Tofu.",
        ("Lena", "lives_in", "Porto"), ("Lena", "has_pet", "Tofu"),
    )  # fmt: skip
    reader.hears("I live in Porto with my cat Tofu.", facts=[both])
    new = [
        fact("Lena lives in Lisbon.", ("Lena", "lives_in", "Lisbon")),
        fact("Lena no longer has Tofu.", ("Lena", "has_pet", "Tofu"), ends=True),
    ]
    reader.hears("I moved to Lisbon and gave Tofu away.", day="2023-06-01", facts=new)
    assert reader.believes() == {"Lena lives in Lisbon.", "Lena no longer has Tofu."}


def test_a_quarter_does_not_end_its_city(reader: Reader) -> None:
    """A home that names the known one is asked about."""
    reader.hears("I live in Kiel.", facts=[fact(*KIEL)])
    reader.verdict = "both_true"
    text = "Lena lives in Holtenau, a quarter of Kiel."
    reader.hears(text, day="2023-06-01", facts=[fact(text, ("Lena", "lives_in", "Holtenau"))])
    assert reader.judged == 2  # in both orders
    assert reader.believes() == {KIEL[0], text}


def test_a_repetition_with_another_number_is_none(reader: Reader) -> None:
    """A judge that calls 20 hours and 30 hours the same is not believed: a person is asked."""
    reader.verdict = "duplicate"
    for hours, day in (("20", "2023-05-01"), ("30", "2023-06-01")):
        text = f"Lena works {hours} hours a week."
        reader.hears(text, day=day, facts=[fact(text, ("Lena", "working_hours", hours))])
    assert len(reader.believes()) == 2
    assert [review.about for review in reader.store.changes.reviews(NS)] == ["contradiction"]


def test_two_amounts_are_not_names_of_one_thing(reader: Reader) -> None:
    """ "10 mg" is a value whatever the model says, so nobody is asked whether it is "20 mg"."""
    reader.verdict = "supersedes"
    for dose, day in (("10 mg of Ramipril", "2023-05-01"), ("20 mg of Ramipril", "2023-06-01")):
        said = fact(f"Lena takes {dose}.", ("Lena", "takes_dose", dose))
        said["claims"][0]["object_is_entity"] = True
        reader.hears(f"I take {dose} now.", day=day, facts=[said])
    assert reader.believes() == {"Lena takes 20 mg of Ramipril."}
    assert reader.claims("Lena") == {("takes_dose", "20 mg of Ramipril")}


def test_i_is_who_answers(reader: Reader) -> None:
    """Of a question and its answer as evidence, "I" is who the sentence is about."""
    reader.hears("I live in Kiel.", facts=[fact(*KIEL)])
    said = fact("Tom lives in Bonn.", ("I", "lives_in", "Bonn"), evidence=["t1", "t2"])
    talk = ("Where do you live, Tom?", ("Tom", "I live in Bonn."))
    reader.hears(*talk, day="2023-06-01", facts=[said])
    assert reader.believes() == {KIEL[0], "Tom lives in Bonn."}
    assert reader.store.changes.reviews(NS) == []


def test_the_user_is_who_speaks(reader: Reader) -> None:
    """ "The user likes tea" of two people is two facts, each with its name."""
    said = [
        fact("The user likes tea.", ("user", "likes", "tea")),
        fact("The user likes tea.", ("user", "likes", "tea"), evidence=["t2"]),
    ]
    reader.hears("I like tea.", ("Tom", "I like tea, too."), facts=said)
    assert reader.believes() == {"Lena likes tea.", "Tom likes tea."}


def test_what_was_called_off_ends_what_was_told_as_if_it_were_so(reader: Reader) -> None:
    """A festival that is off ends "plays at" too, where that was told without a plan."""
    plays = ("Lena", "plays_at", "Meadow Festival")
    reader.hears("We play Meadow.", facts=[fact("Lena plays at the Meadow Festival.", plays)])
    off = fact("The Meadow Festival is cancelled.", plays, ends=True)
    reader.hears("Meadow is cancelled.", day="2023-06-01", facts=[off])
    assert reader.believes() == {off["text"]}


def test_what_somebody_asks_to_be_without_is_what_they_cannot_have(reader: Reader) -> None:
    """ "Without nuts, please" does not deny an allergy, nor "my sister could" whose sister she is."""
    nuts = fact("Lena is allergic to nuts.", ("Lena", "allergic_to", "nuts"))
    mia = fact("Lena's sister Mia draws.", ("Lena", "has_sister", "Mia"), evidence=["t2"])
    reader.hears("A cake without nuts, please.", "I could ask Mia to draw.", facts=[nuts, mia])
    assert reader.claims("Lena") >= {("allergic_to", "nuts"), ("sibling_of", "mia")}


def test_where_a_host_lives_is_no_part_of_the_plan(reader: Reader) -> None:
    """A plan to visit Mia in Bonn says that she lives there, and a plan to move does not."""
    visit = fact(
        "Lena will be at her sister Mia's in Bonn.", ("Mia", "lives_in", "Bonn"), kind="plan"
    )
    move = fact("Lena is moving to Oslo.", ("Lena", "lives_in", "Oslo"), kind="plan")
    reader.hears("At Christmas I am at Mia's in Bonn, then I move to Oslo.", facts=[visit, move])
    assert reader.claims("Mia") == {("lives_in", "bonn")}
    assert reader.claims("Lena") == {("planned_lives_in", "oslo")}


@pytest.mark.parametrize(
    ("question", "day", "first"),
    [
        ("Where does Lena work?", "2023-05-02", "Lena works at Initech."),
        ("Where does Lena work?", "2023-06-02", "Lena starts at Hooli on 1 June."),
    ],
)
def test_what_was_announced_for_a_day_holds_from_then_on(
    reader: Reader, question: str, day: str, first: str
) -> None:
    """ "Starts at Hooli on 1 June" answers where somebody works from that day on, and not before."""
    reader.hears(
        "I work at Initech.", day="2022-01-10",
        facts=[fact("Lena works at Initech.", ("Lena", "works_at", "Initech"))],
    )  # fmt: skip
    starts = fact(
        "Lena starts at Hooli on 1 June.", ("Lena", "planned_works_at", "Hooli"), kind="event",
        time_words="on 1 June",
    )  # fmt: skip
    reader.hears("Tomorrow week is over. I start at Hooli on 1 June.", facts=[starts])
    now = datetime.fromisoformat(f"{day}T12:00:00+02:00")
    found = reader.store.recall(question, NS, now=now, kinds=("semantic",), limit=2)
    assert found.results[0].text == first


@pytest.mark.parametrize(
    ("question", "later_first"),
    [
        ("What is the price of Lena's mugs?", True),
        ("What was the price of Lena's mugs at first?", False),
    ],
)
def test_the_later_of_two_claims_leads(reader: Reader, question: str, later_first: bool) -> None:
    """Of two values of a relation that nobody knows, the one told later leads, in whatever words; and
    asked for the past, the question keeps its order."""
    old = "Lena raised the price of her mugs to twenty pounds at New Year and nobody complained."
    new = "From this month Lena's mugs are twenty-six."
    for text, price, day in ((old, "20 pounds", "2022-01-10"), (new, "26 pounds", "2023-05-01")):
        claim = ("Lena's mugs", "cost", price)
        reader.hears(text.replace("Lena", "Nora"), day=day, facts=[fact(text, claim)])
    found = reader.store.recall(question, NS, kinds=("semantic",), limit=2).results
    assert [one.text for one in found] == ([new, old] if later_first else [old, new])
