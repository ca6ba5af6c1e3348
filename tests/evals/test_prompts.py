from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from langmemory.errors import ImportFormatError
from langmemory.parts.evals import (
    Corpus,
    Question,
    evaluate,
    load,
    named_systems,
    render,
)
from langmemory.parts.evals.corpus import NO_ANSWER
from langmemory.parts.evals.metrics import leads
from langmemory.parts.evals.prompts import prompt_figures, prompt_outcomes
from langmemory.parts.evals.systems import Block, SearchHit

TURNS = [
    {"id": "t1", "speaker": "user", "text": "The vet of my dog Oskar is Dr Brandt."},
    {"id": "t2", "speaker": "assistant", "text": "Noted."},
    {"id": "t3", "speaker": "user", "text": "The vet of my dog Oskar is Dr Lindner now."},
]
LINES = [
    {"session": "s1", "at": "2025-03-02T09:00:00+00:00", "turns": TURNS},
    {
        "question": "Who is Oskar's vet?",
        "label": "answerable",
        "category": "now",
        "evidence": ["t3"],
        "rivals": ["t1"],
    },
    {"question": "Thanks a lot!", "label": "idle", "category": "idle", "evidence": []},
    {"question": "Who painted Guernica?", "label": "general", "evidence": []},
    {"question": "What is my blood type?", "label": "foreign", "evidence": []},
]


class Scripted:
    """Answers every prompt but fillers with the same two results, the first of them evidence."""

    makes_blocks = True

    def search(self, question: Question, k: int) -> list[SearchHit]:
        return [SearchHit(("t3",), "", 0.8), SearchHit(("t1",), "", 0.2)]

    def block(self, question: Question) -> Block:
        if question.label == "idle":
            return Block((), 0)
        return Block((("t3",), ("t1", "t2")), 60)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return _corpus(tmp_path, LINES)


def _corpus(folder: Path, lines: list[dict[str, object]]) -> Corpus:
    file = folder / "chat.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return load(file)


def test_precision_counts_entries_and_shares_count_prompts(corpus: Corpus) -> None:
    """One of two entries is evidence where there is an answer, none where there is none; the filler
    gets no block, and so no entry of it counts."""
    figures = prompt_figures(list(prompt_outcomes(corpus.questions, Scripted())))
    assert figures.prompts == {"answerable": 1, "idle": 1, "general": 1, "foreign": 1}
    assert figures.with_block == {"answerable": 1.0, "idle": 0.0, "general": 1.0, "foreign": 1.0}
    assert figures.precision_answerable == 1 / 2
    assert figures.precision == 1 / 6
    assert figures.recall == 1.0
    assert figures.tokens == 60
    assert figures.pairs == 8
    # Evidence at .8 stands above four others at .2 and beside three at .8: (4 + 3 / 2) of 7.
    assert figures.auroc == pytest.approx(5.5 / 7)


def test_questions_without_a_label_are_answerable_where_they_have_evidence(tmp_path: Path) -> None:
    """Files of before are evaluated as they are; a question with no true answer is no prompt."""
    lines = [
        LINES[0],
        {"question": "a?", "evidence": ["t1"]},
        {"question": "b?", "evidence": ["t1"], "category": "adversarial"},
        {"question": "c?", "evidence": ["t9"]},
    ]
    assert [one.prompt for one in _corpus(tmp_path, lines).questions] == ["answerable", None, None]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"label": "fremd"}, "'label' is 'fremd'; it must be one of answerable, idle"),
        ({"rivals": ["t9"]}, "must be a list of ids of turns of 'main'"),
        ({"rivals": "t1"}, "must be a list of ids of turns of 'main'"),
    ],
)
def test_a_wrong_label_or_rival_is_refused_with_its_line(
    tmp_path: Path, changes: dict[str, object], complaint: str
) -> None:
    """A mistyped label would silently move a prompt to another figure."""
    with pytest.raises(ImportFormatError, match=r"line 2: ") as raised:
        _corpus(tmp_path, [LINES[0], {**LINES[1], **changes}])
    assert complaint in str(raised.value)


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        (["x", "new", "old"], True),
        (["old", "new"], False),
        (["x", "new"], True),
        (["x", "old"], False),
        (["x"], False),
    ],
)
def test_evidence_leads_where_it_is_found_before_its_rivals(
    ranking: list[str], expected: bool
) -> None:
    """A rival that is not found is behind; evidence that is not found leads nothing."""
    assert leads(ranking, {"new"}, {"old"}) is expected


def test_asked_before_adds_a_thread_for_each_question_but_fillers(corpus: Corpus) -> None:
    """The question and "I don't know." come after everything said; ids of before keep their turns."""
    (before,), (after,) = corpus.conversations, corpus.asked_before().conversations
    added = after.sessions[len(before.sessions) :]
    assert [s.turns[0].text for s in added] == [
        "Who is Oskar's vet?",
        "Who painted Guernica?",
        "What is my blood type?",
    ]
    assert {s.turns[1].text for s in added} == {NO_ANSWER}
    assert all(s.at > before.sessions[-1].at for s in added if s.at and before.sessions[-1].at)
    assert len({turn.id for turn in after.turns}) == len(after.turns)


def test_recall_is_reported_with_its_blocks_and_asked_before_beside_it(
    corpus: Corpus,
) -> None:
    """Table and JSON have the figures of both; a bare search has no block."""
    report = evaluate(corpus, named_systems(["langmemory", "search"]), asked_before=True)
    once, search, again, _ = report.systems
    assert (once.name, again.name) == ("balanced", "balanced, asked before")
    assert once.prompts is not None
    assert again.prompts is not None
    assert search.prompts is None
    assert once.prompts.prompts["foreign"] == 1
    assert once.prompts.recall == 1.0
    assert once.leading("now")[1] == 1
    assert report.unanswerable == ()
    figures = report.to_json()["systems"][0]
    assert figures["prompts"]["with_block"]["answerable"] == 1.0
    assert {"score", "evidence"} <= figures["prompts"]["reliability"][0].keys()
    assert figures["leading"]["now"]["questions"] == 1
    output = StringIO()
    Console(file=output, width=200).print(render(report))
    for expected in ("foreign prompts with a block", "AUROC", "Evidence before its rivals"):
        assert expected in output.getvalue()


def test_a_block_of_facts_speaks_of_the_turns_they_rest_on(corpus: Corpus) -> None:
    """With facts, an entry counts as evidence where the turn it rests on is."""
    report = evaluate(corpus, named_systems(["facts"]))
    prompts = report.systems[0].prompts
    assert prompts is not None
    assert prompts.recall == 1.0
    assert sum(prompts.with_block.values()) >= 1


def test_ablations_and_sessions_make_no_blocks(corpus: Corpus) -> None:
    """They would take the time of another evaluation, and tell nothing about a prompt."""
    systems = named_systems(["no-embedder"])
    report = evaluate(corpus, systems, ablations=systems)
    assert report.systems[0].prompts is not None
    assert report.ablations[0].prompts is None
    sessions = named_systems(["no-embedder"], granularity="session")
    assert evaluate(corpus, sessions, granularity="session").systems[0].prompts is None
