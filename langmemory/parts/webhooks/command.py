"""`langmemory webhook`: send what happens in a memory to an address."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from langmemory.cli.serve import log_to_stderr
from langmemory.cli.target import Target
from langmemory.cli.terminal import printable, say
from langmemory.cli.worker import asked_to_stop


def webhook(
    target: Target,
    address: Annotated[str, typer.Argument(metavar="URL", help="Who is told.")],
    state: Annotated[
        Path,
        typer.Option("--state", metavar="FILE", help="Where it stands how far they were told."),
    ],
    type: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only memory, review, run, message or job; may be repeated.",
            show_default=False,
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Send what is new, and end.")] = False,
) -> None:
    """Send each change of the memory to an address, signed, until stopped.

    LANGMEMORY_WEBHOOK_SECRET is the secret of the signature. An event that the receiver does not take
    is sent again, after a second at first and five minutes at most.
    """
    from langmemory.parts.webhooks.sending import SECRET, Webhook, secret_of

    hook = Webhook(address, secret_of(os.environ.get(SECRET)), state)
    types: Any = type or None
    log_to_stderr(quiet=True)
    with target.open(vectors=False) as store:
        say(printable(f"Sending the events of {store.path} to {address}"), err=True)
        hook.follow(
            store.feed,
            asked_to_stop(),
            namespaces=(target.namespace(),),
            types=types,
            until_read=once,
        )
