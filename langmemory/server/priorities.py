"""What a token decides of memories that its holder writes: their priority, and who says so.

A mandate needs scope admin. With less, the memory becomes a guardrail, and a review asks a person whether it
is to stand in every prompt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langgraph.store.base import PutOp

from langmemory.changes import Facets
from langmemory.server.access import Access
from langmemory.trust import as_written
from langmemory.types import Namespace, Priority

LOWERED: Priority = "guardrail"
"""What a mandate is until a person decides."""


async def lower(access: Access, put: PutOp) -> PutOp:
    """Return a put with the priority that the token may give. What is a mandate already, and says the same,
    stays one."""
    value = put.value
    if value is None or value.get("priority") != "mandate" or access.grant.may_give("mandate"):
        return put
    known = await access.store.admin.amemory(tuple(put.namespace), put.key)
    lowered = {**value, "priority": LOWERED}
    same = known is not None and {**known.value, "priority": LOWERED} == lowered
    if known is not None and known.priority == "mandate" and same:
        return put
    return put._replace(value=lowered)


async def ask(access: Access, asked: Iterable[PutOp], written: Iterable[PutOp]) -> None:
    """Ask about the mandates among puts that were written as something less."""
    for one, other in zip(asked, written, strict=True):
        if one is not other:
            await access.store.changes.apropose_mandate(tuple(one.namespace), one.key)


async def give(access: Access, namespace: Namespace, key: str, priority: Priority) -> bool:
    """Give a memory that is there a priority, in a run of its own. Return whether a person is asked
    instead."""
    store, given = access.store, access.grant.may_give(priority)
    known = await store.admin.amemory(namespace, key)
    if known is None or known.priority == priority:
        return False
    facets = Facets(priority=priority if given else LOWERED)
    await store.changes.acorrect(
        namespace, key, facets=facets, reason="priority given over the server"
    )
    if not given:
        await store.changes.apropose_mandate(namespace, key)
    return not given


def said_by(access: Access, put: PutOp) -> PutOp:
    """Return a put of what an agent knows: where its value does not tell who says so, the agent does."""
    agent, value = access.grant.agent, put.value
    if agent is None or value is None:
        return put
    return put._replace(value=trusted(access, {"speaker": agent, **value}))


def trusted(access: Access, value: dict[str, Any]) -> dict[str, Any]:
    """Return a value, or a message, that is trusted no more than whoever sends it."""
    return as_written(value, access.grant.trust)
