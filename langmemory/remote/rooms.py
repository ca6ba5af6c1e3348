"""Rooms of a remote store beside the declared operations: whole lists, streams, and what the API offers in
another form than a file on this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from langmemory.errors import DamagedFileError, ServerError
from langmemory.lifecycle.health import Health
from langmemory.namespaces import check_namespace
from langmemory.remote.connection import part, place
from langmemory.remote.derived import RemoteRoom
from langmemory.steps import Steps, awaiting, blocking
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
    Review,
    Run,
)
from langmemory.vault import Secret
from langmemory.wire import adapter


class RemoteChanges(RemoteRoom):
    """History, evidence, reviews and runs, taking them back, and taking memories out."""

    __slots__ = ()

    def _remove(self, namespace: Namespace, key: str, *, reason: str) -> Steps[Applied]:
        """Delete a memory in a run of its own, which can be undone; where there is none, nothing happens."""
        query = {"namespace": place(check_namespace(namespace)), "reason": reason}
        path = f"/memories/{part(key)}"
        return _unless_missing(key, self._ask("DELETE", path, Applied, query=query, writes=True))

    remove, aremove = blocking(_remove), awaiting(_remove)

    def _archive(self, namespace: Namespace, key: str, *, reason: str) -> Steps[Applied]:
        """Put a memory away in a run of its own, as `remove`: it is kept, and not recalled any more."""
        body = {"namespace": check_namespace(namespace), "key": key, "reason": reason}
        return _unless_missing(key, self._ask("POST", "/archive", Applied, body=body, writes=True))

    archive, aarchive = blocking(_archive), awaiting(_archive)

    def _history(self, namespace: Namespace, key: str) -> Steps[list[HistoryEntry]]:
        """Return every recorded change of a memory, oldest first."""
        return self._all("history", namespace=namespace, key=key)

    history, ahistory = blocking(_history), awaiting(_history)

    def _evidence(self, namespace: Namespace, key: str) -> Steps[list[Memory]]:
        """Return what a memory was derived from and the viewer may read, oldest first."""
        return self._all("evidence", namespace=namespace, key=key)

    evidence, aevidence = blocking(_evidence), awaiting(_evidence)

    def _reviews(self, namespace: Namespace = (), *, open_only: bool = True) -> Steps[list[Review]]:
        """Return questions for a person or a deep model, oldest first."""
        return self._all("reviews", namespace=namespace, open_only=open_only)

    reviews, areviews = blocking(_reviews), awaiting(_reviews)

    def _runs(self, namespace: Namespace = (), *, limit: int = 50) -> Steps[list[Run]]:
        """Return what changed memory on its own, newest first."""
        return self._all("runs", limit, namespace=namespace)

    runs, aruns = blocking(_runs), awaiting(_runs)

    def _changed_by(self, run_id: str, *, limit: int = 200) -> Steps[list[HistoryEntry]]:
        """Return what a run changed, in the order in which it did."""
        return self._all("changed_by", limit, run_id=run_id)

    changed_by, achanged_by = blocking(_changed_by), awaiting(_changed_by)


def _unless_missing(key: str, steps: Steps[Applied]) -> Steps[Applied]:
    try:
        return (yield from steps)
    except ServerError as error:
        if error.kind != "not-found":
            raise
        return Applied(run_id="", lines=(f"there is no {key}",))


class RemoteAdmin(RemoteRoom):
    """Looking at single memories, export and import, and how well memory is kept."""

    __slots__ = ()

    def _memory(self, namespace: Namespace, key: str) -> Steps[Memory | None]:
        """Return one memory, whatever its kind and status; None where there is none."""
        query = {"namespace": place(check_namespace(namespace))}
        try:
            found: Memory = yield from self._ask(
                "GET", f"/memories/{part(key)}", Memory, query=query
            )
        except ServerError as error:
            if error.kind != "not-found":
                raise
            return None
        return found

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
        return self._all(
            "memories", limit, namespace=namespace, kinds=kinds, since=since, until=until, past=past
        )

    memories, amemories = blocking(_memories), awaiting(_memories)

    def _usage(self, namespace: Namespace = (), *, limit: int = 100) -> Steps[list[MemoryUsage]]:
        """Return which memories stood in prompts and were cited, the most helpful first."""
        return self._all("usage", limit, namespace=namespace)

    usage, ausage = blocking(_usage), awaiting(_usage)

    def _health(self, prefix: Namespace = ()) -> Steps[Health]:
        """Return figures of memory; its `findings` say what is out of bounds."""
        query = {"namespace": place(check_namespace(prefix, may_be_empty=True))}
        answer = yield from self._ask("GET", "/health", dict[str, Any], query=query)
        figures: Health = adapter(Health).validate_python(answer["figures"])
        return replace(figures, rules=tuple(figures.rules))

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


class RemoteJobs(RemoteRoom):
    """The queue of reflections."""

    __slots__ = ()

    def _listed(
        self, states: Sequence[JobState] = ("running", "pending", "dead"), *, limit: int = 1_000
    ) -> Steps[list[Job]]:
        """Return jobs, by number. What they are about stays on the server: their payload, config and
        result are empty."""
        rows = yield from self._connection.listed(
            "/jobs", dict[str, Any], viewer=self._viewer, query={"state": list(states)}, limit=limit
        )
        hidden: dict[str, Any] = {"payload": {}, "config": {}, "result": None}
        return [adapter(Job).validate_python({**row, **hidden}) for row in rows]

    listed, alisted = blocking(_listed), awaiting(_listed)


class RemoteVault(RemoteRoom):
    """Secrets: their labels, who unlocked them, and unlocking one with a token that may."""

    __slots__ = ()

    def _get(
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
        body = {
            "namespace": check_namespace(namespace), "label": label, "reason": reason, "owner": owner,
            "version": version,
        }  # fmt: skip
        # It is sent without an Idempotency-Key: no answer with a secret is kept.
        answer = yield from self._ask("POST", "/vault/unlock", dict[str, str], body=body)
        return Secret(answer["secret"])

    get, aget = blocking(_get), awaiting(_get)


class RemoteGraph(RemoteRoom):
    """The people and things of a namespace, and what its memories claim about them."""

    __slots__ = ()

    def _entities(self, *, past: bool = False) -> Steps[tuple[Entity, ...]]:
        """Return all people and things, by name."""
        return self._whole("some_entities", past=past)

    entities, aentities = blocking(_entities), awaiting(_entities)

    def _edges(
        self, entity: str | None = None, relation: str | None = None, *, past: bool = False
    ) -> Steps[tuple[Edge, ...]]:
        """Return claims, the oldest first: all, or those about an entity or of a relation."""
        return self._whole("some_edges", entity=entity, relation=relation, past=past)

    edges, aedges = blocking(_edges), awaiting(_edges)

    def _whole(self, name: str, **given: Any) -> Steps[tuple[Any, ...]]:
        rows = yield from self._all(name, room="graph", **given)
        return tuple(rows)


BESIDE_OPERATIONS: dict[str, type[RemoteRoom]] = {
    "changes": RemoteChanges, "admin": RemoteAdmin, "jobs": RemoteJobs, "vault": RemoteVault,
    "graph": RemoteGraph,
}  # fmt: skip
"""By the name of the room: the base of the class that `remote_room` derives."""
