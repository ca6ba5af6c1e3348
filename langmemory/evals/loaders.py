"""Data sets on disk → `Corpus`: LoCoMo-shaped JSON, BEIR folders, plain JSONL.

The path is always the user's; nothing is downloaded and nothing is copied.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import inf, isfinite
from pathlib import Path
from typing import Any

from langmemory.errors import ImportFormatError
from langmemory.evals.corpus import Conversation, Corpus, Observation, Question, Session, Turn

SAMPLE = Path(__file__).parent / "data" / "sample.jsonl"
"""Two small conversations of our own, to try the evaluation with."""

UTF_8 = "utf-8-sig"
"""Of what Windows saves, too, which begins with a byte order mark."""

LOCOMO_CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""LoCoMo numbers its question types (Maharana et al. 2024, "Evaluating Very Long-Term
Conversational Memory of LLM Agents"); the names follow from its questions."""

LOCOMO_TUNING = 3
"""Constants are chosen on the first three conversations, the rest is held out."""


def load(path: str | Path, *, qrels: str = "test") -> Corpus:
    """Load a data set, by its shape: a folder is BEIR, `.jsonl` plain, `.json` LoCoMo.

    Args:
        path: file or folder.
        qrels: for BEIR, which `qrels/*.tsv` to judge by.

    Raises:
        FileNotFoundError: nothing is there.
        ImportFormatError: the file is not what its name promises; the message says where.
    """
    source = Path(path)
    try:
        if source.is_dir():
            corpus = load_beir(source.resolve(), qrels=qrels)  # "." has no name
        elif source.suffix == ".jsonl":
            corpus = load_jsonl(source)
        elif source.suffix == ".json":
            corpus = load_locomo(source)
        else:
            raise ImportFormatError(
                f"{source.name}: expected a LoCoMo-shaped .json, a .jsonl of sessions and "
                "questions, or a BEIR folder"
            )
    except UnicodeDecodeError as error:
        raise ImportFormatError(f"{source.name} is not UTF-8 text: {error}") from None
    _check(source.name, corpus)
    return corpus


def _check(name: str, corpus: Corpus) -> None:
    """Refuses what would be scored wrongly.

    Raises:
        ImportFormatError: An id is given twice, a text or a speaker is none, or there is no question.
    """
    twice = Counter(conversation.id for conversation in corpus.conversations).most_common(1)
    if twice and twice[0][1] > 1:
        raise ImportFormatError(f"{name}: there are two conversations called {twice[0][0]!r}")
    for conversation in corpus.conversations:
        seen: set[str] = set()
        for turn in conversation.turns:
            if not isinstance(turn.text, str):
                raise ImportFormatError(f"{name}: the text of {turn.id} is {turn.text!r}")
            if not isinstance(turn.speaker, str | None):
                raise ImportFormatError(f"{name}: the speaker of {turn.id} is {turn.speaker!r}")
            if turn.id in seen:
                raise ImportFormatError(
                    f"{name}: the id {turn.id!r} stands for two turns of {conversation.id!r}; "
                    "evidence needs one id for each"
                )
            seen.add(turn.id)
    asked: set[str] = set()
    for question in corpus.questions:
        if question.id in asked:
            raise ImportFormatError(f"{name}: there are two questions called {question.id!r}")
        asked.add(question.id)
        if not isinstance(question.text, str):
            raise ImportFormatError(
                f"{name}: the text of question {question.id} is {question.text!r}"
            )
    if not corpus.questions:
        raise ImportFormatError(f"{name} has no questions to ask")


def load_locomo(path: Path) -> Corpus:
    """A list of conversations with `sessions` (of `turns`) and `questions` (with `evidence`).

    A shared picture is part of its turn, by its caption. Sessions without turns are left out.
    """
    try:
        samples = json.loads(path.read_text(encoding=UTF_8))
        conversations = tuple(_locomo_conversation(sample) for sample in samples)
        questions = tuple(
            question
            for sample, conversation in zip(samples, conversations, strict=True)
            for question in _locomo_questions(sample["questions"], conversation)
        )
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ImportFormatError(f"{path.name} is not LoCoMo-shaped: {error!r}") from error
    return Corpus(
        name=path.stem,
        kind="dialogue",
        conversations=conversations,
        questions=questions,
        tuning=frozenset(c.id for c in conversations[:LOCOMO_TUNING])
        if len(conversations) > LOCOMO_TUNING
        else frozenset(),
    )


