"""Rerankers by name: models that read a question and a memory together, or word by word.

``cross-encoder:MODEL`` and ``bge:MODEL`` score each pair of question and text (Nogueira and Cho 2019) with
sentence-transformers; ``colbert:MODEL`` compares their words (Khattab and Zaharia 2020) with transformers.
Both come with the extra "rerank". A name alone, as ``bge``, takes the model in `DEFAULTS`. The weights are
fetched from Hugging Face when first used, or MODEL is a folder. ``mmr:LAMBDA`` needs neither: it prefers what
says something else than the results before it, by the embedded model.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from langmemory.embeddings.static import StaticEmbedder
from langmemory.errors import ConfigError, with_extra
from langmemory.recall.models import Reranker

if TYPE_CHECKING:
    from langmemory.ports.candidates import Floats
    from langmemory.types import RecallResult

DEFAULTS: Final[Mapping[str, str]] = {
    "cross-encoder": "cross-encoder/ms-marco-MiniLM-L6-v2",
    "bge": "BAAI/bge-reranker-v2-m3",
    "colbert": "colbert-ir/colbertv2.0",
}
"""Family to the model it means without another: 22 million parameters, English; 568 million, 100 languages;
110 million, English."""
MMR: Final = "mmr"
MMR_LAMBDA: Final = "0.7"
"""Weight of the score beside the difference, 0..1 (Carbonell and Goldstein 1998). On the dev conversations
every one below 1 lost evidence: R@10 .818 with .7 instead of .838."""
LONGEST: Final = 2_000
"""Characters of a memory that are read."""
BATCH: Final = 16
"""Texts at a time."""

QUERY_TOKENS: Final = 32
"""Of a question as ColBERT reads it, filled up with masks, which stand for words it may have had."""
TEXT_TOKENS: Final = 300
"""Of a memory, as ColBERT reads it."""
QUERY_MARK: Final = "[unused0]"
TEXT_MARK: Final = "[unused1]"
"""ColBERT's marks of the two, behind the first token."""

Scoring = Callable[[str, Sequence[str]], "Floats"]
"""Takes a question and n texts; float32[n], the higher the better."""


def is_reranker(name: str) -> bool:
    """Return whether a name is that of a reranker rather than of a chat model."""
    return name.partition(":")[0] in (MMR, *DEFAULTS)


def named_reranker(name: str) -> Reranker:
    """Return the reranker of a name, such as ``"bge"`` or ``"cross-encoder:BAAI/bge-reranker-base"``.

    Raises:
        ConfigError: There is no such family, or its packages or its model are missing.
    """
    family, _, model = name.partition(":")
    if family == MMR:
        return mmr_reranker(model or MMR_LAMBDA)
    if family not in DEFAULTS:
        raise ConfigError(
            f"There is no reranker {name!r}. Known: {MMR}, {', '.join(DEFAULTS)}, each alone or with a "
            f'model, as "bge:{DEFAULTS["bge"]}".'
        )
    make = _colbert if family == "colbert" else _cross_encoder
    with loading(f"The reranker {name!r}"):
        return scoring_reranker(make(model or DEFAULTS[family]))


def mmr_reranker(lambda_: str) -> Reranker:
    """Return a reranker by maximal marginal relevance.

    Raises:
        ConfigError: ``lambda_`` is no number from 0 to 1.
    """
    try:
        weight = float(lambda_)
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= 1:
        raise ConfigError(f"The lambda of 'mmr:{lambda_}' must be a number from 0 to 1.")
    embedder = StaticEmbedder()

    def rerank(query: str, results: Sequence[RecallResult]) -> list[int]:
        vectors = np.asarray(embedder.embed_documents([one.text for one in results]), np.float32)
        score = np.array([one.parts.get("rank", one.score) for one in results], np.float32)
        order: list[int] = mmr(score, vectors, lambda_=weight, limit=len(results)).tolist()
        return order

    return rerank


