"""The file as a whole: forgetting, export and import, health, counts, the queue of reflections without what
its jobs are about, nights of maintenance, and the rights of a token."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from time import time
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from langmemory.declaring.fields import Fields, Id, Key, Labels
from langmemory.errors import DamagedFileError, ImportFormatError
from langmemory.hooks import parts
from langmemory.lifecycle.health import Finding, Health
from langmemory.maintenance.report import TaskReport
from langmemory.operations.lifecycle import MaintenanceNight
from langmemory.server.access import Access
from langmemory.server.api.requests import Listing, Paging, Place
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes, Rows, Upload
from langmemory.stores import MemoryStore
from langmemory.types import (
    Applied,
    Forgotten,
    Job,
    JobState,
    Namespace,
    Page,
    Run,
    Stats,
    TokenScope,
)
from langmemory.wire import Deferred

routes = Routes("Whole file")

CONFIRMABLE_SECONDS: Final = 600
"""How long what a dry run showed can be confirmed."""
_SECRET: Final = secrets.token_bytes(32)

Name = Annotated[str, Field(min_length=1, max_length=400, pattern=r"\S")]


class ForgetRequest(Fields):
    """What to forget for good. A token that is bound to a viewer forgets what the viewer owns."""

    namespace: Labels | None = None
    """Prefix by whole labels; for `keys` the namespace itself."""
    owner: Name | None = None
    """Everything this person owns."""
    entities: Annotated[list[Name], Field(max_length=100)] = Field(default_factory=list)
    """Everything that speaks of these people or things."""
    keys: Annotated[list[Key], Field(max_length=1_000)] = Field(default_factory=list)
    everything: bool = False
    """All of the namespace, whoever owns it."""
    confirmation: Annotated[str, Field(max_length=200)] | None = None
    """What the dry run answered. Without it, this is the dry run."""


class ForgetAnswer(Deferred):
    """What went, or would go."""

    forgotten: Forgotten
    confirmation: str | None = None
    """Of a dry run: send the same request with it, within ten minutes, to forget."""

    @property
    def forgets(self) -> bool:
        """Whether answers that were kept may quote what is gone."""
        return not self.forgotten.dry_run


@routes("POST", "/forget", scope="admin")
def forget(access: Access, *, body: ForgetRequest) -> ForgetAnswer:
    """Take memories out of the file for good, with all that was made from them, and prove it. The first
    request only shows what would go."""
    place = access.place(body.namespace, exact=bool(body.keys) or body.everything)
    given = body.confirmation
    if given is not None and not is_confirmed(access, body, given):
        raise Problem(
            "not-confirmed",
            "This confirmation is of another request, or older than ten minutes. Look at the dry run again: "
            "send the request without it.",
        )
    forgotten = _forget(access, place, body, dry_run=given is None)
    confirmation = confirmation_of(access, body, int(time())) if given is None else None
    return ForgetAnswer(forgotten=forgotten, confirmation=confirmation)


def _forget(
    access: Access, place: tuple[str, ...], body: ForgetRequest, *, dry_run: bool
) -> Forgotten:
    store = access.store
    if isinstance(store, MemoryStore):
        return store.forget(
            place,
            owner=body.owner,
            entity=body.entities or None,
            keys=body.keys or None,
            everything=body.everything,
            dry_run=dry_run,
        )
    if (
        body.owner not in (None, access.grant.viewer)
        or body.entities
        or body.keys
        or body.everything
    ):
        access.whole()
    forgotten: Forgotten = store.forget(place, dry_run=dry_run)
    return forgotten


def confirmation_of(access: Access, body: BaseModel, at: int) -> str:
    """Return what confirms a request whose dry run was looked at."""
    asked, grant = body.model_dump(mode="json", exclude={"confirmation"}), access.grant
    text = json.dumps([at, grant.id, grant.viewer, access.application.path, asked], sort_keys=True)
    return f"{at}-{hmac.new(_SECRET, text.encode(), hashlib.sha256).hexdigest()}"


def is_confirmed(access: Access, body: BaseModel, given: str) -> bool:
    """Return whether this confirms the request, and not too late."""
    at = given.partition("-")[0]
    if not (at.isascii() and at.isdigit()) or not 0 <= time() - int(at) <= CONFIRMABLE_SECONDS:
        return False
    return hmac.compare_digest(confirmation_of(access, body, int(at)).encode(), given.encode())


class ExportQuery(Place):
    """What."""

    history: bool = True
    """False leaves out what happened, and gives what is known now alone."""


@routes("GET", "/export", scope="admin")
def export(access: Access, *, query: ExportQuery) -> Rows:
    """Return memories with all facets, their history and evidence, as JSON lines, which `import` takes.

    If the file turns out to be damaged, what can be read comes first, then a line `{"error": …}`."""
    rows = access.store.admin.export(access.place(query.namespace), history=query.history)
    begun = list(islice(rows, 1))
    return _complete(begun, rows)  # type: ignore[return-value]


def _complete(begun: list[Any], rows: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from begun
        yield from rows
    except DamagedFileError as error:
        yield {"error": str(error)}


class ImportQuery(Fields):
    """How."""

    dry_run: bool = False
    """Read the file, say what would change and which lines cannot be read, and change nothing."""


class ImportProblem(Deferred):
    """A line that cannot be read."""

    line: int
    detail: str


class Imported(Deferred):
    """What an import did, or would do."""

    changed: int
    """Memories that are new or different."""
    memories: int
    """Memories in the file."""
    lines: int
    problems: list[ImportProblem]
    """Of a dry run: lines that cannot be read, 100 at most. Without one, the first is a refusal."""


MOST_PROBLEMS: Final = 100
LINES_AT_ONCE: Final = 500

Line = tuple[int, dict[str, Any]]
"""A row, and the number of its line."""


@routes("POST", "/import", scope="admin")
def import_rows(access: Access, *, query: ImportQuery, body: Upload) -> Imported:
    """Restore what `export` gave, as it was. Repeating it adds nothing."""
    assert isinstance(body, Path)
    store = access.whole(anywhere=True)
    done = Imported(changed=0, memories=0, lines=0, problems=[])
    with body.open(encoding="utf-8") as lines:
        try:
            if query.dry_run:
                _look(store, lines, done)
            else:
                rows = (row for _, row in _rows(lines, done))
                done.changed = store.admin.import_rows(rows)
        except UnicodeDecodeError:
            raise ImportFormatError("The file is no UTF-8.") from None
    return done


def _look(store: MemoryStore, lines: Iterator[str], done: Imported) -> None:
    """Fill in what an import would do. Of lines that cannot be taken together each is tried by itself."""
    rows = _rows(lines, done, found=done.problems)
    while batch := list(islice(rows, LINES_AT_ONCE)):
        try:
            done.changed += store.admin.import_rows((row for _, row in batch), dry_run=True)
        except ImportFormatError:
            for number, row in batch:
                try:
                    done.changed += store.admin.import_rows([row], dry_run=True)
                except ImportFormatError as error:
                    _note(done.problems, number, str(error))
        if len(done.problems) >= MOST_PROBLEMS:
            break


def _note(problems: list[ImportProblem], line: int, detail: str) -> None:
    if len(problems) < MOST_PROBLEMS:
        problems.append(ImportProblem(line=line, detail=detail))


def _rows(
    lines: Iterator[str], done: Imported, found: list[ImportProblem] | None = None
) -> Iterator[Line]:
    """Yield the rows of a file. ``found`` takes the lines that are none; without it they are refused."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        done.lines += 1
        try:
            row = json.loads(line)
        except ValueError as error:
            wrong = f"It is no JSON: {error}."
        else:
            if isinstance(row, dict):
                done.memories += row.get("type") == "item"
                yield number, row
                continue
            wrong = "It is no object."
        if found is None:
            raise ImportFormatError(f"Line {number}: {wrong}")
        _note(found, number, wrong)


