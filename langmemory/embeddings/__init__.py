"""Text to vectors: the embedded default model, and a checked adapter for every other."""

from langmemory.embeddings.adapter import Embedder, EmbedSource, LangChainEmbedder, resolve_embedder
from langmemory.embeddings.e5 import E5Embedder
from langmemory.embeddings.local import LocalEmbedder, LocalEmbeddings, Vectors
from langmemory.embeddings.mock import MockEmbedder
from langmemory.embeddings.static import StaticEmbedder, TokenIds, TokenTable

__all__ = [
    "E5Embedder",
    "EmbedSource",
    "Embedder",
    "LangChainEmbedder",
    "LocalEmbedder",
    "LocalEmbeddings",
    "MockEmbedder",
    "StaticEmbedder",
    "TokenIds",
    "TokenTable",
    "Vectors",
    "resolve_embedder",
]
