"""Access: who asks, how far what they may reach goes, and which version (entity tag) they have seen.

The store that a handler gets is bound to the viewer of the token. A handler names no viewer, and what it
is given of a namespace goes through `Access.place`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from langgraph.store.base import Item
from starlette.datastructures import Headers

from langmemory.arguments import check_agent
from langmemory.documents.project import namespace_of
from langmemory.namespaces import check_namespaces
from langmemory.server.problems import Problem
from langmemory.stores import MemoryStore
from langmemory.stores.face import StoreFace, bound
from langmemory.timestamps import EPOCH
from langmemory.types import AccessToken, Memory, Namespace, Priority, TokenScope, Trust

_MICROSECOND: Final = timedelta(microseconds=1)
_TAG: Final = re.compile(r'(W/)?"([\x21\x23-\x7e]*)"')


def tag_of(value: Any) -> str | None:
    """Return the entity tag of an answer, with its quotes; None for what has no version.

    That of a memory says when it was stored and when it was changed last, so what only counts its uses is no
    new version.
    """
    if isinstance(value, Memory | Item):
        return f'"{_us(value.created_at):x}-{_us(value.updated_at):x}"'
    version = getattr(value, "etag", None)
    return None if version is None else f'"{version}"'


def tags_in(header: str | None, *, weak: bool = False) -> tuple[str, ...] | None:
    """Return the entity tags of an If-Match or If-None-Match header, with their quotes, or ``*``; None
    without one. ``weak`` ones count for If-None-Match alone (RFC 9110, 13.1).

    Raises:
        Problem: It is malformed.
    """
    if header is None:
        return None
    if header.strip() == "*":
        return ("*",)
    found = []
    for part in header.split(","):
        match = _TAG.fullmatch(part.strip())
        if match is None:
            raise Problem("malformed", 'Entity tags are to stand in quotes, as in `"6a-6a"`.')
        if match[1] is None or weak:
            found.append(f'"{match[2]}"')
    return tuple(found)


def is_known(tag: str | None, header: str | None) -> bool:
    """Return whether an If-None-Match header names this version: the answer needs no body."""
    if tag is None or header is None:
        return False
    return header.strip() == "*" or tag in (
        part.strip().removeprefix("W/") for part in header.split(",")
    )


def check_tag(wanted: Sequence[str] | None, tag: str | None) -> None:
    """Refuse a write that has not seen the last version.

    Raises:
        Problem: ``tag`` is none of those that an If-Match header names.
    """
    if wanted is None or (tag is not None and ("*" in wanted or tag in wanted)):
        return
    raise Problem(
        "changed-meanwhile", "It was changed meanwhile, or is gone. Read it again, then write."
    )


def check_none(unwanted: Sequence[str] | None, tag: str | None) -> None:
    """Refuse a write over a version that is not to be there.

    Raises:
        Problem: There is something, and an If-None-Match header says ``*``, or names its version.
    """
    if unwanted is None or tag is None or not ("*" in unwanted or tag in unwanted):
        return
    raise Problem("exists", "There is one already. Read it, and write with its ETag as If-Match.")


def _us(at: datetime) -> int:
    return (at - EPOCH) // _MICROSECOND


RANK: Final[dict[TokenScope, int]] = {"read": 0, "write": 1, "admin": 2}
"""A scope includes those below it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """What somebody was let in with."""

    id: str
    """Of the token; ``local`` for whoever sits at this machine and needs none."""
    viewer: str | None
    namespaces: tuple[Namespace, ...]
    """Prefixes; none is the whole file."""
    scope: TokenScope
    agent: str | None = None
    """As which agent they send and receive on the bus."""
    unlocks: bool = False
    """Whether they may unlock secrets of the vault; no scope includes it."""
    from_issuer: bool = False
    """Whether it is of an access token (OAuth), whose holder can ask the issuer for more."""
    home: Namespace | None = None
    """Where a request that names no namespace works; None is the namespace that this reaches, if there is
    just one."""
    projects: tuple[str, ...] = ()
    """Projects at hand: those whose documents a model searches without naming one."""

    @classmethod
    def of(cls, token: AccessToken) -> Grant:
        """Return what a token gives."""
        return cls(
            id=token.id,
            viewer=token.viewer,
            namespaces=token.namespaces,
            scope=token.scope,
            agent=token.agent,
            unlocks=token.unlocks,
        )

    def at(self, home: Namespace, projects: tuple[str, ...]) -> Grant:
        """Return this for a client that works in one namespace, with these projects at hand."""
        places = map(namespace_of, projects)
        return replace(self, home=home, projects=projects, namespaces=(home, *places))

    def check_scope(self, needed: TokenScope) -> None:
        """Raises Problem where this allows less."""
        if RANK[self.scope] < RANK[needed]:
            raise Problem(
                "scope",
                f"This needs a token of scope {needed}; yours has {self.scope}. Make one with `langmemory "
                f"token create --scope {needed}`.",
            )

    def may_give(self, priority: Priority) -> bool:
        """Return whether this may give a memory a priority: what stands in every prompt is for an admin, or
        for the person who decides the review."""
        return priority != "mandate" or self.scope == "admin"

    @property
    def trust(self) -> Trust:
        """How far what this writes is trusted at most, whoever it says has said it."""
        return "person" if self.agent is None or self.may_give("mandate") else "agent"

    def check_unlocks(self) -> None:
        """Raises Problem where this may not unlock secrets."""
        if not self.unlocks:
            raise Problem(
                "locked",
                "Unlocking a secret needs a token made by `langmemory token create --vault`; on the server's "
                "own machine `langmemory serve --unlock-vault` allows it without one.",
            )

    def check_agent(self) -> None:
        """Raises Problem where this is of no agent."""
        if self.agent is None:
            raise Problem(
                "agent-needed",
                "Name the agent: with a token made by `langmemory token create --agent NAME`, or, with a "
                "token of the application, in the header Memory-Agent.",
            )

    def on_behalf_of(self, viewer: str | None) -> Grant:
        """Return this, narrowed to what one person may see; ``""`` is somebody unknown, and None leaves it
        as it is.

        Raises:
            Problem: It is bound to another already.
        """
        if viewer is None or viewer == self.viewer:
            return self
        if self.viewer is not None:
            raise Problem(
                "viewer", "Your token is bound to another viewer; leave out Memory-Viewer."
            )
        return replace(self, viewer=viewer)

    def as_agent(self, agent: str | None) -> Grant:
        """Return this, for one agent; None leaves it as it is.

        Raises:
            Problem: It is bound to another already, or to a viewer: who chooses an agent is the application.
            ConfigError: It is no name of an agent.
        """
        if agent is None or agent == self.agent:
            return self
        if self.agent is not None or self.viewer is not None:
            bound_to = "another agent" if self.agent is not None else "a viewer"
            raise Problem(
                "agent",
                f"Your token is bound to {bound_to}, so it cannot name an agent. It needs one made with "
                "`langmemory token create --agent`.",
            )
        return replace(self, agent=check_agent("Memory-Agent", agent))


