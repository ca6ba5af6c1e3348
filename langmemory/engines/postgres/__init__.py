"""PostgreSQL as the engine of a store. Needs psycopg; `MemoryStore` does not open it yet (decision 046)."""

from langmemory.engines.postgres.engine import Engine

__all__ = ["Engine"]
