"""The audit log of a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import API, ELSEWHERE, serving, token_of
from tests.server.mcp_client import in_process

from langmemory.errors import ConfigError  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

HOME = ("home",)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


async def test_who_asked_for_what(store: MemoryStore, tmp_path: Path) -> None:
    """Each request has a line with token, person and route, also one that was refused; none has a key or
    a text. A file that was moved away is begun anew."""
    file = tmp_path / "audit.jsonl"
    settings = ServerSettings(audit=file)
    token = token_of(store, None, HOME)
    body = {"namespace": ["home"], "key": "secret-key", "value": {"text": "tea"}}
    async with serving(store, settings=settings, address=ELSEWHERE, token=token) as client:
        acting = {"Memory-Viewer": '"mia"'}
        await client.post(f"{API}/recall", json={"query": "Which tea?"}, headers=acting)
        file.rename(tmp_path / "old.jsonl")
        await client.get(f"{API}/memories/secret-key?namespace=home")
        await client.get(f"{API}/memories/x", headers={"Authorization": "Bearer lmt_wrong"})
        await client.post(f"{API}/store/batch", json={"ops": [{"op": "put", **body}]})
    [recalled] = lines(tmp_path / "old.jsonl")
    assert recalled["route"] == f"{API}/recall"
    assert (recalled["viewer"], recalled["status"], recalled["address"]) == ("mia", 200, ELSEWHERE)
    assert recalled["token"] == store.tokens.listed()[0].id
    missing, refused, written = lines(file)
    assert (missing["status"], missing["problem"]) == (404, "not-found")
    assert (refused["status"], "token" in refused, "viewer" in refused) == (401, False, False)
    assert (written["method"], written["status"]) == ("POST", 200)
    text = file.read_text("utf-8")
    assert "secret-key" not in text
    assert "tea" not in text
    assert file.stat().st_mode & 0o077 == 0


async def test_a_tool_is_named(store: MemoryStore, tmp_path: Path) -> None:
    """All tools of MCP have one route."""
    file = tmp_path / "audit.jsonl"
    async with in_process(store, settings=ServerSettings(audit=file)) as client:
        await client.call("recall", query="Which tea?")
    [line] = [one for one in lines(file) if "tool" in one]
    assert (line["route"], line["tool"], line["status"]) == ("/memory/mcp", "recall", 200)


def test_a_file_that_cannot_be_written_is_named(store: MemoryStore, tmp_path: Path) -> None:
    """The server does not start without its audit log."""
    with pytest.raises(ConfigError, match=r"audit log .* cannot be written: Is a directory"):
        create_app(store, settings=ServerSettings(audit=tmp_path))
