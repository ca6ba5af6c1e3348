"""`langmemory chat` and `langmemory init`: a chatbot that remembers, at the terminal or as a new project."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from langmemory.cli.oneline import DEBUG_VARIABLE, line_of
from langmemory.cli.target import DEFAULT_NAMESPACE, Target
from langmemory.cli.terminal import read_any_bytes, say
from langmemory.errors import ConfigError
from langmemory.pluralize import count_noun

if TYPE_CHECKING:
    from langmemory.cli.conversation import Conversation
    from langmemory.cli.screen import Screen
    from langmemory.config import ModelsConfig

HELP = (
    "/memory shows what the model was given from memory; Ctrl-C stops an answer; /quit or Ctrl-D "
    "ends."
)

NO_MODEL = (
    "No chat model is configured (models.fast in config/memory.json, for example "
    '"ollama:llama3.1"): memory itself answers'
)

INTERRUPTED = 130
"""Exit code of what Ctrl-C ended."""


def chat(target: Target, *, thread: str | None = None) -> None:
    """Chat with the configured model, without one with memory itself; it remembers across conversations.

    Args:
        thread (NAME): Name of the conversation, which goes on if there is one; else the time it began.
    """
    place = target.namespace(DEFAULT_NAMESPACE)
    models = target.config().models
    name = _checked_model(models)

    with suppress(ImportError):
        import readline  # noqa: F401  # line editing and history for input()

    from langmemory.cli.screen import Screen

    def opened() -> Conversation:
        from langmemory.cli.conversation import Conversation

        return Conversation(target, place, thread_id, goes_on=thread is not None)

    console = Screen()
    thread_id = thread or f"chat-{datetime.now():%Y-%m-%dT%H-%M-%S}"
    console.print(f"{name or NO_MODEL}, thread {thread_id}. {HELP}", style="dim")
    read_any_bytes()
    # LangGraph takes a second or two to import: the person types meanwhile.
    with ThreadPoolExecutor(1) as loading:
        conversation = loading.submit(opened)
        try:
            # Whether another provider's model can be used is known when it is loaded.
            if name and not name.startswith("ollama:"):
                conversation.result()
            if thread and (said_before := conversation.result().said_before):
                messages = count_noun(said_before, "message")
                console.print(f"It goes on after {messages}.", style="dim")
            code = _talk(console, conversation.result)
        finally:
            if conversation.exception() is None:
                conversation.result().close()
    if code:
        raise typer.Exit(code)


def _talk(console: Screen, opened: Callable[[], Conversation]) -> int:
    """Answer line by line. Returns the exit code: whether the last line was answered."""
    code = 0
    for line in _lines(console):
        try:
            conversation = opened()
        except KeyboardInterrupt:  # while it is still being loaded
            opened().keep(line)
            raise
        if line == "/memory":
            console.print(conversation.block or "Nothing.", style="dim")
            continue
        code = 1
        try:
            conversation.answer(line, lambda piece: console.print(piece, end=""))
            console.print()
            code = 0
        except KeyboardInterrupt:
            console.print("\nStopped. What you said is kept, this answer is not.", style="dim")
            if not at_a_terminal():  # nobody is there to go on
                return INTERRUPTED
            code = 0
        except Exception as error:  # the model is anybody's, and the chat goes on without it
            if os.environ.get(DEBUG_VARIABLE) == "1":
                raise
            say(f"\nNo answer: {line_of(error)}", err=True)
        if conversation.redacted:
            kinds = ", ".join(conversation.redacted)
            console.print(f"Not stored: {kinds}; a placeholder is stored instead.", style="dim")
    return code


def at_a_terminal() -> bool:
    """Return whether a person types the lines."""
    return sys.stdin.isatty()


def _lines(console: Any) -> Iterator[str]:
    """Yield the lines the person types, until they leave."""
    from rich.text import Text

    while True:
        try:
            line = console.input(Text("you › ", "bold")).strip()
        except EOFError:
            console.print()
            return
        if line in ("/quit", "/exit"):
            return
        if line:
            yield line


def _checked_model(models: ModelsConfig) -> str | None:
    """Return the name of the model to talk to, if one is configured.

    Raises:
        ConfigError: Ollama does not answer or does not have it.
    """
    from langmemory.cli.ollama import has_model, installed_models

    name = models.fast or models.deep
    if name is None:
        return None
    provider, _, model = name.partition(":")
    if provider == "ollama":
        found = installed_models(models.ollama_url)
        where = f" at {models.ollama_url}" if models.ollama_url else ""
        if found is None:
            raise ConfigError(f"Ollama does not answer{where}: start it with `ollama serve`")
        if not has_model(found, model):
            raise ConfigError(f"Ollama{where} does not have {model}: run `ollama pull {model}`")
    return name


def init(folder: Path) -> None:
    """Write a new chatbot project: graph, store, configuration, README.

    Args:
        folder: Where to write it; no file there is overwritten.
    """
    from langmemory.templates import init_project

    written = init_project(folder)
    for file in written:
        say(f"  {file}")
    there = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    say(f"\nGo on:  {there}pip install -r requirements.txt && langgraph dev")
