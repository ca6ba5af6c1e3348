"""Memories and questions made at random, by a seed: languages, people, filters, changes, forgetting."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    ChangeSet,
    Facets,
    SetStatus,
    Supersede,
    UpdateMemory,
)
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

PEOPLE = ("ada", "ben", "chloé", "деян")
SENTENCES = {
    "en": (
        "I bought {n} {thing} at the market in {place}.", "{who} never eats {thing} on {day}.",
        "My sister moved to {place} because of the {thing}.",
        "Do you remember the {thing} we saw in {place}?",
        "The doctor told {who} to avoid {thing}.", "We meet {who} on {day} in {place}.",
    ),
    "de": (
        "Ich habe {n} {thing} auf dem Markt in {place} gekauft.", "{who} isst am {day} keine {thing}.",
        "Meine Schwester ist wegen der {thing} nach {place} gezogen.",
        "Am {day} treffen wir {who} in {place}.",
    ),
    "fr": (
        "J'ai acheté {n} {thing} au marché de {place}.", "{who} ne mange jamais de {thing} le {day}.",
        "Le {day}, nous retrouvons {who} à {place}.",
    ),
    "es": ("Compré {n} {thing} en el mercado de {place}.", "{who} no come {thing} el {day}."),
    "ru": ("Я купил {n} {thing} на рынке в {place}.", "{who} не ест {thing}."),
    "ja": ("{place}の市場で{thing}を{n}個買いました。", "{who}は{thing}を食べません。"),
    "zh": ("我在{place}的市场买了{n}个{thing}。", "{who}不吃{thing}。"),
}  # fmt: skip
THINGS = {
    "en": ("olives", "lemons", "red shoes", "bicycles", "peanuts", "old maps", "violins", "café chairs"),
    "de": ("Oliven", "Zitronen", "rote Schuhe", "Fahrräder", "Erdnüsse", "Straßenkarten"),
    "fr": ("olives", "citrons", "chaussures rouges", "vélos", "cacahuètes"),
    "es": ("aceitunas", "limones", "zapatos rojos", "cacahuetes"),
    "ru": ("оливки", "лимоны", "велосипеды", "орехи"),
    "ja": ("オリーブ", "レモン", "自転車", "落花生"),
    "zh": ("橄榄", "柠檬", "自行车", "花生"),
}  # fmt: skip
PLACES = ("Bern", "Zürich", "Lyon", "München", "Bilbao", "Kazan", "東京", "上海", "Valencia")
DAYS = ("Monday", "Freitag", "samedi", "domingo", "10 May 2026")
TAGS = ("work", "home", "trip", "Arbeit", "")
NIGHTS = 5
"""Every fifth store has a night of maintenance at its end."""
START = datetime(2026, 1, 1, 9, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of a store, and as whom."""

    text: str
    namespace: Namespace
    viewer: str | None
    options: dict[str, Any]


def sentence(chance: random.Random) -> str:
    language = chance.choice(tuple(SENTENCES))
    return chance.choice(SENTENCES[language]).format(
        n=chance.randrange(2, 40), thing=chance.choice(THINGS[language]),
        place=chance.choice(PLACES), who=chance.choice(PEOPLE).title(), day=chance.choice(DAYS),
    )  # fmt: skip


def namespaces(chance: random.Random) -> list[Namespace]:
    people = chance.sample(PEOPLE, chance.randrange(1, 4))
    found: list[Namespace] = [("users", one) for one in people]
    return [*found, ("users", people[0], "notes"), ("shared",)]


