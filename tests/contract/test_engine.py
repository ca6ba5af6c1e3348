"""Contract tests of an SQL engine for `langmemory.ledger`: transactions, arrays, both
indexes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from langmemory.changes import AddMemory, ChangeSet, RemoveMemory
from langmemory.config import load_config
from langmemory.ledger import applying, history, items, jobs, namespaces, runs, settings
from langmemory.ledger.connection import Connection
from langmemory.ledger.engine import Engine
from langmemory.ledger.indexing import resolve_indexing
from langmemory.ledger.items import Write
from langmemory.ledger.scopes import compile_scope
from langmemory.ledger.settings import ModelSetting
from langmemory.ledger.undoing import Undoing
from langmemory.ports.candidates import KeywordQuery
from langmemory.ports.jobs import NewJob
from langmemory.types import Namespace, Scope
from tests.stores.embedders import WordEmbeddings

LENA: Namespace = ("users", "lena")
TOM: Namespace = ("users", "tom")
NOW = 1_790_000_000_000_000
INDEXING = resolve_indexing({"embed": WordEmbeddings(64), "dims": 64}, load_config())


def drafts(texts: dict[str, str], namespace: Namespace = LENA) -> list[Write]:
    return [
        INDEXING.draft(namespace, key, {"text": text}, index=["text"])
        for key, text in texts.items()
    ]


def finished(made: list[Write]) -> list[Write]:
    """Drafts with their vectors."""
    return INDEXING.embed(made, INDEXING.pending(made), tokens=False)


def put(engine: Engine, texts: dict[str, str], namespace: Namespace = LENA) -> None:
    """Store texts with words and vectors."""
    made = drafts(texts, namespace)
    writes = finished(made)
    with engine.write() as connection:
        if settings.read_model(connection).model is None:
            settings.write_model(connection, ModelSetting(model="words", dims=64, generation=1))
        items.put(connection, writes, NOW)


def keys(engine: Engine, ids: Sequence[int] | np.ndarray[Any, Any]) -> list[str]:
    with engine.read() as snapshot:
        found = items.memories(snapshot.connection, np.asarray(ids, np.int64))
    by_id = {memory.id: memory.key for memory in found}
    return [by_id[int(one)] for one in ids]


def searched(engine: Engine, word: str, namespace: Namespace = ()) -> list[str]:
    scope = compile_scope(Scope(namespace=namespace), alive_at_us=None)
    with engine.read() as snapshot:
        ids, _ = snapshot.keyword(scope, KeywordQuery(terms=(word,)), 10)
    return sorted(keys(engine, ids))


def nearest(engine: Engine, text: str, namespace: Namespace = (), **options: Any) -> list[str]:
    scope = compile_scope(Scope(namespace=namespace), alive_at_us=None)
    assert INDEXING.embedder is not None
    with engine.read() as snapshot:
        vector = INDEXING.embedder.embed_query(text)
        ids, cosines = snapshot.nearest(scope, vector, 10, overfetch=4, **options)
    assert list(cosines) == sorted(cosines, reverse=True)
    return keys(engine, ids)


def test_a_transaction_is_whole_or_nothing(engine: Engine) -> None:
    """A failed write leaves nothing, and the next snapshot sees a finished write."""
    with suppress(KeyError), engine.write() as connection:
        namespaces.intern(connection, LENA)
        raise KeyError
    with engine.read() as snapshot:
        assert namespaces.find(snapshot.connection, LENA) is None
    with engine.write() as connection:
        namespaces.intern(connection, LENA)
    with engine.read() as snapshot:
        assert namespaces.find(snapshot.connection, LENA) is not None


def test_a_part_fails_alone(engine: Engine) -> None:
    """A part of a transaction is undone by its own exception; the rest stays."""
    with engine.write() as connection:
        namespaces.intern(connection, LENA)
        with suppress(KeyError), engine.part(connection):
            namespaces.intern(connection, TOM)
            raise KeyError
    with engine.read() as snapshot:
        assert namespaces.find(snapshot.connection, LENA) is not None
        assert namespaces.find(snapshot.connection, TOM) is None


def test_arrays_are_tables_of_one_column(engine: Engine) -> None:
    """Ids and texts are asked for many at a time, and answer in the order in which they are named; no
    ids match nothing."""
    put(engine, {"a": "one", "b": "two", "c": "three"})
    query = "SELECT i.key FROM carray(?) c CROSS JOIN item i ON i.id = c.value"
    by_key = "SELECT count(*) FROM carray(?) c CROSS JOIN item i ON i.key = c.value"
    with engine.read() as snapshot:
        one = snapshot.connection

        def rows(ids: Any) -> list[str]:
            return [key for (key,) in one.execute(query, (one.array(ids),))]

        assert rows([3, 1, 2]) == ["c", "a", "b"]
        assert rows(np.array([2])) == ["b"]
        assert rows([]) == []
        assert one.execute(by_key, (one.text_array(("a", "x")),)).fetchone()[0] == 1


def test_rows_that_break_a_rule_raise_the_error_that_is_named(engine: Engine) -> None:
    """A row that breaks a constraint raises the connection's `constraint_errors`, by `flush`."""
    with engine.write() as connection:
        namespaces.intern(connection, LENA)
        with pytest.raises(connection.constraint_errors):  # noqa: PT012 - at the latest
            connection.execute("INSERT INTO namespace (path) VALUES ('users.lena')")
            connection.flush()


