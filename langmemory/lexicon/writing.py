"""How text is written into and looked up in the keyword index.

SQLite's ``unicode61`` tokenizer splits at spaces and punctuation, so a sentence of Chinese or
Japanese would be a single word that no query matches. Here such runs are rewritten as overlapping
pairs of characters, in Python, on both sides: about as good as a dictionary segmenter for ranking
(Kwok 1997, Nie et al. 2000; what Lucene's CJKAnalyzer does), and without a dictionary to ship.
"""

from __future__ import annotations

import re
import unicodedata

# Han with extensions A-H and compatibility, kana with their extensions, Hangul syllables, Bopomofo.
_UNSPACED = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_WORD = re.compile(r"[^\W_]+")


def index_text(text: str) -> str:
    """The text as the keyword index is to read it; unchanged where there is nothing to rewrite.

    A run of n characters without spaces becomes its n-1 overlapping pairs and, last, its final
    character, so that every character begins a token and a query of a single character can look
    for tokens that begin with it.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)  # some keyboards write "ü" as u and two dots
    text = text.replace("ß", "ss").replace("ẞ", "SS")  # as case folding spells it in queries
    return _RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} {run[0][-1]} ", text)


def split_words(text: str) -> list[str]:
    """Case-folded words of a text, in order: letters and digits, runs without spaces as pairs.

    A run of one character stays one character (see `is_single`).
    """
    words: list[str] = []
    text = text.casefold()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    for word in _WORD.findall(text):
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


def without_marks(word: str) -> str:
    """A word as the keyword index compares it: "zoe" for "zoë"."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    bare = "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare)


def is_unspaced(text: str) -> bool:
    """Whether the text holds characters of a script written without spaces."""
    return not text.isascii() and _RUN.search(text) is not None


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]
