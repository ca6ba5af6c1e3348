"""Moving a memory to another embedding model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from langmemory.addresses import shown
from langmemory.config import Config, load_config
from langmemory.errors import ConfigError, DatabaseError
from langmemory.stores import rooms
from langmemory.stores.rooms import (
    IndexConfig,
    Indexing,
    ModelSetting,
    Progress,
    reembed_items,
    resolve_indexing,
)


def reembed(
    path: str,
    *,
    index: IndexConfig | Mapping[str, Any] | None = None,
    config: Config | None = None,
    progress: Progress = lambda done, total: None,
) -> ModelSetting:
    """Move a memory, and its archive file, to another embedding model, while the old index keeps serving.

    New vectors are written beside the old ones in batches and take their place in one transaction
    at the end. A killed run goes on where it was; items changed meanwhile are embedded again. Stores
    that have the memory open with the old model search by keywords after that, and say so.

    Args:
        path: The file, or the address of a schema on a PostgreSQL server.
        index: The index config with the new embedder; None takes the configured model.
        config: Settings; None reads them as `MemoryStore` does.

    Returns:
        The model the vectors now come from.

    Raises:
        EmbeddingError: The model failed; the memory is as it was, and what was done is kept.
        DatabaseError: There is no such memory, or another reembed towards another model began.
    """
    config = config or load_config()
    indexing = resolve_indexing(index, config)
    embedder = indexing.embedder
    if embedder is None:
        raise ConfigError("reembed needs an embedding model; set models.embedding.")
    if "\0" not in str(path) and not rooms.is_there(os.path.expanduser(path)):
        raise DatabaseError(f"{shown(path)} does not exist. Name the memory to re-embed.")
    found = _moved(path, indexing, embedder.model_id, config, progress)
    archive = config.database.archive_of(path)
    if archive is not None and os.path.exists(archive):
        _moved(archive, indexing, embedder.model_id, config, progress)
    return found


def _moved(
    path: str, indexing: Indexing, model: str, config: Config, progress: Progress
) -> ModelSetting:
    engine = rooms.open_engine(path, config.database)
    try:
        return reembed_items(engine, indexing, model, progress)
    finally:
        engine.close()
