"""The port of a SQL engine to the portable modules beside this one: snapshots, transactions and search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar

from langmemory.config import DatabaseConfig
from langmemory.errors import DatabaseError
from langmemory.ledger.connection import Connection, Rescued
from langmemory.ledger.filters import Condition
from langmemory.ledger.scopes import CompiledScope
from langmemory.ledger.settings import ModelSetting, Remaining
from langmemory.ports.candidates import Floats, Ids, KeywordQuery, ScoredIds
from langmemory.ports.sparse import Pairs
from langmemory.types import Namespace, Scope, Stats

T = TypeVar("T")


class ScopePlan(Protocol):
    """The items in one scope, as far as a search knows them."""

    @property
    def items(self) -> Ids | None:
        """All items in scope, ascending, if they are known to be few; else None."""

    def listed(self) -> Ids | None:
        """As `items`, by whatever condition leaves few."""

    def start(self, one: Condition) -> tuple[str, tuple[Any, ...]]:
        """Return a query for the ids that meet a condition with an index, and its bindings."""


class TextRanking(Protocol):
    """Texts that the keyword index does not hold, ranked as if it did."""

    def scores(self, query: KeywordQuery) -> Floats:
        """float32[n]: the BM25 score of each text, 0 where it does not match."""


class Snapshot(Protocol):
    """Reads of one moment. Valid inside ``with engine.read()`` only."""

    @property
    def connection(self) -> Connection: ...

    def model(self) -> ModelSetting:
        """Return the embedding model of the file, as of this snapshot."""

    def newest_change(self) -> int:
        """Return the `HistoryEntry.seq` of the newest change; 0 before the first."""

    def stats(self) -> Stats:
        """Return counts and sizes."""

    def scoped(self, scope: Scope, *, alive_at_us: int | None = None) -> CompiledScope:
        """Return a scope as SQL, without conditions that every item meets."""

    def crowded(self, namespace: Namespace) -> bool:
        """Return whether documents and what was said are to be ranked apart, see
        `ScopedSnapshot.has_crowding_documents`."""

    def held(self, namespace: Namespace, kinds: Sequence[str]) -> int:
        """Return about how many memories of some kinds a namespace holds, up to `MOST_COUNTED`."""

    def plan(self, scope: CompiledScope) -> ScopePlan:
        """Return the plan that all arms of a search in this scope share."""

    def nearest(
        self,
        scope: CompiledScope,
        query: Floats,
        limit: int,
        *,
        overfetch: int,
        exact: bool = False,
        rough: bool = False,
        among: Ids | None = None,
    ) -> tuple[Ids, Floats]:
        """Return the items whose vectors are nearest, best first, with their cosines.

        Args:
            scope: Every predicate that the items must meet.
            query: float32[dims], of unit length.
            overfetch: How many times ``limit`` are compared exactly.
            exact: Compare all.
            rough: Cosines may be off by 0.002 where that is faster.
            among: Only these items, ascending; all in scope are then among them.
        """

    def keyword(
        self, scope: CompiledScope, query: KeywordQuery, limit: int, *, complete: bool = False
    ) -> tuple[Ids, Floats]:
        """Return the items that hold words of a query, best first, with their BM25 scores.
        ``complete``: fewer than ``limit`` only where no more match."""

    def sparse(self, scope: CompiledScope, query: Pairs, limit: int) -> ScoredIds:
        """Return the items whose sparse vectors have the highest sums of products with a query's, above 0,
        best first."""

    def ranking(self, bodies: Sequence[str]) -> TextRanking:
        """Return a ranking of other texts, as rare as their words are in this file."""

    def known_words(
        self, namespace: Namespace, words: Sequence[str], viewer: str | None
    ) -> Mapping[str, str]:
        """Return the words that an item in a namespace or below it holds, with their stems."""

    def stems(self, words: Sequence[str]) -> Sequence[str]:
        """Return the words as the keyword index has them."""

    def cosines(self, query: Floats, ids: Ids) -> Floats:
        """float32[n]: exact cosine of each item's best vector; NaN without a vector."""

    def rough_cosines(self, query: Floats, ids: Ids) -> Floats:
        """As `cosines`, right to about 0.002 where that is faster."""

    def first_vectors(self, ids: Ids) -> tuple[Ids, Floats]:
        """Return the first vector of each item that has one: int64[m] ids, float32[m, dims]."""

    def cached_vectors(self, hashes: Sequence[bytes]) -> dict[bytes, Floats]:
        """Return the vectors that the file has, by cache key."""

    def without_vectors(self, scope: CompiledScope, known: Ids, limit: int) -> Ids:
        """Return items in scope that have no vector and are not known yet, last updated first."""

    def facets(self, ids: Ids, shown: Floats | None = None) -> list[Any]:
        """Return what items are ranked by, see `ScopedSnapshot.facets`. ``shown``: the query, where some of
        them are then asked for by `cosines_to_show` and `display_rows`."""

    def cosines_to_show(self, query: Floats, ids: Ids) -> Floats:
        """As `cosines`, of items that are then asked for by `display_rows`."""

    def shown(self, ids: Ids) -> Mapping[int, Any]:
        """Return what LangGraph shows of items, see `ScopedSnapshot.display_rows`."""

    def value(self, item: int) -> dict[str, Any]:
        """Return the value of an item that exists."""


