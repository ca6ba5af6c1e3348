"""Italian is a language by its folder alone: what is read of talk as people type it."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.confidences import confidence_of
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.times import resolve
from langmemory.languages import detect_language, keyword_terms
from langmemory.ports.facts import Fact
from langmemory.recall.intent import read_intent
from langmemory.redaction import redact_credentials
from tests.tables import tables

CASES = tables(__file__)

SAID = datetime(2026, 5, 6, 10, 0, tzinfo=ZoneInfo("Europe/Rome"))
"""A Wednesday."""


def facts(*texts: str) -> tuple[Fact, ...]:
    """What is read of turns; one that ends with a question mark is the assistant's."""
    turns = tuple(
        Turn(
            key=f"t{number}",
            role="assistant" if text.endswith("?") else "user",
            speaker="assistant" if text.endswith("?") else "Lena",
            owner="Lena",
            text=text,
            said_at=SAID + timedelta(minutes=number),
        )
        for number, text in enumerate(texts)
    )
    return (
        RuleExtractor()
        .extract(Batch(namespace=("memories", "x"), thread_id="t", turns=turns))
        .facts
    )


def claims(*texts: str) -> str:
    """The claims of turns, with ``-`` before what is over and ``!`` before what corrects."""
    return "; ".join(
        f"{'-' if fact.ends else '!' if fact.corrects else ''}{claim.subject} {claim.relation} {claim.object}"
        for fact in facts(*texts)
        for claim in fact.claims
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    CASES["italian_is_read"],
)  # fmt: skip
def test_italian_is_read(said: str, expected: str) -> None:
    """What somebody says of themselves and theirs becomes facts."""
    assert claims(said) == expected
    assert {fact.language for fact in facts(said)} == {"it"}


@pytest.mark.parametrize(
    "said",
    [
        "forse vivo a Roma", "vorrei vivere a Londra", "se vivessi a Roma sarei felice",
        "ahah sì certo, vivo sulla luna", "ok grazie mille!", "Marco dice che vivo a Roma",
        "immagina: vivo a Parigi",
    ],
)  # fmt: skip
def test_italian_that_tells_nothing_for_certain(said: str) -> None:
    """Wishes, conditions, jokes, reports and thanks become no facts."""
    assert claims(said) == ""


@pytest.mark.parametrize(
    ("said", "expected"),
    CASES["italian_takes_back"],
)  # fmt: skip
def test_italian_takes_back(said: tuple[str, ...], expected: str) -> None:
    """What somebody takes back is over, and what they correct is so."""
    assert claims(*said) == expected


def test_a_short_answer_in_italian_is_read() -> None:
    """A question and its answer make one sentence."""
    assert claims("Dove vivi?", "A Genova") == "Lena lives_in Genova"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("d'ora in poi rispondi in inglese", "Lena answer_language English"),
        ("chiamami Lele", "Lena addressed_as Lele"),
        ("non usare emoji per favore", "Lena answers_without emojis"),
        ("dammi del tu", "Lena address_formality tu"),
        ("vorrei risposte brevi", "Lena answer_length short"),
    ],
)
def test_requests_in_italian(said: str, expected: str) -> None:
    """How somebody wants to be answered is a request, the same as in other languages."""
    assert claims(said) == expected
    assert {fact.kind for fact in facts(said)} == {"procedure"}


@pytest.mark.parametrize(
    ("words", "start", "end"),
    CASES["italian_times"],
)
def test_italian_times(words: str, start: str, end: str) -> None:
    """Words for a time are a stretch of the calendar."""
    when = resolve(words, said_at=SAID, language="it")
    assert when is not None
    assert (f"{when.start:%Y-%m-%d}", f"{when.end:%Y-%m-%d}") == (start, end)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("cosa ho detto la settimana scorsa sul lavoro?", "2026-04-27", "2026-05-04"),
        ("dove sono stata ieri?", "2026-05-05", "2026-05-06"),
        ("cosa ho detto due settimane fa di mio fratello?", "2026-04-20", "2026-04-27"),
        ("che cosa è successo nel marzo 2025?", "2025-03-01", "2025-04-01"),
    ],
)
def test_a_question_in_italian_names_a_time(query: str, start: str, end: str) -> None:
    """A question about the past is asked of that time."""
    window = read_intent(query, SAID).window
    assert window is not None
    assert (f"{window[0]:%Y-%m-%d}", f"{window[1]:%Y-%m-%d}") == (start, end)


def test_questions_in_italian_are_searched_by_their_words() -> None:
    """Stop words are left out, and the question tells what it asks for."""
    query = "dove lavora la sorella di Lena?"
    assert (
        {"lavora", "sorella", "lena"}
        <= {*keyword_terms(query)}
        <= {"dove", "lavora", "sorella", "lena"}
    )
    assert "where" in read_intent(query, SAID).asks


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("la mia password è Tr4monto!", "Tr4monto!"),
        ("il pin della carta è 4821", "4821"),
        ("la nostra password del wifi è: mare2024x", "mare2024x"),
    ],
)
def test_secrets_in_italian_are_redacted(said: str, secret: str) -> None:
    """What a sentence announces as a secret is not stored."""
    assert secret not in redact_credentials(said).text


def test_confidences_in_italian() -> None:
    """What is to stay between two stays between them."""
    assert confidence_of("Non dirlo a nessuno, ma ho perso il lavoro.") == "request"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Vivo con mi hermana en Roma", "es"), ("Yo vivo en la casa de mi tía", "es"),
        ("I live in Rome with my sister", "en"), ("Me and my ma", "en"), ("no, so do I", "en"),
        ("a non-refundable ticket to Milan", "en"), ("Ha! Come in.", "en"),
        ("Ich wohne da in der Via Roma", "de"), ("sei bitte so nett und komm", "de"), ("我住在罗马", "zh"),
        ("AI and CI are green", "en"),
    ],
)  # fmt: skip
def test_other_languages_stay_what_they_are(text: str, code: str) -> None:
    """Italian takes no text of another language for its own."""
    assert detect_language(text).code == code


def test_a_name_that_is_italian_makes_no_sentence_italian() -> None:
    """A sentence with as many words of another language is read by that as well."""
    assert (
        claims("My sister Mia lives in La Spezia") == "Mia sister_of Lena; Mia lives_in La Spezia"
    )
    assert claims("We live in La Spezia") == "Lena lives_in La Spezia"
