"""Names to entities: exact is used, alike is linked or asked about, secret stays secret."""

from __future__ import annotations

import pytest

from langmemory.changes import AddEntity, LinkEntities
from langmemory.formation.entities.names import comparable, entity_key, name_similarity
from langmemory.formation.entities.resolution import Resolution
from langmemory.formation.entities.resolving import resolve
from langmemory.languages.spelling import name_key
from tests.formation.memory_knowledge import MemoryKnowledge, claim, entity, fact, known

LENA = entity_key("Lena", "person")
ANNA_SCHMIDT = entity(entity_key("Anna Schmidt", "person"), "Anna Schmidt")
ANNA_MEYER = entity(entity_key("Anna Meyer", "person"), "Anna Meyer")


def linked(found: Resolution) -> list[tuple[str, str]]:
    return [(c.key, c.same_as) for c in found.changes if isinstance(c, LinkEntities)]


@pytest.mark.parametrize(
    ("name", "norm"),
    [
        ("José", "jose"), ("JOSE ", "jose"), ("Sarah's Café", "sarahs cafe"), ("the Hague", "hague"),
        ("Initech Inc.", "initech"), ("C++", "c++"), ("Straße", "strasse"), ("북경", "북경"),
        ("がくせい", "がくせい"), ("เชียงใหม่", "เชียงใหม่"), ("The", "the"), ("李雷", "李雷"),
    ],
)  # fmt: skip
def test_names_are_compared_without_what_does_not_tell(name: str, norm: str) -> None:
    """Case, accents, articles, apostrophes and legal forms go; what is a letter elsewhere stays."""
    assert name_key(name) == norm


def test_a_key_is_the_same_for_the_same_name() -> None:
    """Keys follow from name and kind alone, and from the owner where the name is a secret."""
    assert entity_key("Lena", "person") == entity_key("LENA", "person")
    assert entity_key("Lena", "person").startswith("person/lena-")
    assert entity_key("Paris", "person") != entity_key("Paris", "place")
    assert entity_key("Lena", "person", owner="ben") != entity_key("Lena", "person")


def test_the_speaker_is_who_says_i() -> None:
    """ "I" and "my mother" mean other people from another mouth."""
    facts = [
        fact("Lena lives in Kiel", claim("I", "lives in", "Kiel")),
        fact("Lena's mother lives in Bonn", claim("my mother", "lives in", "Bonn")),
        fact("Ben's mother lives in Ulm", claim("Mum", "lives in", "Ulm"), speaker="Ben"),
    ]
    found = resolve(facts, MemoryKnowledge())
    subjects = [found.names[one.claims[0].subject] for one in found.facts]
    assert subjects == ["Lena", "Lena's mother", "Ben's mother"]
    assert found.speakers["Lena"] == LENA


def test_short_and_poor_names_are_not_compared() -> None:
    """Below eight letters, or with few different ones, spelling says nothing."""
    assert not any(comparable(name) for name in ("al", "max", "lindsay", "nananananana"))
    assert comparable("lindenstrasse bakery")


def test_spelling_counts_where_it_can() -> None:
    """A surname or a number that differs makes another; a person's every part has to be alike."""
    assert name_similarity("anna schmidt", "anna meyer", person=True) < 0.5
    assert name_similarity("schmidt anna", "anna schmidt", person=True) == 1.0
    assert name_similarity("studio 54", "studio 55", person=False) == 0.0
    assert name_similarity("lindenstrasse bakery", "lindenstrase bakery", person=False) > 0.95


def test_a_likeness_is_a_link_that_can_be_taken_back() -> None:
    """A misspelt thing becomes an entity of its own that is linked; its claim compares as the
    other, its edge is written as itself."""
    bakery = entity(entity_key("Lindenstrasse Bakery", "organisation"), "Lindenstrasse Bakery")
    facts = [fact("Lena works there", claim("I", "works at", "Lindenstrase Bakery"))]
    found = resolve(facts, MemoryKnowledge(entities=[bakery]))
    [(key, same_as)] = linked(found)
    assert same_as == bakery.key != key
    assert found.facts[0].claims[0].object == bakery.key
    assert found.own[0] == {bakery.key: key}


