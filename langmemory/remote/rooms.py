"""The rooms of a remote store: what the rooms of `MemoryStore` do, as far as the API offers it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from langmemory.arguments import check_agent
from langmemory.context.dependencies import BUDGET_TOKENS, TaskContext
from langmemory.errors import ConfigError, DamagedFileError, EntityNameError, ServerError
from langmemory.lifecycle.health import Health
from langmemory.links import Relation
from langmemory.namespaces import check_namespace
from langmemory.remote.connection import Connection, part, place
from langmemory.subgraph.subgraph import Path, Subgraph
from langmemory.twins import Steps, awaiting, blocking
from langmemory.types import (
    Applied,
    Edge,
    Entity,
    HistoryEntry,
    Job,
    JobState,
    Kind,
    Memory,
    MemoryUsage,
    Namespace,
    Privacy,
    Review,
    Run,
    SecretInfo,
    VaultEvent,
)
from langmemory.vault import Secret
from langmemory.wire import adapter


class Room:
    """What belongs together of the operations of a remote store."""

    __slots__ = ("_connection", "_viewer")

    def __init__(self, connection: Connection, viewer: str | None) -> None:
        """``viewer`` None is whom the token is bound to, if to anyone."""
        self._connection, self._viewer = connection, viewer

    def _get(self, path: str, of: Any, **query: Any) -> Steps[Any]:
        return self._connection.ask("GET", path, of, viewer=self._viewer, query=query)

    def _found(self, path: str, of: Any, **query: Any) -> Steps[Any]:
        """Return what is there, or None."""
        try:
            return (yield from self._get(path, of, **query))
        except ServerError as error:
            if error.kind != "not-found":
                raise
            return None

    def _post(self, path: str, of: Any, **body: Any) -> Steps[Any]:
        return self._connection.ask("POST", path, of, viewer=self._viewer, body=body, writes=True)

    def _items(self, path: str, of: Any, **query: Any) -> Steps[Any]:
        """Return the rows of a list that has no pages."""
        found = yield from self._get(path, dict[str, tuple[of, ...]], **query)
        return found["items"]

    def _listed(self, path: str, of: Any, limit: int | None = None, **query: Any) -> Steps[Any]:
        return self._connection.listed(path, of, viewer=self._viewer, query=query, limit=limit)


class AgentRoom(Room):
    """What an agent does in one namespace.

    Without ``agent`` it is the agent that the token is bound to, if to any. A token of the application may
    name one; a token that is bound to a viewer or to another agent is refused with it.
    """

    __slots__ = ("agent", "namespace")

    def __init__(
        self, connection: Connection, viewer: str | None, namespace: Namespace, agent: str | None
    ) -> None:
        super().__init__(connection, viewer)
        self.namespace = check_namespace(namespace, may_be_empty=True)
        self.agent = None if agent is None else check_agent("agent", agent)

    def _get(self, path: str, of: Any, **query: Any) -> Steps[Any]:
        return self._connection.ask(
            "GET", path, of, viewer=self._viewer, agent=self.agent,
            query={"namespace": place(self.namespace), **query},
        )  # fmt: skip

    def _post(self, path: str, of: Any, **body: Any) -> Steps[Any]:
        where = list(self.namespace) or None
        return self._connection.ask(
            "POST", path, of, viewer=self._viewer, agent=self.agent, writes=True,
            body={"namespace": where, **{name: plain(value) for name, value in body.items()}},
        )  # fmt: skip


def plain(value: Any) -> Any:
    """Return an argument as JSON has it: collections of any kind as lists."""
    return list(value) if isinstance(value, tuple | set | frozenset) else value


class RemoteChanges(Room):
    """History, evidence, reviews and runs, taking them back, and taking memories out."""

    __slots__ = ()

    def _remove(self, namespace: Namespace, key: str, *, reason: str) -> Steps[Applied]:
        """Delete a memory in a run of its own, which can be undone; where there is none, nothing happens."""
        return self._taken(
            key,
            self._connection.ask(
                "DELETE", f"/memories/{part(key)}", Applied, viewer=self._viewer, writes=True,
                query={"namespace": place(check_namespace(namespace)), "reason": reason},
            ),
        )  # fmt: skip

    remove, aremove = blocking(_remove), awaiting(_remove)

    def _archive(self, namespace: Namespace, key: str, *, reason: str) -> Steps[Applied]:
        """Put a memory away in a run of its own, as `remove`: it is kept, and not recalled any more."""
        where = check_namespace(namespace)
        return self._taken(
            key, self._post("/archive", Applied, namespace=where, key=key, reason=reason)
        )

    def _taken(self, key: str, steps: Steps[Applied]) -> Steps[Applied]:
        try:
            return (yield from steps)
        except ServerError as error:
            if error.kind != "not-found":
                raise
            return Applied(run_id="", lines=(f"there is no {key}",))

    archive, aarchive = blocking(_archive), awaiting(_archive)

    def _history(self, namespace: Namespace, key: str) -> Steps[list[HistoryEntry]]:
        """Return every recorded change of a memory, oldest first."""
        where = place(check_namespace(namespace))
        return self._listed("/history", HistoryEntry, namespace=where, key=key)

    history, ahistory = blocking(_history), awaiting(_history)

    def _evidence(self, namespace: Namespace, key: str) -> Steps[list[Memory]]:
        """Return what a memory was derived from and the viewer may read, oldest first."""
        where = place(check_namespace(namespace))
        return self._listed("/evidence", Memory, namespace=where, key=key)

    evidence, aevidence = blocking(_evidence), awaiting(_evidence)

    def _reviews(self, namespace: Namespace = (), *, open_only: bool = True) -> Steps[list[Review]]:
        """Return questions for a person or a deep model, oldest first."""
        where = place(check_namespace(namespace, may_be_empty=True))
        return self._listed("/reviews", Review, namespace=where, open_only=open_only)

    reviews, areviews = blocking(_reviews), awaiting(_reviews)

    def _review(self, review_id: str) -> Steps[Review | None]:
        """Return one question; None where there is none."""
        return self._found(f"/reviews/{part(review_id)}", Review)

    review, areview = blocking(_review), awaiting(_review)

    def _decide(self, review_id: str, option: str, *, by: str | None = None) -> Steps[Applied]:
        """Answer a question: the changes of the option are made. ``by`` is who decided."""
        return self._post(f"/reviews/{part(review_id)}", Applied, option=option, by=by)

    decide, adecide = blocking(_decide), awaiting(_decide)

    def _runs(self, namespace: Namespace = (), *, limit: int = 50) -> Steps[list[Run]]:
        """Return what changed memory on its own, newest first."""
        where = place(check_namespace(namespace, may_be_empty=True))
        return self._listed("/runs", Run, limit, namespace=where)

    runs, aruns = blocking(_runs), awaiting(_runs)

    def _run(self, run_id: str) -> Steps[Run | None]:
        """Return one run; None where there is none."""
        return self._found(f"/runs/{part(run_id)}", Run)

    run, arun = blocking(_run), awaiting(_run)

    def _undo(self, run_id: str, *, dry_run: bool = False) -> Steps[Applied]:
        """Bring back what was before a run, in a run of its own. The token needs the scope admin."""
        return self._post("/undo", Applied, run_id=run_id, dry_run=dry_run)

    undo, aundo = blocking(_undo), awaiting(_undo)


class RemoteAdmin(Room):
    """Looking at single memories, export and import, and how well memory is kept."""

    __slots__ = ()

    def _memory(self, namespace: Namespace, key: str) -> Steps[Memory | None]:
        """Return one memory, whatever its kind and status; None where there is none."""
        where = place(check_namespace(namespace))
        return self._found(f"/memories/{part(key)}", Memory, namespace=where)

    memory, amemory = blocking(_memory), awaiting(_memory)

    def _memories(
        self,
        namespace: Namespace = (),
        *,
        kinds: Collection[Kind] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        past: bool = False,
        limit: int = 20,
    ) -> Steps[list[Memory]]:
        """Return memories, what was said or became true last first; ``past`` also what no longer
        holds."""
        return self._listed(
            "/memories", Memory, limit,
            namespace=place(check_namespace(namespace, may_be_empty=True)),
            kind=None if kinds is None else list(kinds), since=since, until=until, past=past,
        )  # fmt: skip

    memories, amemories = blocking(_memories), awaiting(_memories)

    def _usage(self, namespace: Namespace = (), *, limit: int = 100) -> Steps[list[MemoryUsage]]:
        """Return which memories stood in prompts and were cited, the most helpful first."""
        where = place(check_namespace(namespace, may_be_empty=True))
        return self._listed("/context/stats", MemoryUsage, limit, namespace=where)

    usage, ausage = blocking(_usage), awaiting(_usage)

    def _health(self, prefix: Namespace = ()) -> Steps[Health]:
        """Return figures of memory; its `findings` say what is out of bounds."""
        where = place(check_namespace(prefix, may_be_empty=True))
        answer = yield from self._get("/health", dict[str, Any], namespace=where)
        found: Health = adapter(Health).validate_python(answer["figures"])
        return replace(found, rules=tuple(found.rules))

    health, ahealth = blocking(_health), awaiting(_health)

    def export(self, prefix: Namespace = (), *, history: bool = True) -> Iterator[dict[str, Any]]:
        """Yield memories with all facets, their history and evidence, as `import_rows` takes them.

        Raises:
            DamagedFileError: At the end, after what can be read: rows of the file are damaged.
        """
        where = place(check_namespace(prefix, may_be_empty=True))
        query = {"namespace": where, "history": history}
        for row in self._connection.download("/export", viewer=self._viewer, query=query):
            if row.keys() == {"error"}:
                raise DamagedFileError(row["error"], ())
            yield row

    def import_rows(self, rows: Iterable[Mapping[str, Any]]) -> int:
        """Restore what `export` gave; return how many memories are new or different. Repeating it adds
        nothing."""
        changed: int = self._connection.upload("/import", rows, viewer=self._viewer)["changed"]
        return changed


class RemoteJobs(Room):
    """The queue of reflections."""

    __slots__ = ()

    def _jobs(
        self, states: Sequence[JobState] = ("running", "pending", "dead"), *, limit: int = 1_000
    ) -> Steps[list[Job]]:
        """Return jobs, by number. What they are about stays on the server: their payload, config and
        result are empty."""
        rows = yield from self._listed("/jobs", dict[str, Any], limit, state=list(states))
        return [_job(row) for row in rows]

    listed, alisted = blocking(_jobs), awaiting(_jobs)

    def _retry(self, ids: Sequence[int]) -> Steps[list[int]]:
        """Try jobs again that were given up; return which."""
        return self._concerned("/jobs/retry", ids)

    retry, aretry = blocking(_retry), awaiting(_retry)

    def _drop(self, ids: Sequence[int]) -> Steps[list[int]]:
        """Delete jobs that wait or were given up; return which."""
        return self._concerned("/jobs/drop", ids)

    drop, adrop = blocking(_drop), awaiting(_drop)

    def _concerned(self, path: str, ids: Sequence[int]) -> Steps[list[int]]:
        answer: dict[str, list[int]] = yield from self._post(
            path, dict[str, list[int]], ids=list(ids)
        )
        return answer["ids"]


class RemoteVault(Room):
    """Secrets: their labels, who unlocked them, and unlocking one with a token that may."""

    __slots__ = ()

    def _secrets(
        self,
        namespace: Namespace = (),
        *,
        label: str | None = None,
        owner: str | None = None,
        deleted: bool = False,
    ) -> Steps[tuple[SecretInfo, ...]]:
        """Return the secrets of a namespace and below it, without their texts."""
        answer: dict[str, tuple[SecretInfo, ...]] = yield from self._get(
            "/vault", dict[str, tuple[SecretInfo, ...]], label=label, owner=owner, deleted=deleted,
            namespace=place(namespace),
        )  # fmt: skip
        return answer["secrets"]

    list, alist = blocking(_secrets), awaiting(_secrets)

    def _unlocked(
        self,
        namespace: Namespace,
        label: str,
        *,
        reason: str,
        owner: str | None = None,
        version: int | None = None,
    ) -> Steps[Secret]:
        """Unlock a secret. The server's audit log has the reason and the token before this returns.

        Raises:
            AccessError: The token may not.
            SecretNotFoundError: There is none, or it was deleted.
        """
        where = check_namespace(namespace)
        body = {
            "namespace": where,
            "label": label,
            "reason": reason,
            "owner": owner,
            "version": version,
        }
        answer: dict[str, str] = yield from self._connection.ask(
            "POST", "/vault/unlock", dict[str, str], viewer=self._viewer, body=body
        )
        return Secret(answer["secret"])

    get, aget = blocking(_unlocked), awaiting(_unlocked)

    def _events(
        self, namespace: Namespace = (), *, limit: int = 100, before: int | None = None
    ) -> Steps[tuple[VaultEvent, ...]]:
        """Return who did what with secrets, the newest first; at most 200 at a time."""
        answer: dict[str, tuple[VaultEvent, ...]] = yield from self._get(
            "/vault/audit", dict[str, tuple[VaultEvent, ...]], limit=limit, before=before,
            namespace=place(namespace),
        )  # fmt: skip
        return answer["events"]

    audit, aaudit = blocking(_events), awaiting(_events)


class RemoteGraph(Room):
    """The people and things of a namespace, and what its memories claim about them."""

    __slots__ = ("_namespace", "_where")

    def __init__(
        self,
        connection: Connection,
        viewer: str | None,
        namespace: Namespace,
        *,
        as_of: datetime | None,
        known_at: datetime | None,
    ) -> None:
        super().__init__(connection, viewer)
        where, self._namespace = place(check_namespace(namespace)), namespace
        self._where: dict[str, Any] = {"namespace": where, "as_of": as_of, "known_at": known_at}

    def _entity(self, name: str, *, past: bool = False) -> Steps[Entity]:
        """Return a person or thing, by a name or key of it, with the claims about it.

        Raises:
            EntityNameError: There is none, or more than one.
        """
        path = f"/graph/entity/{part(name)}"
        found: Entity | None = yield from self._found(path, Entity, past=past, **self._where)
        if found is None:
            raise EntityNameError(f"There is no entity {name!r}.")
        return found

    entity, aentity = blocking(_entity), awaiting(_entity)

    def _entities(self, *, past: bool = False) -> Steps[tuple[Entity, ...]]:
        """Return all people and things, by name."""
        found = yield from self._listed("/graph/entity", Entity, past=past, **self._where)
        return tuple(found)

    entities, aentities = blocking(_entities), awaiting(_entities)

    def _edges(
        self, entity: str | None = None, relation: str | None = None, *, past: bool = False
    ) -> Steps[tuple[Edge, ...]]:
        """Return claims, the oldest first: all, or those about an entity or of a relation."""
        found = yield from self._listed(
            "/graph/relationship", Edge,
            entity=entity, relation=relation, past=past, **self._where,
        )  # fmt: skip
        return tuple(found)

    edges, aedges = blocking(_edges), awaiting(_edges)

    def _paths(
        self, first: str, last: str, max_length: int = 4, *, limit: int = 10
    ) -> Steps[tuple[Path, ...]]:
        """Return ways from one entity to another, shortest first."""
        return self._items(
            "/graph/path", Path,
            first=first, last=last, max_length=max_length, limit=limit, **self._where,
        )  # fmt: skip

    paths, apaths = blocking(_paths), awaiting(_paths)

    def _subgraph(
        self, name: str | None = None, depth: int = 2, *, past: bool = False
    ) -> Steps[Subgraph]:
        """Return entities and the edges between them: everything, or what is around one."""
        return self._get(
            "/graph/subgraph", Subgraph, entity=name, depth=depth, past=past, **self._where
        )

    subgraph, asubgraph = blocking(_subgraph), awaiting(_subgraph)

    def _link(
        self,
        source: str,
        relation: Relation,
        target: str,
        *,
        reason: str = "",
        valid_at: datetime | None = None,
        privacy: Privacy = "shared",
    ) -> Steps[Edge]:
        """Link two things; see `Graph.link`."""
        return self._linking(
            "link", source, relation, target, reason=reason, valid_at=valid_at, privacy=privacy
        )

    link, alink = blocking(_link), awaiting(_link)

    def _unlink(
        self,
        source: str,
        relation: Relation,
        target: str,
        *,
        reason: str = "",
        at: datetime | None = None,
    ) -> Steps[Edge]:
        """End a link; see `Graph.unlink`."""
        return self._linking("unlink", source, relation, target, reason=reason, at=at)

    unlink, aunlink = blocking(_unlink), awaiting(_unlink)

    def _context_for(self, task: str, *, budget_tokens: int = BUDGET_TOKENS) -> Steps[TaskContext]:
        """Return what a task depends on; see `Graph.context_for`."""
        query = {**self._where, "task": task, "budget_tokens": budget_tokens}
        return self._get("/graph/context", TaskContext, **query)

    context_for, acontext_for = blocking(_context_for), awaiting(_context_for)

    def _linking(
        self, action: str, source: str, relation: str, target: str, **more: Any
    ) -> Steps[Edge]:
        if self._where["as_of"] is not None or self._where["known_at"] is not None:
            raise ConfigError(
                f"This graph is of another time; {action} in the graph of now: store.graph(namespace)."
            )
        return self._post(
            f"/graph/{action}", Edge, source=source, relation=relation, target=target,
            namespace=self._namespace, **more,
        )  # fmt: skip


def _job(row: Mapping[str, Any]) -> Job:
    times = {
        name: None if row[name] is None else datetime.fromisoformat(row[name])
        for name in ("created_at", "due_at", "lease_until", "finished_at")
    }
    return Job(**{**row, **times, "payload": {}, "config": {}, "result": None})
