"""Extraction without a model: what it takes from talk, and all that it leaves alone."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.extractor import Extractor
from langmemory.formation.relations.vocabulary import BY_NAME, relation_named
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.rules.patterns import GRAMMARS
from langmemory.formation.times import resolve_times
from langmemory.ports.facts import READ_IN_PART, Fact
from langmemory.types import Privacy
from tests.tables import tables

CASES = tables(__file__)

SAID = datetime(2026, 11, 11, 13, 56, tzinfo=ZoneInfo("Europe/Berlin"))
"""A Wednesday."""


def turn(text: str, *, key: str = "t1", role: str = "user", speaker: str = "Lena",
         privacy: Privacy = "shared", owner: str | None = None) -> Turn:  # fmt: skip
    return Turn(key=key, text=text, role=role, speaker=speaker, said_at=SAID, privacy=privacy,
                owner=owner)  # fmt: skip


def facts(*turns: Turn, names: Sequence[str] = ()) -> tuple[Fact, ...]:
    batch = Batch(namespace=("memories", "lena"), thread_id="t", turns=turns)
    return RuleExtractor().extract(batch, names=names).facts


def said(text: str, names: Sequence[str] = ()) -> list[tuple[str, str, str]]:
    """Claims of one turn."""
    return [
        (c.subject, c.relation, c.object) for f in facts(turn(text), names=names) for c in f.claims
    ]


ENGLISH = CASES["english"]
GERMAN = CASES["german"]
SPANISH = CASES["spanish"]
CHINESE = CASES["chinese"]


@pytest.mark.parametrize(("text", "claims"), [*ENGLISH, *GERMAN, *SPANISH, *CHINESE])
def test_what_people_say_outright_becomes_claims(text: str, claims: str) -> None:
    """A plain statement about the speaker or somebody of theirs is taken, in four languages."""
    assert "; ".join(" ".join(claim) for claim in said(text)) == claims


NOTHING = CASES["nothing"]


@pytest.mark.parametrize("what", NOTHING)
def test_what_is_no_statement_for_certain_is_left_alone(what: str) -> None:
    """Questions, conditions, wishes, reports, denials, jokes and figures of speech give no fact."""
    for text in NOTHING[what].splitlines():
        assert (text.strip(), said(text.strip())) == (text.strip(), [])


CHIT_CHAT = CASES["chit_chat"]


def test_chit_chat_leaves_nothing() -> None:
    """A page of ordinary talk holds no fact worth keeping, and none is made."""
    turns = [turn(line, key=f"t{n}") for n, line in enumerate(CHIT_CHAT.splitlines())]
    assert [fact.text for fact in facts(*turns)] == []


def test_the_text_stands_alone_in_the_language_of_its_source() -> None:
    """Statements name their subject, also where somebody is known only by a role."""
    assert [f.text for f in facts(turn("I work at Initech. My sister lives in Bremen."))] == [
        "Lena works at Initech.",
        "Lena's sister lives in Bremen.",
    ]
    [german] = facts(turn("Ich wohne seit drei Jahren in Berlin."))
    assert (german.text, german.language) == ("Lena wohnt in Berlin.", "de")
    [unnamed] = facts(turn("I live in Hamburg.", speaker="user"))
    assert unnamed.text == "The user lives in Hamburg."
    assert unnamed.claims[0].subject == "user"
    [sister] = facts(turn("I met my sister Mia.", speaker="user"))
    assert sister.text == "Mia is the user's sister."


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Früher habe ich in Bonn gewohnt.", ("lives_in", "Bonn")),
        ("Antes vivía en Bilbao.", ("lives_in", "Bilbao")),
        ("我以前住在西安。", ("lives_in", "西安")),
        ("我上周从腾讯辞职了。", ("works_at", "腾讯")),
    ],
)
def test_what_was_so_before_is_over(text: str, claim: tuple[str, str]) -> None:
    """A former home or job is claimed as what is no longer so."""
    [fact] = facts(turn(text))
    assert (fact.claims[0].relation, fact.claims[0].object, fact.ends) == (*claim, True)


def test_pasted_text_is_nobodys_statement() -> None:
    """Text after a line that asks for work on it is not about the speaker."""
    asked = "Please fix my English:\nI live in Paris since 2019.\n\nI love cheese."
    assert said(asked) == []
    assert said("Tom: I love cheese.\nand I live in Rome.\n\nI live in Kiel.") == [
        ("Lena", "lives_in", "Kiel")
    ]


@pytest.mark.parametrize(
    "head",
    [
        "From: Claire Hughes <claire@acme.com>\nSubject: Re: invoice",
        "Von: Petra Klein\nBetreff: Urlaub",
        "De: Jorge Ruiz\nAsunto: Reunión",
        "---------- Forwarded message ---------",
        "发件人:王芳\n主题:请假",
    ],
)
def test_a_pasted_letter_is_somebody_elses(head: str) -> None:
    """From the first line of its head on, whatever its paragraphs; what stands before is one's own."""
    letter = f"{head}\n\nHi team,\n\nI live in Bristol. Vivo en Valencia. Ich wohne in Ulm.\n我住在苏州。"
    assert said(letter) == []
    assert said(f"I love cheese.\n\n{letter}") == [("Lena", "likes", "cheese")]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I hate cilantro, seriously", ("Lena", "dislikes", "cilantro")),
        ("I love sushi, bro", ("Lena", "likes", "sushi")),
        ("Soy alérgica a los mariscos, ojo", ("Lena", "allergic_to", "mariscos")),
        ("Me encantan las empanadas, hermano", ("Lena", "likes", "las empanadas")),
    ],
)
def test_a_word_after_a_comma_makes_no_list(text: str, claim: tuple[str, str, str]) -> None:
    """A list ends with "and"; what hangs behind a comma may be anything."""
    assert said(text) == [claim]