def test_persons_are_never_linked_by_spelling() -> None:
    """One letter apart, two people stay two, with a question."""
    kathy = entity(entity_key("Katherine Miller", "person"), "Katherine Miller")
    facts = [fact("Katharine Miller sings", claim("Katharine Miller", "lives in", "Kiel"))]
    found = resolve(facts, MemoryKnowledge(entities=[kathy]))
    assert not linked(found)
    assert [one.candidates for one in found.unclear] == [(kathy,)]


def test_which_of_two_is_asked_and_nothing_is_claimed() -> None:
    """ "Anna" with two of them known: no edge, but a question with an answer for each."""
    knowledge = MemoryKnowledge(entities=[ANNA_SCHMIDT, ANNA_MEYER])
    found = resolve([fact("Anna sings", claim("Anna", "lives in", "Kiel"))], knowledge)
    assert found.facts[0].claims == ()
    [asked] = found.unclear
    assert set(asked.claims) == {ANNA_SCHMIDT.key, ANNA_MEYER.key}


def test_company_tells_which_is_meant() -> None:
    """Of two Annas the speaker means the one she has spoken of."""
    friend = known(
        "fact/1", "Anna Meyer is Lena's friend", claim(LENA, "friend_of", ANNA_MEYER.key)
    )
    lena = entity(LENA, "Lena")
    knowledge = MemoryKnowledge(friend, entities=[lena, ANNA_SCHMIDT, ANNA_MEYER])
    found = resolve([fact("Anna sings", claim("Anna", "lives in", "Kiel"))], knowledge)
    assert found.facts[0].claims[0].subject == ANNA_MEYER.key
    assert not found.unclear


def test_meaning_only_raises_a_question() -> None:
    """Embeddings of names propose; they never merge."""
    city = entity(entity_key("New York City", "place"), "New York City")
    facts = [fact("Lena went to Big Apple", claim("I", "visited", "Big Apple"))]
    found = resolve(
        facts, MemoryKnowledge(entities=[city]), similar=lambda name, others: [0.95] * len(others)
    )
    assert [one.candidates for one in found.unclear] == [(city,)]
    assert not linked(found)


def test_a_secret_name_is_not_found_by_others() -> None:
    """An entity first named in private is its owner's: another's fact makes its own, and no alias
    or link of a secret is put on what others may see."""
    secret = entity(entity_key("Katharina Winter", "person", owner="lena"), "Katharina Winter")
    anna = entity(entity_key("Ben", "person"), "Ben")
    knowledge = MemoryKnowledge(entities=[secret, anna])
    told = fact("Katharina Winter sings", claim("Katharina Winter", "lives in", "Kiel"),
                speaker="Ben", owner="ben")  # fmt: skip
    found = resolve([told], knowledge)
    assert found.facts[0].claims[0].subject == entity_key("Katharina Winter", "person")
    mine = fact("Lena calls Ben Bear", claim("Ben", "nickname", "Bear", literal=True),
                owner="lena", privacy="private")  # fmt: skip
    names = [c.aliases for c in resolve([mine], knowledge).changes if isinstance(c, AddEntity)]
    assert not any(names)


def test_text_mentions_who_it_names() -> None:
    """A fact without claims speaks of known names in it, by their capitals."""
    will = entity(entity_key("Will", "person"), "Will")
    facts = [fact("Will sings with Lena"), fact("She will sing")]
    found = resolve(facts, MemoryKnowledge(entities=[will]))
    assert set(found.mentions[0]) == {will.key, LENA}
    assert found.mentions[1] == ()


@pytest.mark.parametrize("name", ["'", "\u0301", "’", " "])
def test_a_mark_is_nobody(name: str) -> None:
    """A model's name without a letter or symbol claims nothing and does not stop the reflection."""
    found = resolve([fact("It rains.", claim(name, "lives_in", "Bonn"))], MemoryKnowledge())
    assert found.facts[0].claims == ()
