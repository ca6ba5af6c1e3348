"""StaticEmbedder: the embedded default model, a table of token vectors and nothing else.

A text's vector is the mean of its tokens' vectors, which carry their own weight: words that say
little are short, telling ones long. The table has learned from all-MiniLM-L6-v2 what it makes of
370,000 texts (`scripts/distill_embedder.py`). Words of other languages than English have pieces in
its space (`langmemory.embeddings.foreign`).
"""

from __future__ import annotations

import os
import re
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from langmemory.embeddings.foreign import ForeignTable
from langmemory.embeddings.local import LocalEmbedder, Vectors
from langmemory.languages.writing import plain_width

TokenIds = npt.NDArray[np.uint16]
"""uint16[n]: a text's tokens in order, without special and unknown ones."""

UNKNOWN_TOKEN = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenTable:
    """The vectors behind the embedder, for late interaction. Read-only and shared."""

    vectors: npt.NDArray[np.int8]
    """int8[vocabulary, dims]: `vectors[ids].astype(np.float32)`; one scale for all, not unit
    length. Tokens without meaning of their own ("[PAD]") are zero."""
    weights: npt.NDArray[np.float32]
    """float32[vocabulary]: the row's length, which is the token's weight in a text: 50 for "the", 81
    for "?", 385 for "adoption". Divide by it for a unit vector, where it is not 0."""


PART_CHARACTERS: Final = 100_000
"""That are split at a time, of several texts or of a very long one: each takes some 100 bytes meanwhile."""
MOST_CHARACTERS: Final = 1_000_000
"""Of a text that is split as a whole."""
TOKENS_AT_ONCE: Final = 16_384
"""Of a text whose vectors are summed at a time (4 MB)."""
PIECES_AT_ONCE: Final = 4_096
"""Of other languages, of which sums of float32 are exact (4 MB)."""
LONGEST_WORD: Final = 1_000
THREADED_FROM: Final = 64
"""Runs from which the tokenizer's threads are worth waking: on a busy machine that takes longer
than splitting a few."""
_RUN: Final = re.compile(r"[^ \t\n\r!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")
"""What BERT's tokenizer splits by itself, whatever stands beside it: a mark of ASCII, or characters
without marks and spaces of ASCII."""
_SPECIAL: Final = ("[PAD]", "[UNK]")
"""Tokens that a text can name: the tokenizer reads them before it splits at marks."""
MOST_KEPT_BYTES: Final = 8_000_000
"""Of runs whose tokens are kept: some 40,000 words."""
RUN_BYTES: Final = 200
"""Of one, besides its characters."""


CURRENT: Final = "langmemory/static-256@3"
ENGLISH: Final = "langmemory/static-minilm-256@2"
"""The model before, which reads all texts as English; the vectors of English texts are the same."""


class StaticEmbedder(LocalEmbedder):
    """Embeds about 30,000 short texts a second without a model server, torch or the network.

    Sums are of integers, hence exact: a text has bit by bit the same vector alone, in any batch
    and on any machine. Every instance shares one table, read on first use (30 ms, 8 MB), and one of pieces of
    other languages.

    Args:
        model_id: `CURRENT`, or `ENGLISH` for a file that has vectors of that.
    """

    model_id = CURRENT
    dims = 256

    def __init__(self, model_id: str = CURRENT) -> None:
        self.model_id = model_id

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """Token ids of each text, whole however long it is."""
        batch = list(map(_readable, texts))
        split: list[TokenIds] = []
        for some in _together(batch):
            if len(some) > 1 or len(some[0]) <= MOST_CHARACTERS:
                split += self._tokenize(some)
            else:
                split.append(np.concatenate([self._tokenize([p])[0] for p in _parts(some[0])]))
        return split

    def _tokenize(self, batch: list[str]) -> list[TokenIds]:
        split = [_runs(text) for text in batch]
        kept = _kept_with(set().union(*split))
        return [
            np.frombuffer(b"".join(map(kept.__getitem__, runs)), dtype=np.uint16) for runs in split
        ]

    def embed_tokens(self, tokens: Sequence[TokenIds]) -> Vectors:
        """float32[n, dims] of texts that `tokenize` has split already."""
        table = _load()[1].vectors
        sums = np.zeros((len(tokens), self.dims), dtype=np.int64)
        for row, ids in zip(sums, tokens, strict=True):
            _add(row, table, ids)
        return unit(sums)

    def embed_split(self, texts: Sequence[str], tokens: Sequence[TokenIds]) -> Vectors:
        """float32[n, dims] of texts that `tokenize` has split into these tokens."""
        if self.model_id == ENGLISH:
            return self.embed_tokens(tokens)
        (_, table), others = _load(), _load_foreign()
        sums = np.zeros((len(texts), self.dims), dtype=np.int64)
        for row, text, ids in zip(sums, texts, tokens, strict=True):
            parts = [text] if len(text) <= PART_CHARACTERS else list(_parts(text))
            split = [others.split(_runs(_readable(part))) for part in parts]
            if not any(split):
                _add(row, table.vectors, ids)
                continue
            for part, found in zip(parts, split, strict=True):
                rest = found[1] if found else _runs(_readable(part))
                if found:
                    for start in range(0, len(found[0]), PIECES_AT_ONCE):
                        some = found[0][start : start + PIECES_AT_ONCE]
                        row += others.added(some).astype(np.int64)
                kept = _kept_with(set(rest))
                ids = np.frombuffer(b"".join(map(kept.__getitem__, rest)), dtype=np.uint16)
                _add(row, table.vectors, ids)
        return unit(sums)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """float32[n, dims], one L2-normalised row a text; zero where no token is known."""
        return self.embed_split(texts, self.tokenize(texts))

    def language(self, text: str) -> str:
        """A name for what a text is written in, by its words, see `ForeignTable.language`."""
        return _load_foreign().language(_runs(_readable(text[:PART_CHARACTERS])))

    def is_english(self, word: str) -> bool:
        """Whether English has a word, and other languages do not."""
        return _load_foreign().is_english(word)

    def token_vectors(self) -> TokenTable:
        """The vectors and weights that token ids index."""
        return _load()[1]

    def token_ids(self) -> Mapping[str, int]:
        """The id of each token, by its text; parts of words begin with ``##``."""
        found: Mapping[str, int] = _load()[0].get_vocab()
        return found