def test_changes_are_counted(engine: Engine) -> None:
    """A connection counts the rows of its last statement and of all statements."""
    put(engine, {"a": "one", "b": "two"})
    with engine.write() as connection:
        before = connection.total_changes()
        connection.execute("UPDATE item SET access_count = 1")
        assert connection.changes() == 2
        assert connection.total_changes() == before + 2


def test_ids_of_items_are_never_given_twice(engine: Engine) -> None:
    """An id is neither that of a deleted item nor one that was skipped."""
    with engine.write() as connection:
        assert connection.last_item() == 0
        assert connection.skip_item() == 1
        assert connection.last_item() == 1
    put(engine, {"a": "one"})
    with engine.write() as connection:
        assert items.find(connection, LENA, "a") == 2
        connection.execute("DELETE FROM item")
        assert connection.last_item() == 2


def test_words_find_items(engine: Engine) -> None:
    """Within a namespace and below it, by stems, as of the snapshot; what is deleted is not found."""
    put(engine, {"a": "Lena grows olives", "b": "rain"})
    put(engine, {"c": "Tom eats an olive"}, TOM)
    assert searched(engine, "olive") == ["a", "c"]
    assert searched(engine, "olives", LENA) == ["a"]
    with engine.write() as connection:
        found = items.find(connection, LENA, "a")
        assert found is not None
        connection.delete_keywords(found)
    assert searched(engine, "olive") == ["c"]


def test_words_are_known(engine: Engine) -> None:
    """Known words are those of the namespace, by their stems."""
    put(engine, {"a": "olives"})
    with engine.read() as snapshot:
        assert set(snapshot.known_words((), ["olive", "quince"], None)) == {"olive"}
        assert snapshot.known_words(TOM, ["olive"], None) == {}
        assert list(snapshot.stems(["olives"])) == list(snapshot.stems(["olive"]))


def test_other_texts_are_ranked_as_the_index_would(engine: Engine) -> None:
    """Texts outside the index get scores by the same words and stems."""
    put(engine, {"a": "olives", "b": "rain"})
    with engine.read() as snapshot:
        scores = snapshot.ranking(["an olive", "no fruit"]).scores(KeywordQuery(terms=("olives",)))
    assert scores[0] > 0 == scores[1]


@pytest.mark.parametrize("exact", [True, False])
def test_vectors_find_items(engine: Engine, exact: bool) -> None:
    """Nearest first, within a scope, or among given items; what is deleted is not found."""
    put(engine, {"a": "olives and lemons", "b": "snow and ice"})
    put(engine, {"c": "olives"}, TOM)
    assert nearest(engine, "olives", exact=exact)[:2] == ["c", "a"]
    assert nearest(engine, "olives", LENA, exact=exact)[0] == "a"
    assert nearest(engine, "olives", among=np.array([2]), exact=exact) == ["b"]
    with engine.write() as connection:
        namespace = namespaces.find(connection, TOM)
        assert namespace is not None
        connection.delete_vectors(3, namespace)
        connection.erase_vectors([3])
    assert "c" not in nearest(engine, "olives", exact=exact)


def test_vectors_of_items(engine: Engine) -> None:
    """Exact cosines, NaN without a vector."""
    put(engine, {"a": "olives"})
    assert INDEXING.embedder is not None
    query = INDEXING.embedder.embed_query("olives")
    with engine.read() as snapshot:
        cosines = snapshot.cosines(query, np.array([1, 7]))
        assert cosines[0] == pytest.approx(1, abs=1e-5)
        assert np.isnan(cosines[1])
        assert snapshot.rough_cosines(query, np.array([1]))[0] == pytest.approx(1, abs=0.01)


def test_cosines_are_those_of_their_items_in_any_order(engine: Engine) -> None:
    """Also where the first and last of items lie as far apart as if all between them stood in order."""
    put(
        engine,
        {str(number): text for number, text in enumerate(["olives", "bread", "sea", "boat"])},
    )
    assert INDEXING.embedder is not None
    query = INDEXING.embedder.embed_query("olives")
    with engine.read() as snapshot:
        nearest(engine, "olives")
        for ids in ([1, 2, 3, 4], [1, 3, 2, 4], [4, 3, 2, 1], [2, 1, 4, 3]):
            rough = snapshot.rough_cosines(query, np.array(ids))
            exact = snapshot.cosines(query, np.array(ids))
            assert rough == pytest.approx(exact, abs=0.01)
        ids, vectors = snapshot.first_vectors(np.array([1, 7]))
        assert (list(ids), vectors.shape) == ([1], (1, 64))
        assert snapshot.model().dims == 64
        scope = snapshot.scoped(Scope(namespace=()))
        assert len(snapshot.without_vectors(scope, np.array([1]), 5)) == 0


