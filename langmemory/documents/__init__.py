"""Documents: files and texts beside what was said, in chunks that are cited by path and line."""

from langmemory.documents.documents import Documents
from langmemory.documents.records import Document, Source, Synced

__all__ = ["Document", "Documents", "Source", "Synced"]
