"""`langmemory reembed`: every memory gets its vector from the configured embedding model."""

from __future__ import annotations

from langmemory.cli.target import OnFile
from langmemory.cli.terminal import say


def reembed(target: OnFile) -> None:
    """Embed everything again with the configured model.

    The old index serves until it is done.
    """
    from langmemory.cli.screen import counting_bars
    from langmemory.stores import reembed as reembed_file

    config = target.existing()
    with counting_bars() as bars:
        task = bars.add_task("Embedding", total=None)
        model = reembed_file(
            config.database.path,
            config=config,
            progress=lambda done, total: bars.update(task, completed=done, total=total),
        )
    if model.model is None:
        say("There are no vectors to move: no memory has one")
        return
    say(f"The vectors now come from {model.model} ({model.dims} dimensions)")
