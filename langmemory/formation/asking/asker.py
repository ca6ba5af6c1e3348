"""Asking a chat model for a JSON object: once, and once more with what was wrong.

Three outcomes are kept apart: an answer (which may be "nothing"), an answer that cannot be used
(`ExtractionError`), and no answer at all (`ModelUnavailableError`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from string import Template
from time import monotonic
from typing import Any, Generic, Literal, TypeVar

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langmemory.chat_models import bounded, unheard
from langmemory.errors import (
    AnswerTooLongError,
    ExtractionError,
    LangMemoryError,
    ModelUnavailableError,
)
from langmemory.formation.asking.json_answers import BadAnswerError
from langmemory.formation.prompts import prompt
from langmemory.steps import Steps, awaiting, blocking, call

T = TypeVar("T")

ANSWER_SECONDS = 300.0
"""So long a whole answer may take; a model that repeats itself is cut off then."""
ANSWER_TOKENS = 2_048
"""So long an answer may be: of a batch as `ReflectionConfig.batch_tokens` has it, with room to spare."""

_END: ContextVar[float] = ContextVar("langmemory_asking_ends", default=inf)
"""When the time of all questions together is over, by the monotonic clock."""

Method = Literal["json_schema", "function_calling", "json_mode", "text"]
"""How a model is held to the schema: as its ``with_structured_output`` calls it, or not at all."""

SHOWN_CHARS = 2_000
"""So much of a bad answer the model sees again."""

_OUTAGES = frozenset(
    {
        "ModelError",  # langchain-core's own, since 1.7
        "APIError",  # openai, anthropic, groq, together
        "GoogleAPIError", "ChatGoogleGenerativeAIError", "ServerError",  # google
        "ClientError", "BotoCoreError",  # bedrock
        "SDKError", "MistralError", "ApiError",  # mistral, cohere
        "HfHubHTTPError", "RequestException",  # hugging face and others over requests
    }
)  # fmt: skip
"""Base classes of "the server said no" in packages that need not be installed."""
_NO_ROOM = frozenset(
    {"ContextOverflowError", "LengthFinishReasonError", "ContentFilterFinishReasonError"}
)
"""Raised by langchain-core and openai for prompts too long and answers broken off."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question(Generic[T]):
    """A question to a model."""

    messages: Sequence[BaseMessage]
    read: Callable[[str], T]
    """From the raw answer to its meaning; raises `BadAnswerError`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered(Generic[T]):
    """An answer of a model."""

    value: T
    calls: int
    """1, or 2 when the first answer could not be used."""


class Asker:
    """A chat model that is to answer in JSON, which a graph it is asked in does not stream.

    Args:
        model: Any LangChain chat model. One that hands over its answer in pieces is cut off at the
            limits; for others give it limits of its own (``timeout``, ``max_tokens``).
        schema: JSON schema of the answer, with a title.
        method: None: ``json_schema`` where the model has structured output, else ``text``.
        seconds: A whole answer may take.
        tokens: It may have.
    """

    __slots__ = ("_ask", "_name", "_seconds", "_tokens")

    def __init__(
        self,
        model: BaseChatModel,
        schema: Mapping[str, Any],
        *,
        method: Method | None = None,
        seconds: float = ANSWER_SECONDS,
        tokens: int = ANSWER_TOKENS,
    ) -> None:
        self._seconds, self._tokens = seconds, tokens
        model = bounded(model, tokens)
        self._name = getattr(model, "model", None) or getattr(model, "model_name", None)
        self._name = self._name or model.get_name()
        self._ask = unheard(_with_structured_output(model, dict(schema), method))

    def asked(
        self, question: Question[T], config: RunnableConfig | None = None
    ) -> Steps[Answered[T]]:
        """Ask the model, and once more with what was wrong.

        Raises:
            ModelUnavailableError: The model could not be asked.
            ExtractionError: Its second answer could not be used either.
        """
        messages = list(question.messages)
        first = yield from self._answer(messages, config)
        try:
            return Answered(value=question.read(first), calls=1)
        except BadAnswerError as error:
            problem = str(error)
        again = Template(prompt("retry")).substitute(problem=problem)
        shown = first[:SHOWN_CHARS] or "(nothing)"
        messages += [AIMessage(shown), HumanMessage(again)]
        second = yield from self._answer(messages, config)
        try:
            return Answered(value=question.read(second), calls=2)
        except BadAnswerError as error:
            failure = ExtractionError(
                f"{self._name} answered twice what cannot be used: {problem}; then {error}. "
                "A larger model, or one with structured output, may do better."
            )
            failure.model_calls = 2
            raise failure from error

    ask, aask = blocking(asked), awaiting(asked)

    def _answer(self, messages: list[BaseMessage], config: RunnableConfig | None) -> Steps[str]:
        """Send the messages and return the answer. Raises what its failure is to be reported as."""
        left = seconds_left()
        if left <= 0:
            raise ExtractionError(f"{self._name} was not asked: the time for all questions is over")
        limit = _Limit(min(self._seconds, left), self._tokens)
        try:
            answer = yield call(
                self._ask.with_config(callbacks=[limit]), "invoke", messages, config
            )
        except Exception as error:  # providers share no base class: `_failure` sorts them
            if (failure := self._failure(error)) is None:
                raise
            raise failure from error
        return raw_answer(answer)

    def _failure(self, error: Exception) -> LangMemoryError | None:
        """The error that a failed call is reported as; None for what is a mistake in code."""
        shown = f"{type(error).__name__}: {str(error)[:200]}"
        if isinstance(error, AnswerTooLongError):
            failure = ExtractionError(f"{self._name} did not come to an end: {error}")
            failure.model_calls = 1
            return failure
        if _is_a(error, _NO_ROOM):
            failure = ExtractionError(
                f"{self._name} could not answer in its window ({shown}). Use smaller batches or a "
                "larger window."
            )
            failure.model_calls = 1
            return failure
        if is_outage(error):
            return ModelUnavailableError(
                f"{self._name} could not be asked ({shown}). Check that its server runs, has the "
                "model and accepts the credentials."
            )
        return None


class _Limit(BaseCallbackHandler):
    """Ends an answer that takes too long, between two of its pieces."""

    raise_error = True
    run_inline = True

    def __init__(self, seconds: float, tokens: int) -> None:
        self._seconds, self._tokens = seconds, tokens
        self._end = monotonic() + seconds
        self._told = 0

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self._told += 1
        if self._told > self._tokens:
            raise AnswerTooLongError(f"it was cut off after {self._tokens} tokens")
        if monotonic() > self._end:
            raise AnswerTooLongError(f"it was cut off after {self._seconds:.3g} s")


@contextmanager
def asking_within(seconds: float) -> Iterator[None]:
    """Let the questions that are asked within take so long in all. An answer is cut off then, and what is
    asked later raises `ExtractionError` at once."""
    token = _END.set(min(_END.get(), monotonic() + seconds))
    try:
        yield
    finally:
        _END.reset(token)


def seconds_left() -> float:
    """Return how long questions may still take; see `asking_within`."""
    return _END.get() - monotonic()


def is_outage(error: Exception) -> bool:
    """Whether an error of a LangChain chat model means that its server did not answer.

    Providers share no base class, so these count: errors of the network (`OSError`, of which time
    limits are part, and httpx), `ollama.ResponseError`, base classes of known SDKs by name, and two
    that langchain-ollama lets through when a server breaks off: a line that is not JSON, and a
    stream without a single chunk (a plain ValueError).
    """
    import httpx
    import ollama  # a fifth of a second, which only a failure is worth

    return (
        isinstance(error, OSError | httpx.HTTPError | ollama.ResponseError | json.JSONDecodeError)
        or _is_a(error, _OUTAGES)
        or (type(error) is ValueError and str(error).startswith("No data received"))
    )


def raw_answer(answer: Any) -> str:
    """Return what the model wrote: the arguments of its tool calls, one after the other, else its text,
    else what it thought, which some servers hand over by itself."""
    message = answer.get("raw") if isinstance(answer, Mapping) else answer
    if not isinstance(message, BaseMessage):
        return str(message or "")
    calls = [
        json.dumps(each["args"], ensure_ascii=False)
        for each in getattr(message, "tool_calls", ())
        if each["args"]
    ]
    broken = [each["args"] for each in getattr(message, "invalid_tool_calls", ()) if each["args"]]
    if calls or broken:
        return "\n".join([*calls, *broken])
    thought = message.additional_kwargs.get("reasoning_content")
    if isinstance(thought, str) and not message.text.strip():
        return f"<think>{thought}"
    return message.text


def _with_structured_output(
    model: BaseChatModel, schema: dict[str, Any], method: Method | None
) -> Runnable[Any, Any]:
    """The model, held to the schema as well as it can be."""
    if method == "text":
        return model
    try:
        return model.with_structured_output(
            schema, method=method or "json_schema", include_raw=True
        )
    except (NotImplementedError, ValueError, TypeError):
        if method is not None:
            raise
        return model  # it has no structured output: the prompt describes the form, too


def _is_a(error: Exception, names: frozenset[str]) -> bool:
    return any(base.__name__ in names for base in type(error).__mro__)
