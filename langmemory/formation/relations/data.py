"""The relations formation knows by name, and what each language calls them.

``relations.toml`` has one table for each relation; its phrases and the words of questions for it stand
in ``languages/<code>/relations.toml``. A phrase stands for one relation only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from langmemory.formation.relations.relation import Relation, snake
from langmemory.languages import Topic
from langmemory.languages.tables import read


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationWords:
    """Words of one language for relations, by the relation's name."""

    frame: frozenset[str] = frozenset()
    """Words that ask what something is called, or whether now or before."""
    favourite: frozenset[str] = frozenset()
    """Words that ask for what somebody likes best."""
    first_person: frozenset[str] = frozenset()
    """Verbs by which somebody speaks of themselves without a pronoun."""
    phrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What people and models write for the relation, without auxiliary words in front."""
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words of questions for it, from whom the question names to the answer."""
    several: Mapping[str, str] = field(default_factory=dict)
    """Phrases of questions to the relations that they ask for, whatever their words ask for alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    relations: tuple[Relation, ...]


WORDS: Final[Mapping[str, RelationWords]] = Topic(RelationWords, "relations")


def _relations() -> tuple[Relation, ...]:
    known = read(_Known, Path(__file__).with_name("relations.toml")).relations
    return tuple(
        replace(
            relation,
            phrases=frozenset(
                snake(phrase)
                for words in WORDS.values()
                for phrase in words.phrases.get(relation.name, ())
            ),
        )
        for relation in known
    )


RELATIONS: Final[tuple[Relation, ...]] = _relations()
