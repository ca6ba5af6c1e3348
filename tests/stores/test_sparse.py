"""The sparse channel: vectors of an encoder beside the items, and what recall makes of them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from langmemory import MemoryStore
from langmemory.cli.doctor import _file
from langmemory.config import Config, DatabaseConfig
from langmemory.errors import ConfigError, EmbeddingError, EmbeddingModelMismatchError
from langmemory.ledger import reembedding
from langmemory.ports.sparse import PAIR, SparseVector
from langmemory.recall import sparse_encoders
from langmemory.search import sparse_search
from langmemory.search import sparse_search as copies
from langmemory.stores import copy, reencode
from langmemory.stores.face import ViewerStore
from langmemory.types import Scope
from tests.lifecycle.test_archive import learn, move, put_away
from tests.lifecycle.test_nights import ADA
from tests.postgres_server import place
from tests.recall.test_rerankers import ASKED, SAID, tiny

NS = ("home",)
WEIGHTED = Config.model_validate(
    {"recall": {"presets": {"balanced": {"weights": {"sparse": 0.05}}}}}
)
MEANT = {"doctor": "physician", "arzt": "physician", "car": "automobile"}


class Thesaurus:
    """An encoder whose dimensions are words, of those with one meaning the same."""

    def __init__(self, name: str = "thesaurus") -> None:
        self.name = name
        self.asked: list[str] = []
        self.looked_up: list[str] = []

    def encode_documents(self, texts: Sequence[str]) -> Sequence[SparseVector]:
        self.asked += texts
        return [self.encode_query(text) for text in texts]

    def encode_query(self, text: str) -> SparseVector:
        self.looked_up.append(text)
        if "broken" in text:
            raise ConnectionError("no answer")
        words = (word.strip(".?!").lower() for word in text.split())
        return {crc32(MEANT.get(word, word).encode()): 1.0 for word in words}


def count(store: MemoryStore) -> int:
    return int(store.conn.execute("SELECT count(*) FROM sparse").fetchone()[0])


def found_by(
    store: MemoryStore | ViewerStore, query: str, *, told: tuple[str, ...] = (), **options: Any
) -> list[str]:
    """The texts that the sparse channel found, best first."""
    recall = store.recall(query, NS, explain=True, **options)
    assert recall.trace.degraded == told
    ranks = [
        (one.explanation.ranks["sparse"], one.text)
        for one in recall.results
        if one.explanation is not None and "sparse" in one.explanation.ranks
    ]
    return [text for _, text in sorted(ranks)]


def test_it_finds_what_other_words_say_and_explains_it(tmp_path: Path) -> None:
    """A memory with none of the query's words is found by the encoder's dimensions, in a store that has
    nothing else that finds it, blocking and awaited."""
    encoder = Thesaurus()
    with MemoryStore(tmp_path / "memory.db", index=False, sparse=encoder, config=WEIGHTED) as store:
        store.remember(
            NS, [("user", "A physician came."), ("user", "We saw a heron.")], thread_id="t"
        )
        asyncio.run(store.aput(NS, "car", {"text": "An automobile is parked outside"}))
        assert found_by(store, "Doctor?") == ["A physician came."]
        recall = asyncio.run(store.arecall("car", NS, explain=True))
        best = recall.results[0]
        assert (best.text, best.parts["sparse"]) == ("An automobile is parked outside", 1.0)
        assert best.explanation is not None
        assert best.explanation.contributions["sparse"] > 0
        assert recall.trace.candidates["sparse"] == 1


def test_vectors_follow_their_items(tmp_path: Path) -> None:
    """A vector is written with its item and goes with it, also where a store without the encoder changes or
    deletes it, and an undo brings it back; what is not indexed has none."""
    path = tmp_path / "memory.db"
    with MemoryStore(path, sparse=Thesaurus()) as store:
        store.put(NS, "a", {"text": "a doctor"})
        store.put(NS, "b", {"text": "a car"})
        store.put(NS, "hidden", {"text": "a doctor"}, index=False)
        assert count(store) == 2
        store.put(NS, "a", {"text": "an automobile"})
        assert found_by(store, "doctor") == []
        assert sorted(found_by(store, "car")) == ["a car", "an automobile"]
        store.delete(NS, "a")
        store.put(NS, "b", {"text": "the doctor"})
        store.put(NS, "b", {"text": "the doctor"})
        assert found_by(store, "physician") == ["the doctor"]
        store.put(NS, "b", {"text": "the doctor"}, index=False)
        assert (count(store), store.admin.check()) == (0, [])
        store.put(NS, "c", {"text": "the car"})
        store.forget(NS, keys=["c"])
        assert count(store) == 0


def test_what_is_written_without_the_encoder_is_told_until_it_has_a_vector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store without the encoder leaves no outdated vector behind. From its first memory on every recall
    says that some have none, and so does the doctor; the others are found all the same. A `reencode` ends
    that, unless such a store writes meanwhile. A question about an earlier time asks no encoder."""
    path, encoder = tmp_path / "memory.db", Thesaurus()
    doctor = Config(database=DatabaseConfig(path=place(path)))
    lacks = "memories that were written without the sparse encoder have no vector: run reencode"
    with MemoryStore(path, sparse=encoder) as store, MemoryStore(path, index=False) as other:
        for key in "abc":
            store.put(NS, key, {"text": f"a physician {key}"})
        other.delete(NS, "a")
        other.put(NS, "hidden", {"text": "a doctor"}, index=False)
        assert (len(found_by(store, "doctor")), list(_sparse_checks(doctor))) == (2, [])
        other.put(NS, "b", {"text": "a physician at the sea"})
        assert found_by(store, "doctor", told=(lacks,)) == ["a physician c"]
        assert list(_sparse_checks(doctor)) == [lacks]
        reencode(place(path), encoder)
        assert len(found_by(store, "doctor")) == 2
        assert list(_sparse_checks(doctor)) == []
        other.put(NS, "d", {"text": "a physician abroad"})
        with monkeypatch.context() as patch:
            encode = encoder.encode_documents

            def meanwhile(texts: Sequence[str]) -> Sequence[SparseVector]:
                other.put(NS, "c", {"text": "a physician gone"})
                return encode(texts)

            patch.setattr(encoder, "encode_documents", meanwhile)
            reencode(place(path), encoder)
        found_by(store, "doctor", told=(lacks,))
        encoder.looked_up.clear()
        store.recall("then", NS, known_at=datetime.now(UTC))
        store.recall("now", NS)
        assert encoder.looked_up == ["now"]


