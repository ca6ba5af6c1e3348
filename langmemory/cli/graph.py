"""`langmemory graph NAME`: who or what somebody is, what is claimed of them, and since when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    AsOfOption,
    JsonOption,
    KnownAtOption,
    Target,
    ViewerOption,
)
from langmemory.cli.terminal import json_text, plain, say
from langmemory.cli.values import Count, Picture
from langmemory.errors import ConfigError, EntityNameError
from langmemory.files import create_file
from langmemory.pluralize import count_noun

if TYPE_CHECKING:
    from langmemory.cli.screen import Screen
    from langmemory.links import Relation
    from langmemory.operations.graph import Graph
    from langmemory.stores import MemoryStore
    from langmemory.subgraph import Subgraph
    from langmemory.types import Edge, Namespace


def graph(
    target: Target,
    name: str | None = None,
    *,
    path_to: str | None = None,
    png: Picture | None = None,
    graphml: Path | None = None,
    mermaid: Path | None = None,
    depth: Count = 2,
    link: str | None = None,
    unlink: str | None = None,
    to: str | None = None,
    depends: bool = False,
    budget: Count = 2_000,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is known of somebody, draw it, find a connection, or link things.

    Args:
        name: A name or key; without one, everybody and everything.
        path_to (--path-to, --path, NAME): Show how it is connected with this one.
        png: Draw it to this file (.png, .svg or .pdf).
        graphml (FILE): Write GraphML to this file; - is stdout.
        mermaid (FILE): Write Mermaid to this file; - is stdout.
        depth: Steps around it in pictures and exports.
        link (RELATION): Link it: requires, affects, works_on …
        unlink (RELATION): End a link of it.
        to (TARGET): What it is linked with: a key, title or path, or agent:NAME, artifact:NAME.
        depends (--context): Show what it depends on, by its links.
        budget (TOKENS): Of --context.
    """
    from langmemory.cli.screen import Screen
    from langmemory.stores.face import bound

    where = target.namespace(DEFAULT_NAMESPACE)
    texts = [file for file in (graphml, mermaid) if file is not None]
    for file in texts:
        target.check_output(file)
    console = Screen()
    with target.open(vectors=False) as store, _hinting(target, store):
        found = bound(store, viewer).graph(where, as_of=as_of, known_at=known_at)
        linking = link or unlink
        if linking or depends or to:
            if name is None or (linking is not None) != (to is not None) or (link and unlink):
                raise typer.BadParameter(
                    "--context needs a NAME; --link RELATION or --unlink RELATION needs a NAME and "
                    "--to TARGET."
                )
            if linking:
                work = found.link if link else found.unlink
                _show_link(work(name, cast("Relation", linking), str(to)), as_json, ended=not link)
            if depends:
                told = found.context_for(name, budget_tokens=budget)
                say(json_text(plain(told)) if as_json else told.text)
        elif path_to is not None:
            if name is None:
                raise typer.BadParameter("--path-to needs a NAME to start from.")
            _show_paths(console, found, name, path_to, as_json)
        elif png is not None or texts or as_json:
            part = found.subgraph(name, depth, past=True)
            if not part.entities and (png is not None or texts):
                raise ConfigError(_nothing_to_write(target, store, where))
            _write_files(part, png, graphml, mermaid)
            if as_json:
                say(json_text(part.to_json()))
            for written in (png, *texts):
                if written is not None and str(written) != "-":
                    entities = count_noun(len(part.entities), "entity", "entities")
                    say(
                        f"Wrote {entities} and {count_noun(len(part.edges), 'edge')} to {written}",
                        err=as_json or Path("-") in texts,
                    )
        elif name is not None:
            _show_entity(console, store, found, where, name)
        else:
            if target.labels and not found.entities():
                target.note_unknown(store, where)
            _show_everyone(console, found, where, target.elsewhere(store))


@contextmanager
def _hinting(target: Target, store: MemoryStore) -> Iterator[None]:
    """Of a name that nobody has here, where else to look."""
    try:
        yield
    except EntityNameError as error:
        raise EntityNameError(f"{error}{target.elsewhere(store)}") from None


def _show_link(edge: Edge, as_json: bool, *, ended: bool) -> None:
    if as_json:
        say(json_text(plain(edge)))
        return
    until = f" until {edge.invalid_at:%Y-%m-%d %H:%M} UTC" if ended and edge.invalid_at else ""
    say(f"{edge.subject} -{edge.relation}-> {edge.object}{until}")


