"""Malformed database files, made from a sound one: each is healed, or refused with the next step, and what is
answered is right or the doctor names the damage."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from langmemory import MemoryStore
from langmemory.engines.sqlite.engine import check
from langmemory.errors import LangMemoryError
from tests.seeds import seeds

pytestmark = pytest.mark.sqlite("damages files")

NS = ("a",)
ITEMS = 40
PAGE: Final = 4096
NEXT_STEP: Final = re.compile(
    r"Name another file|langmemory doctor|Upgrade langmemory|Open it with the langmemory that wrote it"
)


def page(data: bytes, number: int) -> slice:
    """The bytes of a page, counted from 1; below 0 from the end."""
    first = (number - 1 if number > 0 else len(data) // PAGE + number) * PAGE
    return slice(first, first + PAGE)


def replaced(data: bytes, place: slice, by: bytes) -> bytes:
    return data[: place.start] + by + data[place.stop :]


def zeroed(number: int) -> Callable[[bytes], bytes]:
    return lambda data: replaced(data, page(data, number), bytes(PAGE))


def swapped(one: int, other: int) -> Callable[[bytes], bytes]:
    def swap(data: bytes) -> bytes:
        first, second = data[page(data, one)], data[page(data, other)]
        return replaced(replaced(data, page(data, one), second), page(data, other), first)

    return swap


def header(at: int, by: bytes) -> Callable[[bytes], bytes]:
    return lambda data: replaced(data, slice(at, at + len(by)), by)


HEADERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "empty": lambda data: b"",
    "text": lambda data: b"Dear diary,\n" * 1000,
    "one byte": lambda data: data[:1],
    "half a header": lambda data: data[:50],
    "header alone": lambda data: data[:100],
    "first page alone": lambda data: data[:PAGE],
    "half": lambda data: data[: len(data) // 2],
    "half a page less": lambda data: data[: -PAGE // 2],
    "a page less": lambda data: data[:-PAGE],
    "zeros": lambda data: bytes(len(data)),
    "other magic": header(0, b"SQLite format 4\0"),
    "no page size": header(16, b"\0\0"),
    "other page size": header(16, (8192).to_bytes(2, "big")),
    "format of the future": header(18, b"\x09\x09"),
    "other encoding": header(56, (2).to_bytes(4, "big")),
    "schema format of the future": header(44, (99).to_bytes(4, "big")),
    "newer langmemory": header(60, (99).to_bytes(4, "big")),
    "older than any": header(60, (1).to_bytes(4, "big")),
    "negative version": header(60, b"\xff\xff\xff\xff"),
    "another application": header(68, b"ABCD"),
    "freelist to nowhere": header(32, b"\x7f\xff\xff\xff\0\0\0\x09"),
    "reserved bytes": header(20, b"\xff"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a file with forty memories, written back and closed."""
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    with MemoryStore(path) as store:
        for n in range(ITEMS):
            store.put(NS, f"k{n}", value(n))
    return path.read_bytes()


def value(n: int) -> dict[str, Any]:
    return {"text": f"Mia keeps box number qz{n} in the cellar " + "and so on " * 20}


@pytest.mark.parametrize("name", HEADERS)
def test_a_malformed_file(name: str, sound: bytes, tmp_path: Path) -> None:
    """Files that begin or end wrongly. To SQLite one of a single byte is empty: it once made such files."""
    empty = name in ("empty", "one byte")
    open_and_ask(tmp_path / "memory.db", HEADERS[name](sound), empty_is_right=empty)


@pytest.mark.parametrize("share", seeds([0.1, 0.5, 0.56, *(n / 32 for n in range(32))], first=3))
def test_a_lost_page(share: float, sound: bytes, tmp_path: Path) -> None:
    """A page that holds zeros, or stands in the place of its neighbour."""
    number = 2 + int(share * (len(sound) // PAGE - 2))
    open_and_ask(tmp_path / "zeroed.db", zeroed(number)(sound))
    open_and_ask(tmp_path / "swapped.db", swapped(number, number - 1)(sound))


def open_and_ask(path: Path, data: bytes, *, empty_is_right: bool = False) -> None:
    """Open a file and ask for all that was in it. A wrong answer fails unless the doctor names the damage."""
    path.write_bytes(data)
    wrong = []
    try:
        with MemoryStore(path) as store:
            for n in range(ITEMS):
                item = store.get(NS, f"k{n}")
                if (None if item is None else item.value) != value(n):
                    wrong.append(f"k{n}")
            if len(store.search(NS, limit=100)) != ITEMS:
                wrong.append("list")
            if [item.key for item in store.search(NS, query="qz7", limit=1)] != ["k7"]:
                wrong.append("search")
            with store._core.engine.read() as snapshot:
                problems = check(snapshot.connection)
    except LangMemoryError as error:
        wrong, problems = [], []
        if not NEXT_STEP.search(str(error)):
            wrong = [str(error)]
    assert problems or not wrong or empty_is_right, wrong
