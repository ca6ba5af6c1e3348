"""Webhooks: what a receiver gets, also after it was away, and what its library checks of it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from langmemory.cli.app import app
from langmemory.errors import ConfigError
from langmemory.parts.webhooks.sending import Webhook, secret_of, signature
from langmemory.remote.connection import Backoff
from langmemory.stores import MemoryStore
from tests.loopback import JsonHandler, LoopbackServer

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
HOME = ("home",)
AT_ONCE = Backoff(first_seconds=0.001)


class Receiver(LoopbackServer):
    """Takes messages, and answers with the statuses that it is given first."""

    def __init__(self) -> None:
        self.messages: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        server = self

        class Handler(JsonHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): one for name, one in self.headers.items()}
                server.messages.append((headers, body))
                self.answer({}, server.statuses.pop(0) if server.statuses else 200)

        super().__init__(Handler)

    @property
    def ids(self) -> list[Any]:
        """What the events are of."""
        return [json.loads(body)["id"] for _, body in self.messages]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        yield server


def send(store: MemoryStore, receiver: Receiver, state: Path, **options: Any) -> None:
    hook = Webhook(receiver.url, secret_of(SECRET), state, backoff=AT_ONCE)
    hook.follow(store.feed, threading.Event(), until_read=True, types=["memory"], **options)


def test_the_signature_is_that_of_standard_webhooks() -> None:
    """The vector of its specification, so that any of its libraries verifies it."""
    secret = secret_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    wanted = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == wanted


def test_each_event_comes_once_in_order(
    store: MemoryStore, receiver: Receiver, tmp_path: Path
) -> None:
    """It begins with what happens from now on, goes on from where it was, and signs id, time and body."""
    state = tmp_path / "cursor"
    store.put(HOME, "before", {"text": "tea"})
    send(store, receiver, state)
    for key in ("a", "b"):
        store.put(HOME, key, {"text": "tea"})
    store.put(("other",), "c", {"text": "tea"})
    send(store, receiver, state, namespaces=[HOME])
    send(store, receiver, state, namespaces=[HOME])
    assert receiver.ids == ["a", "b"]
    headers, body = receiver.messages[0]
    assert b"tea" not in body
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = base64.b64encode(hmac.new(b"k" * 32, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"


def test_what_is_not_taken_is_sent_again(
    store: MemoryStore, receiver: Receiver, tmp_path: Path
) -> None:
    """With the same id, before what is behind it; also by a process that begins after the failure."""
    state = tmp_path / "cursor"
    send(store, receiver, state)
    store.put(HOME, "a", {"text": "tea"})
    store.put(HOME, "b", {"text": "tea"})
    receiver.statuses = [500, 302]
    send(store, receiver, state)
    assert receiver.ids == ["a", "a", "a", "b"]
    assert len({headers["webhook-id"] for headers, _ in receiver.messages}) == 2
    store.put(HOME, "c", {"text": "tea"})
    receiver.statuses = [410]
    with pytest.raises(ConfigError, match="410"):
        send(store, receiver, state)
    send(store, receiver, state)
    assert receiver.ids[4:] == ["c", "c"]


def test_the_command(
    store: MemoryStore, receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names what is missing or wrong, and sends what is new."""

    def run(*words: str) -> Any:
        where = ["--db", str(store.path), "webhook", "--state", str(tmp_path / "cursor"), "--once"]
        return CliRunner().invoke(app, [*where, *words])

    monkeypatch.delenv("LANGMEMORY_WEBHOOK_SECRET", raising=False)
    for given, reason in {
        "": "Set LANGMEMORY_WEBHOOK_SECRET",
        "whsec_c2hvcnQ=": "at least 24 bytes",
    }.items():
        monkeypatch.setenv("LANGMEMORY_WEBHOOK_SECRET", given)
        failed = run(receiver.url)
        assert failed.exit_code
        assert reason in " ".join(failed.output.split())
    monkeypatch.setenv("LANGMEMORY_WEBHOOK_SECRET", SECRET)
    assert "no address of HTTP" in run("example.com").output
    assert run(receiver.url).exit_code == 0
    store.put(HOME, "a", {"text": "tea"})
    assert run(receiver.url, "--type", "memory").exit_code == 0
    assert receiver.ids == ["a"]
