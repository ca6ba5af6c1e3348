"""From a draft or an outcome, and the procedures that are known, to changes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from langmemory.changes import AddMemory, Change, ChangeSet, Facets, Supersede, UpdateMemory
from langmemory.ports.facts import KnownFact, digest
from langmemory.procedures import (
    KEYS,
    Draft,
    Outcome,
    Outcomes,
    Procedure,
    Step,
    is_procedure,
    same_steps,
    same_words,
    standing,
)
from langmemory.types import Namespace

IMPORTANCE: Final = 0.7
MOST_REASON: Final = 120
"""Characters of why something failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """The changes that a draft asks for, and the procedure that holds afterwards."""

    procedure: Procedure
    changes: tuple[Change, ...] = ()
    replaced: Procedure | None = None
    """The version whose place it took."""


def plan(
    draft: Draft,
    known: Sequence[Procedure],
    namespace: Namespace,
    now: datetime,
    *,
    is_free: Callable[[str], bool] = lambda key: True,
) -> Planned:
    """Return what a draft changes.

    What is not known is added. The same steps again are another word for it, and after a run a success.
    Other steps take the place of the known ones, as a new version; but a run or an agent never replaces
    what a person said.

    Args:
        draft: The procedure.
        known: All versions that its owner may change, whatever their status.
        namespace: Where it is kept.
        now: When.
        is_free: Whether a key may be taken. What a person says anew may not be under the key of what was
            deleted; what a model reads anew is to be, so that it does not come back.
    """
    before = find(draft, [one for one in known if one.status == "active"])
    if before is None:
        return _new_procedure(_first(draft, known, namespace, now, is_free), draft)
    steps = _merge_steps(before.steps, draft.steps) if draft.in_order else draft.steps
    needs = (*before.preconditions, *_further(draft.preconditions, before.preconditions))
    if same_steps(steps, before.steps):
        return _again(before, draft, needs, now)
    if before.source == "person" and draft.source != "person":
        return Planned(procedure=before)
    version = _next_version(root_of(before.key), known, is_free)
    after = replace(
        before,
        key=_key(root_of(before.key), version),
        task=before.task,
        steps=steps,
        preconditions=needs if draft.in_order else draft.preconditions,
        source=draft.source,
        version=version,
        outcomes=_first_outcomes(draft, now),
    )
    after = replace(after, priority=after.standing[0])
    added = _new_procedure(after, draft)
    gone = Supersede(
        key=before.key, by=after.key, invalid_at=now, reason="its steps are others by now"
    )
    return replace(added, changes=(*added.changes, gone), replaced=before)


def plan_with_procedures(
    drafts: Iterable[Draft],
    known: Iterable[KnownFact],
    change_set: ChangeSet,
    now: datetime,
) -> ChangeSet:
    """Return a plan with the procedures that its turns tell, too. What is another's stays as it is, and so
    does what the plan changes already, because a turn it rests on was edited.

    Args:
        drafts: As `instructed` reads them.
        known: All procedures, the latest first.
        change_set: The plan.
        now: When.
    """
    touched = {getattr(one, "key", None) for one in change_set.changes}
    held, sources = list[Procedure](), dict[str, tuple[str, ...]]()
    for each in known:
        if is_procedure(each.memory.value):
            one = Procedure.of(each.memory)
            held.append(replace(one, status="archived") if one.key in touched else one)
            sources[one.key] = each.evidence
    changes: list[Change] = []
    for draft in drafts:
        before = find(draft, [one for one in held if one.status == "active"])
        if before is not None and before.owner not in (None, draft.owner):
            continue
        if before is not None and sources.get(before.key) == draft.evidence:
            draft = _said_otherwise(draft, before, held)
        made = plan(draft, held, change_set.namespace, now)
        changes += made.changes
        gone = {made.procedure.key, made.replaced.key if made.replaced else None}
        held = [made.procedure, *(one for one in held if one.key not in gone)]
    return change_set.model_copy(update={"changes": (*change_set.changes, *changes)})


def outcome(
    before: Procedure,
    came: Outcome,
    *,
    now: datetime,
    why: str = "",
    revises: Outcome | None = None,
) -> UpdateMemory:
    """Return the change that records what came of following a procedure.

    Args:
        before: The procedure.
        came: The outcome.
        now: When it was followed.
        why: Why it failed, in a few words that no tool and no document wrote.
        revises: The outcome that was recorded of the same use before, and is taken back.
    """
    counts = {"succeeded": before.outcomes.succeeded, "failed": before.outcomes.failed}
    if revises is not None:
        counts[revises] = max(counts[revises] - 1, 0)
    counts[came] += 1
    known = before.outcomes.last_failure
    why = " ".join(why.split())[:MOST_REASON]
    outcomes = Outcomes(
        **counts, last_used=now, last_failure=(why or known) if came == "failed" else known
    )
    after = replace(before, outcomes=outcomes)
    priority, because = after.standing
    moved = _moves(before) and priority != before.priority
    return UpdateMemory(
        key=before.key,
        value=after.value,
        facets=Facets(priority=priority) if moved else Facets(),
        reason=f"{came}{f': {why}' if why else ''}{f'; shown as {priority}: {because}' if moved else ''}",
    )


