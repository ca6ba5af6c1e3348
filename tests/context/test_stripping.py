"""Citation ids leave an answer without a trace, whole and in pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk

from langmemory.context import CitationFilter, usage, without_citations
from langmemory.context.citations import without_ids
from langmemory.context.disclosure import Disclosed, MemoryBlock
from langmemory.nodes import StripCitations
from tests.scripted import StreamingModel
from tests.seeds import examples
from tests.tables import tables

CASES = tables(__file__)

ID, DIGITS = "1a2b3c4d", "12345678"


@pytest.mark.parametrize(
    ("answer", "shown"),
    CASES["an_answer_reads_as_if_there_had_been_no_ids"],
)
def test_an_answer_reads_as_if_there_had_been_no_ids(answer: str, shown: str) -> None:
    """Ids go with their brackets and spaces, in the forms models make of them, at any cut of the stream."""
    assert without_citations(answer) == shown
    for size in (1, 2, 5, 11):
        pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
        assert streamed(pieces) == shown


@pytest.mark.parametrize(
    "answer",
    [
        "arr[1], [a] (bad) [deadbeef]",
        "Call M: 12345678 now.",
        "At 10:30 (room B:2)",
        "  a  b\n\n c ",
    ],
)
def test_other_text_stays_as_it_is(answer: str) -> None:
    """Brackets that are no memory id stay untouched, with their spaces."""
    assert without_citations(answer) == answer == streamed(list(answer))


def test_ids_that_were_shown_are_known_without_their_letter() -> None:
    """An id of the prompt is taken out in any form; another word of eight digits stays."""
    assert without_citations("Tea [1a2b3c4d] (5e6f7a8b).", {ID}) == "Tea (5e6f7a8b)."
    assert without_citations("Order 12345678", {ID}) == "Order 12345678"


PARTS = st.sampled_from(
    ["[R:1a2b3c4d]", "(M:12345678)", " ", "\n", ".", ",", "Tea", "a", "be ", "[", "]", "(", ")",
     "(see ", "**", "`", "R:", "1a2b", "3c4d", "R:1a2b3c4d", "[G:12345678, R:1a2b3c4d]", " and ",
     "[1a2b3c4d]", "- ", ";", "word ", "m", "[m:", "id]"]
)  # fmt: skip


@settings(max_examples=examples(400, first=100), deadline=None)
@given(st.lists(PARTS, max_size=14), st.data(), st.booleans())
def test_a_stream_is_cut_anywhere(parts: list[str], data: Any, known: bool) -> None:
    """However the chunks are cut, together they are the answer without its ids."""
    text, ids = "".join(parts), {ID, DIGITS} if known else set[str]()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = without_citations(text, ids)
    assert streamed(pieces, ids) == whole
    assert not re.search(r"\[[MGR]:[0-9a-f]{8}\]", whole)


def test_text_is_not_held_back_for_long() -> None:
    """Text that cannot be an id is shown at once, an unclosed bracket after a while, and the time
    is linear in the length."""
    one = CitationFilter()
    assert one.feed("Hello wor") == "Hello wor"
    assert one.feed("ld [no") == "ld"
    assert one.feed("t so fast") == " [not so fast"
    assert len(CitationFilter().feed("[" + " " * 2000 + "x")) > 2000
    assert len(without_citations("( " * 50_000 + "[R:1a2b3c4d]")) == 99_999


def test_what_was_cited_still_counts() -> None:
    """An answer without its ids says in its mark which they were; its content blocks stay blocks."""
    block = MemoryBlock(entries=(entry(ID), entry("5e6f7a8b")))
    answer = AIMessage([{"type": "text", "text": f"Tea [R:{ID}]."}, {"type": "reasoning"}])
    shown = without_ids(answer)
    assert shown.content == [{"type": "text", "text": "Tea."}, {"type": "reasoning"}]
    assert [one["referenced"] for one in usage([shown], block)] == [1, 0]
    assert answer.content[0]["text"] == f"Tea [R:{ID}]."  # type: ignore[index]


def test_calls_of_tools_keep_their_ids() -> None:
    """Tool calls keep the ids in their arguments."""
    call = {"name": "get_memory", "args": {"id": f"R:{ID}"}, "id": "c", "type": "tool_call"}
    shown = without_ids(AIMessage(f"Let me see [R:{ID}].", tool_calls=[call]))
    assert shown.text == "Let me see."
    assert shown.tool_calls[0]["args"] == {"id": f"R:{ID}"}


@pytest.mark.parametrize("blocks", [False, True])
async def test_a_model_of_ones_own_node(blocks: bool) -> None:
    """`StripCitations` hides ids from whoever invokes, streams or listens; the chunks add up to an answer
    that still counts, and a handler keeps what it is."""
    heard = Listener()
    model = StripCitations(StreamingModel(otherwise=f"Tea [R:{ID}] it is [R:{ID}].", blocks=blocks))
    config: Any = {"callbacks": [heard]}
    prompt = f"You know: [R:{ID}] likes tea"
    assert model.invoke(prompt, config).text == "Tea it is."
    assert (await model.ainvoke(prompt, config)).text == "Tea it is."
    heard.tokens.clear()
    chunks = list(model.stream(prompt, config))
    assert "".join(chunk.text for chunk in chunks) == "Tea it is."
    assert "".join(heard.tokens) == "Tea it is."
    assert heard.ends == 3
    whole = chunks[0]
    for chunk in [*chunks[1:]]:
        whole = whole + chunk  # type: ignore[assignment, operator]
    assert isinstance(whole, AIMessageChunk)
    block = MemoryBlock(entries=(entry(ID),))
    assert usage([whole], block)[0]["referenced"] == 1
    assert "".join([chunk.text async for chunk in model.astream(prompt)]) == "Tea it is."


class Listener(BaseCallbackHandler):
    """Keeps what it hears, and counts in an attribute it rebinds."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.ends = 0

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        blocks = [token] if isinstance(token, str) else [one["text"] for one in token]
        self.tokens += blocks

    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        self.ends += 1
        assert ID not in response.generations[0][0].message.text


def entry(id: str) -> Disclosed:
    return Disclosed(
        label=f"R:{id}", namespace=("a",), key=id, score=None, read_tokens=1, discovery_tokens=1
    )


def streamed(pieces: Sequence[str], ids: set[str] | None = None) -> str:
    one = CitationFilter(ids or set())
    return "".join([*(one.feed(piece) for piece in pieces), one.rest()])
