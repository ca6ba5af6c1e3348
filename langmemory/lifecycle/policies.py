"""Rules by which memories change their standing: promotion, demotion, graduation, eviction, decay reviews.

Each takes the derived memories of one namespace, `PolicyOptions` and the time, and returns changes whose
reasons hold the figures.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

from langmemory.changes import Change, Facets, OpenReview, RemoveMemory, SetStatus, UpdateMemory
from langmemory.config import LifecycleConfig
from langmemory.formation.planning.consequences import mandate_question
from langmemory.formation.relations.vocabulary import BY_NAME
from langmemory.formation.wording import wording
from langmemory.lifecycle.retention import (
    DAY_US,
    RETENTION,
    RetentionOptions,
    age_days,
    classes,
    retention,
    salience,
    salience_parts,
)
from langmemory.ports.candidates import UNKNOWN_TIME, Floats
from langmemory.ports.lifecycle import Aged, Flags, LifecycleView
from langmemory.procedures import KEYS
from langmemory.trust import may_become


def novelty(aged: Aged, texts: Sequence[str], *, told: int) -> Floats:
    """float32[n], 0..1: 1 for a memory none of whose words a later one has.

    It is the mean over its content words of ``1 - log(1 + k) / log(1 + told)``, where k of the memories were
    told later and have the word. The words that a namespace repeats most count least, as idf has it; and of
    two memories that say the same, the later is the newer one.

    Args:
        aged: Derived memories.
        texts: What each of them says.
        told: How many there are, with those that were archived or moved: what goes must not make the others
            less novel, else the next night puts away more.
    """
    found = np.ones(len(aged), np.float32)
    later: Counter[str] = Counter()
    most = log1p(max(told, 1))
    for place in np.lexsort((aged.ids, aged.told_at))[::-1].tolist():
        words = wording(texts[place]).words
        if words:
            found[place] = 1 - sum(log1p(later[word]) for word in words) / (len(words) * most)
        later.update(words)
    return found


_CONFIGURED: Final = LifecycleConfig()
"""Where the numbers stand that a configuration may set."""

DECAY: Final = "decay"
"""`Review.about` of a question about a fading memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyOptions:
    """Every number of the rules. `of` takes those that a configuration sets; a program sets the others by
    ``build_maintenance_graph(policies=dataclasses.replace(PolicyOptions.of(config.lifecycle), …))``."""

    retention: RetentionOptions = RETENTION
    guardrail_cited: int = 10
    """Citations from which a memory of priority ``reference`` becomes a ``guardrail``."""
    guardrail_relevance: float = 0.7
    """Mean relevance, 0..1, that these citations must have had: each a share of the best match in its prompt.
    Of the facts that answer a question 66 % (``changes.jsonl``) and 89 % (``two-years.jsonl``) reach 0.7, of
    others 35 and 48 %. Of the signals' sum itself 12 and 10 % did: nothing was ever promoted."""
    mandate_cited: int = 25
    """Citations from which a ``guardrail`` becomes a ``mandate``."""
    mandate_right: int = 20
    """How many of these answers must not have been corrected. A guardrail that a person confirmed becomes a
    mandate without either."""
    max_mandates: int = 20
    """Mandates of one owner in a namespace that promotion stops at."""
    unused_days: float = _CONFIGURED.unused_days
    """Days without a use, or a mention, after which a derived memory gets the priority ``archive``."""
    unused_cited: int = 5
    """Citations from which a memory is kept all the same."""
    unused_novelty: float = 0.8
    """Novelty, 0..1, from which a memory is kept all the same. Without this bound (1) demotion lowers what
    blocks of prompts hold of the evidence, see decision 041."""
    max_facts: int | None = _CONFIGURED.max_facts
    """Derived memories that a namespace may keep; None means no limit. Ten years of daily talk leave some
    thousands; a night reads all columns of all of them."""
    most_at_once: float = 0.05
    """Share of a namespace's derived memories that one night demotes, or evicts, at most, 0..1."""
    reserved_share: float = 0.1
    """Share of ``max_facts`` that is kept for corrections, what a person confirmed and what took the place
    of another, before salience counts, 0..1."""
    novelty_weight: float = 0.5
    """How much novelty counts beside salience for the order of eviction. Of 0, 0.25 and 0.5 the best on the
    tuning conversations in every column of decision 041."""
    archive_after_days: float | None = None
    """Days after which an archived memory moves to the archive file; None never moves any."""
    review_below: float = 0.1
    """Retention, 0..1, below which it is asked whether an important memory may go."""
    important: float = 0.7
    """Importance, 0..1, from which a memory counts as important."""
    max_reviews: int = _CONFIGURED.max_reviews
    """Questions about fading memories of a namespace that may wait for an answer at a time."""
    confirmations: int = 2
    """Pieces of evidence from which a fact that waits for approval is approved without a person."""

    @classmethod
    def of(cls, config: LifecycleConfig) -> PolicyOptions:
        """Return the numbers that a configuration asks for."""
        return cls(
            retention=RetentionOptions.of(config.half_life_days),
            unused_days=config.unused_days,
            max_facts=config.max_facts,
            archive_after_days=config.archive_after_days,
            max_reviews=config.max_reviews,
        )