def _locomo_conversation(sample: Mapping[str, Any]) -> Conversation:
    sessions = tuple(
        Session(
            id=str(session["session"]),
            at=_locomo_time(session["date_time"]),
            turns=tuple(
                Turn(id=turn["id"], speaker=turn["speaker"], text=_with_caption(turn))
                for turn in session["turns"]
            ),
            observations=tuple(_locomo_observations(session)),
        )
        for session in sample["sessions"]
        if session["turns"]
    )
    return Conversation(id=str(sample["conversation"]), sessions=sessions)


def _locomo_observations(session: Mapping[str, Any]) -> Iterator[Observation]:
    there = {turn["id"] for turn in session["turns"]}
    for notes in (session.get("observations") or {}).values():
        for note in notes:
            if not (isinstance(note, list) and len(note) == 2 and isinstance(note[0], str)):
                raise TypeError(f"an observation is a text and its evidence, not {note!r}")
            named = _ids(note[1])
            yield Observation(text=note[0], evidence=tuple(one for one in named if one in there))


def _ids(named: str | Iterable[str]) -> list[str]:
    """A few annotations hold two ids in one string: "D8:6; D9:17"."""
    texts = [named] if isinstance(named, str) else named
    return [part for text in texts for part in re.split(r"[;,\s]+", text) if part]


def _with_caption(turn: Mapping[str, Any]) -> Any:
    text, caption = turn["text"], turn.get("image_caption")
    return f"{text} [shares {caption}]" if caption else text


def _locomo_time(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise ImportFormatError(
            f"session time {text!r} is not of the form '1:56 pm on 8 May, 2023'"
        ) from error


def _locomo_questions(
    questions: list[Mapping[str, Any]], conversation: Conversation
) -> Iterator[Question]:
    turn_ids = {turn.id for turn in conversation.turns}
    for number, question in enumerate(questions):
        named = _ids(question["evidence"])
        category = LOCOMO_CATEGORIES.get(question["category"], str(question["category"]))
        yield Question.resolve(
            id=f"{conversation.id}/{number}",
            conversation=conversation.id,
            text=question["question"],
            category=category,
            evidence=dict.fromkeys(named, 1.0),
            turn_ids=turn_ids,
        )


def load_beir(folder: Path, *, qrels: str = "test") -> Corpus:
    """A BEIR folder: `corpus.jsonl`, `queries.jsonl`, `qrels/<qrels>.tsv` (Thakur et al. 2021).

    Every document stands alone: a session of one turn, its title in front of its text. Queries
    without a judgement are left out, as BEIR does. Gains are the judgements greater than 0.
    """
    judgements = folder / "qrels" / f"{qrels}.tsv"
    if not judgements.exists():
        there = sorted(file.stem for file in (folder / "qrels").glob("*.tsv"))
        raise ImportFormatError(f"no qrels/{qrels}.tsv in {folder.name}; there: {there or 'none'}")
    sessions = tuple(
        Session(id=str(row["_id"]), turns=(Turn(id=str(row["_id"]), text=_with_title(row)),))
        for row in _rows(folder / "corpus.jsonl", required=("_id", "text"))
    )
    conversation = Conversation(id=folder.name, sessions=sessions)
    gains: dict[str, dict[str, float]] = defaultdict(dict)
    with judgements.open(encoding=UTF_8, newline="") as lines:
        for number, row in enumerate(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)):
            if not row:
                continue
            try:
                query, document, judged = row
                gain = float(judged)
                if not isfinite(gain):
                    raise ValueError("no score")
            except ValueError:
                if number == 0 and len(row) == 3:
                    continue  # the header
                raise ImportFormatError(
                    f"{judgements.name}, line {number + 1}: {row!r} is not query, document, score"
                ) from None
            if gain > 0:
                gains[query][document] = gain
    turn_ids = {session.id for session in sessions}
    questions = tuple(
        Question.resolve(
            id=str(row["_id"]),
            conversation=conversation.id,
            text=row["text"],
            category="query",
            evidence=gains[str(row["_id"])],
            turn_ids=turn_ids,
        )
        for row in _rows(folder / "queries.jsonl", required=("_id", "text"))
        if str(row["_id"]) in gains
    )
    return Corpus(
        name=folder.name, kind="documents", conversations=(conversation,), questions=questions
    )


