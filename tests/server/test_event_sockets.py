"""The feed from a running server: over a socket, with a real client of each kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.server.test_serve import server

pytest.importorskip("websockets", reason='the extra "server" is not installed')

import httpx  # isort: skip
from websockets.exceptions import ConnectionClosed, InvalidStatus  # isort: skip
from websockets.sync.client import connect  # isort: skip

from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

HOME = ("home",)

pytestmark = pytest.mark.integration


def test_a_socket_is_told_and_reads_on(store: MemoryStore) -> None:
    """A WebSocket says ``ready``, sends each event as JSON, and from a cursor everything since."""
    with serving(create_app(store)) as address:
        socket = address.replace("http", "ws") + "/memory/ws"
        with connect(f"{socket}?type=memory") as client:
            assert json.loads(client.recv(20))["type"] == "ready"
            client.send("anything")
            store.put(HOME, "a", {"text": "tea"})
            event = json.loads(client.recv(20))
            assert (event["type"], event["action"], event["id"]) == ("memory", "add", "a")
        store.put(HOME, "b", {"text": "tea"})
        with connect(f"{socket}?type=memory&after={event['cursor']}") as client:
            assert json.loads(client.recv(20)) == {"type": "ready", "cursor": event["cursor"]}
            assert json.loads(client.recv(20))["id"] == "b"


def test_who_gets_no_socket(store: MemoryStore, caplog: pytest.LogCaptureFixture) -> None:
    """Handshakes are refused as requests are: without a token, from another site's page, with a cursor of
    another file; a token that is revoked closes its socket."""
    caplog.set_level("INFO")
    token, secret = store.tokens.create(viewer="bob", scope="read")
    bearer = {"Authorization": f"Bearer {secret}"}
    with serving(create_app(store, settings=ServerSettings(require_token=True))) as address:
        socket = address.replace("http", "ws") + "/memory/ws"
        for path, headers, status in (
            ("", {}, 401),
            ("?type=job", bearer, 403),
            ("?after=nonsense", bearer, 422),
        ):
            with pytest.raises(InvalidStatus) as refused:
                connect(socket + path, additional_headers=headers)
            assert refused.value.response.status_code == status
        with pytest.raises(InvalidStatus):
            connect(socket, additional_headers=bearer, origin="https://evil.example")  # type: ignore[arg-type]
        with connect(socket, additional_headers=bearer) as client:
            client.recv(20)
            store.tokens.revoke(token.id)
            store.put(HOME, "later", {"text": "tea"})
            with pytest.raises(ConnectionClosed) as closed:
                client.recv(20)
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "token")
    assert caplog.records
    assert secret not in caplog.text


def test_a_server_with_open_streams_stops(tmp_path: Path) -> None:
    """On SIGTERM an open stream is told and ended, and the server does not wait for its reader."""
    with server(tmp_path) as (address, process, lines):
        with (
            httpx.Client(base_url=address, timeout=20) as client,
            client.stream("GET", "/memory/events") as response,
        ):
            text = response.iter_text()
            assert "event: ready" in next(text)
            process.terminate()
            assert 'event: end\ndata: {"reason": "shutdown"}' in "".join(text)
        assert process.wait(20) == 0
    assert "Traceback" not in "".join(lines)
