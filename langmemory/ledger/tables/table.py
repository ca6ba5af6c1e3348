"""The words in which a table is declared once: columns, keys, indexes, triggers, and who reads its rows.

`schema` is the list of tables. Each engine makes its DDL from it (`ddl`); export, forgetting, row-level
security, consistency and rescue read from it which tables and columns concern them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

Type = Literal[
    "counter", "serial", "integer", "time", "flag", "real", "text", "json", "blob", "anything", "scalar"
]  # fmt: skip
"""counter: an id never used twice. serial: an id. time: microseconds since 1970-01-01 UTC. flag: 0 or 1.
json: UTF-8 text. anything: a number, text or bytes. scalar: likewise, sorted across its types."""
NUMBERS: Final[tuple[Type, ...]] = ("counter", "serial", "integer", "time", "flag")
"""Types whose values are whole numbers."""

Says = Literal["memory", "name", "aside"]
"""memory: what a memory says or said. name: a name that something has. aside: words that speak of memories in
passing."""

Part = Literal["name", "content", "upkeep", "facet", "standing", "place"]
"""Parts of an item. name: what it is known by. content: what it says. upkeep: when it came and was used.
facet: its value may say it, too. standing: since when and until when it counts. place: in a thread."""

PERSON: Final = "person"
"""What a column is `Column.of` that says whose a row is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    type: Type
    doc: str = ""
    null: bool = False
    """Whether it may be NULL."""
    default: Any = None
    one_of: tuple[Any, ...] = ()
    """All values it may have; () is no limit."""
    between: tuple[float, float] | None = None
    unique: bool = False
    of: str | None = None
    """The table whose id it holds, or `PERSON`."""
    loose: bool = False
    """Of an id: whether what it names may go while the row stays, or goes as well."""
    says: Says | None = None
    """Set on a text that may come from people: forgetting looks there for what is forgotten."""
    part: Part | None = None
    """Of a column of an item: see `Part`."""


def _column(type: Type, name: str, doc: str = "", **traits: Any) -> Column:
    return Column(name=name, type=type, doc=doc, **traits)


counter = partial(_column, "counter")
serial = partial(_column, "serial")
integer = partial(_column, "integer")
time = partial(_column, "time")
flag = partial(_column, "flag")
real = partial(_column, "real")
text = partial(_column, "text")
json = partial(_column, "json")
blob = partial(_column, "blob")
anything = partial(_column, "anything")
scalar = partial(_column, "scalar")


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a table; words in braces are those of `ddl.Dialect.words`."""

    name: str
    columns: str
    """Columns or expressions, as SQL."""
    where: str = ""
    """The rows it holds, as SQL; "" is all."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """Statements that follow a change of a row; words in braces are those of `ddl.Dialect.words`."""

    name: str
    event: str
    """``INSERT``, ``DELETE`` or ``UPDATE OF column``."""
    do: str
    """Statements, each ended by a semicolon."""
    when: str = ""
    """The rows that it concerns, as SQL; "" is all."""
    on: str = ""
    """The table whose rows change; "" is the one that declares it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Readers:
    """Who reads rows of a table where row-level security is on, as `engines.postgres.row_security` has it."""

    through: tuple[str, ...] = ()
    """Whoever reads the rows whose ids these columns hold."""
    where: str = ""
    """Whoever this SQL condition holds for; words in braces are `row_security.CONDITIONS`."""
    nobody: str = ""
    """Nobody, for this reason."""


def through(*columns: str) -> Readers:
    """Return the readers of all rows whose ids these columns hold."""
    return Readers(through=columns)


def nobody(why: str) -> Readers:
    """Return no readers but the application, for a reason."""
    return Readers(nobody=why)


def where(condition: str) -> Readers:
    """Return the readers for whom a condition holds."""
    return Readers(where=condition)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table, with all that the rest of the engine needs to know of it."""

    name: str
    doc: str
    """What a row stands for."""
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    """The primary key, unless a column is a counter or a serial."""
    unique: tuple[str, ...] = ()
    check: str = ""
    indexes: tuple[Index, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    readers: Readers
    beside: Literal["item", "turn"] | None = None
    """Whether each row belongs to a memory, or to a turn of a conversation, and goes when that goes."""
    outlives: bool = False
    """Whether rows stay when the item goes beside which they stand."""
    undone: str | None = None
    """What a person calls a row, where rows go when the run is undone that added them."""
    record: bool = False
    """Whether it tells what happened, not what is known: an export without history leaves it out."""
    derived: bool = False
    """Whether it is made anew from other tables."""
    exported: bool = True
    """Whether an export tells of its rows; of what is derived none does."""
    copied: bool = False
    """Whether a copy of the memory takes its rows as they are, as no export tells of all they say."""
    index: Literal["words", "vectors"] | None = None
    """Which index in memory it feeds; an engine creates and fills these tables by itself."""
    options: str = ""
    """What an engine's own table has behind its columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def id(self) -> tuple[str, ...]:
        """Columns of the primary key."""
        return self.key or self.of_type("counter", "serial")

    @property
    def item(self) -> str:
        """The column that holds the id of the item beside which a row stands."""
        return self.ids_of("item")[0]

    def column(self, name: str) -> Column:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    def parts(self, *parts: Part) -> tuple[Column, ...]:
        """Return the columns that are these parts of an item, in order."""
        return tuple(column for column in self.columns if column.part in parts)

    def of_type(self, *types: Type) -> tuple[str, ...]:
        """Return the names of the columns of some types, in order."""
        return tuple(column.name for column in self.columns if column.type in types)

    def ids_of(self, of: str) -> tuple[str, ...]:
        """Return the names of the columns that hold ids of a table, or `PERSON`."""
        return tuple(column.name for column in self.columns if column.of == of)

    def saying(self, says: Says) -> tuple[str, ...]:
        """Return the names of the columns that say names, or speak of memories in passing."""
        return tuple(column.name for column in self.columns if column.says == says)