POLICIES: Final = PolicyOptions()


def promotions(aged: Aged, options: PolicyOptions, now: int) -> list[Change]:
    """Return rises in priority: cited and relevant memories become guardrails, right ones mandates, and
    what was demoted and cited since becomes a reference again. A source that is trusted too little makes no
    guardrail: what would be a mandate after it is asked about, see
    `ask_about_mandates`."""
    found: list[Change] = []
    believed = _active(aged) & aged.one_of(aged.kind, "semantic", "procedural")
    believed &= ~aged.begins(KEYS)  # outcomes decide how procedures are shown
    mandates = Counter(
        owner
        for owner, priority in zip(aged.owner, aged.priority, strict=True)
        if priority == "mandate"
    )
    for place in np.flatnonzero(believed).tolist():
        cited, right = int(aged.cited[place]), int(aged.right[place])
        relevance, priority = round(float(aged.relevance[place]), 4), aged.priority[place]
        used = cited >= options.guardrail_cited and relevance >= options.guardrail_relevance
        follows = may_become(aged.trust[place], "guardrail")
        figures = f"cited {cited} times, right {right} times, mean relevance {relevance:.2f}"
        if priority == "archive" and _in_use(aged, place, options, now):
            found.append(_with_priority(aged, place, "reference", f"in use again: {figures}"))
        elif priority == "reference" and used and follows:
            found.append(_with_priority(aged, place, "guardrail", figures))
        elif (priority == "guardrail" or (priority == "reference" and used)) and (
            mandates[aged.owner[place]] < options.max_mandates
        ):
            confirmed = bool(aged.verified[place])
            if confirmed or (cited >= options.mandate_cited and right >= options.mandate_right):
                why = f"confirmed by a person; {figures}" if confirmed else figures
                found.append(_with_priority(aged, place, "mandate", why))
                mandates[aged.owner[place]] += 1
    return found


def ask_about_mandates(view: LifecycleView, aged: Aged, changes: Sequence[Change]) -> list[Change]:
    """Return the changes, with a question to a person in place of a mandate of a source that is trusted too
    little."""
    doubted = {
        key: item
        for key, item, trust in zip(aged.keys, aged.ids, aged.trust, strict=True)
        if not may_become(trust, "mandate")
    }
    made: list[Change] = []
    for one in changes:
        match one:
            case UpdateMemory(key=key) if one.facets.priority == "mandate" and key in doubted:
                made.extend(map(mandate_question, view.memories(np.array([doubted[key]]))))
            case _:
                made.append(one)
    return made


