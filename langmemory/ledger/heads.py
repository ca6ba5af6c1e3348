"""Heads: what a memory and its record of changes were at some moment, as keyed digests.

A head is kept away from the memory. Compared with it, the memory shows what was changed past its record, and
whether it was put back to an earlier state (decision 083).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from langmemory.errors import ConfigError
from langmemory.ledger.connection import Connection
from langmemory.ledger.consistency import problem
from langmemory.ledger.settings import newest_forgetting
from langmemory.ledger.tables import schema

SHORTEST_KEY: Final = 32
"""Characters of a key: nobody guesses it, as they might guess what a short memory says."""
_DIGITS: Final = 32
_PARTS: Final = ("name", "content", "facet", "standing")
"""What an item means. Its use is counted without a record, and its place follows other turns."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """What is kept of a memory elsewhere. Without the key nothing in it says what a memory says."""

    seq: int
    """The newest change in the record."""
    chain: str
    """Over every change up to it, each sealed with those before."""
    forgetting: str | None
    """The run that was the last to forget: it may change what others' rows say of what is gone."""
    columns: list[str]
    """Those of an item that are covered; a later version may declare more."""
    items: dict[str, str]
    """The digest of each item, by its id."""
    previous: str = ""
    """The seal of the head before."""
    seal: str = ""
    """Over all of the above."""


def columns() -> list[str]:
    """Return the columns of an item that a head covers, as the list of tables declares them."""
    return [one.name for one in schema.ITEM.parts(*_PARTS) if one.type != "blob"]


def take(connection: Connection, key: bytes, previous: str = "") -> Head:
    """Return the head of a memory, within a snapshot."""
    seq, chain = _chain(connection, key)
    covered = columns()
    head = Head(
        seq=seq, chain=chain, forgetting=newest_forgetting(connection), columns=covered,
        items=_items(connection, key, covered), previous=previous,
    )  # fmt: skip
    return replace(head, seal=_seal(head, key))


def dump(head: Head) -> str:
    """Return a head as the text of a file."""
    return json.dumps(asdict(head), sort_keys=True) + "\n"


def load(text: str, key: bytes) -> Head:
    """Return a head from the text of a file.

    Raises:
        ConfigError: It is no head, was changed, or was sealed with another key.
    """
    try:
        head = Head(**json.loads(text))
        sound = hmac.compare_digest(head.seal, _seal(head, key))
    except (TypeError, ValueError, AttributeError):
        raise ConfigError(
            "it is no head, or was cut off. Take one from a copy, or name a new file."
        ) from None
    if not sound:
        raise ConfigError(
            "it was changed, or sealed with another key. Give the key it was sealed with, or take the head "
            "from a copy."
        )
    return head


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs from a head."""

    text: str
    sure: bool = True
    """False where a forgetting since may have done it."""


def differences(connection: Connection, key: bytes, head: Head) -> Iterator[Difference]:
    """Yield what differs from a head and stands in no record, within a snapshot."""
    seq, chain = _chain(connection, key, head.seq)
    if seq < head.seq:
        yield Difference(
            f"the record of changes ends at {seq:,}, and the head knows it up to {head.seq:,}: the whole "
            "memory was put back to an earlier state, or the end of its record is gone"
        )
    elif not hmac.compare_digest(chain, head.chain):
        yield Difference(
            f"the record of changes up to {head.seq:,} is not the one that the head knows"
        )
    now = _items(connection, key, head.columns)
    recorded = connection.execute(
        "SELECT item FROM history WHERE seq > ? UNION SELECT item FROM archived_item", (head.seq,)
    )
    unrecorded = {one for one, _ in head.items.items() ^ now.items()}
    unrecorded -= {str(item) for (item,) in recorded}
    came, went = unrecorded - head.items.keys(), unrecorded - now.keys()
    by_hand = newest_forgetting(connection) == head.forgetting
    for what, items, sure in (
        ("items came without a record since the head", came, True),
        ("items went without a record since the head", went, True),
        (
            "items were changed without a record since the head"
            + ("" if by_hand else ", by a forgetting or by hand"),
            unrecorded - came - went,
            by_hand,
        ),
    ):
        for text in problem(what, sorted(map(int, items))):
            yield Difference(text, sure)


def _items(connection: Connection, key: bytes, covered: list[str]) -> dict[str, str]:
    rows = connection.execute(f"SELECT id, {', '.join(covered)} FROM item ORDER BY id")
    return {str(row[0]): _digest(key, "item", *row)[:_DIGITS] for row in rows}


def _chain(connection: Connection, key: bytes, last: int | None = None) -> tuple[int, str]:
    """Return the newest change up to one, and the chain to it. The chain is over what no forgetting takes
    from a change: its number, its time and its item."""
    seq, link = 0, ""
    upto, bindings = ("", ()) if last is None else ("WHERE seq <= ?", (last,))
    for row in connection.execute(
        f"SELECT seq, at, item FROM history {upto} ORDER BY seq", bindings
    ):
        seq, link = row[0], _digest(key, "change", link, *row)
    return seq, link


def _seal(head: Head, key: bytes) -> str:
    return _digest(key, "head", asdict(replace(head, seal="")))


def _digest(key: bytes, *what: Any) -> str:
    text = json.dumps(what, sort_keys=True, default=str)
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
