"""What snapshots of all engines share: a compiled scope, and its plan: where a scope has so few items that
a search had better start from them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from langmemory.ledger.connection import Connection
from langmemory.ledger.filters import Condition
from langmemory.ledger.namespaces import FEW_NAMESPACES, below, hold_at_most, inside, of_kinds
from langmemory.ledger.scopes import CompiledScope, compile_scope
from langmemory.ports.candidates import Floats, Ids
from langmemory.recall.layers import DOCUMENTS, MOST_COUNTED, SAID, crowds
from langmemory.types import Namespace, Scope
from langmemory.values import from_json

FILTERED_FIRST: Final = 8192
"""A condition that leaves at most so many items is answered first (about 2 ms at most) …"""
FILTERED_SHARE: Final = 32
"""… or one of so many of the file: else a search would look at as many candidates for each that
passes."""
READ_ITEMS: Final = 250
"""A namespace with so few items, as of one of many people, is read instead of asking an index (about
0.3 ms); up to `FILTERED_FIRST`, if the index would pass what all others have."""
WIDE_SHARE: Final = 4
"""A prefix of one of so many of the file's namespaces is looked up for each item that an index gives,
instead of asking the index for each namespace."""
AT_FIRST: Final = 1.5
"""Candidates asked for per wanted one where predicates decide afterwards."""
SPARE: Final = 1.4
"""Times as many as the share tells, unless it is a filter's: whose a memory is, or of when, goes
together with what it says."""
READ_SHARE: Final = 256
"""Where only one of so many candidates passes, and no index says which, all items are read: that
takes less time than to look at so many more candidates."""


HIGHEST_ITEM: Final = "SELECT coalesce(max(id), 0) FROM item"
HIGHEST_NAMESPACE: Final = "SELECT coalesce(max(id), 0) FROM namespace"

STALE_AFTER: Final = 1.2
"""A count is taken anew when the file has grown by this factor."""
MOST_ENTRIES: Final = 20_000


class CardinalityCache:
    """How many rows an expression or a condition matches, up to a limit. Thread-safe; counts are
    estimates."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # By the hash of what was asked: a filter may name thousands of values. Two of the same hash
        # only mislead an estimate.
        self._counts: dict[int, tuple[int, int]] = {}
        self._shares: dict[int, float] = {}

    def size(self, connection: Connection) -> int:
        """Return about how many items there are: the highest id."""
        return int(connection.execute(HIGHEST_ITEM).fetchone()[0])

    def items(
        self,
        connection: Connection,
        select: str,
        bindings: tuple[Any, ...],
        limit: int,
        size: int,
        *,
        anew: bool = False,
    ) -> int:
        """Return the rows of a query, at most ``limit``; ``anew``: as they are now, whatever is known."""
        sql = f"SELECT count(*) FROM ({select} LIMIT ?) s"
        return self.counted(
            (select, bindings, limit),
            size,
            lambda: int(connection.execute(sql, (*bindings, limit)).fetchone()[0]),
            anew=anew,
        )

    def share(self, key: Hashable) -> float | None:
        """Return the share of the candidates for which conditions held the last time, 0..1; None: never
        asked."""
        return self._shares.get(hash(key))

    def found(self, key: Hashable, share: float) -> None:
        """Keep it for the next time."""
        with self._lock:
            if len(self._shares) >= MOST_ENTRIES:
                self._shares.clear()
            self._shares[hash(key)] = share

    def counted(
        self, key: Hashable, size: int, count: Callable[[], int], *, anew: bool = False
    ) -> int:
        """Return a count that is known from a file of about this size, or is taken now."""
        place = hash(key)
        known = None if anew else self._counts.get(place)
        if known is not None and known[0] <= size <= known[0] * STALE_AFTER:
            return known[1]
        found = count()
        with self._lock:
            if len(self._counts) >= MOST_ENTRIES:
                self._counts.clear()
            self._counts[place] = (size, found)
        return found


