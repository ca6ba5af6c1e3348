"""Bytes that nobody would write, for whatever reads bytes of others: importers, exports, the vault, MCP, and
the settings of coding agents.

``python -m tests.fuzzing TARGET [SECONDS]`` lets Atheris look for bytes that reach new code (``pip install
atheris``, which no other test needs), and ends at the first that a target takes badly. `tests/test_fuzzed.py`
tries each target a little.
"""

from __future__ import annotations

import asyncio
import importlib
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langmemory.errors import (
    ConfigError,
    ImportFormatError,
    LangMemoryError,
    SecretDamagedError,
    VaultError,
)

if TYPE_CHECKING:
    from langmemory.stores import MemoryStore

NS: Final = ("memories", "mia")
HEADERS: Final = {
    "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-06-18",
}  # fmt: skip
SECRET: Final = "Qv7zKx-geheim-92Lm"


def imported(data: bytes) -> None:
    """A file is imported, or refused by an error that names it."""
    from langmemory.parts.importing.formats import READERS, detect, read_messages
    from langmemory.parts.importing.importing import import_conversations

    choice, text = data[:1], data[1:]
    file = io.BytesIO(text)
    file.name = "talk.json"
    formats = list(READERS)
    try:
        format = formats[choice[0] % len(formats)] if choice > b"\x40" else detect(file)
        if format == "export":
            return
        found = list(read_messages(file, format))
        if any(one.spoken for one in found) and len(found) < 4:
            file.seek(0)
            import_conversations(_store(), NS, file, format)
    except ImportFormatError as error:
        if file.name not in str(error):
            raise AssertionError("the file is not named") from error
    except LangMemoryError:
        pass


def exported(data: bytes) -> None:
    """Rows of an export are taken back, or refused, and a store has no part of a row."""
    from langmemory.parts.importing.formats import read_rows

    file = io.BytesIO(data)
    file.name = "export.jsonl"
    store = _store()
    with suppress(LangMemoryError):
        store.admin.import_rows(read_rows(file))
    problems = store.admin.check()
    if problems:
        _store.cache_clear()
    assert problems == []


def vault(data: bytes) -> None:
    """Keys are read or refused without being quoted, a changed row does not open, and what was filled in is
    not seen after it was taken out."""
    from langmemory.parts.vault.keys import VaultKey, parse
    from langmemory.parts.vault.placeholders import filled, labels_in, placeholder, scrubbed
    from langmemory.parts.vault.sealing import Place, Sealed, seal, unseal
    from langmemory.parts.vault.secret import Secret

    text = data.decode("utf-8", "replace")
    given = parse(text, "a file")
    if isinstance(given, Exception):
        assert len(text.strip()) < 12 or text.strip() not in str(given)
    key, place = VaultKey(b"k" * 32), Place(path="a", owner="mia", label="pin", version=1)
    try:
        sealed = seal(key, Secret(text), place)
    except VaultError:  # it is empty, or too long
        return
    assert unseal(key, sealed, place).reveal() == text
    if data != sealed.data:
        try:
            unseal(key, Sealed(key=key.id, nonce=data[:12], data=data[12:]), place)
        except SecretDamagedError:
            pass
        else:
            raise AssertionError("what was never sealed opens")
    secrets = {"pin": Secret(SECRET)}
    value = {"a": [text, placeholder("pin") + text]}
    if labels_in(value) == {"pin"}:
        shown = scrubbed(filled(value, secrets), secrets)
        assert SECRET not in json.dumps(shown, ensure_ascii=False)


def mcp(data: bytes) -> None:
    """A server answers each message, and none with an error of its own."""
    loop, client, _ = _server()
    answer = loop.run_until_complete(client.post("/memory/mcp", content=data, headers=HEADERS))
    assert answer.status_code < 500, answer.text
    if answer.content:
        assert "internal" not in str(answer.json().get("error", "")).casefold(), answer.text


def settings(data: bytes) -> None:
    """Hooks put into settings of a coding agent are taken out again, byte for byte."""
    from langmemory.parts.coding.settings_file import commands, put_in, take_out

    text = data.decode("utf-8", "replace")
    entry = json.dumps({"hooks": [{"type": "command", "command": "langmemory hook"}]})
    ours = lambda command: command == "langmemory hook"  # noqa: E731
    try:
        if any(ours(command) for _, command in commands(text, "f")):
            return
        changed, pieces = put_in(text, "Stop", entry, "f")
    except ConfigError:
        return
    assert ("Stop", "langmemory hook") in commands(changed, "f")
    assert take_out(changed, pieces, ours, "f") == text


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    one.__name__: one for one in (imported, exported, vault, mcp, settings)
}
CODE: Final[dict[str, tuple[str, ...]]] = {
    "imported": ("langmemory.parts.importing.formats", "langmemory.parts.importing.importing"),
    "exported": ("langmemory.ledger.transfer.records", "langmemory.parts.importing.formats"),
    "vault": ("langmemory.parts.vault.placeholders", "langmemory.parts.vault.sealing"),
    "mcp": ("langmemory.server.app", "langmemory.server.mcp.tools"),
    "settings": ("langmemory.parts.coding.settings_file",),
}
"""Modules in which a search counts what is reached."""


