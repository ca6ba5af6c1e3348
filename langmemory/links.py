"""Links between memories, documents, tasks and agents: their relations, their ends, their records as values.

A link is an edge of the graph whose fact is a memory without words of its own, so that it has times, an
owner and a history. It ends at anchors: entities that stand for a memory, or for an agent, a swarm or an
artifact by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

LinkRelation = Literal["requires", "provides", "affects", "supersedes", "relates_to"]
"""How one thing depends on another: it needs it, makes it available, changes it, takes its place, or has to
do with it."""

SwarmRelation = Literal[
    "delegates_to", "orchestrates", "spawns", "member_of", "works_on", "produces", "affects", "made_by",
    "regarding", "contains",
]  # fmt: skip
"""How agents, tasks, decisions, artifacts and sessions hang together."""

Relation = LinkRelation | SwarmRelation
ABOUT: Final[tuple[Relation, ...]] = ("regarding", "affects")
"""Lead from a memory to what it is about: who asks about the one may be answered by the other."""
RELATIONS: Final[tuple[str, ...]] = tuple(
    dict.fromkeys((*get_args(LinkRelation), *get_args(SwarmRelation)))
)

Named = Literal["agent", "swarm", "artifact"]
"""Kinds of anchors that stand for something by its name."""
NAMED: Final[tuple[str, ...]] = get_args(Named)
MEMORY: Final = "item:"
"""Begins the key of an anchor that stands for a memory; the memory's key follows."""
ANCHORS: Final = (MEMORY, *(f"{kind}:" for kind in NAMED))
"""Begin the keys of anchors."""
KEYS: Final = "link/"
"""Begin the keys of the memories that claim links."""
NAME_CHARACTERS: Final = 200
"""Of a name after its kind, or of a title."""

Record = Literal["task", "decision", "session", "document", "memory"]
"""What a memory at the end of a link is."""
_RECORDS: Final = ("task", "decision", "session", "document")


def is_anchor(key: str) -> bool:
    """Return whether the key of an entity is that of an anchor."""
    return key.startswith(ANCHORS)


def anchor_of(key: str) -> str:
    """Return the key of the anchor that stands for a memory."""
    return f"{MEMORY}{key}"


def memory_of(anchor: str) -> str | None:
    """Return the key of the memory that an anchor stands for; None where it stands for a name."""
    return anchor.removeprefix(MEMORY) if anchor.startswith(MEMORY) else None


def is_link(key: str, value: Mapping[str, Any]) -> bool:
    """Return whether a value claims a link, and has no words to be found by."""
    return key.startswith(KEYS) and value.get("record") == "link"


def link_value(source: str, relation: str, target: str, **more: Any) -> dict[str, Any]:
    """Return the value of the memory that claims a link between two anchors."""
    return {
        "kind": "working", "record": "link", "source": source, "relation": relation, "target": target,
        **{name: one for name, one in more.items() if one},
    }  # fmt: skip


def record_of(value: Mapping[str, Any]) -> Record:
    """Return what a memory at the end of a link is."""
    record = value.get("record")
    return next((one for one in _RECORDS if one == record), "memory")


def title_of(key: str, value: Mapping[str, Any], text: str) -> str:
    """Return what a memory at the end of a link is called: its title, its path, or how its text begins."""
    for name in ("title", "what", "path") if value.get("record") != "document" else ("path",):
        found = value.get(name)
        if isinstance(found, str) and found.strip():
            return _short(found)
    return _short(text) or key


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= NAME_CHARACTERS else f"{line[: NAME_CHARACTERS - 1]}…"
