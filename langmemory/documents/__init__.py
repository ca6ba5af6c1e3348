"""Documents: files and texts beside what was said, in chunks that are cited by path and line."""

from langmemory.documents.documents import Documents
from langmemory.documents.records import Chunk, Document, Source, Synced

__all__ = ["Chunk", "Document", "Documents", "Source", "Synced"]