def _sparse_checks(config: Config) -> Iterator[str]:
    yield from (one.found for one in _file(config) if one.what == "sparse vectors")


def test_a_viewer_and_a_filter_hold_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a viewer may not see, and what a filter leaves out, is found neither from the rows nor from the
    copy in memory."""
    monkeypatch.setattr(copies, "WORTH_COPYING", 1)
    monkeypatch.setattr(copies, "SEARCHES_BEFORE_COPY", 0)
    with MemoryStore(tmp_path / "memory.db", sparse=Thesaurus()) as store:
        for n in range(40):
            store.put(NS, f"x{n}", {"text": f"a car {n}", "n": n})
        private = {"owner": "ada", "privacy": "private"}
        store.put(NS, "secret", {"text": "the physician of ada", **private})
        store.put((*NS, "below"), "open", {"text": "the physician of all"})
        for _ in range(3):
            assert found_by(store.for_viewer("ben"), "doctor") == ["the physician of all"]
            assert len(found_by(store.for_viewer("ada"), "doctor")) == 2
            assert found_by(store, "car", filter={"n": {"$gte": 39}}) == ["a car 39"]
            index = store._core.engine.copies.sparse
            with store._core.engine.copies._scan() as connection:
                index.load(connection, 1 << 20)
            assert index.current() is not None


def test_the_copy_answers_as_the_rows_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was written, replaced and deleted since the copy was made, both find the same with the same
    sums of products."""
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(list("abcdefghijkl"), 6)) for _ in range(120)]
    monkeypatch.setattr(sparse_search, "READ_AT_ONCE", 16)
    with MemoryStore(tmp_path / "memory.db", sparse=Thesaurus()) as store:
        for n, text in enumerate(texts[:90]):
            store.put((*NS, str(n % 7)), str(n), {"text": text})
        engine, index = store._core.engine, copies.SparseIndex()
        with engine.copies._scan() as connection:
            index.load(connection, 1 << 24)
        for n, text in enumerate(texts[90:]):
            store.put((*NS, str(n % 5)), str(n), {"text": text})
        for n in range(0, 90, 9):
            store.delete((*NS, str(n % 7)), str(n))
        encoder = store._core.indexing.sparse
        assert encoder is not None
        for query, place in (("a b c", NS), ("d d l", (*NS, "3")), ("z", NS), ("a k", ())):
            vector = encoder.queries([query])[query]
            assert vector is not None
            with engine.read() as snapshot:
                scope = snapshot.scoped(Scope(namespace=place))
                plan = snapshot.plan(scope)
                both = [
                    sparse_search.search(snapshot.connection, one, scope, vector, 20, plan=plan)
                    for one in (None, index)
                ]
            assert both[0].ids.tolist() == both[1].ids.tolist()
            assert np.allclose(both[0].scores, both[1].scores)
            assert all(a >= b for a, b in pairwise(both[0].scores))
            assert (len(both[0].ids) > 0) == (query != "z")


