"""Remains of a forgotten text: in what tables say freely, and in the bytes of the file.

A forgotten text is known by its distinctive words: those that no remaining memory has. Whatever
else has one of them speaks of it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Final, NamedTuple

from langmemory.languages import SIGNS
from langmemory.ledger.connection import Connection
from langmemory.ledger.namespaces import Bindings
from langmemory.ledger.tables import schema
from langmemory.values import from_json, readable_text, to_json

_WORD: Final = re.compile(rf"[\w{SIGNS}]+")
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
_PHRASE: Final = re.compile(r'[^"\\\x00-\x1f]+')

FEWEST_BYTES: Final = 6
"""A shorter word stands in vectors by chance; of texts without a longer one, whole passages count."""
MOST_WORDS: Final = 1_000
"""Words looked for in the file, at most."""
MANY_WORDS: Final = 3_000
"""So many are not looked for one by one among the words of the file, but these among them."""
MOST_PASSAGES: Final = 50
FEW_WORDS: Final = 3
"""A text that has so many distinctive words of one forgotten text, or all it has, tells of it."""

OF_MEMORIES: Final = (
    "SELECT value FROM item WHERE id NOT IN going", "SELECT DISTINCT key FROM item WHERE id NOT IN going",
    "SELECT DISTINCT speaker FROM item WHERE id NOT IN going",
    "SELECT DISTINCT owner FROM item WHERE id NOT IN going",
    "SELECT before FROM history WHERE before IS NOT NULL AND item NOT IN going AND seq NOT IN past",
    # What gave way to one of them will not name it any more.
    "SELECT CASE WHEN facets ->> '$.superseded_by' IN names THEN json_remove(facets, "
    "'$.superseded_by') ELSE facets END FROM history "
    "WHERE facets IS NOT NULL AND item NOT IN going AND seq NOT IN past",
    "SELECT key FROM history WHERE key IS NOT NULL AND item NOT IN going",
    "SELECT DISTINCT action FROM history", "SELECT DISTINCT run FROM history",
)  # fmt: skip
"""The texts of memories that stay, now or before, and what they are called."""
_GOING: Final = (
    "WITH going (id) AS MATERIALIZED (SELECT value FROM carray(?1)), "
    "past (seq) AS MATERIALIZED (SELECT value FROM carray(?2)), "
    "names (key) AS MATERIALIZED (SELECT key FROM item WHERE id IN (SELECT value FROM carray(?1)) "
    "UNION SELECT key FROM history WHERE key IS NOT NULL "
    "AND item IN (SELECT value FROM carray(?1))) "
)


@schema.cached_derivation
def _names() -> list[str]:
    """Return the queries for the names things have: a word of them tells nothing. Indexes of what is not NULL
    spare a look at items."""
    return [
        f"SELECT DISTINCT {column} FROM {table.name} WHERE {column} IS NOT NULL"
        for table in schema.tables()
        for column in table.saying("name")
    ]


SINCE: Final = tuple(
    f"SELECT {column} FROM {table.name} WHERE {one}"
    for table, one in (
        (schema.ITEM, "id IN (SELECT item FROM history WHERE seq > ?)"),
        (schema.HISTORY, "seq > ?"),
    )
    for column in table.saying("memory")
)
"""Queries for texts of memories that were written, or changed, after a place in the history."""


@schema.cached_derivation
def asides() -> dict[str, tuple[str, ...]]:
    """Return the tables that speak of memories in passing, each with the columns that may tell."""
    found = {table.name: table.saying("aside") for table in schema.tables()}
    return {table: columns for table, columns in found.items() if columns}


@schema.cached_derivation
def _passing() -> list[str]:
    return [
        f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"
        for table, columns in asides().items()
        for column in columns
    ]


class Archived(NamedTuple):
    """The archive file, all memories of which stay."""

    connection: Connection
    copies: frozenset[int]
    """Items in it that are in the memory file as well: nobody reads them, and they are swept."""

    def texts(self) -> Iterator[str]:
        """Yield what its memories say, now or before."""
        return _of_memories(self.connection, self.copies)


class Vocabulary:
    """The words of some texts, case folded."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: set[str] = set()
        for text in texts:
            self._words.update(_WORD.findall(remove_escapes(text).casefold()))
        self._together = ["\n".join(self._words)]
        self._further: list[str] = []

    def add(self, texts: Iterable[str]) -> None:
        """Further texts, at once: a look at each of their words is left until it is needed."""
        together = remove_escapes("\n".join(texts)).casefold()
        self._together.append(together)
        self._further.append(together)

    def __contains__(self, word: str) -> bool:
        """Return whether one of the texts has the word, also within a longer one."""
        folded = word.casefold()
        return folded in self._words or any(folded in some for some in self._together)

    @property
    def words(self) -> set[str]:
        """All of them."""
        while self._further:
            self._words.update(_WORD.findall(self._further.pop()))
        return self._words

    def those_in(self, words: set[str]) -> set[str]:
        """Return those of the words, case folded, that one of the texts has, also within a longer one."""
        if len(words) < MANY_WORDS:
            return {word for word in words if word in self}
        found = words & self.words
        beginning: dict[str, list[str]] = defaultdict(list)
        for word in words - found:
            beginning[word[:FEWEST_BYTES]].append(word)
        lengths = sorted({len(begun) for begun in beginning})
        for known in self.words:
            for n in range(len(known)):
                for length in lengths:
                    for word in beginning.get(known[n : n + length], ()):
                        if known.startswith(word, n):
                            found.add(word)
        return found

    def may_look_like(self, word: str) -> bool:
        """Return whether one of the words, and a byte or two of a number beside it, may pass for this
        one."""
        folded = word.casefold()
        return any(part in self.words for n in (1, 2, 3) for part in (folded[:-n], folded[n:]))


