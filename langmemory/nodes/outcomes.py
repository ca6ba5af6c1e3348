"""Outcomes: what came of the procedures that a run followed.

A procedure that stood in the memory block was followed where an answer cites it, or where the tools of at
least half of its steps were called. It failed where the last call of such a tool failed, or where the
person's next words correct what was done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.context.citations import usage
from langmemory.context.disclosure import MemoryBlock
from langmemory.context.marking import is_injected
from langmemory.context.notes import digest
from langmemory.errors import ConfigError
from langmemory.formation.procedures.runs import Call, calls_of
from langmemory.languages import is_correction
from langmemory.procedures import KEYS, Outcome, Procedure, names_tool
from langmemory.types import Namespace

FOLLOWED_SHARE: Final = 0.5
"""Share of the steps whose tools were called, from which a procedure was followed."""
CORRECTED: Final = "the person corrected it"


class Followed(TypedDict):
    """A procedure that a run followed. Plain JSON."""

    namespace: list[str]
    key: str
    outcome: Outcome | None
    """As it was recorded; None: cited alone, so nobody knows yet."""
    asked: str
    """Names the words of the person that the run followed on."""


class ProcedureRoom(Protocol):
    """`store.procedures`, here or on a server."""

    def get(self, namespace: Namespace, key: str) -> Procedure | None: ...

    def record_outcome(
        self,
        namespace: Namespace,
        key: str,
        outcome: Outcome,
        *,
        why: str = "",
        revises: Outcome | None = None,
    ) -> Procedure: ...


def record_outcomes(
    room: ProcedureRoom,
    messages: Sequence[BaseMessage],
    block: Mapping[str, Any] | None,
    before: Sequence[Followed],
) -> list[Followed]:
    """Record what came of procedures, and return those that this run followed.

    Args:
        room: Where they are kept.
        messages: The conversation, up to the end of the run.
        block: The memory block that the run was shown, as it is in state.
        before: What this returned before.
    """
    run = _run(messages)
    if not run:
        return list(before)
    asked = _name(messages, run[0])
    if any(one["asked"] == asked for one in before):  # this run was judged before
        return list(before)
    kept = [one for one in before if one["outcome"] != "failed"]
    if kept and is_correction(str(run[0].text)):
        for one in kept:
            _record(room, one, "failed", CORRECTED, revises=one["outcome"])
    found: list[Followed] = []
    for procedure, cited in _shown(room, block, run):
        outcome, why, is_followed = judged(procedure, calls_of(run))
        if not (is_followed or cited):
            continue
        used = Followed(
            namespace=list(procedure.namespace), key=procedure.key, outcome=outcome, asked=asked
        )
        if outcome is not None:
            _record(room, used, outcome, why)
        found.append(used)
    return found


def judged(procedure: Procedure, calls: Sequence[Call]) -> tuple[Outcome | None, str, bool]:
    """Return the outcome of a procedure by the calls of a run, why, and whether the calls follow it."""
    last = {one.tool: one for one in calls if one.failed is not None}
    by_step = [[tool for tool in last if names_tool(step, tool)] for step in procedure.steps]
    done = [tools for tools in by_step if tools]
    if not done:
        return None, "", False
    failed = next((tool for tools in done for tool in tools if last[tool].failed), None)
    follows = len(done) >= FOLLOWED_SHARE * len(procedure.steps)
    if failed is not None:
        return "failed", f"the tool {failed} failed", follows
    return "succeeded", "", follows


def _shown(
    room: ProcedureRoom, block: Mapping[str, Any] | None, run: Sequence[BaseMessage]
) -> Iterable[tuple[Procedure, bool]]:
    """Yield the procedures of a block, and whether an answer of the run cites each."""
    if block is None or not any(one["key"].startswith(KEYS) for one in block["entries"]):
        return
    answers = [one for one in run if isinstance(one, AIMessage)]
    for one in usage(answers, MemoryBlock.from_state(block)):
        if one["key"].startswith(KEYS):
            found = room.get(tuple(one["namespace"]), one["key"])
            if found is not None and found.status == "active":
                yield found, bool(one["referenced"])


def _record(
    room: ProcedureRoom, used: Followed, outcome: Outcome, why: str, revises: Outcome | None = None
) -> None:
    try:
        room.record_outcome(
            tuple(used["namespace"]), used["key"], outcome, why=why, revises=revises
        )
    except ConfigError:  # it was deleted meanwhile
        return


def _run(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the person's last message and what follows it."""
    for at in range(len(messages) - 1, -1, -1):
        if isinstance(messages[at], HumanMessage) and not is_injected(messages[at]):
            return list(messages[at:])
    return []


def _name(messages: Sequence[BaseMessage], last: BaseMessage) -> str:
    """Return a name for the person's last message: its id, else its words and place."""
    place = sum(isinstance(one, HumanMessage) for one in messages)
    return cast("str", last.id) or digest((str(place),), str(last.text))[:16]
