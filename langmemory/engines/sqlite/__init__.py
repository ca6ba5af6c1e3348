"""Everything that speaks SQL, and nothing that knows LangGraph or a model.

`Engine` is the door: rows, vectors, keywords, filters and history of one file. Behind it, each part
resting on those before: the `file` itself, the `index` that finds items, the `scope` of a read, the
`graph`, `search`, `records` (items and all that is recorded of them), work in the `background`, and
`forgetting`.
"""

from langmemory.engines.sqlite.engine import Engine

__all__ = ["Engine"]
