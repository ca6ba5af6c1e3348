"""Core Markdown: the files that core blocks are bound to, such as ``AGENTS.md``, and their differences."""

from langmemory.core_files.bindings import Binding, BoundFile, FilesSynced
from langmemory.core_files.conventions import CORE_FILES, Convention, FoundFile, files_for
from langmemory.core_files.markdown_file import CoreFileError

__all__ = [
    "CORE_FILES",
    "Binding",
    "BoundFile",
    "Convention",
    "CoreFileError",
    "FilesSynced",
    "FoundFile",
    "files_for",
]
