"""`langmemory demo`: ten months of one conversation, remembered and recalled in some seconds."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langmemory.errors import LangMemoryError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langchain_ollama import ChatOllama
    from rich.text import Text

    from langmemory.cli.screen import Screen
    from langmemory.config import Config
    from langmemory.stores import MemoryStore
    from langmemory.types import Recall, RecallResult

NAMESPACE = ("memories", "lena")

TOP = 3
"""The expected memory should be among the first three."""

PLACES = {1: ("✓", "green"), 2: ("2nd", "green"), 3: ("3rd", "green")}
"""How the place of an expected memory is shown, and its style."""

LEGEND = "✓ found first, else its place. meaning: cosine; words: BM25; +: what else spoke for it.\n"

EXCERPT_CHARACTERS = 140

CHAT_MESSAGE = "I want to bake a cake for Emil and Juna. What do I have to watch out for?"

ANSWER_SECONDS = 40.0
"""How long the demo waits for an Ollama model's answer."""

ANSWER_TOKENS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question of `questions.jsonl` and the messages that answer it."""

    question: str
    expected: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What recall found for a question."""

    question: Question
    shown: RecallResult
    rank: int | None
    """1-based place of the first expected message among the first `TOP`, else None."""
    milliseconds: float


def demo() -> None:
    """Try it on ten months of talk: recall, facts, undo, a prompt."""
    from langmemory.cli.screen import Screen
    from langmemory.config import load_config
    from langmemory.stores import MemoryStore

    console = Screen()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="langmemory-demo-") as folder:
        path = Path(folder) / "memory.db"
        config = load_config()
        with MemoryStore.from_conn_string(str(path)) as store:
            remember(store, console)
            ask(store, console)
            know(store, console)
            reopen(store, console, path)
            talk(store, console, config)
    seconds = time.perf_counter() - started
    console.print()
    console.rule(style="dim")
    console.print(f"All of it took {seconds:.1f} s. Go on by yourself:\n", style="dim")
    sample = _from_here(sample_folder() / "lena.jsonl")
    for command in (f"import {sample}", 'search "who sings at work?"'):
        console.print(f"  {program()} {command}", soft_wrap=True)


def program() -> str:
    """How a shell calls this command: by its name where that is on the PATH, else by its path, as
    after `make demo`, which activates nothing."""
    here = Path(sys.argv[0])
    on_path = shutil.which(here.name)
    if here.name != "langmemory" or (on_path is not None and Path(on_path).samefile(here)):
        return "langmemory"
    return _from_here(here)


