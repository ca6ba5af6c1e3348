"""Late interaction over the static token table: how well each word of a query is met by an item.

MaxSim as in ColBERT (Khattab and Zaharia 2020), with vectors that need no model: a query token is
met as well as its most similar token in the item. Similar words count ("taekwondo" for "martial
arts"), which keywords cannot see, and one matching word is not diluted by a long text, as it is in
a mean vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langmemory.embeddings.static import TokenIds
from langmemory.ports.candidates import Floats
from langmemory.recall.vocabulary import HASHED, Vocabulary, in_table


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts:
    """Token ids of n texts, end to end."""

    tokens: NDArray[np.uint16]
    """uint16[total]. Every text has at least one token; an empty one has a single 0 ("[PAD]")."""
    starts: NDArray[np.int64]
    """int64[n]: where each text begins."""
    lengths: NDArray[np.int64]

    def any(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """bool[n]: whether a text has a token with this flag; bool[v] by token id."""
        found: NDArray[np.bool_] = np.logical_or.reduceat(flags[self.tokens], self.starts)
        return found

    def having(self, token: int) -> NDArray[np.bool_]:
        """bool[n]: whether a text has this token."""
        found = np.zeros(len(self.starts), np.bool_)
        found[self.starts.searchsorted((self.tokens == token).nonzero()[0], "right") - 1] = True
        return found

    def places(self, texts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the tokens of some of the texts stand, text by text; of one text at least."""
        lengths = self.lengths[texts]
        ends = lengths.cumsum()
        return np.repeat(self.starts[texts] + lengths - ends, lengths) + np.arange(ends[-1])

    def of(self, texts: NDArray[np.int64]) -> Texts:
        """Return some of the texts, one at least."""
        lengths = self.lengths[texts]
        starts = lengths.cumsum() - lengths
        return Texts(tokens=self.tokens[self.places(texts)], starts=starts, lengths=lengths)


_PAD = b"\0\0"


