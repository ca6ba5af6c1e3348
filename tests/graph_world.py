"""A small world for tests of the graph: Lena, her sister Mira, their work, and a secret of Paul's."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    Facets,
    LinkEntities,
    Supersede,
)
from langmemory.stores import MemoryStore

NAMESPACE = ("memories", "lena")

ENTITIES = {
    "person/lena": ("Lena", "person"),
    "person/mira": ("Mira", "person"),
    "person/paul": ("Paul", "person"),
    "organisation/initech": ("Initech", "organisation"),
    "organisation/hooli": ("Hooli", "organisation"),
    "organisation/globex": ("Globex", "organisation"),
    "place/zurich": ("Zurich", "place"),
    "place/clinic": ("Clinic Sankt Anna", "place"),
}


def day(text: str) -> datetime:
    """Midnight UTC of an ISO date."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def fact(
    key: str,
    text: str,
    subject: str,
    relation: str,
    object: str | None = None,
    *,
    literal: str | None = None,
    since: str = "2020-01-01",
    evidence: Sequence[str] = (),
    facets: dict[str, object] | None = None,
) -> list[Change]:
    """A memory, and the one edge it claims."""
    return [
        AddMemory(
            key=key,
            value={
                "text": text,
                "fact_kind": "fact",
                "language": "en",
                "said_at": day(since).isoformat(),
            },
            facets=Facets(kind="semantic", valid_at=day(since), **(facets or {})),  # type: ignore[arg-type]
            evidence=tuple(evidence),
            mentions=tuple(end for end in (subject, object) if end is not None),
        ),
        AddEdge(fact=key, subject=subject, relation=relation, object=object, literal=literal),
    ]


def entities(names: dict[str, tuple[str, str]]) -> list[Change]:
    return [AddEntity(key=key, name=name, kind=kind) for key, (name, kind) in names.items()]


def apply(
    store: MemoryStore, run: str, *changes: Change, namespace: tuple[str, ...] = NAMESPACE
) -> None:
    """Write changes as one run."""
    store.changes.apply(
        ChangeSet(
            namespace=namespace, run_id=run, kind="reflection", reason="test", changes=changes
        )
    )


def furnish(store: MemoryStore) -> MemoryStore:
    """The store, with two turns, six facts, one of them superseded and one private to Paul."""
    store.remember(
        NAMESPACE,
        [
            {"role": "user", "name": "Lena", "content": "My sister Mira has a new job!", "id": "1"},
            {"role": "user", "name": "Paul", "content": "I am off for treatment.", "id": "2"},
        ],
        thread_id="t",
        at=day("2021-03-02"),
    )
    private = {"privacy": "private", "owner": "paul"}
    apply(
        store,
        "first",
        *entities(ENTITIES),
        *fact(
            "sister",
            "Lena's sister is Mira.",
            "person/lena",
            "sister_of",
            "person/mira",
            evidence=["t/1"],
        ),
        *fact(
            "job",
            "Mira joined Initech.",
            "person/mira",
            "works_at",
            "organisation/initech",
            since="2021-03-01",
            evidence=["t/1"],
        ),
        *fact(
            "office",
            "Initech has its offices in Zurich.",
            "organisation/initech",
            "located_in",
            "place/zurich",
        ),
        *fact("hooli", "Lena works at Hooli.", "person/lena", "works_at", "organisation/hooli"),
        *fact(
            "colour",
            "Lena's favourite colour is teal.",
            "person/lena",
            "favourite_colour",
            literal="teal",
        ),
        *fact(
            "secret",
            "Paul is treated at Clinic Sankt Anna.",
            "person/paul",
            "treated_at",
            "place/clinic",
            evidence=["t/2"],
            facets=private,
        ),
    )
    apply(
        store,
        "second",
        *fact(
            "globex",
            "Lena works at Globex.",
            "person/lena",
            "works_at",
            "organisation/globex",
            since="2023-06-01",
        ),
        Supersede(key="hooli", by="globex", invalid_at=day("2023-06-01")),
    )
    return store


def nicknamed(store: MemoryStore) -> None:
    """ "Mimi" turns out to be Mira; a fact about Mimi stands already."""
    apply(
        store,
        "nickname",
        AddEntity(key="person/mimi", name="Mimi", kind="person"),
        *fact("cake", "Mimi bakes cake.", "person/mimi", "bakes", literal="cake"),
        LinkEntities(key="person/mimi", same_as="person/mira"),
    )