def test_statements_are_written_as_people_do() -> None:
    """An article goes with what follows it."""
    assert [f.text for f in facts(turn("I'm an engineer at Siemens."))] == [
        "Lena works at Siemens as an engineer."
    ]


def test_a_fact_carries_the_turn_it_comes_from() -> None:
    """Evidence, speaker, owner, privacy and time are those of the turn; repeats add evidence."""
    first = turn("I live in Hamburg.", key="a", owner="lena", privacy="private")
    again = turn("As I told… well. I live in Hamburg!", key="b", owner="lena", privacy="private")
    [fact] = facts(first, again)
    assert fact.evidence == ("a", "b")
    assert (fact.speaker, fact.owner, fact.privacy) == ("Lena", "lena", "private")
    assert fact.said_at == SAID


def test_assistants_and_tools_are_no_witnesses() -> None:
    """Statements of a model or a tool about the speaker are ignored."""
    assert (
        facts(turn("I live in Hamburg.", role="assistant"), turn("I live in Rome.", role="tool"))
        == ()
    )


def test_recalled_memories_are_not_extracted_again() -> None:
    """Text that recall put into a message is not what its speaker said."""
    echoed = "<recalled_memories>\nI live in Rome.\n</recalled_memories>\nI live in Hamburg."
    assert said(echoed) == [("Lena", "lives_in", "Hamburg")]


@pytest.mark.parametrize(
    ("text", "claim"),
    CASES["an_end_is_marked_as_one"],
)
def test_an_end_is_marked_as_one(text: str, claim: tuple[str, str, str]) -> None:
    """That something is over is a statement of its own, with the claim that is over."""
    [fact] = facts(turn(text))
    assert fact.ends
    assert said(text) == [claim]


@pytest.mark.parametrize(
    ("text", "corrects"),
    CASES["a_correction_is_marked_as_one"],
)
def test_a_correction_is_marked_as_one(text: str, corrects: bool) -> None:
    """Only words that take something back make a correction; "no" may answer a question, and then
    what was true before stays so."""
    [fact] = facts(turn(text))
    assert fact.corrects is corrects


