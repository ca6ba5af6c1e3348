"""Any use of a store, against a model of it in plain Python: what a search answers does not depend on
which way it was taken, who wrote, or what the process keeps in memory."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from langgraph.store.base import ListNamespacesOp, MatchCondition, PutOp, SearchItem

from langmemory.engines.sqlite import indexes, keyword_search
from langmemory.languages import keyword_terms
from langmemory.ledger.filters import matches
from langmemory.ledger.settings import read_model
from langmemory.search import binary, scope_plan
from langmemory.search import word_search as word_index
from langmemory.stores import MemoryStore
from langmemory.types import Namespace, SearchMode
from tests.places import POSTGRES
from tests.seeds import examples, seeds
from tests.stores.embedders import WordEmbeddings

FREQUENT = ("red", "wine", "alice", "bob", "paris", "n1", "n2", "tea", "ocean", "blue", "number")
WORDS = (*FREQUENT, *(f"rare{n}" for n in range(20)))
NAMESPACES: tuple[Namespace, ...] = (
    ("u",), ("u", "a"), ("u", "%"), ("u_", "a"), ("u", "a", "b"), ("ü", "日本"), ("*", "x"),
    ("U", "a"), ("n1", "n2"),
)  # fmt: skip
PLACES = ("n", "m", "d.e", "q'\"x", "d", "d.f.g", "tags")
VALUES: tuple[Any, ...] = (
    1, True, 1.0, 0, False, None, "1", "a", "x" * 80, 2**60, 2**70, -(2**70), 1e300, 0.5, "é",
    [1, 2], [True, 2], [{"a": 1}], {"b": 1}, {"b": {"c": "z"}}, [], {}, [[1], [2]],
)  # fmt: skip
THRESHOLDS = (
    (keyword_search, "SCORED_ROWS", (5, 20, 600)),
    (word_index, "SCORED_ROWS", (5, 20, 600)),
    (indexes, "KEPT_CHANGES", (20, 65_536)),
    (keyword_search, "RESCORED_ROWS", (3, 350)),
    (keyword_search, "SMALL_ROWS", (0, 20, 250)),
    (scope_plan, "FILTERED_FIRST", (3, 50, 8192)),
    (binary, "KEPT_ROWS", (50, 1 << 19)),
    (binary, "FEW", (2,)),
)
"""Where a search turns to another way, so low that a few hundred items meet them all."""

Place = tuple[Namespace, str]


class Known(NamedTuple):
    """An item as the model holds it."""

    value: dict[str, Any]
    texts: list[str]
    changed: int


class Model:
    """A model of the file: its expected content and the expected answer of each search."""

    def __init__(self, random: random.Random, embeddings: WordEmbeddings) -> None:
        self.random = random
        self.embeddings = embeddings
        self.items: dict[Place, Known] = {}
        self.changes = 0

    def text(self) -> str:
        some = self.random.choices(FREQUENT, k=self.random.randrange(1, 4))
        return " ".join(some + self.random.choices(WORDS, k=2))

    def value(self) -> dict[str, Any]:
        places = self.random.sample(PLACES[:4], self.random.randrange(4))
        value = {"text": self.text()} | {place: self.random.choice(VALUES) for place in places}
        if self.random.random() < 0.3:
            value["tags"] = [self.text() for _ in range(self.random.randrange(4))]
        if self.random.random() < 0.3:
            value["d"] = {"e": self.random.choice(VALUES), "f": {"g": 1}}
        return value

    def filter(self) -> dict[str, Any]:
        if self.random.random() < 0.2:
            branches = [self.filter() for _ in range(self.random.randrange(1, 3))]
            return {self.random.choice(("$and", "$or")): branches}
        return {
            self.random.choice(PLACES): self.operand() for _ in range(self.random.randrange(1, 3))
        }

    def operand(self) -> Any:
        name = self.random.choice(("", "", "$eq", "$ne", "$gt", "$lte", "$in", "$contains"))
        if name in ("$gt", "$lte"):
            return {name: self.random.choice((0, 1, True, 0.5, "a", "x" * 80, 2**60, 2**70, ""))}
        if name == "$in":
            return {name: self.random.choices(VALUES, k=self.random.randrange(3))}
        operand = self.random.choice(VALUES)
        return {name: operand} if name else operand

    def change(self, store: MemoryStore) -> None:
        """Puts and deletions in one batch."""
        self.changes += 1
        operations: list[PutOp] = []
        for _ in range(self.random.choice((1, 1, 5, 40))):
            place = (self.random.choice(NAMESPACES), f"k{self.random.randrange(30)}")
            if self.random.random() < 0.25:
                operations.append(PutOp(*place, None))
                self.items.pop(place, None)
                continue
            value, index = self.value(), self.random.choice((None, None, False, ["text"]))
            operations.append(PutOp(*place, value, index=index))
            texts = [value["text"], *(value.get("tags", []) if index is None else [])]
            self.items[place] = Known(value, [] if index is False else texts, self.changes)
        store.batch(operations)

    def search(self, store: MemoryStore, mode: SearchMode) -> None:
        prefix = self.random.choice((*NAMESPACES, (), ("u",), ("nobody",)))
        filter = self.random.choice((None, self.filter()))
        query = self.random.choice((None, self.text(), self.text(), f"zzz {self.text()}"))
        limit, offset = self.random.choice((1, 3, 10, 1000)), self.random.choice((0, 0, 2, 30))
        found = store.search(prefix, query=query, filter=filter, limit=limit, offset=offset)
        places = [(item.namespace, item.key) for item in found]
        there = {
            place: known
            for place, known in self.items.items()
            if place[0][: len(prefix)] == prefix
            and (filter is None or matches(known.value, filter))
        }
        if query is not None and mode == "keyword":
            asked = set(keyword_terms(query))
            there = {place: known for place, known in there.items() if asked & words(known)}
        assert len(set(places)) == len(places) == max(0, min(limit, len(there) - offset))
        assert [repr(item.value) for item in found] == [repr(there[p].value) for p in places]
        if query is None:
            newest = sorted((known.changed for known in there.values()), reverse=True)
            assert [there[p].changed for p in places] == newest[offset : offset + limit]
        elif mode != "keyword":
            self.verify_scores(query, there, found, offset, ordered=mode == "semantic")

    def verify_scores(
        self,
        query: str,
        there: Mapping[Place, Known],
        found: list[SearchItem],
        offset: int,
        *,
        ordered: bool,
    ) -> None:
        """Scores are the cosine of the item's best text, and a semantic search orders by it."""
        cosines = {
            place: max(float(self.vector(text) @ self.vector(query)) for text in known.texts)
            for place, known in there.items()
            if known.texts
        }
        for item in found:
            own = cosines.get((item.namespace, item.key), 0.0)
            assert (item.score or 0.0) == pytest.approx(own, abs=1e-4)
        if ordered:
            best = sorted(cosines.values(), reverse=True)[offset : offset + len(found)]
            shown = [item.score for item in found if item.score is not None]
            assert shown == pytest.approx(best, abs=1e-4)

    def vector(self, text: str) -> Any:
        vector = np.array(self.embeddings._vector(text), np.float32)
        return vector / np.linalg.norm(vector)

    def list_namespaces(self, store: MemoryStore) -> None:
        labels = self.random.choice(NAMESPACES)
        path = [self.random.choice((label, "*")) for label in labels]
        kind = self.random.choice(("prefix", "suffix"))
        depth, limit = self.random.choice((None, 1, 2)), self.random.choice((1, 100))
        condition = MatchCondition(kind, tuple(path))
        (found,) = store.batch([ListNamespacesOp((condition,), depth, limit, 0)])
        n = len(path)
        every = {
            namespace[:depth]
            for namespace, _ in self.items
            if len(namespace) >= n
            and all(
                wanted in ("*", label)
                for wanted, label in zip(
                    path, namespace[:n] if kind == "prefix" else namespace[-n:], strict=True
                )
            )
        }
        assert found == sorted(every)[:limit]


