"""Moving a memory to another embedding model, or to a sparse encoder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from langmemory.addresses import display_address
from langmemory.config import Config, load_config
from langmemory.engines import opening
from langmemory.errors import ConfigError, DatabaseError
from langmemory.ledger.indexing import IndexConfig, Indexing, resolve_indexing
from langmemory.ledger.reembedding import Progress, encode_items, reembed_items
from langmemory.ledger.settings import ModelSetting
from langmemory.ports.sparse import SparseEncoder
from langmemory.recall.sparse_encoders import checked_encoder


def reembed(
    path: str,
    *,
    index: IndexConfig | Mapping[str, Any] | None = None,
    config: Config | None = None,
    progress: Progress = lambda done, total: None,
) -> ModelSetting:
    """Move a memory, and its archive file, to another embedding model, while the old index keeps serving.

    New vectors are written beside the old ones in batches and take their place in one transaction
    at the end. A killed run continues at the next call; items that changed in between are embedded
    again. Stores that have the memory open with the old model then search by keywords, and say so. A
    sparse encoder of the configuration runs next, see `reencode`.

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
    files = _files(path, config, "re-embed")
    encoder = checked_encoder(config.models.sparse)  # if it is missing, nothing has been moved
    found, *_ = [_reembed_file(one, indexing, embedder.model_id, config, progress) for one in files]
    if encoder is not None:
        reencode(path, encoder, index=index, config=config, progress=progress)
    return found


def reencode(
    path: str,
    sparse: SparseEncoder | Any,
    *,
    index: IndexConfig | Mapping[str, Any] | Literal[False] | None = None,
    config: Config | None = None,
    progress: Progress = lambda done, total: None,
) -> int:
    """Give every memory of a file, and of its archive file, a sparse vector by an encoder.

    Run it when an existing memory gets its first encoder, or another one. Until it ends, recall does
    not use the sparse channel, and says so. A killed run continues at the next call.

    Args:
        path: The file, or the address of a schema on a PostgreSQL server.
        sparse: The encoder, as `MemoryStore` takes it.
        index: The index config, whose fields are encoded.
        config: Settings; None reads them as `MemoryStore` does.

    Returns:
        How many memories got a vector.

    Raises:
        EmbeddingError: The encoder failed; what was done is kept.
        DatabaseError: There is no such memory, or another run towards another encoder began.
    """
    config = config or load_config()
    indexing = replace(resolve_indexing(index, config), sparse=checked_encoder(sparse))
    written = 0
    for one in _files(path, config, "encode"):
        engine = opening.open_engine(one, config.database)
        try:
            written += encode_items(engine, indexing, progress)
        finally:
            engine.close()
    return written


def _files(path: str, config: Config, purpose: str) -> list[str]:
    """Return a memory and its archive file, if it has one.

    Raises:
        DatabaseError: There is no such memory.
    """
    if "\0" not in str(path) and not opening.is_there(os.path.expanduser(path)):
        raise DatabaseError(
            f"{display_address(path)} does not exist. Name the memory to {purpose}."
        )
    archive = config.database.archive_of(path)
    return [path, archive] if archive is not None and os.path.exists(archive) else [path]


def _reembed_file(
    path: str, indexing: Indexing, model: str, config: Config, progress: Progress
) -> ModelSetting:
    engine = opening.open_engine(path, config.database)
    try:
        return reembed_items(engine, indexing, model, progress)
    finally:
        engine.close()
