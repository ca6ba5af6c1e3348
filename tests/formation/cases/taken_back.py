"""Cases of retracted facts, of facts derived from them, and of facts that hold again without their
replacement."""

from __future__ import annotations

from tests.formation.correctness import Say, case, do, f, say


def lives(on: str, city: str) -> Say:
    return say(on, f"I moved to {city}.", f(f"Lena moved to {city}", f"I | lives_in | {city}"))


INITECH = say(
    "2023-05-01", "I work at Initech.", f("Lena works at Initech", "I | works_at | Initech")
)
PETRA = say("2023-05-02", "My boss is Petra.", f("Lena's boss is Petra", "I | reports_to | Petra"))
NURSE = say("2023-05-03", "I'm a nurse.", f("Lena is a nurse", "I | works_as | =nurse"))
HOOLI = say(
    "2024-05-01", "I have a new job at Hooli.",
    f("Lena has a new job at Hooli", "I | works_at | Hooli"),
)  # fmt: skip
REX = say("2023-05-01", "I have a dog, Rex.", f("Lena has a dog called Rex", "I | has_pet | Rex"))
TOM = say("2023-05-01", "I'm engaged to Tom.", f("Lena is engaged to Tom", "I | engaged_to | Tom"))
NUTS = say(
    "2023-05-01", "I'm allergic to nuts.",
    f("Lena is allergic to nuts", "I | allergic_to | =nuts"),
)  # fmt: skip

