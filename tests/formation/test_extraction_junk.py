"""The negative list: what may not become memory, in four languages, and what must."""

from __future__ import annotations

import time
from typing import Any

import pytest

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.junk import without_junk
from langmemory.ports.facts import (
    Claim,
    CoreSuggestion,
    Extraction,
    Fact,
    FactKind,
    SessionSummary,
)
from tests.formation.test_extraction import NOON, batch, turn
from tests.tables import tables

CASES = tables(__file__)

TALK = batch(
    turn(1, "I moved to Lisbon and I work at Initech. My sister Eva loves coffee.", "Maria Silva"),
    turn(2, "Hello Maria! Thanks a lot.", "Tom"),
)


def sifted(text: str, *evidence: str, talk: Batch = TALK, kind: FactKind = "fact") -> str | None:
    """Why a fact was dropped; None if it was kept."""
    keys = tuple(f"s1/m{number}" for number in evidence or ("1",))
    fact = Fact(text=text, evidence=keys, said_at=NOON, kind=kind)
    found = without_junk(Extraction(facts=(fact,)), talk)
    assert len(found.facts) + len(found.dropped) == 1
    return found.dropped[0] if found.dropped else None


@pytest.mark.parametrize(
    ("reason", "junk"),
    [
        ("too short", ["Maria", "Lisboa.", "ok ok", "北京", "x" * 5, ""]),
        ("too long to be one statement", ["Maria said " + "many words " * 80]),
        ("a question", ["Where does Maria live?", "¿Dónde vive Maria", "Wo wohnt Maria? ",
        "玛丽亚住哪里？"]),
        ("a refusal", ["I'm sorry, but I can't help", "As an AI language model I have no facts"]),
        (
            "small talk",
            ["Hello Maria!", "Good morning, how are you?", "Thank you so much!",
             "Guten Morgen, Maria",
             "Vielen Dank!", "Hola, buenos días", "muchas gracias", "你好！谢谢你", "哈哈哈哈哈哈"],
        ),
        (
            "a time of the moment",
            ["It is 3 pm", "It's 15:30 in Berlin.", "The current time is 10:05 a.m.",
             "Today is Monday, May 6, 2024",
             "Es ist 15 Uhr", "Heute ist Montag, der 6. Mai", "Son las tres de la tarde",
             "Hoy es lunes 6 de mayo",
             "现在是下午三点", "今天是2024年5月6日 星期一"],
        ),
        (
            "about the conversation",
            ["The user asked about the weather", "User wants to know the capital of France",
             "The assistant explained how photosynthesis works",
             "The conversation was about Lisbon",
             "The user greeted the assistant", "No new memories were found",
             "No personal information was shared",
             "Der Nutzer fragt nach dem Wetter", "Der Benutzer hat nach dem Weg gefragt",
             "Die Nutzerin bedankt sich",
             "El usuario preguntó por el tiempo", "La asistente sugirió un libro", "用户询问了天气",
             "没有新的信息"],
        ),
        (
            "does not stand alone",
            ["She moved to Lisbon", "I moved to Lisbon", "It's her favourite city",
             "My sister is called Eva",
             "This is important to Maria", "Sie wohnt in Lissabon", "Meine Schwester heißt Eva",
             "Das ist ihr Hund",
             "Ella vive en Lisboa con un perro", "Su hermana se llama Eva", "她住在里斯本", "我的妹妹叫小雨"],
        ),
        ("a recalled memory", ["Maria lives in Lisbon [R:1a2b3c4d]",
        "<recalled_memories> Maria lives in Lisbon"]),
    ],
)  # fmt: skip
def test_junk_is_left_out(reason: str, junk: list[str]) -> None:
    """Whatever the extractor, none of these becomes a memory, and the reason says why."""
    assert {text: sifted(text) for text in junk} == dict.fromkeys(junk, reason)


@pytest.mark.parametrize(
    "text",
    CASES["what_only_looks_like_junk_is_kept"],
)
def test_what_only_looks_like_junk_is_kept(text: str) -> None:
    """Names that are pronouns elsewhere, times that matter and greetings inside of sentences stay."""
    assert sifted(text) is None


def dialogue(*said: tuple[str, str]) -> Batch:
    return batch(
        *(
            turn(n, text, {"user": "Maria", "assistant": "Ada"}.get(role, role), role)
            for n, (role, text) in enumerate(said, 1)
        )
    )


@pytest.mark.parametrize(
    ("text", "evidence", "kind", "reason"),
    [
        ("Paris is the capital of France", "2", "fact", "only the assistant says so"),
        ("Paris is the capital of France", "1", "fact", "repeats the assistant"),
        ("Maria lives in Berlin", "2", "fact", "only the assistant says so"),
        ("Ada will remind Maria to call the bank", "2", "plan", None),
        ("The assistant will remind Maria to call the bank", "2", "plan", None),
        ("The assistant knows France well", "2", "fact", "only the assistant says so"),
        ("Maria plans a trip to France", "1", "plan", None),
        ("Maria has to pay 100 euros to Eve", "3", "plan", "only a tool says so"),
        ("Rex is a terrier", "5", "fact", None),
        ("Rex is a terrier", "1", "fact", "repeats the assistant"),
        ("Maria is grateful", "6", "fact", "small talk"),
        ("Maria likes dogs", "77", "fact", "no evidence"),
    ],
)
def test_only_persons_are_believed(
    text: str, evidence: str, kind: FactKind, reason: str | None
) -> None:
    """An assistant is believed about what it will do, or when a person agrees; a tool never is."""
    talk = dialogue(
        ("user", "What is the capital of France? We plan a trip."),
        ("assistant", "Paris is the capital of France. I will remind you to call the bank."),
        ("tool", "Note to self: Maria has to pay 100 euros to Eve."),
        ("assistant", "I see. Rex is a terrier."),
        ("user", "Exactly!"),
        ("user", "Thank you so much!"),
    )
    assert sifted(text, evidence, talk=talk, kind=kind) == reason


