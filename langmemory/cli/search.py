"""`langmemory search`, `list` and `get`: what memory says of a question, all of it, or one in full."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer

from langmemory.cli.signatures import KEYWORD, parameters_of, summary_of
from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    AsOfOption,
    JsonOption,
    KindOption,
    KnownAtOption,
    LimitOption,
    SinceOption,
    Target,
    UntilOption,
    ViewerOption,
    check_span,
)
from langmemory.cli.terminal import json_text, plain, say
from langmemory.cli.values import count, score
from langmemory.docstrings import docstrings_of
from langmemory.errors import ConfigError
from langmemory.pluralize import count_noun, memories
from langmemory.recall_options import BlockOptions, RecallOptions
from langmemory.resources import NAMESPACE
from langmemory.types import MinScore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from rich.text import Text

    from langmemory.stores.face import StoreFace
    from langmemory.types import Ageing, Memory, Namespace

WRITTEN: Final[Mapping[str, Any]] = {
    "limit": LimitOption,
    "kinds": KindOption,
    "as_of": AsOfOption,
    "known_at": KnownAtOption,
    "since": SinceOption,
    "until": UntilOption,
    "trust": Annotated[
        str | None,
        typer.Option(
            "--trust",
            metavar="SOURCE",
            help="Only what comes from this source, or from one that is trusted more: person, agent, import, "
            "document, tool.",
        ),
    ],
    "include_archive": Annotated[
        bool | None, typer.Option("--archive", help="Search what is archived, too.")
    ],
}
"""Those that other commands have as well, or that have a name of their own here."""

READ: Final[Mapping[Any, tuple[Callable[[str], Any], str]]] = {
    int | None: (count, "N"),
    str | None: (str, "NAME"),
    MinScore: (score, "P"),
}
"""How a value of a type is read, and what it is called. An option of another type is for programs."""


def with_recall_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of a recall, which it takes as ``options``, its last argument."""
    *own, last = parameters_of(command)
    texts = docstrings_of(RecallOptions.__module__)
    about = {**texts[BlockOptions.__name__], **texts[RecallOptions.__name__]}
    made = []
    for name, hint in get_type_hints(RecallOptions).items():
        option = WRITTEN.get(name)
        if option is None and hint in READ and name != "thread_id":
            parser, called = READ[hint]
            text = re.split(r"[.;] |\.$", " ".join(about[name].split()))[0].replace("``", "")
            flag = f"--{name.replace('_', '-')}"
            option = Annotated[
                Any, typer.Option(flag, parser=parser, metavar=called, help=f"{text}.")
            ]
        if option is not None:
            default = last.default.get(name)
            made.append(inspect.Parameter(name, KEYWORD, default=default, annotation=option))

    def run(*target: Any, **given: Any) -> None:
        options = {one.name: given.pop(one.name, one.default) for one in made}
        check_span(options["since"], options["until"])
        known = {name: value for name, value in options.items() if value is not None}
        command(*target, **given, options=known)

    run.__name__, run.__doc__ = command.__name__, summary_of(command)
    every = [*own[:2], *made, *own[2:]]
    run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    return run


DEFAULTS: Final[RecallOptions] = {"limit": 5}


@with_recall_options
def search(
    target: Target,
    query: str,
    *,
    explain: bool = False,
    documents: bool = False,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
    options: RecallOptions = DEFAULTS,
) -> None:
    """Search: what was said, when, by whom, and why it was found.

    Args:
        query: A question or some words.
        explain: Show how the recall went, stage by stage.
        documents: Search the documents that were added, too.
    """
    from langmemory.cli.results import results
    from langmemory.cli.screen import Screen
    from langmemory.recall.explain import render
    from langmemory.stores.face import bound

    place = target.namespace()
    options["explain"] = True
    if documents:
        options["documents"] = (NAMESPACE,)
    with target.open() as store:
        recall = bound(store, viewer).recall(query, place, **options)
        if not recall.results:
            target.note_unknown(store, place)
    if as_json:
        say(json_text(plain(recall)))
        return
    console = Screen()
    if explain:
        console.print(render(recall))
        return
    if not recall.results:
        named = f" in {'/'.join(place)}" if place else ""
        console.print(f"Nothing found{named}.")
        return
    console.print(results(recall, console.width))
    total = recall.trace.milliseconds.get("total")
    notes = [count_noun(len(recall), "result"), *([f"{total:.1f} ms"] if total else [])]
    console.print(" · ".join([*notes, *recall.trace.degraded]), style="dim")