def _add(row: npt.NDArray[np.int64], table: npt.NDArray[np.int8], ids: TokenIds) -> None:
    """Add the vectors of tokens to a sum."""
    for start in range(0, len(ids), TOKENS_AT_ONCE):
        some = table.take(ids[start : start + TOKENS_AT_ONCE], axis=0)
        row += np.add.reduce(some, axis=0, dtype=np.int32)


def unit(sums: npt.NDArray[np.int64]) -> Vectors:
    """float32[n, dims]: the sums at length 1; 0 stays 0."""
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    lengths[lengths == 0] = 1.0
    vectors: Vectors = (sums / lengths).astype(np.float32)
    return vectors


def _readable(text: str) -> str:
    """The text as the tokenizer reads it, which refuses lone surrogates."""
    return text if text.isascii() else plain_width(text.encode("utf-8", "ignore").decode())


def _together(batch: Iterable[str]) -> Iterator[list[str]]:
    """Texts that are split at a time: some together, a long one alone."""
    some: list[str] = []
    size = 0
    for text in batch:
        if some and size + len(text) > PART_CHARACTERS:
            yield some
            some, size = [], 0
        some.append(text)
        size += len(text)
    if some:
        yield some


def _parts(text: str) -> Iterator[str]:
    """A text in parts of at most `PART_CHARACTERS`, cut between words where there are any."""
    start = 0
    while len(text) - start > PART_CHARACTERS:
        end = start + PART_CHARACTERS
        space = text.rfind(" ", max(start, end - LONGEST_WORD), end)
        end = space if space > start else end
        yield text[start:end]
        start = end
    yield text[start:]


def _runs(text: str) -> list[str]:
    """The runs of a text; a text that names a special token is one."""
    if "[" in text and any(token in text for token in _SPECIAL):
        return [text]
    return _RUN.findall(text.lower() if text.isascii() else text)


@dataclass(slots=True)
class _Kept:
    """Runs that were split before, and the bytes of their token ids. Most words of a text are among them,
    and looking one up takes a tenth of the time of splitting it."""

    ids: dict[str, bytes]
    bytes: int = 0


_kept = _Kept({})


def _kept_with(runs: set[str]) -> Mapping[str, bytes]:
    """The token ids of these runs, and of others."""
    global _kept
    kept = _kept
    missing = list(runs.difference(kept.ids))
    if not missing:
        return kept.ids
    if kept.bytes > MOST_KEPT_BYTES:  # others may still read the old ones
        kept = _kept = _Kept({})
        missing = list(runs)
    tokenizer = _load()[0]
    word_pieces, others = tokenizer.model.tokenize, list[str]()
    for run in missing:
        if run.isascii() and run.isalnum():  # one word: only the last step is left
            kept.ids[run] = _encode_tokens([token.id for token in word_pieces(run.lower())])
        else:
            others.append(run)
    if len(others) < THREADED_FROM:
        encodings = [tokenizer.encode(run, add_special_tokens=False) for run in others]
    else:  # lets other Python threads run meanwhile, an event loop among them
        encodings = tokenizer.encode_batch_fast(others, add_special_tokens=False)
    for run, encoding in zip(others, encodings, strict=True):
        kept.ids[run] = _encode_tokens(encoding.ids)
    kept.bytes += sum(map(len, missing)) + RUN_BYTES * len(missing)
    return kept.ids


def _encode_tokens(ids: Sequence[int]) -> bytes:
    return array("H", [one for one in ids if one != UNKNOWN_TOKEN]).tobytes()


_loaded: tuple[Tokenizer, TokenTable] | None = None
_loading = threading.Lock()


def _after_fork() -> None:
    """Another thread of the parent may have held the lock, and does not exist in the child."""
    global _loading
    _loading = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)


def _load() -> tuple[Tokenizer, TokenTable]:
    """The tokenizer and table, read from the package once a process."""
    global _loaded
    if _loaded is None:
        with _loading:
            if _loaded is None:
                _loaded = _read()
    return _loaded


_foreign: ForeignTable | None = None


def _load_foreign() -> ForeignTable:
    """The pieces of other languages, read from the package once a process."""
    global _foreign
    if _foreign is None:
        words = _load()[0].get_vocab()
        with _loading:
            if _foreign is None:
                _foreign = ForeignTable(filter(str.isalpha, words))
    return _foreign


def _read() -> tuple[Tokenizer, TokenTable]:
    data = files("langmemory.embeddings") / "data"
    tokenizer = Tokenizer.from_str((data / "tokenizer.json").read_text(encoding="utf-8"))
    with (data / "vectors.npy").open("rb") as file:
        vectors = np.load(file, allow_pickle=False)
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.int32)
    weights = np.sqrt(squares).astype(np.float32)
    vectors.flags.writeable = weights.flags.writeable = False
    return tokenizer, TokenTable(vectors=vectors, weights=weights)
