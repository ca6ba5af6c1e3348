"""From the options of `MemoryStore.recall` to the pipeline, and what is done after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, get_args

import numpy as np

from langmemory.context.tokens import count_text
from langmemory.errors import DatabaseError
from langmemory.ledger import conversations, standing
from langmemory.ledger.ageing import ageing_of
from langmemory.ledger.engine import Engine, Snapshot
from langmemory.ledger.indexing import Names, without_numbers
from langmemory.ledger.namespaces import to_path
from langmemory.ledger.scopes import CompiledScope
from langmemory.ledger.values import to_us
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.namespaces import check_namespace, check_namespaces
from langmemory.operations.core import Core
from langmemory.ports.candidates import NOTHING, CandidateSource, Floats, ScoredIds
from langmemory.ports.sparse import Pairs
from langmemory.recall import pipeline
from langmemory.recall.calibration import GUARDRAILS, applies
from langmemory.recall.contentless import is_idle
from langmemory.recall.explain import left_out
from langmemory.recall.first_look import FirstLook, first_look
from langmemory.recall.further import look_further
from langmemory.recall.layers import (
    DOCUMENTS,
    LEAST_SHARE,
    LOOKED_AT,
    SAID,
    Looked,
    merge_recalls,
    of_both,
    passes,
    placed,
    questions_in,
    separate_questions,
)
from langmemory.recall.models import (
    Expander,
    Planner,
    Reranker,
    chat_model_expander,
    chat_model_planner,
    chat_model_reranker,
    compressor_reranker,
    plan_questions,
    rerank,
)
from langmemory.recall.neighbouring import Neighbour, neighbour_asked
from langmemory.recall.presets import Preset, find_preset
from langmemory.recall.question_extraction import extract_question
from langmemory.recall.rerankers import named_reranker
from langmemory.recall.vocabulary import default_vocabulary
from langmemory.recall_options import (
    DEFAULTS,
    OF_A_BLOCK,
    RecallOptions,
    check_kinds,
    check_options,
)
from langmemory.search import langgraph
from langmemory.search.as_of import AsOfSource, EarlierTexts
from langmemory.search.searching import now_us
from langmemory.search.source import SnapshotSource
from langmemory.steps import Steps, call
from langmemory.types import (
    Kind,
    Memory,
    Namespace,
    Recall,
    RecallResult,
    Scope,
    Status,
    Trace,
)

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.language_models import BaseChatModel


LINKED_FROM: Final = 3
"""First results whose links are followed."""
NO_WORDS: Final = "the keyword index is damaged: by meaning alone, run `langmemory doctor`"


def steps(
    core: Core, viewer: str | None, query: str, namespace: Namespace, options: RecallOptions
) -> Steps[Recall]:
    """Recall as a viewer; see `MemoryStore.recall`."""
    langgraph.check_query(query)
    namespace = check_namespace(namespace, may_be_empty=True)
    options = check_options(options)
    if options.get("min_score") == "auto":
        options["min_score"] = core.config.recall.min_score
    recalling = _Recalling(core=core, viewer=viewer, namespace=namespace, options=options)

    def prepared(one: _Recalling) -> _Questions:
        one.grow()
        asked = one.questions(extract_question(query))
        return replace(asked, neighbour=neighbour_asked(query))

    def recalled(one: _Recalling, asked: _Questions) -> Recall:
        found = one.answer(asked)
        if viewer is not None:
            found = _with_memories(found, without_numbers)
        return replace(found, query=query)

    def at_once(words: bool) -> Recall:
        one = replace(recalling, words=words)
        asked = prepared(one)
        one.vectors.update(core.searching.embed(asked.texts))
        return recalled(one, asked)

    found: Recall
    if core.embeds_cheaply:
        found = yield core.answering(at_once, recalling.vectors)
        return found
    asked = yield core.reading(lambda: prepared(recalling))
    recalling.vectors.update((yield call(core.searching, "embed", asked.texts)))
    encoder = core.indexing.sparse
    if encoder is not None and options.get("known_at") is None:
        recalling.sparse.update((yield call(encoder, "queries", asked.texts)))

    def embedded(words: bool) -> Recall:
        one = replace(recalling, words=words)
        return recalled(one, asked if words else prepared(one))

    found = yield core.answering(embedded, recalling.vectors)
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Questions:
    """A query as it is looked up."""

    query: str
    each: Sequence[str]
    """The questions in it, where documents are asked; else the query."""
    documents: Sequence[Namespace] = ()
    """Where the documents are that are asked as well."""
    mixed: bool = False
    """Whether documents lie beside what was said, the one crowds the other, and both are asked."""
    degraded: tuple[str, ...] = ()
    neighbour: Neighbour | None = None
    """The conversation that it asks for, by its place beside another one."""

    @property
    def texts(self) -> Sequence[str]:
        """What may be looked up."""
        about = (self.neighbour.about,) if self.neighbour and self.neighbour.about else ()
        whole = (self.query,) if self.mixed and len(self.each) > 1 else ()
        return (*whole, *self.each, *about)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Recalling:
    """One recall: whose, from where, and how."""

    core: Core
    viewer: str | None
    namespace: Namespace
    options: RecallOptions
    vectors: dict[str, Floats | None] = field(default_factory=dict)
    """Of each text that may be looked up."""
    words: bool = True
    """Whether the keyword index can be asked."""
    sparse: dict[str, Pairs | None] = field(default_factory=dict)

    @property
    def preset(self) -> Preset:
        """How results are ranked."""
        return find_preset(self.options.get("preset"), self.core.config)

    @property
    def budget(self) -> int | None:
        """Tokens of the results at most."""
        return self.options.get("budget_tokens")

    @property
    def limit(self) -> int:
        """Results at most."""
        most = self.unnamed_limit if self.budget is None else self.preset.depth
        return self.options.get("limit", most)

    @property
    def unnamed_limit(self) -> int:
        """Results at most, in a small store, where the call names no limit."""
        return (OF_A_BLOCK if self.options.get("of_block") else DEFAULTS)["limit"]

    def grow(self) -> None:
        """Name the limit where the call names none and the preset has it grow with the memories."""
        if self.preset.limit_growth and self.budget is None and "limit" not in self.options:
            with self.core.engine.read() as snapshot:
                held = snapshot.held(
                    self.namespace, tuple(self.options.get("kinds") or get_args(Kind))
                )
            self.options["limit"] = self.preset.grown(self.unnamed_limit, held)

    @property
    def said(self) -> tuple[Kind, ...]:
        """The kinds that are asked, but for documents."""
        return tuple(one for one in self.options.get("kinds") or SAID if one in SAID)

    def asking(self, namespace: Namespace | None = None, **changed: Unpack[RecallOptions]) -> Self:
        """Return it with other options, or from another place."""
        options: RecallOptions = {**self.options, **changed}
        place = self.namespace if namespace is None else namespace
        return replace(self, namespace=place, options=options)

    def scope(self, *, exact: bool = False) -> Scope:
        """Return which memories may be touched; ``exact``: of this namespace, not of those below it."""
        options, thread_id = self.options, self.options.get("thread_id")
        statuses: tuple[Status, ...] = ("active",)
        if options.get("as_of") is not None:
            statuses = ("active", "superseded")
        if options.get("include_archive"):
            statuses = (*statuses, "archived")
        shown = self.core.already_shown
        return Scope(
            namespace=self.namespace,
            exact=exact,
            filter=options.get("filter"),
            kinds=check_kinds(options.get("kinds")),
            statuses=statuses,
            demoted=options.get("include_demoted", True),
            trust=options.get("trust"),
            viewer=self.viewer,
            as_of=options.get("as_of"),
            known_at=options.get("known_at"),
            since=options.get("since"),
            until=options.get("until"),
            exclude=frozenset(options.get("exclude", ())),
            given=shown.before(thread_id, self.namespace) if thread_id else frozenset(),
        )

    def questions(self, query: str) -> _Questions:
        """Return the questions of a query; it is one by itself where there are no documents to be asked."""
        whole = _Questions(query=query, each=self._each(query))
        core, options = self.core, self.options
        given, kinds = options.get("documents"), options.get("kinds")
        if kinds is not None and "resource" not in kinds:
            return whole
        places: Sequence[Namespace] = ()
        if given is not None:
            there = "SELECT 1 FROM namespace WHERE path = ?"
            places = [
                place
                for place in check_namespaces(given)
                if core.engine.first(there, (to_path(place),)) is not None
            ]
            if not places:
                return whole
        elif kinds is not None and len(set(kinds)) == 1:
            return whole
        else:
            with core.engine.glance() as snapshot:
                if not snapshot.crowded(self.namespace):
                    return whole
        each: Sequence[str] = questions_in(query)
        degraded: tuple[str, ...] = ()
        if core.planner is not None:
            each, degraded = plan_questions(query, core.planner, each)
        return _Questions(
            query=query, each=each, documents=places, mixed=not places, degraded=degraded
        )

    def _each(self, query: str) -> Sequence[str]:
        """Return what is looked up of a query: itself, and each of its questions where these have nothing to
        do with one another, since of two subjects the one with the rarer words takes the places."""
        each = separate_questions(query)
        if len(each) < 2 or self.core.reranker is not None or self.core.expander is not None:
            return (query,)  # a model is asked once, about the whole
        return (query, *each)

    def _of_questions(self, asked: _Questions) -> Recall:
        """Return what a query and the questions in it find in turn."""
        if len(asked.each) == 1:
            return self._found(asked.query)
        found = of_both(
            asked.query,
            asked.each,
            lambda one: Looked(people=self._found(one)),
            limit=self.limit,
        )
        return found if self.budget is None else within(found, self.budget)

    def answer(self, asked: _Questions) -> Recall:
        """Return what the questions find, and note it."""
        if asked.documents:
            found = self._with_documents(asked)
        elif asked.mixed:
            found = self._of_layers(asked)
        else:
            found = self._of_questions(asked)
        if asked.neighbour is not None and self.options.get("known_at") is None:
            found = self._with_neighbour(asked.neighbour, found)
        if thread_id := self.options.get("thread_id"):
            shown = [(one.memory.namespace, one.memory.key) for one in found.results]
            self.core.already_shown.note(thread_id, shown)
        ids = [one.memory.id for one in found.results]
        if self.options.get("counted", True) and self.core.accesses.record(ids, now_us()):
            self.core.write_later(self.core.write_accesses)
        return found

    def _with_neighbour(self, asked: Neighbour, found: Recall) -> Recall:
        """Return a recall with what was said in a conversation that is asked for by its place: half of the
        results begin with it, and what else was found stays."""
        steps, item, score, engine = asked.steps, None, 1.0, self.core.engine
        if asked.about:
            there = self.asking(
                kinds=("episodic",), limit=1, budget_tokens=None, min_score=None, explain=False
            )._found(asked.about, rerank=False)
            for one in there.results:
                item, score = one.memory.id, one.score
        with engine.read() as snapshot:
            compiled = snapshot.scoped(self.scope(), alive_at_us=self.core.searching.alive_at_us())
            if not asked.about and steps < 0:
                item = conversations.last_turn(snapshot.connection, compiled, self.viewer)
                steps += 1  # the one at hand comes after the last one that is stored
            if item is None:
                return found
            ids = conversations.beside(snapshot.connection, compiled, item, steps)
            turns = self._source(snapshot, compiled).memories(np.array(ids, np.int64))
            names = Names(snapshot.connection, self.viewer)
            said = [
                RecallResult(memory=names.shown(one), score=score, parts={"conversation": score})
                for one in turns
                if not is_idle(one.text)
            ]
        half = (self.limit + 1) // 2
        results = placed([*said[:half], *found.results, *said[half:]], self.limit)
        found = replace(found, results=tuple(results))
        return found if self.budget is None else within(found, self.budget)

    def _found(self, query: str, *, exact: bool = False, **how: Any) -> Recall:
        """Return what a question finds in the memory file, and in its archive file where that is asked."""
        found = self._look(query, self.core.engine, exact=exact, **how)
        if self.options.get("include_archive") and not exact:
            return self._with_archive(query, found)
        return found

    def _with_documents(self, asked: _Questions) -> Recall:
        """Return what was said and what documents of other namespaces say."""
        limit, reranks = self.limit, self.core.reranker is not None
        several = max(limit, LOOKED_AT, self.preset.rerank_depth if reranks else 0) if limit else 0
        both = self.asking(limit=several, budget_tokens=None, documents=None)
        documents = [both.asking(place, kinds=DOCUMENTS) for place in asked.documents]
        if any(place[: len(self.namespace)] == self.namespace for place in asked.documents):
            both = both.asking(kinds=self.said)
        found = of_both(
            asked.query,
            asked.each,
            lambda question: Looked(
                people=both._found(question, rerank=False),
                documents=merge_recalls(
                    [one._found(question, rerank=False, exact=True) for one in documents], several
                ),
            ),
            limit=several if reranks else limit,
            gated=self.options.get("min_score") == "auto",
            degraded=asked.degraded,
        )
        return self._finished(asked.query, found)

    def _of_layers(self, asked: _Questions) -> Recall:
        """Return what was said and what documents say, of a namespace that holds both. Each is ranked by
        itself, and a layer that a first look finds unlikely is left out; what it has takes places that are
        left. A query is taken apart where not all of its questions are for the same layer."""
        several = self.limit
        if self.core.reranker and several:
            several = max(several, self.preset.rerank_depth)
        people = self.asking(limit=several, budget_tokens=None, kinds=self.said)
        documents = people.asking(kinds=DOCUMENTS)
        gated = self.options.get("min_score") == "auto"
        looks = {question: self._first_look(question) for question in asked.each}
        if (
            len({look is not None and look.share < 0.5 for look in looks.values()})
            < 2
            <= len(looks)
        ):
            looks = {asked.query: self._first_look(asked.query)}

        def look_up(question: str) -> Looked:
            look = looks[question]
            share = None if look is None else look.share
            said = written = None

            def of_people() -> Recall:
                near = NOTHING if look is None else look.said
                return people._found(question, rerank=False, nearest=near)

            def of_documents() -> Recall:
                near = NOTHING if look is None else look.written
                return documents._found(question, rerank=False, nearest=near)

            if share is None or share <= 1 - LEAST_SHARE:
                said = of_people()
            if (
                share is None
                or share >= LEAST_SHARE
                or (not gated and said and len(said) < several)
            ):
                written = of_documents()
            if said is None and written is not None:
                needed = (
                    not passes(question, (), written.results) if gated else len(written) < several
                )
                said = of_people() if needed else None
            return Looked(people=said, documents=written, share=share)

        found = of_both(
            asked.query,
            list(looks),
            look_up,
            limit=several,
            gated=gated,
            filled=not gated,
            degraded=asked.degraded,
        )
        return self._finished(asked.query, found)

    def _first_look(self, question: str) -> FirstLook | None:
        """Return which of what was said and documents beside it answers a question; None where the past is
        asked, whose texts no index holds."""
        if self.options.get("known_at") is not None:
            return None
        searching, vector = self.core.searching, self.vectors.get(question)
        with self.core.engine.read() as snapshot:
            if searching.incomparable(snapshot):
                vector = None
            compiled = snapshot.scoped(self.scope(), alive_at_us=searching.alive_at_us())
            return first_look(question, self._source(snapshot, compiled), vector)

    def _source(
        self, snapshot: Snapshot, scope: CompiledScope, nearest: ScoredIds = NOTHING
    ) -> SnapshotSource:
        """Return the view of a snapshot."""
        return SnapshotSource(
            snapshot, scope, exact=self.core.searching.exact, nearest=nearest, words=self.words
        )

    def _finished(self, query: str, found: Recall) -> Recall:
        """Return the results of both layers as the reranker has them, within the budget, in order."""
        if self.core.reranker is not None and found.results:
            results, failure = rerank(query, found.results, self.core.reranker)
            trace = _degraded(found.trace, failure)
            found = replace(found, results=tuple(results[: self.limit]), trace=trace)
        return found if self.budget is None else within(found, self.budget)

    def _look(
        self,
        query: str,
        engine: Engine,
        *,
        exact: bool = False,
        rerank: bool = True,
        nearest: ScoredIds = NOTHING,
    ) -> Recall:
        """Recall from the memory file, or from its archive file.

        Without ``rerank`` the reranker is not asked. ``nearest``: the nearest vectors, as far as they are
        known.
        """
        core, options, budget = self.core, self.options, self.budget
        vector, limit, preset = self.vectors.get(query), self.limit, self.preset
        scope, min_score = self.scope(exact=exact), options.get("min_score")
        now = options.get("now") or datetime.now(UTC)
        archived = bool(options.get("include_archive"))
        if (
            scope.as_of is not None or scope.known_at is not None or archived
        ):  # what has ended is an answer
            preset = preset.model_copy(update={"stale_factor": 1.0})
        explain = options.get("explain", False)
        alive_at_us, exact = core.searching.alive_at_us(), core.searching.exact
        embedder = core.indexing.embedder
        past = None
        if scope.known_at is not None:
            past = EarlierTexts.read(
                engine, core.indexing, scope, query, alive_at_us=alive_at_us,
                semantic=vector is not None,
            )  # fmt: skip
        models = AskedOutside(core.expander, core.reranker if rerank else None)
        running = True
        while running:
            degraded: tuple[str, ...] = ()
            with engine.read() as snapshot:
                if vector is None and core.indexing.semantic and query.strip():
                    degraded = ("embedder failed: keywords only",)
                elif vector is not None and (why := core.searching.incomparable(snapshot)):
                    degraded = (why,)
                comparable = None if degraded else vector
                if not self.words:
                    degraded += (NO_WORDS,)
                sparse, unasked = self._sparse(snapshot, query, past=past is not None)
                degraded += unasked
                source: CandidateSource
                if past is None:
                    compiled = snapshot.scoped(scope, alive_at_us=alive_at_us)
                    source = self._source(snapshot, compiled, nearest)
                else:
                    past = past.current(snapshot)
                    source = AsOfSource(snapshot, past, exact=exact)
                    degraded = (*degraded, *past.degraded)
                wanted = max(limit, preset.rerank_depth) if models.reranker and limit else limit
                look = partial(
                    pipeline.run,
                    source=source,
                    vector=comparable,
                    model_id=embedder.model_id if embedder else None,
                    now=now if now.tzinfo else now.replace(tzinfo=UTC),
                    preset=preset,
                    vocabulary=default_vocabulary(),
                    limit=0 if scope.kinds == () else wanted,  # nothing is of none of the kinds
                    min_score=min_score,
                    mode=core.indexing.mode,
                    granularity=options.get("granularity", "turn"),
                    further={}
                    if sparse is None
                    else {"sparse": source.sparse(sparse, preset.depth)},
                    explain=explain,
                )
                found = look_further(
                    query,
                    look(query, degraded=degraded),
                    look,
                    preset=preset,
                    vocabulary=default_vocabulary(),
                    limit=limit,
                    expander=models.expander,
                    reranker=models.reranker,
                )
                if min_score == "auto" and past is None and not is_idle(query):
                    found = self._with_guardrails(snapshot, scope, found, look)
                if past is None:
                    found = self._with_linked(source, found)
                if budget is not None:
                    found = within(found, budget)
                if past is None:
                    if explain:
                        found = _with_ageing(core, snapshot, found, now)
                    names = Names(snapshot.connection, self.viewer)
                    found = _with_memories(found, names.shown)
            running = models.ask()
        return models.timed(found)

    def _with_guardrails(
        self, snapshot: Snapshot, scope: Scope, found: Recall, look: Callable[..., Recall]
    ) -> Recall:
        """Return a recall with the guardrails that hold for the prompt. They are looked up by themselves:
        among what was said, a rule is seldom one of the nearest."""
        if not standing.any_guardrail(snapshot.connection, scope.namespace):
            return found
        searching, rules = self.core.searching, replace(scope, priority="guardrail")
        compiled = snapshot.scoped(rules, alive_at_us=searching.alive_at_us())
        source = self._source(snapshot, compiled)
        looked = look(found.query, source=source, limit=GUARDRAILS, min_score=None)
        known = {one.memory.id for one in found.results}
        more = [one for one in looked.results if one.memory.id not in known and applies(one)]
        return replace(found, results=(*found.results, *more))

    def _with_linked(self, source: CandidateSource, found: Recall) -> Recall:
        """Return a recall with what is linked to its first results, a decision about a task, in places that
        are left. Nothing that stood before gives way."""
        first = found.results[:LINKED_FROM]
        if not first or len(found) >= self.limit or not isinstance(source, SnapshotSource):
            return found
        places = {one.memory.id: place for place, one in enumerate(first)}
        pairs = sorted(
            source.linked(np.array(list(places), np.int64)), key=lambda one: places[one[0]]
        )
        known = {one.memory.id for one in found.results}
        ids = [one for one in dict.fromkeys(other for _, other in pairs) if one not in known]
        lowest = min(one.score for one in found.results)
        more = [
            RecallResult(memory=one, score=lowest, parts={"linked": lowest})
            for one in source.memories(np.array(ids, np.int64))
        ]
        return replace(found, results=(*found.results, *more)[: self.limit])

    def _sparse(
        self, snapshot: Snapshot, query: str, *, past: bool
    ) -> tuple[Pairs | None, tuple[str, ...]]:
        """Return the sparse vector of a query where those of a snapshot can be compared with it, and what
        there is to say of these."""
        if self.core.indexing.sparse is None or not query.strip():
            return None, ()
        if past:
            return None, ("known_at: the sparse encoder is not asked",)
        if (vector := self.sparse.get(query)) is None:
            return None, ("sparse encoder failed: not asked",)
        can_be, said = self.core.searchable(snapshot.connection)
        return vector if can_be else None, () if said is None else (said,)

    def _with_archive(self, query: str, found: Recall) -> Recall:
        """Return what was recalled from the memory file with what the archive file has, by score."""
        archive = self.core.archive
        try:
            engine, missing = archive.opened(), archive.missing()
        except DatabaseError as error:
            engine, missing = None, str(error)
        if engine is None:
            return replace(found, trace=_degraded(found.trace, (missing,) if missing else ()))
        # Copies that a killed process left there are not told of.
        wider = self.asking(limit=self.limit + archive.leftovers())
        there = engine.retried(lambda: wider._look(query, engine))
        wanted = archive.known([one.memory.id for one in there.results])
        wanted -= {one.memory.id for one in found.results}
        results = list(found.results)
        for one in there.results:  # each file's own order stays
            if one.memory.id in wanted:
                later = (n for n, other in enumerate(results) if other.score < one.score)
                results.insert(next(later, len(results)), one)
        degraded = tuple(f"archive: {one}" for one in there.trace.degraded)
        trace = _degraded(found.trace, degraded)
        found = replace(found, results=tuple(results[: self.limit]), trace=trace)
        return found if self.budget is None else within(found, self.budget)


def _degraded(trace: Trace, more: tuple[str, ...]) -> Trace:
    return replace(trace, degraded=(*trace.degraded, *more))


def within(recall: Recall, budget_tokens: int) -> Recall:
    """Return the recall without the results that do not fit into the budget any more."""
    kept, removed = [], []
    left = budget_tokens
    for result in recall.results:
        tokens = count_text(result.text)
        if tokens <= left:
            kept.append(result)
            left -= tokens
        else:
            removed.append((result.memory, f"budget: {tokens} tokens, {left} were left"))
    trace = recall.trace
    if trace.candidates:  # the whole trace was asked for
        candidates = {**trace.candidates, "results": len(kept)}
        known = {*trace.removed, *(result.memory.key for result in kept)}
        reasons = {**trace.removed, **left_out(removed, known)}
        trace = replace(trace, candidates=candidates, removed=reasons)
    return replace(recall, results=tuple(kept), trace=trace)


def as_expander(model: BaseChatModel | Expander | None) -> Expander | None:
    """Return an expander from a LangChain chat model, or the function itself."""
    if model is None:  # and langchain's models, half a second, need not be imported
        return None
    from langchain_core.language_models import BaseChatModel

    return chat_model_expander(model) if isinstance(model, BaseChatModel) else model


def as_planner(model: BaseChatModel | Planner | None) -> Planner | None:
    """Return a planner from a LangChain chat model, or the function itself."""
    if model is None:
        return None
    from langchain_core.language_models import BaseChatModel

    return chat_model_planner(model) if isinstance(model, BaseChatModel) else model


def as_reranker(
    model: BaseDocumentCompressor | BaseChatModel | Reranker | str | None,
) -> Reranker | None:
    """Return a reranker from a name, a LangChain compressor or chat model, or the function itself."""
    if model is None:
        return None
    if isinstance(model, str):
        return named_reranker(model)
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseDocumentCompressor):
        return compressor_reranker(model)
    if isinstance(model, BaseChatModel):
        return chat_model_reranker(model)
    return model


def _with_ageing(core: Core, snapshot: Snapshot, recall: Recall, now: datetime) -> Recall:
    """Return an explained recall with how far its results have faded, at a moment."""
    options = PolicyOptions.of(core.config.lifecycle).retention
    ids = [one.memory.id for one in recall.results]
    results = [
        one
        if one.explanation is None
        else replace(one, explanation=replace(one.explanation, ageing=faded))
        for one, faded in zip(
            recall.results, ageing_of(snapshot, ids, to_us(now), options), strict=True
        )
    ]
    return replace(recall, results=tuple(results))


def _with_memories(recall: Recall, change: Callable[[Memory], Memory]) -> Recall:
    """Return the recall with changed memories."""
    changed = [(one, change(one.memory)) for one in recall.results]
    if all(one.memory is memory for one, memory in changed):
        return recall
    return replace(recall, results=tuple(replace(one, memory=new) for one, new in changed))


class AskedOutside:
    """The models of one recall, asked while no snapshot is open.

    A model takes a second. A snapshot held so long keeps SQLite from emptying its WAL, and
    ``:memory:`` from being used by anybody else. So recall runs until it would ask, the model is
    asked outside, and recall runs again, on a new snapshot, with the answer: some milliseconds
    beside the second. Each is asked once at most; that it failed is told to the pipeline as if it
    had been asked there.
    """

    def __init__(self, expander: Expander | None, reranker: Reranker | None) -> None:
        self._began = perf_counter()
        self._waiting: tuple[str, Callable[[], Any]] | None = None
        self._answers: dict[str, Future[Any]] = {}
        self._milliseconds: dict[str, float] = {}
        self.expander: Expander | None = None
        self.reranker: Reranker | None = None
        if expander is not None:

            def expand(query: str) -> Sequence[str]:
                found: str | Sequence[str] = self._answer("expansion", lambda: expander(query), ())
                return [found] if isinstance(found, str) else list(found)

            self.expander = expand
        if reranker is not None:

            def rerank(query: str, results: Sequence[RecallResult]) -> list[int]:
                ids = {place: one.memory.id for place, one in enumerate(results)}
                asked, order = self._answer(
                    "rerank", lambda: (ids, list(reranker(query, results))), ({}, ())
                )
                # Memory may have changed since the answer was given.
                places = {one.memory.id: place for place, one in enumerate(results)}
                found = (places.get(asked[one]) if one in asked else one for one in order)
                return [place for place in found if place is not None]

            self.reranker = rerank

    def ask(self) -> bool:
        """Ask what the last run would have asked; return whether there was anything, and recall is
        to run again."""
        if self._waiting is None:
            return False
        (stage, ask), self._waiting = self._waiting, None
        began, answer = perf_counter(), Future[Any]()
        try:
            answer.set_result(ask())
        except Exception as error:  # a provider's or a user's own code may raise anything
            answer.set_exception(error)
        self._answers[stage] = answer
        self._milliseconds[stage] = (perf_counter() - began) * 1000
        return True

    def timed(self, recall: Recall) -> Recall:
        """Return the last run with the time of all."""
        if not self._milliseconds:
            return recall
        spent = dict(recall.trace.milliseconds)
        if spent.keys() - {"total"}:  # the time of each stage is wanted
            spent |= self._milliseconds
        spent["total"] = (perf_counter() - self._began) * 1000
        return replace(recall, trace=replace(recall.trace, milliseconds=spent))

    def _answer(self, stage: str, ask: Callable[[], Any], meanwhile: Any) -> Any:
        if stage in self._answers:
            return self._answers[stage].result()
        # What an expansion finds is to be ranked, too.
        self._waiting = self._waiting or (stage, ask)
        return meanwhile