def fill(store: MemoryStore, seed: int) -> None:
    """Let a store live: conversations, puts, changes, corrections, deletions and forgetting."""
    chance = random.Random(seed)
    places = namespaces(chance)
    keys: dict[Namespace, list[str]] = {place: [] for place in places}
    at = START
    for step in range(chance.randrange(12, 30)):
        place = chance.choice(places)
        at += timedelta(hours=chance.randrange(1, 90))
        known = keys[place]
        match chance.choice(
            ("say", "say", "say", "put", "put", "put", "change", "delete", "forget")
        ):
            case "say":
                turns = [
                    {"role": chance.choice(("user", "assistant")), "content": sentence(chance),
                     "at": at + timedelta(minutes=n), "name": chance.choice((*PEOPLE, None))}
                    for n in range(chance.randrange(1, 9))
                ]  # fmt: skip
                known += store.remember(
                    place, [{k: v for k, v in one.items() if v is not None} for one in turns],
                    thread_id=f"t{chance.randrange(3)}", **_owned(chance),
                )  # fmt: skip
            case "put":
                for _ in range(chance.randrange(1, 8)):
                    key = chance.choice([*known[-9:], f"note/{step}/{chance.randrange(5)}"])
                    value = {
                        "text": sentence(chance), "n": chance.randrange(5), "tag": chance.choice(TAGS),
                        "done": chance.random() < 0.5, "at": {"lat": chance.uniform(-90, 90)},
                        "list": [chance.choice(TAGS), chance.randrange(3)], **_owned(chance),
                    }  # fmt: skip
                    index = chance.choice((None, None, None, None, False, ["tag"]))
                    store.put(place, key, value, index=index)
                    known.append(key)
            case "change":
                _change(store, chance, place, known, step)
            case "delete" if known:
                store.delete(place, chance.choice(known))
            case "forget" if known and chance.random() < 0.3:
                store.forget(place, keys=[chance.choice(known)])

    if seed % NIGHTS == 0:
        build_maintenance_graph(store, now=lambda: START + timedelta(days=150)).invoke({})


def _owned(chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.5:
        return {}
    return {
        "owner": chance.choice(PEOPLE),
        "privacy": chance.choice(("private", "private", "shared", "public")),
    }


def _change(
    store: MemoryStore, chance: random.Random, place: Namespace, known: list[str], step: int
) -> None:
    """Apply a change set as reflection would, and sometimes take it back."""
    facts = [f"fact/{step}-{n}" for n in range(chance.randrange(1, 4))]
    who = chance.choice(PEOPLE)
    changes: list[Any] = [AddEntity(key=who, name=who.title(), kind="person")]
    sources = [key for key in known if store.get(place, key)]
    for key in facts:
        changes += [
            AddMemory(
                key=key, value={"text": sentence(chance), "fact_kind": "fact"}, mentions=(who,),
                evidence=tuple(chance.sample(sources, min(2, len(sources)))),
                facets=Facets(
                    kind="semantic", confidence=chance.choice((0.4, 0.8, 1.0)),
                    valid_at=START + timedelta(days=chance.randrange(100)),
                ),
            ),
            AddEdge(fact=key, subject=who, relation="likes", literal=chance.choice(PLACES)),
        ]  # fmt: skip
    run = f"run-{'.'.join(place)}-{step}"
    store.changes.apply(
        ChangeSet(
            namespace=place, run_id=run, kind="reflection", reason="talk", changes=tuple(changes)
        )
    )
    earlier = [key for key in known if key.startswith("fact/") and store.get(place, key)]
    if earlier:
        old = chance.choice(earlier)
        now = START + timedelta(days=200)
        follow = chance.choice((
            Supersede(key=old, by=facts[0], invalid_at=now),
            SetStatus(key=old, status="archived"),
            UpdateMemory(key=old, facets=Facets(priority=chance.choice(("guardrail", "archive")))),
        ))  # fmt: skip
        change_set = ChangeSet(
            namespace=place, run_id=f"{run}-b", kind="reflection", reason="later", changes=(follow,)
        )
        store.changes.apply(change_set)
        if chance.random() < 0.3:
            store.changes.undo(change_set.run_id)
    known += facts


def questions(seed: int, count: int) -> Iterator[Question]:
    """Yield what to ask a store that was filled by the same seed."""
    chance = random.Random(seed)
    places = namespaces(chance)
    chance = random.Random(-1 - seed)
    for _ in range(count):
        words = sentence(chance)
        asked = chance.choice(
            (words, f"What about {words.split(' ')[-1]}?", " ".join(words.split()[:3]))
        )
        options: dict[str, Any] = chance.choice((
            {}, {}, {"filter": {"n": {"$gte": 2}}}, {"filter": {"tag": chance.choice(TAGS)}},
            {"filter": {"done": True}}, {"filter": {"at.lat": {"$lt": 0.5}}},
            {"filter": {"$or": [{"n": 1}, {"list": {"$contains": "work"}}]}},
            {"kinds": ("episodic",)}, {"kinds": ("semantic",)}, {"since": START + timedelta(days=20)},
            {"as_of": START + timedelta(days=250)}, {"include_archive": True}, {"preset": "thorough"},
        ))  # fmt: skip
        yield Question(
            text=asked,
            namespace=chance.choice([*places, ("users",), ()]),
            viewer=chance.choice((None, None, *PEOPLE)),
            options=options,
        )