class Residue:
    """By which words forgotten texts would be known again. Made after they are erased."""

    def __init__(
        self,
        connection: Connection,
        texts: Iterable[str],
        known: Vocabulary,
        archive: Archived | None = None,
    ) -> None:
        """Reads every remaining text where something said in passing repeats one of the forgotten.

        Args:
            connection: Of the memory file.
            texts: The forgotten texts, as the tables had them.
            known: What the memories say that remain (`said_by_others`).
            archive: None where there is none.
        """
        self._texts = list(dict.fromkeys(texts))
        self._known = known
        known.add(_named(connection))
        spoken = [set(filter(_long, _WORD.findall(remove_escapes(text)))) for text in self._texts]
        elsewhere = known.those_in({word.casefold() for words in spoken for word in words})
        self.words = [
            sorted(
                (word for word in words if word.casefold() not in elsewhere),
                key=lambda word: (-len(word), word),
            )
            for words in spoken
        ]
        """The distinctive words of each text, the longest first."""
        self._texts_with: dict[str, list[int]] = {}
        for place, found in enumerate(self.words):
            for word in {word.casefold() for word in found}:
                self._texts_with.setdefault(word, []).append(place)
        self._repeated = _repeated_texts(
            connection,
            {text for text, words in zip(self._texts, self.words, strict=True) if not words},
            archive,
        )

    def is_known(self, word: str) -> bool:
        """Return whether something remaining has the word."""
        return word in self._known

    def tells(self, *texts: str | None) -> bool:
        """Return whether a text that speaks of memories in passing speaks of a forgotten one."""
        together = " ".join(_scalars(text) for text in texts if text).casefold()
        hits: Counter[int] = Counter()
        for word in set(_WORD.findall(together)):
            hits.update(self._texts_with.get(word, ()))
        return any(count >= min(FEW_WORDS, len(self.words[n])) for n, count in hits.items()) or any(
            text in together for text in self._repeated
        )

    def needles(self, connection: Connection) -> list[str]:
        """Return the words to look for in the bytes, after `scrub`: words that stand nowhere any more, one
        of each text, then a second of each, and so on; of texts without such a word, passages."""
        aside = Vocabulary(_texts(connection, _passing()))

        def usable(word: str) -> bool:
            return word not in aside and not (
                self._known.may_look_like(word) or aside.may_look_like(word)
            )

        turns = (word for turn in zip_longest(*self.words) for word in dict.fromkeys(turn) if word)
        found = dict.fromkeys(islice(filter(usable, turns), MOST_WORDS))
        silent = [
            text
            for text, words in zip(self._texts, self.words, strict=True)
            if not found.keys() & set(words)
        ]
        phrases = {one for text in silent for one in _PHRASE.findall(text) if _long(one)}
        texts = chain(_remaining(connection), _texts(connection, _passing()))
        return [*found, *filter(usable, _unknown(texts, phrases))]


