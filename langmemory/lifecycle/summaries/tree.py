"""Planning of summaries: which nodes of a level are to be written, rewritten or removed.

A node keeps a digest of its children. Days are looked at where something changed since the task came by;
the levels above wherever the digest of what is below differs. What rules wrote because no model answered is
looked at again when there is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta
from typing import Final

import numpy as np

from langmemory.changes import Change, RemoveMemory
from langmemory.lifecycle.retention import DAY_US
from langmemory.lifecycle.summaries.abstracts import Ask, abstract
from langmemory.lifecycle.summaries.extracts import Unit, extract, unit_of
from langmemory.lifecycle.summaries.nodes import (
    BELOW,
    SENTENCES,
    Level,
    day_of,
    digest_of,
    is_whole,
    key_of,
    level_of,
    period_of,
    reader_of,
    sentences_of,
    written,
)
from langmemory.lifecycle.summaries.themes import communities
from langmemory.ports.candidates import Floats
from langmemory.ports.lifecycle import Aged, LifecycleView
from langmemory.types import Memory

TASK: Final = "summarise"
EPOCH: Final = date(1970, 1, 1)

Reader = str | None


@dataclass(kw_only=True)
class Planning:
    """One level of the tree of one namespace on one snapshot.

    Args:
        view: The namespace.
        level: Of which nodes are planned.
        ask: Asks a model; None works by rules.
        undone: Keys of nodes that a person took back: they are left alone.
        refused: Is told what of a model's answers is not taken.
    """

    view: LifecycleView
    level: Level
    ask: Ask | None = None
    undone: Collection[str] = ()
    refused: list[str] = field(default_factory=list)
    _nodes: dict[str, Memory] = field(init=False)
    _unanswered: bool = field(default=False, init=False)
    """Whether a model could not be reached, or may not be asked any more."""
    _evidence: Mapping[int, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        nodes = self.view.nodes(self.level, BELOW.get(self.level, self.level))
        self._nodes = {node.key: node for node in nodes}
        self._evidence = self.view.evidence(np.array([node.id for node in nodes], np.int64))

    def changes(self) -> list[Change]:
        """Return the changes of the level; those of the levels below are to be applied before."""
        if self.level == "day":
            return self._days()
        if self.level == "theme":
            return self._themes()
        return self._above(self.level)

    def _days(self) -> list[Change]:
        changed = self.view.changed(self.view.progress(TASK))
        aged = self.view.aged()
        facts = _facts(aged)
        fact_days = (facts.told_at // DAY_US).tolist()
        by_day: dict[int, list[int]] = defaultdict(list)
        for item, day in zip(facts.ids.tolist(), fact_days, strict=True):
            by_day[day].append(item)
        touched = {
            int(day) for day in (aged.told_at[np.isin(aged.ids, changed)] // DAY_US).tolist()
        }
        put_away = {
            key for key, status in zip(aged.keys, aged.status, strict=True) if status != "active"
        }
        touched |= self.view.days(changed)
        touched |= self._dirty_days(self.view.keys(changed) | put_away)
        have = {date.fromisoformat(str(one.value["period"])) for one in self._of("day")}
        touched |= self.view.days() - {
            (day - EPOCH).days for day in have
        }  # summaries were forgotten
        touched |= {
            (date.fromisoformat(str(one.value["period"])) - EPOCH).days
            for one in self._of("day")
            if self._waits(one)
        }
        found: list[Change] = []
        for day in sorted(touched):
            turns = self.view.turns(day * DAY_US, (day + 1) * DAY_US)
            ids = np.concatenate((turns, np.array(by_day.get(day, ()), np.int64)))
            found += self._day(EPOCH + timedelta(days=day), ids)
        return found

    def _dirty_days(self, changed: set[str]) -> set[int]:
        """Return days whose node has lost a child, rests on what changed, or is open to others."""
        found = set()
        for node in self._of("day"):
            evidence = self._evidence.get(node.id, ())
            if not is_whole(node, evidence) or not changed.isdisjoint(evidence):
                day = date.fromisoformat(str(node.value["first_day"]))
                found.add((day - EPOCH).days)
        return found

    def _day(self, day: date, ids: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Change]:
        memories = [one for one in self.view.memories(ids) if one.status == "active"]
        by_reader: dict[Reader, list[Memory]] = defaultdict(list)
        for memory in memories:
            by_reader[reader_of(memory)].append(memory)
        period = day.isoformat()
        known = {node.value["reader"] for node in self._of("day") if node.value["period"] == period}
        found: list[Change] = []
        for reader in sorted({*by_reader, *known}, key=lambda one: (one is not None, one or "")):
            found += self._leaves("day", period, reader, by_reader[reader], (day, day))
        return found

    def _leaves(
        self,
        level: Level,
        name: str,
        reader: Reader,
        memories: Sequence[Memory],
        days: tuple[date, date],
    ) -> list[Change]:
        """Return the change of a node over turns and facts, if it needs one."""
        ids = np.array([one.id for one in memories], np.int64)
        evidence = self.view.evidence(ids)
        digest = digest_of((one.key, one.text) for one in memories)
        if self._is_so(level, name, reader, digest):
            return []
        vectors = _by_id(*self.view.vectors(ids))
        units = [
            unit_of(
                one,
                (one.valid_at or one.created_at).astimezone(UTC).isoformat(),
                vectors.get(one.id),
                evidence.get(one.id, ()),
            )
            for one in memories
        ]
        return self._node(level, name, reader, units, [one.key for one in memories], digest, days)

    def _above(self, level: Level) -> list[Change]:
        groups: dict[tuple[str, Reader], list[Memory]] = defaultdict(list)
        for node in self._of(BELOW[level]):
            day = date.fromisoformat(str(node.value["first_day"]))
            groups[period_of(day, level), node.value["reader"]].append(node)
        for node in self._of(level):
            groups.setdefault((str(node.value["period"]), node.value["reader"]), [])
        found: list[Change] = []
        for (period, reader), children in sorted(
            groups.items(), key=lambda one: (one[0][0], one[0][1] or "")
        ):
            # The digest of a child changes with what it retells, its text only with what it says.
            digest = digest_of((one.key, f"{one.text}\0{one.value['digest']}") for one in children)
            if self._is_so(level, period, reader, digest):
                continue
            children.sort(key=lambda one: str(one.value["first_day"]))
            days = [
                date.fromisoformat(str(one.value[end]))
                for one in children
                for end in ("first_day", "last_day")
            ]
            span = (min(days), max(days)) if days else (date.min, date.min)
            keys = [one.key for one in children]
            found += self._node(level, period, reader, self._told(children), keys, digest, span)
        return found

    def _told(self, children: Sequence[Memory]) -> list[Unit]:
        """Return the sentences of nodes, with the vectors of what they retell first."""
        told = [(child, one) for child in children for one in sentences_of(child)]
        ids = self.view.find([one.leaves[0] for _, one in told if one.leaves])
        vectors = _by_id(*self.view.vectors(np.array(sorted(ids.values()), np.int64)))
        return [
            Unit(
                sentence=type(one)(text=one.text, sources=(child.key,), leaves=one.leaves),
                said_at=str(child.value["first_day"]),
                weight=1.0,
                vector=vectors.get(ids.get(one.leaves[0], 0)) if one.leaves else None,
            )
            for child, one in told
        ]

    def _themes(self) -> list[Change]:
        aged = self.view.aged()
        facts = _facts(aged)
        found: list[Change] = []
        wanted: set[str] = set()
        readers: dict[Reader, list[int]] = defaultdict(list)
        for place, (owner, privacy) in enumerate(zip(facts.owner, facts.privacy, strict=True)):
            readers[(owner or "") if privacy == "private" else None].append(place)
        mentions = self.view.mentions(facts.ids)
        for reader, places in readers.items():
            ids = facts.ids[np.array(places, np.int64)]
            for entity, members in communities(ids.tolist(), mentions).items():
                wanted.add(key_of("theme", entity, reader))
                memories = self.view.memories(np.array(members, np.int64))
                days = [day_of(one.valid_at or one.created_at) for one in memories]
                span = (min(days), max(days))
                found += self._leaves("theme", entity, reader, memories, span)
        gone = [node.key for node in self._of("theme") if node.key not in wanted]
        return [
            *found, *(RemoveMemory(key=key, reason="too few facts are left") for key in gone)
        ]  # fmt: skip

    def _is_so(self, level: Level, name: str, reader: Reader, digest: str) -> bool:
        key = key_of(level, name, reader)
        known = self._nodes.get(key)
        if key in self.undone:
            return True
        return (
            known is not None
            and known.value["digest"] == digest
            and is_whole(known, self._evidence.get(known.id, ()))
            and not self._waits(known)
        )

    def _waits(self, node: Memory) -> bool:
        """Return whether a node was written by rules because no model answered, and one may be asked now."""
        return (
            self.ask is not None
            and not self._unanswered
            and node.value["by"] == "rules"
            and not node.value.get("refused")
        )

    def _asked(self, prompt: str) -> str | None:
        answer = None if self.ask is None or self._unanswered else self.ask(prompt)
        self._unanswered = answer is None
        return answer

    def _node(
        self,
        level: Level,
        name: str,
        reader: Reader,
        units: Sequence[Unit],
        children: Sequence[str],
        digest: str,
        days: tuple[date, date],
    ) -> list[Change]:
        key = key_of(level, name, reader)
        known = self._nodes.get(key)
        limit = SENTENCES[level]
        sentences, by, refused = extract(units, limit), "rules", False
        if not sentences:
            reason = "nothing is left that it retells"
            return [] if known is None else [RemoveMemory(key=key, reason=reason)]
        if self.ask is not None:
            waited = known is not None and known.value["digest"] == digest and self._waits(known)
            told = abstract(units, sentences, limit, self._asked, self.refused)
            if waited and self._unanswered:
                return []
            refused = told is None and not self._unanswered
            sentences, by = (told, "model") if told else (sentences, by)
        evidence = self._evidence.get(known.id, ()) if known is not None else ()
        return [
            written(
                known, evidence, level=level, name=name, reader=reader, days=days,
                sentences=sentences, children=children, digest=digest, by=by,
                refused=refused,
            )
        ]  # fmt: skip

    def _of(self, level: str) -> list[Memory]:
        return [node for node in self._nodes.values() if level_of(node) == level]


def _facts(aged: Aged) -> Aged:
    return aged.take(
        aged.one_of(aged.status, "active")
        & aged.one_of(aged.kind, "semantic", "procedural")
        & (aged.evidence > 0)
    )


def _by_id(ids: np.ndarray[tuple[int], np.dtype[np.int64]], vectors: Floats) -> dict[int, Floats]:
    return dict(zip(ids.tolist(), vectors, strict=True))