@cache
def _store() -> MemoryStore:
    from langmemory.stores import MemoryStore

    return MemoryStore(":memory:", index=False)


@cache
def _server() -> tuple[asyncio.AbstractEventLoop, Any, Any]:
    """Return a client, the loop that it runs in, and what keeps its server until the process ends."""
    from tests.server.client import serving

    loop, server = asyncio.new_event_loop(), serving(_store())
    return loop, loop.run_until_complete(server.__aenter__()), server


def beginnings(target: str) -> Iterable[bytes]:
    """Yield what is sound, for a search to begin with."""
    from langmemory.stores import MemoryStore

    talk: list[Any] = [
        {"role": "user", "content": "My cat is Tom.", "thread": "t", "id": "1"},
        {"messages": [{"type": "human", "content": "hi"}], "config": {"configurable": {}}},
        [{"mapping": {"n": {"parent": None, "children": [], "message": {
            "id": "m", "author": {"role": "user"}, "content": {"parts": ["hi"]}}}}, "current_node": "n"}],
        [{"chat_messages": [{"sender": "human", "text": "hi", "uuid": "u"}], "uuid": "c"}],
        [{"type": "message", "user": "U1", "ts": "1700000000.0001", "text": "hi <@U2>"}],
        {"type": "user", "sessionId": "s", "cwd": "/a", "message": {"content": [{"type": "tool_use",
            "id": "1", "name": "Bash", "input": {"command": "ls"}}]}},
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/a"}},
        {"type": "session", "id": "s", "version": 1, "cwd": "/a"},
        {"role": "user", "message": {"content": [{"type": "text", "text": "hi"}]}},
    ]  # fmt: skip
    match target:
        case "imported":
            yield from (b"\x01" + json.dumps(one).encode() for one in talk)
            yield b"\x01From a@b Thu Jan  1 00:00:00 2026\nFrom: Mia <a@b>\nDate: x\n\n=FC hi\n"
            yield b"\x0112.05.26, 21:04 - Mia: Hallo\n[12/05/26, 9:04:11 PM] Bo: hi\n"
        case "exported":
            with MemoryStore(":memory:", index=False) as store:
                store.remember(NS, [{"role": "user", "content": "I live in Bern."}], thread_id="t")
                store.put(NS, "k", {"text": "tea", "n": 1}, ttl=5)
                store.delete(NS, "k")
                rows = [json.dumps(row) for row in store.admin.export()]
            yield "\n".join(rows).encode()
            yield from (row.encode() for row in rows)
        case "vault":
            yield b"lmk_" + b"A" * 43
            yield b"passphrase: five random words are good\n# c\n" + SECRET.encode()
        case "mcp":
            for method, params in (
                ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "a", "version": "1"}}),
                ("tools/call", {"name": "recall", "arguments": {"query": "tea", "limit": 3}}),
                ("resources/read", {"uri": "memory://core"}), ("tools/list", {}), ("ping", {}),
            ):  # fmt: skip
                yield json.dumps(
                    {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                ).encode()
        case "settings":
            yield b"{}"
            yield b'{"a": 1, // c\n "hooks": {"Stop": [{"hooks": [{"command": "x"}]},], "B": []},}\n'


def search(target: str, seconds: int) -> None:
    """Look for bytes that a target takes badly; does not return."""
    import atheris

    if target != "exported":  # whose code comes with the store; of others that alone is of interest
        importlib.import_module("langmemory.stores")
    with atheris.instrument_imports():
        for module in CODE[target]:
            importlib.import_module(module)
    corpus = Path(tempfile.mkdtemp(prefix=f"fuzz-{target}-"))
    for number, one in enumerate(beginnings(target)):
        (corpus / str(number)).write_bytes(one)
    options = [
        f"-max_total_time={seconds}",
        "-max_len=4096",
        "-timeout=120",
        "-print_final_stats=1",
    ]
    options.append(f"-artifact_prefix={corpus}/")
    atheris.Setup([sys.argv[0], *options, str(corpus)], TARGETS[target])
    atheris.Fuzz()


if __name__ == "__main__":
    search(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60)
