"""How a case of the correctness suite is told and played: dialogues with dates, on a real store.

A case says what was said when, what an extractor makes of it, and everything that is to be known
afterwards. What it does not name must not be there: expectations are complete.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langmemory.changes import AddMemory, ChangeSet, Facets, UpdateMemory
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.contradiction.pairs import Group, Verdict
from langmemory.formation.judging import Judge, StructuralJudge, Verdicts, apply_verdicts
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.settling import settle
from langmemory.languages.spelling import name_key
from langmemory.ledger.values import to_us
from langmemory.operations.gathering import Gathering
from langmemory.ports.facts import Claim, Extraction, Fact, SessionSummary
from langmemory.stores import MemoryStore
from langmemory.types import Memory, Privacy

NS = ("memories", "home")


@dataclass(frozen=True, kw_only=True)
class Told:
    """A fact as an extractor gives it: ``claim`` is "subject | relation | object", where an object
    that begins with "=" is a literal."""

    text: str
    claim: str | None = None
    also: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Say:
    on: str
    text: str
    told: tuple[Told, ...] | None
    """None: the rule extractor reads it."""
    who: str = "Lena"
    owner: str | None = None
    privacy: Privacy = "shared"
    read: str | None = None
    """When it is reflected, if not on the same day."""
    more: bool = False
    """In one batch with the one before."""
    instead: str = ""
    """The words of the turn that is edited to say this."""


@dataclass(frozen=True, kw_only=True)
class Do:
    """Further events: delete, pin, verify, decide, undo, repeat (everything is read again), derive
    (``option`` is built from the fact)."""

    what: str
    on: str
    of: str = ""
    option: str = ""


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    about: str
    steps: tuple[Say | Do, ...]
    active: tuple[str, ...] = ()
    """Texts of the facts believed to hold, all of them."""
    over: tuple[str, ...] = ()
    """Those that gave way, or whose time is over."""
    pending: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    as_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Day → what was true then, as far as it is known now."""
    known_at: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Day → what was believed then."""
    reviews: Mapping[str, int] = field(default_factory=dict)
    """How many open questions, by what they are about."""
    one: tuple[tuple[str, str], ...] = ()
    """Names of one and the same."""
    two: tuple[tuple[str, str], ...] = ()
    """Names of two."""
    edges: tuple[str, ...] = ()
    """Claims of the graph that hold now, among others: "Lena | lives_in | Munich"."""
    no_edges: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    """Texts of the facts that only their owner may read, all of them where there are any."""
    evidence: Mapping[str, int] = field(default_factory=dict)
    """Text → number of turns it rests on."""
    verdicts: Mapping[tuple[str, str], Verdict] = field(default_factory=dict)
    """The judge's verdict on a new and an old text, if there is a judge."""


def day(text: str) -> datetime:
    """ "2023-05-01", with a time and an offset if there is one; noon in UTC else."""
    moment = datetime.fromisoformat(text)
    if len(text) == 10:
        moment = moment.replace(hour=12)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class TableJudge:
    """Says what the case says, and counts."""

    def __init__(self, table: Mapping[tuple[str, str], Verdict]) -> None:
        self.table = table
        self.asked = 0

    def judge(self, group: Group) -> Verdicts:
        self.asked += bool(group.open)
        found = {
            number: self.table.get((pair.new.text, pair.old.text), "unclear")
            for number, pair in enumerate(group.open, start=1)
        }
        return replace(apply_verdicts(group, found), model_calls=int(bool(group.open)))

    async def ajudge(self, group: Group) -> Verdicts:
        return self.judge(group)


