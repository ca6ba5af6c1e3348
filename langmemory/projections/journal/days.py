"""What a day came to, as pages: of everybody, and of each owner of private memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby
from typing import Any, Final

from langmemory.ports import journal as ports
from langmemory.ports.journal import DerivedRow, Naming, QuestionRow, ReplacedRow
from langmemory.projections.journal.pages import Learned, Page, Session, sessions

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
        if reader(old) in (None, reader(row)) and _said(old.value) <= _said(value)
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
                names.told(fact.namespace, one.owner, one.value, _quoted(one.value))
                for one in about
            )
            quoted = " / ".join(f"“{text}”" for text in texts)
            question = f"{about[0].question} {quoted}"
            yield Session(thread_id=fact.thread or "", questions=(question,))


def _quoted(value: dict[str, Any]) -> str:
    return " ".join(str(value.get("text", "")).split())[:QUOTED_CHARACTERS]


def _said(value: dict[str, Any]) -> str:
    return str(value.get("said_at", ""))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
