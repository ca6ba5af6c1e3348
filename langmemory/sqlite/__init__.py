"""Everything that speaks SQL, and nothing that knows LangGraph or a model.

`Engine` is the door: rows, vectors, keywords, filters and history of one file.
"""

from langmemory.sqlite.engine import Engine

__all__ = ["Engine"]