class HealthReport(Deferred):
    """How well memory is kept."""

    figures: Health
    findings: list[Finding]


@routes("GET", "/health", scope="read")
def get_health(access: Access, *, query: Place) -> HealthReport:
    """Return figures of memory, and what is out of bounds with the next step."""
    found = access.whole().admin.health(access.place(query.namespace))
    return HealthReport(figures=found, findings=found.findings())


@routes("GET", "/stats", scope="read")
def get_stats(access: Access) -> Stats:
    """Count what is in the file."""
    return access.whole(anywhere=True).stats()


job_routes = Routes("Jobs")

WAITING: Final[tuple[JobState, ...]] = ("running", "pending", "dead")


class QueuedJob(Deferred):
    """Work for later, without what it is about, which may quote what somebody said."""

    id: int
    kind: str
    lock: str
    thread: str | None
    state: JobState
    created_at: datetime
    due_at: datetime
    attempts: int
    worker: str | None
    lease_until: datetime | None
    finished_at: datetime | None
    error: str | None

    @classmethod
    def of(cls, job: Job) -> QueuedJob:
        """Return a job as it may be shown."""
        return cls(**{name: getattr(job, name) for name in cls.model_fields})


class JobListing(Paging):
    """Which jobs."""

    state: list[JobState] | None = None
    """May be repeated; without it, those that are not over."""


