"""What a day and a month came to, as values: of everybody, and of each owner of private memories."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, islice
from typing import Any, Final

from langmemory.lifecycle.summaries.extracts import Unit, extract
from langmemory.lifecycle.summaries.nodes import SENTENCES, Sentence, reader_of, sentences_of
from langmemory.ports import journal as ports
from langmemory.ports.journal import DerivedRow, MonthRows, Naming, QuestionRow, ReplacedRow, Spoken
from langmemory.projections.journal.month_page import MonthPage, Theme, Told
from langmemory.projections.journal.pages import Learned, Page, Session, learned_line, sessions
from langmemory.types import Memory

QUOTED_CHARACTERS: Final = 120
"""Of each fact that a question is about."""


def pages_of(found: ports.Learned) -> Iterator[Page]:
    """Yield the pages of a namespace, by owner and day."""
    by_page: dict[tuple[str | None, str], list[DerivedRow]] = defaultdict(list)
    for told in found.derived:
        by_page[reader(told), told.day].append(told)
    replaced: dict[str, list[ReplacedRow]] = defaultdict(list)
    for row in found.replaced:
        replaced[row.by].append(row)
    for (owner, day), rows in sorted(by_page.items(), key=lambda one: (one[0][0] or "", one[0][1])):
        names = found.names(owner)
        parts = [_part(row, replaced.get(row.key, ()), names) for row in rows]
        yield Page(
            namespace=found.namespace,
            owner=owner,
            day=date.fromisoformat(day),
            sessions=sessions([*parts, *_questions(rows, found.questions, names)]),
        )


def reader(row: DerivedRow | ReplacedRow | QuestionRow) -> str | None:
    """Return whose alone it is; None for everybody's."""
    return (row.owner or "") if row.privacy == "private" else None


def _part(row: DerivedRow, replaced: Iterable[ReplacedRow], names: Naming) -> Session:
    def told(text: object, by: DerivedRow | ReplacedRow = row) -> str:
        return names.told(row.namespace, by.owner, by.value, str(text))

    value, text = row.value, told(row.value.get("text", ""))
    if row.key.startswith("summary/"):
        return Session(
            thread_id=str(value.get("thread_id", "")),
            summaries=(text,),
            decisions=tuple(map(told, _texts(value.get("decisions")))),
            open_points=tuple(map(told, _texts(value.get("open_points")))),
        )
    instead_of = [
        told(old.value.get("text", ""), old)
        for old in replaced
        if reader(old) in (None, reader(row)) and _statement(old.value) <= _statement(value)
    ]
    learned = Learned(
        text=text,
        until=row.until,
        instead_of=tuple(instead_of),
        waits=row.status in ("pending", "approved"),
    )
    return Session(thread_id=row.thread or "", learned=(learned,))


def _questions(
    rows: Sequence[DerivedRow], asked: Iterable[QuestionRow], names: Naming
) -> Iterator[Session]:
    """Questions about a fact of the page, with the facts they are about."""
    facts = {row.key: row for row in rows}
    for _, group in groupby(asked, key=lambda row: row.review):
        about = list(group)
        fact = facts.get(about[0].key)
        if fact is not None and all(reader(one) in (None, reader(fact)) for one in about):
            texts = (
                names.told(fact.namespace, one.owner, one.value, _quote_value(one.value))
                for one in about
            )
            quoted = " / ".join(f"“{text}”" for text in texts)
            question = f"{about[0].question} {quoted}"
            yield Session(thread_id=fact.thread or "", questions=(question,))


def _quote_value(value: dict[str, Any]) -> str:
    return " ".join(str(value.get("text", "")).split())[:QUOTED_CHARACTERS]


def _statement(value: dict[str, Any]) -> str:
    return str(value.get("said_at", ""))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