class ScopePlan:
    """Knowledge of the items in one scope, in one snapshot; both arms of a search ask it.

    A filter may be anything, so it is counted before a search. Whom a memory belongs to, its kind
    or its time mostly leave many: a search first looks at what ranks best, and only where little of
    that is in scope (`after`) the indexes are asked, the next time at once.
    """

    def __init__(
        self,
        connection: Connection,
        cardinalities: CardinalityCache,
        scope: CompiledScope,
        *,
        items: Ids | None = None,
    ) -> None:
        """``items``: all in scope, ascending, if they are known."""
        self._connection = connection
        self._cardinalities = cardinalities
        self._scope = scope
        self._items = items
        self._counted = self._indexes_asked = items is not None
        self._was_read = False

    @property
    def items(self) -> Ids | None:
        """All items in scope, ascending, if they are known to be few; else None."""
        if not self._counted:
            self._counted = True
            asked = [one for one in self._scope.conditions if one.starts]
            share = self._cardinalities.share(self._key)
            was_narrow = share is not None and share * FILTERED_SHARE < 1
            if not (was_narrow or all(one.selective for one in asked)):
                asked = [one for one in asked if one.selective]
            self._items = self._by_index(asked)
        return self._items

    def listed(self) -> Ids | None:
        """As `items`, for a listing, which else reads all items in its namespaces: by whatever
        condition leaves little."""
        if self._items is None and not self._indexes_asked:
            self._counted = self._indexes_asked = True
            self._items = self._by_index([one for one in self._scope.conditions if one.starts])
        return self._items

    @cached_property
    def _key(self) -> Hashable:
        """Under what the share of this scope is remembered."""
        return self._scope.scope.namespace, tuple(
            (one.sql, one.bindings if one.told_by == "all" else ())
            for one in self._scope.conditions
            if one.told_by != "nothing"
        )

    def candidates(self, wanted: int) -> int:
        """Return how many of the best to look at so that about so many of them are in scope."""
        share = self._cardinalities.share(self._key)
        if share is None:
            return round(wanted * AT_FIRST)
        each = 1 / max(share, 1 / FILTERED_SHARE)
        if not all(one.selective for one in self._scope.conditions):
            each = max(each * SPARE, AT_FIRST)
        return round(wanted * each)

    def found(self, passed: int, of: int) -> None:
        """Tell what part of the best candidates was in scope."""
        if of and not self._scope.trivial:
            self._cardinalities.found(self._key, max(passed, 1) / of)

    def after(self, passed: int, of: int, *, read: bool = False) -> Ids | None:
        """As `items`, after a search that needs more candidates.

        Args:
            passed: Of the candidates it looked at, those in scope.
            of: Candidates it looked at.
            read: To look at more of them would take longer than to read every item.
        """
        if self._items is None and (passed + 1) * FILTERED_SHARE <= of:
            self.found(passed, of)
            if not self._indexes_asked:
                self._indexes_asked = True
                self._items = self._by_index(
                    [one for one in self._scope.conditions if one.starts], anew=True
                )
            hopeless = read and (passed + 1) * READ_SHARE <= of
            if self._items is None and hopeless and not self._was_read:
                self._was_read = True
                self._items = self._read()
        return self._items

    def _by_index(self, conditions: list[Condition], *, anew: bool = False) -> Ids | None:
        """Return all items in scope, if one of these conditions, that have starts, leaves few of its
        namespaces' items; ``anew``: as counted now."""
        if not conditions:
            return None
        direct = all(start.direct for one in conditions for start in one.starts)
        most = READ_ITEMS if direct else FILTERED_FIRST
        few_namespaces = self._namespaces[0] <= FEW_NAMESPACES
        if few_namespaces and hold_at_most(self._connection, self._scope.scope.namespace, most):
            return self._read()
        size, at_most = self._sizes
        driver, least = None, at_most + 1
        for one in conditions:
            start, bindings = self.start(one)
            held = self._cardinalities.items(
                self._connection, start, bindings, at_most + 1, size, anew=anew
            )
            if held < least:
                driver, least = one, held
        if driver is None:
            return None
        start, bindings = self.start(driver)
        rest = [one for one in self._scope.conditions if one is not driver]
        if rest or self._scope.residual:
            where = " AND ".join(f"({one.sql})" for one in rest) or "TRUE"
            source = f"({start}) s CROSS JOIN item i ON i.id = s.id WHERE {where}"
            bindings += tuple(binding for one in rest for binding in one.bindings)
        else:
            source = f"({start}) i"
        return self._ids(source, bindings)

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """About how many items the file has, and how many of them are few."""
        size = self._cardinalities.size(self._connection)
        return size, max(FILTERED_FIRST, size // FILTERED_SHARE)

    @cached_property
    def _namespaces(self) -> tuple[int, int]:
        """About how many namespaces are in scope, if they are not a good part of the file's, and from how
        many on they are."""
        row = self._connection.execute(HIGHEST_NAMESPACE).fetchone()
        few = max(int(row[0]) // WIDE_SHARE, FEW_NAMESPACES)
        query, labels = below(self._scope.scope.namespace)
        select = f"SELECT id FROM {query}"
        found = self._cardinalities.items(self._connection, select, labels, few + 1, int(row[0]))
        return found, few

    def start(self, one: Condition) -> tuple[str, tuple[Any, ...]]:
        """Return the items of a condition in the namespaces of the scope, as ``id``; some perhaps twice."""
        selects, bindings = list[str](), list[Any]()
        namespace = self._scope.scope.namespace
        for start in one.starts:
            found, few = self._namespaces
            if found > few:
                within, labels = inside(start.namespace, namespace)
            else:
                namespaces, labels = below(namespace)
                within = f"{start.namespace} IN {namespaces}"
            selects.append(
                f"SELECT {start.item} AS id FROM {start.source} WHERE {start.where} AND {within}"
            )
            bindings += (*start.bindings, *labels)
        return " UNION ALL ".join(selects), tuple(bindings)

    def _read(self) -> Ids | None:
        """Return all items in scope, if few, by looking at every one in its namespaces."""
        namespaces, labels = self._scope.namespaces()
        return self._ids(
            f"item i WHERE i.namespace IN {namespaces} AND {self._scope.where}",
            (*labels, *self._scope.bindings),
        )

    def _ids(self, source: str, bindings: tuple[Any, ...]) -> Ids | None:
        """Return the ids of the items ``i``, ascending; None if they are not few."""
        _, at_most = self._sizes
        query = f"SELECT i.id{self._scope.value_column} FROM {source} LIMIT ?"
        bindings = (*bindings, at_most + 1)
        if self._scope.residual is None:
            ids = self._connection.ids(query, bindings)
            if len(ids) > at_most:
                return None
        else:
            rows = self._connection.execute(query, bindings).fetchall()
            if len(rows) > at_most:
                return None
            ids = np.array([row[0] for row in self._scope.passing(rows)], np.int64)
        ids = np.sort(ids)
        return np.unique(ids) if (ids[1:] == ids[:-1]).any() else ids


FACETS: Final = (
    "i.id, coalesce(i.thread, -1), coalesce(i.position, -1), i.speaker, "
    "coalesce(i.valid_at, i.created_at), i.tokens, i.importance, i.confidence, i.status, "
    "i.invalid_at, i.expired_at, i.kind = 'resource'"
)
"""The columns by which an item ``i`` is ranked, see `Rows`."""
SHOWN: Final = "i.id, n.path, i.key, i.value, i.created_at, i.updated_at, i.expires_at"
"""The columns of an item ``i`` in a namespace ``n`` that LangGraph shows."""
INACTIVE: Final = "SELECT 1 FROM item WHERE status <> 'active' LIMIT 1"


class ScopedSnapshot:
    """Reads of one moment, see `langmemory.ledger.engine.Snapshot`."""

    def __init__(self, connection: Connection, cardinalities: CardinalityCache) -> None:
        self._reader, self._cardinalities = connection, cardinalities
        self._selected: tuple[CompiledScope, ScopePlan] | None = None

    def scoped(self, scope: Scope, *, alive_at_us: int | None = None) -> CompiledScope:
        """See `scopes.compile_scope`; without a condition that every item of the database meets."""
        if (
            scope.statuses == ("active",)
            and scope.known_at is None
            and self._reader.execute(INACTIVE).fetchone() is None
        ):
            scope = replace(scope, statuses=None)
        return compile_scope(scope, alive_at_us=alive_at_us)

    def crowded(self, namespace: Namespace) -> bool:
        """Return whether documents lie beside what was said, and the one leaves the other few places, see
        `layers.crowds`. The counts are those of a time when the database had about this size."""
        documents = self.held(namespace, DOCUMENTS)
        return documents > 0 and crowds(documents, self.held(namespace, SAID))

    def held(self, namespace: Namespace, kinds: Sequence[str]) -> int:
        """Return how many memories of some kinds a namespace holds, `MOST_COUNTED` at most, when the database
        had about this size."""
        query, bindings = of_kinds(namespace, kinds)
        size = self._cardinalities.size(self._reader)
        return self._cardinalities.items(self._reader, query, bindings, MOST_COUNTED, size)

    def plan(self, scope: CompiledScope) -> ScopePlan:
        """One for both arms of a search, or for a listing."""
        if self._selected is None or self._selected[0] is not scope:
            plan = ScopePlan(self._reader, self._cardinalities, scope)
            self._selected = (scope, plan)
        return self._selected[1]

    def facets(self, ids: Ids, shown: Floats | None = None) -> list[Any]:
        """Return the rows of `FACETS`, in the order of the ids, of items that are there."""
        found: list[Any] = self._reader.execute(
            f"SELECT {FACETS} FROM carray(?) c CROSS JOIN item i ON i.id = c.value",
            (self._reader.array(ids),),
        ).fetchall()
        return found

    def shown(self, ids: Ids) -> Mapping[int, Any]:
        """Return the rows of `SHOWN`, by id, of items that are there."""
        rows = self._reader.execute(
            f"SELECT {SHOWN} FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
            "CROSS JOIN namespace n ON n.id = i.namespace",
            (self._reader.array(ids),),
        ).fetchall()
        return {row[0]: row for row in rows}

    def value(self, item: int) -> dict[str, Any]:
        """Return the value of an item that exists."""
        row = self._reader.execute("SELECT value FROM item WHERE id = ?", (item,)).fetchone()
        value: dict[str, Any] = from_json(row[0])
        return value
