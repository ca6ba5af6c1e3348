"""What else is over, or may be, when something ends or begins: as data, one row each.

Only what cannot go on is sure. Of anything else a person is asked, because a wrong end loses what is
true: who changes the employer has another boss, and may well have the same occupation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Consequence:
    """What follows for other facts about the subject of a claim."""

    when: tuple[str, ...]
    """Relations of the claim."""
    of: Literal["end", "beginning"]
    """Whether it follows from the claim's end, or from its beginning."""
    over: tuple[str, ...] = ()
    """Relations of facts that are over with it."""
    doubtful: tuple[str, ...] = ()
    """Relations of facts that are asked about."""
    either: bool = False
    """Also facts that claim it of others with the subject as their object: "Lena has a dog, Rex"."""
    together: bool = False
    """Only facts about the same two."""
    within: str | None = None
    """Only as far as the subject has nothing else under this relation that goes on: of two jobs, one
    that ends leaves open which of them a boss belongs to."""
    unless: frozenset[str] = frozenset()
    """Objects of the claim from which nothing follows."""


CONSEQUENCES: Final[tuple[Consequence, ...]] = (
    Consequence(
        when=("died_on", "has_died"),
        of="beginning",
        over=(
            "has_pet", "married_to", "engaged_to", "partner_of", "lives_with", "lives_in", "address",
            "works_at", "works_as", "workplace", "working_hours", "reports_to", "colleague_of",
            "studies_at", "studies", "neighbour_of", "flatmate_of", "landlord_of", "teacher_of",
            "has_doctor", "member_of", "takes_medication", "has_vehicle", "has_phone", "age",
        ),
        doubtful=("owns", "plans", "has_goal", "has_condition"),
        either=True,
    ),
    Consequence(
        when=("works_at",),
        of="end",
        over=("reports_to",),
        doubtful=("works_as", "colleague_of", "workplace", "working_hours"),
        either=True,
        within="works_at",
    ),
    Consequence(
        when=("lives_in",),
        of="end",
        over=("address",),
        doubtful=("flatmate_of", "landlord_of", "neighbour_of", "rent"),
        either=True,
        within="lives_in",
    ),
    Consequence(
        when=("studies_at",), of="end", doubtful=("studies", "teacher_of"), either=True,
        within="studies_at",
    ),
    Consequence(
        when=("married_to", "partner_of", "engaged_to"), of="end", doubtful=("lives_with",),
        together=True,
    ),
    Consequence(
        when=("divorced_from", "separated_from"), of="beginning",
        doubtful=("marital_status",),
    ),
    Consequence(when=("divorced_from", "separated_from"), of="beginning",
                doubtful=("lives_with", "married_to", "partner_of", "engaged_to"), together=True),
    Consequence(
        when=("married_to",), of="beginning",
        doubtful=("marital_status",),
    ),
    Consequence(
        when=("marital_status",), of="beginning",
        doubtful=("married_to", "engaged_to", "partner_of"),
        unless=frozenset({"married", "verheiratet", "casado", "casada", "engaged", "in a relationship"}),
    ),
)  # fmt: skip
