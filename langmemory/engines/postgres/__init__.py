"""PostgreSQL as the engine of a store. Needs the extra ``postgres``."""

from langmemory.engines.postgres.engine import Engine

__all__ = ["Engine"]
