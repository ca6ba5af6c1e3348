"""The tasks of a night, in order. Each looks at every namespace and applies what its rule plans.

The phases of ``consolidate`` are functions of one task: gather, find themes, ask, check, write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import ValidationError

from langmemory.changes import Change, OpenReview
from langmemory.chat_models import ask_briefly, shown_at_once
from langmemory.context.marking import quoted_lines
from langmemory.context.tokens import count_text
from langmemory.errors import DatabaseError, ExtractionError, ModelUnavailableError
from langmemory.formation.asking.asker import (
    ANSWER_SECONDS,
    Answered,
    Asker,
    Question,
    seconds_left,
)
from langmemory.formation.asking.json_answers import BadAnswerError, json_object
from langmemory.formation.contradiction.pairs import Group
from langmemory.formation.judging import ModelJudge, StructuralJudge, Verdicts
from langmemory.formation.prompts import prompt
from langmemory.lifecycle import policies
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
from langmemory.lifecycle.consolidation.themes import (
    Theme,
    habits,
    merge_block_suggestions,
    rules,
    themes,
)
from langmemory.lifecycle.consolidation.validator import Checked, validate_answer
from langmemory.lifecycle.contradictions import changes_of_verdicts, contradicting
from langmemory.lifecycle.entities import one_and_the_same
from langmemory.lifecycle.neighbours import (
    MOST_ASKED,
    Written,
    WrittenNotes,
    alike,
    compare_candidates,
    is_usable,
    merges,
    note_changes,
    questions,
)
from langmemory.lifecycle.summaries import tree
from langmemory.lifecycle.summaries.nodes import LEVELS, Level
from langmemory.maintenance.edits import take_edits
from langmemory.maintenance.night import Night, keys_of, planned_again
from langmemory.maintenance.report import TaskReport, quote_line
from langmemory.operations.gathering import Gathering
from langmemory.pacing import in_steps
from langmemory.pluralize import count_noun
from langmemory.ports.facts import SnapshotKnowledge
from langmemory.ports.lifecycle import Aged, LifecycleView, News
from langmemory.projections.journal import JournalFiles, distilled_through
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
        planned_again(report, partial(_consolidate_namespace, night, report, namespace, answers))


def _consolidate_namespace(
    night: Night, report: TaskReport, namespace: Namespace, answers: dict[str, Checked]
) -> None:
    """Consolidate one namespace. A model's answer is kept, so that planning anew does not ask again."""
    found = _read_consolidation(night, namespace)
    undone = night.room.undone_keys(namespace, TASK)
    by_rules: list[Change] = [
        *merge_block_suggestions(namespace, found.suggestions, undone),
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
        deep.listings(
            found.themes,
            found.concluded,
            blocks,
            without=changed,
            most=shown_at_once(night.model, deep.MOST_LISTED, deep.LISTED_TOKENS),
        )
        if night.model is not None
        else ()
    )
    for listing in listings:
        if not (reached := _ask_about_listing(night, report, listing, answers)):
            break
        accepted = answers.get(listing.shown(), Checked()).accepted
        planned += deep.changes(accepted, listing, namespace)
        core += [(one, listing) for one in accepted if isinstance(one, CoreText)]
    night.apply(report, namespace, planned, reason=REASON, planned_at=found.seq)
    _propose(night, report, namespace, core, blocks)
    if reached and not night.dry_run:
        night.room.advance(TASK, namespace, found.seq)


def _read_consolidation(night: Night, namespace: Namespace) -> _Found:
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


