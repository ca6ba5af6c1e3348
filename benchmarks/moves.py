"""Measure whether the present answer ranks before the old one when both were told.

Twenty invented people move and change their job, each in a sentence that says other things as well,
amid talk from the sample conversation. Reflection reads them by rule. Then five questions each:
``python -m benchmarks.moves``.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langmemory import MemoryStore, build_reflection_graph
from langmemory.types import Namespace

TALK = Path(__file__).resolve().parents[1] / "examples" / "data" / "lena.jsonl"
PEOPLE = [
    "Ada", "Ben", "Clara", "David", "Elena", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Karla",
    "Lukas", "Mira", "Nils", "Olga", "Paul", "Rosa", "Simon", "Tara", "Viktor",
]  # fmt: skip
CITIES = [
    "Hamburg", "Bremen", "Kiel", "Lisbon", "Porto", "Vienna", "Graz", "Oslo", "Bergen",
    "Dublin", "Cork", "Leeds", "York", "Turin", "Milan", "Lyon", "Nantes", "Prague", "Brno",
    "Ghent",
]  # fmt: skip
FIRMS = [
    "Initech", "Globex", "Kontur", "Acme", "Borea", "Delphin", "Helio", "Junova", "Kestrel",
    "Lumen",
]  # fmt: skip
LIVED = (
    "Hi, I'm {name}, I'm {age} and I live in {city}.",
    "I live in {city} with my dog Rex, and I work at Zenith.",
    "My name is {name}. I'm from Spain, I live in {city} and I love sailing.",
    "I live in {city}. My sister Mara is a nurse and I'm allergic to peanuts.",
)
WORKED = (
    "I work at {firm} as an engineer, and my brother Tim is a teacher.",
    "I'm vegetarian and I work at {firm}.",
)
MOVED = (
    "We moved to {city}.",
    "I moved to {city} last week.",
    "I live in {city} now, and I have a new bike.",
    "Good news: I moved to {city} and I adopted a cat called Momo.",
)
CHANGED = ("I work at {firm} now.", "I started working at {firm}, and I like it.")
HOME = ("Where does {name} live?", "Where do I live?", "What city does {name} live in?")
JOB = ("Where does {name} work?", "Which company do I work for?")
SHOWN = 5


def filler() -> list[str]:
    """Return small talk for the days between, which mentions no home and no work."""
    said = [json.loads(line)["content"] for line in TALK.read_text("utf-8").splitlines()]
    short = [text for text in said if len(text) < 180]
    return [one for one in short if not any(w in one for w in ("live", "work", "Valencia"))][:60]


def life(
    store: MemoryStore, namespace: Namespace, number: int, talk: list[str], dice: random.Random
) -> Iterator[tuple[str, str, str]]:
    """Tell one person's life; the questions, each with its present and its old answer."""
    name = PEOPLE[number]
    (old_city, city), (old_firm, firm) = dice.sample(CITIES, 2), dice.sample(FIRMS, 2)
    told = (
        LIVED[number % 4].format(name=name, age=20 + number, city=old_city),
        WORKED[number % 2].format(firm=old_firm),
        dice.choice(talk),
        MOVED[number // 2 % 4].format(city=city),
        CHANGED[number // 3 % 2].format(firm=firm),
    )
    day = datetime(2026, 1, 5, 10, tzinfo=UTC)
    for thread, text in enumerate(told):
        said = [*dice.sample(talk, 2), text, *dice.sample(talk, 3)]
        messages = [
            {"role": "user", "name": name, "content": one, "at": day + timedelta(minutes=3 * n)}
            for n, one in enumerate(said)
        ]
        store.remember(namespace, messages, thread_id=str(thread))
        day += timedelta(days=20)
    yield from ((question.format(name=name), city, old_city) for question in HOME)
    yield from ((question.format(name=name), firm, old_firm) for question in JOB)


def main() -> None:
    """Print how often the present answer is before the old one, and how often it is the first."""
    dice, talk = random.Random(5), filler()
    before = first = asked = 0
    with tempfile.TemporaryDirectory() as folder, MemoryStore(Path(folder) / "moves.db") as store:
        reflection = build_reflection_graph(store)
        for number, name in enumerate(PEOPLE):
            namespace = ("memories", name.lower())
            questions = list(life(store, namespace, number, talk, dice))
            while store.admin.unread_threads(namespace):
                reflection.invoke({"namespace": namespace})
            for question, present, old in questions:
                recall = store.recall(question, namespace, limit=SHOWN)
                texts = [result.text for result in recall.results]
                place = [next((n for n, text in enumerate(texts) if word in text), SHOWN)
                         for word in (present, old)]  # fmt: skip
                asked += 1
                before += place[0] < place[1]
                first += place[0] == 0
    print(f"The present answer is before the old one in {before} of {asked}, the first in {first}.")


if __name__ == "__main__":
    main()
