"""Procedures: how something is done, step by step, and how it went when it was done so.

A procedure is a memory of kind ``procedural`` whose value has a task, steps and preconditions, and counts
of outcomes. What stands here is plain: values in, values out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, Literal, Self, get_args

from langmemory.errors import ConfigError
from langmemory.languages import WordOrder, detect_language, keyword_terms, split_words
from langmemory.timestamps import moment
from langmemory.types import Memory, Namespace, Priority, Privacy, Status

KEYS: Final = "procedure/"
"""Begin the keys of procedures."""
AFTER_KEYS: Final = KEYS[:-1] + chr(ord(KEYS[-1]) + 1)
"""The first key behind theirs."""
MOST_STEPS: Final = 30
MOST_CHARACTERS: Final = 400
"""Of a task, a step or a precondition."""

Source = Literal["person", "run", "agent"]
"""Whom a procedure is from: a person or the application said it, a model read it from a run of tools that
ended well, or an agent noted it."""
Outcome = Literal["succeeded", "failed"]

_ENDINGS: Final = frozenset({"", "e", "s", "es", "ed", "ing", "en", "n", "t", "st"})
"""By which two forms of a word may differ."""
_SHORTEST: Final = 3
"""Letters that two forms of a word share."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of a procedure."""

    text: str
    tool: str | None = None
    """The tool it is done with, where that is known."""

    @property
    def value(self) -> dict[str, Any]:
        """The step as it is stored."""
        return {"text": self.text, **({"tool": self.tool} if self.tool else {})}


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcomes:
    """How often a procedure was followed, and what came of it."""

    succeeded: int = 0
    failed: int = 0
    last_used: datetime | None = None
    last_failure: str | None = None
    """Why it failed the last time, in a few words."""

    @property
    def uses(self) -> int:
        return self.succeeded + self.failed

    @property
    def fails_more(self) -> bool:
        """Whether it failed more often than it succeeded."""
        return self.failed > self.succeeded

    @property
    def words(self) -> str:
        """The counts as a prompt and a list say them; empty where it was never followed."""
        if not self.uses:
            return ""
        if self.fails_more:
            why = f", last: {self.last_failure}" if self.last_failure else ""
            return f"failed {self.failed} of {self.uses} times{why}"
        return f"worked {self.succeeded} of {self.uses} times"


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A procedure that is to be kept: new, or another word on one that is known.

    Raises:
        ConfigError: It says not what is done, or has no steps; a text is empty or too long.
    """

    task: str
    steps: tuple[Step, ...]
    preconditions: tuple[str, ...] = ()
    source: Source = "person"
    owner: str | None = None
    privacy: Privacy = "shared"
    evidence: tuple[str, ...] = ()
    """Keys of the turns it comes from."""
    same_as: str | None = None
    """Key of the procedure it speaks of, where that is known. None: the one of the same task."""
    in_order: bool = False
    """It says only in which order these steps come: steps known besides them stay."""

    def __post_init__(self) -> None:
        texts = {"task": [self.task], "step": [one.text for one in self.steps]}
        for name, found in {**texts, "precondition": self.preconditions}.items():
            for text in found:
                if not text.strip() or len(text) > MOST_CHARACTERS:
                    raise ConfigError(
                        f"A {name} is {text!r:.80}; it needs 1 to {MOST_CHARACTERS} characters."
                    )
        if not 0 < len(self.steps) <= MOST_STEPS:
            raise ConfigError(
                f"The procedure {self.task!r:.80} has {len(self.steps)} steps; pass 1 to {MOST_STEPS}."
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Procedure:
    """How something is done, and how it went."""

    namespace: Namespace
    key: str
    task: str
    """The thing that is done: "deploy the website"."""
    steps: tuple[Step, ...]
    preconditions: tuple[str, ...] = ()
    """What must be so before."""
    outcomes: Outcomes = field(default_factory=Outcomes)
    source: Source = "person"
    version: int = 1
    """Grows by one with every change of the steps."""
    priority: Priority = "guardrail"
    """As it is shown: a guardrail, or a reference while `standing` says so."""
    status: Status = "active"
    owner: str | None = None
    privacy: Privacy = "shared"
    superseded_by: str | None = None
    updated_at: datetime | None = None
    why: str = ""
    """Why it is shown as it is: "it worked 3 of 4 times"."""

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """Return the procedure that a memory is.

        Raises:
            ConfigError: It is none, see `is_procedure`.
        """
        value = memory.value
        if not is_procedure(value):
            raise ConfigError(f"{memory.key!r} in {memory.namespace} is no procedure with steps.")
        outcomes = _outcomes(value)
        source: Source = value["source"] if value.get("source") in get_args(Source) else "person"
        return cls(
            namespace=memory.namespace,
            key=memory.key,
            task=value["task"],
            steps=steps_of(value["steps"]),
            preconditions=tuple(map(str, value.get("preconditions") or ())),
            outcomes=outcomes,
            source=source,
            version=int(value.get("version", 1)),
            priority=memory.priority,
            status=memory.status,
            owner=memory.owner,
            privacy=memory.privacy,
            superseded_by=memory.superseded_by,
            updated_at=memory.updated_at,
            why=standing(source, outcomes)[1],
        )

    @property
    def text(self) -> str:
        """Task, steps and preconditions in one line, as it is found and shown."""
        return text_of(self.task, self.steps, self.preconditions)

    @property
    def standing(self) -> tuple[Priority, str]:
        """The priority that its outcomes give it, and why."""
        return standing(self.source, self.outcomes)

    @property
    def value(self) -> dict[str, Any]:
        """The value that is stored."""
        found: dict[str, Any] = {
            "text": self.text,
            "task": self.task,
            "steps": [one.value for one in self.steps],
            "preconditions": list(self.preconditions),
            "source": self.source,
            "version": self.version,
            "succeeded": self.outcomes.succeeded,
            "failed": self.outcomes.failed,
        }
        if self.outcomes.last_used is not None:
            found["last_used"] = self.outcomes.last_used.isoformat()
        if self.outcomes.last_failure is not None:
            found["last_failure"] = self.outcomes.last_failure
        if self.privacy != "shared":
            found |= {"owner": self.owner, "privacy": self.privacy}
        return found


def is_procedure(value: Mapping[str, Any]) -> bool:
    """Return whether a value is a procedure with steps, and no rule in a sentence."""
    steps = value.get("steps")
    return isinstance(value.get("task"), str) and isinstance(steps, list) and bool(steps)


def standing(source: Source, outcomes: Outcomes) -> tuple[Priority, str]:
    """Return the priority that its outcomes give a procedure, and why.

    A guardrail is followed where it applies; a reference is background. What failed more often than it
    succeeded is background, and so is what an agent noted until it has worked once.
    """
    if outcomes.fails_more:
        return "reference", f"it {outcomes.words}"
    if source == "agent" and not outcomes.succeeded:
        return "reference", "an agent noted it, and it has not worked yet"
    if outcomes.uses:
        return "guardrail", f"it {outcomes.words}"
    return "guardrail", "a person said so" if source == "person" else "a run ended well so"


def text_of(task: str, steps: Sequence[Step], preconditions: Sequence[str] = ()) -> str:
    """Return a procedure in one line: ``deploy the site (needs: green CI): 1. run the tests; 2. push``."""
    needs = f" (needs: {'; '.join(preconditions)})" if preconditions else ""
    numbered = "; ".join(f"{number}. {one.text}" for number, one in enumerate(steps, 1))
    return f"{task}{needs}: {numbered}"


def record(value: Mapping[str, Any]) -> str:
    """Return the outcomes of a stored procedure in words; empty for anything else."""
    return _outcomes(value).words if is_procedure(value) else ""


def as_steps(steps: Iterable[str | Step]) -> tuple[Step, ...]:
    """Return steps, of which some may be texts.

    Raises:
        ConfigError: They are one text, or something else.
    """
    if isinstance(steps, str):
        raise ConfigError(f"The steps are the text {steps!r:.80}; pass a list with one text each.")
    found = []
    for one in steps:
        if not isinstance(one, str | Step):
            raise ConfigError(f"A step is {one!r:.80}; pass a text or a Step.")
        found.append(one if isinstance(one, Step) else Step(text=" ".join(one.split())))
    return tuple(found)


def steps_of(stored: Iterable[Any]) -> tuple[Step, ...]:
    """Return the steps of a stored value; a text is a step, too."""
    return tuple(
        Step(text=str(one.get("text", "")), tool=one.get("tool"))
        if isinstance(one, Mapping)
        else Step(text=str(one))
        for one in stored
    )


def same_words(text: str, other: str) -> bool:
    """Return whether two texts have the same telling words, endings aside, and none is the other turned
    round: "copy A to B", "copy B to A"."""
    words, others = _telling(text), _telling(other)
    alike = len(words) == len(others) and all(
        any(same_word(word, one) for one in others) for word in words
    )
    return alike and _order(text).follows(_order(other))


@lru_cache(maxsize=4096)
def _order(text: str) -> WordOrder:
    return WordOrder.of(text, detect_language(text).code)


class Named:
    """Which tasks a text names: those all of whose telling words it has, endings and order aside."""

    __slots__ = ("_words",)

    def __init__(self, text: str) -> None:
        self._words: dict[str, list[str]] = {}
        for word in split_words(text):
            self._words.setdefault(word[:_SHORTEST], []).append(word)

    def __contains__(self, task: str) -> bool:
        return all(
            any(same_word(one, word) for word in self._words.get(one[:_SHORTEST], ()))
            for one in _telling(task)
        )


def same_steps(steps: Sequence[Step], others: Sequence[Step]) -> bool:
    """Return whether two procedures do the same in the same order."""
    return len(steps) == len(others) and all(
        same_words(one.text, other.text) for one, other in zip(steps, others, strict=True)
    )


def names_tool(step: Step, tool: str) -> bool:
    """Return whether a step is done with a tool: the one it names, else one of whose name it has all
    words, as "run the tests" has of ``run_tests``."""
    if step.tool is not None:
        return step.tool == tool
    words = split_words(step.text)
    named = split_words(tool.replace("_", " "))
    return bool(named) and all(any(same_word(one, word) for word in words) for one in named)


@lru_cache(maxsize=4096)
def _telling(text: str) -> tuple[str, ...]:
    return keyword_terms(text) or tuple(split_words(text))


def same_word(word: str, other: str) -> bool:
    """Return whether two words are forms of one."""
    if word == other:
        return True
    shared = next(
        (n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b),
        min(len(word), len(other)),
    )
    return shared >= _SHORTEST and {word[shared:], other[shared:]} <= _ENDINGS


def _outcomes(value: Mapping[str, Any]) -> Outcomes:
    why = value.get("last_failure")
    return Outcomes(
        succeeded=_count(value.get("succeeded")),
        failed=_count(value.get("failed")),
        last_used=moment(value.get("last_used")),
        last_failure=why if isinstance(why, str) else None,
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value is not True and value > 0 else 0