@pytest.mark.parametrize(
    ("text", "valid_at", "invalid_at"),
    [
        ("I moved to Munich last week.", "2026-11-02", None),
        ("I moved to Munich in December.", "2025-12-01", None),
        ("I've been vegetarian since 2017.", "2017-01-01", None),
        ("I lived in Rome from 2010 to 2015.", "2010-01-01", "2016-01-01"),
        ("I worked at Initech until 2019.", "2020-01-01", None),
        ("I live in Berlin until March.", None, "2027-04-01"),
        ("Ich arbeite bei Bosch nur noch bis März.", None, "2027-04-01"),
        ("I start at Aigua Clara on 1 September.", "2027-09-01", None),
        ("My last day at Kontur Verlag is Friday, 20 November.", "2026-11-20", None),
        ("I live in Hamburg.", None, None),
        ("Ich wohne seit 2020 in Berlin.", "2020-01-01", None),
        ("我从2019年起住在上海。", "2019-01-01", None),
        ("I've worked at Initech for five years.", "2021-01-01", None),
        ("Llevo dos años viviendo en Sevilla.", "2024-01-01", None),
        ("Ich wohne schon vier Jahre in Jena.", "2022-01-01", None),
        ("我在腾讯工作了六年。", "2020-01-01", None),
        ("Next month I live in Porto.", "2026-12-01", None),
        ("I work at Hooli from January.", "2027-01-01", None),
        ("我下个月搬到北京。", "2026-12-01", None),
    ],
)
def test_times_bound_what_they_are_said_of(
    text: str, valid_at: str | None, invalid_at: str | None
) -> None:
    """The time of a clause becomes the validity of its statement, in the speaker's timezone."""
    [fact] = [resolve_times(fact, said_at=fact.said_at) for fact in facts(turn(text))]
    for got, expected in ((fact.valid_at, valid_at), (fact.invalid_at, invalid_at)):
        assert got == (
            datetime.fromisoformat(expected).replace(tzinfo=SAID.tzinfo) if expected else None
        )


@pytest.mark.parametrize(
    ("text", "begun", "over"),
    [
        ("I started at Initech in 2011 and quit in 2014.", 2011, 2014),
        ("I moved to Ghent in 2011. Left in 2014.", 2011, 2014),
        ("My sister Ana moved to Rome in 2011 and moved away in 2014.", 2011, 2014),
        ("Ich bin 2011 nach Jena gezogen und 2014 wieder weggezogen.", 2011, 2014),
        ("Me mudé a Lugo en 2011 y me fui en 2014.", 2011, 2014),
        ("Mi sono trasferita a Lecce nel 2011 e me ne sono andata nel 2014.", 2011, 2014),
        ("我2011年搬到成都，2014年搬走了。", 2011, 2014),
        ("I moved to Ghent in 2011 and quit smoking in 2014.", 2011, None),
        ("I moved to Ghent in 2011 and left on holiday in 2014.", 2011, None),
    ],
)
def test_what_began_and_is_over_held_only_between(text: str, begun: int, over: int | None) -> None:
    """A clause that names nothing ends what began before it, at the time it tells."""
    found = [resolve_times(one, said_at=one.said_at) for one in facts(turn(text))]
    states = [one for one in found if one.claims[0].relation in ("lives_in", "works_at")]
    lasted = {one.ends: (one.valid_at, one.invalid_at) for one in states}
    start, end = lasted[False]
    assert start is not None
    assert start.year == begun
    assert (end.year if end else None) == over
    assert (lasted[True][0] == end) if over else True not in lasted


@pytest.mark.parametrize(
    "text",
    [
        "我住在成都吧。",
        "我住在成都很久了。",
        "我住在成都三年了。",
        "我住在成都已经半年了。",
        "我在成都生活了好几年了。",
        "我搬到成都已经两个月啦。",
    ],
)
def test_a_place_ends_before_particles_and_durations(text: str) -> None:
    """A script without spaces does not make them part of a name."""
    assert said(text) == [("Lena", "lives_in", "成都")]


