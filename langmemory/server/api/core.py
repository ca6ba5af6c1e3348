"""Core memory over REST: the short texts that are always in a prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final, Literal

from langgraph.store.base import PutOp
from pydantic import Field

from langmemory.core_files.bindings import FileState
from langmemory.core_files.markdown_file import CoreFileError
from langmemory.declaring.fields import Fields, QueryLabels
from langmemory.errors import ChangedMeanwhileError
from langmemory.labels import label_of
from langmemory.operations.core_files import MODELS, CoreFiles
from langmemory.server.access import Access
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.types import Namespace
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
    file: str | None = None
    """The file that it is bound to: its path, for a viewer its name."""
    file_state: FileState | None = None
    file_problem: str | None = None
    """Why block and file cannot be brought together, and what to do; not told to a viewer."""
    proposed: str | None = None
    """Id of the review that asks whether the edit of an assistant is to be made."""


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
    if access.grant.trust == "agent" and by not in MODELS:
        by = "assistant"
    return CoreMemory(store, place, labels=labels, editor=by or editor)


def _view(access: Access, memory: CoreMemory, blocks: Iterable[CoreBlock]) -> CoreView:
    namespace, whole = memory.namespace[:-1], access.grant.viewer is None
    found = access.application.core_files.bound(namespace)
    files = {one.label: one for one in found if one.namespace == namespace}

    def view(one: CoreBlock) -> CoreBlockView:
        file = files.get(one.label)
        return CoreBlockView(
            label=one.label,
            content=one.content,
            version=one.version,
            limit=one.limit,
            purpose=memory.labels[one.label],
            file=None if file is None else file.path if whole else file.name,
            file_state=None if file is None else file.state,
            file_problem=file.problem if file is not None and whole else None,
            proposed=one.proposed,
        )

    return CoreView(namespace=list(namespace), blocks=[view(one) for one in blocks])


ATTEMPTS: Final = 5
"""Times a write is tried whose blocks somebody else edits meanwhile."""


def _write(access: Access, memory: CoreMemory, texts: Mapping[str, str]) -> CoreView:
    """Write blocks together, if all are what the writer has seen."""
    files, place = access.application.core_files, memory.namespace[:-1]
    files.refresh(place)
    for attempt in range(ATTEMPTS):
        found = memory.blocks_as_stored()
        before = _view(access, memory, (block for block, _ in found))
        written = any(stored is not None for _, stored in found)
        access.check_version(f'"{before.etag}"' if written or access.if_match else None)
        after = [_edited(block, texts.get(block.label)) for block, _ in found]
        if memory.editor in MODELS:
            after = [
                _proposed(files, place, old, new, memory.editor)
                for (old, _), new in zip(found, after, strict=True)
            ]
        puts = [
            PutOp(memory.namespace, new.label, memory.value_of(new), index=False)
            for (old, _), new in zip(found, after, strict=True)
            if new != old and new.proposed is None
        ]
        expected = {(memory.namespace, block.label): stored for block, stored in found}
        try:
            access.store.put_all_if(puts, expected=expected)
        except ChangedMeanwhileError:
            if access.is_conditional or attempt + 1 == ATTEMPTS:
                raise
        else:
            break
    if puts:
        files.refresh(place)
    return _view(access, memory, after)


def _proposed(
    files: CoreFiles, place: Namespace, old: CoreBlock, new: CoreBlock, editor: str
) -> CoreBlock:
    """Return a block as an assistant may write it: one that is bound to a file stays, and a review asks."""
    if new == old or not files.is_bound(place, old.label):
        return new
    try:
        return replace(old, proposed=files.propose(place, old.label, new.content, editor=editor))
    except CoreFileError as error:
        raise Problem("invalid", f"body/blocks/{old.label}: {error}") from error


def _edited(block: CoreBlock, text: str | None) -> CoreBlock:
    """Return a block with another text, if it is one."""
    if text is None or text.strip() == block.content:
        return block
    if len(text.strip()) > block.limit:
        raise Problem(
            "invalid",
            f"body/blocks/{block.label}: it holds {block.limit} characters; these are {len(text)}.",
        )
    return replace(block, content=text.strip(), version=block.version + 1)


@routes("GET", "/core/{agent}", scope="read", conditional=True)
def get_core(access: Access, *, path: AgentPath, query: CorePlace) -> CoreView:
    """Return all blocks, empty ones included."""
    memory = _memory(access, path.agent, query)
    access.application.core_files.refresh(memory.namespace[:-1])
    return _view(access, memory, memory.blocks())


class BlockPath(AgentPath):
    """Which block of it."""

    label: BlockLabel
    """Such as `persona`."""


@routes("GET", "/core/{agent}/{label}", scope="read")
def get_core_block(access: Access, *, path: BlockPath, query: CorePlace) -> CoreBlockView:
    """Return one block, also an empty one."""
    blocks: list[CoreBlockView] = get_core(access, path=path, query=query).blocks
    found = next((one for one in blocks if one.label == path.label), None)
    if found is None:
        there = ", ".join(one.label for one in blocks)
        raise Problem("not-found", f"There is no block {path.label!r}; there are {there}.")
    return found


@routes("PUT", "/core/{agent}", scope="write", conditional=True)
def put_core(access: Access, *, path: AgentPath, query: CorePlace, body: CoreTexts) -> CoreView:
    """Write all blocks: those that are not named are emptied. The history keeps what they said."""
    memory = _memory(access, path.agent, query, *body.blocks, by=body.by)
    return _write(access, memory, {**dict.fromkeys(memory.labels, ""), **body.blocks})


@routes("PATCH", "/core/{agent}", scope="write", conditional=True)
def patch_core(access: Access, *, path: AgentPath, query: CorePlace, body: CoreTexts) -> CoreView:
    """Write some blocks, such as `persona`, and leave the others."""
    return _write(access, _memory(access, path.agent, query, *body.blocks, by=body.by), body.blocks)
