"""A LangChain chat model that answers as a test scripts it, and keeps every prompt it was given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field, PrivateAttr

Script = str | AIMessage | Exception | Callable[[list[BaseMessage]], "str | AIMessage"]


class ScriptedModel(BaseChatModel):
    """Answers `script` in order, then `otherwise`."""

    script: list[Any] = Field(default_factory=list)
    otherwise: Any = "Understood."
    prompts: list[list[BaseMessage]] = Field(default_factory=list)
    tool_names: list[str] = Field(default_factory=list)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        self.tool_names.extend(getattr(tool, "name", str(tool)) for tool in tools)
        return self.bind()

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._lock:
            self.prompts.append(messages)
            step: Script = self.script.pop(0) if self.script else self.otherwise
        if callable(step):
            step = step(messages)
        if isinstance(step, Exception):
            raise step
        answer = AIMessage(step) if isinstance(step, str) else step
        return ChatResult(generations=[ChatGeneration(message=answer)])


class StreamingModel(ScriptedModel):
    """Answers in pieces of so many characters, as text or in content blocks."""

    piece: int = 3
    blocks: bool = False

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._generate(messages).generations[0].message
        text, calls = answer.text, getattr(answer, "tool_calls", [])
        for at in range(0, len(text), self.piece):
            said = text[at : at + self.piece]
            if run_manager:  # as some do, without the chunk
                run_manager.on_llm_new_token(said)
            content: Any = [{"type": "text", "text": said, "index": 0}] if self.blocks else said
            yield ChatGenerationChunk(message=AIMessageChunk(content))
        if calls or not text:
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_calls=calls))


async def invoked(agent: Any, call: str, *arguments: Any) -> Any:
    """Return what a graph answers by ``invoke`` or ``ainvoke``, as ``call`` says."""
    return agent.invoke(*arguments) if call == "invoke" else await agent.ainvoke(*arguments)


def tool_call(name: str, call_id: str = "call-1", **arguments: Any) -> AIMessage:
    """An answer that calls one tool."""
    call = {"name": name, "args": arguments, "id": call_id, "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


class SmallScriptedModel(ScriptedModel):
    """One whose name tells that it is small."""

    model: str = "tiny:0.5b"