@job_routes("GET", "/jobs", scope="admin")
def list_jobs(access: Access, *, query: JobListing) -> Page[QueuedJob]:
    """List the queue of reflections, by number."""
    pages = access.whole(anywhere=True).pages
    states = tuple(query.state or WAITING)
    found = pages.jobs(states, cursor=query.cursor, limit=query.limit)
    return Page(items=tuple(map(QueuedJob.of, found.items)), next=found.next)


night_routes = Routes("Nights")


class NightView(Deferred):
    """One night of maintenance."""

    id: str
    at: datetime
    """When its first run was applied."""
    changes: int
    """Memories it changed."""
    undone: bool
    """Whether all of it was taken back."""
    runs: list[Run]
    """In the order in which they were applied; `note` names the task and the memories."""


def _within(night: MaintenanceNight, place: Namespace) -> MaintenanceNight:
    """Return the part of a night that concerns a namespace."""
    runs = tuple(one for one in night.runs if one.namespace[: len(place)] == place)
    return MaintenanceNight(id=night.id, at=runs[0].at, runs=runs)


@night_routes("GET", "/nights", scope="read")
def list_nights(access: Access, *, query: Listing) -> Page[NightView]:
    """List nights that changed memory, newest first."""
    place, store = access.place(query.namespace), access.whole()
    found = store.lifecycle.some_nights(place, cursor=query.cursor, limit=query.limit)
    nights = (_within(one, place) for one in found.items)
    return Page(
        items=tuple(
            NightView(
                id=one.id, at=one.at, changes=one.changes, undone=one.undone, runs=list(one.runs)
            )
            for one in nights
        ),
        next=found.next,
    )


class NightRequest(Fields):
    """What to maintain."""

    namespace: Labels | None = None
    """Prefix by whole labels; without it, what the token reaches."""
    tasks: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=50)] | None = (
        None
    )
    """Only these; without it, all."""
    dry_run: bool = True
    """Say what would happen, and change nothing."""


class NightReport(Deferred):
    """What a night did, or would do."""

    night: str
    """Its id, by which it is undone."""
    dry_run: bool
    reports: list[TaskReport]
    """Of each task."""


@night_routes("POST", "/nights", scope="admin")
def maintain(access: Access, *, body: NightRequest) -> NightReport:
    """Do one night of maintenance now, or say what it would do. It answers when the night is over."""
    from langmemory.graphs.maintenance import build_maintenance_graph

    place, store = access.place(body.namespace), access.whole()
    graph = build_maintenance_graph(store, tasks=body.tasks)
    found: dict[str, Any] = graph.invoke({"namespace": list(place), "dry_run": body.dry_run})
    return NightReport(night=found["night"], dry_run=body.dry_run, reports=found["reports"])


class UndoNightRequest(Fields):
    """Which night."""

    night: Id
    dry_run: bool = False
    """Say what would happen, and change nothing."""


class UndoneNightView(Deferred):
    """The result of taking back a night."""

    id: str
    applied: list[Applied]
    """Of each run that stood, the last one first."""


@night_routes("POST", "/nights/undo", scope="admin")
def undo_night(access: Access, *, body: UndoNightRequest) -> UndoneNightView:
    """Take back all that a night changed, its last run first, each in a run of its own.

    Where later changes stand on one of its runs this is refused; the runs after it are taken back then."""
    store = access.whole()
    reached = access.grant.namespaces
    night = store.lifecycle.night(body.night)
    missing = Problem("not-found", f"There is no night {body.night!r}.")
    if night is None:
        raise missing
    inside = [any(one.namespace[: len(at)] == at for at in reached) for one in night.runs]
    if reached and not all(inside):
        if not any(inside):
            raise missing
        raise Problem(
            "namespace",
            "This night also changed namespaces that your token does not reach. Take back its runs "
            "one by one.",
        )
    done = store.lifecycle.undo(night.id, dry_run=body.dry_run)
    return UndoneNightView(id=done.id, applied=list(done.applied))


rights_routes = Routes("Rights")


class Rights(Deferred):
    """What a token allows."""

    token: str
    """Its id; `local` for somebody at the machine, who needs none."""
    viewer: str | None
    """Whose private memories it shows; null is the application, which sees everybody's."""
    namespaces: list[Namespace]
    """Those it reaches, with all below; none is the whole file."""
    scope: TokenScope
    agent: str | None
    """As which agent it sends and receives on the bus; null is none."""
    unlocks: bool
    """Whether it may unlock secrets of the vault."""
    parts: list[str]
    """The parts that the server has, such as `team`."""


@rights_routes("GET", "/rights", scope="read")
def get_rights(access: Access) -> Rights:
    """Return what your token allows."""
    grant = access.grant
    return Rights(
        token=grant.id,
        viewer=grant.viewer,
        namespaces=list(grant.namespaces),
        scope=grant.scope,
        agent=grant.agent,
        unlocks=grant.unlocks,
        parts=[one.name for one in parts()],
    )
