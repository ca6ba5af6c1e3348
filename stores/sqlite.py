"""The store that ``langgraph dev`` opens: one SQLite file, shared by every instance."""

from langmemory.graphs.server import open_store

__all__ = ["open_store"]