def test_memories_from_before_are_encoded_by_reencode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until all memories have a vector, recall leaves the channel out and says so; a run that broke off goes
    on, and another encoder's vectors never mix with these."""
    monkeypatch.setattr(reembedding, "ENCODED_AT_ONCE", 50)
    path = str(tmp_path / "memory.db")
    with MemoryStore(path) as store:
        for n in range(60):
            store.put(NS, str(n), {"text": f"a physician {n}"})
    with MemoryStore(path, sparse=Thesaurus()) as store:
        assert "there are no sparse vectors" in store.recall("doctor", NS).trace.degraded[0]
        store.put(NS, "new", {"text": "a car"})
        told = store.recall("doctor", NS).trace.degraded
        assert told == (
            "memories from before the sparse encoder have no vector: not asked, run reencode",
        )

    class Dying(Thesaurus):
        def encode_documents(self, texts: Sequence[str]) -> Sequence[SparseVector]:
            if len(self.asked) >= 50:
                raise ConnectionError("gone")
            return super().encode_documents(texts)

    with pytest.raises(EmbeddingError, match=r"thesaurus failed \(ConnectionError: gone\)"):
        reencode(path, Dying())
    seen: list[tuple[int, int]] = []
    assert reencode(path, Thesaurus(), progress=lambda *done: seen.append(done)) == 60 - 50
    assert seen == [(10, 10)]
    with MemoryStore(path, sparse=Thesaurus()) as store:
        recall = store.recall("doctor", NS, explain=True)
        assert (recall.trace.degraded, recall.trace.candidates["sparse"]) == ((), 40)
        with pytest.raises(
            EmbeddingModelMismatchError, match=r"come from thesaurus, but .* with other"
        ):
            MemoryStore(path, sparse=Thesaurus("other"))
        assert reencode(path, Thesaurus("other")) == 61
        told = store.recall("doctor", NS).trace.degraded
        assert told == ("the sparse vectors come from other: not asked, reopen the store",)
        with pytest.raises(EmbeddingModelMismatchError):
            store.put(NS, "new", {"text": "another car"})


def test_without_an_encoder_nothing_is_asked_or_written(tmp_path: Path) -> None:
    """A store without one never names the table."""
    with MemoryStore(tmp_path / "memory.db") as store:
        told: list[str] = []
        run = type(store.conn).execute
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                type(store.conn),
                "execute",
                lambda self, sql, *more: told.append(sql) or run(self, sql, *more),
            )
            store.put(NS, "a", {"text": "a doctor"})
            store.put(NS, "a", {"text": "a physician"})
            store.recall("doctor", NS)
            store.delete(NS, "a")
    assert told
    assert not [sql for sql in told if "sparse" in sql]


