"""SQLite as the engine of a store: one file, its indexes, and searches over them.

`Engine` is the door. Behind it, each part resting on those before: the `file` itself, the `index` that
finds items, and `search`. The portable SQL that runs on it is in `langmemory.ledger`.
"""

from langmemory.engines.sqlite.engine import Engine

__all__ = ["Engine"]
