"""Words: what is searched for, and that no query is ever syntax."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langmemory.engines.sqlite.keyword_search import match_expression
from langmemory.languages import (
    LANGUAGES,
    compared,
    detect_language,
    index_text,
    is_correction,
    keyword_terms,
    passages,
    sentence_starts,
    word_forms,
)
from tests.seeds import examples
from tests.tables import tables

CASES = tables(__file__)


@pytest.fixture(scope="module")
def fts() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE words USING fts5(body, tokenize='porter unicode61 remove_diacritics 2')"
    )
    return connection


def found(connection: apsw.Connection, text: str, query: str) -> bool:
    """Whether a document of this text is found by this query."""
    connection.execute("DELETE FROM words")
    connection.execute("INSERT INTO words(body) VALUES (?)", (index_text(text),))
    match = match_expression(keyword_terms(query))
    return bool(connection.execute("SELECT 1 FROM words WHERE words MATCH ?", (match,)).fetchall())


@pytest.mark.parametrize(
    ("query", "code", "terms"),
    CASES["stop_words_follow_the_language"],
)
def test_stop_words_follow_the_language(query: str, code: str, terms: tuple[str, ...]) -> None:
    """A query loses the function words of its own language and no others."""
    assert detect_language(query).code == code
    assert keyword_terms(query) == terms


@pytest.mark.parametrize(
    ("term", "code", "form"),
    CASES["words_are_looked_up_in_other_forms"],
)
def test_words_are_looked_up_in_other_forms(term: str, code: str, form: str) -> None:
    """Inflections and spellings without marks are forms of a word; English has none, as the index
    stems it; nothing is made of short words and numbers."""
    assert form in word_forms([term], LANGUAGES[code])
    assert term not in word_forms([term], LANGUAGES[code])
    assert not word_forms([term], LANGUAGES["en"])
    assert not word_forms(["ab", "2024", "上海"], LANGUAGES[code])


def test_only_stop_words_are_kept() -> None:
    """A query of nothing but stop words searches for these."""
    assert keyword_terms("who are you") == ("who", "are", "you")


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    CASES["scripts_are_found"],
)
def test_scripts_are_found(fts: apsw.Connection, text: str, query: str, expected: bool) -> None:
    """Words are found in scripts without spaces, without accents and in other inflections."""
    assert found(fts, text, query) is expected


@settings(max_examples=examples(300, first=75), deadline=None)
@given(st.text(max_size=80))
def test_no_query_is_syntax(fts: apsw.Connection, query: str) -> None:
    """Whatever a query holds, its expression is valid FTS5 or empty."""
    match = match_expression(keyword_terms(query), (query,))
    if match:
        fts.execute("SELECT count(*) FROM words WHERE words MATCH ?", (match,)).fetchall()


def test_sharp_s_is_found_in_both_spellings() -> None:
    """The index and the query spell ß the same way."""
    assert index_text("Fußball") == "Fussball"
    assert keyword_terms("Fußball") == keyword_terms("FUSSBALL") == ("fussball",)


@pytest.mark.parametrize(
    "text",
    CASES["a_correction_is_known_by_its_words"],
)  # fmt: skip
def test_a_correction_is_known_by_its_words(text: str) -> None:
    """In each language: who rejects, corrects or complains says so in a few ways."""
    assert is_correction(text)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!", "No problem, thank you.", "No, thanks.", "And where does Mira live?",
        "I know, and I like it.", "Nobody told me about the party.", "Nein danke.", "Genau, und wann?",
        "Ich habe noch eine Frage.", "No, gracias.", "¿Y dónde vive Mira?", "谢谢，那她呢？",
        "November is wonderful there.", "",
    ],
)  # fmt: skip
def test_what_goes_on_is_no_correction(text: str) -> None:
    """Thanks, further questions and polite refusals are none."""
    assert not is_correction(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Mein Müsli", "Mu\u0308sli"),
        ("Mein Mu\u0308sli", "Müsli"),
        ("서울의 김치", "\u1100\u1175\u11b7\u110e\u1175"),
    ],
)
def test_composed_and_decomposed_letters_are_the_same(
    fts: apsw.Connection, text: str, query: str
) -> None:
    """Letters typed as one character or as letter and mark find each other."""
    assert found(fts, text, query)


@pytest.mark.parametrize("phrase", ["烤鸭很好", "die Straße", "दिल्ली में", "กรุงเทพ"])
def test_phrases_are_looked_up_as_they_are_indexed(fts: apsw.Connection, phrase: str) -> None:
    """A quoted phrase matches in scripts without spaces and with sharp s."""
    fts.execute("DELETE FROM words")
    fts.execute("INSERT INTO words(body) VALUES (?)", (index_text(f"xx {phrase} yy"),))
    match = match_expression((), (phrase,))
    assert fts.execute("SELECT count(*) FROM words(?)", (match,)).fetchone()[0] == 1


def test_signs_stand_in_the_index_as_in_every_other_file() -> None:
    """The substitutes for vowel signs are part of the file format and independent of Python's
    version."""
    assert index_text("ঢাকা") == "ঢ\ue0beক\ue0be"
    assert index_text("दिल्ली") == "द\ue03fल\ue04dल"  # its stem


@pytest.mark.parametrize(
    ("text", "query"),
    CASES["words_are_found_in_another_inflection"],
)
def test_words_are_found_in_another_inflection(fts: apsw.Connection, text: str, query: str) -> None:
    """Scripts of inflecting languages: a query finds the other forms of its words."""
    assert found(fts, text, query)


def test_words_of_one_stem_are_compared_as_one() -> None:
    """So somebody is known by the genitive of a name, and marks tell no names apart."""
    assert compared("марины") == compared("марина")
    assert compared("zoë") == "zoe"
    assert compared("marina") != compared("marines")


def test_what_is_too_long_for_a_word_is_found_as_it_is(fts: apsw.Connection) -> None:
    """A key or a run of letters of any length is looked up whole, and not remembered."""
    assert found(fts, "код " + "книгами" * 100, "книгами" * 100)
    assert not found(fts, "код " + "книгами" * 100, "книгам" * 100)


def test_stems_are_the_same_in_all_threads() -> None:
    """Several threads write and ask at once."""
    words = [
        f"{beginning}{ending}" for beginning in "бвгдж" for ending in ("ами", "ого", "ила")
    ] * 40
    alone = [index_text(f"ко{word}") for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(index_text, [f"ко{word}" for word in words])) == alone


@pytest.mark.parametrize(
    "text",
    [
        "One sentence here. Another one follows, and then a third! " * 40,
        "no full stop but many words " * 80,
        "x" * 3_000,
        "帐篷进水了。我们把它晒干。" * 120,
        "a\nb\n" * 900,
        "Trailing space. " * 100 + "\n\n\n",
    ],
)
def test_a_long_text_in_passages(text: str) -> None:
    """The passages of a text are the whole of it, in order, and of about the length asked for."""
    parts = passages(text, 300)
    assert "".join(parts).rstrip() == text.rstrip()
    assert len(parts) == round(len(text) / 300)
    assert all(150 <= len(part) <= 600 for part in parts)


def test_passages_begin_with_sentences() -> None:
    """Where there are sentences, a passage is cut between two of them."""
    parts = passages("The tent is wet. We dry it on the fence. " * 30, 200)
    assert all(part.startswith(("The tent", "We dry")) for part in parts)


@pytest.mark.parametrize(("length", "count"), [(0, 1), (749, 1), (751, 2), (500_000, 256)])
def test_how_many_passages(length: int, count: int) -> None:
    """Up to one and a half times the length a text is whole; there are never more than 256."""
    assert len(passages("z" * length, 500)) == count


def test_where_sentences_begin() -> None:
    """Sentences and lines begin after the end of those before; what ends a text begins nothing."""
    text = "Who? Me.\n\nA line, v1.2 of it\n好的。行"
    assert [text[start:][:2] for start in sentence_starts(text)] == ["Wh", "Me", "A ", "好的", "行"]
    assert sentence_starts("Only one. ") == [0]
    assert sentence_starts("") == [0]