def said_by_others(
    connection: Connection,
    going: Iterable[int] = (),
    past: Iterable[int] = (),
    archive: Archived | None = None,
) -> Vocabulary:
    """Return the words of what memories say that are not going, or gone.

    Args:
        connection: Of the memory file.
        going: Items that are to be forgotten.
        past: Rows of the history, by seq, that are.
        archive: None where there is none.
    """
    moved = () if archive is None else archive.texts()
    return Vocabulary(chain(_of_memories(connection, going, past), moved))


def _of_memories(
    connection: Connection, going: Iterable[int] = (), past: Iterable[int] = ()
) -> Iterator[str]:
    queries = (_GOING + query for query in OF_MEMORIES)
    return _texts(connection, queries, (connection.array(going), connection.array(past)))


def said_since(connection: Connection, seq: int) -> Iterator[str]:
    """Yield the texts of memories that were written, or changed, after a place in the history."""
    return _texts(connection, SINCE, (seq,))


def unsaid(connection: Connection, needles: Sequence[str]) -> list[str]:
    """Return those of the `Residue.needles` that still stand in no text: others may have been said anew."""
    known = Vocabulary(chain(_remaining(connection), _texts(connection, _passing())))
    words = [one for one in needles if _WORD.fullmatch(one)]
    passages = set(needles) - set(words)
    texts = chain(_remaining(connection), _texts(connection, _passing()))
    return [*(one for one in words if one not in known), *_unknown(texts, passages)]


def _repeated_texts(
    connection: Connection, values: Collection[str], archive: Archived | None
) -> list[str]:
    """Return the texts of these values, case folded, where something said in passing repeats it and nothing
    that remains does: of a text without a distinctive word the whole tells."""
    left = {said for value in values if _long(said := _sentence(value))}
    if not left:
        return []
    aside = "\n".join(map(_scalars, _texts(connection, _passing()))).casefold()
    left = {said for said in left if said in aside}
    moved = () if archive is None else archive.texts()
    for text in chain(_remaining(connection), moved) if left else ():
        folded = _scalars(text).casefold()
        left = {said for said in left if said not in folded}
    return sorted(left)


def _sentence(value: str) -> str:
    """Return the texts of the value of a memory, case folded; nothing for other text."""
    try:
        found = from_json(value)
    except ValueError:
        return ""
    return readable_text(found).strip().casefold() if isinstance(found, dict) else ""


def _unknown(texts: Iterable[str], phrases: set[str]) -> list[str]:
    """Return the passages, of at most `MOST_PASSAGES`, that stand in none of the texts."""
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))[:MOST_PASSAGES]
    left = {phrase: phrase.casefold() for phrase in longest}
    for text in texts if left else ():
        folded = text.casefold()
        for phrase in [phrase for phrase, one in left.items() if one in folded]:
            del left[phrase]
    return list(left)


def remove_escapes(text: str) -> str:
    """Return JSON as it is stored, so that no escape ("\\n") runs into the word after it."""
    return _ESCAPE.sub(" ", text)


def _long(text: str) -> bool:
    return len(text.encode()) >= FEWEST_BYTES


