"""From the options of `MemoryStore.recall` to the pipeline, and what is done after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, get_args

from langmemory.arguments import check_time, whole_number
from langmemory.context.tokens import count_text
from langmemory.engines.sql.engine import Engine, Snapshot
from langmemory.engines.sql.reading import operations
from langmemory.engines.sql.reading.ageing import ageing_of
from langmemory.engines.sql.reading.as_of import AsOfSource, EarlierTexts
from langmemory.engines.sql.reading.searching import now_us
from langmemory.engines.sql.reading.source import SnapshotSource
from langmemory.engines.sql.rooms.core import Core
from langmemory.engines.sql.tables.namespaces import to_path
from langmemory.engines.sql.tables.times import to_us
from langmemory.engines.sql.writing.indexing import VAULT
from langmemory.engines.sql.writing.naming import Names, unnumbered
from langmemory.errors import ConfigError, DatabaseError, VaultError
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.namespaces import check_namespace, check_namespaces
from langmemory.ports.candidates import NOTHING, CandidateSource, Floats, ScoredIds
from langmemory.ports.sparse import Pairs
from langmemory.recall import overview, pipeline
from langmemory.recall.explain import left_out
from langmemory.recall.first_look import FirstLook, first_look
from langmemory.recall.intent import read_intent
from langmemory.recall.layers import (
    DOCUMENTS,
    LEAST_SHARE,
    LOOKED_AT,
    SAID,
    Looked,
    merged,
    of_both,
    passes,
    questions_in,
)
from langmemory.recall.models import (
    Expander,
    Planner,
    Reranker,
    chat_model_expander,
    chat_model_planner,
    chat_model_reranker,
    compressor_reranker,
    planned,
    reordered,
)
from langmemory.recall.presets import Preset, find_preset
from langmemory.recall.question_extraction import extract_question
from langmemory.recall.rerankers import named_reranker
from langmemory.recall.vocabulary import default_vocabulary
from langmemory.twins import Steps, call
from langmemory.types import (
    Granularity,
    Kind,
    Memory,
    MinScore,
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


class RecallOptions(TypedDict, total=False):
    """Options of `MemoryStore.recall` and `arecall`."""

    limit: int
    """Results at most; default 10, or with ``budget_tokens`` as many as the preset has ``depth`` (40), and
    of an overview as many short facts as have room, so that the budget decides."""
    # A tuple by itself: mypy takes ("core",) for no Collection of Kind.
    kinds: tuple[Kind, ...] | Collection[Kind] | None
    """Only these kinds of memory; None (default) is every kind."""
    as_of: datetime | None
    """Only what was true in the world at this time; superseded facts included."""
    known_at: datetime | None
    """Only what the system believed at this time, with the texts and facets of then: superseded,
    changed and deleted memories included, unless they were forgotten."""
    since: datetime | None
    """Only what was said, or became true, at or after this time."""
    until: datetime | None
    """Only what was said, or became true, before this time."""
    thread_id: str | None
    """The thread the results are for: what this store gave it before is not given to it again. Kept
    by this object alone, not in the file: another store, worker or process on the same file gives it
    again, as does this one after a restart. For these, pass ``exclude``."""
    exclude: Collection[str]
    """Keys not to be returned, as many as you like."""
    filter: Mapping[str, Any] | None
    """LangGraph filter over the values."""
    min_score: MinScore
    """Leave out results with a lower score, 0..1: the probability that they are evidence. ``"auto"`` is
    the gate of the nodes: an idle message ("Thanks!") finds nothing, and a question that does not refer
    to the person only what is likely to answer it. None (default) leaves out nothing."""
    budget_tokens: int | None
    """Return the best results whose texts fit into so many tokens (LangChain's approximate count)."""
    preset: str | None
    """``fast``, ``balanced``, ``thorough`` or one of the configuration; None is the configured one."""
    include_archive: bool
    """Also what is archived, be it in the memory file or moved to the archive file; ranked with the rest,
    by score. With ``known_at`` also what was believed then and has moved since."""
    include_demoted: bool
    """Also what was demoted: what has the priority ``archive`` (default). False is for prompts. What a
    demoted fact was derived from is found by itself then."""
    granularity: Granularity
    """``"turn"`` (default), or ``"session"``: the best turn of each session, which is what was said
    in one thread on one day."""
    explain: bool
    """Fill the explanation of every result and the whole trace."""
    counted: bool
    """Count it as an access of what it finds (default). False is for a person who looks into memory."""
    documents: Namespace | Sequence[Namespace] | None
    """Also the documents of exactly this namespace, such as ``("documents",)``, or of several, where there
    are any. The query is taken apart into its questions. Each is looked up in what was said and in
    documents; the more likely one of these answers it, the more results come from there. The other options
    hold for both. None (default) asks no documents."""
    now: datetime | None
    """The moment that "last week" counts from, in the timezone in which a day begins; default is
    the clock, in UTC. Here and in the other times, what has no timezone is UTC."""


_TIMES: Final = ("as_of", "known_at", "since", "until", "now")


def _listed(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values as a tuple: a generator can be read but once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ConfigError(f"{name} is {values!r}; it must be a list of strings: [{str(values)!r}].")
    return tuple(values)


def check_kinds(kinds: Iterable[Kind] | None) -> tuple[Kind, ...] | None:
    """Return the kinds.

    Raises:
        ConfigError: One of them is no kind of memory, or they are no list.
    """
    if kinds is None:
        return None
    listed = _listed("kinds", kinds)
    if VAULT in listed:
        raise VaultError(
            "Secrets are not recalled: store.vault.list and store.vault.get find them."
        )
    if unknown := sorted(map(str, set(listed) - set(get_args(Kind)))):
        raise ConfigError(f"kinds holds {unknown[0]!r}; allowed are {', '.join(get_args(Kind))}.")
    return listed


def check_min_score(min_score: MinScore) -> MinScore:
    """Return the lowest score.

    Raises:
        ConfigError: It is no number, "auto" or None.
    """
    if min_score != "auto" and (
        not isinstance(min_score, int | float | None)
        or isinstance(min_score, bool)
        or min_score != min_score  # NaN, which no score is above
    ):
        raise ConfigError(
            f'min_score is {min_score!r}; it must be a number, 0 to 1, "auto", or None.'
        )
    return min_score


def scope_of(
    namespace: Namespace,
    options: RecallOptions,
    given: frozenset[tuple[Namespace, str]],
    viewer: str | None,
) -> Scope:
    """Return the scope that the options describe; ``given`` is what the thread was given before."""
    kinds = check_kinds(options.get("kinds"))
    exclude = _listed("exclude", options.get("exclude") or ())
    for key in exclude:
        if not isinstance(key, str):
            raise ConfigError(f"exclude holds {key!r}; keys are strings.")
    for name in _TIMES:
        check_time(name, options.get(name))
    statuses: tuple[Status, ...] = ("active",)
    if options.get("as_of") is not None:
        statuses = ("active", "superseded")
    if options.get("include_archive"):
        statuses = (*statuses, "archived")
    return Scope(
        namespace=namespace,
        filter=options.get("filter"),
        kinds=kinds,
        statuses=statuses,
        demoted=options.get("include_demoted", True),
        viewer=viewer,
        as_of=options.get("as_of"),
        known_at=options.get("known_at"),
        since=options.get("since"),
        until=options.get("until"),
        exclude=frozenset(exclude),
        given=given,
    )


def steps(
    core: Core, viewer: str | None, query: str, namespace: Namespace, options: RecallOptions
) -> Steps[Recall]:
    """Recall as a viewer; see `MemoryStore.recall`."""
    operations.check_query(query)
    namespace = check_namespace(namespace, may_be_empty=True)
    options = options.copy()  # what is read more than once may be given by a generator
    if "kinds" in options:
        options["kinds"] = check_kinds(options["kinds"])
    if "exclude" in options:
        options["exclude"] = _listed("exclude", options["exclude"] or ())

    def prepared() -> _Questions:
        return _questions(core, extract_question(query), namespace, options)

    def recalled(
        asked: _Questions,
        vectors: Mapping[str, Floats | None],
        sparse: Mapping[str, Pairs | None],
    ) -> Recall:
        def at(place: Namespace, question: str, asked_with: RecallOptions, **how: Any) -> Recall:
            vector = _Vectors(vectors.get(question), sparse.get(question))
            found = _recall(core, core.engine, viewer, question, place, asked_with, vector, **how)
            if options.get("include_archive") and not how.get("exact"):
                found = _with_archive(core, viewer, question, place, asked_with, vector, found)
            return found

        if asked.documents:
            found = _with_documents(core, asked, namespace, options, at)
        elif asked.mixed:
            found = _of_layers(core, viewer, asked, vectors, namespace, options, at)
        else:
            found = at(namespace, asked.query, options)
        _note(core, options, found)
        if viewer is not None:
            found = _with_memories(found, unnumbered)
        return replace(found, query=query)

    def at_once() -> Recall:
        asked = prepared()
        return recalled(asked, core.searching.embed(asked.texts), {})

    found: Recall
    if core.embeds_cheaply:
        found = yield core.reading(at_once)
        return found
    asked = yield core.reading(prepared)
    vectors = yield call(core.searching, "embed", asked.texts)
    encoder, sparse = core.indexing.sparse, dict[str, Pairs | None]()
    if encoder is not None and options.get("known_at") is None:
        sparse = yield call(encoder, "queries", asked.texts)
    found = yield core.reading(lambda: recalled(asked, vectors, sparse))
    return found


class _Vectors(NamedTuple):
    """A query as its models have it."""

    dense: Floats | None
    sparse: Pairs | None


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

    @property
    def texts(self) -> Sequence[str]:
        """What may be looked up."""
        return (self.query, *self.each) if self.mixed and len(self.each) > 1 else self.each


def _questions(core: Core, query: str, namespace: Namespace, options: RecallOptions) -> _Questions:
    """Return the questions of a query; it is one by itself where there are no documents to be asked."""
    whole = _Questions(query=query, each=(query,))
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
        with core.engine.read() as snapshot:
            if not snapshot.crowded(namespace):
                return whole
    each: Sequence[str] = questions_in(query)
    degraded: tuple[str, ...] = ()
    if core.planner is not None:
        each, degraded = planned(query, core.planner, each)
    return _Questions(query=query, each=each, documents=places, mixed=not places, degraded=degraded)


def _with_documents(
    core: Core,
    asked: _Questions,
    namespace: Namespace,
    options: RecallOptions,
    at: Callable[..., Recall],
) -> Recall:
    """Return what was said and what documents of other namespaces say; ``at`` recalls from one."""
    limit, preset = _limit_of(core, asked.query, options)
    several = max(limit, LOOKED_AT, preset.rerank_depth if core.reranker else 0) if limit else 0
    both: RecallOptions = {**options, "limit": several, "budget_tokens": None, "documents": None}
    documents: RecallOptions = {**both, "kinds": DOCUMENTS}
    if any(
        place[: len(namespace)] == namespace for place in asked.documents
    ):  # what was said is asked without the documents in it
        both["kinds"] = _without_documents(options)
    found = of_both(
        asked.query,
        asked.each,
        lambda question: Looked(
            people=at(namespace, question, both, rerank=False),
            documents=merged(
                [
                    at(place, question, documents, rerank=False, exact=True)
                    for place in asked.documents
                ],
                several,
            ),
        ),
        limit=several if core.reranker else limit,
        gated=options.get("min_score") == "auto",
        degraded=asked.degraded,
    )
    return _finished(core, asked.query, found, limit, options)


def _of_layers(
    core: Core,
    viewer: str | None,
    asked: _Questions,
    vectors: Mapping[str, Floats | None],
    namespace: Namespace,
    options: RecallOptions,
    at: Callable[..., Recall],
) -> Recall:
    """Return what was said and what documents say, of a namespace that holds both. Each is ranked by itself,
    and a layer that a first look finds unlikely is left out; what it has takes places that are left. A query
    is taken apart where not all of its questions are for the same layer."""
    limit, preset = _limit_of(core, asked.query, options)
    several = max(limit, preset.rerank_depth) if core.reranker and limit else limit
    people: RecallOptions = {
        **options, "limit": several, "budget_tokens": None, "kinds": _without_documents(options)
    }  # fmt: skip
    documents: RecallOptions = {**people, "kinds": DOCUMENTS}
    gated = options.get("min_score") == "auto"

    def first(question: str) -> FirstLook | None:
        vector = vectors.get(question)
        return _first_look(core, viewer, question, namespace, options, vector)

    looks = {question: first(question) for question in asked.each}
    if len({look is not None and look.share < 0.5 for look in looks.values()}) < 2 <= len(looks):
        looks = {asked.query: first(asked.query)}

    def look_up(question: str) -> Looked:
        look = looks[question]
        share = None if look is None else look.share
        said = written = None

        def of_people() -> Recall:
            near = NOTHING if look is None else look.said
            return at(namespace, question, people, rerank=False, nearest=near)

        def of_documents() -> Recall:
            near = NOTHING if look is None else look.written
            return at(namespace, question, documents, rerank=False, nearest=near)

        if share is None or share <= 1 - LEAST_SHARE:
            said = of_people()
        if share is None or share >= LEAST_SHARE or (not gated and said and len(said) < several):
            written = of_documents()
        if said is None and written is not None:
            needed = not passes(question, (), written.results) if gated else len(written) < several
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
    return _finished(core, asked.query, found, limit, options)


def _first_look(
    core: Core,
    viewer: str | None,
    question: str,
    namespace: Namespace,
    options: RecallOptions,
    vector: Floats | None,
) -> FirstLook | None:
    """Return which of what was said and documents beside it answers a question; None where the past is
    asked, whose texts no index holds."""
    if options.get("known_at") is not None:
        return None
    scope = scope_of(namespace, options, _shown_before(core, namespace, options), viewer)
    with core.engine.read() as snapshot:
        if core.searching.incomparable(snapshot):
            vector = None
        compiled = snapshot.scoped(scope, alive_at_us=core.searching.alive_at_us())
        source = SnapshotSource(snapshot, compiled, exact=core.searching.exact)
        return first_look(question, source, vector)


def _without_documents(options: RecallOptions) -> tuple[Kind, ...]:
    """Return the kinds that are asked, but for documents."""
    return tuple(one for one in options.get("kinds") or SAID if one in SAID)


def _limit_of(core: Core, query: str, options: RecallOptions) -> tuple[int, Preset]:
    """Return how many results there are at most, and how they are ranked."""
    preset, budget = find_preset(options.get("preset"), core.config), options.get("budget_tokens")
    now = options.get("now") or datetime.now(UTC)
    limit = options.get("limit", _default_limit(query, preset, budget, now))
    return whole_number("limit", limit), preset


def _finished(core: Core, query: str, found: Recall, limit: int, options: RecallOptions) -> Recall:
    """Return the results of both layers as the reranker has them, within the budget, in order."""
    if core.reranker is not None and found.results:
        results, failure = reordered(query, found.results, core.reranker)
        found = replace(
            found, results=tuple(results[:limit]), trace=_degraded(found.trace, failure)
        )
    budget = options.get("budget_tokens")
    if budget is not None:
        found = within(found, whole_number("budget_tokens", budget))
    return _in_order(found)


def _recall(
    core: Core,
    engine: Engine,
    viewer: str | None,
    query: str,
    namespace: Namespace,
    options: RecallOptions,
    vectors: _Vectors,
    *,
    exact: bool = False,
    rerank: bool = True,
    nearest: ScoredIds = NOTHING,
) -> Recall:
    """Recall from the memory file, or from its archive file.

    ``exact``: from this namespace, not from those below it. Without ``rerank`` the reranker is not asked.
    ``nearest``: the nearest vectors, as far as they are known.
    """
    namespace = check_namespace(namespace, may_be_empty=True)
    if unknown := options.keys() - RecallOptions.__annotations__.keys():
        raise ConfigError(
            f"Unknown recall option {', '.join(sorted(unknown))}. "
            f"Known: {', '.join(RecallOptions.__annotations__)}."
        )
    vector = vectors.dense
    preset = find_preset(options.get("preset"), core.config)
    given = _shown_before(core, namespace, options)
    scope = replace(scope_of(namespace, options, given, viewer), exact=exact)
    budget = options.get("budget_tokens")
    if budget is not None:
        budget = whole_number("budget_tokens", budget)
    now = options.get("now") or datetime.now(UTC)
    limit = whole_number("limit", options.get("limit", _default_limit(query, preset, budget, now)))
    min_score = check_min_score(options.get("min_score"))
    granularity = options.get("granularity", "turn")
    if granularity not in get_args(Granularity):
        raise ConfigError(
            f"granularity is {granularity!r}; allowed are {', '.join(get_args(Granularity))}."
        )
    archived = bool(options.get("include_archive"))
    if (
        scope.as_of is not None or scope.known_at is not None or archived
    ):  # what has ended is an answer
        preset = preset.model_copy(update={"stale_factor": 1.0})
    explain = options.get("explain", False)
    alive_at_us, exact = core.searching.alive_at_us(), core.searching.exact
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
            sparse, unasked = _sparse(core, snapshot, query, vectors.sparse, past=past is not None)
            degraded += unasked
            source: CandidateSource
            if past is None:
                compiled = snapshot.scoped(scope, alive_at_us=alive_at_us)
                source = SnapshotSource(
                    snapshot, compiled, exact=exact, labelled=explain, nearest=nearest
                )
            else:
                past = past.current(snapshot)
                source = AsOfSource(snapshot, past, exact=exact, labelled=explain)
                degraded = (*degraded, *past.degraded)
            found = pipeline.run(
                query,
                source,
                vector=comparable,
                sparse=sparse,
                now=now if now.tzinfo else now.replace(tzinfo=UTC),
                preset=preset,
                vocabulary=default_vocabulary(),
                limit=0 if scope.kinds == () else limit,  # nothing is of none of the kinds
                budget_tokens=budget,
                min_score=min_score,
                mode=core.indexing.mode,
                granularity=granularity,
                degraded=degraded,
                expander=models.expander,
                reranker=models.reranker,
                explain=explain,
            )
            if budget is not None:
                found = within(found, budget)
            found = _in_order(found)
            if past is None:
                if explain:
                    found = _with_ageing(core, snapshot, found, now)
                names = Names(snapshot.connection, viewer)
                found = _with_memories(found, names.shown)
        running = models.ask()
    return models.timed(found)


def _shown_before(
    core: Core, namespace: Namespace, options: RecallOptions
) -> frozenset[tuple[Namespace, str]]:
    """Return what the thread that asks was given before."""
    thread_id = options.get("thread_id")
    return core.already_shown.before(thread_id, namespace) if thread_id else frozenset()


def _sparse(
    core: Core, snapshot: Snapshot, query: str, vector: Pairs | None, *, past: bool
) -> tuple[Pairs | None, tuple[str, ...]]:
    """Return the sparse vector of a query where those of a snapshot can be compared with it, and what there
    is to say of these."""
    if core.indexing.sparse is None or not query.strip():
        return None, ()
    if past:
        return None, ("known_at: the sparse encoder is not asked",)
    if vector is None:
        return None, ("sparse encoder failed: not asked",)
    can_be, said = core.searchable(snapshot.connection)
    return vector if can_be else None, () if said is None else (said,)


def _default_limit(query: str, preset: Preset, budget_tokens: int | None, now: datetime) -> int:
    """Return how many results there are at most where the caller names no number."""
    if budget_tokens is None:
        return 10
    if preset.overview and read_intent(query, now).asks_whole:
        return overview.most_within(budget_tokens, preset.depth)
    return preset.depth


def _note(core: Core, options: RecallOptions, found: Recall) -> None:
    """Note what was recalled."""
    if thread_id := options.get("thread_id"):
        shown = [(one.memory.namespace, one.memory.key) for one in found.results]
        core.already_shown.note(thread_id, shown)
    if not options.get("counted", True):
        return
    if core.accesses.record([result.memory.id for result in found.results], now_us()):
        core.write_later(core.write_accesses)


def _with_archive(
    core: Core,
    viewer: str | None,
    query: str,
    namespace: Namespace,
    options: RecallOptions,
    vectors: _Vectors,
    found: Recall,
) -> Recall:
    """Return what was recalled from the memory file with what the archive file has, by score."""
    try:
        archive, missing = core.archive.opened(), core.archive.missing()
    except DatabaseError as error:
        archive, missing = None, str(error)
    if archive is None:
        return replace(found, trace=_degraded(found.trace, (missing,) if missing else ()))
    preset, budget = find_preset(options.get("preset"), core.config), options.get("budget_tokens")
    now = options.get("now") or datetime.now(UTC)
    limit = options.get("limit", _default_limit(query, preset, budget, now))
    # Copies that a killed process left there are not told of.
    more: RecallOptions = {**options, "limit": limit + core.archive.leftovers()}
    there = _recall(core, archive, viewer, query, namespace, more, vectors)
    wanted = core.archive.known([one.memory.id for one in there.results])
    wanted -= {one.memory.id for one in found.results}
    moved = [one for one in there.results if one.memory.id in wanted]
    results = list(found.results)
    if found.trace.by_time:
        results.sort(key=lambda one: -one.score)
    for one in moved:  # each file's own order stays
        later = (n for n, other in enumerate(results) if other.score < one.score)
        results.insert(next(later, len(results)), one)
    degraded = (f"archive: {one}" for one in there.trace.degraded)
    found = replace(
        found, results=tuple(results[:limit]), trace=_degraded(found.trace, tuple(degraded))
    )
    return _in_order(found if budget is None else within(found, budget))


def _in_order(recall: Recall) -> Recall:
    """Return the recall in the order of time, where an order of events was asked for."""
    if not recall.trace.by_time:
        return recall
    return replace(recall, results=tuple(sorted(recall.results, key=lambda one: one.at)))


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
    results = (replace(one, memory=change(one.memory)) for one in recall.results)
    return replace(recall, results=tuple(results))


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
        for stage in spent.keys() & self._milliseconds.keys():
            spent[stage] += self._milliseconds[stage]
        spent["total"] = (perf_counter() - self._began) * 1000
        return replace(recall, trace=replace(recall.trace, milliseconds=spent))

    def _answer(self, stage: str, ask: Callable[[], Any], meanwhile: Any) -> Any:
        if stage in self._answers:
            return self._answers[stage].result()
        self._waiting = self._waiting or (
            stage,
            ask,
        )  # what an expansion finds is to be ranked, too
        return meanwhile
