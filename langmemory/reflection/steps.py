"""The steps of a reflection: each takes the state, does one thing, and returns what it adds to it.

What asks a model or writes is a generator, see `langmemory.steps`. The other steps read the file or
calculate; LangGraph runs them in a thread where the graph is asynchronous.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from time import time
from typing import Any, Final, TypeVar

from langchain_core.messages import AnyMessage, BaseMessage
from langgraph.store.base import BaseStore
from pydantic import TypeAdapter
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.changes import ChangeSet
from langmemory.errors import (
    ConfigError,
    EntityNameError,
    ExtractionError,
    StalePlanError,
    TurnsReadError,
)
from langmemory.formation import settling
from langmemory.formation.asking.asker import asking_within
from langmemory.formation.batch import Batch
from langmemory.formation.contradiction.pairs import Group
from langmemory.formation.duplicates import Division
from langmemory.formation.entities.identity import (
    STATEMENTS,
    Identities,
    NameJudge,
    NamePair,
    apply_identities,
    pairs_of,
)
from langmemory.formation.entities.names import within_reach
from langmemory.formation.entities.resolution import AmbiguousName, Resolution
from langmemory.formation.entities.resolving import resolve
from langmemory.formation.extraction.extractor import MAX_NAMES, Extractor
from langmemory.formation.extraction.junk import without_junk
from langmemory.formation.judging import Judge, Verdicts
from langmemory.formation.planning.questions import name_question
from langmemory.formation.rules import comparing
from langmemory.languages import split_words
from langmemory.languages.spelling import name_key
from langmemory.nodes.namespaces import AUTHENTICATED, NamespaceTemplate, RunScope, viewer_of
from langmemory.nodes.node import run_of, store_of
from langmemory.operations.gathering import Gathering
from langmemory.ports.facts import EXTRACTION_FAILED, Extraction, SnapshotKnowledge
from langmemory.projections.journal import JournalFiles
from langmemory.reflection.events import (
    REFLECTION,
    reason,
    reflected,
)
from langmemory.reflection.payload import labels_of
from langmemory.reflection.tokens import TokenCounter, counting, noted
from langmemory.steps import Steps, call, thread_call
from langmemory.stores import MemoryStore
from langmemory.types import Applied, Namespace, Privacy

T = TypeVar("T")


class ReflectionInput(TypedDict, total=False):
    """The input of a reflection. An empty one means whatever is new in the run's namespace."""

    namespace: list[str]
    """Whose memory; without it, the graph's template is filled in from the run."""
    thread_id: str
    """One conversation; without it, all of the namespace."""
    turns: list[str]
    """Keys of the only turns to be read, with their ``thread_id``; without them, all that are unread."""
    messages: list[AnyMessage]
    """A conversation that is not remembered yet: it is, first."""


class ReflectionOutput(TypedDict, total=False):
    """The output of a reflection."""

    runs: list[str]
    """Ids of the runs, one a batch; `Changes.undo` takes them back."""
    added: list[str]
    """Keys of the memories that are new."""
    changed: list[str]
    """Keys of the memories that are otherwise than before."""
    superseded: list[str]
    """Keys of those among them that no longer hold."""
    reviews: list[str]
    """Ids of the questions for a person."""
    model_calls: int
    failures: list[str]
    """The steps that failed and were done without, such as ``extraction failed``."""


class ReflectionState(ReflectionInput, ReflectionOutput, total=False):
    """One batch on its way, and what came of those before it."""

    batch: dict[str, Any] | None
    """Turns under way; None when everything has been read."""
    extraction: dict[str, Any]
    problem: str | None
    """Why nothing could be extracted from the batch."""
    resolution: dict[str, Any]
    division: dict[str, Any]
    identities: dict[str, Any] | None
    """A model's decisions on names that may mean somebody known; None before it was asked."""
    verdicts: list[dict[str, Any]]
    usage: dict[str, dict[str, float]]
    """The tokens of this batch so far, see `langmemory.reflection.tokens`."""
    begun_at: float
    """When the batch was gathered, in seconds since the epoch."""
    plan: dict[str, Any]
    planned_at: int
    """See `ChangeSet.planned_at`: of the first look at what was known."""
    plans: int
    """How often this batch was planned; each time memory had changed meanwhile."""
    applied: dict[str, Any] | None
    """The result of the plan; None when it was out of date."""