def _ask_about_listing(
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
    question = Question(messages=messages, read=lambda answer: validate_answer(answer, listing))
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


AT_ONCE: Final = 10_000
"""New memories that are read and compared before anything is written."""
FOUND_AT_ONCE: Final = 25_000
"""The same where only those are read that look alike: everything they are compared with is looked up anew
for each part."""

Comparison = Callable[[Night, TaskReport, LifecycleView, SnapshotKnowledge, News], list[Change]]


def of_what_is_new(
    night: Night,
    report: TaskReport,
    namespace: Namespace,
    compare: Comparison,
    reason: str,
    *,
    at_once: int,
) -> None:
    """Plan and apply what follows from what changed since a task looked last, in parts. What was taken into
    account is noted after each, so that a night that ends early goes on there."""
    since: int | None = None
    more = True

    def attempt() -> None:
        nonlocal since, more
        with ExitStack() as opened:
            view = opened.enter_context(night.room.view(namespace))
            knowledge = opened.enter_context(Gathering(night.store).knowledge(namespace))
            begun = view.progress(report.task) if since is None else since
            news = view.news(begun, at_once)
            changes = compare(night, report, view, knowledge, news) if len(news.ids) else []
            planned_at = min(view.seq, knowledge.seq)
        night.apply(report, namespace, changes, reason=reason, planned_at=planned_at)
        if not night.dry_run and news.reached > begun:
            night.room.advance(report.task, namespace, news.reached)
        since, more = news.reached, len(news.ids) == at_once

    while more:
        night.check_budget(report)
        planned_again(report, attempt)


def duplicates(night: Night, report: TaskReport) -> None:
    """Merge what came to say the same, and ask about what may."""
    for namespace in night.namespaces(report):
        of_what_is_new(
            night, report, namespace, _duplicates, "memories that say the same",
            at_once=FOUND_AT_ONCE,
        )  # fmt: skip


def _duplicates(
    night: Night, report: TaskReport, view: LifecycleView, knowledge: SnapshotKnowledge, news: News
) -> list[Change]:
    pairs = alike(view, view.aged(), news)
    night.check_budget(report)
    found = compare_candidates(pairs, knowledge, news.formed)
    named = view.named_entities()
    asked, together = _asked(night, view.namespace)
    unsure = [
        one
        for one in found.unsure
        if frozenset((one[0].memory.key, one[1].memory.key)) not in together
    ]
    if (left := len(unsure) - MOST_ASKED) > 0:
        report.refused.append(
            f"{count_noun(left, 'pair')} that may say the same, beyond the questions"
        )
    return [
        *merges(found.merged),
        *questions(view.namespace, unsure),
        *one_and_the_same(view.namespace, named, asked),
    ]


def contradictions(night: Night, report: TaskReport) -> None:
    """Supersede what cannot hold beside something else, where that is certain, and ask about the rest."""
    verdicts: list[Verdicts] = []

    def compare(
        night: Night,
        report: TaskReport,
        view: LifecycleView,
        knowledge: SnapshotKnowledge,
        news: News,
    ) -> list[Change]:
        facts = knowledge.known(one for one in news.ids.tolist() if one not in news.formed)
        groups = contradicting(facts, knowledge, _asked(night, view.namespace)[1])
        for group in groups:
            if all(one.group != group for one in verdicts):  # an earlier plan may have asked
                verdicts.append(_judge_group(night, report, group))
        found = [one for one in verdicts if one.group in groups]
        return changes_of_verdicts(found, knowledge, night.now())

    for namespace in night.namespaces(report):
        verdicts.clear()
        of_what_is_new(
            night, report, namespace, compare, "facts that exclude each other", at_once=AT_ONCE
        )


def _judge_group(night: Night, report: TaskReport, group: Group) -> Verdicts:
    """Let the model decide what structure leaves open, once for a group."""
    if not group.open or not night.may_ask(report) or night.model is None:
        return StructuralJudge().judge(group)
    found = ModelJudge(night.model).judge(group)
    report.model_calls += found.model_calls
    report.refused += [one for one in (found.failure, found.problem) if one is not None]
    return found


def _asked(night: Night, namespace: Namespace) -> tuple[frozenset[str], frozenset[frozenset[str]]]:
    """The ids of questions there ever were, and the keys of the memories each was about, two by two."""
    found = [
        one
        for one in night.store.changes.reviews(namespace, open_only=False)
        if one.namespace == namespace
    ]
    together = {
        frozenset((one, other))
        for review in found
        for at, other in enumerate(review.memories)
        for one in review.memories[:at]
    }
    return frozenset(one.id for one in found), frozenset(together)


def summarise(night: Night, report: TaskReport) -> None:
    """Bring the tree of summaries up to date, level by level: the one above retells the one below."""
    for namespace in night.namespaces(report):
        planned = list[Change]()
        reached = [_summarise(night, report, namespace, level, planned) for level in LEVELS]
        if not night.dry_run:
            night.room.advance(tree.TASK, namespace, reached[0])


def _summarise(
    night: Night, report: TaskReport, namespace: Namespace, level: Level, planned: list[Change]
) -> int:
    """Do one level of one namespace; return the place in the history that was taken into account. A dry run
    changes nothing, so that the levels above are planned on what it has planned."""
    undone = night.room.undone_keys(namespace, tree.TASK)
    ask = None if night.model is None else lambda prompt: ask_model(night, report, prompt)
    reached = 0

    def plan() -> None:
        nonlocal reached
        with night.room.view(namespace) as view:
            planning = tree.Planning(
                view=view, level=level, ask=ask, undone=undone, refused=report.refused,
                planned=planned,
                most_units=shown_at_once(night.model, tree.MOST_UNITS, tree.UNIT_TOKENS),
            )  # fmt: skip
            changes, reached = planning.changes(), view.seq
        there = [tree.without_evidence(one, planned) for one in changes]
        night.apply(report, namespace, there, reason=f"summaries: {level}", planned_at=reached)
        if night.dry_run:
            planned.extend(changes)

    planned_again(report, plan)
    return reached


def ask_model(night: Night, report: TaskReport, prompt: str) -> str | None:
    """Return what the model answers; None where it may not be asked, or cannot be reached."""
    if night.model is None or not night.may_ask(report):
        return None
    report.model_calls += 1
    try:
        answer = ask_briefly(night.model, prompt, seconds=min(ANSWER_SECONDS, seconds_left()))
    except Exception as error:  # whatever a provider raises: the rules do without
        night.model = None  # not asked again in this task
        report.refused.append(
            f"the model failed ({type(error).__name__}): rules write the rest, the next night asks again"
        )
        return None
    report.tokens += count_text(prompt) + count_text(answer)
    return answer


def journal(night: Night, report: TaskReport) -> None:
    """Let one page stand for each month of the journal that is over, with its days in the archive. No memory
    changes: the store notes which months these are, and the files follow."""
    folder = night.store.config.journal.path
    if folder is None:
        report.refused.append("there is no journal: journal.path is not set")
        return
    pages = night.store.journal
    through = distilled_through(night.config.journal, night.now())
    months = pages.distil(night.prefix, through=through, dry_run=night.dry_run)
    report.figures["months"] = len(months)
    for (namespace, month), days in months.items():
        verb = "moved back" if through is None else "distilled"
        days_there = (
            f"its {count_noun(days, 'day')}, {'from' if through is None else 'in'} archive/{month}"
        )
        report.told.append(f"{verb}: {'/'.join(namespace)}/{month}.md ({days_there})")
    if night.dry_run:
        return
    try:
        files = JournalFiles(folder)
        if files.folder not in pages.folders() or not files.folder.is_dir():  # never written yet
            report.figures["written"] = files.rebuild(pages)
    except OSError as error:
        report.refused.append(f"{folder} cannot be written to: {error.strerror}")
    if not pages.follow():
        report.refused.append("some pages could not be written; the log says which, and what to do")


MOVED_AT_ONCE: Final = 25
"""Memories that move in one transaction, which two files are written to (about 20 ms)."""

Task = Callable[[Night, TaskReport], None]
"""Does one task of a night and notes in the report what came of it. It may raise: the others go on."""

Rule = Callable[[Night, LifecycleView, Aged], list[Change]]


def by_rule(reason: str, rule: Rule) -> Task:
    """Return a task that applies, in every namespace, the changes that a rule plans."""

    def task(night: Night, report: TaskReport) -> None:
        def plan(namespace: Namespace) -> None:
            with night.room.view(namespace) as view:
                changes = rule(night, view, view.aged())
                planned_at = view.seq
            night.apply(report, namespace, changes, reason=reason, planned_at=planned_at)

        for namespace in night.namespaces(report):
            planned_again(report, partial(plan, namespace))

    return task


def health(night: Night, report: TaskReport) -> None:
    """Check the file, and note figures of the memory with what they ask for.

    Raises:
        DatabaseError: The file is inconsistent; `langmemory doctor` says where.
    """
    if wrong := night.store.admin.check():
        raise DatabaseError(f"{wrong[0]} ({len(wrong)} in all). Run `langmemory doctor`.")
    found = night.store.admin.health(night.prefix, now=night.now())
    names = ("facts", "unread_turns", "duplicates", "reviews", "stale", "file_bytes")
    report.figures |= {name: getattr(found, name) for name in names}
    report.advice += [f"{finding.what}. {finding.advice}" for finding in found.findings()]


def optimise(night: Night, report: TaskReport) -> None:
    """Do what keeps the file fast and small."""
    if not night.dry_run:
        report.figures |= night.room.optimise()


def expire(night: Night, report: TaskReport) -> None:
    """Delete what has outlived its time to live."""
    if not night.dry_run:
        report.figures["expired"] = night.store.sweep_ttl()


def archive(night: Night, report: TaskReport) -> None:
    """Move what was archived long ago to the archive file, in steps between which others write.

    Raises:
        DatabaseError: The archive file is another memory file's, or not where memories moved to.
    """
    file = night.room.archive
    if night.policies.archive_after_days is None or file.path is None:
        return
    if missing := file.missing():
        raise DatabaseError(missing)
    if not night.dry_run:
        report.figures["swept"] = file.sweep()
    for namespace in night.namespaces(report):
        moved = True
        while moved:  # what a memory was derived from can go once that has gone
            moved = _move_all(night, report, namespace) and not night.dry_run


def _move_all(night: Night, report: TaskReport, namespace: Namespace) -> bool:
    """Move what may move of one namespace; return whether anything moved."""
    with night.room.view(namespace) as view:
        going = policies.moves(view.aged(), view.people_asked(), night.policies, night.now_us)
    undone = night.room.undone_keys(namespace, report.task)
    going = night.room.archive.movable(namespace, [key for key in going if key not in undone])
    for some in in_steps(going, MOVED_AT_ONCE):
        night.check_budget(report)
        texts = night.room.texts(namespace, some)
        if not night.dry_run:
            run_id = night.next_run(report)
            some = night.room.archive.move(
                namespace, some, run_id=run_id, reason="archived long ago",
                note={"night": night.id, "task": report.task},
            )  # fmt: skip
            report.runs += [run_id] if some else []
        report.lines += [f"move {key} to the archive file" for key in some]
        report.told += [
            f"moved to the archive file: {quote_line(texts.get(key, key))}" for key in some
        ]
    return bool(going)


SHOWN: Final = 20
"""Memories that a model of unknown window is shown at once."""
NOTE_TOKENS: Final = 500
"""Of the longest one, with what is near it."""

_Shown = Sequence[tuple[Memory, Sequence[str]]]


def notes(night: Night, report: TaskReport) -> None:
    """Give each new memory a note, and its neighbours the tags they share, if ``lifecycle.notes`` is on."""
    if night.config.notes:
        for namespace in night.namespaces(report):
            of_what_is_new(
                night, report, namespace, _notes, "notes on new memories", at_once=AT_ONCE
            )


def _notes(
    night: Night, report: TaskReport, view: LifecycleView, _: SnapshotKnowledge, news: News
) -> list[Change]:
    def writer(shown: _Shown) -> Mapping[int, Written]:
        found: dict[int, Written] = {}
        at_once = shown_at_once(night.model, SHOWN, NOTE_TOKENS)
        for start in range(0, len(shown), at_once):
            if night.may_ask(report):
                some = shown[start : start + at_once]
                found |= {
                    start + at: one for at, one in _written_notes(night, report, some).items()
                }
        return found

    return note_changes(view, view.aged(), news, writer if night.model is not None else None)


def _written_notes(night: Night, report: TaskReport, shown: _Shown) -> Mapping[int, Written]:
    """The notes of a model that say nothing new, by place; what it leaves out is noted by rule."""
    assert night.model is not None
    asker = Asker(night.model, WrittenNotes.model_json_schema())
    told = "\n\n".join(
        "\n".join(
            [f"Memory {number}:", *quoted_lines(memory.text[:600]), "Near it:"]
            + [line for text in beside for line in quoted_lines(text[:300])]
        )
        for number, (memory, beside) in enumerate(shown, start=1)
    )
    try:
        answered = asker.ask(
            Question(messages=(SystemMessage(prompt("notes")), HumanMessage(told)), read=_read)
        )
    except (ExtractionError, ModelUnavailableError) as error:
        report.model_calls += getattr(error, "model_calls", 0) or 1
        report.refused.append(f"notes by rule: {error}")
        return {}
    report.model_calls += answered.calls
    found = {
        one.memory - 1: one
        for one in answered.value
        if 1 <= one.memory <= len(shown) and is_usable(one, *shown[one.memory - 1])
    }
    if left := len(answered.value) - len(found):
        report.refused.append(f"{count_noun(left, 'note')} with words that no memory has")
    return found


def _read(answer: str) -> list[Written]:
    entries = json_object(answer, field="notes", entry="context").value["notes"]
    found = []
    for entry in entries:
        try:
            found.append(Written.model_validate(entry))
        except ValidationError:
            continue
    if not found:
        raise BadAnswerError("it holds no note")
    return found


TASKS: Final[Mapping[str, Task]] = {
    "health": health,
    "expire": expire,
    "duplicates": duplicates,
    "contradictions": contradictions,
    "reviews": by_rule(
        "fading memories that are asked about",
        lambda night, view, aged: policies.decay_reviews(view, aged, night.policies, night.now_us),
    ),
    "promote": by_rule(
        "priorities by use",
        lambda night, view, aged: policies.ask_about_mandates(
            view, aged, policies.promotions(aged, night.policies, night.now_us)
        ),
    ),
    "demote": by_rule(
        "unused memories",
        lambda night, view, aged: policies.demotions(
            view, aged, night.policies, night.now_us, night.already("demote", view.namespace)
        ),
    ),
    "evict": by_rule(
        "more memories than max_facts",
        lambda night, view, aged: policies.evictions(
            view, aged, night.policies, night.now_us, night.already("evict", view.namespace)
        ),
    ),
    "archive": archive,
    "notes": notes,
    "consolidate": consolidate,
    "summarise": summarise,
    "journal": journal,
    "optimise": optimise,
    "graduate": by_rule(
        "approved memories",
        lambda night, view, aged: policies.graduations(aged, view.people_asked(), night.policies),
    ),
}
"""By name, in the order in which a night does them. ``graduate`` is the last, and left out where another
failed."""
