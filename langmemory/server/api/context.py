"""What stands in a prompt: the memory block for a query, a conversation made shorter, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from langmemory.context.citations import usage
from langmemory.context.disclosure import MemoryBlock
from langmemory.declaring.fields import Fields, Labels, Places, Text
from langmemory.documents.projects import ProjectName
from langmemory.recall_options import OF_A_BLOCK, BlockOptions
from langmemory.server.access import Access
from langmemory.server.api.recalling import BlockFields, SaidMessage
from langmemory.server.problems import Problem
from langmemory.server.projects import reached
from langmemory.server.routes import Routes
from langmemory.types import Kind, MinScore
from langmemory.wire import Deferred

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

routes = Routes("Context")


class InjectRequest(BlockFields):
    """What is about to be answered."""

    limit: Annotated[int, Field(ge=1, le=100)] = OF_A_BLOCK["limit"]
    kinds: list[Kind] | None = None
    min_score: MinScore = OF_A_BLOCK["min_score"]
    documents: Labels | Places | None = None
    """Also the documents of exactly this namespace, or of several, where the token reaches them."""
    project: ProjectName | None = None
    """The project at hand: its core block stands with the others, and its documents are asked."""
    budget_tokens: Annotated[int, Field(ge=20, le=100_000)] = 400
    earlier: Annotated[tuple[Text, ...], Field(max_length=20)] = ()
    """What the person said before in this conversation, the oldest first: a short query ("and when?") goes on
    from it."""


class InjectedMemory(Deferred):
    """A memory that stands in the block."""

    label: str
    """Its id in the block, by which an answer cites it."""
    namespace: list[str]
    key: str
    score: float | None
    read_tokens: int


class InjectedBlock(Deferred):
    """Text for the prompt."""

    text: str
    """Empty where nothing fits."""
    tokens: int
    entries: list[InjectedMemory]
    omitted: list[str]
    """Ids of memories for which there was no room."""
    core: str
    """The core blocks, for the prompt as well; empty where none says anything."""


@routes("POST", "/context/inject", scope="read")
def inject_context(access: Access, *, body: InjectRequest) -> InjectedBlock:
    """Return the memory block that a model would get: what always holds, and what fits the query. What stands
    in it counts as shown; `POST /context/usage` takes what the answer made of it."""
    from langchain_core.messages import HumanMessage

    from langmemory.nodes.recall import RecallNode

    documents = () if body.documents is None else access.places(body.documents)
    configured: RunnableConfig = {}
    if body.project is not None:
        project = reached(access, body.project)
        documents = (project.namespace, *documents)
        configured = {"configurable": {"project": project.name}}
    node = RecallNode(
        access.place(body.namespace, exact=True),
        store=access.store,
        viewer=None,  # the store is bound already
        documents=documents or None,
        budget=body.budget_tokens,
        **body.options(BlockOptions),
    )
    asked = {"messages": [*map(HumanMessage, body.earlier), HumanMessage(body.query)]}
    found: dict[str, Any] = node.invoke(asked, configured)
    block = found["memory_block"]
    if body.options(BlockOptions).get("counted", True):
        access.store.admin.count_usage(usage("", MemoryBlock.from_state(block)))
    return InjectedBlock(
        text=block["text"],
        tokens=block["tokens"],
        entries=[
            InjectedMemory(**{name: one[name] for name in InjectedMemory.model_fields})
            for one in block["entries"]
        ],
        omitted=block["omitted"],
        core=found["core_memory"],
    )


class CompressRequest(Fields):
    """A conversation, and how short it is to be."""

    messages: Annotated[list[SaidMessage], Field(min_length=1, max_length=1_000)]
    ratio: Annotated[float, Field(gt=0, lt=1)] = 0.3
    """The share of its tokens that is to be left."""


class Compressed(Deferred):
    """A summary."""

    summary: str
    """The most central sentences in the order in which they were said, a line for each message."""
    tokens_before: int
    tokens_after: int
    kept: list[int]
    """Places in `messages`, from 0, of those of which something is left."""


@routes("POST", "/context/compress", scope="read")
def compress_context(access: Access, *, body: CompressRequest) -> Compressed:
    """Summarise messages to a share of their tokens, without a model: nothing is said that was not said.
    What says nothing, as greetings and thanks, goes first. Where no sentence fits, the request is refused."""
    from langmemory.lifecycle.summaries.extracts import Said, shorten_conversation

    every = [
        (place, Said(speaker=one.name or one.role, text=text, by_assistant=one.role == "assistant"))
        for place, one in enumerate(body.messages)
        if (text := _text(one.content)).strip()
    ]
    embeddings = access.application.embeddings
    embed = None
    if embeddings is not None:
        embed = lambda texts: _unit_length(embeddings.embed_documents(texts))  # noqa: E731
    found = shorten_conversation([one for _, one in every], body.ratio, embed)
    if every and not found.lines:
        raise Problem(
            "invalid",
            f"body/ratio: {body.ratio:g} of {found.tokens_before} tokens leaves no room for a sentence. Ask "
            "for more.",
        )
    return Compressed(
        summary="\n".join(found.lines),
        tokens_before=found.tokens_before,
        tokens_after=found.tokens,
        kept=[every[place][0] for place in found.places],
    )


def _text(content: str | list[Any]) -> str:
    """Return what a message says in words."""
    if isinstance(content, str):
        return content
    parts = (one.get("text", "") if isinstance(one, dict) else one for one in content)
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def _unit_length(vectors: Sequence[Sequence[float]]) -> Sequence[Any]:
    import numpy as np

    found = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return list(found / np.maximum(lengths, 1e-9))
