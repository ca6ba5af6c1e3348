"""Operations: what a store can do, declared once, as methods of rooms; every door derives from them."""

from langmemory.operations.declaring import (
    LOCAL,
    ONCE,
    Operation,
    Room,
    operation,
    operations_of,
    register,
    room,
    rooms,
    unregister,
)

__all__ = [
    "LOCAL",
    "ONCE",
    "Operation",
    "Room",
    "operation",
    "operations_of",
    "register",
    "room",
    "rooms",
    "unregister",
]
