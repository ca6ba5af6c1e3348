"""MemoryStore: LangGraph's store, and what turns it into memory: `remember`, `recall`, history."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, get_args

from langgraph.store.base import TTLConfig

from langmemory import arguments
from langmemory.chat_models import named_chat_model
from langmemory.config import Config, ModelsConfig, load_config
from langmemory.engines.sqlite.changes.applying import Drafted
from langmemory.engines.sqlite.file.connection import Connection, is_damage
from langmemory.engines.sqlite.file.rescue import rescued
from langmemory.engines.sqlite.file.settings import newest_forgetting, note_remaining
from langmemory.engines.sqlite.index.vectors import Floats
from langmemory.engines.sqlite.reading import operations
from langmemory.engines.sqlite.reading.as_of import Past
from langmemory.engines.sqlite.reading.knowledge import StoreKnowledge, knowledge
from langmemory.engines.sqlite.reading.searching import now_us
from langmemory.engines.sqlite.records import history, items, removal, runs
from langmemory.engines.sqlite.transfer import transfer
from langmemory.engines.sqlite.writing import verbatim
from langmemory.engines.sqlite.writing.indexing import Draft, IndexConfig
from langmemory.engines.sqlite.writing.naming import Names, unnumbered
from langmemory.engines.sqlite.writing.usage import UsageCounts
from langmemory.engines.sqlite.writing.usage import write as write_counts
from langmemory.errors import (
    ClosedStoreError,
    ConfigError,
    DamagedFileError,
    DatabaseError,
    ForgettingError,
)
from langmemory.messages import Message, as_list, turns_of
from langmemory.pluralize import counted
from langmemory.recall.accesses import AccessLog
from langmemory.recall.asked import asked_in
from langmemory.recall.expansion import Expander
from langmemory.recall.given import GivenLog
from langmemory.recall.rerank import Reranker
from langmemory.redaction import Redactor, log_redacted, redactor_of
from langmemory.stores.asking import Asking
from langmemory.stores.base import pages_telling_of
from langmemory.stores.changing import Changing
from langmemory.stores.confiding import Heard, privately
from langmemory.stores.conversing import Conversing
from langmemory.stores.events import FORGET, RECALL, REMEMBER
from langmemory.stores.forgetting import Forgetting, make_up
from langmemory.stores.gathering import Gathering
from langmemory.stores.graph.graph import Graph
from langmemory.stores.jobs import Jobs
from langmemory.stores.journal import follow
from langmemory.stores.recalling import (
    RecallOptions,
    as_expander,
    as_reranker,
    find_preset,
    run,
    scope_of,
)
from langmemory.stores.viewer import ViewerStore
from langmemory.types import (
    Forgotten,
    HistoryEntry,
    Namespace,
    Privacy,
    Recall,
    Remembered,
    Scope,
    Stats,
)

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.language_models import BaseChatModel

logger = logging.getLogger("langmemory.store")

COUNTS_TIMEOUT_MS: Final = 500
"""How long `close` and an export wait for another process's lock, with nothing but counts to write."""


