"""`langmemory chat`: talk to the configured model, with memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmemory.cli.oneline import DEBUG_VARIABLE, line_of
from langmemory.cli.target import DEFAULT_NAMESPACE, DbOption, NamespaceOption, Target
from langmemory.cli.terminal import read_any_bytes
from langmemory.errors import ConfigError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from langmemory.config import ModelsConfig

HELP = "/memory shows what the model was given from memory, /quit or Ctrl-D ends."


def chat(
    context: typer.Context,
    thread: Annotated[
        str | None,
        typer.Option(
            "--thread", metavar="NAME", help="Name of the conversation; else the time it began."
        ),
    ] = None,
    db: DbOption = None,
    namespace: NamespaceOption = None,
) -> None:
    """Chat with the configured model; it remembers across conversations."""
    target = Target.of(context, db, namespace)
    models = target.config().models
    name = _checked_model(models)

    with suppress(ImportError):
        import readline  # noqa: F401  # line editing and history for input()

    from langgraph.checkpoint.memory import InMemorySaver  # takes a second: after what may be wrong

    from langmemory.cli.screen import Screen
    from langmemory.graphs import build_chat_graph, chat_model

    place = target.namespace(DEFAULT_NAMESPACE)
    console = Screen()
    with target.open(create=True) as store:
        graph = build_chat_graph(
            chat_model(models),
            namespace=place,
            store=store,
            checkpointer=InMemorySaver(),
        )
        thread_id = thread or f"chat-{datetime.now():%Y-%m-%dT%H-%M-%S}"
        config: RunnableConfig = {
            "configurable": {"thread_id": thread_id, "user_id": place[-1]},
        }
        console.print(f"{name}, thread {thread_id}. {HELP}", style="dim")
        failed = False
        read_any_bytes()
        for line in _lines(console):
            if line == "/memory":
                block = graph.get_state(config).values.get("memory_block") or {}
                console.print(block.get("text") or "Nothing.", style="dim")
                continue
            failed = True
            try:
                for piece in _answer(graph, line, config):
                    console.print(piece, end="")
                console.print()
                failed = False
            except Exception as error:  # the model is anybody's, and the chat goes on without it
                if os.environ.get(DEBUG_VARIABLE) == "1":
                    raise
                typer.echo(f"\nNo answer: {line_of(error)}", err=True)
            finally:
                if failed:  # what was said is remembered, also when nothing is said after it
                    said = graph.get_state(config).values.get("messages", [])[-1:]
                    store.remember(place, said, thread_id=thread_id, owner=place[-1])
    if failed:
        raise typer.Exit(1)


def _lines(console: Any) -> Iterator[str]:
    """What the person types, until they leave."""
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


def _answer(graph: Any, line: str, config: RunnableConfig) -> Iterator[str]:
    """The model's answer in the pieces it arrives in."""
    turn = {"messages": [{"role": "user", "content": line}]}
    for chunk, metadata in graph.stream(turn, config, stream_mode="messages"):
        # Other nodes have models, too: a configured reranker answers within "recall".
        if metadata["langgraph_node"] == "model" and chunk.type in ("ai", "AIMessageChunk"):
            yield chunk.text


def _checked_model(models: ModelsConfig) -> str:
    """Name of the model to talk to.

    Raises:
        ConfigError: None is configured, or Ollama does not answer or does not have it.
    """
    from langmemory.cli.ollama import has_model, installed_models

    name = models.fast or models.deep
    if name is None:
        raise ConfigError(
            "no chat model is configured: set models.fast in config/memory.json, for example to "
            '"ollama:llama3.1", or try `langmemory search`, which needs none'
        )
    provider, _, model = name.partition(":")
    if provider == "ollama":
        found = installed_models(models.ollama_url)
        where = f" at {models.ollama_url}" if models.ollama_url else ""
        if found is None:
            raise ConfigError(f"Ollama does not answer{where}: start it with `ollama serve`")
        if not has_model(found, model):
            raise ConfigError(f"Ollama{where} does not have {model}: run `ollama pull {model}`")
    return name