def named_in(headers: Headers, name: str) -> str | None:
    """Return whom a request names in ``Memory-Viewer`` or ``Memory-Agent``: a JSON string, so that somebody
    unknown, ``""``, is not what a proxy takes for no header.

    Raises:
        Problem: It is no JSON string, or there are several.
    """
    given = headers.getlist(name)
    if not given:
        return None
    try:
        found = json.loads(given[0]) if len(given) == 1 else None
    except ValueError:
        found = None
    if not isinstance(found, str) or len(found) > 400 or not found.isprintable():
        raise Problem(
            "malformed", f'{name} is to be one JSON string of at most 400 characters: "maria".'
        )
    return found


LOCAL: Final = Grant(id="local", viewer=None, namespaces=(), scope="admin")
"""Whoever sits at the machine: the file is theirs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """What a handler works with."""

    application: MemoryStore = field(repr=False)
    """The application's store. Only what checks the grant itself may use it: see `whole`."""
    grant: Grant
    if_match: tuple[str, ...] | None = None
    """Entity tags of ``If-Match``, ``*`` for any; None where there is no such header."""
    if_none_match: tuple[str, ...] | None = None
    """Of ``If-None-Match`` of a write, likewise."""
    idempotency_key: str | None = None

    @property
    def sender(self) -> str:
        """The token, on whose behalf and as which agent it acts: who else sends the same Idempotency-Key is
        another."""
        return f"{self.grant.id}\0{json.dumps([self.grant.viewer, self.grant.agent])}"

    @property
    def store(self) -> StoreFace:
        """The store as the one who asks may see it."""
        return bound(self.application, self.grant.viewer)

    @property
    def is_conditional(self) -> bool:
        """Whether a write is only to be done on a certain version."""
        return self.if_match is not None or self.if_none_match is not None

    def check_version(self, tag: str | None) -> None:
        """Refuse a write that has not seen the version of this tag; None: there is nothing yet.

        Raises:
            Problem: A header of the request says so.
        """
        check_tag(self.if_match, tag)
        check_none(self.if_none_match, tag)

    def places(self, namespaces: Namespace | Sequence[Namespace]) -> tuple[Namespace, ...]:
        """Return one namespace that a request names, or several, if they lie in what the token reaches.

        Raises:
            Problem: One lies elsewhere.
        """
        return tuple(self.place(one, exact=True) for one in check_namespaces(namespaces))

    def place(self, namespace: Namespace | None = None, *, exact: bool = False) -> Namespace:
        """Return the namespace that a request means, if it lies in what the token reaches.

        Args:
            namespace: As the request names it; None where it does not. Then it is where the client
                works, else the one that the token is bound to, else the whole file.
            exact: Refuse the whole file: something is to be written somewhere.

        Raises:
            Problem: It lies elsewhere, or it has to be named.
        """
        allowed = self.grant.namespaces
        found = self.grant.home if namespace is None else namespace
        if found is None and len(allowed) == 1:
            found = allowed[0]
        if found is None:
            found = ()
        if not found and (exact or allowed):
            choice = f" This token reaches {_listed(allowed)}." if allowed else ""
            raise Problem("namespace-needed", f"Name a namespace.{choice}")
        if not self.reaches(found):
            raise Problem(
                "namespace",
                f"This token does not reach the namespace {'/'.join(found)}; it reaches "
                f"{_listed(allowed)}.",
            )
        return found

    def reaches(self, namespace: Namespace) -> bool:
        """Return whether a namespace lies in what the token reaches."""
        allowed = self.grant.namespaces
        return not allowed or any(namespace[: len(one)] == one for one in allowed)

    def within(self, namespace: Namespace, what: str, *, error: str | None = None) -> None:
        """Refuse, as if it were not there, what lies in a namespace that the token does not reach; ``error``
        is the class that the refusal stands for.

        Raises:
            Problem: ``what`` lies elsewhere.
        """
        if not self.reaches(namespace):
            raise Problem("not-found", f"There is no {what}.", error=error)

    def whole(self, *, anywhere: bool = False) -> MemoryStore:
        """Return the application's store, for what acts on everybody's memory.

        Args:
            anywhere: It also acts beyond any namespace, so that a token bound to some is refused.

        Raises:
            Problem: The token is bound to a viewer, or to namespaces.
        """
        if self.grant.viewer is not None:
            raise Problem(
                "viewer",
                "This acts on everybody's memory, and your token is bound to one viewer. It needs one "
                "made without --viewer.",
            )
        if anywhere and self.grant.namespaces:
            raise Problem(
                "namespace",
                "This acts on the whole file, and your token is bound to namespaces. It needs one made "
                "without --namespace.",
            )
        return self.application


def _listed(namespaces: tuple[Namespace, ...]) -> str:
    return ", ".join("/".join(one) for one in namespaces)
