"""Declaring operations: one decorator for a method, one for its room, and what follows from their signatures.

```python
@room("swarm", tag="Swarm")
class Swarm:
    @operation("write", "POST /swarm/tasks")
    def add_task(self, title: Title, *, details: Details = "") -> Task:
        \"\"\"Set a task.

        Args:
            title: What is to be done, in a few words.
        \"\"\"
```

Arguments, their bounds and their documentation come from the signature, ``Annotated`` and the docstring.
REST, the remote store, the tools of models, the command line and the reference derive from it.
"""

from __future__ import annotations

import inspect
import os
import re
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, Field, create_model

from langmemory.declaring.fields import Fields, Labels, QueryLabels
from langmemory.docstrings import SECTION, docstrings_of
from langmemory.hooks import load_object, parts, place_of
from langmemory.steps import twin
from langmemory.types import Namespace, Page, TokenScope

Verb = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Whole = Literal["namespace", "file"]
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
ClassT = TypeVar("ClassT", bound=type)

_ARGUMENT: Final = re.compile(r"^ {4,}(\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)
VARIABLE: Final = re.compile(r"\{(\w+)(?::\w+)?\}")
"""A variable of a path; its group is the argument."""
_SEVERAL: Final = (Iterable, Sequence, Collection)


class Marker:
    """Marks an argument in its ``Annotated`` type."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


LOCAL: Final = Marker("LOCAL")
"""The argument is for a store on this machine: no client may set it."""
ONCE: Final = Marker("ONCE")
"""The argument is an id that a server derives from the Idempotency-Key, so that a request sent again is done
once. No client may set it."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What `operation` notes at a method."""

    name: str
    """Of the method: its async twin has the same attributes."""
    scope: TokenScope
    verb: Verb
    path: str
    noun: str | None
    about: str | None
    whole: Whole | None
    missing: type[Exception] | None
    anonymous: bool
    for_models: bool

    @property
    def sends_body(self) -> bool:
        """Whether arguments stand in the body of a request, not in the query."""
        return self.verb in ("POST", "PUT", "PATCH")


def operation(
    scope: TokenScope,
    http: str,
    *,
    noun: str | None = None,
    about: str | None = None,
    whole: Whole | None = None,
    missing: type[Exception] | None = None,
    anonymous: bool = False,
    for_models: bool = False,
) -> Callable[[FunctionT], FunctionT]:
    """Return a decorator that declares a method of a room as an operation.

    Args:
        scope: The scope that a token needs.
        http: Verb and path of the route, such as ``GET /runs/{run_id}``. A variable is an argument of the
            method.
        noun: The word for what is missing where the method returns None. Without it, the name of the type
            that it returns.
        about: The room and the method that return what the operation is about, by its first argument, such as
            ``changes.run``. Clients who may not know of it are refused as if it were not there.
        whole: The operation acts on everybody's memory: in a namespace, or in the whole file. Tokens that are
            bound to a viewer are refused; with ``"file"`` also those that are bound to namespaces.
        missing: The error that a remote store raises where what it is about is not there.
        anonymous: Whoever is no agent may do it, in a room that needs an agent.
        for_models: Models may call it as a tool.
    """
    verb, _, path = http.partition(" ")

    def declare(method: FunctionT) -> FunctionT:
        method.__operation__ = Declared(  # type: ignore[attr-defined]
            name=method.__name__, scope=scope, verb=verb, path=path, noun=noun, about=about, whole=whole,  # type: ignore[arg-type]
            missing=missing, anonymous=anonymous, for_models=for_models,
        )  # fmt: skip
        return method

    return declare


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of an operation, as clients send it."""

    name: str
    kind: Any
    """Its type, in types that JSON has."""
    default: Any
    """`inspect.Parameter.empty` where there is none."""
    description: str | None
    of_room: bool
    """Whether it chooses the room, such as the namespace of a graph."""
    option: bool
    """Whether the method takes it among its ``**options``."""

    @property
    def is_namespace(self) -> bool:
        """Whether it is a namespace, which every door takes in a way of its own."""
        return bool(self.kind == Namespace)

    @property
    def is_required(self) -> bool:
        """Whether a client has to send it."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, kw_only=True)
class Room:
    """Operations that belong together, and the attribute of a store that has them."""

    name: str
    tag: str
    """The heading under which documentation lists them."""
    cls: type
    """Its instances are made with the core of a store, the viewer, and `parameters`."""
    agent: Literal["optional", "needed"] | None
    """Whether it acts as an agent."""

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Parameters that choose a room: such as namespace, agent, times."""
        every = inspect.signature(self.cls).parameters
        return dict([*every.items()][2:])

    @cached_property
    def for_viewers(self) -> bool:
        """Whether a viewer's store has it: else it is of the application alone, whose store makes it."""
        return "viewer" in inspect.signature(self.cls).parameters

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """Its operations, in the order of their declaration."""
        found: dict[str, Operation] = {}
        for cls in reversed(self.cls.__mro__):
            for name, member in vars(cls).items():
                declared = getattr(member, "__operation__", None)
                if declared is not None and declared.name == name:
                    found[name] = Operation(room=self, method=member, declared=declared)
        return tuple(found.values())


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation, with what follows from its declaration."""

    room: Room
    method: Callable[..., Any] = field(repr=False)
    declared: Declared = field(repr=False)

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.method.__name__

    @property
    def id(self) -> str:
        """The name by which programs know it among those of all rooms."""
        return f"{self.room.name}_{self.name}"

    @cached_property
    def description(self) -> str:
        """The docstring, without the sections about arguments and errors."""
        return SECTION.split(inspect.getdoc(self.method) or "")[0]

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        """The types in the signature of the method."""
        return get_type_hints(self.method, include_extras=True)

    @property
    def answer(self) -> Any:
        """The type that the method returns; ``type(None)`` for nothing."""
        return self.hints["return"]

    @cached_property
    def item(self) -> Any:
        """Of an answer that is a list, the type of its items; None for other answers."""
        if get_origin(self.answer) in (tuple, list, Sequence, Iterable, Iterator):
            return get_args(self.answer)[0]
        return None

    @property
    def is_paged(self) -> bool:
        """Whether the answer is a page of a list."""
        return get_origin(self.answer) is Page

    @cached_property
    def present(self) -> Any:
        """The type of an answer that is there: for ``Run | None`` it is ``Run``."""
        rest = [one for one in get_args(self.answer) if one is not type(None)]
        return rest[0] if _is_union(self.answer) and len(rest) == 1 else self.answer

    @property
    def may_be_missing(self) -> bool:
        """Whether the method returns None for what is not there."""
        return self.present is not self.answer

    @property
    def says_whether(self) -> bool:
        """Whether it deletes something and returns whether it was there."""
        return self.declared.verb == "DELETE" and self.answer is bool

    @cached_property
    def envelope(self) -> Literal["items", "value"] | None:
        """The field that holds a list, or a plain value, in JSON, whose objects alone can grow; None for an
        answer that is an object, or nothing."""
        if self.item is not None:
            return "items"
        plain = self.present in (bool, int, float, str) and not self.says_whether
        return "value" if plain else None

    @cached_property
    def noun(self) -> str:
        """The word for what may be missing."""
        return self.declared.noun or getattr(self.present, "__name__", "such thing").lower()

    @cached_property
    def reads_namespace(self) -> str | None:
        """The name of the argument that is a namespace, if the method has one."""
        return next((name for name in ("namespace", "prefix") if name in self.hints), None)

    @cached_property
    def places(self) -> tuple[Argument, ...]:
        """The arguments that choose the room."""
        hints = get_type_hints(self.room.cls.__init__, include_extras=True)  # type: ignore[misc]
        described = _argument_descriptions(self.room.cls.__init__)  # type: ignore[misc]
        return tuple(
            Argument(
                name=name, kind=_plain(hints[name]), default=one.default, of_room=True, option=False,
                description=described.get(name),
            )
            for name, one in self.room.parameters.items()
            if name != "agent"
        )  # fmt: skip

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments that a client may send: those that choose the room, then those of the method."""
        described = _argument_descriptions(self.method)
        found: list[Argument] = list(self.places)
        for name, one in inspect.signature(self.method).parameters.items():
            kind = self.hints.get(name)
            if name == "self" or _marker(kind) is not None:
                continue
            if one.kind is one.VAR_KEYWORD:  # Unpack[...]
                found += _options(get_args(kind)[0])
            else:
                found.append(
                    Argument(
                        name=name, kind=_plain(kind), default=one.default, of_room=False, option=False,
                        description=described.get(name),
                    )
                )  # fmt: skip
        return tuple(found)

    @cached_property
    def once(self) -> str | None:
        """The name of the argument that is marked `ONCE`."""
        return next((name for name, kind in self._all() if _marker(kind) is ONCE), None)

    @cached_property
    def local(self) -> frozenset[str]:
        """Names of the arguments that no client may send."""
        return frozenset(name for name, kind in self._all() if _marker(kind) is not None)

    def _all(self) -> Iterator[tuple[str, Any]]:
        for name, one in inspect.signature(self.method).parameters.items():
            if one.kind is one.VAR_KEYWORD:
                options = get_args(self.hints[name])[0]
                yield from get_type_hints(options, include_extras=True).items()
            elif name != "self":
                yield name, self.hints[name]

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names of the arguments that stand in the path."""
        return frozenset(VARIABLE.findall(self.declared.path))

    @cached_property
    def models(self) -> dict[str, type[BaseModel]]:
        """``path``, ``query`` and ``body`` of a request, as far as there are any."""
        rest = "body" if self.declared.sends_body else "query"
        parts: dict[str, dict[str, Any]] = {}
        for one in self.arguments:
            place = "path" if one.name in self.variables else rest
            name, kind, default = one.name, one.kind, one.default
            if one.is_namespace:
                labels: Any = QueryLabels if place == "query" else Labels
                name, kind, default = "namespace", labels | None, None
            if default is inspect.Parameter.empty:
                default = ...
            parts.setdefault(place, {})[name] = (kind, Field(default, description=one.description))
        return {
            place: create_model(f"{_title(self.id)}{place.title()}", __base__=Fields, **fields)
            for place, fields in parts.items()
        }

    def opened(
        self,
        store: Any,
        given: Mapping[str, Any],
        place: Callable[[Namespace | None, bool], Namespace],
        agent: str | None = None,
    ) -> Any:
        """Return the room of a store.

        Args:
            store: The store, as whoever asks may see it.
            given: Arguments by name, checked; ``namespace`` may be missing.
            place: Returns the namespace that is meant: of the one that is named, or None, and whether it has
                to be one.
            agent: As which agent, where the room has one.
        """
        named: dict[str, Any] = {} if self.room.agent is None else {"agent": agent}
        for one in self.places:
            if one.is_namespace:
                exact = one.is_required or agent is not None
                named[one.name] = place(given.get("namespace"), exact)
            elif one.name in given:
                named[one.name] = given[one.name]
        room = getattr(store, self.room.name)
        return room(**named) if self.room.parameters else room

    def taken(
        self, given: Mapping[str, Any], place: Callable[[Namespace | None, bool], Namespace]
    ) -> dict[str, Any]:
        """Return the arguments of the method; see `open_room`."""
        arguments: dict[str, Any] = {}
        for one in self.arguments:
            if one.of_room:
                continue
            if one.is_namespace:
                arguments[one.name] = place(given.get("namespace"), one.default != ())
            elif one.name in given and not (one.option and given[one.name] is None):
                arguments[one.name] = given[one.name]
        return arguments

    def call(
        self,
        store: Any,
        given: Mapping[str, Any],
        place: Callable[[Namespace | None, bool], Namespace],
        agent: str | None = None,
    ) -> Any:
        """Open the room, and return what the method returns; see `open_room`."""
        room = self.opened(store, given, place, agent)
        return getattr(room, self.name)(**self.taken(given, place))

    @cached_property
    def parameters_model(self) -> type[BaseModel]:
        """All arguments but the namespace as one model: the schema of a tool."""
        fields: dict[str, Any] = {
            one.name: (
                one.kind,
                Field(... if one.is_required else one.default, description=one.description),
            )
            for one in self.arguments
            if not one.is_namespace
        }
        return create_model(_title(self.id), __base__=Fields, **fields)


def _title(id: str) -> str:
    return "".join(word.capitalize() for word in id.split("_"))


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _marker(kind: Any) -> Marker | None:
    return next((one for one in getattr(kind, "__metadata__", ()) if isinstance(one, Marker)), None)


def _plain(kind: Any) -> Any:
    """Return a type in types that JSON has: an ``Iterable`` is a tuple, a ``Mapping`` is a dict."""
    origin, given = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Annotated[(_plain(given[0]), *kind.__metadata__)]
    if _is_union(kind):
        return Union[tuple(map(_plain, given))]  # noqa: UP007
    if origin in _SEVERAL:
        return tuple.__class_getitem__((_plain(given[0]), ...))
    if origin is os.PathLike:
        return str
    if origin is Mapping:
        return dict.__class_getitem__(given)
    return kind


def _argument_descriptions(method: Callable[..., Any]) -> dict[str, str]:
    """Return the descriptions of arguments in a docstring."""
    text = inspect.getdoc(method) or ""
    return {name: " ".join(said.split()) for name, said in _ARGUMENT.findall(text)}


def _options(options: Any) -> Iterator[Argument]:
    """Yield the fields of a ``TypedDict`` of options; each may be left out."""
    described = docstrings_of(options.__module__).get(options.__name__, {})
    for name, kind in get_type_hints(options, include_extras=True).items():
        if _marker(kind) is None:
            yield Argument(
                name=name, kind=_plain(kind) | None, default=None, of_room=False, option=True,
                description=" ".join(described.get(name, "").split()) or None,
            )  # fmt: skip


_ROOMS: Final[dict[str, Room]] = {}


def room(
    name: str, *, tag: str, agent: Literal["optional", "needed"] | None = None
) -> Callable[[ClassT], ClassT]:
    """Return a decorator that registers a class as a room of every store; see `Room`."""

    def declare(cls: ClassT) -> ClassT:
        register(Room(name=name, tag=tag, cls=cls, agent=agent))
        return cls

    return declare


def register(new: Room) -> None:
    """Add a room: every door that is built from now on has its operations. Each gets an async twin."""
    _ROOMS[new.name] = new
    for one in new.operations:
        if not hasattr(new.cls, f"a{one.name}"):
            setattr(new.cls, f"a{one.name}", twin(one.method))


def unregister(name: str) -> None:
    """Take a room away from the doors that are built from now on."""
    del _ROOMS[name]


def find_room(name: str) -> Room | None:
    """Return the room that a store has under a name; None where there is none. That of a part is imported."""
    if name not in _ROOMS and (place := place_of("rooms", name)) is not None:
        load_object(place)
    return _ROOMS.get(name)


def find_operation(room: str, name: str) -> Operation:
    """Return an operation by the names of its room and its method."""
    return next(one for one in operations_of(room) if one.name == name)


def rooms() -> tuple[Room, ...]:
    """Return the rooms there are, those of parts too, by name."""
    for part in parts():
        for name in part.rooms:
            find_room(name)
    return tuple(_ROOMS[name] for name in sorted(_ROOMS))


def operations_of(*names: str) -> tuple[Operation, ...]:
    """Return the operations of rooms; without names, of all."""
    chosen = filter(None, map(find_room, names)) if names else rooms()
    return tuple(one for each in chosen for one in each.operations)
