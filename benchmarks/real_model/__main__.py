"""Measure what a real language model does to memory: ``python -m benchmarks.real_model``.

    python -m scripts.real_model &                                   # a small one, on loopback
    python -m benchmarks.real_model --model qwen2.5-coder:0.5b --base-url http://127.0.0.1:18137
    python -m benchmarks.real_model --model gpt-4.1-mini --base-url https://api.openai.com/v1

Each task asks the model as langmemory does, over the labelled conversations and cases beside this file, and
reports calls, tokens and seconds. Reflection is measured with rules alone, the model alone, and both. A base
URL that ends in ``/v1`` is asked in OpenAI's protocol, any other one in Ollama's. Every memory is written to
``--out`` with the verdict of the program, to be judged by hand as well: its labels are strict.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from rich.console import Console
from rich.table import Table

from benchmarks.real_model.judging import Conversation, Label, conversations
from langmemory import MemoryStore, build_chat_graph, build_reflection_graph
from langmemory.answers import calls_in_text
from langmemory.chat_models import bounded, form_of, named_chat_model
from langmemory.config import ModelsConfig
from langmemory.formation.contradiction.comparable import ComparableFact
from langmemory.formation.contradiction.pairs import Group, Pair
from langmemory.formation.extraction.extractor import ModelExtractor
from langmemory.formation.extraction.small import SmallExtractor
from langmemory.formation.grounding import sentences, unsupported_part
from langmemory.formation.judging import ModelJudge
from langmemory.graphs import build_maintenance_graph
from langmemory.languages.spelling import normalised_text
from langmemory.nodes import RecallNode
from langmemory.nodes.summarize import GROUNDED_INITIAL_SUMMARY_PROMPT, summarize_messages
from langmemory.parts.evals.answering import Cost
from langmemory.parts.evals.loaders import load
from langmemory.ports.facts import Fact
from langmemory.recall.models import chat_model_expander, chat_model_reranker, rerank
from langmemory.types import Namespace

SAID_AT: Final = datetime(2026, 5, 30, 18, 0, tzinfo=UTC)
ALL: Final[Namespace] = ("memories", "talks")
TASKS: Final = (
    "rules",
    "model",
    "both",
    "judge",
    "summary",
    "reading",
    "night",
    "chat",
    "plain-chat",
)
TALK: Final = "talk"
"""Further task, for which a data set is needed."""
TALK_TURNS: Final = 10
"""Of one batch of it."""
READER_TOKENS: Final = 300
"""Of an answer to a question: small models go on for ever."""
CHAT_TOOLS: Final = ("search_memory", "manage_memory", "core_memory_append")
_ID: Final = re.compile(r"\b[MRG]:[0-9a-f]{4,}|\b[0-9a-f]{8}-[0-9a-f]{4}-")
"""Of a memory: short, or a UUID."""
THROWN_AWAY: Final = ("supersedes", "duplicate")
"""Verdicts after which something is no longer recalled."""


@dataclass
class Subject:
    """A model, and what it was asked."""

    model: BaseChatModel

    @contextmanager
    def counting(self) -> Iterator[Cost]:
        """Yield the cost of what is asked meanwhile."""
        cost, begun = Cost(), time.monotonic()
        self.model.callbacks = [cost]
        try:
            yield cost
        finally:
            cost.seconds = round(time.monotonic() - begun, 1)
            self.model.callbacks = None


@dataclass
class Outcome:
    """What a way of extracting made of the conversations."""

    counts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    listing: list[dict[str, Any]] = field(default_factory=list)
    cost: dict[str, float] = field(default_factory=dict)


class Alone:
    """An extractor of a model, in the form it can follow, that no rules complete and nothing checks."""

    def __init__(self, model: BaseChatModel) -> None:
        read = SmallExtractor(model) if form_of(model) == "small" else ModelExtractor(model)
        self.extract, self.aextract = read.extract, read.aextract


def model_of(name: str, base_url: str | None) -> BaseChatModel:
    """Return the model as `langmemory` makes it, or one of another server with OpenAI's protocol."""
    if base_url and base_url.rstrip("/").endswith("/v1"):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model=name, base_url=base_url, temperature=0)
    return named_chat_model(f"ollama:{name}", ModelsConfig(ollama_url=base_url))


