"""`langmemory reflect`: read now what nobody has read, in the foreground, and say what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from langmemory.cli.target import JsonOption, Target
from langmemory.cli.terminal import json_text, say
from langmemory.errors import ExtractionError
from langmemory.pluralize import count_noun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from langmemory.stores import MemoryStore
    from langmemory.types import Namespace


def reflect(
    target: Target,
    *,
    thread: str | None = None,
    dry_run: bool = False,
    again: bool = False,
    run: str | None = None,
    as_json: JsonOption = False,
) -> None:
    """Turn what was said into knowledge now, without a worker.

    Works by rules, or by the model that the configuration names as models.deep.
    Without --namespace, the whole file.

    Args:
        thread (NAME): Only this conversation.
        dry_run: Show the plan for the next batch of each conversation.
        again: Read once more what a model could make nothing of.
        run: With --again: what this run read, also if it was undone.
    """
    from langmemory.cli.screen import Screen

    if run is not None and (thread is not None or not again):
        raise typer.BadParameter("--run goes with --again, and without --thread.")
    if again and dry_run:
        raise typer.BadParameter("--again changes what is unread; it has no --dry-run.")
    console = Screen()
    totals = dict.fromkeys(("runs", "added", "superseded", "reviews", "model_calls"), 0)
    problems: list[str] = []
    started = time.perf_counter()
    with target.open() as store:
        if again:
            to_read = _let_go(store, target.namespace(), thread, run)
            if not as_json:
                again_read = count_noun(len(to_read), "batch", "batches")
                console.print(f"{again_read} to be read again", style="dim")
        if run is None:  # else nothing but what it read
            unread = store.admin.unread_threads(target.namespace())
            to_read = [_Reading(one.namespace, one.thread_id) for one in unread]
        to_read = [one for one in to_read if thread in (None, one.thread_id)]
        if not to_read:
            target.note_unknown(store, target.namespace())
        if dry_run:
            _show_plans(console, store, to_read, as_json)
            return
        from langmemory.graphs.reflection import batches, build_reflection_graph

        graph = build_reflection_graph(store)
        for each in _together(to_read, thread):
            for batch, done in batches(
                store, each.namespace, each.thread_id, each.turns, graph=graph
            ):
                _add(totals, done)
                problems += filter(None, [done.get("problem")])
                if not as_json:
                    show_batch(console, store, batch, done)
    if as_json:
        say(json_text(totals))
    elif totals["runs"]:
        seconds = time.perf_counter() - started
        console.print(f"\n{_came_to(totals)}, {seconds:.1f} s", style="dim")
    else:
        console.print(f"Nothing is unread in {thread}." if thread else "Everything has been read.")
    _check(problems, totals["runs"])


@dataclass(frozen=True, slots=True)
class _Reading:
    """A conversation that is to be read, or some turns of one."""

    namespace: Namespace
    thread_id: str | None
    """None is every conversation there."""
    turns: list[str] | None = None
    """Their keys; None is all that nobody has read."""


def _together(to_read: list[_Reading], thread: str | None) -> Iterator[_Reading]:
    """Yield one reading for each namespace, which goes by when the turns were said, and what is
    limited to some turns as it is."""
    seen: set[Namespace] = set()
    for one in to_read:
        if one.turns is not None:
            yield one
        elif one.namespace not in seen:
            seen.add(one.namespace)
            yield _Reading(one.namespace, thread)


def _let_go(
    store: MemoryStore, place: Namespace, thread: str | None, run: str | None
) -> list[_Reading]:
    """Let turns be read once more. Returns those that can be, by the run that read them before."""
    from langmemory.operations.gathering import Gathering

    read = Gathering(store).turns_read(run) if run is not None else []
    runs = store.changes.read_again(place, thread_id=thread, run_id=run)
    if run is None:
        return [_Reading(one.namespace, str(one.note.get("thread_id"))) for one in runs]
    return [_Reading(one.namespace, str(one.note.get("thread_id")), read) for one in runs if read]


def _check(problems: list[str], batches: int) -> None:
    """Raises ExtractionError where a model could make nothing of some of the batches."""
    if problems:
        raise ExtractionError(
            f"{len(problems)} of {count_noun(batches, 'batch', 'batches')} could not be extracted: "
            f"{problems[0]} What was said is kept word for word; `langmemory reflect --again` reads "
            "it once more."
        )


def show_batch(
    console: Console, store: MemoryStore, batch: dict[str, Any], done: dict[str, Any]
) -> None:
    """Print the facts of a batch, the facts they replaced, and the questions."""
    from rich.text import Text

    from langmemory.ports.facts import EXTRACTION_FAILED

    namespace = tuple(batch["namespace"])
    console.print(
        Text.assemble(
            (f"{batch['thread_id']}", "bold"), (f"  {count_noun(len(batch['turns']), 'turn')}", "dim"),
            (f"  {done['run_id']}", "dim"),
        ),
        soft_wrap=True,
    )  # fmt: skip
    gone = set(done.get("superseded", ()))
    for key in done["added"]:
        console.print(Text.assemble(("  + ", "green"), text_of(store, namespace, key)))
    for key in done["changed"]:
        mark = ("  – ", "red") if key in gone else ("  ~ ", "yellow")
        style = "strike dim" if key in gone else ""
        console.print(Text.assemble(mark, (text_of(store, namespace, key), style)))
    for failure in done.get("failures", ()):
        why = f": {done['problem']}" if failure == EXTRACTION_FAILED and "problem" in done else ""
        console.print(Text(f"  ! {failure}{why}", "red"))
    if questions := len(done.get("reviews", ())):
        console.print(f"  ? {questions} to be answered: langmemory reviews", style="cyan")


def text_of(store: MemoryStore, namespace: Namespace, key: str) -> str:
    item = store.get(namespace, key)
    return key if item is None else " ".join(str(item.value.get("text", key)).split())


def _came_to(totals: dict[str, int]) -> str:
    return (
        f"{count_noun(totals['runs'], 'batch', 'batches')}, {totals['added']} added, "
        f"{totals['superseded']} superseded, {totals['reviews']} to be answered, "
        f"{count_noun(totals['model_calls'], 'model call')}"
    )


def _add(totals: dict[str, int], done: dict[str, Any]) -> None:
    totals["runs"] += 1
    for name in ("added", "superseded", "reviews"):
        totals[name] += len(done.get(name, ()))
    totals["model_calls"] += done.get("model_calls", 0)


def _show_plans(
    console: Console, store: MemoryStore, to_read: list[_Reading], as_json: bool
) -> None:
    """Show what a reflection would do. Raises ExtractionError as `_check` does."""
    from rich.text import Text

    from langmemory.graphs.reflection import build_reflection_graph

    graph = build_reflection_graph(store, dry_run=True)
    plans: dict[str, list[str]] = {}
    problems: list[str] = []
    for one in to_read:
        for update in graph.stream({"namespace": [*one.namespace], "thread_id": one.thread_id}):
            problems += filter(None, [(update.get("extract") or {}).get("problem")])
            if applied := (update.get("apply") or {}).get("applied"):
                name = "/".join((*one.namespace, str(one.thread_id)))
                plans[name] = applied["lines"]
                if not as_json:
                    console.print(Text(name, "bold"))
                    console.print("\n".join(f"  {line}" for line in plans[name]), soft_wrap=True)
    if as_json:
        say(json_text(plans))
    else:
        console.print("Nothing was written." if plans else "Everything has been read.", style="dim")
    _check(problems, len(plans))