def find(draft: Draft, known: Sequence[Procedure]) -> Procedure | None:
    """Return the known procedure that a draft speaks of: of the same owner, as private, and of the same
    task; of a draft that says an order, also the latest one that has its last step."""
    circle = [one for one in known if _whose(one) == _whose(draft)]
    if draft.same_as is not None:
        return next((one for one in circle if one.key == draft.same_as), None)
    by_task = [one for one in circle if same_words(one.task, draft.task)]
    if by_task or not draft.in_order:
        return next(iter(by_task), None)
    last = draft.steps[-1].text
    having = (one for one in circle if any(same_words(step.text, last) for step in one.steps))
    return next(having, None)


def _said_otherwise(draft: Draft, before: Procedure, known: Sequence[Procedure]) -> Draft:
    """Return a draft of the turn that the known procedure was made of, which says something else by now: its
    steps count instead of the earlier ones, among those of the version before."""
    replaced = next((one for one in known if one.superseded_by == before.key), None)
    steps = draft.steps if replaced is None else _merge_steps(replaced.steps, draft.steps)
    return replace(draft, steps=steps, in_order=False, same_as=before.key)


def _whose(one: Draft | Procedure) -> tuple[str | None, bool]:
    private = one.privacy == "private"
    return (one.owner if private else None), private


def _first(
    draft: Draft,
    known: Sequence[Procedure],
    namespace: Namespace,
    now: datetime,
    is_free: Callable[[str], bool],
) -> Procedure:
    """Return the draft as a procedure of its own, under a key that no ended one has."""
    owner, private = _whose(draft)
    root = f"{KEYS}{digest(*([owner or ''] if private else []), ' '.join(draft.task.casefold().split()))}"
    version = _next_version(root, known, is_free)
    return Procedure(
        namespace=namespace,
        key=_key(root, version),
        task=draft.task,
        steps=draft.steps,
        preconditions=draft.preconditions,
        source=draft.source,
        version=version,
        outcomes=_first_outcomes(draft, now),
        owner=draft.owner,
        privacy=draft.privacy,
        priority=standing(draft.source, _first_outcomes(draft, now))[0],
    )


def _new_procedure(after: Procedure, draft: Draft) -> Planned:
    add = AddMemory(
        key=after.key,
        value=after.value,
        facets=Facets(
            kind="procedural", priority=after.priority, importance=IMPORTANCE, owner=after.owner,
            privacy=after.privacy, status="active",
        ),
        evidence=draft.evidence,
        reason=after.standing[1],
    )  # fmt: skip
    return Planned(procedure=after, changes=(add,))


def _again(before: Procedure, draft: Draft, needs: tuple[str, ...], now: datetime) -> Planned:
    """Return the known procedure, which was told or done once more."""
    tools = tuple(
        replace(old, tool=old.tool or new.tool)
        for old, new in zip(before.steps, draft.steps, strict=False)
    ) if len(draft.steps) == len(before.steps) else before.steps  # fmt: skip
    after = replace(before, preconditions=needs, steps=tools)
    if draft.source == "person":
        after = replace(after, source="person")
    if draft.source == "run":
        counts = replace(before.outcomes, succeeded=before.outcomes.succeeded + 1, last_used=now)
        after = replace(after, outcomes=counts)
    after = replace(after, priority=after.standing[0] if _moves(before) else before.priority)
    if after == before and not draft.evidence:
        return Planned(procedure=before)
    update = UpdateMemory(
        key=before.key,
        value=after.value,
        facets=Facets(priority=after.priority) if after.priority != before.priority else Facets(),
        evidence=draft.evidence,
        reason="done so again" if draft.source == "run" else "said again",
    )
    return Planned(procedure=after, changes=(update,))


def _moves(one: Procedure) -> bool:
    """Whether outcomes decide how it is shown, and no person made it a mandate or put it away."""
    return one.priority in ("guardrail", "reference")


def _first_outcomes(draft: Draft, now: datetime) -> Outcomes:
    """Return the first count: a run that ended well was one success."""
    return Outcomes(succeeded=1, last_used=now) if draft.source == "run" else Outcomes()


def _merge_steps(known: Sequence[Step], said: Sequence[Step]) -> tuple[Step, ...]:
    """Return the known steps with those said in their order, at the place of the last of them."""
    at = next((n for n, one in enumerate(known) if same_words(one.text, said[-1].text)), len(known))
    old = {one.text: next((k for k in known if same_words(k.text, one.text)), one) for one in said}
    kept = [one not in old.values() for one in known]
    before = [one for one, stays in zip(known[:at], kept[:at], strict=True) if stays]
    after = [one for one, stays in zip(known[at:], kept[at:], strict=True) if stays]
    return (*before, *(old[one.text] for one in said), *after)


def _further(texts: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    return (text for text in texts if not any(same_words(text, one) for one in known))


def _next_version(root: str, known: Sequence[Procedure], is_free: Callable[[str], bool]) -> int:
    version = 1 + max((one.version for one in known if root_of(one.key) == root), default=0)
    while not is_free(_key(root, version)):
        version += 1
    return version


def _key(root: str, version: int) -> str:
    return root if version == 1 else f"{root}/{version}"


def root_of(key: str) -> str:
    """Return the key of the first version."""
    return "/".join(key.split("/")[:2])