class MemoryStore(Changing, Conversing, Gathering):
    """Long-term memory in one SQLite file: a `BaseStore` that searches by meaning and by words.

    One class for sync and async, for any thread and any event loop. Several stores, in several
    processes, may work on one file and see each other's writes. It needs no closing, but
    ``close`` (or ``with``) frees its threads and connections at once.

    Example:
        ```python
        store = MemoryStore("memory.db")
        store.put(("users", "maria"), "food", {"text": "Maria is allergic to peanuts"})
        store.search(("users",), query="what must Maria not eat?")
        ```
    """

    __slots__ = ("_accesses", "_counts", "_expander", "_given", "_redactor", "_reranker")

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        index: IndexConfig | Mapping[str, Any] | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
        config: Config | None = None,
        expander: BaseChatModel | Expander | None = None,
        reranker: BaseDocumentCompressor | BaseChatModel | Reranker | None = None,
        redact: Redactor | bool | None = None,
    ) -> None:
        """Open a memory file, creating it if there is none.

        Args:
            path: The file, or ``":memory:"``; without one, the configured path.
            index: LangGraph's index config (``dims``, ``embed``, ``fields``), plus ``search``:
                ``"hybrid"`` (default), ``"semantic"`` or ``"keyword"``. None: the embedded model,
                which needs no server. False: keywords only.
            ttl: LangGraph's TTL config, in minutes. None: the configured one. As in SqliteStore,
                reads prolong an item's life only with ``refresh_on_read=True`` (or ``refresh_ttl``).
            config: Settings; None reads ``config/memory.json`` and the environment.
            expander: A LangChain chat model that says a query in other words, asked only when a
                recall found little; None takes the configured one. When it fails, the trace says
                so.
            reranker: A LangChain document compressor or chat model that has the last word on the
                order of a recall; None takes the configured one. When it fails, the order before
                it stands and the trace says so.
            redact: What replaces credentials in what is remembered: a function that takes the text of
                a turn and returns it as it may be stored; True is `langmemory.redaction`'s own, False
                none. None: as configured, which is True.

        Raises:
            DatabaseError: The file cannot be opened, or is something else.
            EmbeddingModelMismatchError: The file's vectors come from another model.
            ConfigError: A setting is wrong.
        """
        config = config or load_config()
        self._redactor = redactor_of(config.privacy.redact if redact is None else redact)
        super().__init__(path, index=index, ttl=ttl, config=config)
        self._expander = as_expander(expander or _configured(self._config.models, "expand"))
        self._reranker = as_reranker(reranker or _configured(self._config.models, "rerank"))
        self._accesses = AccessLog()
        self._given = GivenLog()
        self._counts = UsageCounts()
        self._follow_up()  # of a process that ended between a change and what follows from it
        if self._engine.remaining is not None:
            with suppress(RuntimeError):  # no thread to be had: whoever opens it next
                self._workers.beside(self._complete_forgetting)

    def close(self) -> None:
        """Write what is pending, stop the threads and close the file. A second call does nothing.

        Of what is pending, counts of what was recalled and used are lost where the file cannot be
        written, for example while another process holds it.
        """
        try:
            self._write_pending()
        except ClosedStoreError:
            pass
        except DatabaseError as error:
            why = type(error.__cause__ or error).__name__
            logger.warning("usage_counts_lost path=%s error=%s", self.path, why)
        finally:
            super().close()

    def _write_pending(self) -> None:
        """Counts that were kept in memory, off the hot path."""
        accesses, counts = self._accesses.drain(), self._counts.drain()
        if accesses or counts:
            with self._engine.write(busy_timeout_ms=COUNTS_TIMEOUT_MS) as connection:
                items.count_accesses(connection, accesses)
                write_counts(connection, counts)

    # Who is asking.

    def for_viewer(self, viewer: str) -> ViewerStore:
        """The same memory as this person may see it: a `BaseStore` of its own for nodes, tools and
        applications that act on somebody's behalf. Costs nothing; the store stays usable as it is.

        Raises:
            ConfigError: ``viewer`` is empty or no string.
        """
        if not isinstance(viewer, str) or not viewer:
            raise ConfigError(
                f"The viewer is {viewer!r}; pass the id of a person. For somebody unknown there is "
                "for_anyone(); the application itself, which sees everything, uses the store as it "
                "is."
            )
        return ViewerStore(self, viewer)

    def for_anyone(self) -> ViewerStore:
        """The same memory as somebody unknown may see it: nothing that is private."""
        return ViewerStore(self, "")

    @property
    def answers_locally(self) -> bool:
        """Whether a recall waits for nothing but this file: what embeds takes microseconds, and no
        other model has a say."""
        return self._embeds_cheaply() and self._expander is None and self._reranker is None

    @property
    def redactor(self) -> Redactor | None:
        """What replaces credentials in what is remembered; None replaces nothing."""
        return self._redactor

    # Verbatim memory.

    @REMEMBER
    def remember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
        owner: str | None = None,
        privacy: Privacy = "shared",
    ) -> Remembered:
        """Store messages word for word as episodic memories, in one transaction. No model is asked.

        Repeating it adds nothing: a message is known by its id, or without one by its thread, role,
        text and time, and by its owner where somebody else said the same in private. System
        prompts, injected memories and empty messages are left out.

        Args:
            namespace: Whose memory it is, for example ``("memories", user_id)``.
            messages: LangChain messages, or dicts with ``role`` and ``content`` and, if known,
                ``id``, ``name`` and ``at`` (ISO 8601 or datetime).
            thread_id: LangGraph's thread; messages are neighbours within it.
            at: When they were said, for messages that do not tell; now if nobody does.
            owner: Whose words they are, where several people share a namespace.
            privacy: Who may recall them; ``private`` is for their owner alone. What is shared becomes
                private by rule where the owner says it in confidence (``privacy.confidences`` of the
                configuration), in a run that can be undone.

        Returns:
            Keys of the memories that were added, in order. Its ``redacted`` counts the credentials
            that were replaced in them.

        Raises:
            InvalidValueError: A message is not one; nothing was stored.
            EmbeddingError: The embedder failed; nothing was stored.
        """
        facets = {"owner": owner, "privacy": privacy}
        remembering = self._remembering(namespace, messages, thread_id, at, facets)
        if not remembering.drafts:
            return Remembered()
        writes = self._complete(remembering.drafts)
        with self._engine.write() as connection:
            added = remembering.store(self, connection, writes)
        self._rewrite(remembering.pages)
        return remembering.told(added)

    @REMEMBER
    async def aremember(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        *,
        thread_id: str,
        at: datetime | None = None,
        owner: str | None = None,
        privacy: Privacy = "shared",
    ) -> Remembered:
        """`remember` without blocking the loop."""
        said, facets = as_list(messages), {"owner": owner, "privacy": privacy}

        def prepared() -> tuple[_Remembering, list[items.Write]]:
            remembering = self._remembering(namespace, said, thread_id, at, facets)
            if not remembering.drafts or not self._embeds_cheaply():
                return remembering, []
            return remembering, self._complete(remembering.drafts)

        remembering, writes = await self._workers.prepare(prepared)
        if not remembering.drafts:
            return Remembered()
        writes = writes or await self._acomplete(remembering.drafts)
        added: list[str] = await self._workers.write(
            lambda connection: remembering.store(self, connection, writes)
        )
        if remembering.pages:
            await self._workers.read(lambda: self._rewrite(remembering.pages))
        return remembering.told(added)

    def _remembering(
        self,
        namespace: Namespace,
        messages: Iterable[Message],
        thread_id: str,
        at: datetime | None,
        facets: dict[str, Any],
    ) -> _Remembering:
        self._check_namespace(namespace, written=True)
        if not thread_id:
            raise ConfigError("thread_id is empty; pass the id of the conversation.")
        for name, given in (("thread_id", thread_id), ("owner", facets["owner"])):
            if not isinstance(given, str | None):
                raise ConfigError(f"{name} is {given!r:.80}; it must be a string.")
        arguments.check_time("at", at)
        if facets["privacy"] not in get_args(Privacy):
            raise ConfigError(
                f"privacy is {facets['privacy']!r}; allowed are {', '.join(get_args(Privacy))}."
            )
        if at is not None and at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        turns = turns_of(
            messages,
            thread_id=thread_id,
            at=at,
            now=datetime.now(UTC),
            redactor=self._redactor,
            owner=facets["owner"],
            namespace=tuple(namespace),
        )
        with self._engine.read() as snapshot:
            turns = verbatim.unstored(
                snapshot.connection, namespace, thread_id, turns, facets["owner"]
            )
        drafts = [
            verbatim.draft(self._indexing, namespace, thread_id, turn, facets) for turn in turns
        ]
        for one in drafts:
            one.write.ttl_minutes = (self.ttl_config or {}).get("default_ttl")
        counts = Counter[str]()
        for turn in turns:
            counts.update(turn.redacted)
        owner = facets["owner"] if facets["privacy"] == "shared" else None
        listens = owner is not None and self._config.privacy.confidences
        return _Remembering(
            namespace=tuple(namespace),
            thread_id=thread_id,
            drafts=drafts,
            redacted=counts,
            heard=[Heard.of(turn) for turn in turns] if listens else [],
            owner=owner,
        )

    # Recall.

    @RECALL
    def recall(self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]) -> Recall:
        """The memories that answer a query, best first, and how they were found.

        Args:
            query: A question or statement in any language; of any length.
            namespace: Prefix by whole labels; ``()`` is the whole store.
            options: See `RecallOptions`.

        Returns:
            Results with text, time, speaker, score and its parts, and the trace. When the embedder
            fails, words alone decide and ``trace.degraded`` says so.

        Raises:
            ConfigError: No such preset, a bad option, or a query that is no text.
        """
        operations.check_query(query)
        return self._recalled(query, namespace, options)

    @RECALL
    async def arecall(
        self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]
    ) -> Recall:
        """`recall` without blocking the loop."""
        operations.check_query(query)
        if self._embeds_cheaply():
            return await self._workers.read(lambda: self._recalled(query, namespace, options))
        asked = await self._workers.read(lambda: asked_in(query))
        vectors = await self._searching.aembed([asked] if asked.strip() else [])
        found = await self._workers.read(
            lambda: self._recall(asked, namespace, options, vectors.get(asked))
        )
        return replace(found, query=query)

    def _recalled(self, query: str, namespace: Namespace, options: RecallOptions) -> Recall:
        asked = asked_in(query)
        vectors = self._searching.embed([asked] if asked.strip() else [])
        found = self._recall(asked, namespace, options, vectors.get(asked))
        return replace(found, query=query)

    def _recall(
        self, query: str, namespace: Namespace, options: RecallOptions, vector: Floats | None
    ) -> Recall:
        namespace = self._check_namespace(namespace, may_be_empty=True)
        if unknown := options.keys() - RecallOptions.__annotations__.keys():
            raise ConfigError(
                f"Unknown recall option {', '.join(sorted(unknown))}. "
                f"Known: {', '.join(RecallOptions.__annotations__)}."
            )
        preset = find_preset(options.get("preset"), self._config)
        thread_id = options.get("thread_id")
        given = self._given.given(thread_id, namespace) if thread_id else frozenset()
        scope = scope_of(namespace, options, given)
        past = None if scope.known_at is None else self._past(scope, query, vector)
        asking = Asking(self._expander, self._reranker)
        running = True
        while running:
            degraded: tuple[str, ...] = ()
            with self._engine.read() as snapshot:
                if vector is None and self._indexing.semantic and query.strip():
                    degraded = ("embedder failed: keywords only",)
                elif vector is not None and (why := self._searching.incomparable(snapshot)):
                    degraded = (why,)
                found = run(
                    snapshot,
                    query,
                    scope,
                    options,
                    preset=preset,
                    vector=None if degraded else vector,
                    degraded=degraded,
                    alive_at_us=self._searching.alive_at_us(),
                    exact=self._searching.exact,
                    mode=self._indexing.mode,
                    expander=asking.expander,
                    reranker=asking.reranker,
                    past=past,
                )
                if past is None:
                    found = _with_names(found, Names(snapshot.connection, scope.viewer))
            running = asking.ask()
        found = asking.timed(found)
        if thread_id:
            shown = [(one.memory.namespace, one.memory.key) for one in found.results]
            self._given.note(thread_id, shown)
        if self._accesses.record([result.memory.id for result in found.results], now_us()):
            with suppress(RuntimeError):  # no thread to be had: the next one, or `close`, writes
                self._workers.later(self._write_accesses)
        if scope.viewer is not None:
            results = (replace(one, memory=unnumbered(one.memory)) for one in found.results)
            found = replace(found, results=tuple(results))
        return found

    def _past(self, scope: Scope, query: str, vector: Floats | None) -> Past:
        return Past.read(
            self._engine,
            self._indexing,
            scope,
            query,
            alive_at_us=self._searching.alive_at_us(),
            semantic=vector is not None,
        )

    def _write_accesses(self, connection: Connection) -> None:
        items.count_accesses(connection, self._accesses.drain())

    # What is known of people and things.

    def graph(
        self,
        namespace: Namespace,
        *,
        viewer: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Graph:
        """The people and things of a namespace, and what its memories claim about them.

        Args:
            namespace: Exactly this one: who is called Lena in another is another Lena.
            viewer: Who is asking; None is the application, which sees everything.
            as_of: What was true in the world at this time; None: what is now.
            known_at: What the system believed at this time; None: what it believes now.
        """
        arguments.check_time("as_of", as_of)
        arguments.check_time("known_at", known_at)
        return Graph(
            self._engine,
            self._check_namespace(namespace),
            viewer=viewer,
            as_of=as_of,
            known_at=known_at,
            alive_at_us=self._searching.alive_at_us(),
        )

    def knowledge(self, namespace: Namespace) -> AbstractContextManager[StoreKnowledge]:
        """What a namespace knows, for planning changes to it: `ports.facts.Knowledge`.

        For ``with``, in a worker thread; everything is read on one snapshot. Texts that are to be
        compared by meaning are best given to ``prepare`` first, to be embedded in one call.
        """
        return knowledge(
            self._engine,
            self._indexing,
            self._check_namespace(namespace),
            alive_at_us=self._searching.alive_at_us(),
        )

    @property
    def jobs(self) -> Jobs:
        """The queue of reflections in this file."""
        return Jobs(self._engine, self._workers)

    # The file as a whole.

    def delete_namespace(self, prefix: Namespace, *, viewer: str | None = None) -> int:
        """Delete every item in a namespace and below it; how many.

        The history keeps what they were; the pages of the journal follow. ``()`` is refused: delete
        the file instead. Private memories of others than the ``viewer`` stay; None is the
        application, which may delete all. Each thousand is a transaction, between which others
        write: interrupted, repeat it.
        """
        if not prefix:
            raise ConfigError("delete_namespace(()) would empty the store; name a namespace.")
        prefix = self._check_namespace(prefix)
        return self._remove_all(
            items.under(prefix, viewer=viewer), "delete", reason=removal.WHOLE_NAMESPACE
        )

    async def adelete_namespace(self, prefix: Namespace, *, viewer: str | None = None) -> int:
        """`delete_namespace` without blocking the loop."""
        return await asyncio.to_thread(self.delete_namespace, prefix, viewer=viewer)

    def history(
        self, namespace: Namespace, key: str, *, viewer: str | None = None
    ) -> list[HistoryEntry]:
        """Every recorded change of an item, oldest first, also of items deleted since.

        A ``viewer`` is not told of what is, or once was, a private memory of somebody else.
        """
        namespace = self._check_namespace(namespace)
        with self._engine.read() as snapshot:
            # A key of another type was made a string by `put`, too.
            return history.of_item(snapshot.connection, namespace, str(key), viewer)

    async def ahistory(
        self, namespace: Namespace, key: str, *, viewer: str | None = None
    ) -> list[HistoryEntry]:
        """`history` without blocking the loop."""
        return await asyncio.to_thread(self.history, namespace, key, viewer=viewer)

    @FORGET
    def forget(
        self,
        namespace: Namespace,
        *,
        owner: str | None = None,
        entity: str | Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        purge: Literal["now", "later"] = "now",
    ) -> Forgotten:
        """Take memories out of the file for good, with all that was made from them, and prove it.

        Gone are texts, vectors, keywords and cached embeddings, what the history, runs, reviews and
        jobs said of them, facts without other evidence, entities nobody else speaks of, and what the
        journal's files tell. That they were forgotten stays in the history, under a
        sealed key; neither a client that sends a message again nor an import brings them back. It cannot
        be undone. The deleted rows are overwritten with zeros. SQLite may have left older copies of
        them in free space, so the file is then written anew (``VACUUM``), and its bytes are searched.
        If the process ends before that, the store that opens the file next does it, in the background.

        Args:
            namespace: Prefix by whole labels, ``()`` is the whole store; for ``keys`` the namespace
                itself.
            owner: Everything this person owns, or owned.
            entity: Everything that speaks of this person or thing, given by a name or key; or of
                each of several.
            keys: The memories of these keys, of before and now.
            everything: All of the namespace and of those below it, whoever owns it.
            dry_run: Only say what would go, and how it begins.
            purge: ``now`` writes the file anew before this returns; every writer waits for that: some
                seconds for 100,000 memories. ``later`` leaves it, and the search through the bytes, to
                the next call with ``now`` or to the store that opens the file next.

        Raises:
            ConfigError: It is not said what is to be forgotten, ``everything`` is of no namespace, or
                ``purge`` is neither of the two.
            ForgettingError: The memories are gone, but the file could not be purged, or the journal
                not be written to; it says why.
        """
        forgetting = Forgetting.of(
            self._check_namespace(namespace, may_be_empty=keys is None),
            owner=owner,
            entity=entity,
            keys=keys,
            everything=everything,
        )
        if purge not in ("now", "later"):
            raise ConfigError(f"purge is {purge!r}; pass 'now' or 'later'.")
        if dry_run:
            return forgetting.preview(self._engine)
        try:
            forgotten = forgetting.carry_out(self._engine, self, purge)
        finally:  # the memories are gone, even where the file could not be purged
            self._given = GivenLog()
            self._counts = UsageCounts()
            behind = follow(self)
        if behind != []:
            where = ", ".join(map(str, behind)) if behind else "its folders"
            raise ForgettingError(
                f"The memories are gone, but the journal in {where} could not "
                "be written to and still tells of them. Once it can, run `langmemory journal "
                "--rebuild --path` with that folder."
            )
        if forgotten.purged:
            with suppress(DatabaseError):  # else whoever opens the file looks after it once more
                self._note_forgotten(forgotten.run_id)
        return forgotten

    def _note_forgotten(self, run: str | None) -> None:
        with self._engine.write() as connection:
            note_remaining(connection, None, run)

    def _complete_forgetting(self) -> None:
        """In the background, after opening a file whose last forgetting was interrupted."""
        try:
            with self._engine.read() as snapshot:
                run = newest_forgetting(snapshot.connection)
            if make_up(self._engine) and not follow(self):
                self._note_forgotten(run)
        except (DatabaseError, ClosedStoreError) as error:  # the next one to open it tries again
            why = type(error.__cause__ or error).__name__
            logger.warning("forgetting_incomplete path=%s error=%s", self.path, why)

    async def aforget(
        self,
        namespace: Namespace,
        *,
        owner: str | None = None,
        entity: str | Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        purge: Literal["now", "later"] = "now",
    ) -> Forgotten:
        """`forget` without blocking the loop."""
        return await asyncio.to_thread(
            self.forget,
            namespace,
            owner=owner,
            entity=entity,
            keys=keys,
            everything=everything,
            dry_run=dry_run,
            purge=purge,
        )

    def stats(self) -> Stats:
        """Counts and sizes of the file."""
        with self._engine.read() as snapshot:
            return snapshot.stats()

    def iter_export(
        self, prefix: Namespace = (), *, viewer: str | None = None, history: bool = True
    ) -> Iterator[dict[str, Any]]:
        """Everything in a namespace and below it as JSON rows, `import_rows` takes them back.

        Items with all facets, times and TTL, their history and runs, entities, evidence and
        reviews. It reads in pieces, so that it does not hold up the file: every memory comes with its
        history as of one moment, what is added after the export began is left out, and what changes
        meanwhile may be in it as before or as after. Of a damaged file it brings out all that can be
        read, then raises `DamagedFileError`.

        Args:
            prefix: ``()`` is the whole store.
            viewer: Who gets it; None is the application. A viewer gets memories and their
                evidence, without what is, or once was, a private memory of somebody else.
            history: False leaves out the record of what happened (history, runs, what was
                reflected on) and gives what is known now alone.
        """
        prefix = self._check_namespace(prefix, may_be_empty=True)
        with suppress(DatabaseError):  # a full disk must not stand in the way of a backup
            self._write_pending()
        state = transfer.Exporting()
        options: dict[str, Any] = {"history": history, "state": state}
        try:
            yield from transfer.export_rows(self._engine.database.read, prefix, viewer, **options)
            return
        except DatabaseError as error:
            if not is_damage(error) or self._engine.database.in_memory:
                raise
        with rescued(self._engine.database.file) as found:
            copy = found.connection
            yield from transfer.export_rows(lambda: nullcontext(copy), prefix, viewer, **options)
        lost = counted(len(found.damages), "problem")
        raise DamagedFileError(
            f"{self.path} is damaged ({lost}). All rows that can be read were brought out; `langmemory "
            "doctor` names the others.",
            found.damages,
        )

    def import_rows(self, rows: Iterable[Mapping[str, Any]]) -> int:
        """Restore exported rows as they were; how many items were new or different.

        Repeating it adds nothing. Vectors and keywords are made anew with this store's model; the
        pages of the journal follow.

        Raises:
            ImportFormatError: A row is not from an export; batches before it are stored.
        """
        changed = 0
        with self._engine.glance() as snapshot:
            since = runs.forgettings(snapshot.connection)
        for batch in transfer.in_batches(rows):
            writes = self._complete(transfer.drafts(self._indexing, batch))
            with self._engine.write() as connection:
                self._claim_model(connection, writes)
                places = {(one.namespace, one.key) for one in writes}
                pages = pages_telling_of(connection, places)
                changed += transfer.write_rows(connection, batch, writes, now_us(), since)
                pages |= pages_telling_of(connection, places)
            self._rewrite(pages)
        return changed


def _with_names(recall: Recall, names: Names) -> Recall:
    """The recall with the names of those who speak."""
    shown = [names.shown(one.memory) for one in recall.results]
    if all(memory is one.memory for memory, one in zip(shown, recall.results, strict=True)):
        return recall
    results = zip(recall.results, shown, strict=True)
    return replace(recall, results=tuple(replace(one, memory=memory) for one, memory in results))


def _configured(models: ModelsConfig, role: Literal["expand", "rerank"]) -> BaseChatModel | None:
    """The chat model the configuration names for a part of recall."""
    name: str | None = getattr(models, role)
    return None if name is None else named_chat_model(name, models)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Remembering:
    """Messages on their way into the file."""

    namespace: Namespace
    thread_id: str
    drafts: list[Draft]
    redacted: Mapping[str, int]
    heard: list[Heard]
    """What the turns ask for, where that is looked for."""
    owner: str | None
    """Whose turns they are, where it is a rule's to say that some are private."""
    pages: set[tuple[Namespace, str]] = field(default_factory=set)
    """Of the journal, that tell of what is private now."""

    def told(self, added: list[str]) -> Remembered:
        """What was added, and what was replaced in it, which is logged."""
        counts = dict(self.redacted) if added else {}
        log_redacted(counts)
        return Remembered(added, counts)

    def store(
        self, store: MemoryStore, connection: Connection, writes: list[items.Write]
    ) -> list[str]:
        store._claim_model(connection, writes)
        added = verbatim.store(connection, self.namespace, self.thread_id, writes, now_us())
        keys = (one.write.key for one in self.drafts)  # as they are stored
        stored = [
            one._replace(turn=replace(one.turn, key=key))
            for one, key in zip(self.heard, keys, strict=bool(self.heard))
            if key in added
        ]
        if stored and self.owner:
            changes = privately(connection, self.namespace, stored, self.owner)
            if changes is not None:
                _, pages = store._apply(
                    connection, changes, Drafted(positions=[], drafts=[]), None, False
                )
                self.pages.update(pages)
                logger.info("made_private run=%s memories=%d", changes.run_id, len(changes.changes))
        return added
