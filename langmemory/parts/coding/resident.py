"""The process that keeps a store open for hooks, which end before a store would be open.

The first hook starts it. It listens on a socket in the person's own folder, and ends when nothing happened
for a while. One process has a socket, by a lock: another that was started at the same time does what it was
handed, and ends.
"""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langmemory.parts.coding.answering import SessionMemory

IDLE_SECONDS: Final = 1_800.0
"""After which it ends."""
VERIFY: Final = "verify"
"""The event by which somebody asks whether it answers."""

log = logging.getLogger(__name__)


def serve(
    place: str, opened: Callable[[], SessionMemory], idle_seconds: float = IDLE_SECONDS
) -> None:
    """Answer hooks until nothing happens any more.

    Args:
        place: Path of the socket.
        opened: Opens the memory. What it takes to do that, hooks wait for at the socket.
        idle_seconds: After which it ends.
    """
    os.umask(0o077)
    os.chdir(os.path.dirname(place))  # as `client` connects
    handed = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    with open(f"{place}.lock", "a") as lock, socket.socket(socket.AF_UNIX) as listening:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lock.truncate(0)
            print(os.getpid(), file=lock, flush=True)
            alone = True
        except BlockingIOError:
            alone = False
        if alone:
            with suppress(FileNotFoundError):
                os.unlink(place)
            listening.bind(os.path.basename(place))
            listening.listen(64)
            listening.settimeout(idle_seconds)
        memory = opened()
        try:
            if handed:
                answer(memory, handed)
            if alone:
                signal.signal(signal.SIGTERM, lambda *_: listening.close())
                _listen(listening, memory)
        finally:
            if alone:
                with suppress(FileNotFoundError):
                    os.unlink(place)
            memory.close()


def _listen(listening: socket.socket, memory: SessionMemory) -> None:
    while True:
        try:
            line, _ = listening.accept()
        except OSError:  # nothing happened for a while, or it was told to end
            return
        Thread(target=_answer, args=(line, memory), daemon=True).start()


def _answer(line: socket.socket, memory: SessionMemory) -> None:
    with line:
        line.settimeout(10)
        try:
            parts = []
            while part := line.recv(1 << 16):
                parts.append(part)
            if said := answer(memory, b"".join(parts)):
                line.sendall(said)
        except OSError:
            log.exception("hook_left")


def answer(memory: SessionMemory, request: bytes) -> bytes:
    """Return what is to be printed for a request of `client`; nothing where it fails, which the log says."""
    from langmemory.parts.coding.programs import program

    try:
        head, _, payload = request.partition(b"\n")
        name, event, folder = head.decode("utf-8", "surrogateescape").split("\0")
        if event == VERIFY:
            return VERIFY.encode()
        return memory.take(program(name), event, payload, folder).encode()
    except Exception:  # a session goes on without memory
        log.exception("hook_failed")
        return b""
