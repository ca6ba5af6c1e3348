"""The task ``consolidate``: gather, find themes, ask, check, write.

The phases are three functions of one task, not three nodes of the graph: a node hands on its state through
the checkpointer, and what a phase hands on is memory text, vectors and a snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from langchain_core.messages import HumanMessage, SystemMessage

from langmemory.changes import Change, OpenReview
from langmemory.context.tokens import count_text
from langmemory.errors import ExtractionError, ModelUnavailableError
from langmemory.formation.asking.asker import Answered, Asker, Question
from langmemory.formation.prompts import prompt
from langmemory.lifecycle.consolidation import deep
from langmemory.lifecycle.consolidation.deep import Block
from langmemory.lifecycle.consolidation.listing import (
    MOST,
    SCHEMA,
    TASK,
    CoreText,
    Gathered,
    Listing,
    gather,
)
from langmemory.lifecycle.consolidation.themes import Theme, folded, habits, rules, themes
from langmemory.lifecycle.consolidation.validator import Checked, checked
from langmemory.maintenance.edits import take_edits
from langmemory.maintenance.night import Night, keys_of, planned_again
from langmemory.maintenance.report import TaskReport
from langmemory.types import Memory, Namespace

LABELS: Final = ("persona", "human", "task")
"""Core blocks that everybody has."""
REASON: Final = "consolidation"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """What was read in one snapshot."""

    gathered: Gathered
    themes: list[Theme]
    corrections: list[Memory]
    concluded: list[Memory]
    asked: frozenset[str]
    suggestions: list[OpenReview]
    seq: int


def consolidate(night: Night, report: TaskReport) -> None:
    """Consolidate every namespace: by rules, and by a model where there is one. What people changed in
    `MEMORY.md` is taken up before."""
    if (folder := night.store.config.journal.path) is not None and not night.dry_run:
        taken = take_edits(night.store, folder, now=night.now(), prefix=night.prefix)
        report.refused += taken.refused
        if taken.files:
            report.figures["edited_pages"] = len(taken.files)
    for namespace in night.namespaces(report):
        answers: dict[str, Checked] = {}
        planned_again(report, partial(_one, night, report, namespace, answers))


def _one(
    night: Night, report: TaskReport, namespace: Namespace, answers: dict[str, Checked]
) -> None:
    """Consolidate one namespace. A model's answer is kept, so that planning anew does not ask again."""
    found = _read(night, namespace)
    undone = night.room.undone_keys(namespace, TASK)
    by_rules: list[Change] = [
        *folded(namespace, found.suggestions, undone),
        *habits(found.themes),
        *rules(found.gathered, found.corrections, found.asked),
    ]
    if not by_rules and not len(found.gathered.changed):
        return
    report.figures["gathered"] = report.figures.get("gathered", 0) + len(found.gathered.changed)
    report.figures["themes"] = report.figures.get("themes", 0) + len(found.themes)
    if found.gathered.left:
        report.advice.append(
            f"{found.gathered.left} changes of {'/'.join(namespace)} were left out: a night looks at the "
            f"{MOST:,} that were corrected or told last."
        )
    changed = {key for one in by_rules for key in keys_of(one)}
    blocks = _blocks(night, namespace)
    planned, core, reached = list(by_rules), list[tuple[CoreText, Listing]](), True
    listings = (
        deep.listings(found.themes, found.concluded, blocks, without=changed)
        if night.model is not None
        else ()
    )
    for listing in listings:
        if not (reached := _answered(night, report, listing, answers)):
            break
        accepted = answers.get(listing.shown(), Checked()).accepted
        planned += deep.changes(accepted, listing, namespace)
        core += [(one, listing) for one in accepted if isinstance(one, CoreText)]
    night.apply(report, namespace, planned, reason=REASON, planned_at=found.seq)
    _propose(night, report, namespace, core, blocks)
    if reached and not night.dry_run:
        night.room.advance(TASK, namespace, found.seq)


def _read(night: Night, namespace: Namespace) -> _Found:
    """Gather and find themes, in one snapshot that is closed before a model is asked."""
    with night.room.view(namespace) as view:
        gathered = gather(view, view.aged())
        aged = gathered.aged
        some = len(gathered.changed) > 0
        none = np.zeros(0, np.int64)
        return _Found(
            gathered=gathered,
            themes=themes(view, gathered) if some else [],
            corrections=view.memories(aged.ids[aged.corrects] if some else none),
            concluded=view.memories(gathered.concluded.ids if some else none),
            asked=view.people_asked(),
            suggestions=view.open_reviews("core"),
            seq=view.seq,
        )


def _answered(
    night: Night, report: TaskReport, listing: Listing, answers: dict[str, Checked]
) -> bool:
    """Ask a model about a listing, unless it was asked already; whether it could be reached, or need not.
    An answer that cannot be used counts as one: the same would come of it tomorrow."""
    shown = listing.shown()
    if shown in answers or night.model is None:
        return True
    if not night.may_ask(report):
        report.refused.append(f"{len(listing.memories)} memories were not shown to the model")
        return True
    night.check_budget(report)
    messages = (SystemMessage(prompt("consolidate")), HumanMessage(shown))
    question = Question(messages=messages, read=lambda answer: checked(answer, listing))
    report.tokens += count_text(prompt("consolidate") + shown)
    try:
        answered: Answered[Checked] = Asker(night.model, SCHEMA).ask(question)
    except ModelUnavailableError as error:
        report.model_calls += 1
        report.error = str(error)
        return False
    except ExtractionError as error:
        report.model_calls += error.model_calls
        report.refused.append(str(error))
        answers[shown] = Checked()
        return True
    report.model_calls += answered.calls
    report.refused += answered.value.refused
    answers[shown] = answered.value
    return True


def _blocks(night: Night, namespace: Namespace) -> Mapping[str, Block]:
    """Core blocks by label."""
    place = (*namespace, "core")
    found = night.store.search(place, limit=100, refresh_ttl=False)
    written = {one.key: Block(value=one.value) for one in found if one.namespace == place}
    return {**{label: Block(value={}) for label in LABELS}, **written}


def _propose(
    night: Night,
    report: TaskReport,
    namespace: Namespace,
    core: list[tuple[CoreText, Listing]],
    blocks: Mapping[str, Block],
) -> None:
    """Ask whether core blocks are to say something else, in their own namespace."""
    place = (*namespace, "core")
    undone = night.room.undone_keys(place, TASK)
    with night.room.view(place) as view:
        planned = list(deep.proposals(core, blocks, view.open_reviews("core"), place, undone))
        seq = view.seq
    night.apply(report, place, planned, reason=REASON, planned_at=seq)
