"""A retraction in a scripted model's answer ends its fact or opens a review; nothing else does.

The sentences of a relation are made of its verb, so that each relation meets several ways; `NATURAL`
holds what cannot be made so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.formation.retold import Line, Retelling, line, told
from tests.tables import tables

CASES = tables(__file__)


@dataclass(frozen=True, kw_only=True)
class Retraction:
    name: str
    known: Line
    said: str
    """The turns that take the fact back."""
    lines: tuple[Line, ...]
    beside: tuple[Line, ...] = ()
    """Known besides, which must stay."""
    stays: bool = False
    """The sentence takes nothing back: what is known has to hold on."""
    also: tuple[Line, ...] = field(default=())
    """Known besides, which has to end or to be asked about as well."""


_ROWS = CASES["rows"]

BYSTANDERS = CASES["bystanders"]
"""Known beside every fact that is taken back, of the same person and of others."""


def _past(verb: str, base: str) -> str:
    irregular = {
        "have": "had", "drive": "drove", "take": "took", "speak": "spoke", "know": "knew",
        "go": "went", "come": "came", "sing": "sang", "pay": "paid", "study": "studied", "hate": "hated",
    }  # fmt: skip
    if not base:
        return "was"
    return irregular.get(base, base + ("d" if base.endswith("e") else "ed"))


def _ways(row: tuple[str, str, str, str, str]) -> Iterator[tuple[str, Line] | None]:
    """Each way to take a fact back; None where its verb cannot."""
    claim, third, base, ing, rest = row
    subject, relation, about = (part.strip() for part in claim.split(">"))
    denied = f"does not {base} {rest}" if base else f"{third} not {rest}"
    gone = f"no longer {third} {rest}" if base else f"{third} no longer {rest}"
    mine = (
        f"I do not {base} {rest}" if base else f"I {'was' if third == 'was' else 'am'} not {rest}"
    )
    over = third == "was"  # it was so or never: it cannot end

    def way(said: str, text: str, *claims: str, **flags: Any) -> tuple[str, Line]:
        return f"{said}.", line(" | ".join((f"{text}.", *(claims or (claim,)))), **flags)

    yield None if over else way(f"{mine} any more", f"Lena {gone}", ends=True)
    yield way(f"No, {mine}", f"Lena {denied}", corrects=True)
    yield None if over else way(f"{mine} any longer", f"Lena {gone}")
    yield way(f"Actually, {mine}", f"Lena {denied}")
    yield None if over else way(f"{mine} anymore", f"Lena {denied} anymore", kind="event")
    yield way(f"That was wrong, {mine}", f"Lena {denied}", corrects="true", ends=True)
    yield way(
        f"It is not true that I {base or 'am'} {rest}",
        f"It is not true that Lena {third} {rest}", corrects=True,
    )  # fmt: skip
    yield way(f"No longer, {mine}", f"Lena {denied}",
              f"{subject} > no_longer_{relation} > {about}")  # fmt: skip
    negated = "does_not_" if base else f"{third}_not_"
    first = rest.partition(" ")[0]
    of = f"_{first}" if first in ("in", "at", "as", "to", "with", "from", "by", "for") else ""
    short = f"{base}{of}" if base else relation
    yield way(f"{mine}, sorry", f"Lena {denied}", f"{subject} > {negated}{short} > {about}")
    yield (
        None
        if over
        else way(f"I used to, but {mine} now", f"Lena used to {base or 'be'} {rest}", ends=True)
    )
    yield way(f"Sorry, {mine}", f"Lena {denied}",
              f"{subject} > {relation} > {about[0] if about[0] == '=' else ''}not {about.strip('=')}",
              corrects=True)  # fmt: skip
    yield (
        None
        if over or not ing
        else way(f"I stopped {ing} {rest}", f"Lena stopped {ing} {rest}", kind="event")
    )
    yield way(f"{mine}", f"Lena {denied}", f"{subject} > {relation} > {about}", ends="yes")
    yield (
        None
        if over
        else way(
            f"That is over, {mine}", f"Lena {_past(third, base)} {rest} in the past", ends=True
        )
    )
    yield f"No, {mine}.", line(f"Lena {denied}.", corrects=True)  # without a claim


def _made() -> Iterator[Retraction]:
    for number, row in enumerate(_ROWS):
        ways = list(_ways(row))
        known = f"Lena {row[1]} {row[4]}. | {row[0]}"
        picked = 0
        for step in range(len(ways)):
            at = (number * 4 + step) % len(ways)
            way = ways[at]
            if way is None or picked == 3:
                continue
            picked += 1
            said, told = way
            relation = row[0].split(">")[1].strip()
            yield Retraction(name=f"{relation} {at}", known=known, said=said, lines=(told,))


MADE = tuple(_made())


INITECH = "Lena works at Initech. | Lena > works_at > Initech"
KIEL = "Lena lives in Kiel. | Lena > lives_in > Kiel"
TOM = "Lena is married to Tom. | Lena > married_to > Tom"
BOSS = "Lena's boss is Petra. | Lena > reports_to > Petra"


def _told_with(text: str) -> Line:
    """Return a line of an answer, whose flags stand in braces at its end."""
    words, brace, flags = text.removesuffix("}").partition(" {")
    if not brace:
        return text
    given = (flag.partition("=") for flag in flags.split(", "))
    return line(words, **{name: value or True for name, _, value in given})


def _natural(block: str) -> Retraction:
    head, said, *rest = block.strip().splitlines()
    name, known = head[1:].split("] ", 1)

    def marked(mark: str) -> tuple[Line, ...]:
        return tuple(_told_with(one.removeprefix(mark)) for one in rest if one.startswith(mark))

    return Retraction(
        name=name, known=_told_with(known), said=said, lines=marked("  "), beside=marked("beside: "),
        also=marked("also: "),
    )  # fmt: skip


_BLOCKS = Path(__file__).with_name("cases").joinpath("natural.txt").read_text("utf-8").split("\n\n")
NATURAL = tuple(_natural(block) for block in _BLOCKS if not block.startswith("#"))
"""Told as people tell it, answered as small models do."""


def _kept(name: str, known: Line, said: str, *lines: Line) -> Retraction:
    return Retraction(name=name, known=known, said=said, lines=lines, stays=True)


_OSLO = " | Lena > lives_in > Oslo"
_HOOLI = " | Lena > works_at > Hooli"
_BETH = " | Lena > married_to > Beth"
_VET = " | Lena > works_as > =vet"
_ANN = " | Lena > reports_to > Ann"
_CLAIMS = {
    "OSLO": (_OSLO, KIEL), "HOOLI": (_HOOLI, INITECH), "BETH": (_BETH, TOM), "ANN": (_ANN, BOSS),
    "VET": (_VET, "Lena works as a nurse. | Lena > works_as > =nurse"),
}  # fmt: skip
_MEANT = CASES["meant"]
_SAYS = {
    "is": "am", "plans": "plan", "wants": "want", "hopes": "hope", "dreams": "dream", "has": "have",
    "lives": "live", "works": "work", "stays": "stay", "remembers": "remember", "imagines": "imagine",
    "pretends": "pretend", "'s": "My",
}  # fmt: skip


def _first_person(text: str) -> str:
    verb, rest = text.split()[0], text[len(text.split()[0]) :]
    return f"I {_SAYS.get(verb, verb)}{rest}.".replace("I My", "My")


MEANT = tuple(
    _kept(text, _CLAIMS[of][1], _first_person(text), f"Lena {text}.".replace(" '", "'") + _CLAIMS[of][0])
    for of, text in _MEANT
)  # fmt: skip
"""Claimed as if it were so, of sentences that plan, suppose, remember, or are so for a time."""

FLATTENED = tuple(
    _kept(f"{said}, flattened", KIEL, said, "Lena lives in Oslo. | Lena > lives_in > Oslo")
    for said in (
        "I plan to move to Oslo.", "I used to live in Oslo.", "Maybe I'll move to Oslo.",
        "On weekdays I live in Oslo.", "We want to move to Oslo.", "I'm staying in Oslo for a week.",
    )
)  # fmt: skip
"""Whose model forgot in the text how it was meant."""

ENDS_OR_ASKS = 0.95
ENDS_OTHERS = 0.02
HALVES = {"second": 1, "first": 0}
"""The first was developed on."""


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that knows the bystanders."""
    path = tmp_path_factory.mktemp("beside") / "m.db"
    known = Retelling(path)
    known.tell(told("2026-01-01", _said(BYSTANDERS), *BYSTANDERS))
    known.close()
    return path


