"""Operations: what a store can do, declared once, as methods of rooms; every door derives from them."""

from langmemory.declaring.operations import (
    LOCAL,
    ONCE,
    Argument,
    Operation,
    Room,
    find_operation,
    find_room,
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
    "Argument",
    "Operation",
    "Room",
    "find_operation",
    "find_room",
    "operation",
    "operations_of",
    "register",
    "room",
    "rooms",
    "unregister",
]