LISTED_CHARACTERS = 280


def list_memories(
    target: Target,
    *,
    kind: KindOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    past: bool = False,
    retention: bool = False,
    limit: LimitOption = 20,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List memories, the latest first, with their keys.

    Args:
        past (--all): Also what no longer holds, and what is not sure yet.
        retention: Also how far each has faded.
    """
    from langmemory.cli.screen import Screen
    from langmemory.recall.explain import describe_fading
    from langmemory.stores.face import bound

    check_span(since, until)
    place = target.namespace()
    with target.open(vectors=False) as store:
        found = bound(store, viewer).admin.memories(
            place, kinds=kind, since=since, until=until, past=past, limit=limit + 1
        )
        nothing = "" if found else target.unknown(store, place) or "No memory is there."
        found, more = found[:limit], len(found) > limit
        ageing = (
            store.lifecycle.ageing([(one.namespace, one.key) for one in found])
            if retention
            else [None] * len(found)
        )
    if as_json:
        rows = zip(found, ageing, strict=True)
        say(
            json_text(
                [
                    plain(memory) | ({"ageing": one and plain(one)} if retention else {})
                    for memory, one in rows
                ]
            )
        )
        return
    console = Screen()
    if nothing:
        console.print(nothing, soft_wrap=True)
        return
    several = len({memory.namespace for memory in found}) > 1
    for memory, one in zip(found, ageing, strict=True):
        console.print(
            *lines(memory, several, describe_fading(one) if one else None),
            sep="\n",
            soft_wrap=False,
        )
    more_by = "; --limit shows more" if more else ""
    console.print(f"{memories(len(found))}{more_by}", style="dim")


def lines(memory: Memory, several: bool, ageing: str | None = None) -> list[Text]:
    """Return a memory as its text, its key, and an empty line; what no longer holds is struck out."""
    from rich.text import Text

    text = " ".join(memory.text.split())
    if len(text) > LISTED_CHARACTERS:
        text = text[:LISTED_CHARACTERS].rsplit(" ", 1)[0] + " …"
    at = memory.at
    status = [] if memory.status == "active" else [memory.status]
    where = ["/".join(memory.namespace)] if several else []
    facets = [f"{at.day} {at:%b %Y}", *filter(None, [memory.speaker]), memory.kind, *status, *where]
    return [
        Text(text, "dim strike" if memory.status in ("superseded", "archived") else ""),
        Text(" · ".join(facets), "dim"),
        *([Text(ageing, "dim")] if ageing else []),
        Text(memory.key, "cyan dim"),
        Text(),
    ]


WIDTH = 13
"""Columns for the name of a facet."""

SHORT_ID = re.compile(r"\[?(?:[MGR]:)?([0-9a-f]{8,64})\]?", re.IGNORECASE)
"""As the memory block and its citations have it: ``[R:1a2b3c4d]``."""


def get(
    target: Target, key: str, *, viewer: ViewerOption = None, as_json: JsonOption = False
) -> None:
    """Show one memory in full: text, facets, evidence.

    Args:
        key: As `list`, `search --explain` and exports have it, or an id such as R:1a2b3c4d.
    """
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
    from langmemory.citing import digest

    exact = store._conversing.labelled(where, digest(where, key))
    short = SHORT_ID.fullmatch(key.strip())
    return exact or ([] if short is None else store._conversing.labelled(where, short[1]))


def _lines(memory: Memory, evidence: Sequence[Memory], ageing: Ageing | None) -> Iterator[Text]:
    """Yield the text, a line for each facet that says something, and what it was made from."""
    from rich.text import Text

    from langmemory.recall.explain import describe_fading

    yield Text(memory.text.strip() + "\n")
    for name, shown in _facets(memory):
        yield Text.assemble((f"{name:<{WIDTH}}", "dim"), shown)
    if ageing is not None:
        yield Text.assemble((f"{'ageing':<{WIDTH}}", "dim"), describe_fading(ageing))
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
