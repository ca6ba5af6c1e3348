"""Slack: the bytes of the file that belong to nothing any more, overwritten where they stand.

SQLite leaves what was deleted where it was: in the free space of its pages, in pages that wait to be
used again, behind the end of a long value. None of these bytes means anything to who reads the file, so
that they can be zeroed in it, page by page, while others read and write: what they write goes into the
WAL, and `Database.purge` sees to it that nobody writes the WAL back meanwhile.

Only SQLite knows where a page is in use, and says so twice: by its cells, and by its lists of free bytes
(https://sqlite.org/fileformat2.html, 1.6). Where the two do not agree nothing of the page is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]

PAGES_AT_ONCE: Final = 512
LOCK_BYTE: Final = 0x40000000
"""In the page of this byte SQLite has its locks, and nothing else."""
MOST_PAGES: Final = 1 << 25
"""In a file of fewer the first byte tells a page of a table or index from one of a long value, which
begins with the number of the next."""
_TABLE_INNER: Final = 5
_TABLE_LEAF: Final = 13
_TREE: Final = (2, _TABLE_INNER, 10, _TABLE_LEAF)
_LONGEST_VARINT: Final = 9
_UNKNOWN: Final = -1


class UnreadableError(Exception):
    """The file is not laid out as is known here; nothing of the page was touched."""


class _Chains(NamedTuple):
    """What of long values stands in pages of their own."""

    first: Numbers
    """Page of each."""
    left: Numbers
    """Bytes of each."""


class Slack:
    """The slack of one file. The pages must not change while it looks at them."""

    def __init__(self, file: apsw.VFSFile) -> None:
        """
        Args:
            file: Open for reading and writing.

        Raises:
            UnreadableError: The file is of a kind that is not known here.
        """
        self._file = file
        header = file.xRead(100, 0)
        size = int.from_bytes(header[16:18], "big")
        self.page_bytes = 65_536 if size == 1 else size
        reserved, vacuums = header[20], int.from_bytes(header[52:56], "big")
        if header[:15] != b"SQLite format 3" or reserved or vacuums:
            raise UnreadableError("no file of ours")
        self._used = np.zeros(0, np.int32)
        """int32[pages]: bytes in use of each page of a long value, as last found."""

    def wipe(self, pages: Iterable[int] | None = None) -> int:
        """Zero the slack of some pages, or of all; how many had any.

        Args:
            pages: Numbers, from 1; those that changed since all were wiped.

        Raises:
            UnreadableError: A page is not as expected.
        """
        count = self._file.xFileSize() // self.page_bytes
        if count >= MOST_PAGES:
            raise UnreadableError("too many pages")
        before, self._used = self._used, np.full(count + 1, _UNKNOWN, np.int32)
        known = min(len(before), count + 1)
        self._used[:known] = before[:known]
        chosen = (
            np.arange(1, count + 1)
            if pages is None
            else np.array(sorted(page for page in pages if page <= count), np.int64)
        )
        free, wiped = self._wipe_free(count, chosen)
        if pages is None:
            self._used[:] = _UNKNOWN
        chosen = chosen[~np.isin(chosen, free) & (chosen != LOCK_BYTE // self.page_bytes + 1)]
        values: list[Numbers] = []
        for some in _parts(chosen):
            images = self._read(some)
            kinds = images[np.arange(len(some)), np.where(some == 1, 100, 0)]
            in_trees = np.isin(kinds, _TREE)
            values.append(some[~in_trees])
            if in_trees.any():
                images, some = images[in_trees], some[in_trees]
                dead, chains = _dead(images, np.where(some == 1, 100, 0))
                self._follow(chains)
                wiped += self._zero(some, images, dead)
        for some in _parts(np.concatenate([*values, np.empty(0, np.int64)])):
            used = self._used[some]
            if (used == _UNKNOWN).any():
                raise UnreadableError("a page that nothing names")
            dead = np.arange(self.page_bytes) >= used[:, None]
            wiped += self._zero(some, self._read(some), dead)
        self._file.xSync(apsw.SQLITE_SYNC_NORMAL)
        return wiped

    def _wipe_free(self, count: int, chosen: Numbers) -> tuple[Numbers, int]:
        """The pages that wait to be used again, and how many of those chosen were not empty."""
        header = self._file.xRead(100, 0)
        trunk, total = (int.from_bytes(header[at : at + 4], "big") for at in (32, 36))
        trunks: list[int] = []
        leaves: list[Numbers] = [np.empty(0, np.int64)]
        wiped = 0
        while trunk:
            if trunk > count or len(trunks) > total:
                raise UnreadableError("a list of free pages that does not end")
            trunks.append(trunk)
            image = self._read(np.array([trunk]))
            entries = image[0].view(">u4")
            held = int(entries[1])
            if held > self.page_bytes // 4 - 2:
                raise UnreadableError("a list of free pages that is too long")
            leaves.append(entries[2 : 2 + held].astype(np.int64))
            trunk = int(entries[0])
            dead = np.arange(self.page_bytes) >= 8 + 4 * held
            wiped += self._zero(np.array(trunks[-1:]), image, dead[None])
        found = np.concatenate(leaves)
        if len(found) + len(trunks) != total or (len(found) and int(found.max()) > count):
            raise UnreadableError("a list of free pages that does not add up")
        for some in _parts(np.intersect1d(found, chosen)):
            images = self._read(some)
            wiped += self._zero(some, images, np.ones_like(images, np.bool_))
        return np.concatenate([found, np.array(trunks, np.int64)]), wiped

    def _follow(self, chains: _Chains) -> None:
        """Note how much of each page of some long values is in use."""
        page, left = chains
        whole = self.page_bytes - 4
        while len(page):
            if (page < 1).any() or (page >= len(self._used)).any():
                raise UnreadableError("a long value that ends too soon")
            self._used[page] = 4 + np.minimum(left, whole)
            more = left > whole
            page, left = page[more], left[more] - whole
            page = np.fromiter(map(self._next, page.tolist()), np.int64, len(page))

    def _next(self, page: int) -> int:
        return int.from_bytes(self._file.xRead(4, (page - 1) * self.page_bytes), "big")

    def _read(self, pages: Numbers) -> Bytes:
        """uint8[n, page_bytes] of pages in ascending order."""
        size = self.page_bytes
        if not len(pages):
            return np.empty((0, size), np.uint8)
        begins = np.flatnonzero(np.diff(pages, prepend=-1) != 1)
        ends = np.append(begins[1:], len(pages))
        parts = [
            self._file.xRead(int(end - begin) * size, int(pages[begin] - 1) * size)
            for begin, end in zip(begins, ends, strict=True)
        ]
        return np.frombuffer(bytearray(b"".join(parts)), np.uint8).reshape(len(pages), size)

    def _zero(self, pages: Numbers, images: Bytes, dead: NDArray[np.bool_]) -> int:
        """Zero the dead bytes of pages that have others than zeros there; how many had."""
        touched = np.flatnonzero((images * dead).any(axis=1))
        for row in touched.tolist():
            image = images[row] * ~dead[row]
            self._file.xWrite(image.tobytes(), (int(pages[row]) - 1) * self.page_bytes)
        return len(touched)


def _dead(images: Bytes, header: Numbers) -> tuple[NDArray[np.bool_], _Chains]:
    """Which bytes of some pages of tables and indexes are in no use, and the long values they begin.

    Args:
        images: uint8[n, page_bytes].
        header: Where the header of each begins.

    Raises:
        UnreadableError: What is in use and what is free do not add up to a page.
    """
    count, size = images.shape
    flat = np.concatenate([images.reshape(-1), np.zeros(2 * _LONGEST_VARINT + 8, np.uint8)])
    start = np.arange(count) * size
    kind = images[np.arange(count), header]
    inner = (kind != _TABLE_LEAF) & (kind != 10)
    free, cells, content = (_two(flat, start + header + at) for at in (1, 3, 5))
    content = np.where(content == 0, 65_536, content)
    pointers = header + np.where(inner, 12, 8)
    lists = pointers + 2 * cells
    if (lists > content).any() or (content > size).any():
        raise UnreadableError("a page of more cells than it has room for")
    page = np.repeat(np.arange(count), cells)
    nth = np.arange(len(page)) - np.repeat(np.cumsum(cells) - cells, cells)
    at = _two(flat, start[page] + pointers[page] + 2 * nth)
    if (at < content[page]).any() or (at > size - 4).any():
        raise UnreadableError("a cell outside of its page")
    length, chains = _cells(flat, start[page] + at, kind[page], size)
    if (at + length > size).any():
        raise UnreadableError("a cell that does not end")
    # Of each free block its first four bytes are in use: the place of the next, and its size.
    block = np.flatnonzero(free)
    blocks: list[Numbers] = []
    spare = content - lists + images[np.arange(count), header + 7]
    place = free[block]
    for _ in range(size // 4):
        if not len(block):
            break
        if (place > size - 4).any():
            raise UnreadableError("a free block outside of its page")
        blocks.append(start[block] + place)
        following, room = _two(flat, blocks[-1]), _two(flat, blocks[-1] + 2)
        spare[block] += room
        if ((following != 0) & (following < place + room)).any():
            raise UnreadableError("free blocks out of order")
        block, place = block[following != 0], following[following != 0]
    # Where something begins and ends: no two cells do at one place, or the sum is wrong.
    edges = np.zeros(count * size + 1, np.int8)
    edges[start[page] + at] += 1
    edges[start[page] + at + length] -= 1
    edges[start] += 1
    edges[start + lists] -= 1
    used = np.cumsum(edges[:-1], dtype=np.int8).reshape(count, size)
    dead = used == 0
    if (used.view(np.uint8) > 1).any() or (np.count_nonzero(dead, axis=1) != spare).any():
        raise UnreadableError("a page that does not add up")
    if blocks:
        heads = (np.concatenate(blocks)[:, None] + np.arange(4)).reshape(-1)
        if not dead.reshape(-1)[heads].all():
            raise UnreadableError("a free block in use")
        dead.reshape(-1)[heads] = False
    return dead, chains


def _cells(flat: Bytes, begin: Numbers, kind: Bytes, size: int) -> tuple[Numbers, _Chains]:
    """How long each cell is within its page, and what of them stands in pages of their own."""
    child = np.where((kind == _TABLE_LEAF) | (kind == 10), 0, 4)
    first, first_bytes = _varint(flat, begin + child)
    _, row_bytes = _varint(flat, begin + child + first_bytes)
    payload = np.where(kind == _TABLE_INNER, 0, first)
    most = np.where(kind == _TABLE_LEAF, size - 35, (size - 12) * 64 // 255 - 23)
    least = (size - 12) * 32 // 255 - 23
    kept = least + (payload - least) % (size - 4)
    local = np.where(payload <= most, payload, np.where(kept <= most, kept, least))
    head = child + first_bytes + np.where(kind == _TABLE_LEAF, row_bytes, 0)
    long = np.flatnonzero(payload > local)
    end = begin[long] + head[long] + local[long]
    if (end + 4 > len(flat)).any():
        raise UnreadableError("a cell that does not end")
    chains = _Chains(_two(flat, end) << 16 | _two(flat, end + 2), payload[long] - local[long])
    length = head + local
    length[long] += 4
    return np.maximum(length, 4), chains


def _varint(flat: Bytes, at: Numbers) -> tuple[Numbers, Numbers]:
    """Numbers in one to nine bytes, and in how many."""
    value, length = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
    going = np.ones(len(at), np.bool_)
    for n in range(_LONGEST_VARINT):
        byte = flat[at + n].astype(np.int64)
        last = n == _LONGEST_VARINT - 1
        value = np.where(going, value << 8 | byte if last else value << 7 | byte & 0x7F, value)
        length += going
        going = going & (byte >= 0x80)
        if not going.any():
            break
    return value, length


def _two(flat: Bytes, at: Numbers) -> Numbers:
    """Numbers of two bytes."""
    return flat[at].astype(np.int64) << 8 | flat[at + 1]


def _parts(pages: Numbers) -> Iterator[Numbers]:
    return (pages[n : n + PAGES_AT_ONCE] for n in range(0, len(pages), PAGES_AT_ONCE))


def pages_in_wal(file: apsw.VFSFile) -> set[int]:
    """Numbers of the pages that a WAL has other states of (https://sqlite.org/fileformat2.html, 4.1)."""
    header = file.xRead(32, 0) if (size := file.xFileSize()) >= 32 else b""
    page_bytes, salts, found = int.from_bytes(header[8:12], "big"), header[16:24], set[int]()
    for at in range(32, size - page_bytes - 23, page_bytes + 24) if header else ():
        frame = file.xRead(24, at)
        if frame[8:16] != salts:  # left from before the WAL was begun anew
            break
        found.add(int.from_bytes(frame[:4], "big"))
    return found
