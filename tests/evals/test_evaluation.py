from __future__ import annotations

import json
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from langmemory.parts.evals import SAMPLE, Corpus, Question, System, evaluate, load, render
from langmemory.parts.evals.corpus import Conversation
from langmemory.parts.evals.metrics import WITHIN_BUDGET
from langmemory.parts.evals.systems import SearchHit, SystemUnavailableError


class WordOverlap:
    """Ranks turns by the number of words they share with the question."""

    def __init__(self, *, reverse: bool = False) -> None:
        self.reverse = reverse
        self.conversations: dict[str, Conversation] = {}
        self.closed = False

    def ingest(self, conversation: Conversation) -> None:
        self.conversations[conversation.id] = conversation

    def search(self, question: Question, k: int) -> list[SearchHit]:
        asked = set(question.text.lower().split())
        shared = Counter(
            {
                turn.id: len(asked & set(turn.text.lower().split()))
                for turn in self.conversations[question.conversation].turns
            }
        )
        ranked = [turn for turn, _ in shared.most_common()]
        return [SearchHit((turn,), "") for turn in (ranked[::-1] if self.reverse else ranked)[:k]]

    def close(self) -> None:
        self.closed = True


class Fixed(WordOverlap):
    """Always answers with the same turns."""

    def __init__(self, *turns: str) -> None:
        super().__init__()
        self.turns = turns

    def search(self, question: Question, k: int) -> list[SearchHit]:
        session_of = self.conversations[question.conversation].session_of
        return [SearchHit((turn,), "") for turn in self.turns if turn in session_of]


def missing_system() -> System:
    raise SystemUnavailableError("no such engine here")


@pytest.fixture
def corpus() -> Corpus:
    return load(SAMPLE).with_tuning(["garden"])


def test_pooled_leaves_adversarial_out_and_splits_part_the_conversations(corpus: Corpus) -> None:
    """Every question is in the group it belongs to, and in no other."""
    report = evaluate(corpus, {"words": WordOverlap})
    words = report.system("words")
    assert words.group().questions == 7
    assert words.group("adversarial").questions == 1
    assert words.group(split="tuning").questions == 4
    assert words.group(split="held-out").questions == 3
    assert words.group("temporal", "held-out").questions == 1


def test_session_level_ranks_a_session_by_its_best_turn(corpus: Corpus) -> None:
    """Turns of one session count once, at the rank of the first of them."""
    report = evaluate(
        corpus, {"fixed": lambda: Fixed("b1", "b2", "a1", "c1")}, granularity="session"
    )
    prize = next(o for o in report.system("fixed").outcomes if o.question == "garden/0")
    assert prize.ranking == ("2", "1", "3")
    assert prize.scores["mrr"] == pytest.approx(1 / 3)


def test_a_turn_returned_twice_counts_once(corpus: Corpus) -> None:
    """Repetition neither earns nor wastes a rank."""
    report = evaluate(corpus, {"fixed": lambda: Fixed("b1", "b1", "c1")})
    assert report.system("fixed").outcomes[0].ranking == ("b1", "c1")


class Long(WordOverlap):
    """Answers with three results of 240 tokens; the second speaks of two turns."""

    def search(self, question: Question, k: int) -> list[SearchHit]:
        text = "x" * 4 * (240 - 3)
        return [SearchHit(turns, text) for turns in (("b1",), ("b2", "c1"), ("a1",))]


def test_what_is_read_in_a_budget_is_counted_by_what_it_costs(corpus: Corpus) -> None:
    """Of three results of 240 tokens two are read in 500, and the turns they speak of are found;
    ranks count turns."""
    outcomes = {o.question: o for o in evaluate(corpus, {"long": Long}).systems[0].outcomes}
    found = outcomes["garden/0"]
    assert found.ranking == ("b1", "b2", "c1", "a1")
    evidence = {q.id: set(q.evidence) for q in corpus.questions}
    for name, outcome in outcomes.items():
        expected = len(evidence[name] & {"b1", "b2", "c1"}) / len(evidence[name])
        assert outcome.scores[WITHIN_BUDGET] == pytest.approx(expected)


