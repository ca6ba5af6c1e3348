"""What an evaluation is run on: conversations, their turns, and questions with known evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Literal

CorpusKind = Literal["dialogue", "documents"]
"""Turns that follow each other and are spoken, or texts that stand alone."""

APART = frozenset({"adversarial"})
"""Categories reported by themselves and never pooled: their questions have no true answer, the
evidence is only the turn they were twisted from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One message of a conversation, or one document. Its id is known to the evaluation only."""

    id: str
    """Unique within its conversation."""
    text: str
    speaker: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What a model noted down while reading a session."""

    text: str
    evidence: tuple[str, ...]
    """Ids of the turns it rests on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """Turns said in one sitting."""

    id: str
    """Unique within its conversation."""
    turns: tuple[Turn, ...]
    at: datetime | None = None
    """When it began, timezone-aware; None when unknown."""
    observations: tuple[Observation, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """Sessions in order of time: what one search ranges over."""

    id: str
    sessions: tuple[Session, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for session in self.sessions for turn in session.turns)

    @property
    def session_of(self) -> dict[str, str]:
        """Session id by turn id."""
        return {turn.id: session.id for session in self.sessions for turn in session.turns}


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question to one conversation and the turns that answer it."""

    id: str
    conversation: str
    text: str
    category: str
    evidence: Mapping[str, float]
    """Gain (> 0, usually 1) by id of a turn that exists in the conversation."""
    missing: tuple[str, ...] = ()
    """Evidence the data names that is no turn of the conversation: reported, never scored."""

    @classmethod
    def resolve(
        cls,
        *,
        id: str,
        conversation: str,
        text: str,
        category: str,
        evidence: Mapping[str, float],
        turn_ids: AbstractSet[str],
    ) -> Question:
        """The question with its evidence parted into turns that exist and ids that do not."""
        return cls(
            id=id,
            conversation=conversation,
            text=text,
            category=category,
            evidence=MappingProxyType({k: v for k, v in evidence.items() if k in turn_ids}),
            missing=tuple(k for k in evidence if k not in turn_ids),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """A whole data set."""

    name: str
    kind: CorpusKind
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]
    tuning: frozenset[str] = frozenset()
    """Ids of the conversations constants may be chosen on; empty: nothing is held out."""

    @property
    def scored(self) -> tuple[Question, ...]:
        """The questions with at least one existing piece of evidence."""
        return tuple(question for question in self.questions if question.evidence)

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the categories, sorted, the ones that are reported apart at the end."""
        names = {question.category for question in self.questions}
        return (*sorted(names - APART), *sorted(names & APART))

    def limited(self, count: int) -> Corpus:
        """The corpus with `count` of its questions, evenly spread over all of them."""
        total = len(self.questions)
        if count >= total:
            return self
        picked = tuple(self.questions[i * total // count] for i in range(count))
        return replace(self, questions=picked)

    def with_tuning(self, tuning: Sequence[str]) -> Corpus:
        """The corpus with other tuning conversations.

        Raises:
            ValueError: no such conversation.
        """
        known = {conversation.id for conversation in self.conversations}
        if unknown := sorted(set(tuning) - known):
            raise ValueError(
                f"no conversation called {', '.join(unknown)} in {self.name}; "
                f"it has {', '.join(sorted(known))}"
            )
        return replace(self, tuning=frozenset(tuning))
