"""`langmemory tasks` and `langmemory decisions`: what a team of agents is doing, and what it decided."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, cast

import typer

from langmemory.cli.target import JsonOption, Target, ViewerOption
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.errors import ConfigError

if TYPE_CHECKING:
    from langmemory.cli.screen import Screen
    from langmemory.stores.rooms import Swarm
    from langmemory.swarm import Task, TaskStatus
    from langmemory.types import Namespace

MOST = 1_000
"""Tasks of a list."""

AgentOption = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Who works on it.", show_default=False),
]


def tasks(
    target: Target,
    task: Annotated[
        str | None,
        typer.Argument(metavar="TASK", help="Its key or title; without options it is shown."),
    ] = None,
    add: Annotated[
        str | None, typer.Option("--add", metavar="TITLE", help="Set a task.", show_default=False)
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            "--status",
            metavar="STATUS",
            help="List those that are open, in_progress, blocked, done or cancelled; with TASK, set it.",
            show_default=False,
        ),
    ] = None,
    agent: AgentOption = None,
    blocker: Annotated[
        list[str] | None,
        typer.Option(
            "--blocker",
            metavar="TEXT",
            help="What TASK waits for; may be repeated.",
            show_default=False,
        ),
    ] = None,
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="What happened.", show_default=False)
    ] = "",
    state: Annotated[
        bool, typer.Option("--state", help="Show STATE.md: tasks, decisions and sessions.")
    ] = False,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the tasks of a team of agents, set one, or say where one stands."""
    from langmemory.cli.screen import Screen
    from langmemory.stores.face import bound

    place = _place(target)
    with target.open() as store:
        if state:
            pages = store.journal.state_pages(place)
            for owner, page in pages.items():
                if owner is None or owner == viewer:
                    say(printable(page))
            return
        team = bound(store, viewer).swarm(place)
        if add is not None:
            found = [team.add_task(add, agent=agent)]
            if status or blocker or note:
                found = [_changed(team, found[0].key, status, None, blocker, note)]
        elif task is not None and (status or agent is not None or blocker or note):
            found = [_changed(team, task, status, agent, blocker, note)]
        elif task is not None:
            found = [team.task(task)]
        else:
            if blocker or note:
                raise typer.BadParameter("--blocker and --note go with a TASK or --add.")
            found = list(team.tasks(status=cast("TaskStatus", status), agent=agent, limit=MOST + 1))
        if not found:
            target.note_unknown(store, place)
    if as_json:
        say(json_text(plain(found[:MOST])))
        return
    console = Screen()
    for one in found[:MOST]:
        _show(console, one, whole=task is not None)
    if not found:
        console.print("There is no task.")
    elif task is None and add is None:
        if len(found) > MOST:
            say(f"Only the first {MOST:,} are shown: name an --agent or a --status.", err=True)
            return
        counts = Counter(one.status.replace("_", " ") for one in found)
        say(", ".join(f"{count:,} {status}" for status, count in counts.items()))


def _changed(
    team: Swarm,
    task: str,
    status: str | None,
    agent: str | None,
    blockers: list[str] | None,
    note: str,
) -> Task:
    return team.update_task(
        task, status=cast("TaskStatus", status), agent=agent, blockers=blockers or None, note=note
    )


def _show(console: Screen, task: Task, *, whole: bool) -> None:
    from rich.text import Text

    who = f"{task.agent}  " if task.agent else ""
    status = (f"{task.status.replace('_', ' ')}  ", "dim")
    console.print(Text.assemble(status, (task.title, "bold"), overflow="fold"))
    lines = [Text.assemble(who, (task.key, "dim"))]
    lines += [Text(f"waits for {one}") for one in task.blockers]
    if task.note:
        lines.append(Text(task.note, "dim"))
    if whole and task.details:
        lines.append(Text(task.details))
    console.print_indented(*lines)


def decisions(
    target: Target,
    every: Annotated[
        bool, typer.Option("--all", help="Also those that a later one replaced.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 50,
    viewer: ViewerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a team of agents decided, and why, the newest first."""
    from rich.text import Text

    from langmemory.cli.screen import Screen
    from langmemory.stores.face import bound

    place = _place(target)
    with target.open() as store:
        found = bound(store, viewer).swarm(place).decisions(holding=not every, limit=limit)
        if not found:
            target.note_unknown(store, place)
    if as_json:
        say(json_text(plain(list(found))))
        return
    console = Screen()
    for one in found:
        by = f"{one.made_by}  " if one.made_by else ""
        over = "" if one.holds else "superseded  "
        day = (f"{one.created_at.astimezone():%Y-%m-%d}  ", "dim")
        console.print(Text.assemble(day, (one.what, "bold"), overflow="fold"))
        lines = [Text(f"because {one.why}")]
        if one.alternatives:
            lines.append(Text(f"instead of {'; '.join(one.alternatives)}", "dim"))
        console.print_indented(*lines, Text(f"{over}{by}{one.key}", "dim"))
    if not found:
        console.print("Nothing was decided.")


def _place(target: Target) -> Namespace:
    place = target.namespace()
    if not place:
        raise ConfigError("Name the namespace of the team: --namespace A/B.")
    return place
