"""PostgreSQL as the engine of a store. Needs psycopg: nothing but `langmemory.engines.opening` imports it."""

from langmemory.engines.postgres.database import is_there
from langmemory.engines.postgres.engine import Engine

__all__ = ["Engine", "is_there"]
