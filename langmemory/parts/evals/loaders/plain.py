"""Sessions and questions a line each, the form for an evaluation of your own; and JSON files of data sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any, get_args

from langmemory.errors import ImportFormatError
from langmemory.parts.evals.corpus import (
    Conversation,
    Corpus,
    Label,
    Observation,
    Question,
    Session,
    Turn,
)
from langmemory.parts.importing.json_stream import iterate_array, iterate_lines


def load_jsonl(path: Path) -> Corpus:
    """Sessions and questions, one JSON object a line, in any order.

    A line with `turns` is a session, a line with `question` a question:

        {"conversation": "trip", "session": "s1", "at": "2025-03-02T09:00:00+00:00",
         "turns": [{"id": "s1.1", "speaker": "Ines", "text": "…"}]}
        {"conversation": "trip", "question": "…", "evidence": ["s1.1"], "category": "temporal"}

    `conversation` (default "main"), `at` (ISO 8601; without an offset it is UTC), `speaker` and
    `category` (default "question") may be left out; `evidence` may map ids to gains. Sessions
    keep the order of the file. A session may have `notes`, what a model wrote down of it: facts in
    the form of the extraction prompt, whose `evidence` is ids of its turns.

    A question may have a `label`: "answerable", "idle", "general" or "foreign" (see `Label`), and
    `evidence` may be empty; what a prompt gets that has none is reported. `rivals` (or `stale`) lists
    turns that must not stand before the evidence, `asked_at` (ISO 8601) is when it is asked, and `before`
    lists turns (`speaker` and `text`) that were said before it in its own thread.
    """
    sessions: dict[str, list[Session]] = defaultdict(list)
    asked: list[tuple[str, Mapping[str, Any]]] = []
    with path.open("rb") as file:
        for line, row in iterate_lines(file):
            where = f"{path.name}, line {line}"
            if "turns" in row:
                name = str(row.get("conversation", "main"))
                sessions[name].append(_jsonl_session(where, row))
            elif "question" in row:
                asked.append((where, row))
            else:
                raise ImportFormatError(
                    f"{where}: neither 'turns' nor 'question', only {sorted(row)}"
                )
    conversations = {
        name: Conversation(id=name, sessions=tuple(parts)) for name, parts in sessions.items()
    }
    turn_ids = {name: {turn.id for turn in one.turns} for name, one in conversations.items()}
    questions = tuple(
        _jsonl_question(where, number, row, turn_ids) for number, (where, row) in enumerate(asked)
    )
    return Corpus(
        name=path.stem,
        kind="dialogue",
        conversations=tuple(conversations.values()),
        questions=questions,
    )


def _jsonl_session(where: str, row: Mapping[str, Any]) -> Session:
    try:
        at = datetime.fromisoformat(row["at"]) if row.get("at") else None
        turns = tuple(
            Turn(id=str(turn["id"]), speaker=turn.get("speaker"), text=turn["text"])
            for turn in row["turns"]
        )
        return Session(
            id=str(row["session"]),
            at=at.replace(tzinfo=at.tzinfo or UTC) if at else None,
            turns=turns,
            observations=tuple(map(_jsonl_note, row.get("notes", ()))),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ImportFormatError(
            f"{where}: session {row.get('session')!r} needs 'session' and turns with 'id' "
            "and 'text', an ISO 8601 'at' or none, and notes with 'text' and 'evidence' or none: "
            f"{error!r}"
        ) from error


def _jsonl_note(note: Mapping[str, Any]) -> Observation:
    more = {name: value for name, value in note.items() if name not in ("text", "evidence")}
    return Observation(text=note["text"], evidence=tuple(map(str, note["evidence"])), more=more)


def _jsonl_question(
    where: str, number: int, row: Mapping[str, Any], turn_ids: Mapping[str, set[str]]
) -> Question:
    name = str(row.get("conversation", "main"))
    if name not in turn_ids or "evidence" not in row:
        raise ImportFormatError(
            f"{where}: a question needs 'evidence' and a conversation that has sessions; it names "
            f"{name!r}, there are {sorted(turn_ids)}"
        )
    evidence = row["evidence"]
    label = row.get("label")
    if label is not None and label not in get_args(Label):
        raise ImportFormatError(
            f"{where}: 'label' is {label!r}; it must be one of {', '.join(get_args(Label))}"
        )
    rivals = row.get("rivals", row.get("stale", ()))
    if isinstance(rivals, str) or not turn_ids[name].issuperset(rivals):
        raise ImportFormatError(
            f"{where}: 'rivals' (or 'stale') must be a list of ids of turns of {name!r}, not {rivals!r}"
        )
    try:
        at = datetime.fromisoformat(row["asked_at"]) if row.get("asked_at") else None
    except (TypeError, ValueError) as error:
        raise ImportFormatError(f"{where}: 'asked_at' must be ISO 8601: {error}") from None
    try:
        before = tuple(
            Turn(id=f"before.{place}", speaker=turn.get("speaker"), text=turn["text"])
            for place, turn in enumerate(row.get("before", ()))
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ImportFormatError(
            f"{where}: 'before' must list turns with a 'text': {error!r}"
        ) from None
    try:
        if isinstance(evidence, str):
            evidence = [evidence]
        if not isinstance(evidence, dict):
            evidence = dict.fromkeys(map(str, evidence), 1.0)
        gains = {key: float(gain) for key, gain in evidence.items()}
        if any(not 0 < gain < inf for gain in gains.values()):
            raise ValueError("a gain is not above 0")
    except (TypeError, ValueError) as error:
        raise ImportFormatError(
            f"{where}: 'evidence' must be a list of turn ids, or map them to gains above 0: {error}"
        ) from None
    question = Question.resolve(
        id=f"{name}/{number}",
        conversation=name,
        text=row["question"],
        category=str(row.get("category", "question")),
        evidence=gains,
        turn_ids=turn_ids[name],
        label=label,
        rivals=tuple(rivals),
        answers=right_answers(row),
    )
    return replace(question, at=at.replace(tzinfo=at.tzinfo or UTC) if at else None, before=before)


def right_answers(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The right answers of a question: its "answer", a text or a number, or a list of several."""
    answer = row.get("answer")
    several = answer if isinstance(answer, list) else [] if answer is None else [answer]
    return tuple(text for one in several if (text := str(one).strip()))


UTF_8 = "utf-8-sig"
"""Of what Windows saves, too, which begins with a byte order mark."""


def rows(path: Path, *, required: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The objects of a file that has one a line.

    Raises:
        ImportFormatError: A line is none, or lacks what is required.
    """
    with path.open("rb") as file:
        for number, row in iterate_lines(file):
            if any(name not in row for name in required):
                raise ImportFormatError(
                    f"{path}, line {number}: expected an object with {', '.join(required)}"
                )
            yield row


def samples(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list, one after the other: a list of gigabytes is never in memory whole.

    Raises:
        ImportFormatError: It is no list of objects.
    """
    with path.open("rb") as file:
        for line, sample in iterate_array(file):
            if not isinstance(sample, dict):
                found = type(sample).__name__
                raise ImportFormatError(f"{path}, line {line}: {found}; expected a JSON object")
            yield sample