def demotions(
    view: LifecycleView, aged: Aged, options: PolicyOptions, now: int, already: int = 0
) -> list[Change]:
    """Return falls in priority to ``archive``: memories that nobody used or mentioned for long and whose
    words later ones say again, the least salient first, at most ``most_at_once``.

    What is pinned, confirmed or timeless stays, procedures, and what says how things are until something
    else is said (home, work, partner). Where nothing was cited within ``unused_days``, use is not measured,
    and nothing is demoted for want of it.

    Args:
        view: Of the namespace.
        aged: Its derived memories.
        options: The numbers of the rule.
        now: Microseconds since 1970 UTC.
        already: So many of the namespace were demoted this night.
    """
    ages = age_days(aged, now)
    if not _use_is_measured(aged, options, now):
        return []
    idle = (
        _active(aged)
        & aged.one_of(aged.priority, "reference", "guardrail")
        & ~aged.begins(KEYS)
        & (ages > options.unused_days)
        & (aged.cited < options.unused_cited)
        & ~_exempt(aged)
        & ~_single(aged)
    )
    if not idle.any():
        return []
    new = _novelty(view, aged)
    score = salience(aged, now, options.retention)
    places = np.flatnonzero(idle & (new < options.unused_novelty))
    going = places[np.argsort(score[places], kind="stable")][: _most(aged, options, already)]
    return [
        _with_priority(
            aged,
            place,
            "archive",
            f"unused for {ages[place]:.0f} days, cited {aged.cited[place]} times, "
            f"salience {score[place]:.2f}, novelty {new[place]:.2f}",
        )
        for place in going.tolist()
    ]


def graduations(
    aged: Aged, asked: AbstractSet[str], options: PolicyOptions = POLICIES
) -> list[Change]:
    """Return rises in status: what waits for approval and was confirmed by further evidence is approved, and
    what was approved becomes active. What an open review is about waits for its answer.

    Args:
        aged: Derived memories.
        asked: Keys of the memories that open reviews are about.
        options: The numbers of the rule.
    """
    found: list[Change] = []
    for place in np.flatnonzero(aged.one_of(aged.status, "pending", "approved")).tolist():
        key, evidence = aged.keys[place], int(aged.evidence[place])
        if key in asked:
            continue
        if aged.status[place] == "approved":
            found.append(
                SetStatus(key=key, status="active", reason="approved, and nothing objected")
            )
        elif evidence >= options.confirmations:
            why = f"confirmed by {evidence} pieces of evidence"
            found.append(SetStatus(key=key, status="approved", reason=why))
    return found


def eviction_order(aged: Aged, options: PolicyOptions, score: Floats) -> NDArray[np.int64]:
    """int64[m]: places of the memories that may be evicted, the first to go first.

    Superseded facts go before active ones, then those of the lowest score. Never evicted are what is
    pinned, mandates, timeless facts, procedures, and what an active memory was derived from. Corrections,
    confirmed facts and what took the place of another have places of their own: only when they fill more
    than ``reserved_share`` of ``max_facts`` those of the lowest score compete with the others.

    Args:
        aged: Derived memories.
        options: The numbers of the rule.
        score: float32[n]: what each is worth.
    """
    ended = aged.one_of(aged.status, "superseded")
    timeless = _timeless(aged)
    may_go = (
        (_active(aged) | ended)
        & ~aged.begins(KEYS)
        & ~aged.pinned
        & ~aged.supports
        & ~aged.one_of(aged.priority, "mandate")
        & ~(timeless & ~ended)
    )
    reserved = np.flatnonzero(may_go & ~ended & (aged.verified | aged.corrects | aged.replaces))
    places = int((options.max_facts or 0) * options.reserved_share)
    may_go[reserved[np.argsort(-score[reserved], kind="stable")][:places]] = False
    order = np.lexsort((aged.ids, score, ~ended))
    found: NDArray[np.int64] = order[may_go[order]]
    return found