def test_a_copy_is_private(engine: Engine) -> None:
    """A change is rehearsed on a copy, which the engine reads like itself, and leaves no trace."""
    put(engine, {"a": "olives"})
    with engine.copy() as connection:
        connection.execute("UPDATE item SET key = 'z'")
        copied = engine.snapshot(connection).connection
        assert items.find(copied, LENA, "z") == 1
    with engine.read() as snapshot:
        assert items.find(snapshot.connection, LENA, "a") == 1


def test_what_is_erased_is_gone(engine: Engine) -> None:
    """After a purge none of the stored bytes holds a deleted word."""
    put(engine, {"a": "zanzibarquince", "b": "rain"})
    assert engine.leftovers(["zanzibarquince"])[1]
    with engine.write() as connection, engine.erasing(connection):
        namespace = namespaces.find(connection, LENA)
        assert namespace is not None
        connection.delete_keywords(1)
        connection.delete_vectors(1, namespace)
        connection.erase_vectors([1])
        for table in ("leaf WHERE item = 1", "history WHERE item = 1", "item WHERE id = 1"):
            connection.execute(f"DELETE FROM {table}")
    engine.purge()
    assert engine.leftovers(["zanzibarquince"]) == (1, [])
    assert engine.check() == []


def test_change_sets_apply_and_undo(engine: Engine) -> None:
    """The portable modules work on the engine: a run is applied, recorded, and taken back."""
    add = AddMemory(key="fact/1", value={"text": "Lena grows olives"}, evidence=("turn",))
    put(engine, {"turn": "I grow olives"})

    def apply(connection: Connection, change_set: ChangeSet) -> None:
        drafted = applying.draft(INDEXING, connection, change_set)
        finished(list(drafted.writes.values()))
        applying.apply(connection, change_set, drafted.writes, NOW, prepared=drafted.prepared)

    for run_id, change in (("r1", add), ("r2", RemoveMemory(key="fact/1"))):
        with engine.write() as connection:
            apply(
                connection,
                ChangeSet(
                    namespace=LENA, run_id=run_id, kind="reflection", reason="", changes=(change,)
                ),
            )
    with engine.write() as connection:
        assert items.find(connection, LENA, "fact/1") is None
        undoing = Undoing.of(INDEXING, connection, "r2", without=())
        finished(list(undoing.drafts.values()))
        undoing.write(connection, NOW + 1)
    assert searched(engine, "grows") == ["fact/1", "turn"]
    with engine.read() as snapshot:
        told = history.of_item(snapshot.connection, LENA, "fact/1", None)
        assert [entry.action for entry in told][:2] == ["add", "delete"]
        assert {run.id for run in runs.newest(snapshot.connection, (), 9)} >= {"r1", "r2"}


def test_a_job_is_claimed_once(engine: Engine) -> None:
    """Two workers cannot claim one job."""
    job = NewJob(kind="reflect", lock="users.lena", thread="t", payload={}, config={})
    with engine.write() as connection:
        jobs.enqueue(connection, job, NOW)
        claim = {
            "kind": "reflect", "now_us": NOW, "due_by_us": NOW, "lease_us": 10, "max_attempts": 2,
        }  # fmt: skip
        assert jobs.claim(connection, worker="one", **claim) is not None
        assert jobs.claim(connection, worker="two", **claim) is None


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("DELETE FROM leaf", "items whose filter leaves are not those of their value: 1, 2"),
        ("DELETE FROM history", "items have no history: 1, 2"),
        ("UPDATE item SET namespace = 99 WHERE id = 2", "namespace that does not exist: 2"),
        ("INSERT INTO reflected (item, run) VALUES (7, 'r')", "belong to nothing: 7"),
        ("UPDATE item SET index_fields = 'false' WHERE id = 1", "not to be indexed: 1"),
    ],
)
def test_a_check_finds_what_is_inconsistent(engine: Engine, broken: str, said: str) -> None:
    """A sound database has no problems; each that is made is named, with its ids."""
    put(engine, {"a": "tea", "b": "coffee"})
    assert engine.check() == []
    with engine.write() as connection:
        connection.execute(broken)
    assert [one for one in engine.check() if one.endswith(said)] != []


def test_a_closed_engine_says_so(engine: Engine) -> None:
    """An open engine answers, and a closed one raises an error that says so."""
    engine.check_usable()
    with engine.glance() as snapshot:
        assert snapshot.stats().items == 0
    assert engine.first("SELECT count(*) FROM item", ()) == (0,)
    engine.close()
    with pytest.raises(Exception, match="closed"):
        engine.check_usable()