def _nothing_to_write(target: Target, store: MemoryStore, where: Namespace) -> str:
    problem = target.unknown(store, where) or (
        f"No people or things are known in {'/'.join(where)} yet: `langmemory reflect` finds them."
    )
    return f"{problem} Nothing was written."


def _write_files(
    part: Subgraph, png: Path | None, graphml: Path | None, mermaid: Path | None
) -> None:
    """Write those that were asked for.

    Raises:
        ConfigError: The packages for it are not installed; the message says how to get them.
    """
    try:
        if png is not None:
            part.draw(png)
        texts = [(graphml, part.to_graphml)] if graphml is not None else []
        texts += [(mermaid, part.to_mermaid)] if mermaid is not None else []
        for file, text in texts:
            if str(file) == "-":
                typer.echo(text().encode(), nl=False)  # XML without a declaration is UTF-8
            else:
                create_file(file)
                file.write_text(text(), encoding="utf-8")
    except ImportError as error:
        raise ConfigError(str(error)) from None


def _show_entity(
    console: Screen, store: MemoryStore, found: Graph, namespace: Namespace, name: str
) -> None:
    from rich.text import Text

    from langmemory.cli.screen import FOLD

    entity = found.entity(name, past=True)
    part = found.subgraph(entity.key, 1, past=True)
    now = {(edge.fact, edge.relation) for edge in found.edges(entity.key)}
    also = f", also called {', '.join(entity.aliases)}" if entity.aliases else ""
    console.print(Text.assemble((entity.name, "bold"), (f" ({entity.kind}{also})", "dim")))
    if not entity.edges:
        console.print("Nothing is claimed of it.", style="dim")
        return
    rows = []
    for edge in sorted(entity.edges, key=lambda one: (one.fact, one.relation) not in now):
        outward = edge.subject == entity.key
        other = edge.object if outward else edge.subject
        label = f"“{edge.literal}”" if other is None else part.names.get(other, other)
        item = store.get(namespace, edge.fact)
        relation = f"{edge.relation.replace('_', ' ')} {'→' if outward else '←'}"
        said = str(item.value.get("text", edge.fact)) if item else edge.fact
        style = "" if (edge.fact, edge.relation) in now else "dim strike"
        narrow = (
            Text(f"{relation} {label}  {_when(edge)}".rstrip(), style),
            Text(f"  {said}", style or "dim"),
        )
        # A style of the row, or of a Text, would strike through the space beside the words, too.
        cells = ((cell, style) for cell in (relation, label, _when(edge), said))
        rows.append((tuple(map(Text.assemble, cells)), "", narrow))
    console.print_rows({"relation": FOLD, "": FOLD, "when": FOLD, "memory": FOLD}, rows)


def _show_everyone(console: Screen, found: Graph, namespace: Namespace, hint: str) -> None:
    from rich.text import Text

    from langmemory.cli.screen import FOLD, RIGHT, WHOLE, unbroken

    everyone = found.entities()
    if not everyone:
        nobody = f"No people or things are known in {'/'.join(namespace)} yet.{hint}"
        console.print(nobody, soft_wrap=True)
        return
    claims: dict[str, int] = {}
    for edge in found.edges():
        for end in {edge.subject, edge.object}:
            if end is not None:
                claims[end] = claims.get(end, 0) + 1
    rows = []
    for entity in sorted(everyone, key=lambda one: -claims.get(one.key, 0)):
        names, claimed = ", ".join((entity.name, *entity.aliases)), claims.get(entity.key, 0)
        narrow = (
            Text(f"{names}  {entity.kind}, {count_noun(claimed, 'claim')}"),
            unbroken(f"  {entity.key}", "dim"),
        )
        cells = Text(names), entity.kind, f"{claimed:,}", Text(entity.key)
        rows.append((cells, "", narrow))
    console.print_rows({"name": FOLD, "kind": FOLD, "claims": RIGHT, "key": WHOLE}, rows)


def _show_paths(console: Screen, found: Graph, first: str, last: str, as_json: bool) -> None:
    ways = found.paths(first, last)
    if as_json:
        rows = [
            {"path": str(way), "length": len(way), "facts": [edge.fact for edge in way.edges]}
            for way in ways
        ]
        say(json_text(rows))
    elif not ways:
        console.print(f"Nothing connects {first} with {last} in four steps.")
    else:
        for way in ways:
            console.print(str(way))


def _when(edge: Edge) -> str:
    """``2021-03-01 –``, ``2020-01-01 – 2023-06-01``, or nothing."""
    start, end = (
        f"{moment:%Y-%m-%d}" if moment else "" for moment in (edge.valid_at, edge.invalid_at)
    )
    return f"{start} – {end}".strip() if start or end else ""