def message_of(turn: tuple[str, str], number: int) -> AnyMessage:
    """Return a turn as a message."""
    of_role = AIMessage if turn[0] == "assistant" else HumanMessage
    return of_role(turn[1], name=turn[0], id=f"m{number}")


def reflect(store: MemoryStore, talk: Conversation, namespace: Namespace, **how: Any) -> list[str]:
    """Remember a conversation and derive its facts; return why others were dropped."""
    messages = map(message_of, talk.turns, range(len(talk.turns)))
    store.remember(
        namespace, messages, thread_id=talk.id, at=SAID_AT, owner=talk.speaker.casefold()
    )
    graph = build_reflection_graph(store, journal=False, **how)
    dropped: list[str] = []
    for update in graph.stream({"namespace": [*namespace], "thread_id": talk.id}):
        dropped += ((update.get("extract") or {}).get("extraction") or {}).get("dropped", ())
    return dropped


def reflection(talks: Sequence[Conversation], subject: Subject, **how: Any) -> Outcome:
    """Reflect each conversation in a memory of its own, and judge what is stored."""
    outcome = Outcome()
    with subject.counting() as cost, MemoryStore(":memory:") as store:
        for talk in talks:
            namespace = ("memories", talk.id)
            outcome.dropped.update(reflect(store, talk, namespace, **how))
            active, pending = set[Label](), set[Label]()
            for memory in store.admin.memories(namespace, past=True, limit=500):
                if memory.kind in ("semantic", "procedural"):
                    verdict, labels = talk.judge(memory.text)
                    repeated = bool(labels) and memory.status == "active" and active >= {*labels}
                    (active if memory.status == "active" else pending).update(labels)
                    outcome.counts[f"{memory.status} {'again' if repeated else verdict}"] += 1
                elif memory.kind == "archival":
                    verdict = summary_verdict(talk, memory.text)
                    outcome.counts[f"summary {verdict}"] += 1
                else:
                    continue
                if memory.privacy != "private" and any(
                    w in normalised_text(memory.text) for w in talk.private
                ):
                    outcome.counts["private told to all"] += 1
                outcome.listing.append(
                    {"talk": talk.id, "verdict": verdict, "status": memory.status,
                     "kind": memory.kind, "text": memory.text, "confidence": memory.confidence}
                )  # fmt: skip
            outcome.counts["told"] += len(active.intersection(talk.facts))
            outcome.counts["told once confirmed"] += len(pending.intersection(talk.facts) - active)
            outcome.counts["missed"] += len(set(talk.facts) - active - pending)
            outcome.counts["reviews"] += len(store.changes.reviews(namespace))
    outcome.cost = asdict(cost)
    return outcome