@pytest.mark.parametrize(
    "text",
    [
        "our old dog Bruno died last year so no more walks", "Our cat Mimi was put down yesterday.",
        "We've lost our rabbit Hop.", "My late cat Tom was lovely.",
        "Unser Hund Rex ist über die Regenbogenbrücke gegangen.",
        "Tuvimos que sacrificar a nuestro perro Rex.",
        "Abbiamo dovuto sopprimere il nostro cane Rex.", "我们家的狗叫旺财，去年走了。",
    ],
)  # fmt: skip
def test_a_dead_pet_is_no_pet(text: str) -> None:
    """Who tells of the death of an animal has none of its name."""
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("we got a hamster, hes cute and loves carrots", ("Lena", "has_pet", "hamster")),
        ("my wife is Melina", ("Melina", "wife_of", "Lena")),
        ("my boss is German", ("Lena's boss", "nationality", "German")),
        ("my birthdays on october 12", ("Lena", "born_on", "october 12")),
        ("new job at Halden from march", ("Lena", "works_at", "Halden")),
        ("Pia cant have gluten so double check the cake", ("Pia", "does_not_eat", "gluten")),
        ("her boy Nils, hes 9", ("Nils", "age", "9")),
        ("my sisters called katrin", ("Katrin", "sister_of", "Lena")),
        ("i live in galway now", ("Lena", "lives_in", "Galway")),
        ("my cousin who moved away is called Ada", ("Ada", "cousin_of", "Lena")),
    ],
)
def test_what_is_typed_in_haste_is_read(text: str, claim: tuple[str, str, str]) -> None:
    """Apostrophes and capitals may be missing, and "he" is whoever was named last, never the speaker."""
    assert said(text) == [claim]


@pytest.mark.parametrize(
    "text",
    ["i live in fear", "i live in pyjamas", "my wife is Happy", "my son is Lego mad",
     "we go hiking in Ticino", "Kids cant have coffee", "hes loud and hates visitors"],
)  # fmt: skip
def test_no_name_or_place_is_made_of_other_words(text: str) -> None:
    """What only looks like one in small letters is left alone."""
    assert said(text) == []


def test_plans_and_events_say_their_date() -> None:
    """A plan without its date would be worthless later, and two trips to one place are two."""
    texts = [
        f.text
        for f in facts(turn("I'm flying to Oslo on 3 March."), turn("I went to Oslo in May."))
    ]
    assert texts == ["Lena plans to travel to Oslo (2027-03-03).", "Lena visited Oslo (2026-05)."]


def test_plans_of_the_moment_are_no_facts() -> None:
    """Requests for today, for the past or for an unknown time are ignored."""
    for text in ("I'm flying to Oslo today.", "I'm flying to Oslo.", "I'm going to Rome tonight."):
        assert said(text) == []


def test_known_names_are_subjects_and_keep_their_spelling() -> None:
    """Somebody known speaks for themselves in a sentence; strangers do not."""
    text = "Emil is badly allergic to hazelnuts."
    assert said(text) == []
    assert said(text, names=["Emil"]) == [("Emil", "allergic_to", "hazelnuts")]
    assert said("My sister katrin.", names=["Katrin"]) == [("Katrin", "sister_of", "Lena")]
    later = facts(turn("My brother Jonas is here."), turn("Jonas lives in Kiel.", key="t2"))
    assert [f.text for f in later] == ["Jonas is Lena's brother.", "Jonas lives in Kiel."]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "My sister Katrin has a son called Emil.",
            {("Katrin", "sister_of", "Lena"), ("Emil", "son_of", "Katrin")},
        ),
        ("Katrin has a dog called Bello.", {("Katrin", "has_pet", "Bello")}),
        (
            "Meine Schwester Katrin hat einen Sohn namens Emil.",
            {("Katrin", "sister_of", "Lena"), ("Emil", "son_of", "Katrin")},
        ),
    ],
)
def test_the_relatives_of_others_are_theirs(text: str, claims: set[tuple[str, str, str]]) -> None:
    """Whose son or pet somebody is, the subject of the sentence says, not who tells it."""
    assert set(said(text, names=("Katrin",))) == claims


