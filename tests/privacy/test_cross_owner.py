"""Nobody finds what is somebody else's: random writes by several people, read over every path.

``LANGMEMORY_FUZZ_STEPS=20000`` looks longer, ``LANGMEMORY_FUZZ_SEED`` elsewhere.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from langmemory.context import note_id
from langmemory.errors import EntityNameError
from langmemory.nodes import RecallNode
from langmemory.nodes.core_memory import CoreMemory, labels_in
from langmemory.recall.presets import PRESETS
from langmemory.stores import MemoryStore
from langmemory.tools import TOOLS, create_memory_tools
from tests.privacy.household import OWNERS, SPACES, START, TOKEN, TOPICS, Household
from tests.seeds import examples
from tests.stores.change_sets import problems

STEPS = int(os.environ.get("LANGMEMORY_FUZZ_STEPS", examples(900, first=150)))
SEED = int(os.environ.get("LANGMEMORY_FUZZ_SEED", "1"))
READS = 3
"""Reads after each write."""
LAST_READS = 3
"""Reads of each kind at the end, for everybody."""

Answer = tuple[str, Any]
"""The question, who may see its words again, and the answer."""


class Reader:
    """Every way to read the file on behalf of a viewer."""

    def __init__(self, home: Household, viewer: str, seed: int, path: str | None = None) -> None:
        """``path``: where the file is, if not where the household's store has it."""
        self.home = home
        self.viewer = viewer
        self.random = random.Random(seed)
        path = path or home.store.path
        self.stores = {
            "hybrid": home.store,
            "semantic": MemoryStore(path, index={"search": "semantic"}),
            "keyword": MemoryStore(path, index={"search": "keyword"}),
        }
        self.reads: tuple[Callable[[], Iterator[Answer]], ...] = (
            self.gets, self.searches, self.asks_around, self.recalls, self.recalls, self.recalls,
            self.lists, self.lists, self.history, self.export, self.graph, self.graph, self.reviews,
            self.tools, self.node, self.core, self.standing, self.usage, self.feed, self.bus,
            self.procedures, self.asks_of_others, self.pages,
        )  # fmt: skip

    def close(self) -> None:
        for store in self.stores.values():
            if store is not self.home.store:
                store.close()

    def eyes(self, mode: str = "hybrid") -> Any:
        store = self.stores[mode]
        return store.for_viewer(self.viewer) if self.viewer else store.for_anyone()

    def query(self) -> str:
        """Common words, or exactly what somebody hides."""
        hidden = [token for tokens in self.home.live.values() for token in tokens[-40:]]
        if hidden and self.random.random() < 0.6:
            return self.random.choice(hidden)
        return self.random.choice(TOPICS)

    def place(self) -> tuple[Any, str]:
        return self.random.choice(self.home.keys or [(SPACES[0], "nothing")])

    def gets(self) -> Iterator[Answer]:
        place, key = self.place()
        found = self.eyes().get(place, key)
        yield "", None if found is None else found.dict()

    def searches(self) -> Iterator[Answer]:
        query = self.query() if self.random.random() < 0.8 else None
        mode = self.random.choice(list(self.stores))
        filter = self.random.choice((None, {"tag": "common"}, {"privacy": "private"}))
        space = self.random.choice((*SPACES, ("home",), ()))
        offset = self.random.choice((0, 0, 5))
        found = self.eyes(mode).search(
            space, query=query, filter=filter, limit=self.random.choice((3, 100)), offset=offset
        )
        yield "", [item.dict() for item in found]

    def asks_around(self) -> Iterator[Answer]:
        """A word that only somebody's private turn has finds nothing, nor the turns beside it."""
        for word in self.home.whispered[-10:]:
            if TOKEN.fullmatch(word)[1] != self.viewer:  # type: ignore[index]
                found = self.eyes("keyword").search((), query=word)
                assert found == [], f"{self.viewer!r} finds something by {word}"
                yield "", found

    def recalls(self) -> Iterator[Answer]:
        query = self.query()
        options: dict[str, Any] = {
            "preset": self.random.choice(list(PRESETS)),
            "explain": True,
            "limit": self.random.choice((3, 30)),
            "granularity": self.random.choice(("turn", "session")),
        }
        if self.random.random() < 0.3:
            options["as_of"] = START + timedelta(days=self.random.randrange(20))
        if self.random.random() < 0.3:
            options["known_at"] = START + timedelta(days=10_000)
        if self.random.random() < 0.2:
            options["thread_id"] = "asking"
        found = self.eyes(self.random.choice(list(self.stores))).recall(
            query, self.random.choice((*SPACES, ())), **options
        )
        yield "", found.results
        yield query, found.trace

    def lists(self) -> Iterator[Answer]:
        prefix = self.random.choice((None, ("home",)))
        depth = self.random.choice((None, 1, 2, 3))
        yield "", self.eyes().list_namespaces(prefix=prefix, max_depth=depth, limit=1000)

    def history(self) -> Iterator[Answer]:
        place, key = self.place()
        entries = self.eyes().changes.history(place, key)
        # The key and namespace are those asked for.
        yield "", [(one.action, one.before, one.after, one.reason, one.facets) for one in entries]

    def export(self) -> Iterator[Answer]:
        if self.random.random() < 0.5:
            yield "", list(self.eyes().admin.export(self.random.choice((*SPACES, ()))))

    def graph(self) -> Iterator[Answer]:
        space = self.random.choice(SPACES)
        times: dict[str, Any] = {}
        if self.random.random() < 0.3:
            times["as_of"] = START + timedelta(days=self.random.randrange(20))
        graph = self.eyes().graph(space, **times)
        yield "", graph.entities(past=True)
        yield "", graph.edges(past=self.random.random() < 0.5)
        yield "", graph.subgraph(past=True).to_json()
        known = self.home.entities[space] or ["nothing"]
        hidden = self.query()
        for one, other in (
            (hidden, hidden),
            (self.random.choice(known), self.random.choice(known)),
        ):
            try:
                yield one, graph.entity(one, past=True)
                yield one, graph.neighbours(one, 2)
                yield one, graph.paths(one, other)
                yield one, graph.subgraph(one, past=True).to_json()
            except EntityNameError as error:
                yield one, str(error)

    def reviews(self) -> Iterator[Answer]:
        yield "", self.eyes().changes.reviews(open_only=self.random.random() < 0.5)

    def tools(self) -> Iterator[Answer]:
        space = self.random.choice(SPACES)
        tools = {
            tool.name: tool
            for tool in create_memory_tools(space, tools=TOOLS, store=self.home.store)
        }
        place, key = self.place()
        query = self.query()
        name, arguments = self.random.choice(
            (
                ("search_memory", {"query": query, "limit": 50}),
                ("conversation_search", {"query": query, "limit": 50}),
                ("get_memory", {"id": key}),
                ("get_memory", {"id": note_id(place, key)}),
                ("memory_timeline", {"id": key, "around": 10}),
                ("core_memory_append", {"block": "task", "content": "more"}),
            )
        )
        call = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
        answer = tools[name].invoke(call, {"configurable": {"user_id": self.viewer}})
        yield f"{query} {key}", answer.content

    def node(self) -> Iterator[Answer]:
        query = self.query()
        node = RecallNode(self.random.choice(SPACES), store=self.home.store, limit=30)
        state = node.invoke(
            {"messages": [HumanMessage(query, id="now")]},
            {"configurable": {"user_id": self.viewer, "thread_id": "talk"}},
        )
        yield query, state["recall_trace"]
        yield "", [state["memory_block"], state["core_memory"], state["recalled"]]

    def standing(self) -> Iterator[Answer]:
        eyes, space = self.eyes(), self.random.choice((*SPACES, ()))
        yield "", eyes._conversing.mandates(space)
        for place, key in [self.place() for _ in range(10)]:
            yield "", eyes._conversing.labelled(space, note_id(place, key))
            yield "", eyes.changes.evidence(place, key)
            ended = eyes._conversing.retired([(place, key)])
            yield f"{place} {key}", ended
            assert not ended or eyes.get(place, key) is not None, (
                "knows how something unseen stands"
            )

    def usage(self) -> Iterator[Answer]:
        yield "", self.eyes().admin.usage(self.random.choice((*SPACES, ())), limit=1000)

    def feed(self) -> Iterator[Answer]:
        yield "", self.eyes().feed.read(limit=1000).events

    def bus(self) -> Iterator[Answer]:
        agent = self.eyes().bus(self.random.choice(SPACES), agent="helper" if self.viewer else None)
        yield "", agent.messages().items
        yield "", agent.inbox().items if self.viewer else ()

    def procedures(self) -> Iterator[Answer]:
        space, query = self.random.choice(SPACES), self.query()
        yield "", self.eyes().procedures.list(space, past=True)
        yield query, self.eyes().procedures.recall(query, space, limit=20)

    def asks_of_others(self) -> Iterator[Answer]:
        """What is claimed of somebody, also by their name, is not told by way of the question."""
        space = self.random.choice(SPACES)
        for name in (*OWNERS, *self.home.entities[space][-3:]):
            for question in (f"What is {name} called?", f"What does {name} like?"):
                found = self.eyes().recall(question, space, limit=50, explain=True)
                yield name, [found.results, found.trace]

    def pages(self) -> Iterator[Answer]:
        place, key = self.place()
        pages = self.eyes().pages
        yield "", pages.memories(place[:1], past=True, limit=100).items
        yield (
            "",
            [
                (one.action, one.before, one.after, one.reason)
                for one in pages.history(place, key).items
            ],
        )
        yield "", [pages.evidence(place, key).items, pages.reviews().items, pages.usage().items]

    def core(self) -> Iterator[Answer]:
        space = self.random.choice(SPACES)
        labels = labels_in(self.eyes(), space)
        yield "", [dict(labels), CoreMemory(self.eyes(), space, labels=labels).blocks()]