def _from_here(path: Path) -> str:
    """Relative, where that can be: Windows has no way from one drive to another."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return str(path)


def remember(store: MemoryStore, console: Screen) -> None:
    """Import the sample and say what it was."""
    from langmemory.cli.import_file import import_conversations

    _heading(console, 1, "Remember", "every message word for word; no model, no server")
    started = time.perf_counter()
    with (sample_folder() / "lena.jsonl").open("rb") as stream:
        report = import_conversations(store, NAMESPACE, stream, "messages")
    milliseconds = (time.perf_counter() - started) * 1000
    console.print(
        f"{report.added} messages of {report.threads} conversations between Lena and her assistant "
        f"Juno, January to November 2026, stored and searchable in {milliseconds:.0f} ms "
        f"({store.stats().file_bytes / 1024:.0f} kB)."
    )


def ask(store: MemoryStore, console: Screen) -> None:
    """Ask every question and show what was found and why."""
    answers = [answer(store, question) for question in questions()]
    _heading(console, 2, "Recall", "by meaning and by words at once, each result explained")
    shown = answers_list if console.narrow else answers_table
    console.print(shown(answers))
    console.print(LEGEND, style="dim")
    found = [a for a in answers if a.rank]
    first = sum(a.rank == 1 for a in found)
    median = statistics.median(a.milliseconds for a in answers)
    console.print(
        f"{len(found)} of {len(answers)} answers among the first {TOP} of {store.stats().items} "
        f"memories, {first} of them first; {median:.1f} ms a question (median)."
    )


def answer(store: MemoryStore, question: Question) -> Answer:
    started = time.perf_counter()
    recall = store.recall(question.question, NAMESPACE, limit=TOP, explain=True)
    milliseconds = (time.perf_counter() - started) * 1000
    rank = rank_of(recall, question.expected)
    shown = recall.results[(rank or 1) - 1]
    return Answer(question=question, shown=shown, rank=rank, milliseconds=milliseconds)


def rank_of(recall: Recall, expected: tuple[str, ...]) -> int | None:
    for rank, result in enumerate(recall.results, start=1):
        if message_id(result) in expected:
            return rank
    return None


def message_id(result: RecallResult) -> str:
    """The id the message had in the file it was imported from."""
    return str(result.memory.value.get("message_id"))


def answers_table(answers: list[Answer]) -> Any:
    from rich.console import Group
    from rich.table import Table

    from langmemory.cli.results import excerpt, when, who, why

    table = Table(box=None, padding=(0, 2, 1, 0), header_style="dim", expand=True)
    table.add_column("what", ratio=1, overflow="fold")
    table.add_column("when", no_wrap=True)
    table.add_column("who", no_wrap=True)
    table.add_column("why it was found", max_width=26)
    table.add_column("ms", justify="right", no_wrap=True)
    for found in answers:
        result = found.shown
        table.add_row(
            Group(heading(found), excerpt(result, EXCERPT_CHARACTERS)),
            when(result),
            who(result),
            why(result),
            f"{found.milliseconds:.1f}",
        )
    return table


def answers_list(answers: list[Answer]) -> Any:
    """As `answers_table`, for terminals too narrow for it."""
    from rich.console import Group

    from langmemory.cli.results import result_lines

    lines = (
        [
            heading(found),
            *result_lines(found.shown, f"{found.milliseconds:.1f} ms", limit=EXCERPT_CHARACTERS),
        ]
        for found in answers
    )
    return Group(*itertools.chain.from_iterable(lines))


def heading(found: Answer) -> Text:
    """The question, and at which place its answer was found."""
    from rich.text import Text

    question = Text(f"{found.question.question} ", "bold")
    return question.append(*PLACES.get(found.rank or 0, ("not found", "red")))


def know(store: MemoryStore, console: Screen) -> None:
    """Make knowledge of what was said, by rules."""
    from langmemory.cli.demo_knowledge import reflect

    _heading(console, 3, "Reflect", "talk becomes knowledge, by rules; no model, no server")
    reflect(store, NAMESPACE, console)


def reopen(store: MemoryStore, console: Screen, path: Path) -> None:
    """Search the same file from a second process and compare."""
    _heading(console, 4, "Reopen", "the same file from a second process")
    question = questions()[0].question
    command = [
        *(sys.executable, "-m", "langmemory.cli", "--db", str(path)),
        *("search", question, "--namespace", "/".join(NAMESPACE), "--limit", str(TOP), "--json"),
    ]
    started = time.perf_counter()
    process = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise LangMemoryError(f"the second process failed: {process.stderr.strip()}")
    theirs = [result["key"] for result in json.loads(process.stdout)["results"]]
    ours = [result.memory.key for result in store.recall(question, NAMESPACE, limit=TOP)]
    if theirs != ours:
        raise LangMemoryError(f"the second process found {theirs}, this one {ours}")
    console.print(question, style="bold")
    console.print(
        f"A second process found the same {len(theirs)} memories in the same order, "
        f"{seconds:.1f} s after its start."
    )


def talk(store: MemoryStore, console: Screen, config: Config) -> None:
    """Run the chat graph in a new thread and show what the model gets to see."""
    import httpx
    from ollama import ResponseError
    from rich.panel import Panel
    from rich.text import Text

    from langmemory.graphs import NoModel, build_chat_graph

    _heading(console, 5, "Chat", "a new thread; this is what the model gets to see")
    console.print(Text.assemble(("Lena:", "bold"), f" {CHAT_MESSAGE}\n"))
    model = ollama_model(config)
    graph = build_chat_graph(model or NoModel(), namespace=NAMESPACE, store=store)
    turn = {"messages": [{"role": "user", "content": CHAT_MESSAGE}]}
    run: RunnableConfig = {"configurable": {"thread_id": "demo", "user_id": NAMESPACE[-1]}}
    try:
        for update in graph.stream(turn, run, stream_mode="updates"):
            if block := (update.get("recall") or {}).get("memory_block"):
                title = f"from memory, {block['tokens']} tokens"
                console.print(Panel(Text(block["text"]), title=title, border_style="cyan"))
            if model is not None and "model" in update:
                said = update["model"]["messages"][-1].text.strip()
                console.print(Text.assemble((f"\n{model.model}:", "bold"), f" {said}"))
    except (httpx.HTTPError, ResponseError, ConnectionError) as error:
        console.print(f"\nOllama did not answer: {type(error).__name__}.", style="yellow")
    if model is None:
        console.print("\nWith Ollama running, a model's answer would stand here.", style="dim")


def ollama_model(config: Config) -> ChatOllama | None:
    """The configured model if Ollama has it, else the first one that can chat, if any."""
    from langmemory.cli.ollama import installed_models

    names = installed_models(config.models.ollama_url) or []
    wanted = (config.models.fast or config.models.deep or "").removeprefix("ollama:")
    chatty = [name for name in names if "embed" not in name]
    preferred = [name for name in chatty if name in (wanted, f"{wanted}:latest")]
    if not chatty:
        return None
    from langchain_ollama import ChatOllama

    return ChatOllama(
        model=(preferred or chatty)[0],
        base_url=config.models.ollama_url,
        num_predict=ANSWER_TOKENS,
        client_kwargs={"timeout": ANSWER_SECONDS},
    )


def questions() -> list[Question]:
    lines = (sample_folder() / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Question(**{**row, "expected": tuple(row["expected"])}) for row in rows]


def sample_folder() -> Path:
    """`examples/data` of the repository, or its copy in the installed package.

    Raises:
        LangMemoryError: Neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / "examples" / "data", package / "examples"):
        if (folder / "lena.jsonl").is_file():
            return folder
    raise LangMemoryError(
        "the sample conversation is not installed: clone the repository and run the demo there"
    )


def _heading(console: Screen, number: int, title: str, subtitle: str) -> None:
    from rich.text import Text

    console.print()
    heading = Text.assemble((f"{number}  {title}", "bold"), (f" – {subtitle}", "dim"))
    console.rule(heading, align="left", style="dim")
    console.print()
