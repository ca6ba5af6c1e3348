"""Part of the knowledge graph as a plain value: to walk, to export, to draw by networkx."""

from __future__ import annotations

import os
import pathlib
import re
import textwrap
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from math import cos, pi, sin, sqrt
from typing import Any, Final

import numpy as np

from langmemory.errors import ConfigError, with_extra
from langmemory.files import create_file
from langmemory.pluralize import count_noun
from langmemory.types import Edge, Entity

Json = dict[str, Any]

MOST_DRAWN: Final = 500
"""Entities of a drawing."""
MISSING: Final = (
    f"GraphML and pictures of the graph need networkx and matplotlib: {with_extra('graph')}"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Path:
    """A way from one entity to another."""

    entities: tuple[Entity, ...]
    """From the first to the last; one more than there are edges."""
    edges: tuple[Edge, ...]

    def __len__(self) -> int:
        """How many edges it takes."""
        return len(self.edges)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        """``Lena -works_at-> Initech <-works_at- Paul``"""
        text = self.entities[0].name
        for entity, after, edge in zip(self.entities, self.entities[1:], self.edges, strict=False):
            forward = edge.subject == entity.key
            step = f"-{edge.relation}->" if forward else f"<-{edge.relation}-"
            text += f" {step} {after.name}"
        return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Subgraph:
    """Entities, and the edges between them and to literals."""

    entities: tuple[Entity, ...]
    """Nearest to the centre first."""
    edges: tuple[Edge, ...]
    """Those that ended or gave way included, if they were asked for."""
    centre: str | None = None
    """Key of the entity asked for; None: everything was."""
    over: frozenset[int] = field(default=frozenset())
    """Places in ``edges`` of those that no longer hold at the time asked about."""
    complete: bool = True
    """False where there is more than was asked for at most."""

    @property
    def names(self) -> Mapping[str, str]:
        """Name of each entity by its key."""
        return {entity.key: entity.name for entity in self.entities}

    def to_json(self) -> Json:
        """Node-link data, as `networkx.node_link_graph` reads it; times in ISO 8601.

        Nodes have ``id`` (the entity's key), ``name`` and ``kind``; a literal is a node of the kind
        ``literal``. Edges have ``relation``, ``fact`` (key of the memory that says so), ``status``,
        ``current`` and the times that are known.
        """
        nodes: list[Json] = [
            {"id": one.key, "name": one.name, "kind": one.kind, "aliases": list(one.aliases)}
            for one in self.entities
        ]
        edges: list[Json] = []
        literals: dict[str, Json] = {}
        for place, edge in enumerate(self.edges):
            target = edge.object
            if target is None:
                # Its own for each subject: two people who like blue are not connected by it.
                target = f"{edge.subject} {edge.relation} {edge.literal}"
                literals[target] = {"id": target, "name": edge.literal, "kind": "literal"}
            times = {
                name: moment.isoformat()
                for name in ("valid_at", "invalid_at", "created_at", "expired_at")
                if isinstance(moment := getattr(edge, name), datetime)
            }
            edges.append(
                {
                    "source": edge.subject,
                    "target": target,
                    "key": place,
                    "relation": edge.relation,
                    "fact": edge.fact,
                    "status": edge.status,
                    "current": place not in self.over,
                    **times,
                }
            )
        about = {} if self.centre is None else {"centre": self.centre}
        return {
            "directed": True,
            "multigraph": True,
            "graph": about,
            "nodes": [*nodes, *literals.values()],
            "edges": edges,
        }

    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph` with the nodes and edges of `to_json`.

        Raises:
            ImportError: networkx is not installed; the message says how to get it.
        """
        return _networkx(self.to_json())

    def to_graphml(self) -> str:
        """GraphML, as Gephi, yEd, Cytoscape and networkx read it; other names joined by ``;``.

        Raises:
            ImportError: networkx is not installed; the message says how to get it.
        """
        networkx = require_networkx()
        data = self.to_json()
        for node in data["nodes"]:
            if "aliases" in node:
                node["aliases"] = "; ".join(node["aliases"])
        for row in (data["graph"], *data["nodes"], *data["edges"]):
            row.update({k: _NOT_IN_XML.sub("", v) for k, v in row.items() if isinstance(v, str)})
        return "\n".join(networkx.generate_graphml(_networkx(data))) + "\n"

    def to_mermaid(self) -> str:
        """A Mermaid flowchart, which GitHub and many editors show within Markdown; past edges are dotted."""
        data = self.to_json()
        numbers = {node["id"]: place for place, node in enumerate(data["nodes"])}
        lines = ["graph LR"]
        for place, node in enumerate(data["nodes"]):
            left, right = ("[", "]") if node["kind"] == "literal" else ("([", "])")
            lines.append(f'  n{place}{left}"{_for_mermaid(node["name"])}"{right}')
        for edge in data["edges"]:
            arrow = "-->" if edge["current"] else "-.->"
            label = _for_mermaid(label_of(edge))
            source, target = numbers[edge["source"]], numbers[edge["target"]]
            lines.append(f'  n{source} {arrow}|"{label}"| n{target}')
        return "\n".join(lines) + "\n"

    def draw(self, path: str | os.PathLike[str]) -> None:
        """Draw it to a file; the ending says as what (``.png``, ``.svg``, ``.pdf``).

        Raises:
            ConfigError: The name has no ending, or there are more than `MOST_DRAWN` entities.
            ImportError: networkx or matplotlib is not installed; the message says how to get them.
        """
        if not pathlib.PurePath(path).suffix:  # matplotlib would draw to a file of another name
            raise ConfigError(
                f"{os.fspath(path)!r} has no ending that says what to draw; name it .png, .svg or "
                ".pdf."
            )
        if len(self.entities) > MOST_DRAWN:
            raise ConfigError(
                f"{len(self.entities):,} entities are more than a drawing of {MOST_DRAWN} can show. Draw "
                "what is around one of them, or write GraphML for a program that lays out large graphs."
            )

        draw(self, path)


def label_of(edge: Json) -> str:
    """Return the relation of an edge of `to_json` in words, of a past one with its years."""
    relation = str(edge["relation"]).replace("_", " ")
    years = dict.fromkeys(edge.get(name, "")[:4] for name in ("valid_at", "invalid_at"))
    if edge["current"] or not any(years):
        return relation
    return f"{relation}, {'–'.join(years)}"


def one_line(text: str) -> str:
    """Return a text without line breaks and unprintable characters, a dash where nothing is left."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split()) or "–"


def _for_mermaid(text: str) -> str:
    """Return a text as it stands between quotes, without markup."""
    return _MERMAID_MARKUP.sub(lambda found: f"#{ord(found[0])};", one_line(text))


def require_networkx() -> Any:
    """The module.

    Raises:
        ImportError: It is not installed.
    """
    try:
        import networkx
    except ImportError:
        raise ImportError(MISSING) from None
    return networkx


def _networkx(data: Json) -> Any:
    """Node-link data as a `networkx.MultiDiGraph`."""
    made = require_networkx().MultiDiGraph(**data["graph"])
    for node in data["nodes"]:
        made.add_node(node.pop("id"), **node)
    for edge in data["edges"]:
        made.add_edge(edge.pop("source"), edge.pop("target"), **edge)
    return made


_MERMAID_MARKUP: Final = re.compile(r"[\"#&<>`*_~\\]")
_NOT_IN_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold (2.2), escaped or not."""


COLOURS: Final = {"person": "#a6d3ee", "place": "#9fdcc6", "organisation": "#f4cf8d",
                  "animal": "#eebfa4", "event": "#e8bcd4", "literal": "#ffffff"}  # fmt: skip
"""After Okabe and Ito 2008; other kinds are grey."""


def draw(graph: Subgraph, path: str | os.PathLike[str]) -> None:
    """Write the drawing, the same for the same graph; the ending of the name is its format.

    Raises:
        ImportError: networkx or matplotlib is not installed; the message says how to get them.
        ValueError: matplotlib does not know the format.
    """
    try:
        import networkx
        from matplotlib import figure
    except ImportError:
        raise ImportError(MISSING) from None
    data = graph.to_json()
    labels: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for edge in data["edges"]:
        labels[edge["source"], edge["target"]][_lines(label_of(edge))] = edge["current"]
    net = networkx.DiGraph(list(labels))
    net.add_nodes_from((node["id"], node) for node in data["nodes"])
    side = 4 + 1.2 * sqrt(len(net))
    drawing = figure.Figure(figsize=(1.4 * side, side), layout="constrained")
    axes = drawing.subplots()
    axes.axis("off")
    axes.set_title(count_noun(len(graph.entities), "entity", "entities"))
    at = places_of(networkx, networkx.Graph(net))
    common: dict[str, Any] = {"ax": axes, "pos": at}
    networkx.draw_networkx_nodes(
        net, node_size=1100, **common,
        node_color=[COLOURS.get(kind, "#d5d5dc") for _, kind in net.nodes(data="kind")],
        edgecolors=["#26262b" if key == graph.centre else "#b8b8c0" for key in net],
    )  # fmt: skip
    networkx.draw_networkx_edges(
        net, edgelist=list(labels), node_size=1100, edge_color="#8a8a94", **common,
        style=["-" if all(lines.values()) else "--" for lines in labels.values()],
    )  # fmt: skip
    relations = {ends: "\n".join(lines) for ends, lines in labels.items()}
    networkx.draw_networkx_edge_labels(net, edge_labels=relations, font_size=7, **common)
    names = {key: _lines(name) for key, name in net.nodes(data="name")}
    networkx.draw_networkx_labels(net, labels=names, font_size=9, **common)
    image = BytesIO()
    drawing.savefig(image, format=pathlib.Path(path).suffix[1:], dpi=130)
    create_file(path)
    pathlib.Path(path).write_bytes(image.getvalue())


def places_of(networkx: Any, net: Any) -> dict[str, Any]:
    """Return places of the nodes: of drawings by springs and in rings the one in which the fewest nodes lie
    on edges of others."""
    by_springs: dict[str, Any] = networkx.spring_layout(net, iterations=300, seed=7, method="force")
    if not net or not networkx.is_connected(net):
        return by_springs
    return min(by_springs, _rings(networkx, net), key=lambda at: lying_on_edges(net, at))


def _rings(networkx: Any, net: Any) -> dict[str, Any]:
    """Return places in rings around the node with most edges, each node in the sector of the one that it
    hangs on; the more leaves a node has, the wider is its sector."""
    hub = max(net, key=net.degree)
    tree = networkx.bfs_tree(net, hub)
    width: dict[str, int] = {}
    for node in networkx.dfs_postorder_nodes(tree, hub):
        width[node] = sum(width[one] for one in tree[node]) or 1
    at, begins = {hub: (0.0, 0.0)}, {hub: 0.0}
    for node, ring in networkx.single_source_shortest_path_length(tree, hub).items():
        begin = begins[node]
        for one in tree[node]:
            begins[one] = begin
            turn = 2 * pi * (begin + width[one] / 2) / width[hub]
            at[one] = ((ring + 1) * cos(turn), (ring + 1) * sin(turn))
            begin += width[one]
    far = max(1.0, *(abs(place) for both in at.values() for place in both))
    return {node: np.array(at[node]) / far for node in net}


def lying_on_edges(net: Any, at: Mapping[str, Any]) -> float:
    """Return how much nodes lie on edges of others."""
    order = {key: place for place, key in enumerate(at)}
    ends = np.array([(order[a], order[b]) for a, b in net.edges if a != b], np.int64).reshape(-1, 2)
    where = np.array(list(at.values()))
    first, along = where[ends[:, 0]], where[ends[:, 1]] - where[ends[:, 0]]
    beside = where[:, None] - first
    share = np.clip((beside * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-9), 0, 1)
    away = np.linalg.norm(beside - share[..., None] * along, axis=-1)
    away[ends.T, np.arange(len(ends))] = np.inf
    return float(np.maximum(0, NEAR - away).sum())


NEAR: Final = 0.1
"""Distance of a node from an edge, of a drawing from -1 to 1, below which it seems to lie on it."""


def _lines(text: str) -> str:  # a dollar begins no formula
    return textwrap.fill(one_line(text), 18, max_lines=3).replace("$", r"\$")
