"""The client: a memory file that another machine serves, as a `BaseStore`."""

from langmemory.remote.connection import Backoff
from langmemory.remote.remote_store import RemoteMemoryStore

__all__ = ["Backoff", "RemoteMemoryStore"]
