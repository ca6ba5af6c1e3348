"""Embedder: the one seam through which the store embeds, and what makes one of anything.

LangGraph's index config allows LangChain `Embeddings`, a function, an async function and a
"provider:model" string. `resolve_embedder` turns each into an `Embedder` whose answers are checked:
what comes out is float32, L2-normalised and of the right shape, or an `EmbeddingError`.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import struct
import threading
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings
from langgraph.store.base.embed import (
    AEmbeddingsFunc,
    EmbeddingsFunc,
    EmbeddingsLambda,
    ensure_embeddings,
)

from langmemory.config import Config
from langmemory.embeddings.e5 import E5Embedder
from langmemory.embeddings.local import LocalEmbedder, LocalEmbeddings, Vectors
from langmemory.embeddings.mock import MockEmbedder
from langmemory.embeddings.query_cache import QueryCache
from langmemory.embeddings.static import StaticEmbedder
from langmemory.errors import ConfigError, EmbeddingError, with_extra
from langmemory.pluralize import count_noun

T = TypeVar("T")

logger = logging.getLogger("langmemory.embeddings")

TIMEOUT_SECONDS = 60.0
"""How long an Ollama embedding model may take to answer; the first answer includes loading it."""


class Embedder(Protocol):
    """Text to vectors, in sync and async. Any thread and any event loop may call it."""

    @property
    def model_id(self) -> str:
        """Stable name of the model; vectors of different ids are never compared."""

    @property
    def dims(self) -> int | None:
        """Length of a vector; None until the first answer, where nobody declared it."""

    @property
    def cheap(self) -> bool:
        """Whether embedding is too fast for caching, threads or batching to be worth it."""

    @property
    def embeddings(self) -> Embeddings:
        """The model as LangChain knows it: the very object the application passed, if it did."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dims], L2-normalised; a zero vector stays zero.

        Raises:
            EmbeddingError: The model failed, or answered something else than n such vectors.
        """

    def embed_query(self, text: str) -> Vectors:
        """float32[dims], L2-normalised. Raises as `embed_documents` does."""

    async def aembed_documents(self, texts: Sequence[str]) -> Vectors:
        """`embed_documents` without holding up the event loop."""

    async def aembed_query(self, text: str) -> Vectors:
        """`embed_query` without holding up the event loop."""


EmbedSource = Embeddings | LocalEmbedder | EmbeddingsFunc | AEmbeddingsFunc | str
"""The values of `embed` in an index config."""


def resolve_embedder(
    embed: EmbedSource | None,
    dims: int | None = None,
    *,
    model_id: str | None = None,
    config: Config | None = None,
) -> Embedder:
    """The embedder for an index config's `embed` and `dims`.

    Args:
        embed: LangChain embeddings, a function, an async function, "static", "e5", "mock" or
            "provider:model"; None takes the configured model.
        dims: Declared length of a vector; None learns it from the model.
        model_id: Name to remember the vectors by; else it comes from the model's class and name,
            or from the function's name.
        config: Settings (model names, Ollama's address).

    Raises:
        ConfigError: `embed` or `dims` cannot be one.
        EmbeddingError: The model cannot be set up, or has other dims than declared.
    """
    config = config or Config()
    if dims is not None and (isinstance(dims, bool) or not isinstance(dims, int) or dims < 1):
        raise ConfigError(f"index dims is {dims!r}; allowed: a whole number from 1, or None.")
    if config.models.mock_embeddings:
        embed = "mock"
    elif embed is None:
        embed = config.models.dense
    if isinstance(embed, str):
        embed = _from_name(embed, dims, config)
    if isinstance(embed, LocalEmbeddings):
        embed = embed.embedder
    if isinstance(embed, LocalEmbedder):
        if dims not in (None, embed.dims):
            raise EmbeddingError(
                f"{embed.model_id} makes vectors of {embed.dims} dims, but {dims} were declared; "
                f"declare {embed.dims}, or pass the model that makes {dims} as `embed`."
            )
        return embed
    if isinstance(embed, Embeddings):
        return LangChainEmbedder(embed, dims, model_id=model_id)
    if callable(embed) and not isinstance(embed, type):
        return LangChainEmbedder(EmbeddingsLambda(embed), dims, model_id=model_id)
    kind = "the class" if isinstance(embed, type) else "of type"
    name = embed.__name__ if isinstance(embed, type) else type(embed).__name__
    raise ConfigError(
        f"index embed is {kind} {name}; allowed: a LangChain Embeddings object, a function "
        'or async function from texts to vectors, "static", or "provider:model".'
    )


def _from_name(name: str, dims: int | None, config: Config) -> Embeddings | LocalEmbedder:
    if name == "static":
        return StaticEmbedder()
    if name == "e5":
        return E5Embedder()
    if name == "mock":
        return MockEmbedder(dims) if dims else MockEmbedder()
    provider, _, model = name.partition(":")
    try:
        if provider == "ollama" and model:
            from langchain_ollama import OllamaEmbeddings  # slow to import, seldom needed

            return OllamaEmbeddings(model=model, **config.models.ollama_options(TIMEOUT_SECONDS))
        return ensure_embeddings(name)
    except Exception as error:  # whatever a provider's constructor raises
        if model and find_spec("langchain") is None:
            raise EmbeddingError(
                f"The embedding model {name!r} needs langchain: {with_extra('agents')}, and "
                f'langchain-{provider.replace("_", "-")}; or use "static" or "ollama:<model>".'
            ) from error
        raise EmbeddingError(
            f"Cannot set up the embedding model {name!r} ({error}). "
            'Use "static", "ollama:<model>", or install the package of its provider.'
        ) from error


class LangChainEmbedder:
    """An `Embedder` from LangChain embeddings, which may be slow, remote and wrong."""

    cheap = False

    def __init__(
        self, embeddings: Embeddings, dims: int | None = None, *, model_id: str | None = None
    ) -> None:
        self.embeddings = embeddings
        self.dims = dims
        self._declared = dims
        self._told_of_zeros = False
        self.model_id = model_id or _model_id(embeddings)
        self._queries = QueryCache[Vectors]()
        async_only = isinstance(embeddings, EmbeddingsLambda) and not hasattr(embeddings, "func")
        self._ask = embeddings.aembed_documents if async_only else embeddings.embed_documents

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dims]; an async function runs on a private loop."""
        if not texts:
            return self._no_vectors()
        with self._failing_clearly():
            answer: Any = self._ask(list(texts))
            if inspect.isawaitable(answer):
                answer = wait_for(answer)
        return self._check_vectors(answer, len(texts))

    async def aembed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dims]; a sync function runs in a thread."""
        if not texts:
            return self._no_vectors()
        with self._failing_clearly():
            answer: Any = await self.embeddings.aembed_documents(list(texts))
            if inspect.isawaitable(answer):  # a sync function that returns a coroutine
                answer = await answer
        return self._check_vectors(answer, len(texts))

    def embed_query(self, text: str) -> Vectors:
        """float32[dims], read-only; a repeated query is answered from memory."""
        if (known := self._queries.get(text)) is not None:
            return known
        if isinstance(self.embeddings, EmbeddingsLambda):  # knows documents only
            return self._remember(text, self.embed_documents([text]))
        with self._failing_clearly():
            answer = self.embeddings.embed_query(text)
        return self._remember(text, self._check_vectors([answer], 1))

    async def aembed_query(self, text: str) -> Vectors:
        """float32[dims], read-only; a repeated query is answered from memory."""
        if (known := self._queries.get(text)) is not None:
            return known
        if isinstance(self.embeddings, EmbeddingsLambda):
            return self._remember(text, await self.aembed_documents([text]))
        with self._failing_clearly():
            answer = await self.embeddings.aembed_query(text)
        return self._remember(text, self._check_vectors([answer], 1))

    def _no_vectors(self) -> Vectors:
        return np.zeros((0, self.dims or 0), dtype=np.float32)

    def _remember(self, text: str, vectors: Vectors) -> Vectors:
        vector: Vectors = vectors[0]
        vector.flags.writeable = False
        return self._queries.add(text, vector)

    @contextmanager
    def _failing_clearly(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the model is anybody's code and fails in any way
            raise EmbeddingError(
                f"Embedding model {self.model_id} failed ({type(error).__name__}: {error}). "
                f"{_next_step(self.embeddings, error)}"
            ) from error

    def _check_vectors(self, answer: Any, expected: int) -> Vectors:
        """The model's answer as float32[expected, dims], or an error that says what is wrong."""
        try:
            vectors = _matrix(answer)
        except (TypeError, ValueError, OverflowError) as error:
            raise EmbeddingError(
                f"Embedding model {self.model_id} did not answer vectors of one length ({error}); "
                "it must return one list of numbers for each text."
            ) from error
        if vectors.ndim != 2 or len(vectors) != expected or vectors.shape[1] == 0:
            raise EmbeddingError(
                f"Embedding model {self.model_id} answered shape {vectors.shape} to "
                f"{count_noun(expected, 'text')}; it must return one list of numbers for each text."
            )
        if self._declared not in (None, vectors.shape[1]):
            raise EmbeddingError(
                f"Embedding model {self.model_id} makes vectors of {vectors.shape[1]} dims, but "
                f"{self._declared} are declared; set dims to {vectors.shape[1]}, or name another "
                "model."
            )
        if self.dims not in (None, vectors.shape[1]):
            raise EmbeddingError(
                f"Embedding model {self.model_id} makes vectors of {vectors.shape[1]} dims, but "
                f"{self.dims} before: another model has come under its name. Bring the old one back, "
                "or start again and run `langmemory reembed` to move the file to the new one."
            )
        if not np.isfinite(vectors).all():
            raise EmbeddingError(
                f"Embedding model {self.model_id} answered numbers that are not finite (NaN or "
                "infinity); try another version of the model."
            )
        self.dims = vectors.shape[1]
        if not (self._told_of_zeros or vectors.any(axis=1).all()):
            self._told_of_zeros = True
            logger.warning(
                "Embedding model %s answered a vector of zeros: such texts are found by their words "
                "alone", self.model_id,
            )  # fmt: skip
        return _normalise_rows(vectors)


