"""Core memory over REST: the short texts that are always in a prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final, Literal

from langgraph.store.base import PutOp
from pydantic import Field

from langmemory.errors import ChangedMeanwhileError
from langmemory.labels import label_of
from langmemory.server.access import Access
from langmemory.server.api.requests import Fields, QueryLabels
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.wire import Deferred

if TYPE_CHECKING:
    from langmemory.nodes.core_memory import CoreBlock, CoreMemory

routes = Routes("Core memory")

MEMORIES = ("memories",)
"""Where namespaces of people and agents are, unless a request says otherwise."""

Editor = Literal["application", "assistant", "person"]
BlockLabel = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[\w-]+$")]
BlockText = Annotated[str, Field(max_length=20_000)]


class AgentPath(Fields):
    """Whose core memory."""

    agent: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00/]+$")]
    """The last label of its namespace: a person's or an agent's id."""


class CorePlace(Fields):
    """Where."""

    namespace: QueryLabels | None = None
    """The namespace above; without it `memories`. An empty one says that there is none above."""


class CoreBlockView(Deferred):
    """One block as it stands."""

    label: str
    content: str
    version: int
    """Grows by one with every edit; 0 is a block nobody wrote yet."""
    limit: int
    """Characters."""
    purpose: str
    """What belongs in it."""


class CoreView(Deferred):
    """All blocks."""

    namespace: list[str]
    blocks: list[CoreBlockView]

    @property
    def etag(self) -> str:
        """The version of all of it."""
        versions = "\0".join(f"{one.label}\0{one.version}" for one in self.blocks if one.version)
        return hashlib.sha256(versions.encode()).hexdigest()[:16]


class CoreTexts(Fields):
    """Texts by the label of their block."""

    blocks: Annotated[dict[BlockLabel, BlockText], Field(max_length=50)]
    by: Editor | None = None
    """Who writes, for the record; without it a person where the token is bound to a viewer, else an
    application."""


def _memory(
    access: Access, agent: str, query: CorePlace, *more: str, by: Editor | None = None
) -> CoreMemory:
    from langmemory.nodes.core_memory import CoreMemory, labels_in

    above = MEMORIES if query.namespace is None else query.namespace
    place = access.place((*above, label_of(agent)), exact=True)
    store = access.store
    labels: Mapping[str, str] = labels_in(store, place)
    labels = {**labels, **{label: "" for label in more if label not in labels}}
    editor: Editor = "application" if access.grant.viewer is None else "person"
    return CoreMemory(store, place, labels=labels, editor=by or editor)


def _view(memory: CoreMemory, blocks: Iterable[CoreBlock]) -> CoreView:
    return CoreView(
        namespace=list(memory.namespace[:-1]),
        blocks=[
            CoreBlockView(
                label=one.label,
                content=one.content,
                version=one.version,
                limit=one.limit,
                purpose=memory.labels[one.label],
            )
            for one in blocks
        ],
    )


ATTEMPTS: Final = 5
"""Times a write is tried whose blocks somebody else edits meanwhile."""


def _write(access: Access, memory: CoreMemory, texts: Mapping[str, str]) -> CoreView:
    """Write blocks together, if all are what the writer has seen."""
    for attempt in range(ATTEMPTS):
        found = memory.blocks_as_stored()
        before = _view(memory, (block for block, _ in found))
        written = any(stored is not None for _, stored in found)
        access.check_version(f'"{before.etag}"' if written or access.if_match else None)
        after = [_edited(block, texts.get(block.label)) for block, _ in found]
        puts = [
            PutOp(memory.namespace, new.label, memory.value_of(new), index=False)
            for (old, _), new in zip(found, after, strict=True)
            if new != old
        ]
        expected = {(memory.namespace, block.label): stored for block, stored in found}
        try:
            access.store.put_all_if(puts, expected=expected)
        except ChangedMeanwhileError:
            if access.is_conditional or attempt + 1 == ATTEMPTS:
                raise
        else:
            break
    return _view(memory, after)


def _edited(block: CoreBlock, text: str | None) -> CoreBlock:
    """Return a block with another text, if it is one."""
    if text is None or text.strip() == block.content:
        return block
    if len(text.strip()) > block.limit:
        raise Problem(
            422,
            "invalid",
            f"body/blocks/{block.label}: it holds {block.limit} characters; these are {len(text)}.",
        )
    return replace(block, content=text.strip(), version=block.version + 1)


@routes("GET", "/core/{agent}", scope="read", conditional=True)
def get_core(access: Access, *, path: AgentPath, query: CorePlace) -> CoreView:
    """Return all blocks, empty ones included."""
    memory = _memory(access, path.agent, query)
    return _view(memory, memory.blocks())


@routes("PUT", "/core/{agent}", scope="write", conditional=True)
def put_core(access: Access, *, path: AgentPath, query: CorePlace, body: CoreTexts) -> CoreView:
    """Write all blocks: those that are not named are emptied. The history keeps what they said."""
    memory = _memory(access, path.agent, query, *body.blocks, by=body.by)
    return _write(access, memory, {**dict.fromkeys(memory.labels, ""), **body.blocks})


@routes("PATCH", "/core/{agent}", scope="write", conditional=True)
def patch_core(access: Access, *, path: AgentPath, query: CorePlace, body: CoreTexts) -> CoreView:
    """Write some blocks, such as `persona`, and leave the others."""
    return _write(access, _memory(access, path.agent, query, *body.blocks, by=body.by), body.blocks)