def test_what_the_assistant_repeats_stays_what_a_person_said() -> None:
    """A person's statement is kept although the assistant said it again."""
    talk = dialogue(("user", "I moved to Lisbon."), ("assistant", "Maria moved to Lisbon. Great!"))
    assert sifted("Maria moved to Lisbon", "1", talk=talk) is None


def test_recalled_memories_are_not_learnt_again() -> None:
    """Recalled text in a turn is no statement of that turn; the rest of the turn is."""
    block = "<recalled_memories>\n- Maria is allergic to peanuts\n</recalled_memories>\nI like tea."
    talk = batch(turn(1, block))
    assert sifted("Maria is allergic to peanuts", talk=talk) == "a recalled memory"
    assert sifted("Maria likes tea", talk=talk) is None


def test_copies_become_one_fact_with_all_evidence() -> None:
    """Statements that differ in case and final stop only are one."""

    def fact(text: str, key: str) -> Fact:
        return Fact(text=text, evidence=(key,), said_at=NOON)

    found = without_junk(
        Extraction(facts=(fact("Maria likes tea.", "s1/m1"), fact("maria likes  tea", "s1/m2"))),
        batch(turn(1, "I like tea."), turn(2, "Tea is what I like.")),
    )
    assert [(each.text, each.evidence) for each in found.facts] == [
        ("Maria likes tea.", ("s1/m1", "s1/m2"))
    ]
    assert found.dropped == ("said twice",)


def test_copies_of_different_owners_stay_apart() -> None:
    """One person's confided statement is not merged with another person's open one."""

    def fact(key: str, **rights: Any) -> Fact:
        return Fact(text="Eva is moving out", evidence=(key,), said_at=NOON, **rights)

    talk = batch(turn(1, "Eva is moving out, psst!"), turn(2, "Eva is moving out."))
    facts = (fact("s1/m1", owner="maria", privacy="private"), fact("s1/m2"))
    assert without_junk(Extraction(facts=facts), talk).facts == facts


def test_one_turn_says_the_same_words_once() -> None:
    """However an extractor contradicts itself in between, one sentence of one turn is one fact."""

    def fact(place: str) -> Fact:
        claim = Claim(subject="Maria", relation="lives_in", object=place)
        return Fact(text=f"Maria lives in {place}", evidence=("s1/m1",), said_at=NOON,
                    claims=(claim,))  # fmt: skip

    talk = batch(turn(1, "I live in Lisbon, I live in Porto, I live in Lisbon."))
    facts = without_junk(
        Extraction(facts=tuple(map(fact, ("Lisbon", "Porto", "Lisbon")))), talk
    ).facts
    assert [one.text for one in facts] == ["Maria lives in Lisbon", "Maria lives in Porto"]


def test_one_turn_says_a_thing_once_for_one_circle() -> None:
    """Two extractions of the same statement from one turn become one fact, with the stricter
    privacy."""

    def fact(**rights: Any) -> Fact:
        return Fact(text="Eva is moving out", evidence=("s1/m1",), owner="maria", said_at=NOON,
                    **rights)  # fmt: skip

    talk = batch(turn(1, "Eva is moving out."))
    facts = (fact(privacy="public"), fact(privacy="private"), fact())
    [only] = without_junk(Extraction(facts=facts), talk).facts
    assert only.privacy == "private"


@pytest.mark.parametrize(
    ("suggestion", "privacy", "kept"),
    [
        (("Prefers short answers", "s1/m1"), "shared", True),
        (("Prefers short answers", "s1/m2"), "shared", False),
        (("What is it?", "s1/m1"), "shared", False),
        (("Is ill", "s1/m1"), "private", False),
    ],
)
def test_core_suggestions_are_sifted_too(
    suggestion: tuple[str, str], privacy: Any, kept: bool
) -> None:
    """Only persons suggest, and no private words of one go where several read."""
    text, key = suggestion
    talk = batch(
        turn(1, "Be brief.", owner="maria", privacy=privacy),
        turn(2, "I am brief.", "assistant", "assistant"),
    )
    core = (CoreSuggestion(block="human", text=text, evidence=(key,)),)
    found = without_junk(Extraction(core=core), talk)
    assert bool(found.core) is kept
    assert len(found.dropped) == (not kept)


def test_a_greeting_needs_no_summary() -> None:
    """Where persons only greeted, nothing is summed up."""
    summary = SessionSummary(text="Maria and Ada greeted each other.")
    greeting = dialogue(("user", "Hi Ada!"), ("assistant", "Hello Maria, how can I help?"))
    assert without_junk(Extraction(summary=summary), greeting).summary is None
    assert without_junk(Extraction(summary=summary), TALK).summary == summary


def test_a_long_silly_message_is_looked_through_quickly() -> None:
    """No pattern goes through a hostile text again and again."""
    for text in ("ha" * 300, "hello " * 99 + "x", "哈" * 599, "it is " + "1 " * 290, "a " * 299):
        talk = batch(Turn(key="s1/m1", text=text, role="user", speaker="M", said_at=NOON))
        began = time.thread_time()
        sifted(text, talk=talk)
        assert time.thread_time() - began < 1  # with patterns compiled, .03 at most
