"""Sparse encoders: one that is checked, of a name, or of an object of sentence-transformers, LangChain or
the application.

``splade:MODEL`` loads a model of Hugging Face, or a folder, with sentence-transformers (extra "rerank").
fastembed has SPLADE as well: without torch, but only the models that it lists.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Final

import numpy as np
from langchain_core.embeddings import Embeddings

from langmemory.embeddings.query_cache import QueryCache
from langmemory.errors import ConfigError, EmbeddingError
from langmemory.pluralize import count_noun
from langmemory.ports.sparse import PAIR, Pairs, SparseEncoder
from langmemory.recall.rerankers import loading

logger = logging.getLogger("langmemory.recall")

FAMILY: Final = "splade"
DEFAULT: Final = "naver/splade-v3-distilbert"
"""The model of the name ``splade`` alone: 67 million parameters, English."""
BATCH: Final = 16
"""Texts that sentence-transformers reads at a time."""
MOST_DIMENSIONS: Final = 1024
"""Dimensions of a vector that are kept, those with the largest weights. SPLADE gives a text 100 to 300."""


class CheckedEncoder:
    """A sparse encoder, which may be slow, remote and wrong. Any thread and any event loop may call it."""

    def __init__(self, model: Any) -> None:
        """
        Args:
            model: A `SparseEncoder` of langmemory or of sentence-transformers, LangChain's
                ``SparseEmbeddings`` (of langchain-qdrant), or ``"splade:MODEL"``.

        Raises:
            ConfigError: It is none of these, or its packages or its model are missing.
        """
        named = model if isinstance(model, str) else None
        model = model if named is None else _load_model(named)
        self._aask: Callable[[list[str]], Awaitable[Any]] | None = None
        self._aask_query: Callable[[str], Awaitable[Any]] | None = None
        if hasattr(model, "encode_documents") and hasattr(model, "encode_query"):
            self._ask, self._ask_query = model.encode_documents, model.encode_query
        elif hasattr(model, "encode_document") and hasattr(model, "encode_query"):

            def ask(texts: list[str]) -> list[Any]:
                return _rows(model.encode_document(texts, batch_size=BATCH))

            def ask_query(text: str) -> Any:
                return _rows(model.encode_query([text]))[0]

            self._ask, self._ask_query = ask, ask_query
        elif hasattr(model, "embed_documents") and not isinstance(model, Embeddings):
            self._ask, self._ask_query = model.embed_documents, model.embed_query
            self._aask = getattr(model, "aembed_documents", None)
            self._aask_query = getattr(model, "aembed_query", None)
        else:
            dense = isinstance(model, Embeddings)
            raise ConfigError(
                f"sparse is {'dense embeddings' if dense else 'of type'} {type(model).__name__}; pass a "
                f'SparseEncoder, LangChain\'s SparseEmbeddings, or "{FAMILY}:{DEFAULT}".'
            )
        self.name: str = named or _name(model)
        self._queries = QueryCache[Pairs]()

    def encode_documents(self, texts: Sequence[str]) -> list[Pairs]:
        """Return the vector of each text.

        Raises:
            EmbeddingError: The encoder failed, or answered something else.
        """
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return []
        with self._failing_clearly():
            answer = list(self._ask(distinct))  # it may be a generator
        return self._check_vectors(answer, distinct, texts)

    async def aencode_documents(self, texts: Sequence[str]) -> list[Pairs]:
        """`encode_documents` without holding up the event loop."""
        if self._aask is None:
            return await asyncio.to_thread(self.encode_documents, texts)
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return []
        with self._failing_clearly():
            answer = list(await self._aask(distinct))
        return self._check_vectors(answer, distinct, texts)

    def queries(self, texts: Sequence[str]) -> dict[str, Pairs | None]:
        """Return the vector of each query that is not blank; None where the encoder failed, which is
        logged: what else finds memories decides then."""
        return {text: self._query(text) for text in texts if text.strip()}

    async def aqueries(self, texts: Sequence[str]) -> dict[str, Pairs | None]:
        """`queries` without holding up the event loop."""
        if self._aask_query is None:
            return await asyncio.to_thread(self.queries, texts)
        found: dict[str, Pairs | None] = {}
        for text in filter(str.strip, texts):
            if (known := self._queries.get(text)) is None:
                try:
                    with self._failing_clearly():
                        answer = await self._aask_query(text)
                    known = self._remember(text, answer)
                except EmbeddingError as error:
                    _warn(error)
            found[text] = known
        return found

    def _query(self, text: str) -> Pairs | None:
        if (known := self._queries.get(text)) is not None:
            return known
        try:
            with self._failing_clearly():
                answer = self._ask_query(text)
            return self._remember(text, answer)
        except EmbeddingError as error:
            _warn(error)
            return None

    def _remember(self, text: str, answer: Any) -> Pairs:
        [vector] = self._check_vectors([answer], [text], [text])
        return self._queries.add(text, vector)

    @contextmanager
    def _failing_clearly(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the encoder is anybody's code and fails in any way
            raise EmbeddingError(
                f"Sparse encoder {self.name} failed ({type(error).__name__}: {error}). Mend it and try "
                "again, or open the store without it."
            ) from error

    def _check_vectors(
        self, answer: Any, asked: Sequence[str], texts: Sequence[str]
    ) -> list[Pairs]:
        """Return the vectors of texts from the answer for those asked, which are the distinct ones."""
        try:
            vectors = [_pairs(one) for one in answer]
        except (TypeError, ValueError, OverflowError) as error:
            raise EmbeddingError(
                f"Sparse encoder {self.name} did not answer sparse vectors ({error}); each must map "
                "dimensions to weights, or have indices and values."
            ) from error
        if len(vectors) != len(asked):
            raise EmbeddingError(
                f"Sparse encoder {self.name} answered {count_noun(len(vectors), 'vector')} to "
                f"{count_noun(len(asked), 'text')}; it must answer one for each."
            )
        known = dict(zip(asked, vectors, strict=True))
        return [known[text] for text in texts]


def merge_vectors(vectors: Sequence[Pairs]) -> Pairs:
    """Return the vector of an item from those of its parts: the largest weight of each dimension, which is
    how SPLADE joins the words of a text."""
    if len(vectors) == 1:
        return vectors[0]
    together = np.concatenate(vectors)
    together = together[np.lexsort((-together["weight"], together["dimension"]))]
    first = np.ones(len(together), np.bool_)
    np.not_equal(together["dimension"][1:], together["dimension"][:-1], out=first[1:])
    return _heaviest(together[first])


def _pairs(vector: Any) -> Pairs:
    if isinstance(vector, Mapping):
        dimensions: Any = list(vector.keys())
        weights: Any = list(vector.values())
    else:
        try:
            dimensions, weights = vector.indices, vector.values
        except AttributeError:
            raise TypeError(f"one is of type {type(vector).__name__}") from None
    numbers, values = np.asarray(dimensions), np.asarray(weights, np.float64)
    if not len(numbers):
        return np.empty(0, PAIR)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or numbers.shape != values.shape:
        raise ValueError("the dimensions are not whole numbers, one for each weight")
    if numbers.min() < 0 or numbers.max() >= 1 << 32:
        raise ValueError("a dimension is below 0 or above 4,294,967,295")
    if len(np.unique(numbers)) < len(numbers):
        raise ValueError("a dimension stands twice")
    if not (np.abs(values) < 1e30).all():
        raise ValueError("a weight is not finite")
    found = np.empty(len(numbers), PAIR)
    found["dimension"], found["weight"] = numbers, values
    found = found[found["weight"] != 0]
    return _heaviest(found[np.argsort(found["dimension"])])


def _heaviest(pairs: Pairs) -> Pairs:
    if len(pairs) <= MOST_DIMENSIONS:
        return pairs
    kept = np.argsort(-np.abs(pairs["weight"]), kind="stable")[:MOST_DIMENSIONS]
    return pairs[np.sort(kept)]


class _Row:
    """One row of a sparse tensor."""

    def __init__(self, indices: Any, values: Any) -> None:
        self.indices, self.values = indices, values


def _rows(encoded: Any) -> list[_Row]:
    """Return the rows of torch's sparse tensor, float[n, dimensions]."""
    whole = encoded.coalesce().cpu()
    rows, columns = whole.indices().numpy()
    values = whole.values().float().numpy()
    ends = rows.searchsorted(np.arange(whole.shape[0] + 1))
    return [_Row(columns[a:b], values[a:b]) for a, b in pairwise(ends)]