def join_texts(blobs: Sequence[bytes | None]) -> Texts:
    """Texts from the blobs of `Rows.tokens`; at least one."""
    filled = [blob or _PAD for blob in blobs]
    lengths = np.array([len(blob) for blob in filled], dtype=np.int64) >> 1
    starts = lengths.cumsum() - lengths
    return Texts(
        tokens=np.frombuffer(b"".join(filled), dtype=np.uint16), starts=starts, lengths=lengths
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Interaction:
    """How n texts meet the q tokens of a query."""

    matches: Floats
    """float32[q, n], 0..1: the highest cosine of each query token with any token of each text; of a long
    one, with the passage of it that meets the query best."""
    shares: Floats
    """float32[q], sum 1: how much each query token counts, by its rarity in general language and among the
    texts."""
    rarities: Floats
    """float32[q]: how rare each query token is in general language."""
    related: Floats
    """float32[n], 0..1: how much of a text are words akin to the query's, without being them:
    "violin" for "instruments". A share of the text that has most of them."""
    token_met: NDArray[np.bool_]
    """bool[total]: for each token of all texts, whether the whole query has the same word."""
    token_weights: Floats
    """float32[total]: how telling each of them is, 0 for marks and stop words."""


AKIN = (0.5, 0.75)
"""Cosines between which two words are akin: below they are strangers, above inflections."""
MET = 0.6
"""Cosine from which two words say nearly the same."""
SAME = 0.75
"""Cosine from which two words are one, in this form or in another."""
PASSAGE = 96
"""Tokens of a passage, about four sentences."""
RAREST = 0.02
"""Share of the texts from which a word of the query counts as not the rarest any more."""
_LENGTH_SHARE = 0.375
"""How much longer texts are discounted in `Interaction.related`, as b / 2 of BM25."""


def interact(
    query: TokenIds,
    texts: Texts,
    vocabulary: Vocabulary,
    *,
    asking: NDArray[np.bool_] | None = None,
    further: TokenIds | None = None,
) -> Interaction:
    """Compares q >= 1 query tokens, all with meaning, with every token of every text.

    Args:
        query: Token ids of the query.
        texts: What is compared with it.
        vocabulary: What the ids mean.
        asking: bool[n], texts that ask and state nothing; they make no word common. None: how common a word
            is among the texts does not count.
        further: Tokens of the query that are not looked up, such as the names of speakers. They only
            count for ``token_met``.
    """
    seen = np.zeros(len(vocabulary.weights), dtype=np.bool_)
    seen[texts.tokens] = True
    distinct = seen.nonzero()[0]
    place = np.empty(len(seen), dtype=np.int32)
    place[distinct] = np.arange(len(distinct), dtype=np.int32)
    held = place[texts.tokens]

    whole = query if further is None else np.concatenate((query, further))
    cosines = _products(vocabulary.unit(whole), vocabulary.vectors.take(in_table(distinct), axis=0))
    cosines *= vocabulary.inverse[distinct]
    for row in (whole >= HASHED).nonzero()[0].tolist():
        cosines[row] = distinct == whole[row]
    np.maximum(cosines, 0, out=cosines)
    met = cosines.max(axis=0) >= SAME
    cosines = cosines[: len(query)]

    low, high = AKIN
    relatedness = np.where((cosines >= low) & (cosines <= high), cosines, 0).max(axis=0)
    relatedness *= vocabulary.weights[distinct]
    related = np.add.reduceat(relatedness[held], texts.starts)
    related /= 1 + _LENGTH_SHARE * (texts.lengths / texts.lengths.mean() - 1)
    if (most := related.max()) > 0:
        related /= most
    matches = _Passages(cosines.take(held, axis=1), texts)
    rarities = shares = vocabulary.weights[query]
    if asking is not None:
        shares = shares * matches.rarity(asking)
    shares = shares / shares.sum()
    return Interaction(
        matches=matches.best(shares),
        shares=shares,
        rarities=rarities,
        related=related.astype(np.float32),
        token_met=met[held],
        token_weights=vocabulary.telling[texts.tokens],
    )


class _Passages:
    """How the passages of n texts meet the tokens of a query.

    A long text has a word akin to any word of a query somewhere. So what counts of it is what stands
    together: passages of `PASSAGE` tokens, each of which overlaps half of the next.
    """

    def __init__(self, cosines: Floats, texts: Texts) -> None:
        """``cosines`` float32[q, total]."""
        half = PASSAGE // 2
        self._several = bool(texts.lengths.max() > PASSAGE)
        if not self._several:
            self._of_text = np.arange(len(texts.starts))
            self._met = np.maximum.reduceat(cosines, texts.starts, axis=1)
            return
        counts = np.where(texts.lengths <= PASSAGE, 1, -(-texts.lengths // half))
        self._first = counts.cumsum() - counts
        self._of_text = of_text = np.repeat(np.arange(len(counts)), counts)
        starts = texts.starts[of_text] + half * (np.arange(len(of_text)) - self._first[of_text])
        parts = np.maximum.reduceat(cosines, starts, axis=1)
        follows = (of_text[1:] == of_text[:-1]).nonzero()[0]
        parts[:, follows] = np.maximum(parts[:, follows], parts[:, follows + 1])
        self._met = parts

    def rarity(self, asking: NDArray[np.bool_]) -> Floats:
        """float32[q]: how rare each token of the query is among the texts that do not ask."""
        counted = ~asking[self._of_text]
        if not counted.any():
            return np.ones(len(self._met), np.float32)
        common = (self._met[:, counted] >= MET).mean(axis=1)
        rare: Floats = np.log1p(1 / (common + RAREST)).astype(np.float32)
        return rare

    def best(self, shares: Floats) -> Floats:
        """float32[q, n]: how each token is met by the passage of each text that meets the query best."""
        if not self._several:
            return self._met
        order = np.lexsort((-(shares @ self._met), self._of_text))
        return self._met[:, order[self._first]]


_SINGLE_THREAD = 262_144
"""Multiplications up to which OpenBLAS stays on one thread (65,536 x GEMM_MULTITHREAD_THRESHOLD)."""


def _products(asked: Floats, held: NDArray[np.int8]) -> Floats:
    """float32[q, u]: every row of ``asked`` times every row of ``held``.

    In blocks so small that BLAS does not wake its threads: for half a millisecond of work they cost
    more than they bring, and twenty times more on a machine that is busy otherwise.
    """
    block = max(1, _SINGLE_THREAD // asked.size)
    rows = held.astype(np.float32)
    return np.concatenate(
        [asked @ rows[start : start + block].T for start in range(0, len(rows), block)], axis=1
    )
