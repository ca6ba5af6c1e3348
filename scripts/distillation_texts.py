"""The texts that the embedded table learns from: WordNet, prose, and sentences made of its words.

Glosses tell what a word means and examples show it in use; prose (mail, speeches, a novel) has the
run of natural language; the sentences below put words into the first person, into questions and into
advice. None of it is a conversation that recall is tried on.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PARTS = ("noun", "verb", "adj", "adv")
SENTENCES = 60_000
"""Made of templates."""
PASSAGES = 8_000
"""Several of them about one thing: a table that only saw short texts ranks long ones badly."""
PROSE_SENTENCES = 60_000
PROSE_PARAGRAPHS = 15_000
SENTENCE, PARAGRAPH = range(13, 400), range(25, 1200)
"""Lengths, in characters."""
SHORTEST = 150
"""Of a paragraph that is worth reading whole."""
WORDS = 0.88
"""Share of letters and spaces in prose."""

TEMPLATES = Path(__file__).with_name("distillation_sentences.txt").read_text("utf-8").splitlines()


@dataclass(frozen=True, slots=True)
class Entry:
    """One meaning."""

    part: str
    words: tuple[str, ...]
    meaning: str
    examples: tuple[str, ...]


def texts(wordnet: Path, prose: Iterable[Path], vocabulary: list[str]) -> list[str]:
    """Every text once, in an order that says nothing; the same for the same sources.

    Args:
        wordnet: Folder of `data.noun`, `data.verb`, `data.adj` and `data.adv`.
        prose: Folders of `.txt` files.
        vocabulary: Tokens of the table. Those that are words are texts by themselves, and sentences
            are made of them alone: they are the frequent words.
    """
    chance = random.Random(0)
    whole = frozenset(word for word in vocabulary if word.isalpha() and len(word) > 2)
    entries = [entry for part in PARTS for entry in _entries(wordnet / f"data.{part}", part)]
    found = [word for word in vocabulary if word.isalnum()]
    for entry in entries:
        found.append(f"{', '.join(entry.words[:3])}: {entry.meaning}")
        found += entry.examples
        if len(entry.words) > 1:
            found.append(" ".join(entry.words[:3]))
    known = {
        part: [
            word for entry in entries if entry.part == part for word in entry.words if word in whole
        ]
        for part in PARTS
    }
    found += [_sentence(chance, known, chance.choice(known["noun"])) for _ in range(SENTENCES)]
    nouns = [entry for entry in entries if entry.part == "noun" and entry.words[0] in whole]
    for entry in chance.choices(nouns, k=PASSAGES):
        about = [_sentence(chance, known, entry.words[0]) for _ in range(chance.randint(2, 7))]
        found.append(" ".join([*about, *entry.examples, f"It is {entry.meaning}."]))
    paragraphs = [part for folder in prose for part in _paragraphs(folder)]
    sentences = [
        sentence
        for paragraph in paragraphs
        for sentence in re.split(r"(?<=[.!?])\s+", paragraph)
        if len(sentence) in SENTENCE
    ]
    found += chance.sample(sentences, PROSE_SENTENCES)
    found += chance.sample([one for one in paragraphs if len(one) > SHORTEST], PROSE_PARAGRAPHS)
    distinct = [text for text in dict.fromkeys(found) if text.strip()]
    chance.shuffle(distinct)
    return distinct


def _sentence(chance: random.Random, known: dict[str, list[str]], noun: str) -> str:
    words = {part: chance.choice(known[part]) for part in ("verb", "adj")}
    return chance.choice(TEMPLATES).format(noun=noun, other=chance.choice(known["noun"]), **words)


def _paragraphs(folder: Path) -> Iterator[str]:
    """Paragraphs of words, without headers, quotations, tables and the like."""
    for file in sorted(folder.rglob("*.txt")):
        for part in re.split(r"\n\s*\n", file.read_text(encoding="utf-8", errors="replace")):
            text = " ".join(part.split())
            words = sum(letter.isalpha() or letter == " " for letter in text)
            if len(text) in PARAGRAPH and words > WORDS * len(text):
                yield text


def _entries(data: Path, part: str) -> Iterator[Entry]:
    """The meanings of one file, whose format is described in WordNet's manual, wndb(5)."""
    for line in data.read_text(encoding="latin-1").splitlines():
        if line.startswith("  "):  # the licence
            continue
        head, _, gloss = line.partition(" | ")
        fields = head.split()
        names = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        pieces = [piece.strip() for piece in gloss.split(";")]
        yield Entry(
            part=part,
            words=tuple(re.sub(r"\(.*\)", "", name).replace("_", " ") for name in names),
            meaning="; ".join(piece for piece in pieces if not piece.startswith('"')),
            examples=tuple(piece.strip('" ') for piece in pieces if piece.startswith('"')),
        )
