"""Sets of token ids: which carry meaning, which end a question, which tell time.

Items store their text's token ids, so that late interaction and a few cheap features need neither text
nor tokenizer while ranking. Built once for a token table and shared.

The table knows words of Latin script. A word of another script would be in letters, which every
text has, or in those of its characters that happen to be known: it gets a token of its own instead,
by its hash, which is met by the same word and by no other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from langmemory.embeddings.static import StaticEmbedder, TokenIds, unit
from langmemory.languages import LANGUAGES, compared, is_unspaced, split_words, without_marks

Flags = NDArray[np.bool_]

_WORD_SETS = 128
"""Sets of words whose flags are kept, 65 kB each."""

TABLE_LANGUAGE: Final = "en"
"""Of the embedded table."""
_WORDS = 16_384
"""Words whose rarity is kept."""
UNKNOWN_RARITY: Final = 450.0
"""Of a word that is no token of the table: of the table's tokens 95 of 100 are more frequent."""

HASHED: Final = 1 << 15
"""Token ids from here on are hashes of words; the table ends before."""
_IDS: Final = 1 << 16
_STEM: Final = 5
"""Letters of the stem of a word of another script that count: cutting words there does for their
inflections what a stemmer does (McNamee and Mayfield 2004), and more where there is one."""
_DATE = re.compile(r"\d(?<=\b\d)\d?\.\s?\d{1,2}\.")
_DATE_WORD: Final = "14.2."
ASSISTANT: Final = _IDS - 1
"""The mark of what an assistant said."""
QUESTION: Final = _IDS - 2
"""The mark of a turn that asks and states nothing, see `contentless.doing`; with `EMPTY`, of one that says
that something is not known."""
EMPTY: Final = _IDS - 3
"""The mark of a turn that says nothing."""
MARKS: Final = (ASSISTANT, QUESTION, EMPTY)
"""No word's hash is one of them."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Vocabulary:
    """A token table with what follows from it. Arrays are indexed by token id: those of length
    ``v`` by every uint16, the others by those of the table."""

    embedder: StaticEmbedder
    vectors: NDArray[np.int8]
    """int8[table, dims], not unit length."""
    weights: NDArray[np.float32]
    """float32[v]: row lengths, which grow with a token's rarity."""
    inverse: NDArray[np.float32]
    """float32[v]: 1 / weights, 0 for tokens without meaning of their own: punctuation, stop words."""
    telling: NDArray[np.float32]
    """float32[v]: ``weights``, 0 for tokens without meaning of their own."""
    continues: Flags
    """Pieces that go on with the word before them."""
    marks: Flags
    """Punctuation, and `MARKS`."""
    ends: NDArray[np.int8]
    """int8[v]: 1 for a token that ends a question, -1 for one that ends another sentence."""
    temporal: Flags
    """Words that say when something happens."""
    _of_words: dict[frozenset[str], Flags] = field(default_factory=dict, repr=False)
    _of_word: dict[str, float] = field(default_factory=dict, repr=False)

    def encode(self, text: str) -> TokenIds:
        """uint16[n]: the token ids of a text that carry meaning."""
        hashed: list[int] = []
        if not text.isascii():
            words = split_words(text)
            if foreign := [word for word in words if _is_foreign(word)]:
                hashed = [_hash_token(word) for word in foreign]
                text = " ".join(word for word in words if not _is_foreign(word))
        ids = self.embedder.tokenize([text])[0]
        return np.concatenate((ids[self.inverse[ids] > 0], np.array(hashed, np.uint16)))

    def pieces(self, words: frozenset[str]) -> Flags:
        """bool[v]: the tokens that these words are made of, whole or in pieces."""
        found = np.zeros(len(self.weights), dtype=np.bool_)
        found[self.embedder.tokenize([" ".join(sorted(words))])[0]] = True
        own = {piece for word in words for piece in split_words(word)}
        found[[_hash_token(piece) for piece in own if _is_foreign(piece)]] = True
        found[
            [_hash_token(word) for word in _split_times().intersection(map(without_marks, own))]
        ] = True
        return found

    def rarity(self, word: str) -> float:
        """How rare a word is in general language; one that the table has only in pieces is rarer than
        most of those that it has."""
        found = self._of_word.get(word)
        if found is None:
            ids = self.embedder.tokenize([word])[0]
            found = float(self.weights[ids[0]]) if len(ids) == 1 else UNKNOWN_RARITY
            if len(self._of_word) >= _WORDS:
                self._of_word.clear()
            self._of_word[word] = found
        return found

    def rarest(self, words: Sequence[str], count: int) -> tuple[str, ...]:
        """The rarest of distinct words, at most ``count``, in their order."""
        if len(words) <= count:
            return tuple(words)
        kept = set(sorted(words, key=self.rarity, reverse=True)[:count])
        return tuple(word for word in words if word in kept)

    def unit(self, tokens: TokenIds) -> NDArray[np.float32]:
        """float32[n, dims]: the vectors of tokens, of length 1; 0 for one without meaning of its own."""
        found: NDArray[np.float32] = self.vectors[in_table(tokens)] * self.inverse[tokens, None]
        return found

    def means(self, tokens: TokenIds, starts: NDArray[np.int64]) -> NDArray[np.float32]:
        """float32[n, dims]: the direction of the telling words of n texts, which stand end to end."""
        telling = in_table(np.where(self.telling[tokens] > 0, tokens, 0))
        added = telling > 0
        added[starts] = True  # token 0, a vector of zeros: no text is without one
        vectors = self.vectors.take(telling[added], axis=0)
        starts = added.cumsum()[starts] - 1
        return unit(np.add.reduceat(vectors, starts, axis=0, dtype=np.int32).astype(np.int64))

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
    known = np.asarray(table.weights, dtype=np.float32)
    weights = np.zeros(_IDS, dtype=np.float32)
    weights[: len(known)] = known
    middle = np.sort(known)[[(len(known) - 1) // 2, len(known) // 2]]  # np.median imports numpy.ma
    weights[HASHED:] = middle.mean()  # as a word of middling rarity
    weights[list(MARKS)] = 0

    marks = np.zeros(_IDS, dtype=np.bool_)
    marks[_single_tokens(embedder, list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~。，！？；：、…–—"))] = (
        True
    )
    meaning = (weights > 0) & ~marks
    marks[_single_tokens(embedder, list("’‘“”„«»¿¡"))] = True
    # English only: the table is English, and elsewhere one language's stop word is content.
    meaning[_single_tokens(embedder, sorted(LANGUAGES["en"].stop_words))] = False
    inverse = np.zeros(_IDS, dtype=np.float32)
    np.divide(1.0, weights, out=inverse, where=meaning)
    marks[list(MARKS)] = True
    continues = np.zeros(_IDS, dtype=np.bool_)
    continues[[id_ for piece, id_ in embedder.token_ids().items() if piece.startswith("##")]] = True

    ends = np.zeros(_IDS, dtype=np.int8)
    ends[_single_tokens(embedder, [".", "!", "。", "！", ";"])] = -1
    ends[_single_tokens(embedder, ["?", "？"])] = 1

    temporal = np.zeros(_IDS, dtype=np.bool_)
    temporal[_single_tokens(embedder, _temporal_words())] = True
    temporal[[_hash_token(word) for word in (*_split_times(), _DATE_WORD)]] = True
    return Vocabulary(
        embedder=embedder,
        vectors=table.vectors,
        weights=weights,
        inverse=inverse,
        telling=np.where(meaning, weights, 0),
        continues=continues,
        marks=marks,
        ends=ends,
        temporal=temporal,
    )


@lru_cache(maxsize=1)
def table_words() -> dict[str, int]:
    """The words of the embedded table that are one token, in English letters, and their ids."""
    return {
        word: id_
        for word, id_ in StaticEmbedder().token_ids().items()
        if len(word) > 2 and word.isascii() and word.isalpha()
    }


def in_table(ids: NDArray[Any]) -> NDArray[Any]:
    """The ids with 0, which has a vector of zeros, instead of hashes."""
    return np.where(ids < HASHED, ids, 0)


def encode_item_tokens(ids: TokenIds, text: str, marks: Sequence[int] = ()) -> bytes:
    """The tokens that an item keeps of a text that the embedder has split into these ids: these, and
    after them tokens of their own for words of other scripts, for words and dates that tell time and that the
    table has only in pieces, and those of `MARKS` that it has."""
    words = split_words(text)
    other = [] if text.isascii() else [word for word in words if not word.isascii()]
    further = [_hash_token(word) for word in other if _is_foreign(word)]
    times = _split_times()
    bare = map(without_marks, other)
    further += map(_hash_token, sorted(times.intersection(words) | times.intersection(bare)))
    if _DATE.search(text):
        further.append(_hash_token(_DATE_WORD))
    further += marks
    return ids.tobytes() + np.array(further, np.uint16).tobytes()


def words_of(blob: bytes | None) -> TokenIds:
    """uint16[n]: the tokens that an item keeps, without `MARKS`; none where it keeps none."""
    tokens = np.frombuffer(blob or b"", np.uint16)
    return tokens[tokens < min(MARKS)]


def _is_foreign(word: str) -> bool:
    """Whether a word, as `split_words` has it, is of another script than Latin."""
    return word[0] >= "\u0370" and not "\u1e00" <= word[0] <= "\u1eff"


def _hash_token(word: str) -> int:
    """The token of a word of its own."""
    if _is_foreign(word) and not is_unspaced(word):
        word = compared(word)[:_STEM]
    token = HASHED + crc32(word.encode("utf-8", "replace")) % (ASSISTANT - HASHED)
    return token - len(MARKS) if token in MARKS else token


def _temporal_words() -> list[str]:
    return sorted({word for one in LANGUAGES.values() for word in one.temporal_words})


@lru_cache(maxsize=1)
def _split_times() -> frozenset[str]:
    """Words of Latin script for times that the table has only in pieces, without marks."""
    words = [word for word in _temporal_words() if not _is_foreign(word)]
    split = StaticEmbedder().tokenize(words)
    return frozenset(
        without_marks(word) for word, ids in zip(words, split, strict=True) if len(ids) > 1
    )


def _single_tokens(embedder: StaticEmbedder, words: Sequence[str]) -> NDArray[np.int64]:
    """Ids of those words that are one token, of the table or by their hash."""
    table: list[str] = []
    found: list[int] = []
    for word in words:
        pieces = split_words(word)  # none of punctuation
        if not pieces or not _is_foreign(pieces[0]):
            table.append(word)
        elif len(pieces) == 1:
            found.append(_hash_token(pieces[0]))
    found += [int(ids[0]) for ids in embedder.tokenize(table) if len(ids) == 1]
    return np.array(found, dtype=np.int64)