def evictions(
    view: LifecycleView, aged: Aged, options: PolicyOptions, now: int, already: int = 0
) -> list[Change]:
    """Return what is archived because a namespace has more than ``max_facts`` derived memories; ``already``
    is how many were this night. The older come first: what gave way to another is changed where the other
    goes before it."""
    standing = aged.take(~aged.one_of(aged.status, "archived"))
    counted = len(standing)
    if options.max_facts is None or counted <= options.max_facts:
        return []
    new = _novelty(view, standing)
    score = salience(standing, now, options.retention)
    parts = salience_parts(standing, now, options.retention)
    going = eviction_order(standing, options, score + np.float32(options.novelty_weight) * new)
    most = min(counted - options.max_facts, _most(aged, options, already))
    return [
        SetStatus(
            key=standing.keys[place],
            status="archived",
            reason=f"evicted, {counted} of at most {options.max_facts}: novelty {new[place]:.2f}, "
            f"salience {score[place]:.2f} ("
            + ", ".join(f"{name} {part[place]:.2f}" for name, part in parts.items())
            + ")",
        )
        for place in np.sort(going[:most]).tolist()
    ]


def moves(aged: Aged, asked: AbstractSet[str], options: PolicyOptions, now: int) -> list[str]:
    """Return the keys of the memories that have been archived for ``archive_after_days``, the longest first;
    what an open review is about waits for its answer.

    Args:
        aged: Derived memories.
        asked: Keys of the memories that open reviews are about.
    """
    if options.archive_after_days is None:
        return []
    latest = now - int(options.archive_after_days * DAY_US)
    places = np.flatnonzero(aged.one_of(aged.status, "archived") & (aged.archived_at <= latest))
    order = places[np.lexsort((aged.ids[places], aged.archived_at[places]))]
    return [key for place in order.tolist() if (key := aged.keys[place]) not in asked]


def decay_reviews(
    view: LifecycleView, aged: Aged, options: PolicyOptions, now: int
) -> list[Change]:
    """Return questions whether important memories that have nearly faded may go: delete, extend or pin. No
    more are asked than `PolicyOptions.max_reviews` with those that wait for an answer. Where no citation was
    counted within ``unused_days``, what a search or a prompt returned since then counts as in use, and where
    there was none either, nothing is asked: what nobody counts may be in use every day."""
    shown = aged.shown_at > now - options.unused_days * DAY_US
    if _use_is_measured(aged, options, now):
        shown = np.zeros(len(aged), np.bool_)
    elif not shown.any():
        return []
    left = retention(aged, now, options.retention)
    fading = (
        _active(aged)
        & ~shown
        & ~aged.begins(KEYS)
        & (aged.importance >= options.important)
        & (left < options.review_below)
        & ~_exempt(aged)
        & ~_single(aged)
    )
    asked = view.people_asked()
    order = np.flatnonzero(fading)
    order = order[np.argsort(left[order], kind="stable")]
    wanted = [place for place in order.tolist() if aged.keys[place] not in asked][
        : max(0, options.max_reviews - len(view.open_reviews(DECAY)))
    ]
    memories = {one.id: one for one in view.memories(aged.ids[np.array(wanted, np.int64)])}
    kept_at = datetime.fromtimestamp(now / 1_000_000, UTC).isoformat()
    found: list[Change] = []
    for place in wanted:
        memory = memories.get(int(aged.ids[place]))
        if memory is None:
            continue
        key, told = memory.key, int(aged.told_at[place])
        name = hashlib.sha256(f"{view.namespace}\0{key}\0{told}".encode()).hexdigest()[:16]
        found.append(
            OpenReview(
                id=f"{DECAY}/{name}",
                about=DECAY,
                question=f"{memory.text!r} has nearly faded: retention {left[place]:.2f}, cited "
                f"{aged.cited[place]} times. Does it still matter?",
                memories=(key,),
                options={
                    "delete": (RemoveMemory(key=key),),
                    "extend": (UpdateMemory(key=key, value={**memory.value, "kept_at": kept_at}),),
                    "pin": (UpdateMemory(key=key, facets=Facets(pinned=True)),),
                    "leave": (),
                },
                reason=f"retention {left[place]:.2f} is below {options.review_below}",
            )
        )
    return found