def test_relations_are_those_formation_knows() -> None:
    """Every relation of the rules is one of `relations`, so that the guards apply to it."""
    names = {rule.relation for grammar in GRAMMARS.values() for rule in grammar.rules}
    names |= {f"{role}_of" for grammar in GRAMMARS.values() for role in grammar.kin.values()}
    open_ended = {"kin", "pet", "favourite_{other}"}
    unknown = {name for name in names - open_ended if relation_named(name).name not in BY_NAME}
    assert unknown == set()


async def test_it_is_an_extractor_on_both_doors() -> None:
    """Sync and async give the same, with the signature of the protocol, without a model call."""
    extractor: Extractor = RuleExtractor()
    batch = Batch(namespace=("x",), thread_id="t", turns=(turn("I live in Hamburg."),))
    found = extractor.extract(batch)
    assert await extractor.aextract(batch) == found
    assert (found.model_calls, found.summary) == (0, None)
    assert inspect.signature(RuleExtractor.extract) == inspect.signature(Extractor.extract)


@pytest.mark.parametrize(
    "text",
    ["", " ", "?" * 5000, "I live in " * 3000, "\ue000 I live in \ue001",
        "My birthday is \ue000.",
        "29 February to 3 March 2021",
        "today " * 40 + "x", "（（（", "'" * 999, "I\n" * 999,
     "ich " * 2000, "我" * 5000, "\ud800 I live in Rome", "No, " * 999, "a" * 100_000,
     "31.12.9999 in 99 years and 0 decades ago, in 999 decades"],
)  # fmt: skip
def test_no_text_makes_it_fail(text: str) -> None:
    """Empty, endless, broken and hostile text gives no error."""
    facts(turn(text), turn(text, key="t2", speaker=""), names=["", " ", "I"])


@pytest.mark.parametrize("one", ["\n", "-", "- ", " ", "\t\n", "`", "> ", "' ", "(("])
def test_a_message_of_one_character_is_read_like_any_other(one: str) -> None:
    """A text made to keep the worker busy for minutes yields no fact and is read fast."""
    assert said(f"Good morning {one * 50_000}x") == []


def test_of_a_very_long_message_its_ends_are_read(caplog: pytest.LogCaptureFixture) -> None:
    """The rules read the text before and after a pasted log. They skip the middle, and a log line
    and the extraction say so. Text after a colon there is still somebody else's."""
    log = "".join(f"12:00:{n % 60:02} worker {n} did its job.\n" for n in range(5_000))
    text = f"I live in Rome.\n{log}I live in Oslo.\n{log}My sister Ana lives in Bonn."
    batch = Batch(namespace=("n",), thread_id="t", turns=(turn(text), turn("Hi", key="t2")))
    with caplog.at_level("WARNING", "langmemory.formation"):
        found = RuleExtractor().extract(batch)
    assert [fact.text for fact in found.facts if "lives" in fact.text] == [
        "Lena lives in Rome.", "Ana lives in Bonn.",
    ]  # fmt: skip
    assert found.dropped == (READ_IN_PART,)
    assert [record.message.split()[:2] for record in caplog.records] == [
        ["read_in_part", "turns=1"]
    ]
    quoted = f"I live in Rome. Ana wrote:\n{log}{log}I live in Oslo."
    assert [fact.text for fact in facts(turn(quoted))] == ["Lena lives in Rome."]


def test_who_has_no_name_yet_says_it() -> None:
    """ "I'm Priya." is a name where the messages have none; "I'm Irish" and "I'm tired" are not."""
    said_by_nobody = {
        text: [one.text for one in facts(turn(text, speaker="user"))]
        for text in ("I'm Priya.", "I'm Irish.", "I'm tired.")
    }
    assert said_by_nobody == {
        "I'm Priya.": ["The user's name is Priya."],
        "I'm Irish.": ["The user is Irish."],
        "I'm tired.": [],
    }
