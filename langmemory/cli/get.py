"""`langmemory get KEY`: one memory in full, and what it was made from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    JsonOption,
    Target,
    ViewerOption,
)
from langmemory.cli.terminal import json_text, plain, say
from langmemory.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from rich.text import Text

    from langmemory.stores.face import StoreFace
    from langmemory.types import Ageing, Memory, Namespace

WIDTH = 13
"""Columns for the name of a facet."""

SHORT_ID = re.compile(r"\[?(?:[MGR]:)?([0-9a-f]{8,64})\]?", re.IGNORECASE)
"""As the memory block and its citations have it: ``[R:1a2b3c4d]``."""


def get(
    target: Target,
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="As `list`, `search --explain` and exports have it, or an id such as R:1a2b3c4d.",
            show_default=False,
        ),
    ],
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one memory in full: text, facets, evidence."""
    from langmemory.cli.screen import Screen
    from langmemory.stores.face import bound

    where = target.namespace(DEFAULT_NAMESPACE)
    with target.open(vectors=False) as store:
        found = _found(bound(store, viewer), where, key)
        if not found:
            raise ConfigError(
                f"There is no memory {key!r} in {'/'.join(where)}.{target.elsewhere(store)} "
                "`langmemory list` shows the keys of what is there, `langmemory history KEY` what became "
                "of a memory that is gone."
            )
        if len(found) > 1:
            keys = ", ".join(one.key for one in found)
            raise ConfigError(
                f"{key!r} may mean {len(found)} memories: {keys}. Pass one of the keys."
            )
        [memory] = found
        evidence = bound(store, viewer).changes.evidence(memory.namespace, memory.key)
        [ageing] = store.lifecycle.ageing([(memory.namespace, memory.key)])
    if as_json:
        aged = ageing and plain(ageing)
        say(json_text({**plain(memory), "evidence": [one.key for one in evidence], "ageing": aged}))
        return
    console = Screen()
    for line in _lines(memory, evidence, ageing):
        console.print(line, soft_wrap=True)


def _found(store: StoreFace, where: Namespace, key: str) -> list[Memory]:
    """Return the memory of this key, else those that the short id of a memory block may mean."""
    from langmemory.context.notes import digest

    exact = store._conversing.labelled(where, digest(where, key))
    short = SHORT_ID.fullmatch(key.strip())
    return exact or ([] if short is None else store._conversing.labelled(where, short[1]))


def _lines(memory: Memory, evidence: Sequence[Memory], ageing: Ageing | None) -> Iterator[Text]:
    """Yield the text, a line for each facet that says something, and what it was made from."""
    from rich.text import Text

    from langmemory.recall.explain import faded

    yield Text(memory.text.strip() + "\n")
    for name, shown in _facets(memory):
        yield Text.assemble((f"{name:<{WIDTH}}", "dim"), shown)
    if ageing is not None:
        yield Text.assemble((f"{'ageing':<{WIDTH}}", "dim"), faded(ageing))
    for one in evidence:
        yield Text.assemble((f"{'made from':<{WIDTH}}", "dim"), (one.key, "cyan"))
        yield Text(" " * WIDTH + " ".join(one.text.split()))


def _facets(memory: Memory) -> Iterator[tuple[str, str]]:
    turn = memory.position is not None and memory.thread_id is not None
    yield "key", memory.key
    yield "namespace", "/".join(memory.namespace)
    yield "kind", memory.kind + ("" if memory.status == "active" else f", {memory.status}")
    if memory.speaker and turn:
        yield "said by", memory.speaker
    if isinstance(source := memory.value.get("source"), str):
        yield "source", " ".join(source.split())
    if memory.valid_at:
        yield ("said" if turn else "true from"), _moment(memory.valid_at)
    if memory.invalid_at:
        yield "until", _moment(memory.invalid_at)
    if memory.superseded_by:
        yield "replaced by", memory.superseded_by
    if memory.thread_id is not None and memory.position is not None:
        yield "thread", f"{memory.thread_id}, message {memory.position + 1}"
    if memory.owner or memory.privacy != "shared":
        yield "owner", f"{memory.owner or 'nobody'}, {memory.privacy}"
    if memory.priority != "reference":
        yield "priority", memory.priority
    if memory.confidence < 1:
        yield "confidence", f"{memory.confidence:.2f}"
    yield "stored", _moment(memory.created_at)
    if memory.updated_at != memory.created_at:
        yield "changed", _moment(memory.updated_at)


def _moment(at: datetime) -> str:
    return f"{at.day} {at:%b %Y}" + ("" if (at.hour, at.minute) == (0, 0) else f", {at:%H:%M %Z}")
