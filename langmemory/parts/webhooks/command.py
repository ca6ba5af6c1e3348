"""`langmemory webhook`: send what happens in a memory to an address."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from langmemory.cli.serve import log_to_stderr
from langmemory.cli.target import Target
from langmemory.cli.terminal import printable, say
from langmemory.cli.worker import asked_to_stop


def webhook(
    target: Target, address: str, *, state: Path, type: list[str] | None = None, once: bool = False
) -> None:
    """Send each change of the memory to an address, signed, until stopped.

    LANGMEMORY_WEBHOOK_SECRET is the secret of the signature. An event that the receiver does not take
    is sent again, after a second at first and five minutes at most.

    Args:
        address (URL): Who is told.
        state (FILE): Where it stands how far they were told.
        type: Only memory, review, run, message or job; may be repeated.
        once: Send what is new, and end.
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