def mmr(score: Floats, vectors: Floats, *, lambda_: float, limit: int) -> NDArray[np.int64]:
    """int64[limit]: greedy order by maximal marginal relevance (Carbonell and Goldstein 1998):
    ``lambda * score - (1 - lambda) * highest cosine to what was taken``.

    ``score`` float32[n], 0..1; ``vectors`` float32[n, dims], L2-normalised or zero.
    """
    worth = np.float32(lambda_) * score
    weight = np.float32(1 - lambda_)
    nearest = np.zeros(len(score), dtype=np.float32)
    order: list[int] = []
    for _ in range(min(limit, len(score))):
        best = int(np.argmax(worth - weight * nearest))
        order.append(best)
        worth[best] = -np.inf
        np.maximum(nearest, vectors @ vectors[best], out=nearest)
    return np.array(order, dtype=np.int64)


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Say what is missing where a model of the extra "rerank" cannot be loaded.

    Raises:
        ConfigError: Its packages or the model are missing.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"{what} needs {error.name}: {with_extra('rerank')}.") from error
    except (OSError, ValueError) as error:
        why = str(error).strip().split("\n")[0]
        raise ConfigError(
            f"{what} cannot be loaded: {why} Name a model of Hugging Face or a folder."
        ) from error


def scoring_reranker(scoring: Scoring) -> Reranker:
    """Return a reranker that sorts by the scores of a question and texts."""

    def rerank(query: str, results: Sequence[RecallResult]) -> list[int]:
        scores = scoring(query[:LONGEST], [result.text[:LONGEST] for result in results])
        order: list[int] = np.argsort(-scores, kind="stable").tolist()
        return order

    return rerank


def _cross_encoder(model: str) -> Scoring:
    from sentence_transformers import CrossEncoder

    encoder = CrossEncoder(model, num_labels=1)

    def scores(query: str, texts: Sequence[str]) -> Floats:
        found = encoder.predict(
            [(query, text) for text in texts], batch_size=BATCH, show_progress_bar=False
        )
        return np.asarray(found, dtype=np.float32).reshape(len(texts))

    return scores


def _colbert(model: str) -> Scoring:
    """ColBERT's late interaction: of each token of the question its best match in the text, summed."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, encoder = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model)
    encoder.eval()
    projection = torch.from_numpy(_projection(model)).to(encoder.dtype)
    known = tokenizer.get_vocab()
    if missing := [mark for mark in (QUERY_MARK, TEXT_MARK) if mark not in known]:
        raise ValueError(f"{model} has no token {missing[0]}: it is no ColBERT.")
    silent = {known[sign] for sign in string.punctuation if sign in known}

    def embedded(texts: Sequence[str], mark: str, longest: int, *, fill: bool) -> tuple[Any, Any]:
        """float[n, tokens, dims] of unit length, and bool[n, tokens], which of them count."""
        read = tokenizer(
            list(texts), truncation=True, max_length=longest - 1, return_tensors="pt",
            padding="max_length" if fill else True,
        )  # fmt: skip
        marks = torch.full((len(texts), 1), known[mark])
        ids = torch.cat((read["input_ids"][:, :1], marks, read["input_ids"][:, 1:]), 1)
        there = torch.cat(
            (read["attention_mask"][:, :1],) * 2 + (read["attention_mask"][:, 1:],), 1
        )
        if fill:
            # They count, and no other token looks at them.
            ids[there == 0] = tokenizer.mask_token_id
        with torch.inference_mode():
            hidden = encoder(input_ids=ids, attention_mask=there).last_hidden_state @ projection.T
        counts = torch.ones_like(ids, dtype=torch.bool)
        if not fill:
            counts = there.bool() & ~torch.isin(ids, torch.tensor(sorted(silent), dtype=torch.long))
        return torch.nn.functional.normalize(hidden, dim=-1), counts

    def scores(query: str, texts: Sequence[str]) -> Floats:
        asked, _ = embedded([query], QUERY_MARK, QUERY_TOKENS, fill=True)
        found = np.zeros(len(texts), np.float32)
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            said, counts = embedded(part, TEXT_MARK, TEXT_TOKENS, fill=False)
            near = (said @ asked[0].T).masked_fill(~counts[..., None], -1.0)
            found[start : start + len(part)] = near.amax(1).sum(-1).float().numpy()
        return found

    return scores


def _projection(model: str) -> Floats:
    """float32[dims, hidden]: ColBERT's last layer, which transformers does not load."""
    from safetensors import safe_open
    from transformers.utils import cached_file

    path = cached_file(model, "model.safetensors")
    with safe_open(Path(str(path)), "np") as weights:
        if "linear.weight" not in weights.keys():  # noqa: SIM118 - it is no mapping
            raise ValueError(f"{model} has no linear.weight: it is no ColBERT.")
        found: Floats = weights.get_tensor("linear.weight").astype(np.float32)
    return found