def _matrix(answer: Any) -> npt.NDArray[np.float64]:
    """Return the answer of a model as an array. Lists of numbers of one length, as nearly always, are packed
    row by row, which takes two thirds of numpy's time; anything else is numpy's to judge."""
    if isinstance(answer, list) and answer and isinstance(answer[0], list) and answer[0]:
        row = struct.Struct(f"{len(answer[0])}d")
        with suppress(struct.error, TypeError, OverflowError):
            packed = b"".join([row.pack(*numbers) for numbers in answer])
            return np.frombuffer(packed).reshape(len(answer), -1)
    return np.asarray(answer, dtype=np.float64)


def _normalise_rows(vectors: npt.NDArray[np.float64]) -> Vectors:
    """Rows of length 1 as float32; a zero row stays zero."""
    with np.errstate(over="ignore"):
        squares = np.vecdot(vectors, vectors)
    if not (np.isfinite(squares) & (squares > 1e-200)).all():
        # Squares overflow, or vanish: scale by the largest part first.
        peaks = np.abs(vectors).max(axis=1, keepdims=True)
        vectors = vectors / np.where(peaks == 0, 1.0, peaks)
        squares = np.vecdot(vectors, vectors)
    lengths = np.sqrt(squares)[:, None]
    unit: Vectors = (vectors / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)
    return unit


