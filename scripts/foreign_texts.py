"""The texts that the pieces of other languages learn from: translations that packages carry, and words.

A sentence of a program or of a description of a character stands in many languages, so it says what its words
mean: the piece of the other language is drawn to what the teacher makes of the English one. Bags of frequent
words, which the teacher reads itself, cover what programs do not speak of. None of it is a conversation.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

LANGUAGES = (
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "es", "et", "fa", "fi", "fr", "he",
    "hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv", "ms", "nb", "nl", "pl", "pt",
    "ro", "ru", "sk", "sl", "sr", "sv", "ta", "th", "tr", "uk", "ur", "vi", "zh",
)  # fmt: skip
TEACHERS = ("ar", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
"""Languages that the teacher reads."""
BAGS = 7_000
"""Of words, of each language that the teacher reads."""
VERSES = 2_000
"""Of scripture, of each language."""
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
    found: dict[str, dict[str, tuple[str, bool]]] = defaultdict(dict)

    def add(code: str, english: str, other: str, *, verse: bool = False) -> None:
        language, english, other = _language(code), _clean(english), _clean(other)
        if language and other != english and min(len(english), 2 * len(other)) > 1:
            found[language].setdefault(other[:LONGEST], (english[:LONGEST], verse))

    for file in sorted((root / "pip").rglob("*.po")):
        if code := _CATALOGUE.search(str(file)):
            for english, other in _catalogue(file):
                add(code[1], english, other)
    for code, english, other in _json(root):
        add(code, english, other)
    for code, english, other in _annotations(root / "npm"):
        add(code, english, other)
    quran = sorted((root / "npm").glob("quran-json/**/dist/quran_??.json"))
    verses = {file.stem[-2:]: _verses(file) for file in quran}
    for code, texts in verses.items():
        for place, other in texts.items():
            add(code, verses["en"][place], other, verse=True)
    for code, english, other in _calendar_and_places():
        add(code, english, other)

    chance = random.Random(0)
    kept: list[Pair] = []
    for language, texts in found.items():
        told = [
            (language, other, english) for other, (english, verse) in texts.items() if not verse
        ]
        kept += [one for one in told if "skin tone" not in one[2] or chance.random() < SKIN_TONES]
        told = [(language, other, english) for other, (english, verse) in texts.items() if verse]
        kept += chance.sample(told, min(len(told), VERSES))
    return kept


def bags(words: dict[str, list[str]]) -> list[str]:
    """Texts of one to eight frequent words of one language, which need not make sense."""
    import numpy as np

    chance, found = np.random.default_rng(1), list[str]()
    for language in TEACHERS:
        some = words.get(language, [])[:20_000]
        if not some:
            continue
        shares = 1 / (np.arange(len(some)) + 50.0) ** 0.7
        between = "" if language in ("ja", "zh") else " "
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
            file.parent.name: json.loads(file.read_text(encoding="utf-8"))[package]["annotations"]
            for file in sorted(folder.glob("*/annotations.json"))
        }
        for code, told in read.items():
            for character, one in told.items():
                english = read["en"].get(character, {})
                for kind in one.keys() & english.keys():
                    yield code, " ".join(english[kind]), " ".join(one[kind])


def _verses(file: Path) -> dict[tuple[int, int], str]:
    chapters = json.loads(file.read_text(encoding="utf-8"))
    return {
        (chapter["id"], verse["id"]): verse["translation"]
        for chapter in chapters
        for verse in chapter["verses"]
    }


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


def frequent_words(count: int) -> dict[str, list[str]]:
    """The most frequent words of each language that wordfreq knows."""
    from wordfreq import available_languages, top_n_list

    return {code: top_n_list(code, count) for code in sorted(available_languages("best"))}


def distinct(texts: Sequence[str]) -> list[str]:
    return sorted(set(texts))
