"""Mistyped words of a query are read as what was probably meant; right ones stay."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from langmemory.recall import default_vocabulary, render, run
from langmemory.recall.intent import read_intent
from langmemory.recall.spelling import MOST_MEANT, MOST_WORDS, correct_spelling
from langmemory.types import Recall
from langmemory.wire import plain
from tests.recall.memory_source import NOW, MemorySource, memory
from tests.tables import tables

CASES = tables(__file__)

VOCABULARY = default_vocabulary()
SAID = CASES["said"]


@pytest.fixture
def source() -> MemorySource:
    return MemorySource(
        [memory(n, text, speaker="Robert", valid_at=NOW) for n, text in enumerate(SAID, start=1)]
    )


def read(source: MemorySource, query: str) -> dict[str, tuple[str, ...]]:
    return dict(correct_spelling(query, read_intent(query, NOW), source, VOCABULARY).meant)


def ask(source: MemorySource, query: str, **options: object) -> Recall:
    vector = VOCABULARY.embedder.embed_documents([query])[0]
    options = {"vector": vector, "now": NOW, "vocabulary": VOCABULARY, "limit": 1} | options
    return run(query, source, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "typed", "meant"),
    CASES["one_slip_is_mended"],
)
def test_one_slip_is_mended(source: MemorySource, query: str, typed: str, meant: str) -> None:
    """Two letters in each other's place, one too few, too many or wrong: also where the index has the
    word without its ending."""
    assert read(source, query) == {typed: (meant,)}


@pytest.mark.parametrize(
    "query",
    CASES["what_is_right_or_no_prose_stays"],
)
def test_what_is_right_or_no_prose_stays(source: MemorySource, query: str) -> None:
    """Known words, words that the table knows, names in programs, addresses and quotations stay."""
    assert read(source, query) == {}
    assert correct_spelling(query, read_intent(query, NOW), source, VOCABULARY).text == query


def test_a_name_stays_a_name(source: MemorySource) -> None:
    """The capital of a name and what stands around it stay."""
    query = "So, Kathrina's cake (what KIND)?"
    text = correct_spelling(query, read_intent(query, NOW), source, VOCABULARY).text
    assert text == "So, Katharina's cake (what KIND)?"


def test_umlauts_may_be_written_out(source: MemorySource) -> None:
    """ "Mueller" finds "Müller" in an English question too, though it is a name by itself."""
    assert read(source, "Who is Mueller?") == {"mueller": ("muller",)}


def test_letters_of_two_characters_are_letters(source: MemorySource) -> None:
    """A name typed with combining marks is one word."""
    assert read(source, "Who is Mu\u0308ller?") == {}
    assert read(source, "Who is Katharí\u0301na?") == {}


def test_a_missing_space_is_seen(source: MemorySource) -> None:
    """Two known words in one are two; a name is not taken apart."""
    assert read(source, "what did thehotel cost") == {"thehotel": ("the hotel",)}
    assert read(source, "Who is Lenacello?") == {}


def test_several_words_as_near_are_all_looked_up() -> None:
    """Nobody can tell whether "Katharna" is Katharina or Katharona: both are meant."""
    said = [memory(1, "Katharina sings."), memory(2, "Katharona dances."), memory(3, "Tea.")]
    found = read(MemorySource(said), "Who is Katharna?")["katharna"]
    assert set(found) == {"katharina", "katharona"}
    assert len(found) <= MOST_MEANT


def test_what_is_out_of_scope_is_not_meant(source: MemorySource) -> None:
    """A word that only memories out of scope hold is neither looked up nor told."""
    source.hidden = frozenset(("katharina",))
    assert read(source, "What does Kathrina bake?") == {}


def test_english_words_that_nobody_said_are_mended_too(source: MemorySource) -> None:
    """A mistyped English word is corrected although no memory contains it; other languages are
    not."""
    assert read(source, "What about a restaruant?") == {"restaruant": ("restaurant",)}
    assert read(source, "¿Qué tal el restaruant?") == {}


def test_so_many_words_are_mended() -> None:
    """Of a text of mistyped words the first `MOST_WORDS` are mended, whatever it costs to look."""
    words = [f"{letter}aluvoren" for letter in "bcdfghjklmnp"]
    assert len(words) > MOST_WORDS
    mistyped = " ".join(word.replace("vo", "ov") for word in words)
    assert list(read(MemorySource([memory(1, " ".join(words))]), mistyped).values()) == [
        (word,) for word in words[:MOST_WORDS]
    ]


def test_a_mistyped_name_is_found_and_told(source: MemorySource) -> None:
    """Recall finds what a mistyped question is about, and says how it read it."""
    found = ask(source, "What does Kathrina bake?", explain=True)
    assert found.query == "What does Kathrina bake?"
    assert found.results[0].text == SAID[0]
    assert "katharina" in found.results[0].explanation.matched_words
    assert found.trace.intent["spelling"] == {"kathrina": ["katharina"]}
    assert plain(found)["trace"]["intent"]["spelling"] == {"kathrina": ["katharina"]}
    screen = io.StringIO()
    Console(file=screen, width=120).print(render(found))
    assert "read: katharina for kathrina" in map(str.rstrip, screen.getvalue().splitlines())


def test_a_mistyped_speaker_is_the_speaker() -> None:
    """Who spoke is told by a mistyped name as by the right one."""
    turns = [
        memory(n, f"I had tea number {n}.", speaker=who, thread_id="t", position=n, valid_at=NOW)
        for n, who in enumerate(("Katharina", "Robert"))
    ]
    source = MemorySource(turns)
    for name in ("Katharina", "Kathrina", "Robert", "Robret"):
        found = ask(source, f"Which tea did {name} have?", explain=True)
        meant = {"Kathrina": "Katharina", "Robret": "Robert"}.get(name, name)
        assert found.results[0].speaker == meant


def test_without_a_mistyped_word_nothing_changes(source: MemorySource) -> None:
    """Where all words are known, neither intent nor trace says anything of spelling."""
    found = ask(source, "What does Katharina bake?", explain=True)
    assert "spelling" not in found.trace.intent


def test_a_source_that_knows_no_words_is_asked_nothing(source: MemorySource) -> None:
    """A source of one's own need not tell its words."""

    class Plain:
        def __getattr__(self, name: str) -> object:
            if name in ("known", "holds", "stems"):
                raise AttributeError(name)
            return getattr(source, name)

    found = ask(Plain(), "What does Kathrina bake?", explain=True)  # type: ignore[arg-type]
    assert "spelling" not in found.trace.intent