def unreachable_rules(aged: Aged, options: PolicyOptions) -> Iterator[str]:
    """Yield each rule that cannot fire, given the counts there are, with the figures and the next step."""
    cited = int(aged.cited.max(initial=0))
    loaded = int(aged.loaded.max(initial=0))
    if loaded >= 10 * options.guardrail_cited and not cited:
        yield (
            f"No memory is promoted: memories stood in prompts up to {loaded} times and none was ever "
            "cited. Show ids in the block (citations=True), or pass usage counts yourself."
        )
    relevant = float(aged.relevance.max(initial=0))
    enough = int((aged.cited >= options.guardrail_cited).sum())
    if enough and relevant < options.guardrail_relevance:
        yield (
            f"PolicyOptions.guardrail_relevance is {options.guardrail_relevance} and no memory has a mean "
            f"relevance above {relevant:.2f}, though {enough} were cited often enough. Lower it."
        )
    if enough and not aged.right.any():
        yield (
            "No memory becomes a mandate by use: answers were cited and none was ever counted as right. "
            "Run the chat graph with a checkpointer, which shows it the next message, or pass `succeeded` to "
            "store.admin.count_usage."
        )
    if options.mandate_right > options.mandate_cited:
        yield (
            f"PolicyOptions.mandate_right is {options.mandate_right}, above mandate_cited "
            f"({options.mandate_cited}): the second figure has no effect. Lower mandate_right."
        )
    if len(aged) and not cited:
        shown = bool((aged.shown_at != UNKNOWN_TIME).any())
        unasked = "" if shown else ", and nobody is asked about fading memories"
        yield (
            f"No memory is put away for lack of use{unasked}: no answer has cited one yet, so that nobody "
            "knows which are unused. Use RememberNode or MemoryMiddleware, or pass counts to "
            "store.admin.count_usage."
        )
    counted = len(aged)
    if options.max_facts is not None and counted > options.max_facts:
        evictable = len(eviction_order(aged, options, salience(aged, 0)))
        if evictable < counted - options.max_facts:
            yield (
                f"lifecycle.max_facts is {options.max_facts} and a namespace has {counted} derived "
                f"memories, of which only {evictable} may be evicted. Raise it, or unpin some."
            )


def _most(aged: Aged, options: PolicyOptions, already: int) -> int:
    return max(0, max(1, int(len(aged) * options.most_at_once)) - already)


def _novelty(view: LifecycleView, aged: Aged) -> Floats:
    """float32[n]: `novelty` among those that are not archived; 1 for these."""
    standing = ~aged.one_of(aged.status, "archived")
    said = {one.id: one.text for one in view.memories(aged.ids[standing])}
    found = np.ones(len(aged), np.float32)
    texts = [said[item] for item in aged.ids[standing].tolist()]
    told = len(aged) + view.moved()
    found[standing] = novelty(aged.take(standing), texts, told=told)
    return found


def _single(aged: Aged) -> Flags:
    """bool[n]: facts that hold until another takes their place, such as a home."""
    single = {name for name, relation in BY_NAME.items() if relation.is_single}
    return aged.one_of(aged.relation, *single)


def _active(aged: Aged) -> Flags:
    return aged.one_of(aged.status, "active")


def _timeless(aged: Aged) -> Flags:
    return np.fromiter((one == "timeless" for one in classes(aged)), np.bool_, len(aged))


def _exempt(aged: Aged) -> Flags:
    """bool[n]: what neither fades nor is put away by itself."""
    return aged.pinned | aged.verified | _timeless(aged)


def _use_is_measured(aged: Aged, options: PolicyOptions, now: int) -> bool:
    """Whether anything was cited within ``unused_days``."""
    return bool((aged.used_at > now - options.unused_days * DAY_US).any())


def _in_use(aged: Aged, place: int, options: PolicyOptions, now: int) -> bool:
    """Whether a memory that was put away is cited, or was said again. What somebody wrote has no evidence,
    and may have been meant to be put away from the beginning."""
    one = aged.take(np.array([place]))
    if not one.evidence[0]:
        return bool(one.used_at[0] > now - options.unused_days * DAY_US)
    return bool(
        one.cited[0] >= options.unused_cited or age_days(one, now)[0] <= options.unused_days
    )


def _with_priority(aged: Aged, place: int, priority: str, reason: str) -> Change:
    facets = Facets.model_validate({"priority": priority})
    return UpdateMemory(key=aged.keys[place], facets=facets, reason=reason)
