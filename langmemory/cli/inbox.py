"""`langmemory inbox`: what agents of this memory file tell each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.target import JsonOption, Target
from langmemory.cli.terminal import json_text, plain, say

if TYPE_CHECKING:
    from rich.console import Console

    from langmemory.types import BusMessage


def inbox(
    target: Target,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="Whose inbox; else all messages, the newest first, acknowledged ones included.",
            show_default=False,
        ),
    ] = None,
    acknowledge: Annotated[
        list[str] | None,
        typer.Option(
            "--acknowledge",
            metavar="ID",
            help="The agent is done with this message; may be repeated.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show what agents tell each other over the bus, and what waits for one of them."""
    from langmemory.cli.screen import Screen
    from langmemory.errors import ConfigError

    if acknowledge and agent is None:
        raise ConfigError("Name the agent that is done with it: --agent NAME.")
    place = target.namespace()
    if agent is not None and not place:
        raise ConfigError(f"Name the namespace of {agent}: --namespace A/B.")
    with target.open() as store:
        bus = store.bus(place, agent=agent)
        if acknowledge:
            done = bus.acknowledge(acknowledge)
            missing = [one for one in acknowledge if one not in done]
            if missing:
                raise ConfigError(
                    f"No message {missing[0]!r} waits for {agent}. It may have expired."
                )
        found = bus.messages(limit=limit) if agent is None else bus.inbox(limit=limit)
    if as_json:
        say(json_text(plain(list(found.items))))
        return
    console = Screen()
    for one in found.items:
        _show(console, one)
    if not found.items:
        console.print("No message waits." if agent else "There is no message.")
    elif found.next is not None:
        console.print("There are more; see --limit.", style="dim")


def _show(console: Console, message: BusMessage) -> None:
    from rich.text import Text

    to = message.recipient or "all"
    head = f"{message.created_at.astimezone():%Y-%m-%d %H:%M}  {message.sender} → {to}"
    notes = [message.type, *(one for one in (message.topic,) if one)]
    if message.priority != "normal":
        notes.append(f"{message.priority} priority")
    if message.state != "open":
        notes.append(message.state)
    console.print(Text.assemble((head, "bold"), (f"  {', '.join(notes)}  {message.id}", "dim")))
    for line in (message.summary, message.details, *message.artifacts):
        if line:
            console.print(Text(f"  {line}"))
    for n, step in enumerate(message.next_steps, 1):
        console.print(Text(f"  {n}. {step}"))
    if message.memories:
        console.print(Text(f"  memories: {', '.join(message.memories)}", "dim"))
