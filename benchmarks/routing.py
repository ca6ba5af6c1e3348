"""Recall from talk and documents together: which layer is shown, and how much evidence.

    python -m benchmarks.routing heron larkspur

The questions are in benchmarks/layers. Other talk and other documents lie beside what they ask for.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.documents import headed
from langmemory import MemoryStore
from langmemory.context.disclosure import disclose
from langmemory.context.marking import one_line
from langmemory.types import RecallResult

ROOT = Path(__file__).parent
NOW = datetime(2025, 9, 1, tzinfo=UTC)
BESIDE = ("assistant", "work", "friends", "languages")
"""Conversations that are remembered as well."""
BUDGETS = (150, 400, 800)
"""Tokens of the block."""

Found = Sequence[RecallResult]
Ask = Callable[[str], Found]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def remember(store: MemoryStore, world: str, path: Path) -> None:
    """Remember the sessions of a file as talk of this world."""
    for session in lines(path):
        if "turns" not in session:
            continue
        said = [
            {"role": "user", "name": turn["speaker"], "content": turn["text"]}
            if turn["speaker"] != "assistant"
            else {"role": "assistant", "content": turn["text"]}
            for turn in session["turns"]
        ]
        thread = f"{path.stem} {session['conversation']} {session['session']}"
        at = datetime.fromisoformat(session["at"])
        store.remember((world, "talk"), said, thread_id=thread, at=at)


def filled(world: str) -> MemoryStore:
    """A store with the talk and the documents of a world, and others."""
    store, place = MemoryStore(":memory:"), (world, "documents")
    remember(store, world, ROOT / "layers" / world / "talk.jsonl")
    for name in BESIDE:
        remember(store, world, ROOT / "conversations" / f"{name}.jsonl")
    store.documents.add(ROOT / "layers" / world / "documents", namespace=place)
    store.documents.add(ROOT.parent / "docs" / "how-to", namespace=place)
    with tempfile.TemporaryDirectory() as folder:
        library = {first: rest for first, rest in headed() if 25 < len(first) < 160 <= len(rest)}
        for number, (first, rest) in enumerate(library.items()):
            Path(folder, f"python{number}.md").write_text(f"# {first}\n\n{rest[:1500]}\n")
        store.documents.add(folder, namespace=place)
    return store


def ways(store: MemoryStore, world: str) -> Mapping[str, Ask]:
    """Ways to ask a world, by name."""
    talk, documents = (world, "talk"), (world, "documents")

    def asked(place: tuple[str, ...], **options: Any) -> Ask:
        return lambda q: store.recall(q, place, limit=10, now=NOW, **options).results

    def by_score(question: str) -> Found:
        both = [*asked(talk)(question), *asked(documents, kinds=("resource",))(question)]
        return sorted(both, key=lambda one: -one.score)[:10]

    return {
        "people": asked(talk),
        "documents": asked(documents, kinds=("resource",)),
        "one pool": asked((world,)),
        "two, by score": by_score,
        "routed": asked(talk, documents=documents),
        "routed, gated": asked(talk, documents=documents, min_score="auto"),
    }


def measured(questions: Sequence[Mapping[str, Any]], ask: Ask) -> list[float]:
    """Evidence in the first ten and in a block of each budget; of questions to one layer the share of results
    that are of it, and the share of questions whose first result is of a layer asked."""
    rows, right, first = [], [], []
    for question in questions:
        found = ask(question["question"])
        quotes = [one["quote"] for one in question["evidence"]]
        texts = [" ".join(one.text.split()) for one in found]
        row = [sum(any(quote in text for text in texts) for quote in quotes)]
        for budget in BUDGETS:
            block = disclose(found, budget=budget, query=question["question"]).text
            row.append(sum(one_line(quote) in block for quote in quotes))
        rows.append([one / len(quotes) for one in row])
        layers = ["documents" if one.memory.kind == "resource" else "people" for one in found]
        if question["layer"] != "both" and layers:
            right.append(layers.count(question["layer"]) / len(layers))
        first.append(bool(layers) and question["layer"] in (layers[0], "both"))
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return [*means, sum(right) / len(right), sum(first) / len(first)]


def main() -> None:
    for world in sys.argv[1:] or ("heron", "larkspur"):
        questions = list(lines(ROOT / "layers" / world / "questions.jsonl"))
        print(
            f"{world}: R@10, in a block of {BUDGETS} tokens, right layer, first of the right layer"
        )
        with filled(world) as store:
            for name, ask in ways(store, world).items():
                print(f"  {name:14}", *(f"{one:.3f}" for one in measured(questions, ask)))


if __name__ == "__main__":
    main()