def test_what_cannot_run_or_be_scored_is_said(tmp_path: Path) -> None:
    """Unavailable systems, missing evidence and unanswerable questions are in table and JSON."""
    file = tmp_path / "holes.jsonl"
    file.write_text(
        '{"session": "1", "turns": [{"id": "t1", "text": "hello"}]}\n'
        '{"question": "hello?", "evidence": ["t1", "t8"]}\n'
        '{"question": "goodbye?", "evidence": ["t9"]}\n'
    )
    report = evaluate(load(file), {"words": WordOverlap, "absent": missing_system})
    assert report.questions == 1
    assert report.unanswerable == ("main/1",)
    assert report.missing_evidence == {"main/0": ("t8",), "main/1": ("t9",)}
    assert report.to_json()["systems"][1]["unavailable"] == "no such engine here"
    text = _printed(report)
    for expected in ("absent not available: no such engine here", "main/0: t8", "main/1"):
        assert expected in text


def test_the_same_evaluation_twice_gives_the_same_report_but_for_timing(corpus: Corpus) -> None:
    """Figures, intervals and rankings are repeatable to the last digit."""

    def run() -> str:
        systems = {"words": WordOverlap, "reverse": lambda: WordOverlap(reverse=True)}
        answer = evaluate(corpus, systems).to_json(rankings=True)
        for system in answer["systems"]:
            assert system.pop("timing").keys() == {"p50_ms", "p95_ms", "ingest_seconds"}
        return json.dumps(answer)

    assert run() == run()


def test_differences_are_paired_with_the_first_system(corpus: Corpus) -> None:
    """A worse system's difference is negative; the first has none to itself."""
    report = evaluate(
        corpus,
        {"words": WordOverlap, "reverse": lambda: WordOverlap(reverse=True)},
        ablations={"words": lambda: WordOverlap(reverse=True)},
    )
    words, reverse = report.systems
    change = report.difference(reverse)["mrr"]
    assert report.difference(words) == {}
    assert change.low < change.value < 0
    assert change.value == pytest.approx(
        reverse.group().metrics["mrr"].value - words.group().metrics["mrr"].value, abs=2e-6
    )
    assert report.difference(report.ablations[0])["mrr"] == change


def test_every_system_is_closed_even_when_it_fails(corpus: Corpus) -> None:
    """A search that raises ends the evaluation, but not before the system is closed."""

    class Broken(WordOverlap):
        def search(self, question: Question, k: int) -> list[SearchHit]:
            raise RuntimeError("broken")

    broken = Broken()
    with pytest.raises(RuntimeError, match="broken"):
        evaluate(corpus, {"broken": lambda: broken})
    assert broken.closed


def test_progress_is_told_about_every_question(corpus: Corpus) -> None:
    """The bar is there before the first question, and ends at their number."""
    told: list[tuple[str, int, int]] = []
    evaluate(corpus, {"words": WordOverlap}, progress=lambda *step: told.append(step))
    assert told == [("words", number, 8) for number in range(9)]


@pytest.mark.parametrize("ablations", [None, {"a stage": WordOverlap}])
def test_the_table_names_systems_categories_and_splits(
    corpus: Corpus, ablations: dict[str, type[WordOverlap]] | None
) -> None:
    """Also a system that is not available, and with an ablation."""
    report = evaluate(corpus, {"words": WordOverlap, "gone": missing_system}, ablations=ablations)
    text = _printed(report)
    for expected in ("words", "multi-hop", "garden (tuning)", "gone not available"):
        assert expected in text


def _printed(report: object) -> str:
    output = StringIO()
    Console(file=output, width=200).print(render(report))  # type: ignore[arg-type]
    return output.getvalue()