def tokens(answer: Any) -> set[str]:
    text = answer if isinstance(answer, str) else repr(answer)
    return {found[0] for found in TOKEN.finditer(text)}


def test_nobody_finds_what_is_somebody_elses(tmp_path: Path) -> None:
    """Whatever several people and the application store, reflect, change and forget: over no path
    does anybody meet a word of another's private memory, and nobody at all a forgotten one."""
    home = Household(tmp_path / "memory.db", SEED)
    readers = [Reader(home, viewer, SEED + n) for n, viewer in enumerate((*OWNERS, "mallory", ""))]
    looked: Counter[str] = Counter()
    own = 0

    def look(reader: Reader, read: Callable[[], Iterator[Answer]]) -> int:
        seen: set[str] = set()
        for asked, answer in read():
            looked[read.__name__] += 1
            found = tokens(answer) - tokens(asked) - home.open
            leaked = {one for one in found if TOKEN.fullmatch(one)[1] != reader.viewer}  # type: ignore[index]
            assert not leaked, f"{reader.viewer!r} met {leaked} by {read.__name__}: {answer}"
            assert not found & home.forgotten, f"{read.__name__} knows what was forgotten"
            seen |= found
        return len(seen)

    for _ in range(STEPS):
        home.step()
        for reader in home.random.sample(readers, READS):
            own += look(reader, home.random.choice(reader.reads))
    for reader in readers:  # at last everybody looks everywhere
        for read in dict.fromkeys(reader.reads):
            for _ in range(LAST_READS):
                look(reader, read)
    rows = json.dumps(list(home.store.admin.export()))
    assert not tokens(rows) & home.forgotten - home.open
    assert not tokens(home.store.changes.runs(limit=1_000_000)) & home.forgotten
    assert own > STEPS / 2  # people do meet their own: the reads look where the secrets are
    assert all(looked[read.__name__] for read in readers[0].reads)
    assert problems(home.store) == []
    for reader in readers:
        reader.close()
    home.store.close()
    print(dict(looked), home.done, f"{own} own", f"{len(home.forgotten)} forgotten")


@pytest.mark.parametrize("viewer", [None, "", 7])
def test_a_view_needs_a_viewer(tmp_path: Path, viewer: Any) -> None:
    """Binding a store to nobody is an error, never everybody's view."""
    with MemoryStore(tmp_path / "memory.db") as store, pytest.raises(ValueError, match="viewer"):
        store.for_viewer(viewer)