def test_a_failing_encoder_stores_nothing_and_degrades_recall(tmp_path: Path) -> None:
    """As with the embedder: a write fails as a whole, a recall goes on without it and says so."""
    with MemoryStore(tmp_path / "memory.db", sparse=Thesaurus()) as store:
        with pytest.raises(EmbeddingError, match="Sparse encoder thesaurus failed"):
            store.put(NS, "a", {"text": "broken"})
        assert store.get(NS, "a") is None
        store.put(NS, "a", {"text": "a doctor"})
        recall = store.recall("broken doctor", NS)
        assert [one.text for one in recall.results] == ["a doctor"]
        assert recall.trace.degraded == ("sparse encoder failed: not asked",)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ([{1: float("nan")}], "a weight is not finite"),
        ([{-1: 1.0}], "a dimension is below 0"),
        ([{"dog": 1.0}], "the dimensions are not whole numbers"),
        ([[0.1, 0.2]], "one is of type list"),
        ([], "0 vectors to 1 text"),
        (None, "failed .TypeError"),
    ],
)
def test_a_wrong_answer_is_told(tmp_path: Path, answer: Any, why: str) -> None:
    """The error says what is wrong with the vectors, and nothing is stored."""

    class Wrong(Thesaurus):
        def encode_documents(self, texts: Sequence[str]) -> Sequence[SparseVector]:
            found: Sequence[SparseVector] = answer
            return found

    with (
        MemoryStore(tmp_path / "memory.db", sparse=Wrong()) as store,
        pytest.raises(EmbeddingError, match=why),
    ):
        store.put(NS, "a", {"text": "a doctor"})


def test_encoders_of_langchain_are_taken(tmp_path: Path) -> None:
    """LangChain's SparseEmbeddings answer objects with indices and values, and are awaited where they can be;
    dense embeddings and other things are refused by name."""

    class Vector:
        def __init__(self, vector: SparseVector) -> None:
            self.indices, self.values = list(vector), list(vector.values())

    class FastEmbedSparse:
        model_name = "prithivida/Splade_PP_en_v1"
        awaited = 0

        def embed_documents(self, texts: list[str]) -> list[Vector]:
            return [Vector(one) for one in Thesaurus().encode_documents(texts)]

        def embed_query(self, text: str) -> Vector:
            return Vector(Thesaurus().encode_query(text))

        async def aembed_documents(self, texts: list[str]) -> list[Vector]:
            self.awaited += 1
            return self.embed_documents(texts)

        async def aembed_query(self, text: str) -> Vector:
            self.awaited += 1
            return self.embed_query(text)

    model = FastEmbedSparse()
    with MemoryStore(tmp_path / "memory.db", sparse=model) as store:
        store.put(NS, "a", {"text": "a physician"})
        assert found_by(store, "doctor") == ["a physician"]
        asyncio.run(store.aput(NS, "b", {"text": "a car"}))
        asyncio.run(store.arecall("automobile", NS))
        assert model.awaited == 2
        name = store.conn.execute("SELECT value FROM setting WHERE name = 'sparse'").fetchone()[0]
        assert name == "FastEmbedSparse:prithivida/Splade_PP_en_v1"
    from langchain_core.embeddings import DeterministicFakeEmbedding

    with pytest.raises(ConfigError, match="sparse is dense embeddings"):
        MemoryStore(tmp_path / "other.db", sparse=DeterministicFakeEmbedding(size=4))
    with pytest.raises(ConfigError, match="There is no sparse encoder 'bm25'"):
        MemoryStore(tmp_path / "other.db", sparse="bm25")


def test_splade_is_read_by_sentence_transformers(tmp_path: Path) -> None:
    """A model by its folder, and the object itself, give the vectors that the library makes; what is no model
    is told."""
    transformers = pytest.importorskip("transformers")
    library = pytest.importorskip("sentence_transformers")
    folder = tiny(tmp_path / "model", heads=False)
    made = transformers.AutoConfig.from_pretrained(folder)
    transformers.BertForMaskedLM(made).save_pretrained(folder)
    model = library.SparseEncoder(folder)
    named, given = (sparse_encoders.CheckedEncoder(one) for one in (f"splade:{folder}", model))
    assert (named.name, given.name) == (f"splade:{folder}", f"SparseEncoder:{folder}")
    exact = model.encode_document(list(SAID)).to_dense().numpy()
    for encoder in (named, given):
        for row, vector in zip(exact, encoder.encode_documents(SAID), strict=True):
            assert np.flatnonzero(row).tolist() == vector["dimension"].tolist()
            assert np.allclose(row[row != 0], vector["weight"], rtol=1e-3)
    with MemoryStore(tmp_path / "memory.db", sparse=f"splade:{folder}") as store:
        store.remember(NS, [("user", text) for text in SAID], thread_id="t")
        assert found_by(store, ASKED)
    with pytest.raises(ConfigError, match=r"'splade:.*' cannot be loaded"):
        MemoryStore(tmp_path / "memory.db", sparse=f"splade:{tmp_path / 'nothing'}")


