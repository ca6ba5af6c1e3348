"""Embedders that fail, repeat themselves, change; and moving a file to another one."""

from __future__ import annotations

import inspect
import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp

from langmemory.config import Config
from langmemory.errors import (
    ConfigError,
    DatabaseError,
    EmbeddingError,
    EmbeddingModelMismatchError,
)
from langmemory.ledger import reembedding
from langmemory.stores import MemoryStore, reembed
from tests.stores.embedders import WordEmbeddings

NS = ("a",)


async def awaited(answer: Any) -> Any:
    """The answer of a sync or an async method."""
    return await answer if inspect.isawaitable(answer) else answer


def index(embeddings: Any, **more: Any) -> Any:
    return {"embed": embeddings, "dims": embeddings.dims, "fields": ["text"], **more}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_failing_search_falls_back_to_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, asynchronous: bool
) -> None:
    """When the embedder fails, a search is answered by keywords and says so in the log, without a
    word of the query or the memories."""
    embeddings = WordEmbeddings()
    with MemoryStore(tmp_path / "m.db", index=index(embeddings)) as store:
        store.put(NS, "k", {"text": "the yellow submarine"})
        store.put(NS, "other", {"text": "a green car"})
        embeddings.fail_after = 0
        with caplog.at_level(logging.DEBUG):
            found = (
                await store.asearch(NS, query="submarine secrets")
                if asynchronous
                else store.search(NS, query="submarine secrets")
            )
        assert [item.key for item in found] == ["k"]
        assert "embedder failed (TimeoutError): searching by keywords" in caplog.text
        for word in ("submarine", "secrets", "yellow"):
            assert word not in caplog.text
        embeddings.fail_after = None
        assert len(store.search(NS, query="submarine secrets")) == 2


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_failing_put_writes_nothing(tmp_path: Path, asynchronous: bool) -> None:
    """When the embedder fails during a put, batch or remember, it is an error and nothing of the
    call is written."""
    embeddings = WordEmbeddings()
    with MemoryStore(tmp_path / "m.db", index=index(embeddings)) as store:
        store.put(NS, "k", {"text": "before"})
        embeddings.fail_after = 1
        operations = [
            PutOp(NS, "k", {"text": "after"}),
            PutOp(NS, "new", {"text": "another"}),
            PutOp(NS, "free", {"text": "not embedded"}, False),
        ]
        turns = [("user", "one"), ("ai", "two")]
        with pytest.raises(EmbeddingError, match="WordEmbeddings:words-a failed"):
            await store.abatch(operations) if asynchronous else store.batch(operations)
        remember = store.aremember if asynchronous else store.remember
        with pytest.raises(EmbeddingError):
            await awaited(remember(NS, turns, thread_id="t"))
        assert [(item.key, item.value["text"]) for item in store.search(())] == [("k", "before")]
        assert store.stats().history == 1


def test_a_known_text_is_not_embedded_again(tmp_path: Path) -> None:
    """Within a batch, across items, across re-puts and across openings, one text is embedded once;
    another model's vectors are not taken for it."""
    path = tmp_path / "m.db"
    embeddings = WordEmbeddings()
    with MemoryStore(path, index=index(embeddings)) as store:
        store.batch([PutOp(NS, f"k{n}", {"text": "same", "n": n}) for n in range(5)])
        store.put(NS, "k0", {"text": "same", "n": 99})
        store.put(("b",), "k", {"text": "same"})
    with MemoryStore(path, index=index(embeddings)) as store:
        store.put(("c",), "k", {"text": "same"})
        store.put(("c",), "k2", {"text": "different"})
        assert embeddings.asked == ["same", "different"]
        assert [round(item.score or 0, 2) for item in store.search((), query="same", limit=7)] == [
            1
        ] * 7