def _with_title(document: Mapping[str, Any]) -> Any:
    """Title and text in two lines; either may be empty or null."""
    title, text = document.get("title") or "", document["text"] or ""
    return f"{title}\n{text}".strip() if isinstance(text, str) else text


def load_jsonl(path: Path) -> Corpus:
    """Sessions and questions, one JSON object a line, in any order.

    A line with `turns` is a session, a line with `question` a question:

        {"conversation": "trip", "session": "s1", "at": "2025-03-02T09:00:00+00:00",
         "turns": [{"id": "s1.1", "speaker": "Ines", "text": "…"}]}
        {"conversation": "trip", "question": "…", "evidence": ["s1.1"], "category": "temporal"}

    `conversation` (default "main"), `at` (ISO 8601; without an offset it is UTC), `speaker` and
    `category` (default "question") may be left out; `evidence` may map ids to gains. Sessions
    keep the order of the file.
    """
    sessions: dict[str, list[Session]] = defaultdict(list)
    asked: list[Mapping[str, Any]] = []
    for row in _rows(path, required=()):
        if "turns" in row:
            sessions[str(row.get("conversation", "main"))].append(_jsonl_session(path, row))
        elif "question" in row:
            asked.append(row)
        else:
            raise ImportFormatError(
                f"{path.name}: a line has neither 'turns' nor 'question', only {sorted(row)}"
            )
    conversations = {
        name: Conversation(id=name, sessions=tuple(parts)) for name, parts in sessions.items()
    }
    turn_ids = {name: {turn.id for turn in one.turns} for name, one in conversations.items()}
    questions = tuple(
        _jsonl_question(path, number, row, turn_ids) for number, row in enumerate(asked)
    )
    return Corpus(
        name=path.stem,
        kind="dialogue",
        conversations=tuple(conversations.values()),
        questions=questions,
    )


def _jsonl_session(path: Path, row: Mapping[str, Any]) -> Session:
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
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ImportFormatError(
            f"{path.name}: session {row.get('session')!r} needs 'session' and turns with 'id' "
            f"and 'text', and an ISO 8601 'at' or none: {error!r}"
        ) from error


def _jsonl_question(
    path: Path, number: int, row: Mapping[str, Any], turn_ids: Mapping[str, set[str]]
) -> Question:
    name = str(row.get("conversation", "main"))
    if name not in turn_ids or "evidence" not in row:
        raise ImportFormatError(
            f"{path.name}: question {number} needs 'evidence' and a conversation that has "
            f"sessions; it names {name!r}, there are {sorted(turn_ids)}"
        )
    evidence = row["evidence"]
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
            f"{path.name}: 'evidence' of question {number} must be a list of turn ids, or map them "
            f"to gains above 0: {error}"
        ) from None
    return Question.resolve(
        id=f"{name}/{number}",
        conversation=name,
        text=row["question"],
        category=str(row.get("category", "question")),
        evidence=gains,
        turn_ids=turn_ids[name],
    )


def _rows(path: Path, *, required: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    with path.open(encoding=UTF_8) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise ImportFormatError(f"{path.name}, line {number}: not JSON ({error})") from None
            if not isinstance(row, dict) or any(name not in row for name in required):
                raise ImportFormatError(
                    f"{path.name}, line {number}: expected an object with {list(required)}"
                )
            yield row
