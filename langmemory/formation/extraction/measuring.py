"""Which form of the prompt a chat model can follow, measured once by a few things said in each language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from langchain_core.language_models import BaseChatModel

from langmemory.chat_models import Form
from langmemory.errors import ExtractionError
from langmemory.formation.asking.asker import ANSWER_SECONDS
from langmemory.formation.batch import Batch, Turn
from langmemory.formation.extraction.extractor import Extractor, ModelExtractor
from langmemory.formation.extraction.grounded import grounded
from langmemory.formation.extraction.small import PROMPTS, SmallExtractor

LEAST: Final = 1 / 3
"""Share of the notes that a model must make to be asked at all."""
SPEAKER: Final = 3
OTHER: Final = 4
"""Places of the names that the talk has, in `SmallPrompt.names`: the example has others."""
_SAID_AT: Final = datetime(2026, 5, 4, 9, tzinfo=UTC)


@dataclass(kw_only=True, slots=True)
class FormResult:
    """What a model made of the trials in one form."""

    form: Form
    wanted: int = 0
    """Notes to be made."""
    right: int = 0
    """Of these, made and grounded."""
    left_out: int = 0
    """Notes that no person said."""
    unreadable: int = 0
    """Things said of which no answer could be read."""
    calls: int = 0
    seconds: float = 0.0


@dataclass(kw_only=True, slots=True)
class Measurement:
    """A model's results, and the form that follows from them."""

    forms: list[FormResult] = field(default_factory=list)

    @property
    def form(self) -> Form:
        """The full one where the model makes as many notes with it, and never loses its form."""
        full, small = self.forms
        if full.right >= max(small.right, LEAST * full.wanted) and not full.unreadable:
            return "full"
        return "small" if small.right >= LEAST * small.wanted else "none"


def measure(model: BaseChatModel, *, seconds: float = ANSWER_SECONDS) -> Measurement:
    """Ask a model about every trial in both forms.

    Raises:
        ModelUnavailableError: It could not be asked.
    """
    extractors: dict[Form, Extractor] = {
        "full": ModelExtractor(model, seconds=seconds),
        "small": SmallExtractor(model, seconds=seconds),
    }
    return Measurement(forms=[_measured(form, one) for form, one in extractors.items()])


def _measured(form: Form, extractor: Extractor) -> FormResult:
    result = FormResult(form=form)
    for batch, tells in _trials():
        result.wanted += len(tells)
        begun = monotonic()
        try:
            read = extractor.extract(batch)
        except ExtractionError as error:
            result.unreadable += 1
            result.calls += error.model_calls
        else:
            result.calls += read.model_calls
            found = grounded(read, batch)
            texts = [fact.text.casefold() for fact in found.facts]
            result.right += sum(
                any(all(word in text for word in told.casefold().split()) for text in texts)
                for told in tells
            )
            result.left_out += len(found.dropped)
        result.seconds += monotonic() - begun
    return result


def _trials() -> Iterator[tuple[Batch, list[str]]]:
    for code, asked in PROMPTS.items():
        speaker, other = asked.names[SPEAKER], asked.names[OTHER]
        for number, trial in enumerate(asked.trials):
            turn = Turn(
                key=f"{code}/{number}",
                text=trial.said.format(other=other),
                role="user",
                speaker=speaker,
                said_at=_SAID_AT,
            )
            batch = Batch(namespace=("trial",), thread_id=code, turns=(turn,))
            yield batch, [told.format(other=other) for told in trial.tells]
