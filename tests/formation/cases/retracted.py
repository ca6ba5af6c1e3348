"""Facts of every relation, and the ways in which they are taken back, as a scripted model tells them.

The sentences of a relation are made of its verb, so that each relation meets several ways; `NATURAL`
holds what cannot be made so. What is taken back has to end or to be asked about, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.formation.retold import Line, line


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


_ROWS = (
    # claim, verb in the third person, its base, its -ing, the rest; by tens
    ("Lena > parent_of > Ben", "is", "", "", "the mother of Ben"),
    ("Lena > child_of > Ruth", "is", "", "", "the daughter of Ruth"),
    ("Lena > sibling_of > Katrin", "is", "", "", "the sister of Katrin"),
    ("Lena > grandparent_of > Mia", "is", "", "", "the grandmother of Mia"),
    ("Lena > relative_of > Otto", "is", "", "", "related to Otto"),
    ("Lena > cousin_of > Jan", "is", "", "", "a cousin of Jan"),
    ("Lena > aunt_or_uncle_of > Finn", "is", "", "", "the aunt of Finn"),
    ("Lena > married_to > Tom", "is", "", "", "married to Tom"),
    ("Lena > engaged_to > Tom", "is", "", "", "engaged to Tom"),
    ("Lena > partner_of > Tom", "is", "", "", "together with Tom"),
    ("Lena > friend_of > Ida", "is", "", "", "friends with Ida"),
    ("Lena > colleague_of > Ralf", "works", "work", "working", "with Ralf"),
    ("Lena > neighbour_of > Olga", "is", "", "", "a neighbour of Olga"),
    ("Lena > flatmate_of > Nora", "shares", "share", "sharing", "a flat with Nora"),
    ("Lena > lives_with > Nora", "lives", "live", "living", "with Nora"),
    ("Lena > teacher_of > Max", "is", "", "", "the teacher of Max"),
    ("Lena > landlord_of > Kim", "is", "", "", "the landlord of Kim"),
    ("Lena > knows > Vera", "knows", "know", "knowing", "Vera"),
    ("Lena > nickname > =Lenchen", "goes", "go", "going", "by Lenchen"),
    ("Lena > born_on > =3 March 1990", "was", "", "", "born on 3 March 1990"),
    ("Lena > born_in > Ulm", "was", "", "", "born in Ulm"),
    ("Lena > age > =34", "is", "", "", "34 years old"),
    ("Lena > nationality > =Austrian", "is", "", "", "Austrian"),
    ("Lena > comes_from > Graz", "comes", "come", "coming", "from Graz"),
    ("Lena > speaks > =Danish", "speaks", "speak", "speaking", "Danish"),
    ("Lena > religion > =Buddhist", "is", "", "", "Buddhist"),
    ("Lena > diet > =vegan", "is", "", "", "vegan"),
    ("Lena > allergic_to > =nuts", "is", "", "", "allergic to nuts"),
    ("Lena > takes_medication > =ibuprofen", "takes", "take", "taking", "ibuprofen"),
    ("Lena > has_condition > =asthma", "has", "have", "having", "asthma"),
    ("Lena > marital_status > =single", "is", "", "", "single"),
    ("Lena > lives_in > Kiel", "lives", "live", "living", "in Kiel"),
    ("Lena > address > =Elm Street 4", "lives", "live", "living", "at Elm Street 4"),
    ("Lena > phone_number > =0170 1234", "uses", "use", "using", "the number 0170 1234"),
    ("Lena > email > =lena@x.org", "uses", "use", "using", "the address lena@x.org"),
    ("Lena > works_at > Initech", "works", "work", "working", "at Initech"),
    ("Lena > workplace > =hospital", "works", "work", "working", "in a hospital"),
    ("Lena > working_hours > =nine to five", "works", "work", "working", "nine to five"),
    ("Lena > rent > =800 euros", "pays", "pay", "paying", "800 euros of rent"),
    ("Lena > works_as > =nurse", "works", "work", "working", "as a nurse"),
    ("Lena > reports_to > Petra", "reports", "report", "reporting", "to Petra"),
    ("Lena > studies_at > Ulm University", "studies", "study", "studying", "at Ulm University"),
    ("Lena > studies > =law", "studies", "study", "studying", "law"),
    ("Lena > member_of > Rowing Club", "belongs", "belong", "belonging", "to the Rowing Club"),
    ("Lena > has_pet > Rex", "has", "have", "having", "a dog called Rex"),
    ("Lena > owns > Beetle", "owns", "own", "owning", "a Beetle"),
    ("Lena > has_phone > Pixel 8", "has", "have", "having", "a Pixel 8"),
    ("Lena > has_vehicle > Golf", "drives", "drive", "driving", "a Golf"),
    ("Lena > has_doctor > Dr Falk", "is", "", "", "a patient of Dr Falk"),
    ("Lena > uses > Notion", "uses", "use", "using", "Notion"),
    ("Lena > likes > =jazz", "likes", "like", "liking", "jazz"),
    ("Lena > dislikes > =coriander", "hates", "hate", "hating", "coriander"),
    ("Lena > interested_in > =astronomy", "is", "", "", "interested in astronomy"),
    ("Lena > has_hobby > =chess", "plays", "play", "playing", "chess"),
    ("Lena > has_goal > =a marathon", "aims", "aim", "aiming", "for a marathon"),
    ("Lena > plans > =a trip to Peru", "plans", "plan", "planning", "a trip to Peru"),
    ("Lena > favourite_colour > =green", "has", "have", "having", "green as her favourite colour"),
    ("Lena > subscribes_to > Netflix", "subscribes", "subscribe", "subscribing", "to Netflix"),
    ("Lena > sings_in > Bach Choir", "sings", "sing", "singing", "in the Bach Choir"),
)

BYSTANDERS = (
    "Lena likes tea | Lena > likes > =tea",
    "Lena's dog is called Bello | Lena > has_pet > Bello",
    "Lena is allergic to pollen | Lena > allergic_to > =pollen",
    "Lena plays the piano | Lena > has_hobby > =piano",
    "Lena is friends with Mara | Lena > friend_of > Mara",
    "Lena speaks Italian | Lena > speaks > =Italian",
    "Lena owns a kayak | Lena > owns > =kayak",
    "Ruth lives in Bremen | Ruth > lives_in > Bremen",
    "Ruth works at Hooli | Ruth > works_at > Hooli",
    "Ruth is married to Paul | Ruth > married_to > Paul",
    "Jonas has a cat called Miu | Jonas > has_pet > Miu",
)
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


_BLOCKS = Path(__file__).with_name("natural.txt").read_text("utf-8").split("\n\n")
NATURAL = tuple(_natural(block) for block in _BLOCKS if not block.startswith("#"))
"""Told as people tell it, answered as small models do."""


def _kept(name: str, known: Line, said: str, *lines: Line) -> Retraction:
    return Retraction(name=name, known=known, said=said, lines=lines, stays=True)


_OSLO = " | Lena > lives_in > Oslo"
_HOOLI = " | Lena > works_at > Hooli"
_BETH = " | Lena > married_to > Beth"
_VET = " | Lena > works_as > =vet"
_ANN = " | Lena > reports_to > Ann"
_AS = {
    _OSLO: KIEL, _HOOLI: INITECH, _BETH: TOM, _VET: "Lena works as a nurse. | Lena > works_as > =nurse",
    _ANN: BOSS,
}  # fmt: skip
_MEANT = (
    (_OSLO, "plans to move to Oslo"), (_OSLO, "wants to move to Oslo next year"),
    (_OSLO, "is thinking about moving to Oslo"), (_OSLO, "might move to Oslo"),
    (_OSLO, "will move to Oslo one day"), (_OSLO, "hopes to live in Oslo someday"),
    (_OSLO, "dreams of a house in Oslo"), (_OSLO, "is considering a move to Oslo"),
    (_OSLO, "would move to Oslo if Tom found a job"), (_OSLO, "is looking at flats in Oslo"),
    (_OSLO, "used to live in Oslo"), (_OSLO, "lived in Oslo as a child"), (_OSLO, "once lived in Oslo"),
    (_OSLO, "lived in Oslo for three years before Kiel"), (_OSLO, "was living in Oslo when she met Tom"),
    (_OSLO, "remembers the years in Oslo"), (_OSLO, "had a flat in Oslo back then"),
    (_OSLO, "is staying in Oslo for a week"), (_OSLO, "lives in Oslo on weekdays"),
    (_OSLO, "is spending the summer in Oslo"), (_OSLO, "is visiting Oslo"),
    (_OSLO, "is house-sitting in Oslo until June"), (_OSLO, "is in Oslo this week"),
    (_OSLO, "almost moved to Oslo"), (_OSLO, "imagines living in Oslo"),
    (_OSLO, "is temporarily living in Oslo"), (_OSLO, "stays in Oslo every summer"),
    (_HOOLI, "applied for a job at Hooli"), (_HOOLI, "has an interview at Hooli on Friday"),
    (_HOOLI, "would like to work at Hooli"), (_HOOLI, "got a job offer from Hooli"),
    (_HOOLI, "worked at Hooli before Initech"), (_HOOLI, "used to work at Hooli"),
    (_HOOLI, "is helping out at Hooli for two weeks"), (_HOOLI, "was an intern at Hooli as a student"),
    (_HOOLI, "could imagine working at Hooli"), (_HOOLI, "is filling in at Hooli this month"),
    (_HOOLI, "may start at Hooli in autumn"), (_HOOLI, "works at Hooli on Saturdays"),
    (_BETH, "was married to Beth"), (_BETH, "used to be married to Beth"), (_BETH, "almost married Beth"),
    (_BETH, "pretends to be married to Beth in a play"), (_BETH, "was once married to Beth"),
    (_VET, "wanted to be a vet as a child"), (_VET, "worked as a vet in the past"),
    (_VET, "is training to work as a vet"), (_VET, "is substituting as a vet"),
    (_VET, "would have become a vet"), (_VET, "dreams of working as a vet"),
    (_ANN, "reported to Ann at Hooli"), (_ANN, "has Ann as her interim boss for a month"),
    (_ANN, "will report to Ann from next year"), (_ANN, "'s former boss is Ann"),
)  # fmt: skip
_SAYS = {
    "is": "am", "plans": "plan", "wants": "want", "hopes": "hope", "dreams": "dream", "has": "have",
    "lives": "live", "works": "work", "stays": "stay", "remembers": "remember", "imagines": "imagine",
    "pretends": "pretend", "'s": "My",
}  # fmt: skip

MEANT = tuple(
    _kept(text, _AS[claim], f"I {_SAYS.get(text.split()[0], text.split()[0])}{text[len(text.split()[0]):]}."
          .replace("I My", "My"), f"Lena {text}.".replace(" '", "'") + claim)
    for claim, text in _MEANT
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
