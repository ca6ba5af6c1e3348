"""Labelled conversations, and the verdict on what was stored of one.

A memory is *right* where it has the words of a labelled fact, denies what the fact denies, and says nothing
that nobody said. A line that begins with who said it is no memory. Whatever else is stored is *wrong*, or
*invented* where a name, a number or most words stand in no person's turn. Labels are strict: read the listing
before you believe a figure.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from langmemory.formation.grounding import turned_round, unsupported_part
from langmemory.languages.spelling import normalised_text

FILE: Final = Path(__file__).parent / "conversations.toml"
Verdict = Literal["right", "also", "wrong", "invented"]
_DATE: Final = re.compile(r"\(\d{4}-\d\d(-\d\d)?\)")
"""As rules add it to a plan: derived from what was said."""


@dataclass(frozen=True)
class Label:
    """A fact that a careful reader would note."""

    texts: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    """Of each of them one must stand in a memory of the fact."""

    @classmethod
    def of(cls, line: str) -> Label:
        """Read "Nadia lives in Leeds. | Nadia moved to Leeds. = nadia leeds"."""
        texts, _, words = line.rpartition(" = ")
        one_of = (word.replace("_", " ").split("/") for word in words.split())
        return cls(
            tuple(texts.split(" | ")), tuple(tuple(map(normalised_text, each)) for each in one_of)
        )

    def is_in(self, text: str, language: str) -> bool:
        """Whether a text says so."""
        words = normalised_text(text)
        has_words = all(any(word in words for word in one_of) for one_of in self.words)
        return has_words and not turned_round(text, language, self.texts)


@dataclass(frozen=True)
class Conversation:
    """One labelled conversation."""

    id: str
    language: str
    turns: tuple[tuple[str, str], ...]
    """Speaker and words."""
    facts: tuple[Label, ...]
    also: tuple[Label, ...]
    """True, but nobody needs it."""
    private: tuple[str, ...]
    """Words that nobody but the speaker may read."""

    @cached_property
    def speaker(self) -> str:
        return self.turns[0][0]

    def judge(self, text: str) -> tuple[Verdict, tuple[Label, ...]]:
        """Return the verdict on a memory, and the facts that it tells."""
        of_persons = [f"{who}: {words}" for who, words in self.turns if who != "assistant"]
        labels = [one for one in (*self.facts, *self.also) if one.is_in(text, self.language)]
        sources = [*of_persons, *(text for one in labels for text in one.texts)]
        if unsupported_part(_DATE.sub("", text), self.language, sources):
            return "invented", ()
        has_head = any(text.startswith(f"{who}:") for who, _ in self.turns)
        if has_head or not labels:
            return "wrong", ()
        return ("right" if labels[0] in self.facts else "also"), tuple(labels)


def conversations(ids: Sequence[str] = ()) -> Iterator[Conversation]:
    """Yield the conversations whose id begins as one of these, or all."""
    for one in tomllib.loads(FILE.read_text("utf-8"))["conversations"]:
        if not ids or one["id"].startswith(tuple(ids)):
            yield Conversation(
                id=one["id"],
                language=one["language"],
                turns=tuple(
                    (who, words) for who, _, words in (t.partition(": ") for t in one["turns"])
                ),
                facts=tuple(map(Label.of, one["facts"])),
                also=tuple(map(Label.of, one["also"])),
                private=tuple(map(normalised_text, one.get("private", ()))),
            )