class Play:
    """One case on a store of its own."""

    def __init__(self, case: Case, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.case = case
        self.now = day("2020-01-01")
        self.judge: Judge = TableJudge(case.verdicts) if case.verdicts else StructuralJudge()
        for name, module in tuple(sys.modules.items()):
            if name.startswith("langmemory.") and "now_us" in vars(module):
                monkeypatch.setattr(module, "now_us", lambda: to_us(self.now))
        self.store = MemoryStore(path)
        self.plans: list[ChangeSet] = []
        self.batches: list[tuple[Batch, tuple[Fact, ...]]] = []
        self.turns: dict[str, tuple[str, Turn]] = {}
        self.runs = 0

    def play(self) -> None:
        waiting: list[Say] = []
        for step in self.case.steps:
            if isinstance(step, Say) and step.more:
                waiting.append(step)
                continue
            self._reflect(waiting)
            waiting = []
            if isinstance(step, Say):
                waiting.append(step)
            else:
                self._do(step)
        self._reflect(waiting)

    def _reflect(self, said: Sequence[Say]) -> None:
        if not said:
            return
        thread = f"t{len(self.batches)}"
        turns: list[Turn] = []
        facts: list[Fact] = []
        for number, one in enumerate(said):
            self.now = day(one.on)
            if one.instead:
                thread, turn = self._edit(one)
                turns.append(turn)
                facts.extend(fact_of(told, turn) for told in one.told or ())
                continue
            [key] = self.store.remember(
                NS,
                [{"role": "user", "content": one.text, "name": one.who, "id": f"m{number}",
                  "at": day(one.on)}],
                thread_id=thread, owner=one.owner, privacy=one.privacy,
            )  # fmt: skip
            turn = Turn(
                key=key, text=one.text, role="user", speaker=one.who, said_at=day(one.on),
                owner=one.owner, privacy=one.privacy,
            )  # fmt: skip
            turns.append(turn)
            self.turns[one.text] = thread, turn
            if one.told is not None:
                facts.extend(fact_of(told, turn) for told in one.told)
        self.now = max(self.now, day(said[-1].read or said[-1].on))
        before = sum(batch.thread_id == thread for batch, _ in self.batches)
        batch = Batch(namespace=NS, thread_id=thread, turns=tuple(turns), again=before)
        if any(one.told is None for one in said):
            with Gathering(self.store).knowledge(NS) as knowledge:
                facts.extend(RuleExtractor().read(batch, told=knowledge).facts)
        self.batches.append((batch, tuple(facts)))
        self.form(batch, facts)

    def _edit(self, one: Say) -> tuple[str, Turn]:
        """The turn says something else from now on."""
        thread, turn = self.turns.pop(one.instead)
        item = self.store.get(NS, turn.key)
        assert item is not None
        self.store.put(NS, turn.key, {**item.value, "content": one.text})
        self.turns[one.text] = thread, replace(turn, text=one.text)
        return self.turns[one.text]

    def form(self, batch: Batch, facts: Sequence[Fact], run_id: str | None = None) -> None:
        """The whole way from facts to the file."""
        extraction = Extraction(facts=tuple(facts), summary=SessionSummary(text="A talk."))
        with Gathering(self.store).knowledge(NS) as knowledge:
            change_set = settle(batch, extraction, knowledge, self.judge, now=self.now)
        if run_id is not None:
            change_set = change_set.model_copy(update={"run_id": run_id})
        self.plans.append(change_set)
        self.store.changes.apply(change_set)

    def _do(self, step: Do) -> None:
        self.now = day(step.on)
        self.runs += 1
        if step.what == "delete":
            self.store.delete(NS, self.key(step.of))
        elif step.what in ("pin", "verify"):
            flag = {"pin": "pinned", "verify": "verified"}[step.what]
            change = UpdateMemory(key=self.key(step.of), facets=Facets.model_validate({flag: True}))
            self.store.changes.apply(
                ChangeSet(
                    namespace=NS, run_id=f"person/{self.runs}", kind="correction",
                    reason="a person", changes=(change,),
                )
            )  # fmt: skip
        elif step.what == "decide":
            reviews = [one for one in self.store.changes.reviews(NS) if one.about == step.of]
            option = step.option
            if step.of == "entity" and option not in reviews[0].options:
                keys = {e.name: e.key for e in self.store.graph(NS).entities(past=True)}
                option = keys[option]
            self.store.changes.decide(reviews[0].id, option, by="lena")
        elif step.what == "derive":
            source = self.memories()[step.of]
            add = AddMemory(
                key=f"fact/derived-{self.runs}", value={"text": step.option}, evidence=(source.key,),
                facets=Facets(kind="semantic", valid_at=self.now),
            )  # fmt: skip
            self.store.changes.apply(
                ChangeSet(
                    namespace=NS, run_id=f"derived/{self.runs}", kind="maintenance",
                    reason="put together", changes=(add,),
                )
            )  # fmt: skip
        elif step.what == "undo":
            self.store.changes.undo(self.plans[-1].run_id)
        elif step.what == "repeat":
            for batch, facts in list(self.batches):
                self.form(batch, facts)
                self.form(batch, facts, run_id=f"again/{self.runs}/{batch.thread_id}")
        else:
            raise AssertionError(step.what)

    # What is known.

    def memories(self) -> dict[str, Memory]:
        """Facts by text; what has the same text twice has a number behind it."""
        with Gathering(self.store).knowledge(NS) as knowledge:
            items = self.store.search(NS, limit=1000)
            keys = sorted(item.key for item in items if item.key.startswith("fact/"))
            known = [knowledge.by_key(key) for key in keys]
        found: dict[str, Memory] = {}
        for one in sorted((k.memory for k in known if k), key=lambda m: (m.created_at, m.key)):
            text, number = one.text, 2
            while text in found:
                text = f"{one.text} #{number}"
                number += 1
            found[text] = one
        return found

    def key(self, text: str) -> str:
        return self.memories()[text].key

    def problems(self) -> list[str]:
        """Everything that is not as the case says."""
        case, memories = self.case, self.memories()
        found: dict[str, set[str]] = {
            "active": set(),
            "over": set(),
            "pending": set(),
            "archived": set(),
        }
        for text, memory in memories.items():
            over = memory.invalid_at is not None and memory.invalid_at <= self.now
            if memory.status == "superseded" or (memory.status == "active" and over):
                found["over"].add(text)
            else:
                found[memory.status].add(text)
        problems = [
            f"{name}: {sorted(found[name])}, expected {sorted(expected)}"
            for name, expected in (
                ("active", case.active), ("over", case.over),
                ("pending", case.pending), ("archived", case.archived),
            )
            if found[name] != set(expected)
        ]  # fmt: skip
        reviews = Counter(one.about for one in self.store.changes.reviews(NS))
        if reviews != Counter(case.reviews):
            problems.append(f"reviews: {dict(reviews)}, expected {dict(case.reviews)}")
        for option, table in (("as_of", case.as_of), ("known_at", case.known_at)):
            for on, texts in table.items():
                answers = self._recalled(memories, **{option: day(on)})
                if answers != set(texts):
                    problems.append(f"{option} {on}: {sorted(answers)}, expected {sorted(texts)}")
        private = {text for text, memory in memories.items() if memory.privacy == "private"}
        if case.private and private != set(case.private):
            problems.append(f"private: {sorted(private)}, expected {sorted(case.private)}")
        for text, count in case.evidence.items():
            with Gathering(self.store).knowledge(NS) as knowledge:
                known = knowledge.by_key(memories[text].key) if text in memories else None
            if known is None or len(known.evidence) != count:
                problems.append(
                    f"evidence of {text!r}: {known and len(known.evidence)}, not {count}"
                )
        return problems + self._graph_problems()

    def _recalled(self, memories: Mapping[str, Memory], **options: Any) -> set[str]:
        """Texts that recall answers with when it is asked for them alone, at that time: what
        holds, not how it ranks."""
        keys = {memory.key for memory in memories.values()}
        found: set[str] = set()
        for text, memory in memories.items():
            recall = self.store.recall(
                memory.text,
                NS,
                kinds=("semantic", "procedural"),
                exclude=keys - {memory.key},
                **options,
            )
            if any(result.memory.key == memory.key for result in recall.results):
                found.add(text)
        return found

    def _graph_problems(self) -> list[str]:
        graph = self.store.graph(NS)
        names: dict[str, set[str]] = {}
        entities = {entity.key: entity for entity in graph.entities(past=True)}
        for entity in entities.values():
            for name in (entity.name, *entity.aliases):
                names.setdefault(name_key(name), set()).add(entity.key)

        def keys(name: str) -> set[str]:
            return names.get(name_key(name), set())

        problems = []
        for first, second in self.case.one:
            if not keys(first) or keys(first) != keys(second) or len(keys(first)) != 1:
                problems.append(
                    f"{first!r} {keys(first)} and {second!r} {keys(second)} are not one"
                )
        for first, second in self.case.two:
            if not keys(first) or not keys(second) or keys(first) & keys(second):
                problems.append(
                    f"{first!r} {keys(first)} and {second!r} {keys(second)} are not two"
                )
        edges = set()
        for edge in graph.edges():
            subject = entities[edge.subject].name
            about = entities[edge.object].name if edge.object else f"={edge.literal}"
            edges.add(f"{subject} | {edge.relation} | {about}")
        problems += [
            f"no edge {edge!r} in {edges}" for edge in self.case.edges if edge not in edges
        ]
        problems += [f"edge {edge!r} is there" for edge in self.case.no_edges if edge in edges]
        return problems


def fact_of(told: Told, turn: Turn) -> Fact:
    """Return the extractor's answer for a turn."""
    claims = tuple(_claim(text) for text in (told.claim, *told.also) if text)
    options: dict[str, Any] = {
        "speaker": turn.speaker, "owner": turn.owner, "privacy": turn.privacy, "evidence": (turn.key,),
    }  # fmt: skip
    options |= dict(told.more)
    if "when" in options:
        options["time_words"] = options.pop("when")
    for name in ("valid_at", "invalid_at"):
        if name in options:
            options[name] = day(options[name])
    return Fact(text=told.text, said_at=turn.said_at, claims=claims, **options)


def _claim(text: str) -> Claim:
    subject, relation, about = (part.strip() for part in text.split("|"))
    return Claim(
        subject=subject, relation=relation, object=about.removeprefix("="),
        object_is_entity=not about.startswith("="),
    )  # fmt: skip
