"""What one client does with its connections takes the server from nobody else."""

from __future__ import annotations

import base64
import json
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("starlette", reason='the extra "server" is not installed')
pytest.importorskip("uvicorn", reason='the extra "server" is not installed')

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.h11_impl import H11Protocol

from langmemory.server import connections, serving
from langmemory.server.app import create_app
from langmemory.stores import MemoryStore

PATIENCE_SECONDS = 20
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(params=sorted({AutoHTTPProtocol, H11Protocol}, key=lambda one: one.__name__))
def port(
    request: pytest.FixtureRequest, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> Iterator[int]:
    """Where a server listens that has little patience, with each of uvicorn's protocols."""

    class Connection(connections.Bounded, request.param):  # type: ignore[misc]
        pass

    monkeypatch.setattr(serving, "BoundedConnection", Connection)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(connections, "READER_SECONDS", 0.3)
    with serving.serving(create_app(store)) as address:
        yield int(address.rpartition(":")[2])


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    """Yield a connection."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as one:
        yield one


def read(one: socket.socket) -> tuple[int, str]:
    """Return status and body of the next answer."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = one.recv(65_536)
        assert piece, received
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    [size] = [
        int(line.partition(b":")[2])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    while len(body) < size:
        body += one.recv(65_536)
    return int(head.split()[1]), body.decode()


def test_half_a_head_is_not_waited_for(port: int) -> None:
    """Who begins a request and does not go on is told so and cut off, also after an answer; who says
    nothing at all is cut off."""
    for before in (0, 1):
        with connected(port) as one:
            for _ in range(before):
                one.sendall(HEALTH)
                assert read(one) == (200, "ok\n")
            one.sendall(HEALTH[:20])
            status, said = read(one)
            assert (status, json.loads(said)["type"].rpartition(":")[2]) == (408, "too-slow")
            assert one.recv(1) == b""
    with connected(port) as one:
        assert one.recv(1) == b""


def test_an_endless_head_is_refused(port: int) -> None:
    """A head has 64 KiB; what comes beyond is not kept."""
    with connected(port) as one:
        try:
            for n in range(1_000):
                one.sendall(HEALTH[:-2] + b"x-%d: " % n + b"a" * 8_192 + b"\r\n")
        except OSError:  # it is cut off while it sends
            return
        pytest.fail("all of it was taken")


def test_too_many_connections_are_refused(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes too late is told so, and those who are there are served on."""
    monkeypatch.setattr(connections, "CONNECTIONS", 2)
    with connected(port) as first, connected(port) as second:
        for one in (first, second):
            one.sendall(HEALTH)
            assert read(one) == (200, "ok\n")
        with connected(port) as third:
            status, said = read(third)
            assert (status, json.loads(said)["status"]) == (503, 503)
            assert third.recv(1) == b""
        for one in (first, second):
            one.sendall(HEALTH)
            assert read(one) == (200, "ok\n")


def test_a_large_body_hears_why(port: int) -> None:
    """Who sends 10 MB to the end reads the refusal, and goes on with the same connection."""
    head = b"POST /api/v1/memory/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with connected(port) as one:
        one.sendall(head + b"Content-Length: 10000000\r\n\r\n" + b" " * 10_000_000)
        assert read(one)[0] == 413
        one.sendall(HEALTH)
        assert read(one) == (200, "ok\n")


def test_a_reader_that_sleeps_is_cut_off(
    port: int, store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Who asks for an export and reads nothing of it is cut off, and others are served meanwhile."""
    for n in range(60):
        store.put(("big",), f"k{n}", {"text": "x" * 200_000}, index=False)
    with caplog.at_level(logging.WARNING, "langmemory.server"), connected(port) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        one.sendall(HEALTH.replace(b"/healthz", b"/api/v1/memory/export"))
        due = time.monotonic() + PATIENCE_SECONDS
        while "reader_dropped reason=slow" not in caplog.text:
            assert time.monotonic() < due
            with connected(port) as other:
                other.sendall(HEALTH)
                assert read(other) == (200, "ok\n")
            time.sleep(0.05)


def test_a_web_socket_is_not_waited_for(port: int, store: MemoryStore) -> None:
    """A connection that became a WebSocket sends no further heads, and is let be."""
    pytest.importorskip("websockets", reason='the extra "server" is not installed')
    upgrade = (
        b"GET /memory/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        + base64.b64encode(b"k" * 16)
        + b"\r\n\r\n"
    )
    with connected(port) as one:
        one.sendall(upgrade)
        received = b""
        while b'"ready"' not in received:
            received += one.recv(65_536)
        time.sleep(3 * connections.HEAD_SECONDS)
        store.put(("a",), "tofu", {"text": "Tofu sleeps."})
        while b'"tofu"' not in received:
            piece = one.recv(65_536)
            assert piece
            received += piece