CASES = (
    case(
        "a denial that corrects ends what it denies",
        "denial", NUTS,
        say("2023-06-01", "No, I'm not allergic to nuts.",
            f("Lena is not allergic to nuts", "I | allergic_to | =nuts", ends=True, corrects=True,
              implied="denied")),
        active=("Lena is not allergic to nuts",), over=("Lena is allergic to nuts",),
        as_of={"2023-05-15": ("Lena is not allergic to nuts",)},
    ),
    case(
        "a mere denial is asked about",
        "denial", NUTS,
        say("2023-06-01", "I'm not allergic to nuts.",
            f("Lena is not allergic to nuts", "I | allergic_to | =nuts", ends=True,
              implied="denied")),
        active=("Lena is allergic to nuts", "Lena is not allergic to nuts"),
        reviews={"contradiction": 1},
    ),
    case(
        "a denial of what nobody said claims nothing",
        "denial",
        say("2023-06-01", "I never lived in Bonn.",
            f("Lena never lived in Bonn", "I | lives_in | Bonn", ends=True, implied="denied")),
        active=("Lena never lived in Bonn",), no_edges=("Lena | no_longer_lives_in | Bonn",),
    ),
    case(
        "a correction without a claim ends what has its words",
        "denial", NUTS,
        say("2023-06-01", "No, I'm not allergic to nuts.",
            f("Lena is not allergic to nuts", corrects=True)),
        active=("Lena is not allergic to nuts",), over=("Lena is allergic to nuts",),
    ),
    case(
        "a marriage in the past tense alone ends no marriage",
        "denial",
        say("2023-05-01", "I'm married to Tom.", f("Lena is married to Tom", "I | married_to | Tom")),
        say("2023-06-01", "I was married to Beth.",
            f("Lena was married to Beth", "I | married_to | Beth", ends=True, implied="past")),
        active=("Lena is married to Tom", "Lena was married to Beth"),
    ),
    case(
        "a new job ends the boss and asks about the occupation",
        "dependence", INITECH, PETRA, NURSE, HOOLI,
        active=("Lena has a new job at Hooli", "Lena is a nurse"),
        over=("Lena works at Initech", "Lena's boss is Petra"),
        reviews={"dependant": 1},
        as_of={"2023-06-01": ("Lena works at Initech", "Lena's boss is Petra", "Lena is a nurse")},
    ),
    case(
        "of two jobs the boss may belong to the other",
        "dependence", INITECH,
        say("2023-05-04", "I also work at the Blue Café.",
            f("Lena works at the Blue Café, too", "I | works_at | Blue Café")),
        PETRA,
        say("2024-05-01", "I left Initech.",
            f("Lena left Initech", "I | works_at | Initech", ends=True)),
        active=("Lena left Initech", "Lena works at the Blue Café, too", "Lena's boss is Petra"),
        over=("Lena works at Initech",),
        reviews={"contradiction": 1, "dependant": 1},
    ),
    case(
        "a corrected employer leaves the boss",
        "dependence", INITECH, PETRA,
        say("2023-05-05", "It's Intertech, not Initech.",
            f("Lena works at Intertech, not Initech", "I | works_at | Intertech", corrects=True)),
        active=("Lena works at Intertech, not Initech", "Lena's boss is Petra"),
        over=("Lena works at Initech",),
    ),
    case(
        "a boss told with the new job is the new one",
        "dependence", INITECH, PETRA,
        say("2024-05-01", "I have a new job at Hooli, and my new boss is Ann.",
            f("Lena has a new job at Hooli", "I | works_at | Hooli"),
            f("Lena's new boss is Ann", "I | reports_to | Ann")),
        active=("Lena has a new job at Hooli", "Lena's new boss is Ann"),
        over=("Lena works at Initech", "Lena's boss is Petra"),
    ),
    case(
        "a boss whom a person confirmed is asked about",
        "dependence", INITECH, PETRA, do("verify", "2023-06-01", "Lena's boss is Petra"), HOOLI,
        active=("Lena has a new job at Hooli", "Lena's boss is Petra"),
        over=("Lena works at Initech",), reviews={"dependant": 1},
    ),
    case(
        "the dead have no pets, homes or spouses",
        "dependence", REX,
        say("2023-05-02", "Rex lives in Kiel.", f("Rex lives in Kiel", "Rex | lives_in | Kiel")),
        say("2024-05-01", "Rex died.", f("Lena's dog Rex died", "Rex | has_died | =true")),
        active=("Lena's dog Rex died",),
        over=("Lena has a dog called Rex", "Rex lives in Kiel"),
        as_of={"2023-06-01": ("Lena has a dog called Rex", "Rex lives in Kiel")},
    ),
    case(
        "a wedding ends the engagement",
        "dependence", TOM,
        say("2024-05-01", "Tom and I got married.", f("Lena married Tom", "I | married_to | Tom")),
        active=("Lena married Tom",), over=("Lena is engaged to Tom",),
        as_of={"2023-06-01": ("Lena is engaged to Tom",)},
    ),
    case(
        "undone, a new job leaves the boss as it was",
        "dependence", INITECH, PETRA, HOOLI, do("undo", "2024-05-02"),
        active=("Lena works at Initech", "Lena's boss is Petra"),
    ),
    case(
        "what is so again is not over",
        "again", INITECH,
        say("2024-02-01", "I no longer work at Initech.",
            f("Lena no longer works at Initech", "I | works_at | Initech", ends=True)),
        say("2024-08-01", "I'm at Initech again.",
            f("Lena works at Initech again", "I | works_at | Initech")),
        active=("Lena works at Initech again",),
        over=("Lena works at Initech", "Lena no longer works at Initech"),
        as_of={"2024-03-01": ("Lena no longer works at Initech",)},
    ),
    case(
        "the older home holds without the newer",
        "reinstated", lives("2022-01-01", "Kiel"), lives("2023-01-01", "Bonn"),
        do("delete", "2023-02-01", "Lena moved to Bonn"),
        active=("Lena moved to Kiel",),
    ),
    case(
        "without the middle home the first gave way to the third",
        "reinstated", lives("2022-01-01", "Kiel"), lives("2023-01-01", "Bonn"),
        lives("2024-01-01", "Ulm"), do("delete", "2024-02-01", "Lena moved to Bonn"),
        active=("Lena moved to Ulm",), over=("Lena moved to Kiel",),
        as_of={"2023-06-01": ("Lena moved to Kiel",)},
    ),
    case(
        "without the new job the old one and its boss hold",
        "reinstated", INITECH, PETRA, HOOLI,
        do("delete", "2024-06-01", "Lena has a new job at Hooli"),
        active=("Lena works at Initech", "Lena's boss is Petra"),
    ),
    case(
        "a dog without a name may be the one that has one",
        "denial", REX,
        say("2024-05-01", "I don't have a dog any more.",
            f("Lena does not have a dog any more", "I | has_pet | =dog", ends=True)),
        active=("Lena has a dog called Rex", "Lena does not have a dog any more"),
        reviews={"contradiction": 1},
    ),
)  # fmt: skip
