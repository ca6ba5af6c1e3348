"""The evaluation of forgetting: what is asked when, what goes, and what the figures say."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.forgetting.__main__ import main
from benchmarks.forgetting.exam import (
    FACTS,
    RECALL,
    WRONG,
    WRONG_TIMELESS,
    AgeingSystem,
    Exam,
    evaluate_lifecycle,
    parted,
)
from benchmarks.forgetting.orders import KEEP_ALL, ORDERS, OURS, Situation, going
from benchmarks.forgetting.report import lifecycle_report
from langmemory.parts.evals import Corpus, load
from langmemory.parts.evals.metrics import estimate_of_groups
from tests.lifecycle.aged import NOW, aged

SAID = [
    ("Ida's birthday is on 3 May.", "Ida", "birthday", "3 May"),
    ("Ida bought a red kettle.", "Ida", "bought", "kettle"),
    ("Ida plays the viola.", "Ida", "plays", "viola"),
    ("Ida adopted a tabby cat.", "Ida", "adopted", "tabby cat"),
]
ASKED = [
    ("When is Ida's birthday?", ["s0.1"]),
    ("Which kettle did Ida buy?", ["s1.1"]),
    ("Which instrument does Ida play?", ["s2.1"]),
    ("Which pet did Ida adopt?", ["s3.1"]),
]


def corpus(tmp_path: Path, **more: Any) -> Corpus:
    rows: list[dict[str, Any]] = [
        {
            "session": f"s{number}",
            "at": f"2024-0{number + 1}-01T10:00:00+00:00",
            "turns": [{"id": f"s{number}.1", "speaker": "Ida", "text": text}],
            "notes": [
                {
                    "text": text,
                    "evidence": [f"s{number}.1"],
                    "claims": [{"subject": who, "relation": relation, "object": what}],
                }
            ],
        }
        for number, (text, who, relation, what) in enumerate(SAID)
    ]
    rows += [{"question": text, "evidence": evidence, **more} for text, evidence in ASKED]
    path = tmp_path / "ida.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return load(path)


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Exam:
    (found,) = evaluate_lifecycle(corpus(tmp_path_factory.mktemp("talk")), exams=["later"])
    return found


def figure(exam: Exam, policy: str, budget: float, name: str) -> float:
    values = [one.figures[name] for one in exam.answers[policy, budget]]
    known = [one for one in values if one is not None]
    return sum(known) / len(known)


def test_earlier_questions_are_citations_and_later_ones_the_exam(exam: Exam) -> None:
    """Of four questions the two with the older evidence are asked on the way and cite what they find;
    the other two are asked of everything and of every policy at every budget."""
    assert (exam.accesses, exam.cited, exam.derived) == (2, 2, 4)
    asked = {tuple(one.question.text for one in answers) for answers in exam.answers.values()}
    assert asked == {("Which instrument does Ida play?", "Which pet did Ida adopt?")}
    assert len(exam.answers) == 1 + 3 * len(ORDERS)


def test_every_second_question_is_the_mixed_exam(tmp_path: Path) -> None:
    """The mixed exam asks of every age: every second question in the order of evidence."""
    talk = corpus(tmp_path)
    accesses, asked = parted("mixed", talk.conversations[0], talk.questions)
    assert [one.text for _, one in accesses] == [ASKED[0][0], ASKED[2][0]]
    assert [one.text for _, one in asked] == [ASKED[1][0], ASKED[3][0]]


def test_a_question_is_asked_when_the_data_says(tmp_path: Path) -> None:
    """``asked_at`` of a line is when its question is asked, in the exam too."""
    talk = corpus(tmp_path, asked_at="2024-03-15T08:00:00")
    at = datetime(2024, 3, 15, 8, tzinfo=UTC)
    assert {one.at for one in talk.questions} == {at}
    _, asked = parted("later", talk.conversations[0], talk.questions)
    assert {moment for moment, _ in asked} == {at}


def test_policies_keep_what_they_are_given(exam: Exam) -> None:
    """Each policy archives down to its budget; the random one with several seeds."""
    for policy in ("random", "FIFO", "LRU", "least salient", "oracle"):
        assert set(exam.kept[policy, 0.5]) == {0.5}
    assert len(exam.kept["random", 0.5]) > 1


def test_the_oracle_archives_nothing_that_is_asked_for(exam: Exam) -> None:
    """At half, the oracle loses no fact of the exam, and finds what keeping all finds."""
    assert figure(exam, "oracle", 0.5, WRONG) == 0
    kept = figure(exam, KEEP_ALL, 1.0, FACTS + RECALL)
    assert figure(exam, "oracle", 0.5, FACTS + RECALL) == kept == 1


def test_turns_are_found_whatever_was_archived(exam: Exam) -> None:
    """A policy archives derived memories only: turns still answer where the facts are gone."""
    for policy, budget in exam.answers:
        assert figure(exam, policy, budget, RECALL) == 1


def test_the_clock_of_the_replay_decides_what_is_old(tmp_path: Path) -> None:
    """Oldest first lets the oldest go: of questions asked of old facts it loses the first."""
    talk = corpus(tmp_path)
    (exam,) = evaluate_lifecycle(talk, exams=["mixed"])
    lost = [one.figures[WRONG] for one in exam.answers["FIFO", 0.5]]
    assert lost == [1.0, 0.0]


def test_ours_lets_no_timeless_fact_go(exam: Exam) -> None:
    """An active birthday or pet stays whatever the budget; without one in the exam there is no figure."""
    found = {one.figures[WRONG_TIMELESS] for one in exam.answers[OURS, 0.25]}
    assert found == {None, 0.0}
    some = aged({"temporal_class": "timeless", "days": 900}, {"relation": "bought"})
    at = Situation(now=NOW, keep=0, needed=frozenset(), texts={"k0": "", "k1": ""})
    assert going(ORDERS[OURS], some, at) == ("k1",)


def test_a_label_in_the_data_makes_a_fact_timeless(tmp_path: Path) -> None:
    """A fact counts as timeless by our rules, or by the label of its note, though no rule knows it."""
    [talk] = corpus(tmp_path).conversations
    sessions = list(talk.sessions)
    note = sessions[1].observations[0]
    labelled = replace(note, more={**note.more, "timeless": True})
    sessions[1] = replace(sessions[1], observations=(labelled,))
    talk = replace(talk, sessions=tuple(sessions))
    system = AgeingSystem()
    try:
        assert list(system.told(talk)) == [1, 2, 3, 4]
        facts, turns, _ = system.aged(talk)
        found = {turn for key in system.timeless(talk, facts) for turn in turns[key]}
    finally:
        system.close()
    assert found == {"s0.1", "s1.1", "s3.1"}


def test_intervals_are_over_conversations() -> None:
    """Two conversations that agree in themselves and differ from each other give a wide interval; one
    alone is drawn by its questions; no figure gives none."""
    found = estimate_of_groups([[1.0] * 50, [0.0] * 50])
    assert found is not None
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)
    alone = estimate_of_groups([[1.0, None, 1.0]])
    assert alone is not None
    assert alone.value == 1.0
    assert estimate_of_groups([[None], []]) is None


def test_the_report_says_how_far_ours_leads(tmp_path: Path, exam: Exam) -> None:
    """The report has each policy at each budget with the lead of ours, and is plain JSON."""
    report = lifecycle_report(corpus(tmp_path), [exam])
    (only,) = report.exams
    leads = {(one.policy, one.budget): one.lead for one in only.policies}
    assert leads[KEEP_ALL, 1.0] is None
    assert leads["FIFO", 0.5] is not None
    assert json.loads(json.dumps(report.to_json()))["corpus"] == "ida"


def test_the_command_prints_a_table_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``python -m benchmarks.forgetting`` prints both exams and writes all figures."""
    corpus(tmp_path)
    file = tmp_path / "figures.json"
    main([str(tmp_path / "ida.jsonl"), "--budget", "50", "--json", str(file)])
    printed = capsys.readouterr().out
    assert "exam later" in printed
    assert "exam mixed" in printed
    assert [one["name"] for one in json.loads(file.read_text())["exams"]] == ["later", "mixed"]
