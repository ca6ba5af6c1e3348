"""`langmemory restore KEY`: an archived memory is active again."""

from __future__ import annotations

from typing import Annotated

import typer

from langmemory.cli.target import DEFAULT_NAMESPACE, JsonOption, Target
from langmemory.cli.terminal import json_text, plain, printable, say


def restore(
    target: Target,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Of a memory.", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Make an archived memory active again, also one in the archive file.

    `langmemory search --archive` finds them; `langmemory undo` takes it back.
    """
    where = target.namespace(DEFAULT_NAMESPACE)
    with target.open() as store:
        done = store.lifecycle.restore(where, key)
    if as_json:
        say(json_text(plain(done)))
        return
    say(printable(f"{key} is active again ({done.run_id})."))
