"""A picture of a subgraph: boxes with names, arrows with relations, kinds by colour."""

from __future__ import annotations

import os
import textwrap
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from langmemory.files import create_file
from langmemory.pluralize import counted
from langmemory.subgraph.subgraph import MISSING, Subgraph
from langmemory.types import NO_LONGER, Edge

COLOURS: Final[Mapping[str, tuple[str, str]]] = {
    "person": ("#cfe8f7", "#0072B2"),
    "place": ("#c9ebdd", "#009E73"),
    "organisation": ("#fbe3bb", "#b97e00"),
    "animal": ("#f6d8c6", "#D55E00"),
    "event": ("#f3d9e7", "#b05588"),
    "thing": ("#e4e4ea", "#5f5f73"),
}
"""Fill and outline by kind, after Okabe and Ito 2008; other kinds look like things."""
LITERAL: Final = ("#ffffff", "#b8b8c0")
PAST: Final = "#a3a3ab"
LINES: Final = "#70707a"
INK: Final = "#26262b"

FONTS: Final[tuple[str, ...]] = (
    "Noto Sans", "Segoe UI", "Helvetica Neue", "Arial", "DejaVu Sans", "Noto Sans CJK SC",
    "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR", "Source Han Sans SC",
    "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic",
    "Malgun Gothic", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback",
    "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "Nirmala UI",
    "Arial Unicode MS", "Unifont",
)  # fmt: skip
"""The installed ones of these, in this order; a letter comes from the first that has it."""

MOST: Final = 120
"""Boxes of a picture; of a larger graph the nearest, or the best connected, are drawn."""
POINTS: Final = 10.5
"""Font size of a name."""
LINE: Final = 20
"""Letters of a line in a box."""
PADDING: Final = (0.24, 0.17)
"""Inches between a name and its outline, both sides together."""
HEAD: Final = 0.65
"""Inches above, for the title."""
FOOT: Final = 0.55
"""Inches below, for the legend."""
ROOM: Final = 0.15
"""Inches between a box and the label of its arrow."""
LOOP: Final = 0.4
"""Bend of an arrow from a box to itself."""

Places = NDArray[np.float64]

