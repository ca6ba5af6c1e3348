"""A small file to look at: two turns, two facts made of one of them, and a question for a person."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from langmemory.changes import (
    AddEdge,
    AddEntity,
    AddMemory,
    ChangeSet,
    Facets,
    OpenReview,
    SetStatus,
)
from langmemory.stores import MemoryStore

PLACE: Final = ("home", "ana")
MAY: Final = datetime(2026, 5, 1, tzinfo=UTC)
SAID: Final = "My sister Bea plays the cello in Bilbao."


def tell(store: MemoryStore) -> None:
    """Write the story into an empty file."""
    turns = [
        {"role": "user", "content": SAID, "id": "1", "name": "Ana"},
        {"role": "user", "content": "I water the tomatoes at six.", "id": "2", "name": "Ana"},
    ]
    said = store.remember(PLACE, turns, thread_id="t", at=MAY)
    facts = {"fact/cello": "Bea plays the cello.", "fact/viola": "Bea plays the viola."}
    store.changes.apply(
        ChangeSet(
            namespace=PLACE,
            run_id="reflect/1",
            kind="reflection",
            reason="what was said of Bea",
            changes=(
                *(
                    AddMemory(
                        key=key,
                        value={"text": text},
                        facets=Facets(kind="semantic", valid_at=MAY),
                        evidence=(said[0],),
                        reason="said",
                    )
                    for key, text in facts.items()
                ),
                AddEntity(key="person/bea", name="Bea", kind="person"),
                AddEntity(key="thing/cello", name="Cello"),
                AddEdge(
                    fact="fact/cello",
                    subject="person/bea",
                    relation="plays",
                    object="thing/cello",
                ),
                OpenReview(
                    id="review/1",
                    about="contradiction",
                    question="Which of these holds?",
                    memories=tuple(facts),
                    options={
                        "cello": (SetStatus(key="fact/viola", status="archived"),),
                        "both": (),
                    },
                ),
            ),
        )
    )
