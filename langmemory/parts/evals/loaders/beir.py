"""Documents judged by query: a BEIR folder."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from langmemory.errors import ImportFormatError
from langmemory.parts.evals.corpus import Conversation, Corpus, Question, Session, Turn
from langmemory.parts.evals.loaders.plain import UTF_8, rows


def load_beir(folder: Path, *, qrels: str = "test") -> Corpus:
    """A BEIR folder: `corpus.jsonl`, `queries.jsonl`, `qrels/<qrels>.tsv` (Thakur et al. 2021).

    Every document stands alone: a session of one turn, its title in front of its text. Queries
    without a judgement are left out, as BEIR does. Gains are the judgements greater than 0.
    """
    judgements = folder / "qrels" / f"{qrels}.tsv"
    if not judgements.exists():
        there = sorted(file.stem for file in (folder / "qrels").glob("*.tsv"))
        raise ImportFormatError(
            f"no qrels/{qrels}.tsv in {folder.name}, as a BEIR folder has; there: {there or 'none'}"
        )
    sessions = tuple(
        Session(id=str(row["_id"]), turns=(Turn(id=str(row["_id"]), text=_with_title(row)),))
        for row in rows(folder / "corpus.jsonl", required=("_id", "text"))
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
        for row in rows(folder / "queries.jsonl", required=("_id", "text"))
        if str(row["_id"]) in gains
    )
    return Corpus(
        name=folder.name, kind="documents", conversations=(conversation,), questions=questions
    )


def _with_title(document: Mapping[str, Any]) -> Any:
    """Title and text in two lines; either may be empty or null."""
    title, text = document.get("title") or "", document["text"] or ""
    return f"{title}\n{text}".strip() if isinstance(text, str) else text