def _load_model(name: str) -> Any:
    family, _, model = name.partition(":")
    if family != FAMILY:
        raise ConfigError(
            f'There is no sparse encoder {name!r}. Pass "{FAMILY}", alone or with a model, as '
            f'"{FAMILY}:{DEFAULT}", or an encoder.'
        )
    with loading(f"The sparse encoder {name!r}"):
        from sentence_transformers import SparseEncoder as Model

        return Model(model or DEFAULT)


_NAMES: Final = ("model", "model_name", "_model_name", "model_id", "_name_or_path")


def _name(model: Any) -> str:
    """Return the encoder's own name, or its class with the name of its model."""
    own = getattr(model, "name", None)
    if isinstance(own, str) and own.strip():
        return own
    kind = type(model).__name__
    weights = getattr(model, "transformers_model", None)  # of sentence-transformers
    for holder in (model, getattr(weights, "config", None)):
        for attribute in _NAMES:
            found = getattr(holder, attribute, None)
            if isinstance(found, str) and found:
                return f"{kind}:{found}"
    return kind


def _warn(error: EmbeddingError) -> None:
    # Not the message: a provider may have put the text into it.
    why = type(error.__cause__ or error).__name__
    logger.warning("sparse encoder failed (%s): searching without it", why)


def checked_encoder(model: SparseEncoder | Any | None) -> CheckedEncoder | None:
    """Return a sparse encoder of any kind as one that is checked; None for none."""
    if model is None or isinstance(model, CheckedEncoder):
        return model
    return CheckedEncoder(model)
