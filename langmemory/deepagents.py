"""A backend for deepagents in which bound core blocks are its memory files, and its edits are proposals."""

from __future__ import annotations

from fnmatch import fnmatch

from deepagents.backends.protocol import (
    BackendProtocol,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.utils import normalize_read_bounds
from langgraph.store.base import BaseStore

from langmemory.nodes.core_memory import CoreMemory, CoreMemoryError
from langmemory.stores import MemoryStore
from langmemory.types import Namespace


class CoreFilesBackend(BackendProtocol):
    """The files that core blocks of a namespace are bound to, at ``/AGENTS.md`` and so on.

    Files are read as they are now. ``edit_file`` and ``write_file`` change nothing: a review asks a person.
    No other file can be reached. Route a folder to it, and name its files as memory:

    ```python
    create_deep_agent(
        backend=CompositeBackend(StateBackend(), {"/core/": CoreFilesBackend(store, namespace)}),
        memory=["/core/AGENTS.md"],
    )
    ```
    """

    def __init__(self, store: MemoryStore, namespace: Namespace) -> None:
        self._store: BaseStore = store
        self._files = store.core_files
        self._namespace = namespace

    def _texts(self) -> dict[str, tuple[str, str]]:
        """Return the label of the block and the text of each file by its path."""
        labels: dict[str, str] = {}
        for one in self._files.bindings(self._namespace):
            path = f"/{one.name}"
            labels[path if path not in labels else f"/{one.label}.md"] = one.label
        core = CoreMemory(self._store, self._namespace, labels={}).with_files()
        texts = {block.label: block.content for block in core.blocks()}
        return {path: (label, texts[label]) for path, label in labels.items()}

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        texts = self._texts()
        return [
            FileDownloadResponse(path=path, content=texts[path][1].encode())
            if path in texts
            else FileDownloadResponse(path=path, error="file_not_found")
            for path in paths
        ]

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        texts = self._texts()
        if file_path not in texts:
            return ReadResult(error=_missing(file_path, texts))
        first, most = normalize_read_bounds(offset, limit)
        lines = texts[file_path][1].split("\n")
        shown = lines[first : first + most]
        if not shown:
            return ReadResult(file_data={"content": "", "encoding": "utf-8"})
        last = first + len(shown)
        return ReadResult(
            file_data={"content": "\n".join(shown), "encoding": "utf-8"},
            total_lines=len(lines),
            start_line=first + 1,
            end_line=last,
            next_offset=last if last < len(lines) else None,
        )

    def ls(self, path: str) -> LsResult:
        return LsResult(entries=self._list_files("*"))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        return GlobResult(matches=self._list_files(pattern.rsplit("/", 1)[-1]))

    def _list_files(self, pattern: str) -> list[FileInfo]:
        return [
            FileInfo(path=path, is_dir=False, size=len(text.encode()))
            for path, (_, text) in self._texts().items()
            if fnmatch(path[1:], pattern)
        ]

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        glob: str | None = None,
        *,
        max_count: int | None = None,
    ) -> GrepResult:
        found = [
            GrepMatch(path=name, line=number, text=line)
            for name, (_, text) in self._texts().items()
            if path in (None, "/", name) and fnmatch(name[1:], glob or "*")
            for number, line in enumerate(text.split("\n"), 1)
            if pattern in line
        ]
        cut = max_count is not None and len(found) > max_count
        return GrepResult(matches=found[:max_count], truncated=cut)

    def edit(
        self, file_path: str, old_string: str, new_string: str, replace_all: bool = False
    ) -> EditResult:
        texts = self._texts()
        if file_path not in texts:
            return EditResult(error=_missing(file_path, texts))
        label, text = texts[file_path]
        standing = self._files.proposed(self._namespace, label) or text
        count = standing.count(old_string) if old_string else 0
        if not count or (count > 1 and not replace_all):
            return EditResult(error=f"old_string is in {file_path} {count} times, not once.")
        return EditResult(
            error=self._propose(file_path, label, standing.replace(old_string, new_string))
        )

    def write(self, file_path: str, content: str) -> WriteResult:
        texts = self._texts()
        if file_path not in texts:
            return WriteResult(error=_missing(file_path, texts))
        return WriteResult(error=self._propose(file_path, texts[file_path][0], content))

    def _propose(self, path: str, label: str, text: str) -> str:
        """Ask a person, and return what the model is told: an answer of success would be wrong."""
        core = CoreMemory(self._store, self._namespace, labels={label: ""}, editor="assistant")
        try:
            review = core.rethink(label, text).proposed
        except CoreMemoryError as error:
            return str(error)
        if review is None:
            return f"{path} says so already."
        return (
            f"Proposed: a person decides whether {path} is changed (review {review}). Do not repeat it; "
            "until then the file reads as before."
        )


def _missing(path: str, known: dict[str, tuple[str, str]]) -> str:
    return f"file_not_found: {path} is bound to no core block. Files: {', '.join(known) or 'none'}."
