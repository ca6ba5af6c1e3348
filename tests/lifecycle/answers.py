"""Answers of a model to a request for consolidation, written by hand, and the memories they are about."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langmemory.lifecycle.consolidation.listing import Listed, Listing
from langmemory.types import Memory, Namespace

HERE = Path(__file__).parent
ILKA: Namespace = ("memories", "ilka")
TOLD: dict[str, Any] = json.loads((HERE / "bad_answers_memories.json").read_text("utf-8"))


def answers(name: str) -> dict[str, str]:
    """Texts of the answers in a file, by name."""
    found = {}
    for line in (HERE / f"{name}_answers.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        answer = one.get("answer", "")
        for part in one.get("answer_parts", ()):
            answer += part if isinstance(part, str) else part["repeat"][0] * part["repeat"][1]
        found[one["name"]] = answer if isinstance(answer, str) else json.dumps(answer)
    return found


def said_at(one: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(one["at"]).replace(tzinfo=UTC)


def value(one: dict[str, Any]) -> dict[str, Any]:
    return {"text": one["text"], "fact_kind": one["kind"], "language": "en"}


def listing() -> Listing:
    """The memories as the answers were given them, private and shared ones together."""
    memories = tuple(
        Listed(
            id=one["id"],
            said_by=one["said_by"],
            sessions=frozenset({one["at"]}),
            memory=Memory(
                id=number, namespace=ILKA, key=f"fact/{one['id']}", value=value(one),
                text=one["text"], created_at=said_at(one), updated_at=said_at(one),
                valid_at=said_at(one), owner=TOLD["owner"], privacy=one["privacy"],
            ),
        )
        for number, one in enumerate(TOLD["memories"], start=1)
    )  # fmt: skip
    return Listing(memories=memories, blocks=TOLD["core"])
