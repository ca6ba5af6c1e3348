"""Answers as small models give them: what is in them is read, what is not is never made up."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_ollama import ChatOllama

from langmemory.errors import ExtractionError
from langmemory.formation.asking.json_answers import MAX_CHARS, BadAnswerError, json_object
from langmemory.formation.asking.verdicts import verdicts_in
from langmemory.formation.extraction.answers import SCHEMA, read
from langmemory.formation.extraction.extractor import ModelExtractor
from langmemory.ports.facts import Claim, Extraction
from tests.formation.test_extraction import TALK, answer, batch, extract, fact, texts, turn
from tests.ollama_server import OllamaServer, Reply, ToolCall
from tests.scripted import ScriptedModel
from tests.seeds import examples

LISBON = fact("Maria moved to Lisbon", "t1")
REX = fact("Maria has a dog called Rex", "t3")
BOTH = [LISBON["text"], REX["text"]]
WHOLE = answer(LISBON, REX)
ONE, OTHER = answer(LISBON), answer(REX)


def notes(raw: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(raw)
    return value


def calls(*args: Any, content: str = "", broken: tuple[str | None, ...] = ()) -> AIMessage:
    """An answer with parallel tool calls."""
    return AIMessage(
        content,
        tool_calls=[{"name": "Answer", "args": a, "id": str(n)} for n, a in enumerate(args)],
        invalid_tool_calls=[
            {"name": "Answer", "args": a, "id": f"b{n}", "error": "no JSON", "type": "invalid_tool_call"}
            for n, a in enumerate(broken)
        ],
    )  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        calls(notes(ONE), notes(OTHER)),
        calls(LISBON, REX),
        calls(notes(answer()), notes(ONE), notes(OTHER)),
        calls(notes(ONE), notes(ONE), notes(OTHER)),
        calls({"note": "see the next"}, notes(WHOLE)),
        calls(notes(ONE), broken=(OTHER[:-1],)),
        calls(broken=(ONE[:-1], OTHER.replace("]}", "],}"))),
        calls({}, content=WHOLE),
        calls(broken=(None,), content=WHOLE),
    ],
    ids=range(9),
)
def test_parallel_tool_calls_are_all_read(said: AIMessage) -> None:
    """In their order, each with facts or a single one, also where some are empty, the same or broken."""
    found = extract(said)
    assert texts(found) == BOTH
    assert found.model_calls == 1


async def test_parallel_tool_calls_of_ollama_are_all_read() -> None:
    """Through langchain-ollama, too; their summaries stand one after the other, and calls of which none
    can be used are asked for once more."""
    with OllamaServer() as server:
        first = notes(answer(LISBON, summary={"text": "Maria moved."}))
        second = notes(answer(REX, summary={"text": "She has a dog."}, core=[]))
        good = Reply(tool_calls=[ToolCall("Answer", first), ToolCall("Answer", second)])
        bad = Reply(tool_calls=[ToolCall("Answer", {"a": 1}), ToolCall("Answer", {"b": 2})])
        model = ChatOllama(model="llama3.2", base_url=server.url)
        server.script(good, bad, good)
        extractor = ModelExtractor(model, method="function_calling")
        for asked in (1, 2):
            found = await extractor.aextract(TALK)
            assert texts(found) == BOTH
            assert found.summary is not None
            assert found.summary.text == "Maria moved. She has a dog."
            assert found.model_calls == asked


ESCAPED = WHOLE.replace('"', '\\"')
INDENTED = json.dumps(notes(WHOLE), indent=1).replace("\n", "\\n")
SMART = re.sub(r'"([^"]*)"', r"“\1”", WHOLE)


@pytest.mark.parametrize(
    "said",
    [
        f"{ONE}\n{OTHER}",
        f"The form is {answer()}. My notes:\n{WHOLE}",
        f"**t1**\n```json\n{ONE}\n```\n**t3**\n```json\n{OTHER}\n```",
        json.dumps([notes(ONE), notes(OTHER)]),
        json.dumps({"t1": {"facts": [LISBON]}, "t3": {"facts": [REX]}}),
        json.dumps({"facts": {"t1": LISBON, "t3": [REX]}}),
        json.dumps({"facts": [[LISBON], [REX]]}),
        json.dumps({"facts": [json.dumps(LISBON), json.dumps(REX)]}),
        json.dumps({"facts": json.dumps([LISBON, REX])}),
        json.dumps(json.dumps(WHOLE)),
        json.dumps({"notes": [LISBON, REX]}),
        json.dumps({"properties": {"facts": {"type": "array", "items": [LISBON, REX]}}}),
        f"Facts of [t1] and [t3]:\n{json.dumps([LISBON, REX])}",
        f"{json.dumps(LISBON)}\n{json.dumps(REX)}",
        f"First {json.dumps(LISBON)}, then {json.dumps(REX)}.",
        f"<tool_call>\n{json.dumps({'name': 'Answer', 'arguments': LISBON})}\n</tool_call>\n"
        f"<tool_call>\n{json.dumps({'name': 'Answer', 'arguments': REX})}\n</tool_call>",
        "functools" + json.dumps([{"name": "Answer", "arguments": notes(WHOLE)}]),
        ESCAPED,
        INDENTED,
        SMART,
        WHOLE.replace("facts", "Facts").replace("text", "Text").replace("evidence", "EVIDENCE"),
        AIMessage("", additional_kwargs={"reasoning_content": f"So I write\n{WHOLE}"}),
    ],
    ids=range(22),
)
def test_nothing_of_an_answer_in_pieces_is_lost(said: str | AIMessage) -> None:
    """Several objects, one for each turn, entries without their list, JSON in strings, other names and
    quotes: all facts come out, in one call."""
    found = extract(said)
    assert texts(found) == BOTH
    assert found.model_calls == 1


@pytest.mark.parametrize(
    "between",
    [
        "\n\n# Conversation\n\n[t1] Tom (user):\n| I sail.\n\n# Your notes on t1 to t1\n\n",
        "<|im_end|>\n<|im_start|>user\n[t1] Tom: I sail.<|im_end|>\n<|im_start|>assistant\n",
        "<|eot_id|><|start_header_id|>user<|end_header_id|>\nI sail.",
        "\nUser: I sail.\nAssistant: ",
        " [INST] I sail. [/INST] ",
        "\n<start_of_turn>user\nI sail.\n",
    ],
)
def test_what_a_model_goes_on_to_make_up_is_not_read(between: str) -> None:
    """One that does not stop writes the next conversation, too, and its notes on that."""
    assert texts(extract(f"{WHOLE}{between}{answer(fact('Tom sails', 't1'))}")) == BOTH
    assert texts(extract(f"<think>{{}}{between}</think>{WHOLE}")) == BOTH


def test_an_answer_that_breaks_off_after_another_is_asked_about() -> None:
    """Complete facts of a cut-off answer count, and one more call reads the turns it did not
    reach."""
    second = answer(REX, fact("Maria mag Kaffee", "t4"))
    broken = f"{ONE}\n{second[: second.index('Kaffee')]}"
    model = ScriptedModel(script=[broken, answer(fact("Maria mag Tee", "t2"))])
    found = ModelExtractor(model).extract(TALK)
    assert texts(found) == [*BOTH, "Maria mag Tee"]
    assert "12:04:\n| Ich mag Kaffee" in model.prompts[1][-1].text
    assert found.model_calls == 2


def test_an_entry_that_was_finished_is_not_half_a_thing() -> None:
    """Where only the closing brackets are missing, the last fact is kept."""
    found = ModelExtractor(
        ScriptedModel(script=[json.dumps({"facts": [LISBON, REX]})[:-2]], otherwise=answer())
    )
    assert texts(found.extract(TALK)) == BOTH


def test_a_fact_that_cannot_be_parsed_does_not_take_the_others_along() -> None:
    """Those before and after it are read."""
    likes = fact("Maria mag Kaffee", "t4")
    said = (
        answer(LISBON, REX, likes)
        .replace('"text": "Maria has', '"text" "Maria has')
        .replace("Rex", 'Rex"]')
    )
    assert {LISBON["text"], likes["text"]} <= set(texts(extract(said)))


@pytest.mark.parametrize("said", ["none", "None", "", "-", "n/a"])
def test_a_word_for_nothing_is_nothing(said: str) -> None:
    """As a list of facts it is no fact, and no failure."""
    assert extract(json.dumps({"facts": said})) == Extraction(model_calls=1)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["message 1"], ("s1/m1",)),
        (["msg3", "#4"], ("s1/m3", "s1/m4")),
        (["m1"], ("s1/m1",)),
        (["1.0", "['t3']"], ("s1/m1", "s1/m3")),
        ({"t1": "I moved to Lisbon"}, ("s1/m1",)),
        ([{"message_id": 3}], ("s1/m3",)),
        (["“I moved to Lisbon last May …”"], ("s1/m1",)),
        (["my dog  rex loves it."], ("s1/m3",)),
        ([["t1"]], ("s1/m1",)),
        (["I moved to Porto last May"], None),
        (["I can't 3", "I'm 4"], None),
        (["-1"], None),
        (["of"], None),
    ],
)
def test_evidence_is_found_however_it_is_named(said: Any, expected: tuple[str, ...] | None) -> None:
    """By number, or by words that only one turn has; what is neither is no evidence."""
    raw = answer({**LISBON, "evidence": said})
    if expected is not None:
        assert extract(raw).facts[0].evidence == expected
        return
    with pytest.raises(ExtractionError, match="evidence"):
        ModelExtractor(ScriptedModel(script=[raw, raw])).extract(TALK)


@pytest.mark.parametrize("name", ["evidence_ids", "source_ids", "turn", "messageIds", "Turn-IDs"])
def test_evidence_may_be_called_otherwise(name: str) -> None:
    """Names in camelCase, with capitals or hyphens are those that are asked for."""
    found = extract(json.dumps({"facts": [{"sentence": LISBON["text"], name: "t1"}]}))
    assert [(one.text, one.evidence) for one in found.facts] == [(LISBON["text"], ("s1/m1",))]


def test_the_number_of_a_fact_is_no_turn() -> None:
    """A fact without evidence has none, though the model numbered it."""
    assert (
        texts(extract(json.dumps({"facts": [LISBON, {"id": 3, "text": REX["text"]}]}))) == BOTH[:1]
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("9/10", 0.9), ("4 out of 5", 0.8), ("0,9", 0.9), ("0.9 (stated plainly)", 0.9), (9.5, 0.95),
        (95, 0.95), ("95 %", 0.95), (1.2, 1.0), ("very low", 0.1), (10**400, 0.8), (-3, 0.8),
        ([0.9], 0.8), ("ninety percent", 0.8), (float("nan"), 0.8), (True, 0.8),
    ],
)  # fmt: skip
def test_an_amount_is_a_share_however_it_is_written(said: Any, expected: float) -> None:
    """A confidence that is no number counts as omitted; a number too large for a float is no
    error."""
    (found,) = extract(answer({**LISBON, "confidence": said})).facts
    assert found.confidence == pytest.approx(expected)


@pytest.mark.parametrize("said", [{"value": False}, [False], ["no"], 5, "2025-01-01", "null"])
def test_only_true_is_true(said: Any) -> None:
    """A fact ends nothing, and takes nothing back, because something else stands in place of false."""
    (found,) = extract(answer({**REX, "ends": said, "corrects": said})).facts
    assert (found.ends, found.corrects) == (False, False)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("procedural", "procedure"), ("Preference (likes)", "preference"), ("plan|event", "plan"),
        ("how-to", "procedure"), ("Fact.", "fact"), (["event"], "event"), ("Meinung", "fact"),
    ],
)  # fmt: skip
def test_a_kind_is_its_first_word(said: Any, expected: str) -> None:
    """Words around the kind do not change it."""
    assert extract(answer({**REX, "kind": said})).facts[0].kind == expected


@pytest.mark.parametrize("name", ["Maria (user)", "human", "The human", "I"])
def test_the_speaker_has_a_name(name: str) -> None:
    """As the head of a turn writes it, or as a role: in the text and in its claims it is the name."""
    claim = {"subject": name, "relation": "has_pet", "object": "Rex"}
    text = f"{'The human' if name in ('human', 'I') else name} has a dog called Rex"
    (found,) = extract(answer(fact(text, "t3", claims=[claim]))).facts
    assert found.text == REX["text"]
    assert found.claims == (Claim(subject="Maria", relation="has_pet", object="Rex"),)


@pytest.mark.parametrize(
    "claim",
    [
        {"subject": "t3", "relation": "has_pet", "object": "Rex"},
        {"subject": "I", "relation": "has_pet", "object": "Maria"},
        {"subject": "Maria", "relation": "is somebody who has " + "very " * 20, "object": "Rex"},
    ],
)
def test_what_is_no_relation_of_two_things_is_no_claim(claim: dict[str, Any]) -> None:
    """Ids of turns, somebody and themselves, sentences: the fact stays, without the claim."""
    (found,) = extract(answer({**REX, "claims": [claim]})).facts
    assert found.claims == ()


@pytest.mark.parametrize(
    "claims",
    [
        {"claims": json.dumps([{"subject": "Maria", "relation": "has_pet", "object": "Rex"}])},
        {"subject": "Maria", "predicate": "hasPet", "object": "Rex"},
        {"claims": [{"Subject": "Maria", "Relation": "has pet", "Object": "Rex"}]},
    ],
)
def test_claims_are_found_wherever_they_stand(claims: dict[str, Any]) -> None:
    """As JSON in a string, beside the text, under other capitals."""
    (found,) = extract(answer({**REX, **claims})).facts
    assert found.claims == (Claim(subject="Maria", relation="has_pet", object="Rex"),)


def test_instructions_are_no_facts() -> None:
    """Echoes of the prompt or the schema are dropped, unless somebody said so."""
    echoes = [
        "one sentence that can be understood alone",
        "short English verb phrase such as lives_in",
        "…",
    ]
    found = extract(answer(LISBON, *(fact(text, "t1") for text in echoes)))
    assert texts(found) == [LISBON["text"]]
    assert sorted(found.dropped) == [
        "no text",
        "repeats the instructions",
        "repeats the instructions",
    ]
    said = "The assistant will remind Maria to call the bank"
    talk = batch(turn(1, f"{said}, is that so?"))
    assert texts(extract(answer(fact(said, "t1")), talk)) == [said]


def test_facts_in_the_first_person_are_asked_for_once_more() -> None:
    """A model that says "I" throughout is told; if it says so again, the turns stay verbatim and the
    job is marked. Where one fact stands alone, nobody is asked."""
    mine = answer(fact("I have a dog called Rex", "t3"), fact("My home is Lisbon", "t1"))
    model = ScriptedModel(script=[mine, WHOLE])
    found = ModelExtractor(model).extract(TALK)
    assert (texts(found), found.model_calls) == (BOTH, 2)
    assert "never I" in model.prompts[1][-1].text
    with pytest.raises(ExtractionError, match="understood alone"):
        ModelExtractor(ScriptedModel(script=[mine, mine])).extract(TALK)
    assert extract(answer(LISBON, fact("I have a dog called Rex", "t3"))).model_calls == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            [{"pair": 1.0, "verdict": "same"}, {"pair": 10, "verdict": "unsure"}],
            {1: "same", 10: "unsure"},
        ),
        ([{"Pair": "Pair 1 of 3", "Verdict": "Same (short form)"}], {1: "same"}),
        ({"1": "same", "2": "unsure: too little is said"}, {1: "same", 2: "unsure"}),
        ([{"pair": "²", "verdict": "same"}, {"pair": 1, "verdict": "same"}], {1: "same"}),
        ([{"pair": "1 and 2", "verdict": "same"}, {"pair": 3, "verdict": "unsure"}], {3: "unsure"}),
        ([{"pair": 1, "verdict": "same or unsure"}, {"pair": 2, "verdict": "same"}], {2: "same"}),
    ],
)
def test_a_verdict_is_on_the_pair_it_names(given: Any, expected: dict[int, str]) -> None:
    """Numbers are read as one reads them, never as another pair's; what is unclear is no verdict."""
    found = verdicts_in(json.dumps({"verdicts": given}), ("same", "unsure"))
    assert {number: one.verdict for number, one in found.items()} == expected