_ADAPTERS: Final[dict[type, TypeAdapter[Any]]] = {
    kind: TypeAdapter(kind)
    for kind in (Batch, Extraction, Resolution, Identities, Division, Verdicts)
}


def packed(
    value: Batch | Extraction | Resolution | Identities | Division | Verdicts,
) -> dict[str, Any]:
    """A value of formation as JSON."""
    found: dict[str, Any] = _ADAPTERS[type(value)].dump_python(value, mode="json")
    return found


def unpacked(kind: type[T], value: Any) -> T:
    """The value again. Offsets of times are kept, names of timezones are not."""
    found: T = _ADAPTERS[kind].validate_python(value)
    return found


logger = logging.getLogger("langmemory.reflection")

Update = dict[str, Any]

BATCH_SECONDS: Final = 600.0
"""So long models may be asked about a batch in all: for facts, names and contradictions. What they do not
come to is left to the rules, and to reviews."""
MAX_PLANS = 5
"""So often a batch is planned when memory changes while it is reflected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReflectionSteps:
    """The steps, and what they work with. See `build_reflection_graph` for the options."""

    extractor: Extractor
    judge: Judge
    names: NameJudge | None
    namespace: NamespaceTemplate
    owner: str | None
    privacy: Privacy
    batch_tokens: int
    files: JournalFiles | None
    now: Callable[[], datetime]
    dry_run: bool = False

    # Begin.

    def receive(self, state: ReflectionState) -> Steps[Update]:
        """Say whose memory it is; a conversation that came along is remembered first."""
        store, scope = self._run()
        update, conversation = self._received(state, scope)
        if conversation is not None:
            yield call(store, "remember", update["namespace"], **conversation)
        return update

    def _received(
        self, state: ReflectionState, scope: RunScope
    ) -> tuple[Update, dict[str, Any] | None]:
        namespace = list(self._whose(state, scope))
        update: Update = {
            "namespace": namespace, "thread_id": state.get("thread_id"), "messages": [],
            "runs": [], "added": [], "changed": [], "superseded": [], "reviews": [],
            "model_calls": 0, "failures": [],
        }  # fmt: skip
        messages = state.get("messages")
        if not messages:
            return update, None
        owner = viewer_of(self.owner, scope) or None
        if owner is None and self.privacy == "private":
            raise ConfigError(
                f"The conversation is private, but the run says not whose it is: pass what "
                f"owner={self.owner!r} needs, in its context or configurable."
            )
        update["thread_id"] = state.get("thread_id") or scope.thread_id or _thread_of(messages)
        return update, {
            "messages": messages, "thread_id": update["thread_id"], "owner": owner,
            "privacy": self.privacy,
        }  # fmt: skip

    def _whose(self, state: ReflectionState, scope: RunScope) -> Namespace:
        """Return the namespace of the input, of ``configurable`` (a remote executor's), or the template's.
        Where that stands for the authenticated user of a server, nobody may say another."""
        given = state.get("namespace") or scope.configurable.get("namespace")
        if given is None:
            return self.namespace.resolve(scope)
        asked = labels_of(given)
        checked = any(AUTHENTICATED in label for label in self.namespace.labels)
        if checked and scope.value(AUTHENTICATED) is not None:
            own = self.namespace.resolve(scope)
            if own != asked:
                raise ConfigError(f"The run may reflect {own} alone, and was asked for {asked}.")
        return asked

    def gather(self, state: ReflectionState) -> Update:
        """The next turns that nobody has read."""
        store = _store()
        namespace, thread_id = _namespace(state), state.get("thread_id")
        before = _batch(state) if more_to_read(state) else None  # by this run
        meant: dict[str, Any] = {"batch_tokens": self.batch_tokens, "only": _only(state)}
        batch = Gathering(store).next_batch(namespace, thread_id, after=before, **meant)
        if batch is None and before is not None:  # but for what was edited or came late meanwhile
            batch = Gathering(store).next_batch(namespace, thread_id, **meant)
        return {
            "batch": packed(replace(batch, tokens=self.batch_tokens)) if batch else None,
            "plans": 0,
            "problem": None,
            "identities": None,
            "verdicts": [],
            "usage": {},
            "begun_at": time(),
        }

    # Read.

    def extract(self, state: ReflectionState) -> Steps[Update]:
        """Return what was said, as facts, without junk, whoever extracts them. Answers that cannot be
        used fold the batch to verbatim."""
        batch = _batch(state)
        names = yield thread_call(self._names, batch)
        try:
            # Rules compare with what the speakers told before: only what is known can be taken back.
            with (
                self._asking(state) as tokens,
                comparing(lambda: _knowledge(batch.namespace)),
            ):
                extraction = yield call(self.extractor, "extract", batch, names=names)
        except ExtractionError as error:
            logger.warning(
                "%s: %d turns of a batch stay verbatim", EXTRACTION_FAILED, len(batch.turns)
            )
            nothing = Extraction(model_calls=error.model_calls, dropped=(EXTRACTION_FAILED,))
            return {
                "extraction": packed(nothing),
                "problem": reason(error),
                "usage": tokens.usage,
            }
        if extraction.problem is not None:
            logger.warning("%s: rules alone read %d turns", EXTRACTION_FAILED, len(batch.turns))
        return {
            "extraction": packed(without_junk(extraction, batch)),
            "problem": extraction.problem,
            "usage": tokens.usage,
        }

    @contextmanager
    def _asking(self, state: ReflectionState) -> Iterator[TokenCounter]:
        """Count what models take, and let them take no longer than a batch may."""
        spent = time() - state.get("begun_at", time())
        with counting(state.get("usage")) as tokens, asking_within(BATCH_SECONDS - spent):
            yield tokens

    def _names(self, batch: Batch) -> list[str]:
        """Names of those known that the batch may know of: all that it seems to speak of, and others
        where these are few."""
        # Of each reader one turn: thousands of names are not to be tried with every turn.
        told = {turn.owner if turn.privacy == "private" else None: turn for turn in batch.turns}
        words = {word for turn in batch.turns for word in split_words(name_key(turn.text))}
        said = words | {word[:-1] for word in words}  # "Lena's" is compared as "lenas"
        with _knowledge(batch.namespace) as knowledge:
            known = knowledge.near_first(said, MAX_NAMES)
        within = (e for e in known if all(within_reach(e, turn) for turn in told.values()))
        return list(dict.fromkeys(entity.name for entity in within))

    def resolve_time(self, state: ReflectionState) -> Update:
        """When it was, by the clock of who said it."""
        return {
            "extraction": packed(settling.resolve_times(unpacked(Extraction, state["extraction"])))
        }

    # Compare.

    def resolve_entities(self, state: ReflectionState) -> Update:
        """Who and what it speaks of."""
        store = _store()
        with _knowledge(_namespace(state)) as knowledge:
            seen = knowledge.seq  # what goes after this moment makes the plan stale
            extraction = _still_founded(
                unpacked(Extraction, state["extraction"]), _gone(store, _batch(state))
            )
            found = resolve(extraction.facts, knowledge, similar=knowledge.similar)
        return {
            "extraction": packed(extraction), "resolution": packed(found), "planned_at": seen,
            "plans": state.get("plans", 0) + 1,
        }  # fmt: skip

    def identify(self, state: ReflectionState) -> Steps[Update]:
        """Decide whether names that look like known ones mean them; a model is asked once for all."""
        found, pairs = yield thread_call(self._doubts, state)
        usage = {}
        if self.names is not None and pairs:
            with self._asking(state) as tokens:
                found = (yield call(self.names, "judge", pairs)).after(found)
            usage = {"usage": tokens.usage}
        resolution = apply_identities(unpacked(Resolution, state["resolution"]), found.decisions)
        return {"resolution": packed(resolution), "identities": packed(found), **usage}

    def _doubts(self, state: ReflectionState) -> tuple[Identities, tuple[NamePair, ...]]:
        """Return a model's decisions for an earlier plan, and the pairs it is to be asked now.

        It is not asked what a person was asked before: theirs is the last word."""
        resolution = unpacked(Resolution, state["resolution"])
        before = _identities(state)
        if self.names is None or not resolution.unclear:
            return before, ()
        store = _store()
        namespace = _namespace(state)
        resolution = replace(resolution, unclear=tuple(_not_asked(store, namespace, resolution)))
        keys = {one.candidates[0].key for one in resolution.unclear}
        facts = {key: _facts_about(store, namespace, key) for key in keys}
        with _knowledge(namespace) as knowledge:
            known = {
                key: [one.memory.text for one in map(knowledge.by_key, found) if one is not None]
                for key, found in facts.items()
            }
        return before, pairs_of(resolution, known, without=before.decisions)

    def deduplicate(self, state: ReflectionState) -> Update:
        """Find the facts that are known already."""
        facts = unpacked(Resolution, state["resolution"]).facts
        with _knowledge(_namespace(state)) as knowledge:
            knowledge.prepare(fact.text for fact in facts)
            return {"division": packed(settling.divide_facts(_batch(state), facts, knowledge))}

    def contradict(self, state: ReflectionState) -> Steps[Update]:
        """Find what cannot be true together, and what holds; a judge is asked once a group."""
        asked = yield thread_call(self._groups, state)
        verdicts: list[Verdicts] = []
        with self._asking(state) as tokens:
            for group, known in asked:
                verdicts.append(known or (yield call(self.judge, "judge", group)))
        return {"verdicts": [packed(one) for one in verdicts], "usage": tokens.usage}

    def _groups(self, state: ReflectionState) -> list[tuple[Group, Verdicts | None]]:
        """Return the groups to be judged, with the verdicts of an earlier plan on the very same."""
        batch, division = _batch(state), unpacked(Division, state["division"])
        with _knowledge(_namespace(state)) as knowledge:
            groups = settling.group_pairs(batch, division, knowledge)
        before = [unpacked(Verdicts, one) for one in state.get("verdicts", ())]
        return [
            (group, next((one for one in before if one.group == group), None)) for group in groups
        ]

    # Write.

    def plan(self, state: ReflectionState) -> Update:
        """Everything that is to change, as one change set."""
        with _knowledge(_namespace(state)) as knowledge:
            change_set = settling.make_change_set(
                _batch(state),
                unpacked(Extraction, state["extraction"]),
                unpacked(Resolution, state["resolution"]),
                unpacked(Division, state["division"]),
                [unpacked(Verdicts, one) for one in state["verdicts"]],
                knowledge,
                identities=_identities(state),
                now=self.now(),
            )
        note = dict(change_set.note)
        if problem := state.get("problem"):
            note["problem"] = problem
        # What was compared was compared with an earlier state than the plan itself saw.
        store = _store()
        tokens = noted(state.get("usage") or {}, store.config.models.prices)
        known = {"planned_at": state["planned_at"], "note": {**note, **tokens}}
        change_set = change_set.model_copy(update=known)
        return {"plan": change_set.model_dump(mode="json")}

    def apply(self, state: ReflectionState) -> Steps[Update]:
        """Write all of it in one transaction, or nothing."""
        store = _store()
        change_set = ChangeSet.model_validate(state["plan"])
        try:
            unread = yield thread_call(Gathering(store).are_unread, _batch(state))
            if not all(unread.values()):  # another run read them, or this one in another process
                raise TurnsReadError
            applied = yield call(store.changes, "apply", change_set, dry_run=self.dry_run)
        except TurnsReadError:  # what is left of the turns is gathered anew
            logger.info("another run has read the turns meanwhile: gathered again")
            nothing: dict[str, Any] = {"lines": [], "added": [], "changed": []}
            return {"applied": {"run_id": change_set.run_id, "repeated": True, **nothing}}
        except StalePlanError:
            if state["plans"] >= MAX_PLANS:
                raise StalePlanError(
                    f"Memory changed {MAX_PLANS} times while one batch was planned. Reflect again when "
                    "fewer are writing."
                ) from None
            logger.info("memory changed meanwhile: planned again")
            return {"applied": None}
        begun = state.get("begun_at")
        REFLECTION.log(
            reflected(change_set.run_id, change_set.note, applied),
            0.0 if begun is None else (time() - begun) * 1_000,
        )
        return _applied(state, change_set, applied)

    def journal(self, state: ReflectionState) -> Update:
        """The pages of the journal that tell of it, written anew. They follow from memory and can be
        written at any time: where they cannot be now, the next batch is read all the same."""
        assert self.files is not None
        store, applied, failures = _store(), state.get("applied") or {}, state["failures"]
        keys = [*applied["added"], *applied["changed"]]
        try:
            self.files.write(store.journal, _namespace(state), keys)
        except OSError as error:
            folder = self.files.folder
            logger.warning(
                "The journal in %s could not be written: %s. Once it can be, run `langmemory "
                "journal --rebuild --path %s`.", folder, error, folder,
            )  # fmt: skip
            failures = [*failures, f"journal: {type(error).__name__}"]
        return {"applied": None, "failures": failures}

    # With what.

    def _run(self) -> tuple[MemoryStore, RunScope]:
        store, scope = run_of(None, None, "reflection")
        return _memory_store(store), scope


def more_to_read(state: ReflectionState) -> bool:
    """Whether `gather` found anything."""
    return state.get("batch") is not None


def is_stale(state: ReflectionState) -> bool:
    """Whether memory changed while the batch was planned."""
    return state.get("applied") is None


def _store() -> MemoryStore:
    """The store of the run under way."""
    return _memory_store(store_of(None, "reflection"))


def _knowledge(namespace: Namespace) -> AbstractContextManager[SnapshotKnowledge]:
    return Gathering(_store()).knowledge(namespace)


def _memory_store(store: BaseStore) -> MemoryStore:
    if not isinstance(store, MemoryStore):
        raise ConfigError(
            f"Reflection needs a MemoryStore to write to, and the store is a "
            f"{type(store).__name__}: compile or build the graph with store=MemoryStore(…)."
        )
    return store


def _namespace(state: ReflectionState) -> Namespace:
    return tuple(state["namespace"])


def _batch(state: ReflectionState) -> Batch:
    return unpacked(Batch, state["batch"])


def _only(state: ReflectionState) -> frozenset[str] | None:
    """Return the keys of the turns that are meant, None for all."""
    turns = state.get("turns")
    return None if turns is None else frozenset(turns)


def _thread_of(messages: Sequence[Any]) -> str:
    """A name for a conversation without a thread: the same for the same beginning, so that a job
    that is done twice remembers it once."""
    first = messages[0]
    text = first.text if isinstance(first, BaseMessage) else repr(first)
    return f"conversation-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _identities(state: ReflectionState) -> Identities:
    """What a model decided about names; nothing where none is asked."""
    packed_before = state.get("identities")
    return unpacked(Identities, packed_before) if packed_before else Identities()


def _gone(store: MemoryStore, batch: Batch) -> set[str]:
    """Turns that were deleted or forgotten since they were gathered."""
    return {turn.key for turn in batch.turns}.difference(Gathering(store).are_unread(batch))


def _still_founded(extraction: Extraction, gone: set[str]) -> Extraction:
    """Without what only turns that are gone speak for, and without a summary that retells them."""
    if not gone:
        return extraction
    facts = tuple(one for one in extraction.facts if not gone.issuperset(one.evidence))
    core = tuple(one for one in extraction.core if gone.isdisjoint(one.evidence))
    lost = len(extraction.facts) - len(facts) + len(extraction.core) - len(core)
    return replace(
        extraction, facts=facts, core=core, summary=None,
        dropped=(*extraction.dropped, *("what said so is gone",) * lost),
    )  # fmt: skip


def _not_asked(
    store: MemoryStore, namespace: Namespace, resolution: Resolution
) -> Iterator[AmbiguousName]:
    """Doubts no person was asked about. A name that is new was not there to be asked about."""
    asked: set[str] = set()
    if any(one.was_known for one in resolution.unclear):
        asked = {review.id for review in store.changes.reviews(namespace, open_only=False)}
    for one in resolution.unclear:
        if one.key and name_question(namespace, one.key, one.candidates) not in asked:
            yield one


def _facts_about(store: MemoryStore, namespace: Namespace, entity: str) -> list[str]:
    """Keys of the latest facts about an entity that anybody may read."""
    try:
        edges = store.for_anyone().graph(namespace).edges(entity)
    except EntityNameError:  # there are none
        return []
    return list(dict.fromkeys(edge.fact for edge in reversed(edges)))[:STATEMENTS]


def _applied(state: ReflectionState, change_set: ChangeSet, applied: Applied) -> Update:
    done = {} if applied.repeated else change_set.note
    return {
        "applied": {
            "run_id": applied.run_id, "lines": list(applied.lines), "repeated": applied.repeated,
            "added": list(applied.added), "changed": list(applied.changed),
        },
        "runs": [*state["runs"], applied.run_id],
        "added": [*state["added"], *applied.added],
        "changed": [*state["changed"], *applied.changed],
        "superseded": [*state["superseded"], *done.get("superseded", ())],
        "reviews": [*state["reviews"], *done.get("reviews", ())],
        "model_calls": state["model_calls"] + done.get("model_calls", 0),
        "failures": [*state["failures"], *done.get("failures", ())],
    }  # fmt: skip