def test_another_model_is_refused_by_name(tmp_path: Path) -> None:
    """Opening with another model, or the same with other dims, names both and the way out; without
    an index the file opens still."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=index(WordEmbeddings(16, "words-a"))) as store:
        store.put(NS, "k", {"text": "x"})
    for other in (WordEmbeddings(16, "words-b"), WordEmbeddings(8, "words-a")):
        with pytest.raises(
            EmbeddingModelMismatchError,
            match=rf"words-a \(16 dims\).*{other.model} \({other.dims} dims\).*langmemory reembed",
        ):
            MemoryStore(path, index=index(other))
    with MemoryStore(path, index=False) as store:
        assert store.search(NS, query="x")


def test_two_models_race_for_an_empty_file(tmp_path: Path) -> None:
    """Of two stores that opened an empty file with different models, the first to write decides;
    the other's put is refused and writes nothing."""
    with (
        MemoryStore(tmp_path / "m.db", index=index(WordEmbeddings(16, "words-a"))) as first,
        MemoryStore(tmp_path / "m.db", index=index(WordEmbeddings(8, "words-b"))) as second,
    ):
        first.put(NS, "k", {"text": "x"})
        with pytest.raises(EmbeddingModelMismatchError, match="words-a"):
            second.put(NS, "k2", {"text": "y"})
        assert [item.key for item in second.search(NS, query="x")] == ["k"]


def test_reembed_resumes_while_the_old_index_serves(tmp_path: Path) -> None:
    """A reembed that dies halfway leaves the old index serving; the next run embeds only what is
    left and what changed since; afterwards every vector is of the new model."""
    path = tmp_path / "m.db"
    texts = {f"k{n}": f"word{n} common" for n in range(600)}
    old, new = WordEmbeddings(16, "words-a"), WordEmbeddings(24, "words-b")
    with MemoryStore(path, index=index(old)) as store:
        store.batch(PutOp(NS, key, {"text": text}) for key, text in texts.items())
        store.remember(NS, [("user", "a turn"), ("ai", "another")], thread_id="t")

        new.fail_after = 300  # a batch of 256, and no further
        with pytest.raises(EmbeddingError):
            reembed(str(path), index=index(new))
        done = set(new.asked)
        assert 0 < len(done) < 300
        assert store.search(NS, query="word7 common", limit=1)[0].key == "k7"
        store.put(NS, "k0", {"text": "changed meanwhile"})
        store.put(NS, "late", {"text": "new meanwhile"})
        store.delete(NS, "k1")

        new.fail_after, new.asked = None, []
        progress: list[tuple[int, int]] = []
        setting = reembed(str(path), index=index(new), progress=lambda *step: progress.append(step))
        assert (setting.model, setting.dims) == ("WordEmbeddings:words-b", 24)
        assert set(new.asked) & done == set()
        assert {"changed meanwhile", "new meanwhile", "a turn"} <= set(new.asked)
        assert [done for done, _ in progress] == sorted(done for done, _ in progress)
        assert progress[-1][0] == progress[-1][1] == 602

    with MemoryStore(path, index=index(new)) as store:
        assert store.search(NS, query="word9 common", limit=1)[0].key == "k9"
        assert store.search(NS, query="new meanwhile", limit=1)[0].key == "late"
        assert store.admin.check() == []


def test_what_changes_behind_a_reembed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every item is looked at once, and what is written behind the place that a reembed has reached
    is embedded again before the new vectors take over."""
    path = tmp_path / "m.db"
    monkeypatch.setattr(reembedding, "BATCH", 2)
    old, new = WordEmbeddings(16, "words-a"), WordEmbeddings(24, "words-b")
    with MemoryStore(path, index=index(old)) as store:
        for n in range(8):
            store.put(NS, f"k{n}", {"text": f"word{n} common"})

        def meanwhile(done: int, total: int) -> None:
            if done == 6:
                store.put(NS, "k1", {"text": "changed"})
                store.delete(NS, "k3")

        reembed(str(path), index=index(new), progress=meanwhile)
    assert new.asked == [*(f"word{n} common" for n in range(8)), "changed"]
    with MemoryStore(path, index=index(new)) as store:
        assert store.search(NS, query="changed", limit=1)[0].key == "k1"
        assert store.admin.check() == []


def test_a_store_left_behind_by_reembed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A store open with the old model searches by words after a reembed and says so, once; its puts are
    refused with the way out, but what needs no vector still works."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=index(WordEmbeddings(16, "words-a"))) as store:
        store.put(NS, "k", {"text": "apple"})
        assert store.search(NS, query="apple")[0].score == pytest.approx(1, abs=1e-3)
        reembed(str(path), index=index(WordEmbeddings(24, "words-b")))
        assert [item.key for item in store.search(NS, query="apple")] == ["k"]
        assert [item.key for item in store.search(NS, query="apple")] == ["k"]
        assert caplog.text.count("re-embedded with WordEmbeddings:words-b") == 1
        with pytest.raises(EmbeddingModelMismatchError, match="words-b"):
            store.put(NS, "k2", {"text": "pear"})
        store.put(NS, "k3", {"text": "pear"}, index=False)
        store.delete(NS, "k")
        assert [item.key for item in store.search(NS)] == ["k3"]


def test_a_store_whose_own_model_has_changed(tmp_path: Path) -> None:
    """A model of the same name that makes other dims than it did is told with what helps, which is
    no reopening."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index={"embed": WordEmbeddings(16)}) as store:
        store.put(NS, "k", {"text": "apple"})
    for _ in range(2):
        with MemoryStore(path, index={"embed": WordEmbeddings(24)}) as store:
            found = store.recall("apple", NS)
            assert [one.memory.key for one in found.results] == ["k"]
            (why,) = found.trace.degraded
            assert "have 16 dims, WordEmbeddings:words-a makes 24 now" in why
            assert "langmemory reembed" in why


