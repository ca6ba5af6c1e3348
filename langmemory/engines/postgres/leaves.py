"""Values of leaves as bytes, in the order that SQLite gives values of any type: numbers, texts, blobs."""

from __future__ import annotations

import math
import struct

from langmemory.ledger.values import LeafValue

_SIGN = 1 << 63


def encoded(value: LeafValue) -> bytes:
    """Return bytes that are equal, or smaller, where the values are.

    A number is the bits of the nearest float, turned so that they sort, and how far an integer is
    from that float: within 2**63 at most 512.
    """
    if isinstance(value, str):
        return b"\x02" + value.encode()
    if isinstance(value, bytes):
        return b"\x03" + value
    nearest = float(value)
    (bits,) = struct.unpack(">Q", struct.pack(">d", nearest + 0.0))
    bits = bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN
    rest = value - int(nearest) if isinstance(value, int) and math.isfinite(nearest) else 0
    return b"\x01" + struct.pack(">QH", bits, 0x8000 + rest)


def decoded(stored: bytes) -> LeafValue:
    """Return the value that `encoded` made these bytes of; a whole number within 64 bits is an int."""
    if stored[:1] == b"\x02":
        return stored[1:].decode()
    if stored[:1] == b"\x03":
        return stored[1:]
    bits, rest = struct.unpack(">QH", stored[1:])
    bits = bits ^ _SIGN if bits & _SIGN else bits ^ (2 * _SIGN - 1)
    (nearest,) = struct.unpack(">d", struct.pack(">Q", bits))
    if math.isfinite(nearest) and float(nearest).is_integer():
        whole = int(nearest) + int(rest) - 0x8000
        if -_SIGN <= whole < _SIGN:
            return whole
    return float(nearest)
