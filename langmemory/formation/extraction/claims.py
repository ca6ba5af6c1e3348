"""The claims of a model's entry, as far as its sentence and the words it rests on go.

Small models claim what a sentence plans, supposes or remembers as if it were so, and forget the flags
for it. So each claim is read in its sentence (`polarity`), then in what was said, and written under the
relation that says how it is meant: ``no_longer_``, ``planned_``, ``at_times_``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from langmemory.formation.entities.roles import person_words
from langmemory.formation.extraction.answers import AnswerClaim, AnswerFact, Holds
from langmemory.formation.extraction.polarity import Polarity, polarity
from langmemory.formation.relations.vocabulary import (
    AT_TIMES,
    BY_NAME,
    PLANNED,
    relation_named,
    snake,
)
from langmemory.formation.statements import cues
from langmemory.ports.facts import Claim, Implied
from langmemory.types import NO_LONGER

_CAPITAL = "A-ZÀ-ÖØ-Þ"
_AS_MEANT: dict[Holds, Polarity] = {
    "past": "past", "planned": "wished", "supposed": "supposed", "for_a_time": "passing",
    "denied": "denied",
}  # fmt: skip
_ENDS = ("over", "past", "denied")


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """The claims of an entry."""

    claims: tuple[Claim, ...] = ()
    """As the model has them, the main one first."""
    ends: bool = False
    """Every claim says what is over."""
    implied: Implied | None = None
    """See `Fact.implied`."""
    over: bool = False
    """Words say that something ended, which was so until then."""


def claims_of_entry(
    entry: AnswerFact, text: str, speaker: str | None, language: str, spoken: Sequence[str]
) -> Claimed:
    """The claims of a fact as far as its text goes.

    Args:
        entry: as the model told it.
        text: of the fact.
        speaker: of its turns; None where several may be.
        language: BCP 47 of the text.
        spoken: what persons said in these turns.
    """
    found: list[tuple[Claim, Polarity]] = []
    for each in entry.claims:
        claim = _claim(each, speaker)
        if claim is None:
            continue
        claim, turned = _straight(claim)
        found.append((claim, turned or _polarity_of_claim(entry, claim, text, language, spoken)))
        if found[-1][1] == "holds":
            found += [(one, "denied") for one in _instead(claim, text)]
    dead = _dead(text, entry, [claim for claim, _ in found], speaker)
    if dead is not None:
        return Claimed(claims=(dead,))
    return _resolve_polarity(entry, found)


def _resolve_polarity(entry: AnswerFact, found: Sequence[tuple[Claim, Polarity]]) -> Claimed:
    """Where all of it is over, the claims say what is, and the fact that it is; else each says so."""
    said = [(claim, as_said) for claim, as_said in found if as_said not in ("unsaid", "supposed")]
    stances = {as_said for _, as_said in said}
    over = {*_ENDS, "off"}
    mixed = bool(stances & over) and bool(stances - over - {"untold"})
    whole = entry.ends or (bool(stances) and stances <= over)
    implied: Implied | None = None
    if not (entry.ends or stances & {"over", "off"}):
        implied = "denied" if "denied" in stances else "past" if "past" in stances else None
    if (whole and not mixed and "off" not in stances) or (entry.ends and not said):
        return Claimed(
            claims=tuple(dict.fromkeys(claim for claim, _ in said)),
            ends=True,
            implied=implied,
            over="over" in stances and "denied" not in stances,
        )
    return Claimed(
        claims=tuple(
            dict.fromkeys(
                one for claim, as_said in said for one in _as_meant(claim, as_said, entry.ends)
            )
        ),
        implied=implied,
    )


def _as_meant(claim: Claim, as_said: Polarity, ends: bool) -> tuple[Claim, ...]:
    """A claim under the relation that says how it is meant; what was called off and the model says to
    be over may have been told as a plan, or as what is."""
    if as_said == "off":
        off = _as_ended_claim(claim, planned=True)
        return (_as_ended_claim(claim), off) if ends else (off,)
    if as_said in _ENDS:
        return (_as_ended_claim(claim),)
    if as_said == "wished":
        return (_under(PLANNED, claim),)
    return (_under(AT_TIMES, claim),) if as_said == "passing" else (claim,)


def _polarity_of_claim(
    entry: AnswerFact, claim: Claim, text: str, language: str, spoken: Sequence[str]
) -> Polarity:
    """How a claim is meant: by its sentence, by what the model says of it, by what was said."""
    relation = relation_named(claim.relation)
    if relation.to_assistant:  # which is a wish by itself
        return "holds"
    read = polarity(text, claim.subject, claim.relation, claim.object, language=language)
    if entry.kind == "plan" and read in ("past", "passing"):
        return "holds"
    meant = _AS_MEANT.get(entry.holds)
    if read in ("holds", "untold") and meant is not None and relation.holds:
        read = meant if meant != "passing" or relation.is_single else read
    for said in spoken if read in ("holds", "untold") and entry.kind != "plan" else ():
        heard = polarity(said, "", claim.relation, claim.object, language=language)
        if heard == "denied" and _begins(cues().averse_names, relation.name):
            continue  # "without nuts, please" is the aversion
        if read == "holds" and relation.timeless and heard in ("wished", "supposed", "passing"):
            continue  # "my sister might come" says whose sister she is
        if heard in ("wished", "supposed", "passing", "over", "denied", "off"):
            return heard
    return read


def _straight(claim: Claim) -> tuple[Claim, Polarity | None]:
    """A claim without the negation in its relation or object, and what that says of it:
    "does_not_live_in" denies "lives_in"."""
    name = snake(claim.relation)
    known = relation_named(name).name in BY_NAME
    for begins, says in ((cues().over_names, "over"), (cues().denied_names, "denied")):
        found = _begins(begins, name, "_")
        if found is not None and not known and not name.startswith((NO_LONGER, PLANNED)):
            rest = name[found.end() :]
            first, _, others = rest.partition("_")
            forms = (rest, *(f"{first}{end}_{others}".rstrip("_") for end in ("s", "es")))
            plain = next((one for one in forms if relation_named(one).name in BY_NAME), rest)
            if plain:
                return replace(claim, relation=plain), "over" if says == "over" else "denied"
    if name.startswith(NO_LONGER):
        return replace(claim, relation=name.removeprefix(NO_LONGER)), "over"
    over = _begins(cues().over_objects, claim.object, r"\s+(?=\S)")
    negated = over or _begins(cues().denied_objects, claim.object, r"\s+(?=\S)")
    if negated is not None:
        return replace(claim, object=claim.object[negated.end() :]), "over" if over else "denied"
    return claim, None


def _begins(patterns: tuple[str, ...], text: str, end: str = "") -> re.Match[str] | None:
    """Return how a text begins with one of the patterns, whatever the case."""
    return re.match(rf"(?:{'|'.join(patterns)}){end}", text, re.IGNORECASE)


def _instead(claim: Claim, text: str) -> Iterable[Claim]:
    """Claims that a text denies beside another: "lives in Ulm, not in Bonn"."""
    at = text.casefold().find(claim.object.casefold())
    if at < 0 or not claim.object:
        return
    begins, lead, and_ = map("|".join, (cues().not_objects, cues().before_objects, cues().and_))
    found = re.match(
        rf"[,;]?\s+(?:(?:{and_})\s+)?(?:{begins})\s+(?:(?:{lead})\s+)*"
        rf"(?P<other>\w[\w'’&.-]*(?:\s+[{_CAPITAL}\d][\w'’&.-]*){{0,3}})",
        text[at + len(claim.object) :],
    )
    if found is not None:
        yield replace(claim, object=found["other"].rstrip(".,;"))


def _dead(
    text: str, entry: AnswerFact, claims: Sequence[Claim], speaker: str | None
) -> Claim | None:
    """The claim that somebody is dead, where that is what a text says; whatever else is claimed of
    them beside it was so before."""
    names = {claim.subject for claim in claims}
    names |= {claim.object for claim in claims if claim.object_is_entity}
    for claim in claims:
        if relation_named(claim.relation).name in ("died_on", "has_died"):
            return None
        if snake(claim.object) in cues().death:
            return replace(claim, relation="has_died", object="true", object_is_entity=False)
    names |= set(re.findall(rf"\b[{_CAPITAL}][\w-]+", text))
    for name in sorted(names, key=len, reverse=True):
        dead = rf"(?:{'|'.join(cues().dead)})\b"
        found = re.search(rf"(?<!\w){re.escape(name)}(?:, [^,]+,)? {dead}", text)
        if found is not None and name.casefold() not in person_words().speaker and name != speaker:
            when = entry.time_words
            relation = "died_on" if when else "has_died"
            return Claim(
                subject=name, relation=relation, object=when or "true", object_is_entity=False
            )
    return None


def _as_ended_claim(claim: Claim, *, planned: bool = False) -> Claim:
    """A claim that what another says is over; one that says so by its relation says it already."""
    relation = relation_named(claim.relation)
    if relation.ends is not None or claim.relation.startswith(NO_LONGER):
        return claim
    claim = _under(PLANNED, claim) if planned else claim
    return replace(claim, relation=NO_LONGER + claim.relation)


def _under(prefix: str, claim: Claim) -> Claim:
    if claim.relation.startswith(prefix):
        return claim
    return replace(claim, relation=prefix + claim.relation)


def _claim(entry: AnswerClaim, speaker: str | None) -> Claim | None:
    """The claim with the speaker's name; None if it is about a pronoun, or about the speaker where
    several may be, or says of somebody what they are to themselves."""

    def named(name: str) -> str | None:
        return speaker if name.casefold() in person_words().speaker else name

    subject, target = named(entry.subject), named(entry.object)
    if subject is None or target is None or subject.casefold() == target.casefold():
        return None
    if {subject.casefold(), target.casefold()} & cues().pronouns:
        return None
    return Claim(
        subject=subject,
        relation=entry.relation,
        object=target,
        object_is_entity=entry.object_is_entity,
    )
