"""Questions that ask for a relation of somebody: what claims it is found, whatever its words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from langmemory.changes import AddEntity, Supersede
from langmemory.formation.relations.questions import relations_asked
from langmemory.formation.relations.vocabulary import BY_NAME, WORDS
from langmemory.stores import MemoryStore
from langmemory.stores.face import bound
from tests.graph_world import NAMESPACE, apply, day, fact
from tests.tables import tables

CASES = tables(__file__)

PEOPLE = CASES["people"]
SAID = (
    "Sticky notes are my whole life, here at the water in Hamburg.",
    "Maps are what I do all day at Kontur.",
    "My sister Katrin sends a card from Bremen every year, wherever we live and work.",
    "My boss asks where we live, where I work and what my job is, again and again.",
    "Where I live? By the work of a friend who has a job in the harbour.",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """Lena has moved and changed her job; her sister lives in Bremen, where Bob works."""
    with MemoryStore(tmp_path / "memory.db") as opened:
        opened.remember(
            NAMESPACE,
            [
                {"role": "user", "name": "Lena", "content": text, "id": str(number)}
                for number, text in enumerate(SAID)
            ],
            thread_id="t",
            at=day("2021-03-02"),
        )
        apply(
            opened,
            "then",
            *(AddEntity(key=key, name=name, kind=kind) for key, (name, kind) in PEOPLE.items()),
            *fact("home", "Lena's home is Hamburg.", "person/lena", "lives_in", "place/hamburg",
                  evidence=["t/0"]),
            *fact("kontur", "Lena has her work at Kontur.", "person/lena", "works_at",
                  "organisation/kontur", evidence=["t/1"]),
            *fact("sister", "Katrin and Lena are siblings.", "person/katrin", "sibling_of",
                  "person/lena", evidence=["t/2"]),
            *fact("bremen", "Katrin has settled in Bremen.", "person/katrin", "lives_in",
                  "place/bremen", evidence=["t/2"]),
            *fact("emil", "Emil is Katrin's boy.", "person/katrin", "parent_of", "person/emil"),
            *fact("nuts", "Emil cannot have hazelnuts.", "person/emil", "allergic_to",
                  literal="hazelnuts"),
            *fact("gym", "Lena trains at Boulderhaus.", "person/lena", "goes_to_gym",
                  literal="Boulderhaus"),
            *fact("bob", "Bob has left Aigua Clara.", "person/bob", "no_longer_works_at",
                  "organisation/clara"),
        )  # fmt: skip
        apply(
            opened,
            "since",
            *fact("clara", "Lena is employed by Aigua Clara.", "person/lena", "works_at",
                  "organisation/clara", since="2023-06-01"),
            *fact("quit", "Lena has left Kontur.", "person/lena", "no_longer_works_at",
                  "organisation/kontur", since="2023-05-01"),
            *fact("valencia", "Lena's home is Valencia.", "person/lena", "lives_in",
                  "place/valencia", since="2023-06-01"),
            Supersede(key="kontur", by="clara", invalid_at=day("2023-06-01")),
            Supersede(key="home", by="valencia", invalid_at=day("2023-06-01")),
        )  # fmt: skip
        yield opened


@pytest.mark.parametrize(
    ("question", "first"),
    CASES["what_claims_the_answer_is_found_first"],
)
def test_what_claims_the_answer_is_found_first(
    store: MemoryStore, question: str, first: str
) -> None:
    """Among turns that have more of its words, a question finds the fact that claims what it asks."""
    assert store.recall(question, NAMESPACE, limit=3).results[0].memory.key == first


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where did Lena live before?", "t/0"),
        ("Where did I live before Valencia?", "t/0"),
        ("Wo habe ich früher gewohnt?", "t/0"),
        ("¿Dónde vivía antes Lena?", "t/0"),
        ("Where did I work before Aigua Clara?", "t/1"),
    ],
)
def test_what_was_before_is_told_by_the_turn_that_said_it(
    store: MemoryStore, question: str, first: str
) -> None:
    """A superseded fact is not recalled; the turn that told it answers questions about the past."""
    keys = [one.memory.key for one in store.recall(question, NAMESPACE, limit=3)]
    assert first in keys
    assert not {"home", "kontur"} & set(keys)


def test_as_of_asks_the_same_of_another_time(store: MemoryStore) -> None:
    """The claim that held at a time answers for that time."""
    found = store.recall("Where does Lena work?", NAMESPACE, limit=2, as_of=day("2022-01-01"))
    assert found.results[0].memory.key == "kontur"


def test_what_another_confided_answers_nobody_else(store: MemoryStore) -> None:
    """A private claim counts for its owner alone, and "I" is not somebody else's "I"."""
    secret = {"privacy": "private", "owner": "lena"}
    apply(
        store,
        "secret",
        *fact("debt", "Lena owes 900 euros to Bob.", "person/lena", "owes_money_to", "person/bob",
              facets=secret),
        *fact("flat", "Lena's address is Calle Sol 3.", "person/lena", "address",
              literal="Calle Sol 3", facets={"owner": "lena"}),
    )  # fmt: skip

    def told(question: str, viewer: str) -> list[str]:
        found = bound(store, viewer).recall(question, NAMESPACE, limit=20, explain=True)
        return [one.memory.key for one in found if one.parts.get("claim", 0.0) > 0]

    assert "debt" in told("To whom does Lena owe money?", "lena")
    assert "debt" not in told("To whom does Lena owe money?", "bob")
    assert "flat" in told("What is my address?", "lena")
    assert "flat" not in told("What is my address?", "bob")


def test_every_relation_asked_for_is_one_that_is_kept() -> None:
    """The words of questions are of known relations, and no question is out of reach."""
    for words in WORDS.values():
        assert not (words.asked.keys() | words.phrases.keys()) - BY_NAME.keys()
        for name, asking in words.asked.items():
            assert all(name in relations_asked("", [word]) for word in asking)


def test_of_very_many_relations_those_with_most_of_the_words_are_followed(
    store: MemoryStore,
) -> None:
    """A model may have named hundreds of relations with one word: the question's others decide."""
    changes = [
        change
        for number in range(100)
        for change in fact(
            f"p{number}", f"Picture {number}.", "person/lena", f"paints_{number}", literal="x"
        )
    ]
    wall = fact("wall", "Terracotta it is.", "person/lena", "paints_walls_in", literal="Terracotta")
    apply(store, "pictures", *changes, *wall)
    found = store.recall("What does Lena paint her walls in?", NAMESPACE, limit=3)
    assert found.results[0].memory.key == "wall"


def test_an_explanation_says_that_it_was_looked_up(store: MemoryStore) -> None:
    """The claim is a channel with a rank, and a part of the score."""
    found = store.recall("Who is Lena's employer?", NAMESPACE, limit=1, explain=True)
    best = found.results[0]
    assert best.parts["claim"] == 1
    assert best.explanation is not None
    assert best.explanation.ranks["claim"] == 1
    assert found.trace.candidates["claim"] > 0
