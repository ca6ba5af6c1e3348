"""`langmemory runs`, `undo`, `history`, `restore` and `reviews`: changes, and a say in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from langmemory.cli.reflect import text_of
from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    JsonOption,
    LimitOption,
    OnFile,
    Target,
    ViewerOption,
)
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from langmemory.stores import MemoryStore
    from langmemory.types import Review, Run


def runs(
    target: Target,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """List what changed memory on its own, the newest first."""
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, Screen, unbroken

    with target.open(vectors=False) as store:
        found = store.changes.runs(place := target.namespace(), limit=limit)
        if not found:
            target.note_unknown(store, place)
    if as_json:
        say(json_text(plain(found)))
        return
    console = Screen()
    if not found:
        console.print("Nothing has changed this memory on its own yet.")
        return
    several = len({run.namespace for run in found}) > 1
    rows = []
    for run in found:
        what = run.reason.removeprefix("reflection of ")
        where = f" in {'/'.join(run.namespace)}" if several else ""
        cells = run.id, f"{run.at.astimezone():%Y-%m-%d %H:%M}", what + where, _outcome(run)
        style = "dim" if run.undone_by else ""
        narrow = [unbroken(f"{cells[0]}\n  {' · '.join(cells[1:])}\n", style)]
        rows.append((tuple(map(Text, cells)), style, narrow))
    console.print_rows({"run": WHOLE, "when": WHOLE, "what": FOLD, "came to": FOLD}, rows)


def undo(target: OnFile, run: str, *, dry_run: bool = False, as_json: JsonOption = False) -> None:
    """Bring back what was before a run.

    What was read stays read, so it does not come back.

    Args:
        run: See `langmemory runs`.
        dry_run: Show what would be as before, and change nothing.
    """
    with target.open() as store:
        texts = _texts_of(store, run)
        done = store.changes.undo(run, dry_run=dry_run)
    if as_json:
        say(json_text(plain(done)))
        return
    for line in done.lines:
        say(printable(f"  {line}"))
        if (text := texts.get(line.partition(" ")[2].partition(":")[0])) is not None:
            say(printable(f"    {text}"))
    say("Nothing was changed." if dry_run or done.repeated else f"Undone, as {done.run_id}")


def _texts_of(store: MemoryStore, run: str) -> dict[str, str]:
    """Return what each memory that a run changed says because of it, and what it said before, by key."""
    texts: dict[str, list[str]] = {}
    for entry in store.changes.changed_by(run):
        before, after = (_said(value) for value in (entry.before, entry.after))
        texts[entry.key] = [after, texts.get(entry.key, ("", before))[1]]
    return {
        key: " → ".join(f"“{one}”" for one in dict.fromkeys(filter(None, said)))
        for key, said in texts.items()
    }


def _said(value: Mapping[str, Any] | None) -> str:
    if value is None:
        return ""
    return " ".join(str(value.get("text", value.get("content", value))).split())


def _outcome(run: Run) -> str:
    note = run.note
    parts = [
        f"{len(note[name])} {shown}"
        for name, shown in (
            ("learned", "learned"),
            ("superseded", "superseded"),
            ("reviews", "asked"),
        )
        if note.get(name)
    ]
    if left_out := note.get("dropped_for"):
        why = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        parts.append(f"{note['dropped']} left out ({why})")
    parts += note.get("failures", ())
    parts += _took(note)
    if run.undone_by:
        parts.append("undone")
    return ", ".join(parts) or "–"


def _took(note: Mapping[str, Any]) -> list[str]:
    """Return the tokens a run took, in and out, and dollars where they are known."""
    usage = list((note.get("usage") or {}).values())
    if not usage:
        return []
    tokens = (
        sum(round(counts.get(name, 0)) for counts in usage)
        for name in ("input_tokens", "output_tokens")
    )
    took = "{:,} tokens in, {:,} out".format(*tokens)
    return [took, f"${note['cost_usd']:.4f}"] if "cost_usd" in note else [took]


def history(
    target: Target, key: str, *, viewer: ViewerOption = None, as_json: JsonOption = False
) -> None:
    """Show every change of a memory, also of one that is gone.

    Args:
        key: Of a memory.
    """
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, Screen
    from langmemory.recall.explain import describe_fading
    from langmemory.stores.face import bound

    where = target.namespace(DEFAULT_NAMESPACE)
    with target.open(vectors=False) as store:
        entries = bound(store, viewer).changes.history(where, key)
        hint = "" if entries else target.elsewhere(store)
        [ageing] = store.lifecycle.ageing([(where, key)])
    if not entries:
        raise ConfigError(
            f"There never was a memory {key!r} in {'/'.join(where)}.{hint} "
            "`langmemory list` shows the keys of what is there."
        )
    if as_json:
        say(json_text(plain(entries)))
        return
    rows = []
    for entry in entries:
        value = entry.after if entry.after is not None else entry.before
        why = " ".join(filter(None, (entry.reason, entry.run_id and f"({entry.run_id})")))
        when, said = f"{entry.at.astimezone():%Y-%m-%d %H:%M}", _said(value)
        narrow = Text(f"{when}  {entry.action}  {why}", "dim"), Text(f"{said}\n")
        cells = [Text(cell) for cell in (when, entry.action, said, why)]
        rows.append((cells, "", narrow))
    Screen().print_rows({"when": WHOLE, "what": WHOLE, "it said": FOLD, "why": FOLD}, rows)
    if ageing is not None:
        Screen().print(Text(f"Now: {describe_fading(ageing)}", "dim"))


def restore(target: Target, key: str, *, as_json: JsonOption = False) -> None:
    """Make an archived memory active again, also one in the archive file.

    `langmemory search --archive` finds them; `langmemory undo` takes it back.

    Args:
        key: Of a memory.
    """
    where = target.namespace(DEFAULT_NAMESPACE)
    with target.open() as store:
        done = store.lifecycle.restore(where, key)
    if as_json:
        say(json_text(plain(done)))
        return
    say(printable(f"{key} is active again ({done.run_id})."))


_STYLES = {"+": "green", "-": "red", "@": "cyan"}
"""Of the lines of a difference, by how they begin."""


def reviews(
    target: Target,
    *,
    decide: tuple[str, str] | None = None,
    by: str | None = None,
    everything: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Show what reflection is not sure of, and decide it.

    Args:
        decide (ID OPTION): Answer one.
        by (NAME): Who decides, for the record.
        everything (--all): Show also those that are decided.
    """
    from langmemory.cli.screen import Screen

    console = Screen()
    with target.open() as store:
        if decide is not None:
            done = store.changes.decide(*decide, by=by)
            if as_json:
                say(json_text(plain(done)))
                return
            for line in done.lines:
                console.print(f"  {line}", soft_wrap=True)
            console.print(
                f"Decided; to take it back: langmemory undo {done.run_id}", soft_wrap=True
            )
            return
        found = store.changes.reviews(place := target.namespace(), open_only=not everything)
        if not found:
            target.note_unknown(store, place)
        if as_json:
            say(json_text(plain(found)))
            return
        for review in found:
            _show(console, store, review)
        if not found:
            console.print("Nothing is to be decided.")


def _show(console: Console, store: MemoryStore, review: Review) -> None:
    from rich.text import Text

    shows = "\n--- " in review.question
    asked, *difference = review.question.split("\n") if shows else [review.question]
    console.print(Text.assemble((asked, "bold"), (f"  {review.about}", "dim")))
    for line in difference:
        console.print(Text(f"    {line}", _STYLES.get(line[:1], "")), soft_wrap=True)
    for key in () if difference else review.memories:
        console.print(Text.assemble("  · ", text_of(store, review.namespace, key)))
    if review.decision is not None:
        console.print(f"  decided: {review.decision}\n", style="dim")
        return
    options = "|".join(review.options)
    console.print(
        Text.assemble("  langmemory reviews --decide ", review.id, " ", (options, "cyan"), "\n"),
        soft_wrap=True,
    )
