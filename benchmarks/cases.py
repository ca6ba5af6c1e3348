"""Measure recall on single cases, each of which names one way to go wrong.

*Side by side*: two turns that are both true, or of which the later replaces the earlier one. *Guardrails*:
rules and tasks for which one of them matters. *Records*: notes that differ in an identifier, asked for by it.
*Asked again*: one question asked thirty times, in a thread of its own each.

``python -m benchmarks.cases [HALF]``: HALF is ``fit`` (constants were chosen on it), ``test`` (default), or
``all``.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import HumanMessage
from rich.console import Console
from rich.table import Table

from benchmarks.records import KINDS, records
from langmemory import MemoryStore, build_reflection_graph
from langmemory.nodes import RecallNode
from langmemory.types import Namespace

CASES: Final = Path(__file__).parent / "cases"
BEGAN: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
ASKED: Final = BEGAN + timedelta(days=120)
BESIDE: Final = (
    "could you check this sentence for me",
    "we had pancakes this morning and it rained all day",
    "the train was late again and i read half of my book",
    "thanks, that helps a lot",
    "the neighbours are putting up a new shed by the hedge",
    "i spent the evening sorting old photos",
)
"""Turns around the two of a pair."""
SIZES: Final = (20, 100, 500)
TIMES_ASKED: Final = 30


def read(name: str, half: str) -> list[dict[str, Any]]:
    """Return the lines of a file of cases."""
    halves = ("fit", "test") if half == "all" else (half,)
    return [
        json.loads(line)
        for one in halves
        for line in (CASES / f"{name}-{one}.jsonl").read_text("utf-8").splitlines()
    ]


def block_of(store: MemoryStore, namespace: Namespace, prompt: str) -> Mapping[str, Any]:
    """Return the memory block that a model gets by default."""
    node = RecallNode(namespace, store=store, viewer=None, core={})
    return node.invoke({"messages": [HumanMessage(prompt)]})  # type: ignore[no-any-return]


def side_by_side(half: str, *, facts: bool, at_once: bool) -> dict[str, str]:
    """Ask for both of two turns: which is marked as outdated, and which stands first."""
    marked, missing, first, place = (
        Counter[bool](),
        Counter[bool](),
        Counter[bool](),
        Counter[bool](),
    )
    pairs = read("pairs", half)
    with MemoryStore(":memory:") as store:
        for number, pair in enumerate(pairs):
            namespace = ("pairs", str(number))
            said = [*BESIDE[:2], pair["earlier"], *BESIDE[2:4], pair["later"], *BESIDE[4:]]
            for day, text in enumerate(said):
                at = BEGAN if at_once else BEGAN + timedelta(days=7 * day)
                message = {"role": "user", "content": text, "at": at, "id": f"m{day}"}
                store.remember(namespace, [message], thread_id=f"t{day}")
            if facts:
                build_reflection_graph(store, journal=False).invoke({"namespace": list(namespace)})
            both = pair["both_true"]
            place[both] += 1
            text = block_of(store, namespace, pair["question"])["memory_block"]["text"]
            lines = [line for line in text.splitlines() if line.startswith("[")]
            marked[both] += any("earlier:" in line for line in lines)
            found = [one.text for one in store.recall(pair["question"], namespace, now=ASKED)]
            order = [text for text in found if text in (pair["earlier"], pair["later"])]
            missing[both] += pair["later"] not in text or (both and pair["earlier"] not in text)
            first[both] += order[:1] == [pair["later"]]
    return {
        "both true": str(place[True]),
        "marked earlier": f"{marked[True]}",
        "one missing": f"{missing[True]}",
        "replaced": str(place[False]),
        "later first": f"{first[False] / place[False]:.3f}",
        "later missing": f"{missing[False]}",
    }


def guardrails(half: str) -> dict[str, str]:
    """Ask for each task: is its rule in the block, and how many others."""
    rows = read("guardrails", half)
    rules = [row for row in rows if "guardrail" in row]
    shown, others, tasks, lines = Counter[str](), 0, 0, 0
    place: Namespace = ("rules",)
    with MemoryStore(":memory:") as store:
        for row in rules:
            value = {"text": row["guardrail"], "priority": "guardrail", "kind": "procedural"}
            store.put(place, row["id"], value)

        def keys(prompt: str) -> set[str]:
            return {one["key"] for one in block_of(store, place, prompt)["memory_block"]["entries"]}

        for row in rules:
            for form in ("imperative", "question", "please"):
                found = keys(row[form])
                shown[form] += row["id"] in found
                others += len(found - {row["id"]})
                lines += len(found)
                tasks += 1
        unrelated = [keys(row["unrelated"]) for row in rows if "unrelated" in row]
    return {
        **{form: f"{count / len(rules):.3f}" for form, count in shown.items()},
        "lines about another task": f"{others / max(lines, 1):.3f}",
        "others a task": f"{others / tasks:.2f}",
        "unrelated tasks with a line": f"{sum(map(bool, unrelated)) / len(unrelated):.3f}",
    }


def identified(size: int) -> Iterator[tuple[str, float]]:
    """Ask for each of the records of a kind by its identifier: how often does it stand first?"""
    for kind in KINDS:
        with MemoryStore(":memory:") as store:
            place = ("records",)
            told = records(kind, size, 7)
            for number, (text, _) in enumerate(told):
                at = BEGAN + timedelta(hours=number)
                store.remember(
                    place,
                    [{"role": "user", "content": text, "at": at}],
                    thread_id=f"t{number // 20}",
                )
            asked = told[:: max(1, size // 40)]
            first = 0
            for text, query in asked:
                best = store.recall(query, place, limit=1, now=ASKED).results
                first += bool(best) and best[0].text == text
        yield kind, first / len(asked)  # fmt: skip


def asked_again() -> dict[str, str]:
    """Ask one question thirty times: where does the answer stand before and after?"""
    said = (
        ("where did i park the bike?", "the bike is chained up behind the bakery on mill lane"),
        ("what is the code for the shed", "i changed the lock on the shed, it opens with 2219 now"),
        ("when is noras recital", "noras recital got moved, it starts at half six on the 14th"),
        ("which paint did we use in the hall?", "the hall is done, we took the chalky green called fern"),
    )  # fmt: skip
    falls = {}
    for reply in ("i don't know", "You told me before.", None):
        worst = 0
        for number, (question, answer) in enumerate(said):
            with MemoryStore(":memory:") as store:
                place = ("asked", str(number))
                texts = [*BESIDE, answer, *(text for _, text in said if text != answer)]
                for day, text in enumerate(texts):
                    message = {"role": "user", "content": text, "at": BEGAN + timedelta(days=day)}
                    store.remember(place, [message], thread_id=f"t{day}")
                before = _place(store, place, question, answer)
                for time in range(TIMES_ASKED):
                    at = BEGAN + timedelta(days=30 + time)
                    talk = [{"role": "user", "content": question, "at": at}]
                    if reply:
                        talk.append({"role": "assistant", "content": reply, "at": at})
                    store.remember(place, talk, thread_id=f"asked{time}")
                    worst = max(worst, _place(store, place, question, answer) - before)
        falls[f"falls by, answered {reply!r}"] = str(worst)
    return falls


def _place(store: MemoryStore, place: Namespace, question: str, answer: str) -> int:
    found = [one.text for one in store.recall(question, place, min_score="auto", now=ASKED)]
    return found.index(answer) if answer in found else 99


def show(title: str, rows: Mapping[str, str]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, figure in rows.items():
        table.add_row(name, figure)
    Console().print(table)


def main(half: str) -> None:
    for facts, at_once in ((False, False), (False, True), (True, False)):
        title = f"Side by side, {'with facts' if facts else 'turns'}{', at one time' * at_once}"
        show(title, side_by_side(half, facts=facts, at_once=at_once))
    show("Guardrails", guardrails(half))
    for size in SIZES:
        figures = dict(identified(size))
        rows = {kind: f"{share:.3f}" for kind, share in figures.items()}
        show(f"Records, {size} of a kind: first", rows | {"lowest": f"{min(figures.values()):.3f}"})
    show("Asked thirty times", asked_again())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "test")
