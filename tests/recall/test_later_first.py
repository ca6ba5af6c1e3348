"""Of two versions of a statement the later one leads, unless the past is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from langmemory import MemoryStore, build_reflection_graph

NS = ("memories", "team")
SAID = (
    ("2026-02-02", "Petra", "The standup is at 9:30 in room Kestrel."),
    ("2026-02-02", "Petra", "Anna's retro is on Mondays."),
    ("2026-03-09", "Petra", "Ben's retro is on Thursdays."),
    ("2026-04-06", "Petra", "The standup is at 10 now, in room Kestrel."),
    ("2026-02-03", "Petra", "My locker is number 14."),
    ("2026-04-07", "Ilan", "My locker is number 22."),
    ("2026-05-04", "Petra", "Lunch orders are due by noon on Fridays."),
)


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    with MemoryStore(":memory:") as store:
        for n, (day, who, text) in enumerate(SAID):
            said = {"role": "user", "name": who, "content": text, "at": day}
            store.remember(NS, [said], thread_id=f"t{n}")
        yield store


def first(store: MemoryStore, query: str) -> str:
    return store.recall(query, NS).results[0].text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("When is the standup?", 3),
        ("What time is the standup in room Kestrel?", 3),
        ("When was the standup before?", 0),
        ("When was the standup at first?", 0),
        ("When was the standup originally?", 0),
        ("When was the standup in February 2026?", 0),
    ],
)
def test_what_was_said_later_leads_unless_the_past_is_asked_for(
    store: MemoryStore, query: str, said: int
) -> None:
    """The newer version stands first for the present, the older one for the past; both are found."""
    found = [one.text for one in store.recall(query, NS)]
    assert found[0] == SAID[said][2]
    assert SAID[3 - said][2] in found


@pytest.mark.parametrize(
    ("query", "said"), [("When is Anna's retro?", 1), ("When is Ben's retro?", 2)]
)
def test_statements_about_different_things_keep_their_places(
    store: MemoryStore, query: str, said: int
) -> None:
    """A similar statement about somebody else is no newer version."""
    assert first(store, query) == SAID[said][2]


def test_what_two_people_say_of_themselves_are_not_versions(store: MemoryStore) -> None:
    """ "My locker" of one person is not replaced by another's."""
    assert first(store, "Which number is Petra's locker?") == SAID[4][2]


def test_every_place_keeps_its_score(store: MemoryStore) -> None:
    """Versions change places, and scores still fall from the first result to the last."""
    scores = [one.score for one in store.recall("When is the standup?", NS)]
    assert scores == sorted(scores, reverse=True)


def test_parts_of_documents_are_no_versions_of_each_other(store: MemoryStore) -> None:
    """Two that are alike are about two things, whichever was read last: neither is shown as outdated, beside
    the other or beside what was said."""
    for name in ("heron", "larkspur"):
        text = f"# {name}\n\nThe standup is at 9 in the room of the {name} team.\n"
        store.documents.add(text=text, name=f"{name}.md", namespace=NS)
    for kinds in (None, ["resource"]):
        found = store.recall("When is the standup?", NS, kinds=kinds).results
        written = [one for one in found if one.memory.kind == "resource"]
        assert len(written) == 2
        assert not any("earlier" in one.parts for one in written)


def test_what_was_said_at_once_is_no_earlier_version() -> None:
    """Of "no longer in Porto, but in Lisbon" neither is told as what was so earlier."""
    with MemoryStore(":memory:") as store:
        said = "Actually, I don't live in Porto any more, I moved to Lisbon."
        store.remember(NS, [{"role": "user", "name": "Ada", "content": said}], thread_id="t")
        build_reflection_graph(store).invoke({"namespace": NS})
        found = store.recall("Where do I live?", NS, kinds=["semantic"])
        assert {one.text for one in found.results} == {
            "Ada no longer lives in Porto.", "Ada lives in Lisbon.",
        }  # fmt: skip
        assert not any("earlier" in one.parts for one in found.results)
