"""Import costs: which modules langmemory loads, and when."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REMEMBERING = """
import json, sys
from langmemory import MemoryStore
with MemoryStore("memory.db") as store:
    store.put(("memories",), "tofu", {"text": "Tofu is a cat."})
    store.remember(("memories",), [{"role": "user", "content": "Tofu sleeps."}], thread_id="t")
    assert store.search(("memories",), query="cat") and len(store.recall("Tofu", ("memories",)))
print(json.dumps(list(sys.modules)))
"""

SERVING = """
import inspect, json, sys
def no_source(*_): raise AssertionError("the source of a class is read")
inspect.getblock = no_source
import langmemory.cli.app
from langmemory import MemoryStore
from langmemory.server.api.recalling import RecallRequest
from langmemory.server.app import create_app
from langmemory.server.serving import serve
with MemoryStore("memory.db") as store:
    create_app(store)
assert not RecallRequest.__pydantic_complete__
from langmemory.formation.relations.vocabulary import WORDS
assert not WORDS._read
print(json.dumps(list(sys.modules)))
"""


def modules_after(script: str, folder: Path) -> set[str]:
    """Return the modules that are imported when the script ends, which prints them."""
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "LANGSMITH_TRACING": "false"}
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return set(json.loads(ran.stdout))


def test_the_package_alone_imports_nothing_else(tmp_path: Path) -> None:
    """`import langmemory` loads no library, and neither do its plain values."""
    script = "import json, sys; from langmemory import Memory; print(json.dumps(list(sys.modules)))"
    loaded = modules_after(script, tmp_path)
    assert "langmemory.types" in loaded
    assert loaded.isdisjoint({"numpy", "apsw", "pydantic", "langgraph", "langchain_core"})
    assert not list(tmp_path.iterdir())


def test_a_store_imports_what_it_needs(tmp_path: Path) -> None:
    """Remembering and searching need no chat models, tracing, graphs, terminals or plots beyond what
    LangGraph's `BaseStore` brings: who has none of these does not wait for them. Nor psycopg, for a file."""
    script = "import json, sys, langgraph.store.base; print(json.dumps(list(sys.modules)))"
    loaded = modules_after("import sys; sys.modules.update(psycopg=None)\n" + REMEMBERING, tmp_path)
    assert {"langmemory.recall.models", "langmemory.engines.sqlite.engine"} <= loaded
    assert (loaded - modules_after(script, tmp_path)).isdisjoint(
        {"langchain_core.language_models.chat_models", "langchain_ollama", "langgraph.graph"}
        | {"langsmith", "rich", "typer", "matplotlib", "networkx", "dateparser", "ollama"}
        | {"langgraph.constants", "json_repair"}
    )


def test_a_server_starts_without_what_only_some_requests_need(tmp_path: Path) -> None:
    """A server is up before MCP, clients, graphs and dates are imported, before models of requests are
    built, and without reading the source of any class or the words for relations in any language."""
    pytest.importorskip("starlette", reason='the extra "server" is not installed')
    pytest.importorskip("uvicorn", reason='the extra "server" is not installed')
    loaded = modules_after(SERVING, tmp_path)
    assert "langmemory.server.api.recalling" in loaded
    assert loaded.isdisjoint(
        {"mcp", "httpx", "websockets", "rich", "dateparser", "langgraph.graph", "langsmith"}
    )
