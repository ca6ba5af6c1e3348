"""The copies in memory of one database, made in the background by those who go on searching."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import ClassVar

from langmemory.config import EngineConfig
from langmemory.errors import ClosedStoreError, DatabaseError
from langmemory.ledger.connection import Connection
from langmemory.ledger.settings import ModelSetting, read_model
from langmemory.search import word_search
from langmemory.search.binary import BinaryQuantizedIndex
from langmemory.search.chunks import shared_per_file
from langmemory.search.sparse_search import SparseIndex
from langmemory.search.word_search import Current, Read, WordIndex

logger = logging.getLogger(__name__)


class Copies:
    """The sign bits, the vectors and the words of one database, as far as they fit into the budgets.
    Thread-safe. All stores of a process on one database share them."""

    _load_lock: ClassVar = threading.Lock()
    _loader: ClassVar[threading.Thread | None] = None

    def __init__(
        self,
        settings: EngineConfig,
        *,
        identity: Hashable | None,
        scan: Callable[[], AbstractContextManager[Connection]],
        read_words: Read,
        generation: int,
    ) -> None:
        """
        Args:
            identity: Of the database; None for one that is in memory itself: it has one connection,
                which the searches need, so no copy is made in the background.
            scan: A snapshot on a connection of its own.
            read_words: Reads the words that a connection sees.
            generation: Of the vectors, see `ModelSetting`.
        """
        self._settings = settings
        self._identity = identity
        self._scan = scan
        self._read_words = read_words
        # Both at once: another thread may see the database before or after it was re-embedded.
        self.current: tuple[ModelSetting, BinaryQuantizedIndex | None] = (ModelSetting(), None)
        self.words: WordIndex = shared_per_file(
            ("words", identity, generation), lambda: WordIndex(read_words)
        )
        self.sparse: SparseIndex = shared_per_file(("sparse", identity, generation), SparseIndex)

    def adopt(self, setting: ModelSetting) -> tuple[ModelSetting, BinaryQuantizedIndex | None]:
        """Return the embedding model and the index of its vectors; no index while nothing is embedded."""
        current = self.current
        if setting == current[0]:
            return current
        budgets = (self._settings.quantized_index_bytes, self._settings.vector_copy_bytes)
        if setting.dims is None:
            index = None
        elif self._identity is None:
            index = BinaryQuantizedIndex(setting.words, *budgets)
        else:
            index = shared_per_file(
                ("vectors", self._identity, setting.generation, setting.words),
                lambda: BinaryQuantizedIndex(setting.words, *budgets),
            )
        self.current = (setting, index)
        return setting, index

    def searched(self, setting: ModelSetting, index: BinaryQuantizedIndex) -> None:
        """After a search by vector: a process that goes on scanning sign bits gets a coarse copy."""
        if index.scans >= index.next_copy and index.coarse is None and self._identity is not None:
            self.later(lambda: self.load_coarse(setting, index))

    def later(self, load: Callable[[], None]) -> None:
        """Make a copy in the background, unless this process is making one: one after the other they
        leave time for searches, and find the memory that the one before gave back."""
        if not Copies._load_lock.acquire(blocking=False):  # held for ever, maybe, in a forked child
            return
        try:
            if Copies._loader is None or not Copies._loader.is_alive():
                loader = threading.Thread(target=load, name="langmemory-load", daemon=True)
                with suppress(RuntimeError):  # no thread to be had; the searches go on without it
                    loader.start()
                    Copies._loader = loader
        finally:
            Copies._load_lock.release()

    def load_coarse(self, setting: ModelSetting, index: BinaryQuantizedIndex) -> None:
        """Make the copy of the vectors, if it fits."""

        @contextmanager
        def read() -> Iterator[Connection | None]:
            with self._scan() as connection:
                # Once the database is re-embedded its vectors are none of this index's.
                yield connection if read_model(connection) == setting else None

        # If it should not fit, or be lost, it is tried again ever more rarely.
        index.next_copy *= 2
        try:
            index.load_coarse(read, setting.dims or 0, self._settings.vector_copy_bytes)
        except (DatabaseError, ClosedStoreError) as error:  # the searches go on without it
            logger.debug("no coarse copy: %s", type(error).__name__)

    def of_words(self, connection: Connection, seen: int | None = None) -> Current | None:
        """Return the copy of the keyword index as of this connection's snapshot, see `WordIndex.current`;
        None without one. A process that goes on searching by words gets one."""
        if self._identity is None or not self._settings.word_copy_bytes:
            return None
        if self.words.wanted():
            self.later(self._load_words)
        return self.words.current(connection, seen)

    def _load_words(self) -> None:
        index = self.words
        index.next_copy *= 2  # as above
        try:
            with self._scan() as connection:
                newest = connection.execute("SELECT coalesce(max(id), 0) FROM item").fetchone()
                if newest[0] >= word_search.WORTH_COPYING:
                    index.load(connection, self._settings.word_copy_bytes)
        except (DatabaseError, ClosedStoreError) as error:  # the searches go on without it
            logger.debug("no copy of the words: %s", type(error).__name__)

    def of_sparse(self) -> SparseIndex | None:
        """Return the copy of the sparse vectors, to be searched with what was added since; None where none
        is to be made. A process that goes on searching by them gets one."""
        if self._identity is None or not self._settings.word_copy_bytes:
            return None
        if self.sparse.searches >= self.sparse.next_copy:
            self.later(self._load_sparse)
        return self.sparse

    def _load_sparse(self) -> None:
        index = self.sparse
        index.next_copy *= 2  # as above
        try:
            with self._scan() as connection:
                index.load(connection, self._settings.word_copy_bytes)
        except (DatabaseError, ClosedStoreError) as error:  # the searches go on without it
            logger.debug("no copy of the sparse vectors: %s", type(error).__name__)

    def forget(self) -> None:
        """What is in memory of the database goes with the last engine on it: by the next one another
        database, or an older state of this one, may have taken its place."""
        self.words = WordIndex(self._read_words)
        self.sparse = SparseIndex()
        self.current = (ModelSetting(), None)
