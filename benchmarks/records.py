"""Records as machines and desks write them, that differ in (almost) nothing but an identifier.

``python -m benchmarks.records`` prints some of each kind.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Final

WORDS: Final = tomllib.loads((Path(__file__).parent / "cases" / "records.toml").read_text("utf-8"))
KINDS: Final = tuple(WORDS["kinds"])
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
LETTERS: Final = "ABCDEFGHJKLMNOPRSTUVWXYZ"
BASES: Final = {
    "invoices": (1200, 9300), "pull requests": (120, 480), "lockers": (1, 60), "extensions": (2000, 8400),
}  # fmt: skip
"""Kinds that are numbered, and where the numbers begin."""


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]}"


def _identifiers(kind: str, count: int, rng: Random) -> list[tuple[str, str]]:
    """Return neighbouring identifiers, each as a record has it and as a query does."""
    numbers = range(count)
    if kind in BASES:
        base = rng.randrange(*BASES[kind])
        ids = [str(base + i) for i in numbers]
    elif kind == "rooms":
        base = rng.choice((101, 201, 301, 401))
        ids = [str(base + i) for i in numbers]
    elif kind == "tickets":
        key, base = rng.choice(("OPS", "PAY", "WEB", "CRM", "APP")), rng.randrange(110, 490)
        return [
            (f"{key}-{base + i}", f"{rng.choice((key, key.lower()))}-{base + i}") for i in numbers
        ]
    elif kind == "hosts":
        regions = ("eu", "us", "ap", "sa")
        ids = [f"node-{region}-{i}" for i in range(1, count // 4 + 2) for region in regions][:count]
    elif kind == "versions":
        major, minor = rng.randrange(2, 8), rng.randrange(3, 14)
        ids = [f"{major}.{minor + i // 12}.{i % 12}" for i in numbers]
    elif kind == "emails":
        surnames = WORDS["surnames_of_addresses"]
        start = rng.randrange(len(surnames))
        whose = [surnames[(start + i // 26) % len(surnames)] for i in numbers]
        ids = [f"{chr(97 + i % 26)}.{name}@nordlin.example" for i, name in enumerate(whose)]
    elif kind == "paths":
        folder = rng.choice(
            ("/srv/exports/batch", "/data/in/run", "reports/2024/part", "/home/share/scans/scan")
        )
        ending, base = rng.choice(("csv", "xlsx", "txt")), rng.randrange(100, 480)
        ids = [f"{folder}_{base + i:04d}.{ending}" for i in numbers]
    elif kind == "flights":
        airline, base = rng.choice(("LH", "KL", "BA", "SK", "TP")), rng.randrange(1000, 9400)
        found = []
        for i in numbers:
            space = rng.choice((" ", "", " "))
            asked = f"{rng.choice((airline, airline.lower()))}{space}{base + i}"
            found.append((f"{airline} {base + i}", asked))
        return found
    elif kind == "dates":
        first = date(2024, 1, 1) + timedelta(days=rng.randrange(300))
        days = [first + timedelta(days=i) for i in numbers]
        seen = Counter((day.month, day.day) for day in days)
        found = []
        for day in days:
            # "3 March" only where no other record falls on a 3 March
            if seen[day.month, day.day] == 1 and rng.random() < 0.5:
                found.append((_day(day), rng.choice((_day(day), _day(day).lower()))))
            else:
                found.append((day.isoformat(), day.isoformat()))
        return found
    elif kind == "plates":
        head, first_letter = rng.choice(("KX19", "LM21", "BD68", "SW70")), rng.choice(LETTERS)
        plates = [f"{head} {first_letter}{b}{c}" for b in LETTERS for c in LETTERS][:count]
        return [(one, rng.choice((one, one.lower()))) for one in plates]
    else:
        base = rng.randrange(4000, 9300)
        return [(f"#{base + i}", f"{rng.choice(('#', ''))}{base + i}") for i in numbers]
    return [(one, one) for one in ids]


def records(kind: str, count: int, seed: int) -> list[tuple[str, str]]:
    """Return records of one of `KINDS`, each with a query for it alone; the same for the same arguments.

    ``count`` is 500 at most.
    """
    rng = Random(f"{kind}/{count}/{seed}")
    out = []
    remarks, queries = WORDS["kinds"][kind]["remarks"], WORDS["kinds"][kind]["queries"]
    names, first_names = WORDS["names"], WORDS["first_names"]
    for form, asked in _identifiers(kind, count, rng):
        text = rng.choice(remarks).format(id=form, n=rng.choice(names), f=rng.choice(first_names))
        out.append((text, rng.choice(queries).format(q=asked)))
    rng.shuffle(out)
    return out


if __name__ == "__main__":
    for name in KINDS:
        for text, query in records(name, 20, 1)[:3]:
            print(f"{name:14} {text:60} {query}")
