"""`langmemory serve` as a process: it starts, answers, logs without text, and stops in good order."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest
from typer.testing import CliRunner

from langmemory.cli.app import app
from tests import postgres_server
from tests.server.client import API

import httpx  # isort: skip

from langmemory.cli.serve import open_in_browser  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.integration


@contextmanager
def server(
    folder: Path, *options: str, db: str | None = None
) -> Iterator[tuple[str, subprocess.Popen[str], list[str]]]:
    """Yield the address of a running server, its process, and the lines it logs."""
    db = db or postgres_server.place(folder / "memory.db")
    command = [sys.executable, "-m", "langmemory", "--db", db, "serve", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*command, *options], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    found = re.search(r"http://\S+:\d+", first)
    assert found, first
    lines = [first]
    reader = Thread(target=lambda: lines.extend(process.stderr or ()))
    reader.start()
    try:
        yield found[0], process, lines
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, lines
        reader.join(10)
        process.stderr.close()


def test_a_server_answers_and_stops_in_good_order(tmp_path: Path) -> None:
    """It says where it is, answers, logs no text of memories or queries, and ends with 0 on SIGTERM."""
    said = {
        "messages": [{"role": "user", "content": "Tofu the cat sleeps on the piano"}],
        "thread_id": "t",
        "namespace": ["memories", "maria"],
    }
    with server(tmp_path) as (address, _, lines):
        with httpx.Client(base_url=address) as client:
            assert client.get("/healthz").text == "ok\n"
            assert client.get("/readyz").text == "ok\n"
            assert client.post(f"{API}/remember", json=said).status_code == 200
            found = client.post(f"{API}/recall", json={"query": "Where does Tofu sleep?"})
            assert found.json()["results"][0]["memory"]["text"].endswith("piano")
            assert client.get(f"{API}/semantic/tofu-secret").status_code in (404, 422)
            counted = client.get("/metrics").text
        assert 'langmemory_requests_total{method="POST",route="/api/v1/memory/recall"' in counted
    log = "".join(lines)
    assert "request method=POST route=/api/v1/memory/recall status=200 token=local ms=" in log
    assert not re.search("tofu|piano|maria|cat", log, re.IGNORECASE)
    with MemoryStore(tmp_path / "memory.db") as store:
        assert len(store.search(("memories", "maria"))) == 1


@pytest.mark.thorough
def test_a_server_serves_a_memory_on_postgresql(tmp_path: Path) -> None:
    """What is remembered through it is in the schema, also where its connections broke meanwhile; its log
    has no password."""
    psycopg = pytest.importorskip("psycopg")
    database = postgres_server.fresh()
    secret = re.sub(r"//([^:@/]*):?@", r"//\1:Geheim123@", database)
    said = {
        "messages": [{"role": "user", "content": "Tofu the cat sleeps on the piano"}],
        "thread_id": "t",
        "namespace": ["memories", "maria"],
    }
    question = {"query": "Where does Tofu sleep?"}
    name = f"serve_{os.getpid()}"
    try:
        with (
            server(tmp_path, db=f"{secret}&application_name={name}") as (address, _, lines),
            httpx.Client(base_url=address) as client,
            psycopg.connect(postgres_server.url(), autocommit=True) as admin,
        ):
            assert client.post(f"{API}/remember", json=said).status_code == 200
            admin.execute(
                "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name = %s",
                (name,),
            )
            found = client.post(f"{API}/recall", json=question).json()
            assert found["results"][0]["memory"]["text"].endswith("piano")
            assert client.get("/readyz").text == "ok\n"
        assert "Geheim123" not in "".join(lines)
        with MemoryStore(database) as store:
            assert len(store.search(("memories", "maria"))) == 1
    finally:
        postgres_server.drop(database)


def test_a_token_from_the_command_line_opens_the_server(tmp_path: Path) -> None:
    """`token create` prints a token that the server takes, `list` shows it, `revoke` ends it at once."""

    def token(*words: str) -> str:
        ran = CliRunner().invoke(app, ["--db", str(tmp_path / "memory.db"), "token", *words])
        assert ran.exit_code == 0, ran.output
        return ran.stdout.strip()

    made = token("create", "--viewer", "maria", "-n", "memories/maria", "--expires", "30d")
    required = server(tmp_path, "--require-token")
    with required as (address, _, lines), httpx.Client(base_url=address) as client:
        assert client.post(f"{API}/recall", json={"query": "cat"}).status_code == 401
        client.headers["Authorization"] = f"Bearer {made}"
        assert client.post(f"{API}/recall", json={"query": "cat"}).status_code == 200
        [listed] = json.loads(token("list", "--json"))
        assert (listed["viewer"], listed["namespaces"]) == ("maria", [["memories", "maria"]])
        token("revoke", listed["id"])
        assert client.post(f"{API}/recall", json={"query": "cat"}).status_code == 401
    assert made not in "".join(lines)


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    """Where another server listens, the command says so and ends."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        words = ["--db", str(tmp_path / "memory.db"), "serve", "--port", str(port)]
        ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 1
    assert ran.stderr.count("\n") == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in ran.stderr


@pytest.mark.parametrize(
    "name", ["https://memory.example.com", "memory.example.com:443", "a/b", "*", ""]
)
def test_a_name_that_no_client_can_send_is_refused(tmp_path: Path, name: str) -> None:
    """An address where a name is to be would refuse every request; it is refused at the start."""
    words = ["--db", str(tmp_path / "memory.db"), "serve", "--port", "0", "--allow-host", name]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 1
    assert repr(name) in ran.output
    assert "memory.example.com" in ran.output


def test_the_pages_open_in_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--open` opens an address where there is a screen; a browser for terminals would take the terminal."""
    opened: Queue[str] = Queue()
    monkeypatch.setattr("langmemory.cli.serve.webbrowser.open", opened.put)
    monkeypatch.setattr("langmemory.cli.serve.sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    open_in_browser("http://127.0.0.1:1/none")
    monkeypatch.setenv("DISPLAY", ":0")
    open_in_browser("http://127.0.0.1:1/memory/")
    assert opened.get(timeout=30) == "http://127.0.0.1:1/memory/"
    assert opened.empty()


@pytest.mark.thorough
def test_oauth_is_switched_on_by_two_options(tmp_path: Path) -> None:
    """With issuer and resource, /memory/mcp sends clients to the issuer, by the name of the resource; with
    one of them the command says which are needed."""
    resource = "https://memory.example.com/memory/mcp"
    options = ("--oauth-issuer", "https://login.example.com", "--oauth-resource", resource)
    with server(tmp_path, *options, "--oauth-scope", "write") as (address, _, _):
        name = {"Host": "memory.example.com"}
        refused = httpx.post(f"{address}/memory/mcp", json={}, headers=name)
        assert refused.status_code == 401
        path = "/.well-known/oauth-protected-resource/memory/mcp"
        assert f"https://memory.example.com{path}" in refused.headers["www-authenticate"]
        found = httpx.get(f"{address}{path}", headers=name).json()
        assert found["authorization_servers"] == ["https://login.example.com"]
        assert httpx.post(f"{address}{API}/recall", json={"query": "x"}).status_code == 401
    for words in (options[:2], ("--oauth-scope", "write"), (*options, "--oauth-scope", "all")):
        command = [sys.executable, "-m", "langmemory", "--db", "memory.db", "serve", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.returncode == 1
        assert ran.stderr.startswith("langmemory: OAuth ")
