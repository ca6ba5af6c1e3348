"""Routes that derive from the declared operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from uuid import uuid4

from pydantic import BaseModel, create_model

from langmemory.declaring import Operation, Room, find_operation
from langmemory.formation.planning.consequences import MANDATE
from langmemory.procedures import Source
from langmemory.server.access import Access
from langmemory.server.problems import Problem
from langmemory.server.replay import derived_key
from langmemory.server.routes import Route, Routes
from langmemory.trust import written_by
from langmemory.types import Namespace
from langmemory.wire import Deferred


def routes_of(room: Room) -> Routes:
    """Return the routes of a room's operations, those without a variable in their path first."""
    routes = Routes(room.tag)
    for one in sorted(room.operations, key=lambda one: len(one.variables)):
        declared, answer = one.declared, answer_of(one)
        routes.declared.append(
            Route(
                method=declared.verb, path=declared.path, scope=declared.scope, handler=_handler(one),
                models=one.models, uploads=None, answer=answer, conditional=False,
                status=204 if answer is None else 200,
            )
        )  # fmt: skip
    return routes


class Items(Deferred):
    """All of a list."""


class Value(Deferred):
    """A plain value."""


@cache
def answer_of(operation: Operation) -> Any:
    """Return the type of what a route answers; None for nothing."""
    kind = operation.present
    if kind is type(None) or operation.says_whether:
        return None
    if operation.envelope == "items":
        name = getattr(operation.item, "__name__", "Item")
        return create_model(f"ListOf{name}", __base__=Items, items=(list[operation.item], ...))  # type: ignore[name-defined]
    if operation.envelope == "value":
        return create_model(f"{kind.__name__.title()}Value", __base__=Value, value=(kind, ...))
    return kind


def _handler(operation: Operation) -> Callable[..., Any]:
    def handler(access: Access, **parts: BaseModel) -> Any:
        given: dict[str, Any] = {}
        for part in parts.values():
            given |= {name: getattr(part, name) for name in part.model_fields_set}
        return _shaped(operation, _run(operation, access, given))

    handler.__name__, handler.__doc__ = operation.id, operation.description
    return handler


def perform(access: Access, room: str, name: str, /, **arguments: Any) -> Any:
    """Do an operation as the holder of a token may, and return what the method returns.

    Raises:
        Problem: The token does not allow it.
    """
    return _run(find_operation(room, name), access, arguments)


def _run(operation: Operation, access: Access, given: dict[str, Any]) -> Any:
    room = _opened(operation, access, given)
    arguments = operation.taken(given, _place(access))
    if operation.once is not None:
        key = derived_key(access.sender, access.idempotency_key, uuid4().hex)
        arguments[operation.once] = key
    if access.grant.trust == "agent":
        arguments |= {one.name: "agent" for one in operation.arguments if one.kind == Source}
    if operation.declared.about is not None:
        _check_about(operation, access, next(iter(arguments.values())))
    with written_by(access.grant.trust):
        found = getattr(room, operation.name)(**arguments)
    if operation.says_whether:
        found = found or None
    if operation.item is not None and operation.reads_namespace is None:
        found = [one for one in found if _is_reached(access, one)]
    if found is None and not (operation.may_be_missing or operation.says_whether):
        return None
    if operation.reads_namespace is None or found is None:
        named = ", ".join(str(arguments[one]) for one in operation.variables)
        _within(access, operation, found, named)
    return found


def _is_reached(access: Access, found: Any) -> bool:
    place = getattr(found, "namespace", None)
    return not isinstance(place, tuple) or access.reaches(place)


def _check_about(operation: Operation, access: Access, named: str) -> None:
    """Refuse what is about something that is not there, or that the token does not reach."""
    name, _, getter = str(operation.declared.about).partition(".")
    store = access.store if operation.declared.whole is None else access.whole()
    found = getattr(getattr(store, name), getter)(named)
    _within(access, find_operation(name, getter), found, named, error=operation.declared.missing)
    if getattr(found, "about", None) == MANDATE:  # else who proposed it might decide it
        access.grant.check_scope("admin")


def _opened(operation: Operation, access: Access, given: dict[str, Any]) -> Any:
    """Return the room, as whoever asks may use it.

    Raises:
        Problem: The token does not reach it, or the agent has to be named.
    """
    whole, agent = operation.declared.whole, access.grant.agent
    store = access.store if whole is None else access.whole(anywhere=whole == "file")
    if operation.room.agent == "needed" and not operation.declared.anonymous:
        access.grant.check_agent()
    return operation.opened(store, given, _place(access), agent)


def _place(access: Access) -> Callable[[Namespace | None, bool], Namespace]:
    return lambda namespace, exact: access.place(namespace, exact=exact)


def _within(
    access: Access,
    source: Operation,
    found: Any,
    named: str,
    *,
    error: type[Exception] | None = None,
) -> None:
    """Refuse what ``source`` did not return, or what lies where the token does not reach, with the same
    words."""
    listing = source.declared.path.partition("/{")[0]
    missing = f"{source.noun} {named!r}; {listing} lists them"
    name = None if error is None else error.__name__
    if found is None:
        raise Problem("not-found", f"There is no {missing}.", error=name)
    place = getattr(found, "namespace", None)
    if isinstance(place, tuple):
        access.within(place, missing, error=name)


def _shaped(operation: Operation, found: Any) -> Any:
    answer = answer_of(operation)
    if answer is None or operation.envelope is None:
        return None if answer is None else found
    return answer(**{operation.envelope: found})
