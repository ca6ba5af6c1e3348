"""Rules read; a model adds what it found beside them, as far as persons said it.

A model never switches the rules off, and is never believed alone: what both read is one fact, surer
than either; what only the model read waits. Confidence is that of the way it was read, never the
model's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langmemory.errors import ExtractionError
from langmemory.formation.batch import Batch
from langmemory.formation.duplicates import raise_confidence
from langmemory.formation.extraction.extractor import Extractor
from langmemory.formation.extraction.grounded import grounded
from langmemory.formation.rules import RuleExtractor
from langmemory.formation.wording import missing_words, wording
from langmemory.ports.facts import READ_IN_PART, Extraction, Fact
from langmemory.steps import Steps, awaiting, blocking, call

MODEL_CONFIDENCE: Final = 0.5
"""Of what a model alone read: about half of it was right, with the smallest ones."""


class CompletedExtractor:
    """Extraction by rules, completed by a model's.

    Args:
        model: Reads what the rules leave; a failure of its answers leaves the rules alone.
    """

    __slots__ = ("_model", "_rules")

    def __init__(self, model: Extractor) -> None:
        self._rules = RuleExtractor()
        self._model = model

    def _extract(self, batch: Batch, *, names: Sequence[str] = ()) -> Steps[Extraction]:
        """Do as `Extractor.extract`, but for answers that cannot be used: they are told as a failure."""
        rules: Extraction = yield call(self._rules, "extract", batch, names=names)
        try:
            read: Extraction = yield call(self._model, "extract", batch, names=names)
        except ExtractionError as error:
            return replace(
                rules, model_calls=error.model_calls, problem=f"ExtractionError: {error}"
            )
        found = grounded(read, batch, names)
        facts, more = list(rules.facts), list[Fact]()
        for fact in found.facts:
            at = next((at for at, one in enumerate(facts) if _says_it(one, fact)), None)
            if at is None:
                more.append(replace(fact, confidence=MODEL_CONFIDENCE, unconfirmed=True))
            else:
                facts[at] = _surer(facts[at], rules.facts[at])
        in_part = (one for one in rules.dropped if one != READ_IN_PART)  # the model was told, too
        return replace(found, facts=(*facts, *more), dropped=(*in_part, *found.dropped))

    extract, aextract = blocking(_extract), awaiting(_extract)


def _surer(fact: Fact, read: Fact) -> Fact:
    """A fact that a model read, too, however often."""
    return replace(fact, confidence=raise_confidence(read.confidence, MODEL_CONFIDENCE))


def _says_it(rule: Fact, fact: Fact) -> bool:
    """Whether a fact of the rules says all that a model's says, of a turn that both rest on."""
    if not set(rule.evidence) & set(fact.evidence) or rule.ends != fact.ends:
        return False
    mine, theirs = wording(fact.text, rule.language), wording(rule.text, rule.language)
    if (
        mine.negated != theirs.negated
        or not mine.numbers | mine.dates <= theirs.numbers | theirs.dates
    ):
        return False
    if not missing_words(mine.words | mine.names, theirs.words | theirs.names):
        return True
    same = {claim.relation: claim for claim in rule.claims[:1]}
    return any(same.get(claim.relation) == claim for claim in fact.claims[:1]) and (
        len(mine.words - theirs.words) <= 1
    )
