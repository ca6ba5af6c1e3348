"""Two people over months: LoCoMo, as it is published and as this project keeps it.

Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langmemory.errors import ImportFormatError
from langmemory.parts.evals.corpus import Conversation, Corpus, Observation, Question, Session, Turn
from langmemory.parts.evals.loaders.plain import right_answers, samples

CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""LoCoMo numbers its question types; the names follow from its questions."""

TUNING = 3
"""Constants are chosen on the first three conversations, the rest is held out."""


def load_locomo(path: Path) -> Corpus:
    """A list of conversations with their questions, in one of two shapes.

    As published (`locomo10.json`): `sample_id`, `conversation` with `session_1`,
    `session_1_date_time` and so on, `qa`, and maybe `observation`. As kept here: `conversation`,
    `sessions` (of `turns`, maybe with `observations`) and `questions`.

    A shared picture is part of its turn, by its caption. Sessions without turns are left out.
    Evidence that names no turn, "D:11:26" for one, is not guessed at, but reported as missing.
    """
    conversations: list[Conversation] = []
    questions: list[Question] = []
    for number, sample in enumerate(samples(path), start=1):
        try:
            normalised = _from_published(sample) if "qa" in sample else sample
            conversations.append(_conversation(normalised))
            questions.extend(_questions(normalised["questions"], conversations[-1]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ImportFormatError(
                f"{path.name}: conversation {number} is not LoCoMo-shaped: {error!r}"
            ) from error
    held_out = len(conversations) > TUNING
    return Corpus(
        name=path.stem,
        kind="dialogue",
        conversations=tuple(conversations),
        questions=tuple(questions),
        tuning=frozenset(c.id for c in conversations[:TUNING]) if held_out else frozenset(),
    )


def _from_published(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """A published sample in the shape that is kept here."""
    conversation, notes = sample["conversation"], sample.get("observation") or {}
    numbers = sorted(
        int(name[1]) for key in conversation if (name := re.fullmatch(r"session_(\d+)", key))
    )
    return {
        "conversation": sample["sample_id"],
        "sessions": [
            {
                "session": number,
                "date_time": conversation.get(f"session_{number}_date_time"),
                "turns": [
                    _published_turn(turn) for turn in conversation[f"session_{number}"] or ()
                ],
                "observations": notes.get(f"session_{number}_observation"),
            }
            for number in numbers
        ],
        "questions": sample["qa"],
    }


def _published_turn(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "id": turn["dia_id"],
        "speaker": turn["speaker"],
        "text": turn["text"],
        "image_caption": turn.get("blip_caption"),
    }


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    sessions = tuple(
        Session(
            id=str(session["session"]),
            at=_time(session["date_time"]),
            turns=tuple(
                Turn(id=turn["id"], speaker=turn["speaker"], text=_with_caption(turn))
                for turn in session["turns"]
            ),
            observations=tuple(_observations(session)),
        )
        for session in sample["sessions"]
        if session["turns"]
    )
    return Conversation(id=str(sample["conversation"]), sessions=sessions)


def _observations(session: Mapping[str, Any]) -> Iterator[Observation]:
    there = {turn["id"] for turn in session["turns"]}
    for notes in (session.get("observations") or {}).values():
        for note in notes:
            if not (isinstance(note, list) and len(note) == 2 and isinstance(note[0], str)):
                raise TypeError(f"an observation is a text and its evidence, not {note!r}")
            named = _ids(note[1])
            yield Observation(text=note[0], evidence=tuple(one for one in named if one in there))


def _ids(named: str | Iterable[str] | None) -> list[str]:
    """A few annotations hold two ids in one string: "D8:6; D9:17"."""
    texts = [named] if isinstance(named, str) else named or ()
    return [part for text in texts for part in re.split(r"[;,\s]+", text) if part]


def _with_caption(turn: Mapping[str, Any]) -> Any:
    text, caption = turn["text"], turn.get("image_caption")
    return f"{text} [shares {caption}]" if caption else text


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(
            f"session time {text!r} is not of the form '1:56 pm on 8 May, 2023'"
        ) from None


def _questions(
    questions: list[Mapping[str, Any]], conversation: Conversation
) -> Iterator[Question]:
    turn_ids = {turn.id for turn in conversation.turns}
    for number, question in enumerate(questions):
        category = CATEGORIES.get(question["category"], str(question["category"]))
        yield Question.resolve(
            id=f"{conversation.id}/{number}",
            conversation=conversation.id,
            text=question["question"],
            category=category,
            evidence=dict.fromkeys(_ids(question["evidence"]), 1.0),
            turn_ids=turn_ids,
            answers=right_answers(question),
        )
