"""The store that LangGraph's server opens, as langgraph.json configures it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from langmemory.errors import ConfigError
from langmemory.graphs import open_store

EMBEDDINGS = """
def embed(texts):
    return [[float("dog" in text), 1.0, 0.5] for text in texts]


async def aembed(texts):
    return embed(texts)
"""


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the ``store`` entry of a langgraph.json in a folder with an embeddings.py."""
    (tmp_path / "embeddings.py").write_text(EMBEDDINGS)
    monkeypatch.chdir(tmp_path)

    def configure(**index: Any) -> None:
        entry = {"path": "./store.py:open_store", "index": index}
        monkeypatch.setenv("LANGGRAPH_STORE", json.dumps(entry))

    return configure


@pytest.mark.parametrize("name", ["embed", "aembed"])
async def test_an_embedder_may_be_named_by_file(configured: Any, name: str) -> None:
    """``"embed": "./embeddings.py:embed"`` is what LangGraph documents, sync and async; every store
    the server opens, one a thread, has the same embedder."""
    configured(embed=f"./embeddings.py:{name}", dims=3)
    async with open_store() as store, open_store() as other:
        await store.aput(("a",), "dog", {"text": "The dog is called Bello."})
        [found] = await other.asearch(("a",), query="dog")
        assert found.score == pytest.approx(1.0)
        assert store.index_config["embed"] is other.index_config["embed"]


@pytest.mark.parametrize("embed", ["./nothing.py:embed", "./embeddings.py:nothing"])
async def test_an_embedder_that_is_not_there_is_named(configured: Any, embed: str) -> None:
    """The error says what langgraph.json names, and what it should."""
    configured(embed=embed, dims=3)
    with pytest.raises(ConfigError, match=rf"'{embed}', which cannot be loaded .*Name a file"):
        async with open_store():
            pass


@pytest.mark.parametrize(
    ("ttl", "prolongs"),
    [({"default_ttl": 60}, True), ({"default_ttl": 60, "refresh_on_read": False}, False)],
)
async def test_reading_prolongs_a_life_as_langgraph_json_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ttl: dict[str, Any], prolongs: bool
) -> None:
    """Under the server, what is read lives on, unless ``refresh_on_read`` says otherwise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANGGRAPH_STORE", json.dumps({"path": "./store.py:open_store", "ttl": ttl}))
    async with open_store() as store:
        await store.aput(("a",), "dog", {"text": "The dog is called Bello."})

        def ends() -> int:
            return int(store.conn.execute("SELECT expires_at FROM item").fetchone()[0])

        before = ends()
        assert await store.aget(("a",), "dog") is not None
        assert (ends() > before) is prolongs
