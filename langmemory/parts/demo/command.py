"""`langmemory demo`: ten months of one conversation, remembered and recalled in some seconds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from langmemory.errors import LangMemoryError
from langmemory.parts.demo.story import (
    NAMESPACE,
    TOP,
    answer,
    example_answer,
    questions,
    sample_folder,
    show,
    their_places,
)

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langchain_ollama import ChatOllama

    from langmemory.cli.screen import Screen
    from langmemory.config import Config
    from langmemory.stores import MemoryStore

CHAT_MESSAGE = "Fritzi and I want to plan the Alta Via. What do I have to keep in mind?"

ANSWER_SECONDS = 40.0
"""How long the demo waits for an Ollama model's answer."""

ANSWER_TOKENS = 200


def demo() -> None:
    """Try it on ten months of talk: recall, facts, undo, a prompt, a year that passes."""
    from langmemory.cli.screen import Screen
    from langmemory.config import Config, load_config
    from langmemory.server.settings import ServerSettings
    from langmemory.stores import MemoryStore

    console = Screen()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="langmemory-demo-") as folder:
        path = Path(folder) / "memory.db"
        config = load_config()
        # Of the configuration it takes the chat model alone: no journal is to tell of Lena.
        with MemoryStore(path, config=Config()) as store:
            remember(store, console)
            ask(store, console)
            know(store, console)
            reopen(store, console, path)
            talk(store, console, config)
            age(store, console)
    seconds = time.perf_counter() - started
    console.print()
    console.rule(style="dim")
    console.print(f"All of it took {seconds:.1f} s. Go on by yourself:\n", style="dim")
    sample = _from_here(sample_folder() / "lena.jsonl")
    commands = [f"import {sample}", 'search "who sings at work?"']
    in_checkout = Path("Makefile").is_file() and not sample_folder().is_relative_to(
        Path(__file__).parents[2]
    )
    if not in_checkout:
        commands.append("serve --open")
    for command in commands:
        console.print(f"  {program()} {command}", soft_wrap=True)
    if in_checkout:
        console.print("  make inspect", soft_wrap=True)
    settings = ServerSettings()
    console.print(
        "\nThe last one shows this memory in a browser, at "
        f"http://{settings.host}:{settings.port}/memory/",
        soft_wrap=True,
    )


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
    from langmemory.parts.importing.importing import import_conversations

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
    """Ask every question of `langmemory` and of LangGraph's store, and show who found what."""
    _heading(
        console, 2, "Recall", "the same questions to langmemory and to LangGraph's InMemoryStore"
    )
    answers = [answer(store, question) for question in questions()]
    show(answers, their_places(store), store.stats().items, console)


def know(store: MemoryStore, console: Screen) -> None:
    """Make knowledge of what was said, by rules."""
    from langmemory.parts.demo.story import reflect

    _heading(console, 3, "Reflect", "talk becomes knowledge, by rules; no model, no server")
    reflect(store, NAMESPACE, console)


def reopen(store: MemoryStore, console: Screen, path: Path) -> None:
    """Search the same file from a second process and compare."""
    from langmemory.config import ENVIRONMENT

    _heading(console, 4, "Reopen", "the same file from a second process")
    question = questions()[0].question
    command = [
        *(sys.executable, "-m", "langmemory", "--db", str(path)),
        *("search", question, "--namespace", "/".join(NAMESPACE), "--limit", str(TOP), "--json"),
    ]
    defaults = path.with_name("memory.json")
    defaults.write_text("{}")
    own = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    started = time.perf_counter()
    process = subprocess.run(
        command,
        env={**own, "LANGMEMORY_CONFIG": str(defaults)},
        capture_output=True, text=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    if process.returncode:
        raise LangMemoryError(f"the second process failed: {process.stderr.strip()}")
    theirs = [result["memory"]["key"] for result in json.loads(process.stdout)["results"]]
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

    from langmemory.context.citations import without_citations
    from langmemory.graphs import NoModel, build_chat_graph

    _heading(console, 5, "Chat", "a new thread; this is what the model gets to see")
    console.print(Text.assemble(("Lena:", "bold"), f" {CHAT_MESSAGE}\n"))
    model = ollama_model(config)
    graph = build_chat_graph(model or NoModel(), namespace=NAMESPACE, store=store)
    turn = {"messages": [{"role": "user", "content": CHAT_MESSAGE}]}
    run: RunnableConfig = {"configurable": {"thread_id": "demo", "user_id": NAMESPACE[-1]}}
    said = ""
    try:
        for update in graph.stream(turn, run, stream_mode="updates"):
            if block := (update.get("recall") or {}).get("memory_block"):
                title = f"from memory, {block['tokens']} tokens"
                console.print(Panel(Text(block["text"]), title=title, border_style="cyan"))
            if model is not None and "model" in update:
                said = without_citations(update["model"]["messages"][-1].text).strip()
    except (httpx.HTTPError, ResponseError, ConnectionError) as error:
        console.print(f"\nOllama did not answer: {type(error).__name__}.", style="yellow")
    if model is not None and said:
        console.print(Text.assemble((f"\n{model.model}:", "bold"), f" {said}"))
        return
    console.print(
        Text.assemble(
            ("\nAn example of an answer", "bold"),
            (
                " (written by hand from the block above; with Ollama running, your model answers):",
                "dim",
            ),
            f"\n{' '.join(example_answer().split())}",
        )
    )


def age(store: MemoryStore, console: Screen) -> None:
    """Let a year pass over what was learned."""
    from langmemory.parts.demo.story import pass_a_year

    _heading(console, 6, "Age", "a year passes, with a night of maintenance each quarter")
    pass_a_year(store, NAMESPACE, console)


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


def _heading(console: Screen, number: int, title: str, subtitle: str) -> None:
    from rich.text import Text

    console.print()
    heading = Text.assemble((f"{number}  {title}", "bold"), (f" – {subtitle}", "dim"))
    console.rule(heading, align="left", style="dim")
    console.print()