@pytest.mark.thorough  # rules play the same retractions in test_rule_retractions.py
@pytest.mark.parametrize("half", list(HALVES))
def test_what_is_taken_back_ends_or_is_asked_about(
    half: str, beside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of retractions over all relations at least 95 % end what they take back or ask about it, and at
    most 2 % end something else."""
    cases = [one for at, one in enumerate((*MADE, *NATURAL)) if at % 2 == HALVES[half]]
    left, harmed = _played(cases, beside, tmp_path)
    with capsys.disabled():
        print(f"\n{half} half: {len(cases) - len(left)}/{len(cases)} end or ask; {harmed=}", *left)
    assert len(left) <= (1 - ENDS_OR_ASKS) * len(cases), left
    assert len(harmed) <= ENDS_OTHERS * len(cases), harmed


@pytest.mark.thorough
def test_what_is_planned_supposed_remembered_or_passing_ends_nothing(
    beside: Path, tmp_path: Path
) -> None:
    """A claim whose sentence, or whose words as they were said, plan, suppose, remember or tell of a
    time leaves the present one as it is."""
    left, harmed = _played((*MEANT, *FLATTENED), beside, tmp_path)
    assert (left, harmed) == ([], [])


def test_there_are_enough_of_them() -> None:
    """At least 200 retractions, each with a name of its own."""
    names = [one.name for one in (*MADE, *NATURAL)]
    assert len(names) >= 200
    assert len(set(names)) == len(names)


def _played(cases: Sequence[Retraction], beside: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Names of the cases that end or ask too little (or, of what stays, at all), and too much."""
    left, harmed = [], []
    for number, one in enumerate(cases):
        path = folder / f"{number}.db"
        path.write_bytes(beside.read_bytes())
        known = Retelling(path)
        try:
            lines = (one.known, *one.also)
            known.tell(told("2026-01-02", _said(lines), *lines))
            before = {text for text, holds in known.standing().items() if holds}
            known.tell(told("2026-02-01", one.said, *one.lines))
            wanted = {_text(each) for each in lines}
            assert wanted <= before, one.name
            after = known.standing()
            over = {text for text in before if not after[text]}
            if one.stays:
                left += [one.name] if over else []
            elif not all(text in over or known.asked(text) for text in wanted):
                left.append(one.name)
            harmed += [one.name] if over - wanted else []
        finally:
            known.close()
    return left, harmed


def _said(lines: Sequence[Line]) -> str:
    return "Some things about me. " + " ".join(f"{_text(one)}." for one in lines)


def _text(one: Line) -> str:
    whole = one if isinstance(one, str) else one[0]
    return whole.split("|")[0].strip().rstrip(".")
