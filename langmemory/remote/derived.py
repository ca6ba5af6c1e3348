"""Rooms of a remote store: methods that derive from the declared operations, and beside them whole lists,
streams, and what the API offers in another form than a file on this machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, wraps
from typing import Any, get_origin

from langmemory.arguments import check_agent
from langmemory.declaring import Operation, Room, find_operation, find_room, operations_of
from langmemory.declaring.fields import LARGEST_PAGE
from langmemory.declaring.operations import VARIABLE
from langmemory.errors import ConfigError, DamagedFileError, InvalidValueError, ServerError
from langmemory.lifecycle.health import Health
from langmemory.namespaces import check_namespace
from langmemory.remote.connection import Connection, part, place
from langmemory.steps import Steps, awaiting, blocking
from langmemory.types import (
    Applied,
    Edge,
    Entity,
    Job,
    JobState,
    Memory,
    Namespace,
    Page,
)
from langmemory.wire import adapter, plain


class RemoteRoom:
    """What belongs together of the operations of a remote store."""

    __slots__ = ("_chosen", "_connection", "_viewer", "agent", "namespace")

    def __init__(
        self,
        connection: Connection,
        viewer: str | None,
        *,
        agent: str | None = None,
        namespace: Namespace | None = None,
        **chosen: Any,
    ) -> None:
        """``viewer`` None is whom the token is bound to, if to anyone, and ``agent`` None likewise."""
        self._connection, self._viewer, self._chosen = connection, viewer, chosen
        self.agent, self.namespace = agent, namespace

    def _ask(self, method: str, path: str, of: Any, **sent: Any) -> Steps[Any]:
        return self._connection.ask(method, path, of, viewer=self._viewer, agent=self.agent, **sent)

    def _all(
        self, name: str, limit: int | None = None, *, room: str = "pages", **given: Any
    ) -> Steps[list[Any]]:
        """Return the items of an operation that answers with pages, or the first so many."""
        page = yield from self._pages(find_operation(room, name), given, limit)
        return list(page.items)

    def _call(self, operation: Operation, given: Mapping[str, Any]) -> Steps[Any]:
        """Ask the server, and return what the method of the same name returns of a file on this machine."""
        if operation.is_paged and (limit := given.get("limit", 0)) > LARGEST_PAGE:
            return (yield from self._pages(operation, given, limit))
        declared = operation.declared
        body = {**self._chosen, **given}
        if (name := operation.reads_namespace) in body:
            body["namespace"] = check_namespace(body.pop(name), may_be_empty=True) or None
        elif self.namespace is not None:
            body["namespace"] = self.namespace or None
        path = VARIABLE.sub(lambda found: part(body.pop(found[1])), declared.path)
        if not declared.sends_body and body.get("namespace") is not None:
            body["namespace"] = place(body["namespace"])
        try:
            answer = yield from self._ask(
                declared.verb, path, _answer_type(operation),
                writes=declared.scope != "read" or declared.sends_body,
                **{"body" if declared.sends_body else "query": body},
            )  # fmt: skip
        except ServerError as error:
            if error.kind != "not-found" or not (
                operation.may_be_missing or operation.says_whether
            ):
                raise
            return False if operation.says_whether else None
        return _value(operation, answer)

    def _pages(
        self, operation: Operation, given: Mapping[str, Any], limit: int | None
    ) -> Steps[Page[Any]]:
        """Return a page that is larger than a server gives at a time; without a limit all of the list."""
        items: list[Any] = []
        cursor = given.get("cursor")
        while True:
            size = LARGEST_PAGE if limit is None else min(LARGEST_PAGE, limit - len(items))
            page = yield from self._call(operation, {**given, "limit": size, "cursor": cursor})
            items += page.items
            cursor = page.next
            if cursor is None or (limit is not None and len(items) >= limit):
                return Page(items=tuple(items), next=cursor)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{type(self).__name__} has no {name!r}: a remote store has the operations of the API. Open the "
            "file where it is to have more."
        )


@cache
def _answer_type(operation: Operation) -> Any:
    kind = operation.present
    if kind is type(None) or operation.says_whether:
        return None
    if operation.envelope is None:
        return kind
    within = tuple[operation.item, ...] if operation.envelope == "items" else kind  # type: ignore[name-defined]
    return dict.__class_getitem__((str, within))


def _value(operation: Operation, answer: Any) -> Any:
    if operation.says_whether:
        return True
    found = answer if operation.envelope is None else answer[operation.envelope]
    is_list = operation.envelope == "items" and get_origin(operation.answer) is not tuple
    return list(found) if is_list else found


def _given(
    operation: Operation, signature: inspect.Signature, args: Any, kwargs: Any
) -> dict[str, Any]:
    """Return what a caller passes, by name, as JSON has it.

    Raises:
        ConfigError: An argument is for a file on this machine.
    """
    bound = dict(signature.bind(None, *args, **kwargs).arguments)
    del bound["self"]
    for name, one in signature.parameters.items():
        if one.kind is one.VAR_KEYWORD:
            bound |= bound.pop(name, {})
    local = sorted(name for name in operation.local & bound.keys() if bound[name] is not None)
    if local:
        raise ConfigError(
            f"{local[0]} is for a file on this machine: over a server the token and the viewer of the store "
            "decide it."
        )
    known = {one.name for one in operation.arguments}
    for name in bound.keys() - known - operation.local:
        raise TypeError(f"{operation.room.name}.{operation.name} has no argument {name!r}.")
    return {name: _sent(operation, name, value) for name, value in bound.items() if name in known}


def _sent(operation: Operation, name: str, value: Any) -> Any:
    argument = next(one for one in operation.arguments if one.name == name)
    several = "tuple[" in str(argument.kind) and not argument.is_namespace
    if several and isinstance(value, str):
        raise InvalidValueError(f"{name} is one text; pass a list of texts.")
    if several and value is not None:
        return [one if isinstance(one, str | int | float) else plain(one) for one in value]
    return value


@cache
def _class_of(room: Room, base: type[RemoteRoom]) -> type[RemoteRoom]:
    members: dict[str, Any] = {"__slots__": (), "__doc__": room.cls.__doc__}
    for operation in room.operations:
        members |= _methods(operation)
    for page in operations_of("pages"):
        if (whole := getattr(room.cls, page.name, None)) is not None and room.name != "pages":
            members |= _lists(page, whole)
    return type(f"Remote{room.cls.__name__}", (base,), members)


def _methods(operation: Operation) -> dict[str, Any]:
    signature = inspect.signature(operation.method)

    def steps(self: RemoteRoom, *args: Any, **kwargs: Any) -> Steps[Any]:
        return (yield from self._call(operation, _given(operation, signature, args, kwargs)))

    steps = wraps(operation.method)(steps)
    return {operation.name: blocking(steps), f"a{operation.name}": awaiting(steps)}


def _lists(page: Operation, whole: Callable[..., Any]) -> dict[str, Any]:
    """Return the method of a room that returns the whole list of some pages, or its first so many."""
    signature = inspect.signature(whole)

    def steps(self: RemoteRoom, *args: Any, **kwargs: Any) -> Steps[list[Any]]:
        bound = signature.bind(None, *args, **kwargs)
        bound.apply_defaults()
        given = {
            name: one for name, one in bound.arguments.items() if name not in ("self", "limit")
        }
        return (yield from self._all(page.name, bound.arguments.get("limit"), **given))

    steps = wraps(whole)(steps)
    return {page.name: blocking(steps), f"a{page.name}": awaiting(steps)}


def remote_room(
    name: str,
    connection: Connection,
    viewer: str | None,
    base: type[RemoteRoom] = RemoteRoom,
    **chosen: Any,
) -> Any:
    """Return a room of a remote store.

    Args:
        name: The attribute of a store that has it.
        connection: The server.
        viewer: On whose behalf; None as the token says.
        base: The class that has what the room has beside its operations.
        chosen: What chooses it, such as namespace and agent.

    Raises:
        AttributeError: There is no such room.
    """
    room = find_room(name)
    if room is None:
        raise AttributeError(f"A remote store has no {name!r}.")
    if "namespace" in room.parameters:
        empty = room.parameters["namespace"].default == ()
        chosen["namespace"] = check_namespace(chosen.get("namespace", ()), may_be_empty=empty)
    if (agent := chosen.get("agent")) is not None:
        chosen["agent"] = check_agent("agent", agent)
    return _class_of(room, base)(connection, viewer, **chosen)  # type: ignore[arg-type]


class RemoteChanges(RemoteRoom):
    """Taking memories out."""

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
    "changes": RemoteChanges, "admin": RemoteAdmin, "jobs": RemoteJobs,
    "graph": RemoteGraph,
}  # fmt: skip
"""By the name of the room: the base of the class that `remote_room` derives."""
