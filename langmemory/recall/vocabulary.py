"""What recall knows about token ids: which carry meaning, which end a question, which tell time.

Items store their text's token ids, so that late interaction and a few cheap cues need neither text
nor tokenizer while ranking. Built once for a token table and shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from langmemory.embeddings.static import StaticEmbedder, TokenIds
from langmemory.lexicon import LANGUAGES

Flags = NDArray[np.bool_]

_WORD_SETS = 256
"""Sets of words whose flags are kept, 30 kB each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """A token table with what follows from it. Arrays are indexed by token id."""

    embedder: StaticEmbedder
    vectors: NDArray[np.int8]
    """int8[v, dims], not unit length."""
    weights: NDArray[np.float32]
    """float32[v]: row lengths, which grow with a token's rarity."""
    inverse: NDArray[np.float32]
    """float32[v]: 1 / weights, 0 for tokens without meaning of their own: punctuation, stop words."""
    ends: NDArray[np.int8]
    """int8[v]: 1 for a token that ends a question, -1 for one that ends another sentence."""
    temporal: Flags
    """Words that say when something happens."""
    _of_words: dict[frozenset[str], Flags] = field(default_factory=dict, repr=False)

    def encode(self, text: str) -> TokenIds:
        """uint16[n]: the token ids of a text that carry meaning."""
        ids = self.embedder.tokenize([text])[0]
        return ids[self.inverse[ids] > 0]

    def flags(self, words: frozenset[str]) -> Flags:
        """bool[v]: the tokens that are one of these words; kept for the next query."""
        found = self._of_words.get(words)
        if found is None:
            found = np.zeros(len(self.weights), dtype=np.bool_)
            found[_single_tokens(self.embedder, sorted(words))] = True
            if len(self._of_words) >= _WORD_SETS:
                self._of_words.clear()
            self._of_words[words] = found
        return found


@lru_cache(maxsize=1)
def default_vocabulary() -> Vocabulary:
    """The vocabulary of the embedded table, read on first use."""
    embedder = StaticEmbedder()
    table = embedder.token_vectors()
    weights = np.asarray(table.weights, dtype=np.float32)
    size = len(weights)

    meaning = weights > 0
    meaning[_single_tokens(embedder, sorted(_stop_words()))] = False
    meaning[
        _single_tokens(embedder, list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~。，！？；：、…–—"))
    ] = False
    inverse = np.zeros(size, dtype=np.float32)
    np.divide(1.0, weights, out=inverse, where=meaning)

    ends = np.zeros(size, dtype=np.int8)
    ends[_single_tokens(embedder, [".", "!", "。", "！", ";"])] = -1
    ends[_single_tokens(embedder, ["?", "？"])] = 1

    temporal = np.zeros(size, dtype=np.bool_)
    for language in LANGUAGES.values():
        temporal[_single_tokens(embedder, sorted(language.temporal_words))] = True
    return Vocabulary(
        embedder=embedder,
        vectors=table.vectors,
        weights=weights,
        inverse=inverse,
        ends=ends,
        temporal=temporal,
    )


def _stop_words() -> frozenset[str]:
    """English only: the table is English, and elsewhere one language's stop word is content."""
    return LANGUAGES["en"].stop_words


def _single_tokens(embedder: StaticEmbedder, words: Sequence[str]) -> NDArray[np.int64]:
    """Ids of those words that are one token."""
    return np.array([ids[0] for ids in embedder.tokenize(words) if len(ids) == 1], dtype=np.int64)
