"""Conversations of people in order: turns of one thread on one day, each with the one before and after.

A page costs what its days hold: turns are walked by their index, the latest first, and what comes before
or after the page is looked up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from typing import Final, NamedTuple

import numpy as np

from langmemory.ledger.connection import Connection
from langmemory.ledger.listing import Place
from langmemory.ledger.listing import newest as newest_memories
from langmemory.ledger.scopes import CompiledScope, compile_scope
from langmemory.types import Namespace, Scope

_DAY: Final = 86_400_000_000
_TURNS: Final = 500
"""Turns that are read at once."""


class Person(NamedTuple):
    """Whose conversations follow each other."""

    namespace: int
    owner: str
    """Empty where nobody is named."""


class Talk(NamedTuple):
    """One conversation, which is known by its first turn, an item. They are in order of beginning."""

    began_us: int
    first: int
    ended_us: int
    turns: int
    thread: int
    person: Person

    @property
    def day(self) -> int:
        """When the day of all its turns began, in microseconds."""
        return self.began_us // _DAY * _DAY


class Joined(NamedTuple):
    """One conversation, and the first turns of those of the same person before and after it."""

    talk: Talk
    previous: int | None
    next: int | None


def newest(
    connection: Connection,
    prefix: Namespace,
    viewer: str | None,
    limit: int,
    *,
    after: tuple[int, int] | None = None,
) -> list[Joined]:
    """Return conversations of a namespace and below it, the newest first.

    Args:
        connection: Of the file.
        prefix: Of the namespaces.
        viewer: Only turns that they may read count; None is the application.
        limit: At most so many.
        after: When the last one of the page before began, and its first turn.
    """
    turns = Scope(namespace=prefix, kinds=("episodic",), statuses=("active",), viewer=viewer)
    scope = compile_scope(turns)
    found: list[Talk] = []
    page: list[Talk] = []
    for day in _days(connection, scope, None if after is None else after[0] // _DAY * _DAY + _DAY):
        found += day
        page += [one for one in day if after is None or one[:2] < after]
        if len(page) >= limit:
            break
    follows: dict[Talk, Talk] = {}
    followed: dict[Talk, Talk] = {}
    for talks in _by_person(found).values():
        for later, earlier in pairwise(talks):
            follows[earlier], followed[later] = later, earlier

    def beside(talk: Talk, known: dict[Talk, Talk], later: bool) -> int | None:
        other = known.get(talk) or _of_another_day(connection, scope, talk, later)
        return None if other is None else other.first

    return [
        Joined(one, beside(one, followed, False), beside(one, follows, True))
        for one in page[:limit]
    ]


def beside(connection: Connection, scope: CompiledScope, item: int, steps: int) -> list[int]:
    """Return the turns, items in order, of the conversation that the same person had so many before (below
    0) or after the one with a turn; none where there is no such conversation. Only turns in the scope
    count."""
    here = connection.execute(
        f"SELECT {_AT}, i.namespace, {_OWNER}, i.thread FROM item i "
        f"WHERE i.id = ? AND {_IS_TURN} AND {scope.where}",
        (item, *scope.bindings),
    ).fetchone()
    if here is None:
        return []
    at, person, thread = here[0], Person(*here[1:3]), here[3]
    talks = _of_day(connection, scope, person, at // _DAY * _DAY)
    talk: Talk | None = next(one for one in talks if one.thread == thread)
    for _ in range(abs(steps)):
        assert talk is not None
        place = talks.index(talk) + (1 if steps > 0 else -1)
        if 0 <= place < len(talks):
            talk = talks[place]
        elif (talk := _of_another_day(connection, scope, talk, steps > 0)) is not None:
            talks = _of_day(connection, scope, person, talk.day)
        else:
            return []
    assert talk is not None
    rows = connection.execute(
        f"SELECT i.id FROM item i WHERE {_OF_PERSON} AND i.thread = ? AND {_AT} >= ? AND {_AT} < ? "
        f"AND {scope.where} ORDER BY {_AT}, i.id",
        (*person, talk.thread, talk.day, talk.day + _DAY, *scope.bindings),
    )
    return [row[0] for row in rows]


def last_turn(connection: Connection, scope: CompiledScope, owner: str | None) -> int | None:
    """Return the last turn in a scope, of a person where one is given."""
    after: Place | None = None
    while places := newest_memories(connection, scope, after=after, limit=_TURNS):
        for one in _turns(connection, places):
            if owner in (None, "", one.person.owner):
                return one.first
        after = places[-1]
    return None


_AT: Final = "coalesce(i.valid_at, i.created_at)"
_OWNER: Final = "coalesce(i.owner, '')"
_IS_TURN: Final = "i.thread IS NOT NULL AND i.kind = 'episodic' AND i.status = 'active'"
_OF_PERSON: Final = f"i.namespace = ? AND {_OWNER} = ? AND {_IS_TURN}"
"""As the index ``item_talk`` has it, with `_AT` behind."""


def _days(
    connection: Connection, scope: CompiledScope, until_us: int | None
) -> Iterator[list[Talk]]:
    """Yield the conversations of each day before a time, all newest first."""
    after: Place | None = None
    rest: list[Talk] = []
    more = True
    while more:
        places = newest_memories(
            connection,
            scope,
            after=after,
            limit=_TURNS,
            until_us=until_us if after is None else None,
        )
        more = len(places) == _TURNS
        rest += _turns(connection, places)
        days = [[*turns] for _, turns in groupby(rest, key=lambda one: one.day)]
        rest = days.pop() if days and more else []
        after = places[-1] if places else None
        for turns in days:
            yield sorted(_joined(turns), reverse=True)


def _turns(connection: Connection, places: Iterable[Place]) -> Iterator[Talk]:
    """Yield the turns among memories, each as a conversation of one."""
    ids = [one.item for one in places]
    rows = connection.execute(
        f"SELECT i.id, i.namespace, {_OWNER}, i.thread FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
        f"WHERE {_IS_TURN}",
        (connection.array(np.array(ids, np.int64)),),
    )
    known = {row[0]: row for row in rows}
    for at, item in places:
        if item in known:
            _, namespace, owner, thread = known[item]
            yield Talk(at, item, at, 1, thread, Person(namespace, owner))


def _joined(turns: Iterable[Talk]) -> Iterator[Talk]:
    """Yield the conversations that turns of one day are of."""
    of: dict[tuple[Person, int], list[Talk]] = defaultdict(list)
    for one in turns:
        of[one.person, one.thread].append(one)
    for (person, thread), talk in of.items():
        began, ended = min(one.began_us for one in talk), max(one.ended_us for one in talk)
        yield Talk(began, min(one.first for one in talk), ended, len(talk), thread, person)


def _by_person(talks: Iterable[Talk]) -> dict[Person, list[Talk]]:
    of: dict[Person, list[Talk]] = defaultdict(list)
    for one in talks:
        of[one.person].append(one)
    return of


def _of_day(connection: Connection, scope: CompiledScope, person: Person, day: int) -> list[Talk]:
    """Return the conversations of a person that began on a day, in order."""
    rows = connection.execute(
        f"SELECT min({_AT}), min(i.id), max({_AT}), count(*), i.thread FROM item i INDEXED BY item_talk "
        f"WHERE {_OF_PERSON} AND {_AT} >= ? AND {_AT} < ? AND {scope.where} GROUP BY i.thread",
        (*person, day, day + _DAY, *scope.bindings),
    )
    return sorted(Talk._make((*row, person)) for row in rows)


def _of_another_day(
    connection: Connection, scope: CompiledScope, talk: Talk, later: bool
) -> Talk | None:
    """Return the conversation of the same person that is next to one, of those of other days."""
    span, order, edge = (">=", "", talk.day + _DAY) if later else ("<", " DESC", talk.day)
    row = connection.execute(
        f"SELECT {_AT} FROM item i INDEXED BY item_talk WHERE {_OF_PERSON} AND {_AT} {span} ? "
        f"AND {scope.where} ORDER BY {_AT}{order} LIMIT 1",
        (*talk.person, edge, *scope.bindings),
    ).fetchone()
    if row is None:
        return None
    talks = _of_day(connection, scope, talk.person, row[0] // _DAY * _DAY)
    return talks[0 if later else -1]