def test_a_missing_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra to install, also where the configuration names the encoder;
    a store that embeds nothing needs neither."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    needs = r"needs sentence_transformers: .*the extra \"rerank\""
    with pytest.raises(ConfigError, match=needs):
        MemoryStore(tmp_path / "memory.db", sparse="splade")
    config = Config.model_validate({"models": {"embedding": "static + splade:some/model"}})
    with pytest.raises(ConfigError, match=f"'splade:some/model' {needs}"):
        MemoryStore(tmp_path / "memory.db", config=config)
    MemoryStore(tmp_path / "memory.db", config=config, index=False).close()
    assert config.models.dense == "static"


def test_long_texts_have_the_largest_weights_of_their_parts(tmp_path: Path) -> None:
    """An item has one vector: the largest weights of its passages, as encoders cut off long texts; of too
    many dimensions it has the heaviest."""
    parts = [np.array(one, PAIR) for one in ([(1, 0.5), (7, 2.0)], [(1, 1.5), (9, -1.0)])]
    assert sparse_encoders.merge_vectors(parts).tolist() == [(1, 1.5), (7, 2.0), (9, -1.0)]
    many = sparse_encoders._pairs({n: float(n) for n in range(1, 3000)})
    assert (len(many), many["dimension"].min()) == (1024, 3000 - 1024)
    encoder = Thesaurus()
    with MemoryStore(tmp_path / "memory.db", sparse=encoder) as store:
        store.put(
            NS, "long", {"text": "We walked along the river. " * 60 + "Then the doctor came."}
        )
        assert max(map(len, encoder.asked)) > 1500 > min(map(len, encoder.asked))
        assert len(found_by(store, "physician")) == 1


def test_vectors_go_along_to_a_copy_and_an_import_makes_them_anew(tmp_path: Path) -> None:
    """A copy of a memory has the vectors of its encoder; an import asks the encoder."""
    source, target = tmp_path / "memory.db", tmp_path / "copy.db"
    with MemoryStore(source, sparse=Thesaurus()) as store:
        store.put(NS, "a", {"text": "a physician"})
    copy(place(source), place(target))
    encoder = Thesaurus()
    with MemoryStore(target, sparse=encoder) as store:
        assert found_by(store, "doctor") == ["a physician"]
        rows = list(store.admin.export())
    assert not encoder.asked
    with MemoryStore(tmp_path / "imported.db", sparse=encoder) as store:
        store.admin.import_rows(rows)
        assert found_by(store, "doctor") == ["a physician"]


@pytest.mark.sqlite("moves memories into an archive file; a server keeps them")
def test_vectors_go_along_to_the_archive_file_and_back(tmp_path: Path) -> None:
    """What moves keeps its vector, in a store without the encoder too, and a run with an encoder reaches both
    files."""
    path = tmp_path / "memory.db"
    with MemoryStore(path, sparse=Thesaurus()) as store:
        first, *_ = learn(store)
        before = count(store)
        put_away(store, first)
    with MemoryStore(path) as store:
        move(store)
        assert count(store) == before - 1
    with MemoryStore(path, sparse=Thesaurus(), config=WEIGHTED) as store:
        moved = store.recall("green", ADA, include_archive=True, explain=True)
        assert not moved.trace.degraded
        [one] = [one for one in moved.results if one.memory.key == first]
        assert one.parts["sparse"] == 1
    assert reencode(str(path), Thesaurus("other")) == before
    with MemoryStore(path, sparse=Thesaurus("other")) as store:
        store.changes.undo("evict/" + ".".join((*ADA, first)))
        assert count(store) == before