def talk(data: Path, count: int, subject: Subject) -> dict[str, Any]:
    """Reflect batches of ten turns, spread over the conversations of a data set of `langmemory eval`. Those
    of one conversation share a memory. Nothing is labelled: read the listed memories and their turns."""
    batches = [
        (conversation.id, session, start)
        for conversation in load(data).conversations
        for session in conversation.sessions
        for start in range(0, len(session.turns), TALK_TURNS)
    ]
    chosen = [batches[len(batches) * n // count] for n in range(min(count, len(batches)))]
    counts, dropped, listing = Counter[str](), Counter[str](), []
    with subject.counting() as cost, MemoryStore(":memory:") as store:
        graph = build_reflection_graph(store, journal=False, model=subject.model)
        for name, session, start in chosen:
            namespace, thread = ("memories", name), f"{session.id}/{start}"
            messages = [
                HumanMessage(turn.text, name=turn.speaker, id=turn.id)
                for turn in session.turns[start : start + TALK_TURNS]
            ]
            store.remember(namespace, messages, thread_id=thread, at=session.at)
            for update in graph.stream({"namespace": [*namespace], "thread_id": thread}):
                extracted = (update.get("extract") or {}).get("extraction") or {}
                dropped.update(extracted.get("dropped", ()))
        for namespace in dict.fromkeys(("memories", name) for name, *_ in chosen):
            for memory in store.admin.memories(namespace, past=True, limit=10_000):
                if memory.kind == "episodic":
                    continue
                said = store.changes.evidence(namespace, memory.key)
                counts[memory.status] += 1
                listing.append(
                    {"talk": namespace[-1], "status": memory.status, "kind": memory.kind, "text": memory.text,
                     "confidence": memory.confidence,
                     "said": [f"{one.speaker}: {one.text}" for one in said]}
                )  # fmt: skip
            counts["reviews"] += len(store.changes.reviews(namespace))
    counts["batches"] = len(chosen)
    return {"counts": counts, "dropped": dropped, "listing": listing, "cost": asdict(cost)}


def summary_verdict(talk: Conversation, text: str) -> str:
    """Whether every sentence of a summary has the words of turns, the assistant's included."""
    sources = [f"{who}: {words}" for who, words in talk.turns]
    parts = sentences(text).values()
    return (
        "invented"
        if any(unsupported_part(one, talk.language, sources) for one in parts)
        else "true"
    )


def judging(cases: Sequence[dict[str, str]], subject: Subject) -> dict[str, Any]:
    """Ask the judge of contradictions about each pair. Unclear asks a person, so it is never wrong."""
    counts, listing = Counter[str](), []
    with subject.counting() as cost:
        judge = ModelJudge(subject.model)
        for case in cases:
            new, old = (
                ComparableFact.of_fact(Fact(text=case[one], evidence=(one,), said_at=SAID_AT, speaker="x",
                                            language="en"))
                for one in ("new", "old")
            )  # fmt: skip
            pair = Pair(new=new, old=old, about="one thing")
            verdict = (
                judge.judge(Group(subject="", relation="", pairs=(pair,))).decisions[0].verdict
            )
            result = (
                "right" if verdict == case["verdict"]
                else "asks a person" if verdict == "unclear"
                else "loses a fact" if verdict in THROWN_AWAY
                else "hides a change" if case["verdict"] == "supersedes"
                else "harmless"
            )  # fmt: skip
            counts[result] += 1
            listing.append({**case, "said": verdict, "result": result})
    return {"counts": counts, "listing": listing, "cost": asdict(cost)}


def summaries(talks: Sequence[Conversation], subject: Subject) -> dict[str, Any]:
    """Summarize all but the last message of each conversation, as its window fills."""
    counts, listing = Counter[str](), []
    with subject.counting() as cost:
        for talk in talks:
            messages = [*map(message_of, talk.turns, range(len(talk.turns)))]
            result = summarize_messages(
                messages, running_summary=None, model=subject.model, max_tokens=400,
                max_tokens_before_summary=1, max_summary_tokens=128, grounded=True,
                initial_summary_prompt=GROUNDED_INITIAL_SUMMARY_PROMPT,
            )  # fmt: skip
            text = result.running_summary.summary if result.running_summary else ""
            verdict = summary_verdict(talk, text) if text else "kept whole"
            counts[verdict] += 1
            counts["facts"] += sum(one.is_in(text, talk.language) for one in talk.facts)
            listing.append(
                {"talk": talk.id, "verdict": verdict, "text": text, "error": result.error}
            )
    return {"counts": counts, "listing": listing, "cost": asdict(cost)}


def reading(
    talks: Sequence[Conversation], cases: Sequence[dict[str, str]], subject: Subject
) -> dict[str, Any]:
    """Ask questions without and with the memory block of rules' facts, and let the model rank and expand."""
    counts, listing = Counter[str](), []
    with MemoryStore(":memory:") as store, subject.counting() as cost:
        reader = bounded(subject.model, READER_TOKENS)
        for talk in talks:
            reflect(store, talk, ALL)
        node = RecallNode(ALL, store=store, viewer=None, core={})
        for case in cases:
            label = Label.of(f" = {case['answer'].replace(' ', '_')}")
            block = node.invoke({"messages": [HumanMessage(case["ask"])]})["memory_block"]["text"]
            results = store.recall(case["ask"], ALL, limit=8).results
            in_block = any(label.is_in(line, "en") for line in block.splitlines())
            row: dict[str, Any] = {**case, "block has it": in_block}
            for name, prompt in (("without", case["ask"]), ("with", f"{block}\n\n{case['ask']}")):
                row[name] = reader.invoke(prompt[:6_000]).text
                counts[f"answered {name} block"] += label.is_in(row[name], "en")
            order, failure = rerank(case["ask"], results, chat_model_reranker(subject.model))
            counts["not ranked"] += bool(failure)
            row["rank"] = [_place(label, one) for one in (results, order)]
            before, after = row["rank"]
            counts["ranked lower"] += after > before
            counts["ranked higher"] += after < before
            try:
                row["expanded"] = list(chat_model_expander(subject.model)(case["ask"]))
            except Exception as error:
                row["expanded"] = str(error)
            listing.append(row)
    return {"counts": counts, "listing": listing, "cost": asdict(cost)}


def _place(label: Label, results: Sequence[Any]) -> int:
    return next((n for n, one in enumerate(results) if label.is_in(one.text, "en")), len(results))


def night(talks: Sequence[Conversation], subject: Subject) -> dict[str, Any]:
    """Run a night over the facts that rules made of all conversations."""
    with MemoryStore(":memory:") as store, subject.counting() as cost:
        for talk in talks:
            reflect(store, talk, ALL)
        before = {one.key for one in store.admin.memories(ALL, past=True, limit=5_000)}
        cost.calls = cost.prompt_tokens = cost.answer_tokens = 0
        begun = time.monotonic()
        graph = build_maintenance_graph(store, model=subject.model)
        reports = graph.invoke({})["reports"]
        new = [
            one
            for one in store.admin.memories(ALL, past=True, limit=5_000)
            if one.key not in before
        ]
    listing = [{"status": one.status, "kind": one.kind, "text": one.text} for one in new]
    counts = Counter(f"{one.status} {one.kind}" for one in new)
    counts["failed tasks"] = sum(bool(one["error"]) for one in reports)
    refused = [reason for one in reports for reason in one["refused"]]
    return {"counts": counts, "refused": Counter(refused), "listing": listing,
            "cost": {**asdict(cost), "seconds": round(time.monotonic() - begun, 1)}}  # fmt: skip


def chat(
    cases: Sequence[dict[str, str]], subject: Subject, tools: Sequence[str] = CHAT_TOOLS
) -> dict[str, Any]:
    """Chat in one thread, with memory tools or without."""
    counts, listing = Counter[str](), []
    with MemoryStore(":memory:") as store, subject.counting() as cost:
        graph = build_chat_graph(
            bounded(subject.model, READER_TOKENS),
            tools=tools,
            store=store,
            checkpointer=InMemorySaver(),
        )
        config: Any = {"configurable": {"thread_id": "chat", "user_id": "lena"}}
        for case in cases:
            before = cost.calls
            try:
                messages = graph.invoke({"messages": [HumanMessage(case["say"])]}, config)[
                    "messages"
                ]
            except GraphRecursionError:
                counts["endless"] += 1
                listing.append({**case, "said": None})
                continue
            last = max(n for n, one in enumerate(messages) if isinstance(one, HumanMessage))
            new = messages[last + 1 :]
            text = new[-1].text
            calls = [call for one in new for call in getattr(one, "tool_calls", ())]
            results = [one for one in new if isinstance(one, ToolMessage)]
            counts["tool calls"] += len(calls)
            counts["tool errors"] += sum(one.status == "error" for one in results)
            counts["empty answers"] += not text.strip()
            counts["answers in JSON"] += text.lstrip().startswith(("{", "["))
            counts["answers with an id"] += bool(_ID.search(text))
            counts["asked without tools"] += (
                cost.calls - before - 1 - sum(isinstance(one, AIMessage) for one in new[:-1])
            )
            if "answer" in case:
                label = Label.of(f" = {case['answer']}")
                counts["answered right"] += label.is_in(text, "en")
                counts["questions"] += 1
            called = [
                {"call": one["name"], "with": one["args"], "result": result.text}
                for one, result in zip(calls, results, strict=False)
            ]
            listing.append({**case, "said": text, "calls": called})
        for one in store.admin.memories(past=True, limit=500):
            is_turn = one.kind == "episodic"
            counts["remembered without words or as a call"] += is_turn and (
                not one.text.strip() or bool(calls_in_text(one.text))
            )
            if not is_turn:
                counts[f"stored {one.kind}"] += 1
                place = "/".join(one.namespace)
                listing.append(
                    {
                        "kind": one.kind,
                        "status": one.status,
                        "in": place,
                        "key": one.key,
                        "text": one.text,
                    }
                )
    return {"counts": counts, "listing": listing, "cost": asdict(cost)}


def show(title: str, outcome: dict[str, Any]) -> None:
    """Print counts and cost of a task."""
    table = Table(title=title, title_justify="left", show_header=False)
    for part in ("counts", "dropped", "refused", "cost"):
        for name, figure in sorted(outcome.get(part, {}).items()):
            table.add_row(part, name, f"{figure:g}")
    console = Console(width=110)
    console.print(table)
    for one in outcome.get("listing", ()):
        if one.get("verdict") in ("wrong", "invented") and one.get("status", "active") == "active":
            console.print(f"{one['verdict']}: {one['talk']}: {one['text']}", markup=False)


def main() -> None:
    """Run the tasks and write the listing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_model")
    parser.add_argument("--model", default="qwen2.5-coder:0.5b")
    parser.add_argument("--base-url", default="http://127.0.0.1:18137")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--talks", default="", help="ids of conversations, or their beginnings")
    parser.add_argument(
        "--data", type=Path, help="data set of the task talk, as langmemory eval reads it"
    )
    parser.add_argument("--batches", type=int, default=100, help="of the task talk")
    parser.add_argument("--out", type=Path, default=Path(".cache/real_model/report.json"))
    arguments = parser.parse_args()
    cases = tomllib.loads((Path(__file__).parent / "cases.toml").read_text("utf-8"))
    talks = [*conversations([one for one in arguments.talks.split(",") if one])]
    subject = Subject(model_of(arguments.model, arguments.base_url))
    tasks: dict[str, Callable[[], Any]] = {
        "rules": lambda: vars(reflection(talks, subject)),
        "model": lambda: vars(reflection(talks, subject, extractor=Alone(subject.model))),
        "both": lambda: vars(reflection(talks, subject, model=subject.model)),
        "judge": partial(judging, cases["pairs"], subject),
        "summary": partial(summaries, talks, subject),
        "reading": partial(reading, talks, cases["questions"], subject),
        "night": partial(night, talks, subject),
        "chat": partial(chat, cases["chat"], subject),
        "plain-chat": partial(chat, cases["chat"], subject, ()),
        TALK: lambda: talk(arguments.data, arguments.batches, subject),
    }  # fmt: skip
    report: dict[str, Any] = {}
    for name in arguments.tasks.split(","):
        report[name] = tasks[name]()
        show(f"{name}: {arguments.model}, {len(talks)} conversations", report[name])
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(report, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
