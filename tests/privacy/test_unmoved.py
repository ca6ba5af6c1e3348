"""One person's private memories change nothing for others: neither results, nor scores, nor
facts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from langmemory import build_reflection_graph
from langmemory.changes import AddEntity, AddMemory
from langmemory.errors import EntityNameError
from langmemory.nodes.access import RecallRequest, StoreAccess, seen_by
from langmemory.stores import MemoryStore
from tests.stores.change_sets import NS, apply
from tests.stores.change_sets import fact as plain_fact
from tests.stores_in_use import STORES, StoreName, open_store

LENA = "person/lena"


def about_lena(key: str, text: str, **facets: Any) -> AddMemory:
    return plain_fact(key, text, **facets).model_copy(update={"mentions": (LENA,)})


def test_how_often_others_speak_of_somebody_in_private_does_not_show(tmp_path: Path) -> None:
    """However much somebody else says of a person in private: what speaks of that person is found by
    the name as before, with the same scores."""
    seen = []
    for secrets in (0, 65):
        with MemoryStore(tmp_path / f"{secrets}.db") as store:
            apply(
                store,
                "r",
                AddEntity(key=LENA, name="Lena", kind="person"),
                about_lena("fact/1", "Lena works at the harbour"),
                about_lena("fact/2", "She plays the trombone on Sundays"),
                *(
                    about_lena(f"secret/{n}", f"Thing {n}", owner="mia", privacy="private")
                    for n in range(secrets)
                ),
            )
            found = store.for_viewer("noor").recall("What about Lena?", NS)
            seen.append([(one.memory.key, round(one.score, 6)) for one in found.results])
    assert seen[0] == seen[1]
    assert [key for key, _ in seen[0]] == ["fact/1", "fact/2"]


def test_what_is_said_in_private_decides_nothing_of_what_others_say(tmp_path: Path) -> None:
    """Who is meant by a name that two have is told by what the speaker said, and not by what somebody
    else says of the speaker in private."""
    seen = []
    for secret in ((), (("mia", "Noor is married to Tom. Tom is Noor's boss."),)):
        with MemoryStore(tmp_path / f"{len(secret)}.db") as store:
            reflect = build_reflection_graph(store)
            said = [
                ("ole", "My brother is called Tom."),
                ("noor", "My dog is called Tom."),
                *secret,
                ("noor", "Tom works at Initech."),
            ]
            for day, (who, text) in enumerate(said, start=1):
                at = datetime(2026, 1, day, tzinfo=UTC)
                message = {"role": "user", "name": who, "content": text, "id": text, "at": at}
                privacy: Any = "private" if who == "mia" else "shared"
                store.remember(NS, [message], thread_id=who, owner=who, privacy=privacy)
                reflect.invoke({"namespace": NS})
            noor = store.for_viewer("noor")
            claims = [
                (one.subject, one.relation, one.object, one.status)
                for one in noor.graph(NS).edges(past=True)
            ]
            seen.append((claims, [one.question for one in noor.changes.reviews()]))
    assert seen[0] == seen[1]
    assert any(relation == "works_at" for _, relation, _, _ in seen[0][0])


def test_a_place_of_secrets_looks_like_none(tmp_path: Path) -> None:
    """Whether others keep something in a namespace cannot be told from how the graph refuses a name."""
    with MemoryStore(tmp_path / "memory.db") as store:
        store.put(("home", "mia"), "k", {"text": "hidden", "privacy": "private", "owner": "mia"})
        told = []
        for place in ("mia", "nowhere"):
            with pytest.raises(EntityNameError) as refused:
                store.for_viewer("noor").graph(("home", place)).entity("Lena")
            told.append(str(refused.value).replace(place, "…"))
        assert told[0] == told[1]


@pytest.mark.parametrize("name", STORES)
async def test_secrets_take_no_places_of_what_is_found(tmp_path: Path, name: StoreName) -> None:
    """In any store, what others keep private leaves nobody with fewer memories than were asked for."""
    with open_store(name, tmp_path / "memory.db") as store:
        for number in range(60):
            value = {
                "content": f"the bicycle number {number}",
                "privacy": "private",
                "owner": "mia",
            }
            store.put(NS, f"secret/{number}", value)
        for number in range(3):
            store.put(NS, f"open/{number}", {"content": f"the bell of a bicycle, {number} francs"})
        access = StoreAccess(seen_by(store, "noor"))
        request = RecallRequest(
            query="the bicycle number", namespace=NS, viewer="noor", options={"limit": 3}
        )
        found_by = [access.recall(request)]
        if not name.startswith("sqlite"):  # LangGraph's SqliteStore is for sync calls alone
            found_by.append(await access.arecall(request))
        for found in found_by:
            keys = sorted(one.memory.key for one in found.results)
            assert keys == ["open/0", "open/1", "open/2"]