def test_strings_are_queries_where_these_are_asked_for() -> None:
    """A bare list of them is an answer; a schema that is handed back is none."""
    assert json_object('["a dog", "Lisbon"]', field="queries").value["queries"] == [
        "a dog",
        "Lisbon",
    ]
    with pytest.raises(BadAnswerError, match="schema"):
        json_object(json.dumps(SCHEMA), field="facts", entry="evidence")


@pytest.mark.parametrize(
    "said",
    [
        "{" * MAX_CHARS, "[" * MAX_CHARS, '{"facts": [' * 30_000, "<think>" * 50_000, "[1] " * 50_000,
        "<think>{}" * 40_000 + "}", '{"facts": [{"text": "' + "a" * 50_000, "a" * (MAX_CHARS + 1),
    ],
    ids=range(8),
)  # fmt: skip
def test_a_model_that_runs_away_is_no_crash(said: str) -> None:
    """Whatever it repeats, it is an answer that cannot be used."""
    with pytest.raises(BadAnswerError):
        read(said, turns=["I moved to Lisbon"])


KILOBYTES = examples(300, first=60)


@pytest.mark.parametrize(
    "tail",
    [
        '{"text": "' + 'she said \\"{no}\\" ' * (KILOBYTES * 65),
        '{"text": "' + "x" * (KILOBYTES * 1000),
        "[" * (KILOBYTES * 1000),
    ],
    ids=["quotes", "string", "brackets"],
)
def test_a_long_answer_that_breaks_off_is_read_in_one_pass(tail: str) -> None:
    """All complete facts of a very long answer are read, whatever its incomplete entry holds. One pass
    for each quote or bracket of 300 kB would not end within the hour."""
    found = json_object(f"{ONE[:-2]}, {tail}", field="facts", entry="text")
    assert found.value["facts"][0] == LISBON


def test_thoughts_that_open_again_and_again_are_left_out_in_one_pass() -> None:
    """A model that opens its thoughts 50,000 times and closes them once is read."""
    said = f"{'<think>' * 50_000}</reasoning>{WHOLE}"
    assert json_object(said, field="facts", entry="text").value["facts"] == [LISBON, REX]