SPRING: Final = {"method": "force", "iterations": 300, "seed": 7}
LONG_ENOUGH: Final = 0.7
"""Share of the edges that are as long as they need to be."""
MARGIN: Final = (0.22, 0.2)
"""Inches between two boxes, across and up."""
APART: Final = 0.6
"""Inches between parts that nothing connects."""
WIDER: Final = 1.5
"""How much wider than high a picture of many parts is to be."""
ROUNDS: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class _Box:
    text: str
    kind: str
    literal: bool = False
    centre: bool = False

    @property
    def font(self) -> dict[str, Any]:
        return {
            "fontsize": POINTS * (1.3 if self.centre else 0.92 if self.literal else 1),
            "fontweight": "bold" if self.centre else "normal",
            "style": "italic" if self.literal else "normal",
            "linespacing": 1.15,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class _Arrow:
    start: int
    end: int
    label: str
    over: bool

    @property
    def font(self) -> dict[str, Any]:
        return {"fontsize": POINTS * 0.76, "linespacing": 1.1}


def draw(graph: Subgraph, path: str | PathLike[str]) -> None:
    """Write the picture.

    Raises:
        ImportError: matplotlib is not installed; the message says how to get it.
        ValueError: No such file format.
    """
    with fonts_of_any_script():
        _draw(graph, path)


@contextmanager
def fonts_of_any_script() -> Iterator[None]:
    """Within it, each letter is drawn by an installed font that has it.

    Raises:
        ImportError: matplotlib is not installed; the message says how to get it.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.font_manager import get_font_names
    except ImportError:
        raise ImportError(MISSING) from None
    installed = set(get_font_names())
    fonts = [font for font in FONTS if font in installed] or ["sans-serif"]
    # A letter no font has is drawn as an empty box: nothing to warn about on every picture.
    with rc_context({"font.family": fonts}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def arranged(graph: Subgraph) -> tuple[list[_Box], list[_Arrow], Any, Any]:
    """Return the boxes and arrows of a picture, and float64[n, 2] sizes and middles in inches: of the
    boxes, then of the arrows' labels. A label gets room as a box does; its arrow runs by way of it."""
    boxes, arrows = _contents(graph)
    sizes = np.add(_measured([(box.text, box.font) for box in boxes]), PADDING)
    labels = _measured([(arrow.label, arrow.font) for arrow in arrows])
    halves = [
        (end, label, ROOM)
        for label, arrow in enumerate(arrows, len(boxes))
        for end in (arrow.start, arrow.end)
    ]
    sizes = np.concatenate((sizes, labels))
    return boxes, arrows, sizes, places(sizes, halves)


def _draw(graph: Subgraph, path: str | PathLike[str]) -> None:
    from matplotlib.figure import Figure

    drawn, left_out = _largest_part(said_once(graph))
    boxes, arrows, sizes, at = arranged(drawn)
    at, between = at[: len(boxes)], at[len(boxes) :]
    sizes = sizes[: len(boxes)]
    low = np.min([*(at - sizes / 2), (0, 0)], axis=0) - 0.5
    high = np.max([*(at + sizes / 2), (4.4, 0)], axis=0) + 0.5
    size = high - low + (0, HEAD + FOOT)
    figure = Figure(figsize=tuple(size), facecolor="white")
    axes = figure.add_axes((0, FOOT / size[1], 1, 1 - (HEAD + FOOT) / size[1]))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.axis("off")
    shapes = [_draw_box(axes, *one) for one in zip(boxes, at, sizes, strict=True)]
    for arrow, label in zip(arrows, between, strict=True):
        _draw_arrow(axes, arrow, label, at, shapes)
    _draw_title(figure, drawn, left_out, size)
    _draw_legend(figure, boxes, arrows, size)
    created = create_file(path)
    try:
        figure.savefig(path, dpi=150)
    except BaseException:
        if created:
            os.unlink(path)
        raise


def _measured(texts: Sequence[tuple[str, dict[str, Any]]]) -> Any:
    """float64[n, 2]: width and height in inches of texts, each with its font."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(dpi=150)
    canvas: Any = FigureCanvasAgg(figure)
    sizes = np.zeros((len(texts), 2))
    for place, (words, font) in enumerate(texts):
        text = figure.text(0, 0, words, parse_math=False, **font)
        extent = text.get_window_extent(canvas.get_renderer())
        sizes[place] = extent.width / 150, extent.height / 150
    return sizes


def _contents(graph: Subgraph) -> tuple[list[_Box], list[_Arrow]]:
    keys = {entity.key: place for place, entity in enumerate(graph.entities)}
    boxes = [
        _Box(text=_wrapped(one.name), kind=one.kind, centre=one.key == graph.centre)
        for one in graph.entities
    ]
    labels: dict[tuple[int, int, bool], dict[str, None]] = defaultdict(dict)
    for place, edge in enumerate(graph.edges):
        end = edge.object
        if end is None:
            end = f"{edge.subject}\0{edge.relation}\0{edge.literal}"
            if end not in keys:
                keys[end] = len(boxes)
                boxes.append(_Box(text=_wrapped(edge.literal or ""), kind="literal", literal=True))
        over = place in graph.over
        labels[keys[edge.subject], keys[end], over][_label(edge, over)] = None
    arrows = [
        _Arrow(start=start, end=end, label="\n".join(texts), over=over)
        for (start, end, over), texts in labels.items()
    ]
    return boxes, arrows


def _largest_part(graph: Subgraph) -> tuple[Subgraph, int]:
    """The drawn part of a large graph, and how many entities are left out."""
    if len(graph.entities) <= MOST:
        return graph, 0
    entities = graph.entities
    if graph.centre is None:
        degree = Counter(end for edge in graph.edges for end in (edge.subject, edge.object))
        entities = tuple(sorted(entities, key=lambda one: -degree[one.key]))
    kept = entities[:MOST]
    inside = {one.key for one in kept} | {None}
    drawn = replace(graph, entities=kept)
    return (
        _with_edges(drawn, lambda edge: {edge.subject, edge.object} <= inside),
        len(entities) - MOST,
    )


def said_once(graph: Subgraph) -> Subgraph:
    """A graph without claims that something is over whose dashed arrow says so already."""
    past = (graph.edges[place] for place in graph.over)
    over = {(one.subject, NO_LONGER + one.relation, one.object, one.literal) for one in past}
    return _with_edges(
        graph, lambda one: (one.subject, one.relation, one.object, one.literal) not in over
    )


def _with_edges(graph: Subgraph, wanted: Callable[[Edge], bool]) -> Subgraph:
    kept = [place for place, edge in enumerate(graph.edges) if wanted(edge)]
    return replace(
        graph,
        edges=tuple(graph.edges[place] for place in kept),
        over=frozenset(new for new, old in enumerate(kept) if old in graph.over),
    )


def _label(edge: Edge, over: bool) -> str:
    relation = edge.relation.replace("_", " ")
    if not over:
        return relation
    begin, end = (f"{at:%Y}" if at else "" for at in (edge.valid_at, edge.invalid_at))
    years = begin if begin == end else f"{begin}–{end}"
    return f"{relation}, {years}" if years else relation


def _draw_box(axes: Any, box: _Box, at: Any, size: Any) -> Any:
    """The outline, for arrows to end at."""
    from matplotlib.patches import FancyBboxPatch

    fill, line = LITERAL if box.literal else COLOURS.get(box.kind, COLOURS["thing"])
    shape = FancyBboxPatch(
        tuple(at - size / 2), size[0], size[1], boxstyle="round,pad=0,rounding_size=0.09", facecolor=fill,
        edgecolor=line, linewidth=2.4 if box.centre else 0.9 if box.literal else 1.2, zorder=3,
    )  # fmt: skip
    axes.add_patch(shape)
    axes.text(
        *at, box.text, ha="center", va="center", color=INK, zorder=4, parse_math=False, **box.font
    )
    return shape


def _draw_arrow(axes: Any, arrow: _Arrow, label: Any, at: Any, shapes: Sequence[Any]) -> None:
    """One half to the label, behind it, and one on from there, apart for a box and itself."""
    from matplotlib.patches import FancyArrowPatch

    bend = LOOP if arrow.start == arrow.end else 0
    style: dict[str, Any] = {
        "connectionstyle": f"arc3,rad={bend}", "zorder": 1, "shrinkA": 0, "shrinkB": 0,
        "mutation_scale": 15, "linestyle": (0, (4, 3)) if arrow.over else "-",
        "linewidth": 1.0 if arrow.over else 1.2, "color": PAST if arrow.over else LINES,
    }  # fmt: skip
    head = "-|>,head_length=0.4,head_width=0.17"
    begin, end = at[arrow.start], at[arrow.end]
    for one, other, shape, side, tip in (
        (begin, label, shapes[arrow.start], "patchA", "-"),
        (label, end, shapes[arrow.end], "patchB", head),
    ):
        patch = FancyArrowPatch(tuple(one), tuple(other), arrowstyle=tip, **{side: shape}, **style)
        axes.add_patch(patch)
    axes.text(
        *label, arrow.label, ha="center", va="center", zorder=2, parse_math=False,
        color=LINES if arrow.over else "#45454d", **arrow.font,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none",
              "alpha": 0.9},
    )  # fmt: skip


def _draw_title(figure: Any, graph: Subgraph, left_out: int, size: Any) -> None:
    centre = next((one.name for one in graph.entities if one.key == graph.centre), None)
    namespace = "/".join(graph.entities[0].namespace) if graph.entities else "Nothing is known yet"
    things = counted(len(graph.entities), "person or thing", "people and things")
    counts = f"{things}, {counted(len(graph.edges) - len(graph.over), 'claim')}"
    if graph.over:
        counts += f", {len(graph.over)} past"
    if left_out:
        counts += f"; {left_out} more left out"
    left, top = 0.25 / size[0], 1 - 0.2 / size[1]
    figure.text(
        left, top, _wrapped(centre or namespace).replace("\n", " "), fontsize=15, va="top",
        fontweight="bold", color=INK, parse_math=False,
    )  # fmt: skip
    figure.text(left, top - 0.3 / size[1], counts, fontsize=9, color=LINES, va="top")


def _draw_legend(figure: Any, boxes: Sequence[_Box], arrows: Sequence[_Arrow], size: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    found = {box.kind if box.kind in COLOURS else "thing" for box in boxes if not box.literal}
    marks: list[Any] = [
        Patch(facecolor=fill, edgecolor=line, label=kind)
        for kind, (fill, line) in COLOURS.items()
        if kind in found
    ]
    if any(box.literal for box in boxes):
        marks.append(Patch(facecolor=LITERAL[0], edgecolor=LITERAL[1], label="value"))
    if any(arrow.over for arrow in arrows):
        marks.append(Line2D([], [], color=PAST, linestyle=(0, (4, 3)), label="no longer"))
    if marks:
        figure.legend(
            handles=marks, loc="lower left", bbox_to_anchor=(0.25 / size[0], 0.12 / size[1]),
            ncols=max(1, int(size[0] / 1.2)), frameon=False, fontsize=9, handlelength=1.5, columnspacing=1.4,
            labelcolor="#45454d", borderpad=0, borderaxespad=0,
        )  # fmt: skip


def _wrapped(text: str) -> str:
    """At most three short lines."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split()) or "–"
    return "\n".join(textwrap.wrap(plain, LINE, max_lines=3, placeholder=" …"))


def places(sizes: Places, edges: Sequence[tuple[int, int, float]]) -> Places:
    """Return float64[n, 2], the middle of each box in inches; the same for the same graph.

    Args:
        sizes: float64[n, 2], width and height of each box, inches.
        edges: Pairs of boxes, and the inches that are to be between them at least.
    """
    import networkx

    graph: Any = networkx.Graph()
    graph.add_nodes_from(range(len(sizes)))
    graph.add_edges_from(pair[:2] for pair in edges if pair[0] != pair[1])
    at = np.zeros((len(sizes), 2))
    parts = [sorted(part) for part in networkx.connected_components(graph)]
    for part in (part for part in parts if len(part) > 1):
        number = {box: place for place, box in enumerate(part)}
        own = networkx.relabel_nodes(graph.subgraph(part), number)
        found = networkx.spring_layout(own, **SPRING)
        place = np.array([found[box] for box in range(len(part))])
        if np.ptp(place[:, 1]) > np.ptp(place[:, 0]):  # boxes and screens are wider than high
            place = place[:, ::-1]
        rooms = [
            (number[one], number[other], room + (sizes[one][0] + sizes[other][0]) / 2)
            for one, other, room in edges
            if one in number and one != other
        ]
        lengths = [room / np.linalg.norm(place[one] - place[other]) for one, other, room in rooms]
        at[part] = _with_room(place * np.quantile(lengths, LONG_ENOUGH), sizes[part], rooms)
    return _in_rows(parts, at, sizes)


def _with_room(at: Places, sizes: Places, rooms: Sequence[tuple[int, int, float]]) -> Places:
    """The same places, ends of too short an edge and boxes that overlap pushed apart."""
    sizes = sizes + MARGIN
    for _ in range(ROUNDS):
        moved = False
        for one, other, room in rooms:
            gap = at[one] - at[other]
            short = room / np.linalg.norm(gap) - 1
            if short > 0.02:
                at[one] += gap * short / 2
                at[other] -= gap * short / 2
                moved = True
        between = np.abs(at[:, None] - at) < (sizes[:, None] + sizes) / 2
        for one, other in np.argwhere(np.triu(between.all(axis=2), 1)).tolist():
            gap = at[one] - at[other]
            over = (sizes[one] + sizes[other]) / 2 - np.abs(gap)
            if over.min() > 1e-6:
                axis = int(np.argmin(over))
                push = over[axis] / 2 * (1 if gap[axis] >= 0 else -1)
                at[one, axis] += push
                at[other, axis] -= push
                moved = True
        if not moved:
            break
    return at


def _in_rows(parts: Sequence[Sequence[int]], at: Places, sizes: Places) -> Places:
    """The parts beside and below each other, the highest first."""
    low = [(at[part] - sizes[part] / 2).min(axis=0) for part in parts]
    high = [(at[part] + sizes[part] / 2).max(axis=0) for part in parts]
    extents = np.reshape(high, (-1, 2)) - np.reshape(low, (-1, 2)) + APART
    wide = max([WIDER * float(np.sqrt(extents.prod(axis=1).sum())), *extents[:, 0]])
    left = top = bottom = 0.0
    for number in np.argsort(-extents[:, 1], kind="stable"):
        width, height = extents[number]
        if left + width > wide + 1e-9:
            left, top = 0.0, bottom
        at[parts[number]] += (left, top - height) - low[number]
        left, bottom = left + width, min(bottom, top - height)
    return at