def words(known: Known) -> set[str]:
    return set(re.findall(r"\w+", " ".join(known.texts)))


@pytest.mark.parametrize("seed", seeds(range(4), first=1))
def test_any_use_is_what_a_plain_model_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Searches of every kind, filters, pages and listings answer what brute force answers, while four
    stores write to one file, its logs are packed and cut, and the copies in memory come and go."""
    choose = random.Random(seed)
    for module, name, options in THRESHOLDS:
        monkeypatch.setattr(module, name, choose.choice(options))
    embeddings = WordEmbeddings()
    index: dict[str, Any] = {"embed": embeddings, "dims": 16, "fields": ["text", "tags[*]"]}
    modes: tuple[SearchMode, ...] = ("semantic", "semantic", "hybrid", "keyword")
    stores = [
        (mode, MemoryStore(tmp_path / "m.db", index={**index, "search": mode, "exact": True}))
        for mode in modes
    ]
    model = Model(choose, embeddings)
    for _ in range(examples(1000, first=200)):
        mode, store = choose.choice(stores)
        chance = choose.random()
        if chance < 0.3:
            model.change(store)
        elif chance < 0.34:
            model.list_namespaces(store)
        elif chance < 0.35:
            namespace = choose.choice(NAMESPACES)
            store.admin.delete_namespace(namespace)
            for place in [one for one in model.items if one[0][: len(namespace)] == namespace]:
                del model.items[place]
        elif chance < 0.36 and model.changes:
            with store._core.engine.write() as connection:
                binary.pack(connection, read_model(connection).words)
                indexes.trim_words_log(connection)
        elif chance < 0.37:
            database = store._core.engine.database
            with (database.read if POSTGRES else database.scan)() as connection:
                store._core.engine.copies.words.load(connection, 1 << 30)
        elif chance < 0.39 and model.changes:
            engine = store._core.engine
            with engine.read() as snapshot:
                if POSTGRES:
                    signed = engine.seen(snapshot.connection).index
                else:
                    _, signed = engine.up_to_date_index(snapshot.connection)
            if signed is not None:
                signed.load_coarse(store._core.engine.database.read, 16, 1 << 30)
        else:
            model.search(store, mode)
    for _, store in stores:
        assert store.admin.check() == []
        store.close()
