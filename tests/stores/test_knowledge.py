"""`Gathering.knowledge`: what planning may compare with, on one snapshot, and nothing embedded inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from langchain_core.embeddings import Embeddings

from langmemory.changes import AddEntity, AddMemory, ChangeSet, Facets, SetStatus, UpdateMemory
from langmemory.ledger.knowledge import StoreKnowledge
from langmemory.operations.gathering import Gathering
from langmemory.ports.facts import Claim, Knowledge, KnownFact
from langmemory.stores import MemoryStore
from tests.graph_world import NAMESPACE, apply, fact, furnish, nicknamed


class Watched(Embeddings):
    """Letters as vectors; notes each call, and whether a snapshot was held meanwhile."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.knowledge: StoreKnowledge | None = None
        self.held: list[bool] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(list(texts))
        self.held.append(self.knowledge is not None and self.knowledge._reading is not None)
        return [
            [1.0 + text.casefold().count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts
        ]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db") as opened:
        yield furnish(opened)


def keys(facts: Sequence[KnownFact]) -> list[str]:
    return [fact.memory.key for fact in facts]


def test_facts_come_with_claims_and_evidence(store: MemoryStore) -> None:
    """By text, by subject and relation, by source and by key; linked entities answer as one."""
    nicknamed(store)
    with Gathering(store).knowledge(NAMESPACE) as found:
        knowledge: Knowledge = found
        assert knowledge.namespace == NAMESPACE
        (sister,) = knowledge.by_fingerprint(" lena's sister IS Mira")
        assert sister.claims == (
            Claim(subject="person/lena", relation="sister_of", object="person/mira"),
        )
        assert sister.evidence == ("t/1",)
        assert keys(knowledge.about("person/mimi")) == ["job", "cake"]
        assert keys(knowledge.about("person/mira", "works_at")) == ["job"]
        assert keys(knowledge.about("place/zurich")) == []  # it is no subject of anything
        assert keys(knowledge.about("nobody")) == []
        (cake,) = knowledge.by_fingerprint("Mimi bakes cake.")
        assert cake.claims[0] == Claim(
            subject="person/mira", relation="bakes", object="cake", object_is_entity=False
        )
        assert sorted(keys(knowledge.derived_from(["t/1", "t/9"]))) == ["job", "sister"]
        assert [one.name for one in knowledge.entities("mimi")] == ["Mira"]
        assert cake.own == {"person/mira": "person/mimi"}
        assert {"mimi", "mira"} <= {*knowledge.names()}
        for name in ("mimi", "mira"):
            assert [one.key for one in knowledge.called(name)] == [f"person/{name}"]
            found = knowledge.entity(f"person/{name}")
            assert found is not None
            assert found.name.casefold() == name
            assert [one.key for one in knowledge.near_first({name}, 0)] == [found.key]
            alike = [one for one in knowledge.everyone() if one.kind == found.kind]
            assert list(knowledge.everyone(found.kind)) == alike
        assert knowledge.links() == {"person/mimi": "person/mira"}


def test_what_holds_both_ways_is_found_from_either_side(store: MemoryStore) -> None:
    """A marriage is about both, whichever of them the edge begins with; a sister is not."""
    wedding = fact("wedding", "Lena is married to Paul", "person/lena", "married_to", "person/paul")
    apply(store, "wedding", *wedding)
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        assert keys(knowledge.about("person/lena", "married_to")) == ["wedding"]
        assert keys(knowledge.about("person/paul", "married_to")) == ["wedding"]
        assert keys(knowledge.about("person/mira", "sister_of")) == []


def test_only_what_is_believed_counts_but_for_by_key(store: MemoryStore) -> None:
    """Superseded and archived facts are left out, pending ones are in; turns are no facts."""
    apply(
        store,
        "statuses",
        SetStatus(key="colour", status="archived"),
        AddMemory(
            key="new",
            value={"text": "Lena sings.", "fact_kind": "fact"},
            facets=Facets(status="pending"),
        ),
    )
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        assert keys(knowledge.about("person/lena", "works_at")) == ["globex"]
        assert keys(knowledge.by_fingerprint("Lena's favourite colour is teal.")) == []
        assert keys(knowledge.by_fingerprint("lena sings")) == ["new"]
        hooli = knowledge.by_key("hooli")
        assert hooli is not None
        assert hooli.memory.status == "superseded"
        assert hooli.claims[0].object == "organisation/hooli"
        assert knowledge.by_key("t/1") is None
        assert knowledge.by_key("never") is None


def test_nearest_is_pure_cosine_over_facts(store: MemoryStore) -> None:
    """The twin comes first with its exact cosine; turns, core blocks and other namespaces do not."""
    apply(
        store,
        "below",
        AddMemory(key="deep", value={"text": "Mira joined Initech.", "fact_kind": "fact"}),
        namespace=(*NAMESPACE, "deeper"),
    )
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        found = knowledge.nearest("Mira joined Initech.", 3)
        assert found[0][0].memory.key == "job"
        assert found[0][1] == pytest.approx(1, abs=1e-5)
        assert [cosine for _, cosine in found] == sorted((c for _, c in found), reverse=True)
        everything = knowledge.nearest("My sister Mira has a new job!", 50)
        assert {one.memory.kind for one, _ in everything} == {"semantic"}
        assert "deep" not in keys([one for one, _ in everything])
        assert knowledge.similar("Mira", ["Mira", "Zurich"])[0] == pytest.approx(1, abs=1e-5)


def test_nothing_is_embedded_while_a_snapshot_is_held(tmp_path: Path) -> None:
    """`prepare` embeds in one call; a text it was not told of gives the snapshot back meanwhile."""
    watched = Watched()
    store = furnish(MemoryStore(tmp_path / "memory.db", index={"embed": watched, "dims": 26}))
    watched.calls.clear()
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        watched.knowledge = knowledge
        watched.held.clear()
        knowledge.prepare(["one", "two", "one"])
        seq = knowledge.seq
        for text in ("one", "two"):
            assert knowledge.nearest(text, 1)
        assert watched.calls == [["one", "two"]]
        assert keys(knowledge.about("person/mira"))
        store.put(NAMESPACE, "meanwhile", {"text": "Somebody else writes."}, index=False)
        knowledge.nearest("three", 1)
        assert watched.calls[1:] == [["three"]]
        assert knowledge.similar("one", ["one", "two"]) == [0, 0]
        assert not watched.calls[2:]  # thousands of names are not sent to a model server
        assert not any(watched.held)
        assert knowledge.seq == seq  # so that a plan over both is checked from the first


def test_it_reads_one_snapshot(store: MemoryStore) -> None:
    """An open knowledge does not see later writes, and the next one does."""
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        before = knowledge.seq
        apply(
            store,
            "home",
            *fact("home", "Mira lives in Zurich.", "person/mira", "lives_in", "place/zurich"),
        )
        assert keys(knowledge.about("person/mira")) == ["job"]
        assert knowledge.by_key("home") is None
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        assert keys(knowledge.about("person/mira")) == ["job", "home"]
        assert knowledge.seq > before


def test_an_empty_store_knows_nothing(tmp_path: Path) -> None:
    """A namespace nobody wrote to, and a store without an embedder, answer emptily."""
    with (
        MemoryStore(tmp_path / "m.db", index=False) as store,
        Gathering(store).knowledge(("new",)) as knowledge,
    ):
        assert knowledge.seq == 0
        assert list(knowledge.nearest("anything", 5)) == []
        assert list(knowledge.by_fingerprint("anything")) == []
        assert knowledge.similar("one", ["other"]) == [0.0]
        assert list(knowledge.about("anybody")) == list(knowledge.derived_from([])) == []
        assert list(knowledge.entities("anybody")) == list(knowledge.names()) == []
        assert list(knowledge.called("anybody")) == list(knowledge.everyone()) == []
        assert knowledge.entity("anybody") is None


def test_of_very_many_facts_those_are_read_that_are_asked_for(store: MemoryStore) -> None:
    """Facts about a person can be queried by another entity, by a literal and by whether they
    correct something: each query equals a filter over all of them."""
    nicknamed(store)
    apply(
        store, "more",
        *fact("tea", "Lena likes tea", "person/lena", "likes", literal="Tea."),
        *fact("plum", "Lena likes plums", "person/lena", "likes", literal="plums"),
        *fact("paul", "Lena knows Paul", "person/lena", "knows", "person/paul"),
        UpdateMemory(key="plum", value={"text": "No, Lena likes plums", "corrects": True}),
    )  # fmt: skip
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        every = knowledge.about("person/lena")
        for other in ("person/mimi", "person/paul", "place/zurich", "nobody"):
            found = keys(knowledge.about("person/lena", also=other))
            ends = {"person/mira" if other == "person/mimi" else other}
            assert found == [
                one.memory.key
                for one in every
                if any(ends & {claim.subject, claim.object} for claim in one.claims)
            ]
        assert keys(knowledge.about("person/lena", "likes", literal=" tea")) == ["tea"]
        assert keys(knowledge.about("person/lena", "likes", corrects=True)) == ["plum"]
        assert keys(knowledge.about("person/lena", "knows", corrects=True)) == []


def test_of_what_a_speaker_said_few_facts_are_read(store: MemoryStore) -> None:
    """What a sentence may take back is read: the latest facts of each relation, and older ones that it
    names; not all that its speaker ever said."""
    said = {"facets": {"speaker": "lena"}}
    facts = [
        fact(f"like/{name}", f"Lena likes {name}.", "person/lena", "likes", literal=name, **said)
        for name in (f"dish{number:03}x" for number in range(150))
    ]
    home = fact("home", "Lena lives in Ulm.", "person/lena", "lives_in", literal="Ulm", **said)
    apply(store, "told", *home, *(change for one in facts for change in one))
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        near = keys(knowledge.told_by("lena", None, "She likes no dish003x."))
        assert near[:2] == ["like/dish149x", "like/dish148x"]
        assert {"home", "like/dish003x"} <= {*near}
        assert len(near) < 30
        assert keys(knowledge.told_by("mira", None, "likes")) == []
        assert knowledge.names_of(["person/lena", "nobody"]) == {"person/lena": "Lena"}
        assert knowledge.names_of([]) == {}


def test_what_words_take_back_may_be_said_long_ago(store: MemoryStore) -> None:
    """Of a speaker with far more facts than are read, the oldest is found by a word, in another form of it,
    too, and the latest of a relation without any word; what somebody else said is not."""
    said = {"facets": {"speaker": "lena"}}
    old = [
        fact("bike", "Lena has two bikes.", "person/lena", "owns", literal="two bikes", **said),
        *(
            fact(
                f"own/{n}",
                f"Lena has thing{n}.",
                "person/lena",
                "owns",
                literal=f"thing{n}",
                **said,
            )
            for n in range(30)
        ),
        fact("home", "Lena lives in Ulm.", "person/lena", "lives_in", literal="Ulm", **said),
        fact("bob", "Lena bikes.", "person/lena", "likes", literal="x", facets={"speaker": "bob"}),
    ]
    newer = [
        fact(
            f"like/{n}",
            f"Lena likes dish{n:04}.",
            "person/lena",
            "likes",
            literal=f"dish{n:04}",
            **said,
        )
        for n in range(1_200)
    ]
    apply(store, "told", *(change for one in (*old, *newer) for change in one))
    with Gathering(store).knowledge(NAMESPACE) as knowledge:
        by_word = keys(knowledge.told_by("lena", None, "I sold the bike."))
        assert "bike" in by_word
        assert "bob" not in by_word
        by_relation = keys(knowledge.told_by("lena", None, "I moved away."))
        assert "home" in by_relation
        assert "bike" not in by_relation
        assert len(by_relation) < 60


def test_a_long_text_is_found_among_many(tmp_path: Path) -> None:
    """A fact is found by its exact text, also one too long for the index, and no other long text is
    taken for it."""
    words = "Lena went to the sea with everybody she knows, and it rained on all of them, day {}."
    with MemoryStore(tmp_path / "long.db", index=False) as store:
        for n in range(30):
            store.put(NAMESPACE, f"f{n}", {"text": words.format(n)})
        store.put(NAMESPACE, "inner", {"content": {"text": words.format(7)}})
        with Gathering(store).knowledge(NAMESPACE) as knowledge:
            assert keys(knowledge.worded(words.format(7))) == ["f7", "inner"]
            assert keys(knowledge.worded(words.format(77))) == []
            assert isinstance(knowledge, StoreKnowledge)
            reading = knowledge._reading
            assert reading is not None
            assert len(reading.facts) == 2


def test_names_that_a_text_may_speak_of_come_first(tmp_path: Path) -> None:
    """Whoever was added, or undone, since is there or is not; those that share no word follow, the
    oldest first."""
    with MemoryStore(tmp_path / "memory.db") as store:

        def names(*words: str, enough: int = 0) -> list[str]:
            with Gathering(store).knowledge(NAMESPACE) as knowledge:
                return [one.name for one in knowledge.near_first(words, enough)]

        def add(*people: str) -> str:
            made = tuple(AddEntity(key=f"person/{p}", name=p, kind="person") for p in people)
            run = ChangeSet(
                namespace=NAMESPACE, run_id=people[0], kind="correction", reason="", changes=made
            )
            return store.changes.apply(run).run_id

        add("Anna Schmidt", "Tom", "小明")
        assert names("schmidt", "小明") == ["Anna Schmidt", "小明"]
        assert names("schmidt", "小明", enough=9) == ["Anna Schmidt", "小明", "Tom"]
        run = add("Mr Schmidt")
        assert names("schmidt") == ["Anna Schmidt", "Mr Schmidt"]
        store.changes.undo(run)
        add("Jo")
        assert names("schmidt") == ["Anna Schmidt"]
        assert names("jo", enough=3) == ["Jo", "Anna Schmidt", "Tom"]
