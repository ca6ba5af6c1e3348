"""The store LangGraph's server opens: the file that config/memory.json names."""

from langmemory.graphs.server import open_store

__all__ = ["open_store"]