def test_two_functions_without_a_name(tmp_path: Path) -> None:
    """Lambdas have no name to tell them apart by; other dims are still an error, never a crash."""
    path = tmp_path / "m.db"
    wide, narrow = WordEmbeddings(16), WordEmbeddings(8)
    with MemoryStore(path, index={"embed": lambda texts: wide.embed_documents(texts)}) as store:
        store.put(NS, "k", {"text": "apple"})
    with MemoryStore(path, index={"embed": lambda texts: narrow.embed_documents(texts)}) as store:
        with pytest.raises(EmbeddingError, match="dims"):
            store.batch([PutOp(NS, "k", {"text": "apple"}), PutOp(NS, "k2", {"text": "pear"})])
        assert [item.key for item in store.search(NS, query="apple")] == ["k"]


def test_reembed_of_nothing(tmp_path: Path) -> None:
    """A file that is not there is an error, and none is made."""
    with pytest.raises(DatabaseError, match="does not exist"):
        reembed(str(tmp_path / "typo.db"), index=index(WordEmbeddings()))
    assert list(tmp_path.iterdir()) == []


def test_reembed_again_with_other_dims(tmp_path: Path) -> None:
    """An interrupted reembed with another vector length starts anew and mixes nothing."""
    path = tmp_path / "m.db"
    with MemoryStore(path) as store:
        store.batch(PutOp(NS, f"k{n}", {"text": f"word{n}"}) for n in range(300))
    narrow, wide = WordEmbeddings(8), WordEmbeddings(12)
    narrow.fail_after = 260
    with pytest.raises(EmbeddingError):
        reembed(str(path), index=index(narrow))
    assert reembed(str(path), index=index(wide)).dims == 12
    with MemoryStore(path, index=index(wide)) as store:
        assert store.admin.check() == []


@pytest.mark.parametrize("same", [True, False])
def test_two_reembeds_at_once(tmp_path: Path, same: bool) -> None:
    """Two runs towards one model both end well; of two towards different models one does, and the
    other says who took over. Either way the file is of one model."""
    path = tmp_path / "m.db"
    with MemoryStore(path) as store:
        store.batch(PutOp(NS, f"k{n}", {"text": f"word{n}"}) for n in range(600))
    outcomes: list[str] = []

    def move(embeddings: WordEmbeddings) -> None:
        try:
            outcomes.append(str(reembed(str(path), index=index(embeddings)).dims))
        except DatabaseError as error:
            outcomes.append("refused" if "Another reembed" in str(error) else str(error))

    targets = [
        WordEmbeddings(8, "m1"),
        WordEmbeddings(8, "m1") if same else WordEmbeddings(12, "m2"),
    ]
    runs = [threading.Thread(target=move, args=(target,)) for target in targets]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    # One after the other, by chance, both moves towards different models succeed.
    assert set(outcomes) == {"8"} if same else set(outcomes) <= {"8", "12", "refused"}
    with MemoryStore(path, index=False) as store:
        assert store.admin.check() == []
        assert store.stats().vectors == 600


