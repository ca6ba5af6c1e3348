from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage
from typer.testing import CliRunner

from langmemory.cli.app import app
from langmemory.errors import ConfigError, ModelUnavailableError
from langmemory.parts.evals import SAMPLE, load, named_systems
from langmemory.parts.evals.answering import FULL_CONTEXT, answer, word_overlap
from tests.scripted import ScriptedModel


def _reads(messages: Sequence[BaseMessage]) -> str:
    """Answers with every note: right where the evidence is among them."""
    return messages[0].text.partition("\n\n")[2].partition("\n\nQuestion")[0]


def _judges(messages: Sequence[BaseMessage]) -> str:
    """Says yes where an answer has the words of the right one."""
    right, _, given = messages[0].text.partition("Right answer: ")[2].partition("\nAnswer: ")
    words = set(right.casefold().split()) - {"in", "the", "of", "her"}
    return "Yes." if all(word.strip(",'s") in given.casefold() for word in words) else "**no**"


def test_a_reader_answers_from_what_each_system_finds() -> None:
    """Notes have their day and stand in order; the whole conversation stands beside the systems."""
    reader, corpus = ScriptedModel(otherwise=_reads), load(SAMPLE)
    systems = named_systems(["langmemory", "keyword"])
    answers = {
        one.name: one for one in answer(corpus, systems, reader, ScriptedModel(otherwise=_judges))
    }
    assert list(answers) == ["balanced", "keyword arm", FULL_CONTEXT]
    asked = [one.question for one in answers["balanced"].answered]
    assert len(asked) == 7  # the question that nothing answers is left out
    assert all(one.cost.calls == 7 and not one.cost.failures for one in answers.values())
    assert all(one.judging.calls == 7 for one in answers.values())
    assert answers[FULL_CONTEXT].share("right", "multi-hop") == 1.0
    assert answers["balanced"].share("right") >= answers["keyword arm"].share("right") > 0.5
    notes = answers["balanced"].answered[-1].answer.splitlines()
    assert "[2025-02-07] Lin: Noted: lemon cake then." in notes
    assert notes == sorted(notes, key=lambda line: line[:12])


def test_the_end_of_a_long_conversation_is_read() -> None:
    reader, corpus = ScriptedModel(otherwise=_reads), load(SAMPLE)
    [whole] = answer(corpus, {}, reader, ScriptedModel(otherwise="yes"), full_tokens=60)
    shown = whole.answered[0].answer
    assert "lighthouse" in shown
    assert "allotment" not in shown


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("yes", "right"), ("Yes, it does.", "right"), ("<think>no?</think> yes", "right"), ("NO", "wrong"),
        ("yes or no", "unclear"), ("maybe", "unclear"), ("", "unclear"), (RuntimeError("down"), "unclear"),
    ],
)  # fmt: skip
def test_a_verdict_is_read_in_any_form(said: str | Exception, verdict: str) -> None:
    """A judge that says neither, or fails after it answered once, leaves the answer unclear."""
    corpus = load(SAMPLE)
    judge = ScriptedModel(script=["no", said], otherwise="no")
    [whole] = answer(corpus, {}, ScriptedModel(otherwise="garlic"), judge)
    assert whole.answered[1].verdict == verdict


def test_a_model_that_fails_is_named_and_no_answer_is_made_up() -> None:
    corpus = load(SAMPLE)
    with pytest.raises(ModelUnavailableError, match="no route"):
        answer(corpus, {}, ScriptedModel(otherwise=RuntimeError("no route")))
    reader = ScriptedModel(script=["garlic", RuntimeError("gone")], otherwise="garlic")
    [whole] = answer(corpus, {}, reader, ScriptedModel(otherwise="yes"))
    assert [one.verdict for one in whole.answered[:3]] == ["right", "unclear", "right"]
    assert whole.cost.failures == 1


def test_data_without_right_answers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    turn = {"id": "a", "text": "We sleep at the lighthouse."}
    asked = {"question": "Where did we sleep?", "evidence": ["a"]}
    path.write_text("\n".join(map(json.dumps, [{"session": "s", "turns": [turn]}, asked])))
    with pytest.raises(ConfigError, match="'answer'"):
        answer(load(path), {}, ScriptedModel())
    path.write_text(
        "\n".join(
            map(json.dumps, [{"session": "s", "turns": [turn]}, {**asked, "answer": [3, "x"]}])
        )
    )
    assert load(path).questions[0].answers == ("3", "x")


def test_words_in_common() -> None:
    assert word_overlap("Lemon cake!", "lemon cake") == 1.0
    assert word_overlap("a lemon cake", "lemon cake") == pytest.approx(0.8)
    assert word_overlap("", "lemon cake") == word_overlap("walnuts", "lemon cake") == 0.0


def test_the_command_shows_answers_and_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = {
        "local:reader": ScriptedModel(otherwise=_reads),
        "local:judge": ScriptedModel(otherwise=_judges),
    }
    monkeypatch.setattr("langmemory.chat_models.as_chat_model", models.__getitem__)
    out = tmp_path / "out.json"
    chosen = ["--system", "langmemory", "--answers", "local:reader", "--judge", "local:judge"]
    result = CliRunner().invoke(app, ["eval", *chosen, "--json", str(out)])
    assert result.exit_code == 0, result.output
    assert "full context" in result.output
    assert "calls" in result.output
    report = json.loads(out.read_text())
    assert (report["reader"], report["judge"]) == ("local:reader", "local:judge")
    assert [len(one["answered"]) for one in report["systems"]] == [7, 7]
    refused = CliRunner().invoke(app, ["eval", *chosen, "--ablate"])
    assert refused.exit_code == 2
    assert "--ablate" in refused.output