def _texts(
    connection: Connection, queries: Iterable[str], bindings: Bindings = ()
) -> Iterator[str]:
    def strings(source: Connection, query: str) -> Iterator[str]:
        return (text for (text,) in source.execute(query, bindings) if isinstance(text, str))

    for query in queries:
        try:
            yield from strings(connection, query)
        except connection.damage_errors:
            # A damaged row keeps nobody from forgetting another. What was read is read twice.
            with connection.rescued() as copy:
                yield from strings(copy.connection, query)


def _remaining(connection: Connection) -> Iterator[str]:
    """Yield every text of which a word tells nothing."""
    return chain(_of_memories(connection), _named(connection))


def _named(connection: Connection) -> Iterator[str]:
    """Yield the names things have, what a column that holds one of a few values may hold, and what the engine
    writes by itself: who finds these words learns nothing."""
    values = (
        str(one) for table in schema.tables() for each in table.columns for one in each.one_of
    )
    return chain(_texts(connection, (*_names(), *connection.own_words)), values)


def _scalars(text: str) -> str:
    """Return the values of JSON, without the names it gives them; other text as it is."""
    try:
        value = from_json(text)
    except ValueError:
        return text
    found: list[str] = []
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            rest.extend(one.values())
        elif isinstance(one, list):
            rest.extend(one)
        else:
            found.append(str(one))
    return " ".join(found)


def drop(connection: Connection, named: Collection[tuple[str, str | int]]) -> int:
    """Delete rows that speak of what goes in passing, ``named`` by table and key, whether or not they keep
    any text; how many. Of runs and the history `scrub` leaves the numbers."""
    going: dict[str, list[tuple[str | int]]] = defaultdict(list)
    for table, one in named:
        going[table].append((one,))
    going.pop("run", None)
    going.pop("history", None)
    for table, keys in going.items():
        (key,) = schema.table(table).id
        connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", keys)
    return sum(map(len, going.values()))


def scrub(
    connection: Connection,
    residue: Residue,
    runs: Iterable[str],
    named: Collection[tuple[str, str | int]] = (),
) -> int:
    """Blank what tells of forgotten texts in passing, and the rows ``named`` by table and key; how
    many rows.

    Of the runs named, and of every run that tells, numbers stay and text goes: what it is about,
    why it changed what it changed, and names that no other run gave. Questions that tell are
    dropped, and so are jobs, which could not be done without, and messages of the bus.
    """
    touched = set(runs)
    connection.executemany(
        "UPDATE history SET reason = NULL WHERE run = ?", [(run,) for run in touched]
    )
    count = 0
    for table, columns in asides().items():
        if table == "alias":
            continue
        (key,) = schema.table(table).id
        any_said = " OR ".join(f"{column} IS NOT NULL" for column in columns)
        for one, *texts in connection.execute(
            f"SELECT {key}, {', '.join(columns)} FROM {table} WHERE {any_said}"
        ).fetchall():
            goes = (table, one) in named or (table == "run" and one in touched)
            if not goes and not residue.tells(*texts):
                continue
            if table == "run":
                note = from_json(texts[1]).items()
                numbers = {name: told for name, told in note if isinstance(told, int | float)}
                touched.add(one)
                if texts == ["", to_json(numbers)]:  # blanked before
                    continue
                connection.execute(
                    "UPDATE run SET reason = '', note = ? WHERE id = ?", (to_json(numbers), one)
                )
            elif table == "history":
                connection.execute("UPDATE history SET reason = NULL WHERE seq = ?", (one,))
            else:
                connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (one,))
            count += 1
    return count + _forget_names(connection, residue, touched)


def _forget_names(connection: Connection, residue: Residue, runs: set[str]) -> int:
    rows = connection.execute(
        "SELECT a.norm, a.namespace, a.entity, a.name, a.run FROM alias a "
        "JOIN entity e ON e.id = a.entity WHERE a.name <> e.name"
    ).fetchall()
    gone = [
        row[:3] for row in rows
        if row[4] in runs and not all(map(residue.is_known, _WORD.findall(row[3])))
    ]  # fmt: skip
    connection.executemany(
        "DELETE FROM alias WHERE norm = ? AND namespace = ? AND entity = ?", gone
    )
    return len(gone)