@pytest.mark.parametrize("wrong", ["text", True, {"a": 1}])
def test_index_of_a_put_is_a_list(wrong: Any) -> None:
    """A bare string as index would be read letter by letter: it is refused."""
    with pytest.raises(ConfigError, match="pass a list of paths"):
        MemoryStore(":memory:").put(NS, "k", {"text": "x"}, index=wrong)


def test_what_is_forgotten_during_a_reembed(tmp_path: Path) -> None:
    """No vector of a memory that is forgotten while its batch is embedded is written down."""
    path = tmp_path / "m.db"
    with MemoryStore(path, index=index(WordEmbeddings(16, "words-a"))) as store:
        store.batch(PutOp(NS, f"k{n}", {"text": f"word{n}"}) for n in range(3))

        class Forgetting(WordEmbeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                store.forget(NS, keys=["k1"])
                return super().embed_documents(texts)

        left: list[int] = []

        def look(done: int, total: int) -> None:
            (count,) = store.conn.execute("SELECT count(*) FROM vector_next").fetchall()[0]
            left.append(count)

        reembed(str(path), index=index(Forgetting(24, "words-b")), progress=look)
        assert left == [2]
        assert store.admin.check() == []


FILLER = " ".join(
    f"Chapter {n} tells of gardens, roofs and old roads in the hills." for n in range(30)
)
LONG = f"{FILLER} The yellow submarine dives at dawn. {FILLER}"


@pytest.mark.parametrize("fields", [None, ["text"], ["$"], ["texts[*].part", "text"]])
def test_a_long_text_is_found_by_its_passage(tmp_path: Path, fields: list[str] | None) -> None:
    """One sentence of a long text is found by meaning, and the text is found once, whatever is
    indexed."""
    index = {"embed": WordEmbeddings(dims=64), "dims": 64, "search": "semantic"}
    if fields is not None:
        index["fields"] = fields
    with MemoryStore(tmp_path / "m.db", index=index) as store:
        store.put(NS, "long", {"text": LONG})
        for n in range(20):
            store.put(NS, f"short{n}", {"text": f"nobody ever sang {n} songs"})
        found = store.search(NS, query="yellow submarine dives", limit=30)
        whole = store.search(NS, query=LONG, limit=30)
    assert len(found) == len(whole) == 21 == len({item.key for item in found})
    assert found[0].key == whole[0].key == "long"
    assert whole[0].score == pytest.approx(1, abs=1e-4)


def test_a_long_turn_is_found_by_its_passage(tmp_path: Path) -> None:
    """A passage in the middle of a long message counts by itself."""
    scores = []
    for size in (None, 500):
        config = Config.model_validate({"search": {"passage_characters": size}})
        with MemoryStore(tmp_path / f"{size}.db", config=config) as store:
            store.remember(NS, [("user", LONG)], thread_id="t")
            (found,) = store.recall("a yellow submarine at dawn", NS).results
            scores.append(found.parts["dense"])
    assert scores[1] > 2 * scores[0] > 0


def test_whole_texts_only(tmp_path: Path) -> None:
    """`passage_characters: null` embeds a long text as one; what was written before keeps its
    passages until `reembed`."""
    embeddings = WordEmbeddings()
    whole = Config.model_validate({"search": {"passage_characters": None}})
    with MemoryStore(tmp_path / "m.db", index=index(embeddings), config=whole) as store:
        store.put(NS, "k", {"text": LONG})
    assert embeddings.asked == [LONG]
    with MemoryStore(tmp_path / "m.db", index=index(embeddings)) as store:
        store.put(NS, "k", {"text": LONG})
    assert embeddings.asked[0] == LONG
    assert "".join(embeddings.asked[1:]) == LONG
    assert len(embeddings.asked) == 1 + round(len(LONG) / 500)
    reembed(str(tmp_path / "m.db"), index=index(embeddings), config=whole)
    with MemoryStore(tmp_path / "m.db", index=index(embeddings), config=whole) as store:
        assert store.stats().vectors == 1


def test_a_fact_is_one_statement(tmp_path: Path) -> None:
    """The text of a fact is never taken apart, however long: facts are compared as wholes."""
    embeddings = WordEmbeddings()
    with MemoryStore(tmp_path / "m.db", index=index(embeddings)) as store:
        store.put(NS, "k", {"text": LONG, "fact_kind": "event"})
    assert embeddings.asked == [LONG]