def _model_id(embeddings: Embeddings) -> str:
    """ "ClassName:model", a function's qualified name, or "custom" for what has no name.

    A function's module is left out: `langgraph dev` loads files under random module names.
    """
    if isinstance(embeddings, EmbeddingsLambda):
        function: Any = getattr(embeddings, "func", None) or embeddings.afunc
        while isinstance(function, functools.partial):
            function = function.func
        name: str = getattr(function, "__qualname__", type(function).__qualname__)
        return "custom" if "<lambda>" in name else name
    kind = type(embeddings).__name__
    for attribute in ("model", "model_name", "model_id", "deployment"):
        model = getattr(embeddings, attribute, None)
        if isinstance(model, str) and model:
            # Ollama names the same model with and without its default tag.
            return f"{kind}:{model.removesuffix(':latest')}"
    return kind


def _next_step(embeddings: Embeddings, error: Exception) -> str:
    """Return the next step after a model failed."""
    if type(embeddings).__name__ == "OllamaEmbeddings":
        model = getattr(embeddings, "model", "")
        if isinstance(error, ConnectionError):
            return "Start Ollama (`ollama serve`), or set OLLAMA_URL to where it runs."
        if getattr(error, "status_code", None) == 404:
            return f"Run `ollama pull {model}`."
    return 'Check that the model is reachable, or use embed="static", which needs no server.'


# One event loop for the process, so that a client which an async function keeps open stays on the loop it
# was opened on.
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
_starting = threading.Lock()


def wait_for(awaitable: Awaitable[T]) -> T:
    """Run `awaitable` on the private loop and return its result, or raise its error."""
    future = asyncio.run_coroutine_threadsafe(_await(awaitable), _running_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()  # Ctrl-C must not leave it running; on a finished future this does nothing
        raise


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _thread
    with _starting:
        # A forked child inherits the loop but not its thread, and starts another.
        if _loop is None or _thread is None or not _thread.is_alive():
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(
                target=_loop.run_forever, name="langmemory-embedding", daemon=True
            )
            _thread.start()
        return _loop
