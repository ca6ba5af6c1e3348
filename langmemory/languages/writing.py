"""How text is written into and looked up in the keyword index.

SQLite's ``unicode61`` tokenizer splits at whatever is no letter or digit. So a sentence of Chinese or
Japanese would be a single word that no query matches, and a Hindi word would fall to pieces at its
vowel signs. Here both is rewritten, in Python, in the index and in queries: runs of scripts without
spaces as overlapping pairs of characters, about as good as a dictionary segmenter for ranking (Kwok
1997, Nie et al. 2000; what Lucene's CJKAnalyzer does), and without a dictionary to ship; signs that
belong to the letter before them as letters of their own; words of inflecting languages as their stems.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

from langmemory.languages.stems import stems

_AS_LETTERS: Final = {
    code: chr(code - first + private)
    for first, last, private in ((0x900, 0x1CFA, 0xE000), (0xA800, 0xAC00, 0xF400))
    for code in range(first, last)
    if unicodedata.category(chr(code))[0] == "M"
}
"""Vowel signs and the like, of the scripts of India, Thailand, Tibet …, which belong to the letter before
them, and what stands for them in the index: a character of private use, which ``unicode61`` takes for
a letter. By place in Unicode, so that every Python writes the same."""
SIGNS: Final = "".join(map(chr, _AS_LETTERS))
"""The signs, to stand in the brackets of a regular expression."""
_REWRITTEN: Final = re.compile("[\u0370-\u1fff\ua800-\uabff]")
"""Signs, and letters of words that have stems."""

# Han with extensions A-H and compatibility, kana with their extensions, Hangul syllables, Bopomofo;
# Thai, Lao, Myanmar and Khmer.
_UNSPACED = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3\u17dc"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_KANA = "\u3041-\u309f"
_INFLECTED = re.compile(
    rf"(?<=[^\W\x00-\x7f{_KANA}])([{_KANA}])[{_KANA}]*|(?<=[A-Za-z0-9])[{_KANA}]+"
)
"""Hiragana after other letters: the ending of a word, and particles. Its first letter tells words apart."""
_CHARACTER = re.compile(f".[{SIGNS}]*", re.DOTALL)
"""A character as a reader counts them."""
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{SIGNS}])*")
"""Letters and digits, with the signs that belong to them."""
_ASCII_WORD = re.compile(r"[a-z0-9]+")
"""As `_WORD`, of a folded text of ASCII."""
_OTHER_FORMS = re.compile("[\ufb00-\ufb06\uff01-\uff9f]+")
"""Ligatures, letters of full and half width: other forms of what is written otherwise elsewhere."""
_FULL_WIDTH = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")
# Soft hyphens and joiners; the vowel points of Hebrew, Arabic and Syriac, and the Arabic stretch.
_UNREAD = re.compile(
    "[\u00ad\u200d\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u08d3-\u08e1\u08e3-\u08ff]"
)
"""What is written or left out at will, and would split words."""


def index_text(text: str) -> str:
    """The text as the keyword index is to read it; unchanged where there is nothing to rewrite.

    A run of n characters without spaces becomes its n-1 overlapping pairs and, last, its final
    character, so that every character begins a token and a query of a single character can look
    for tokens that begin with it.
    """
    if text.isascii():
        return text
    text = _unified(text)
    text = text.replace("ß", "ss").replace("ẞ", "SS")  # as case folding spells it in queries
    return as_indexed(_RUN.sub(lambda run: f" {' '.join(_pairs(run[0], last=True))} ", text))


def as_indexed(text: str) -> str:
    """A text of `split_words` as it stands in the index."""
    return stems(text).translate(_AS_LETTERS) if _REWRITTEN.search(text) else text


def split_words(text: str) -> list[str]:
    """Case-folded words of a text, in order: letters and digits, runs without spaces as pairs.

    A run of one character stays one character (see `is_single`).
    """
    text = text.casefold()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    text = _unified(text)
    found = _WORD.findall(text)
    if not _RUN.search(text):
        return found
    words: list[str] = []
    for word in found:
        if word.isascii():
            words.append(word)
            continue
        end = 0
        for run in _RUN.finditer(word):
            if run.start() > end:
                words.append(word[end : run.start()])
            words.extend(_pairs(run[0]))
            end = run.end()
        if end < len(word):
            words.append(word[end:])
    return words


def without_particles(text: str) -> str:
    """The text without what Japanese writes in Hiragana between words: "食べ 店" for "食べていた店"."""
    return text if text.isascii() else _INFLECTED.sub(r"\1 ", text)


def whole_words(text: str) -> list[str]:
    """The words of a text, in order, with runs of scripts without spaces as they are."""
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(_unified(text))


def _unified(text: str) -> str:
    """One spelling of what reads the same."""
    text = unicodedata.normalize("NFC", text)  # some keyboards write "ü" as u and two dots
    text = _OTHER_FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)
    return _UNREAD.sub("", text)


def plain_width(text: str) -> str:
    """The text with plain letters and digits in place of those of full width."""
    return _FULL_WIDTH.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)


def compared(word: str) -> str:
    """A word of `split_words` as it is compared with others: "zoe" for "zoë", a stem for a word of an
    inflecting language in another script than Latin."""
    return word if word.isascii() else without_marks(stems(word))


def without_marks(word: str) -> str:
    """Letters without accents and dots: "zoe" for "zoë"."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    bare = "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare)


def is_unspaced(text: str) -> bool:
    """Whether the text holds characters of a script written without spaces."""
    return not text.isascii() and _RUN.search(text) is not None


def is_single(word: str) -> bool:
    """Whether a word of `split_words` is a single character of such a script."""
    return is_unspaced(word) and _CHARACTER.fullmatch(word) is not None


def _pairs(run: str, *, last: bool = False) -> list[str]:
    """The pairs of a run; with the ``last`` character behind them, if asked for."""
    characters = _CHARACTER.findall(run)
    if len(characters) == 1:
        return characters
    pairs = [first + second for first, second in pairwise(characters)]
    return [*pairs, characters[-1]] if last else pairs
