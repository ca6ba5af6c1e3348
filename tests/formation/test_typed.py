"""Words typed in haste, and how the rules of a language write them."""

from __future__ import annotations

import pytest

from langmemory.formation.rules.typed import as_written, spelled_out


@pytest.mark.parametrize(
    ("code", "typed", "written"),
    [
        ("de", "meine frau hat geburtstag", "meine Frau hat Geburtstag"),
        ("de", "pia vertraegt keine milch", "pia verträgt keine Milch"),
        ("de", "meine tochter heisst ida", "meine Tochter heißt ida"),
        ("es", "soy alergica, tengo 9 anos", "soy alérgica, tengo 9 años"),
        ("es", "mi hija nina", "mi hija nina"),
        ("fr", "ma mere et mon beau-frere", "ma mère et mon beau-frère"),
        ("en", "my fiance is allergic to fur", "my fiance is allergic to fur"),
        ("zh", "我老婆叫小美", "我老婆叫小美"),
    ],
)
def test_marks_and_capitals_that_are_left_out_are_put_in(
    code: str, typed: str, written: str
) -> None:
    """A word that the rules write with a mark, or as a noun with a capital, is read without them."""
    assert as_written(typed, code) == written


def test_marks_are_not_missing_where_they_are_used() -> None:
    """Who writes "empecé" leaves out no accent: "dejo" is another word than "dejó"."""
    assert as_written("empecé en mayo y dejo el tenis", "es") == "empecé en mayo y dejo el tenis"
    assert as_written("empece en mayo", "es") == "empecé en mayo"


def test_words_that_may_be_several_stay() -> None:
    """ "trabajo" is no "trabajó" without an accent, for there is such a word."""
    assert as_written("trabajo en zara, vivo en vigo", "es") == "trabajo en zara, vivo en vigo"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("alérgic[oa] al? polen", {"alérgico", "alérgica", "a", "al", "polen"}),
        (r"\b(?:Lehrer|Bäcker)(?:in)?\b", {"Lehrer", "Lehrerin", "Bäcker", "Bäckerin"}),
        (r"\w+erin|[a-z]+lehrer (?P<other>hund)e?", {"hund", "hunde"}),
        (r"(?!nie)(?=oft\b)nur", {"oft", "nur"}),
    ],
)
def test_the_words_of_a_pattern_are_those_it_spells_out(pattern: str, words: set[str]) -> None:
    """Endings in brackets and alternatives are spelled out; what may be any letter is no word."""
    assert spelled_out(pattern) == words
