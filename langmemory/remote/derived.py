"""Rooms of a remote store that derive from the declared operations: the same methods, over the API."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache, wraps
from typing import Any, get_origin

from langmemory.arguments import check_agent
from langmemory.declaring import Operation, Room, find_operation, find_room
from langmemory.declaring.fields import LARGEST_PAGE
from langmemory.declaring.operations import VARIABLE
from langmemory.errors import ConfigError, InvalidValueError, ServerError
from langmemory.namespaces import check_namespace
from langmemory.remote.connection import Connection, part, place
from langmemory.steps import Steps, awaiting, blocking
from langmemory.types import Namespace, Page
from langmemory.wire import plain


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
    return type(f"Remote{room.cls.__name__}", (base,), members)


def _methods(operation: Operation) -> dict[str, Any]:
    signature = inspect.signature(operation.method)

    def steps(self: RemoteRoom, *args: Any, **kwargs: Any) -> Steps[Any]:
        return (yield from self._call(operation, _given(operation, signature, args, kwargs)))

    steps = wraps(operation.method)(steps)
    return {operation.name: blocking(steps), f"a{operation.name}": awaiting(steps)}


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
