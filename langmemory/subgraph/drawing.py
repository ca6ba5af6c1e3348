"""A drawing of a subgraph by networkx: a disc for each entity, coloured by kind; past edges are dashed."""

from __future__ import annotations

import os
import textwrap
from collections import defaultdict
from io import BytesIO
from math import sqrt
from pathlib import Path
from typing import Any, Final

from langmemory.files import create_file
from langmemory.pluralize import counted
from langmemory.subgraph.subgraph import MISSING, Subgraph, label_of, one_line

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
    axes.set_title(counted(len(graph.entities), "entity", "entities"))
    at = networkx.spring_layout(networkx.Graph(net), iterations=300, seed=7, method="force")
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
    drawing.savefig(image, format=Path(path).suffix[1:], dpi=130)
    create_file(path)
    Path(path).write_bytes(image.getvalue())


def _lines(text: str) -> str:  # a dollar begins no formula
    return textwrap.fill(one_line(text), 18, max_lines=3).replace("$", r"\$")