SMALLEST: Final = 3
"""Facts of a theme at least."""
MOST_THEMES: Final = 8
MOST_FACTS: Final = 5
"""Facts of one theme that are told."""
HUB_SHARE: Final = 0.5
"""Share of the facts from which what they speak of is a theme only of what belongs to no other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Month:
    """One month, as one reader may read it."""

    rows: MonthRows
    owner: str | None
    names: Naming
    pages: Sequence[Page]
    facts: Mapping[str, DerivedRow]
    """What was learned and is believed, by key, in the order it was told."""
    days: Mapping[str, date]
    """Of what was learned, and of the turns it was learned from."""

    @classmethod
    def of(cls, rows: MonthRows, owner: str | None, pages: Sequence[Page]) -> _Month:
        theirs = [one for one in rows.learned.derived if reader(one) == owner]
        days: dict[str, date] = {}
        for one in theirs:
            for key in (one.key, *rows.evidence.get(one.key, ())):
                days.setdefault(key, date.fromisoformat(one.day))
        facts = {one.key: one for one in theirs if one.status not in ("pending", "approved")}
        return cls(
            rows=rows, owner=owner, names=rows.learned.names(owner), pages=pages, facts=facts,
            days=days,
        )  # fmt: skip

    def text(self, key: str) -> str:
        row = self.facts[key]
        text = self.names.told(row.namespace, row.owner, row.value, str(row.value.get("text", "")))
        return learned_line(Learned(text=text, until=row.until))

    def told(self, text: str, keys: Sequence[str]) -> Told:
        """Return a sentence with the days whose pages tell of what it retells."""
        days = {day for key in keys if (day := self._day(key)) is not None}
        return Told(text=text, days=tuple(sorted(days)), keys=tuple(keys))

    def _day(self, key: str) -> date | None:
        if key in self.days:
            return self.days[key]
        turn = self.rows.retold.get(key)
        said = str(turn.value.get("at", ""))[:10] if turn is not None else ""
        return next((page.day for page in self.pages if page.day.isoformat() == said), None)

    def extract(self, keys: Sequence[str], limit: int) -> list[Told]:
        """Return what is most central of what was learned, in the order it was told."""
        units = [
            Unit(
                sentence=Sentence(text=self.text(key), sources=(key,), leaves=(key,)),
                said_at=str(self.facts[key].value.get("said_at", "")),
                weight=1.0,
                vector=self.rows.vectors.get(key),
            )
            for key in keys
        ]
        return [self.told(one.text, one.leaves) for one in extract(units, limit)]


def month_page(rows: MonthRows, month: str, owner: str | None, pages: Sequence[Page]) -> MonthPage:
    """Return the page of a month.

    Args:
        month: YYYY-MM.
        owner: Whose private memories; None is what everybody in the namespace may read.
        pages: Those of its days, of this owner, in order.
    """
    found = _Month.of(rows, owner, pages)
    summary = list(_retold(found)) or found.extract(list(found.facts), SENTENCES["month"])
    told = {key for one in summary for key in one.keys}
    told |= {key for key, turns in rows.evidence.items() if not told.isdisjoint(turns)}
    replaced = {one.key for one in rows.learned.replaced if one.by in found.facts}
    return MonthPage(
        namespace=rows.learned.namespace,
        owner=owner,
        month=month,
        days=pages,
        summary=summary,
        themes=tuple(_themes(found, told | replaced)),
    )


def _retold(month: _Month) -> Iterator[Told]:
    """Yield the sentences of the month's node, but for those that rest on what is gone, was changed since, or
    is not for the same reader any more: the next night retells them."""
    node = month.rows.nodes.get(month.owner)
    if node is None or reader_of(node) != month.owner:
        return
    for sentence in sentences_of(node):
        leaves = [month.rows.retold.get(key) for key in sentence.leaves]
        if all(
            one is not None and reader_of(one) == month.owner and one.updated_at <= node.updated_at
            for one in leaves
        ):
            yield month.told(_sentence_text(month, sentence, leaves), sentence.leaves)


def _sentence_text(month: _Month, sentence: Sentence, leaves: Sequence[Memory | None]) -> str:
    """The text of a sentence; a turn's as the words of who said it."""
    first = leaves[0] if leaves else None
    if first is None:
        return sentence.text
    if first.kind != "episodic":
        return month.names.told(first.namespace, first.owner, first.value, sentence.text)
    speaker = first.speaker or "user"
    words = sentence.text.removeprefix(f"{speaker}: ")
    if words == sentence.text:
        return sentence.text
    if first.value.get("role") == "user" and speaker in ("user", first.owner):
        speaker = month.names.of(first.namespace, first.owner) or first.owner or speaker
    return f"{speaker}: “{words}”"


def _themes(month: _Month, told: set[str]) -> Iterator[Theme]:
    facts = [key for key in month.facts if key.startswith("fact/")]
    spoken = {key: month.rows.spoken.get(key, ()) for key in facts}
    named = (
        (name, keys)
        for entity, keys in _groups(spoken)
        if (name := _name(month, entity, spoken, keys)) is not None
    )
    for name, keys in islice(named, MOST_THEMES):
        shown = month.extract([key for key in keys if key not in told], MOST_FACTS)
        known = told.union(*(one.keys for one in shown))
        yield Theme(
            name=name,
            facts=len(keys),
            days=tuple(sorted({month.days[key] for key in keys})),
            told=tuple(shown),
            left=tuple(month.days[key] for key in keys if key not in known),
        )


def _groups(spoken: Mapping[str, Sequence[Spoken]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each entity with the facts of its theme, each fact in one theme: that of what most speak of.
    What more than half speak of comes last, since everything is about the user."""
    left = {key: {one.entity for one in found} for key, found in spoken.items() if found}
    counted = Counter(entity for entities in left.values() for entity in entities)
    hubs = {entity for entity, count in counted.items() if count > HUB_SHARE * len(spoken)}
    for hub in (False, True):
        while True:
            members: dict[str, list[str]] = defaultdict(list)
            for key, entities in left.items():
                for entity in entities:
                    if (entity in hubs) == hub:
                        members[entity].append(key)
            best = min(members, key=lambda one: (-len(members[one]), one), default=None)
            if best is None or len(members[best]) < SMALLEST:
                break
            yield best, members[best]
            for key in members[best]:
                del left[key]


def _name(
    month: _Month, entity: str, spoken: Mapping[str, Sequence[Spoken]], keys: Sequence[str]
) -> str | None:
    """What the facts of a theme call the entity; None where they do not name it: others may."""
    said = " ".join(map(month.text, keys)).casefold()
    called = [
        name for key in keys for one in spoken[key] if one.entity == entity for name in one.names
    ]
    for name in dict.fromkeys(called):
        shown = month.names.of_entity(month.rows.learned.namespace, name) or name
        if shown.casefold() in said:
            return shown
    return None