class Engine(Protocol):
    """A database as the portable modules need it."""

    shares_commits: bool
    """Whether writes of several threads had better share a transaction, as each takes long."""
    remaining: Remaining | None
    """The rest of an earlier forgetting when the database was opened."""

    @property
    def path(self) -> str:
        """Where the database is, as a person names it."""

    @property
    def ahead_us(self) -> int:
        """How many microseconds the clock of the database is ahead of this machine's, negative where it
        is behind."""

    @property
    def model(self) -> ModelSetting:
        """The embedding model of the file, as last seen."""

    @property
    def reads_only(self) -> bool:
        """Whether nothing can be written, by the role with which a server was opened."""

    @property
    def filtered(self) -> bool:
        """Whether the role with which a server was opened may not see everything."""

    def for_viewer(self, viewer: str) -> Engine:
        """Return the same database, where it looks after viewers itself, as it shows itself to this one."""

    def enable_rls(self, role: str | None, viewer: str | None) -> None:
        """Turn row-level security on, and let a role read; see `Admin.enable_rls`."""

    def disable_rls(self, role: str | None) -> None:
        """Take back what a role may read; None: of every role, and turn row-level security off."""

    @property
    def holds_vectors(self) -> bool:
        """Whether the database can hold vectors; without, it is searched by words only."""

    def archive_path(self, settings: DatabaseConfig) -> str | None:
        """Return where archived memories move to; None: nowhere."""

    def read(self) -> AbstractContextManager[Snapshot]:
        """Return a consistent view of the database as of now."""

    def glance(self) -> AbstractContextManager[Snapshot]:
        """As `read` for a single statement, without the cost of a transaction."""

    def first(self, statement: str, bindings: tuple[Any, ...]) -> Any:
        """Return the first row of a single statement that reads, or None."""

    def snapshot(self, connection: Any) -> Snapshot:
        """Return what a connection of this engine sees: within a transaction, or on a copy."""

    def write(
        self, *, busy_timeout_ms: int | None = None, retried: bool = False
    ) -> AbstractContextManager[Connection]:
        """Return one transaction, which excludes every other writer of the same rows. ``retried``: it runs
        within `retried`, so that it may learn late that it could not begin."""

    def retried(self, call: Callable[[], T]) -> T:
        """Return what a call returns that writes in one transaction. It is called again where nothing
        was written, for a reason that is over then."""

    def part(self, connection: Any) -> AbstractContextManager[None]:
        """Return a part of a transaction that fails alone: undone on an exception, which goes on."""

    def copy(self) -> AbstractContextManager[Connection]:
        """Return a private copy of the database as of now, to see what a write would do."""

    def listen(self, wake: Callable[[], object]) -> Callable[[], None]:
        """Call ``wake``, in some thread, when anybody wrote, if the database tells so: whoever waits has to
        look at intervals all the same. Return what ends that."""
        ...

    def check_usable(self) -> None:
        """Raise an error where the database was closed, or opened by a parent process."""

    def mend(self, indexing: Any) -> None:
        """Derive anew what was found lost when the database was opened. ``indexing`` is an
        `Indexing`."""

    def check(self) -> list[str]:
        """Return what is inconsistent in the database, one line for each."""

    def optimise(self) -> dict[str, float]:
        """Do what keeps the database fast and small; return what was found and done, by name."""
        ...

    def rescued(self, error: DatabaseError) -> AbstractContextManager[Rescued] | None:
        """Return a copy of all that can be read, where an error says that the database is damaged."""

    def lacks_keywords(self, error: DatabaseError) -> bool:
        """Return whether an error may come from a damaged keyword index, where vectors still answer."""
        ...

    def erasing(self, connection: Any) -> AbstractContextManager[None]:
        """Within a transaction: overwrite what is deleted."""

    def erase_keywords(self) -> None:
        """Take the words of deleted rows out of the keyword index."""

    def empty_wal(self) -> bool:
        """Leave nothing in the log of recent writes; return whether that succeeded."""

    def purge(self) -> bool:
        """Write the database anew, without what was deleted; return whether its log is empty."""

    def purge_if_sound(self) -> tuple[bool, bool]:
        """As `purge`; return whether the database was written anew, and whether its log is empty."""

    def kept(self, *, purged: bool) -> tuple[str, ...]:
        """Return where bytes of deleted rows may be left that the engine cannot reach; ``purged``: after
        `purge`."""

    def leftovers(self, words: list[str]) -> tuple[int, list[str]]:
        """Return how many of the words were looked for in the stored bytes, and where one stands."""

    def public_connection(self) -> Any:
        """Return a connection for statements by hand; the same at each call."""

    def close(self) -> None:
        """Close the database."""


def run_in_write(engine: Engine, write: Callable[[Connection], T]) -> T:
    """Return what a function returns that writes in one transaction, which is begun anew where nothing of it
    was written, see `Engine.retry_write`. The function notes nothing in memory."""

    def once() -> T:
        with engine.write(retried=True) as connection:
            return write(connection)

    return engine.retried(once)


Contents = Literal["memory", "items", "nothing"]
"""What is in a place: a memory of ours, the items of a store of LangGraph's, or neither."""

TABLES: Final = ("store", "store_migrations")


class ForeignItem(NamedTuple):
    """A row of the table ``store``."""

    path: str
    """The labels of the namespace, joined by a period as ours are."""
    key: str
    value: str
    """JSON."""
    created_at: str
    """ISO 8601, as the other times; without an offset in UTC."""
    updated_at: str
    expires_at: str | None
    ttl_minutes: float | None
