"""The data sets of this repository that have labels, rivals or chains are what their page says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from langmemory.parts.evals import load

FOLDER = Path(__file__).parents[2] / "benchmarks" / "conversations"


@pytest.mark.parametrize("half", ["fit", "test"])
def test_half_of_the_one_person_chats_has_every_label_and_complete_evidence(half: str) -> None:
    """At least 160 prompts of four people in each half, two fifths of them answerable."""
    corpus = load(FOLDER / f"one-person-{half}.jsonl")
    labels = Counter(question.label for question in corpus.questions)
    assert len(corpus.conversations) == 4
    assert len(corpus.questions) >= 160
    assert labels["answerable"] >= 0.4 * len(corpus.questions)
    assert min(labels["idle"], labels["general"], labels["foreign"]) >= 0.15 * len(corpus.questions)
    for question in corpus.questions:
        assert bool(question.evidence) == (question.label == "answerable"), question.text
        assert not question.missing, question.text


def test_the_third_one_person_set_is_of_other_people() -> None:
    """It can be looked at once what was built with the two halves, since it shares nobody with them."""
    again, fit, test = (
        load(FOLDER / f"one-person-{part}.jsonl") for part in ("again", "fit", "test")
    )
    people = [{one.id for one in corpus.conversations} for corpus in (again, fit, test)]
    assert not people[0] & (people[1] | people[2])
    for question in again.questions:
        assert bool(question.evidence) == (question.label == "answerable"), question.text


def test_the_halves_of_the_one_person_chats_share_nobody() -> None:
    """Evaluation uses other people and prompts than the half that constants were fitted on."""
    fit, test = (load(FOLDER / f"one-person-{half}.jsonl") for half in ("fit", "test"))
    assert not {c.id for c in fit.conversations} & {c.id for c in test.conversations}
    same = {q.text.lower() for q in fit.questions if len(q.text.split()) > 3} & {
        q.text.lower() for q in test.questions
    }
    assert not same


def test_later_first_has_pairs_questions_for_the_past_and_controls() -> None:
    """Each names rivals; of a pair the newer turn is later, of a control the evidence is earlier."""
    corpus = load(FOLDER / "later-first.jsonl")
    places = {
        one.id: {turn.id: place for place, turn in enumerate(one.turns)}
        for one in corpus.conversations
    }
    counts = Counter(question.category for question in corpus.questions)
    assert counts["now"] >= 80
    assert counts["past"] >= 40
    assert counts["apart"] >= 30
    for question in corpus.questions:
        order = places[question.conversation]
        assert question.evidence, question.text
        assert question.rivals, question.text
        assert not question.missing, question.text
        first, last = (
            max(order[e] for e in question.evidence),
            max(order[r] for r in question.rivals),
        )
        assert (first > last) == (question.category == "now"), question.text


def test_chains_have_two_links_said_far_apart() -> None:
    """The links of each of at least sixty chains are in different sessions."""
    corpus = load(FOLDER / "chains.jsonl")
    sessions = {one.id: one.session_of for one in corpus.conversations}
    assert len(corpus.questions) >= 60
    for question in corpus.questions:
        assert question.category == "chain"
        assert len({sessions[question.conversation][turn] for turn in question.evidence}) == 2
