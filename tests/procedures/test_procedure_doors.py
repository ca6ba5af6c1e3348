"""Procedures through tools, the command line, REST and a remote store: the same as in the library."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from langmemory import MemoryStore, RemoteMemoryStore
from langmemory.cli.app import app
from langmemory.errors import AccessError, ConfigError, OwnershipError
from langmemory.procedures import Source
from langmemory.server.app import create_app
from langmemory.server.serving import serving
from langmemory.tools import PROCEDURE_TOOLS, create_procedure_tools
from tests.server.client import token_of

HOME = ("memories", "ana")
CONFIG: Any = {"configurable": {"user_id": "ana"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(path) as opened:
        yield opened


def test_an_agent_looks_up_notes_and_judges(store: MemoryStore) -> None:
    """A model finds what a person said, notes what is new as background, and says how it went; what a
    person said stays, and a wrong call is answered."""
    find, save, record = create_procedure_tools(("memories", "{user_id}"), store=store)
    assert tuple(one.name for one in (find, save, record)) == PROCEDURE_TOOLS
    assert find.invoke({"task": "rotate the keys"}, CONFIG) == "No procedure is known for this."
    saved = save.invoke({"task": "rotate the keys", "steps": ["make a key", "swap it"]}, CONFIG)
    assert "an agent noted it, and it has not worked yet" in saved
    [kept] = store.procedures.list(HOME)
    assert (kept.source, kept.priority, kept.owner) == ("agent", "reference", "ana")
    said = record.invoke({"key": kept.key, "outcome": "succeeded"}, CONFIG)
    assert said == f"Recorded: {kept.key} worked 1 of 1 times."
    assert "1. make a key; 2. swap it (it worked 1 of 1 times)" in find.invoke(
        {"task": "rotate the keys"}, CONFIG
    )
    store.procedures.add(HOME, "deploy", ["ask Ana", "push"], owner="ana")
    assert "that stays" in save.invoke({"task": "deploy", "steps": ["push", "pray"]}, CONFIG)
    assert "no procedure" in record.invoke({"key": "procedure/0", "outcome": "failed"}, CONFIG)
    assert "task is ''" in asyncio.run(save.ainvoke({"task": "", "steps": ["x"]}, CONFIG))


def test_the_command_line_keeps_shows_and_judges(path: Path) -> None:
    """add, list, for, show and outcome work on one file, in words and as JSON."""
    runner = CliRunner()

    def run(*words: str, code: int = 0) -> str:
        found = runner.invoke(app, ["--db", str(path), "-n", "memories/ana", "procedures", *words])
        assert found.exit_code == code, found.output
        return found.output

    kept = json.loads(
        run("add", "deploy", "run the tests", "push", "--needs", "green CI", "--json")
    )
    assert "version 2" in run("add", "deploy", "push")
    assert "deploy" in run("list")
    assert "superseded" in run("list", "--past")
    assert "1. push" in run("for", "how do I deploy?")
    shown = run("show", kept["key"])
    assert "1. run the tests" in shown
    assert "needs: green CI" in shown
    assert "Version 2" in shown
    now = json.loads(run("list", "--json"))[0]["key"]
    told = run("outcome", now, "failed", "--why", "no tests")
    assert "failed 1 of 1 times, last: no tests; shown as reference" in told
    run("show", "procedure/none", code=2)
    run("outcome", now, "maybe", code=1)


@pytest.fixture
def remote(store: MemoryStore) -> Iterator[RemoteMemoryStore]:
    with serving(create_app(store)) as address, RemoteMemoryStore(address) as found:
        yield found


def test_tokens_and_viewers_bound_the_api(store: MemoryStore) -> None:
    """A token reaches its namespaces and its viewer's procedures alone, and a reader writes nothing."""
    bob = token_of(store, "bob", HOME)
    reader = token_of(store, "bob", HOME, scope="read")
    safe = store.procedures.add(
        HOME, "open the safe", ["turn left"], owner="ana", privacy="private"
    )
    shared = store.procedures.add(HOME, "open the door", ["turn the key"], owner="ana")
    with serving(create_app(store)) as address:
        with RemoteMemoryStore(address, token=bob) as theirs:
            room = theirs.procedures
            assert [one.key for one in room.list(HOME)] == [shared.key]
            assert room.get(HOME, safe.key) is None
            assert [one.procedure.key for one in room.recall("open the safe", HOME)] == [shared.key]
            with pytest.raises(ConfigError, match="no procedure"):
                room.record_outcome(HOME, safe.key, "failed")
            for source in get_args(Source):
                with pytest.raises(Exception, match="another's to change") as refused:
                    room.add(HOME, "open the door", ["kick it"], source=source)
                assert isinstance(refused.value, AccessError | OwnershipError)
            assert room.add(HOME, "feed the cat", ["open the tin"]).owner == "bob"
        with RemoteMemoryStore(address, token=reader) as theirs:
            with pytest.raises(AccessError):
                theirs.procedures.add(HOME, "x", ["y"])
            with pytest.raises(AccessError):
                theirs.procedures.list(("other",))
