"""The command that a hook runs: it hands the event to the resident process and prints the answer.

A hook never fails a session: whatever happens, it ends with 0, and says on stderr what went wrong. It imports
nothing that is not needed, for it runs at every prompt; the resident process has the store open.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import time

from langmemory import __version__

START_SECONDS = 4.0
"""How long an event that asks for something waits for a resident process that was just started."""
ANSWER_SECONDS = 6.0
"""And for an answer, of a process that is still opening the memory, too."""
WAIT = "--wait"
"""Said of an event that waits for an answer."""


def main() -> None:
    """Hand on the event on stdin; the arguments are ``[--wait] PROGRAM EVENT``, then ``--db`` and ``-n``."""
    try:
        arguments = sys.argv[1:]
        waits = WAIT in arguments
        program, event, *options = (one for one in arguments if one != WAIT)
        payload = sys.stdin.buffer.read()
        head = "\0".join((program, event, os.getcwd()))
        answer = hand_over(
            head.encode("utf-8", "surrogateescape") + b"\n" + payload, options, waits
        )
        sys.stdout.buffer.write(answer)
        sys.stdout.flush()
    except Exception as error:
        print(f"langmemory: {error} The session goes on without memory.", file=sys.stderr)
    sys.exit(0)


def hand_over(request: bytes, options: list[str], waits: bool) -> bytes:
    """Send a request to the resident process for these options, which is started where there is none, and
    return its answer. Who does not wait leaves the request to the process that it starts.

    Raises:
        OSError: No answer came in time.
    """
    place = socket_path(options)
    answer = ask(place, request, waits)
    if answer is not None:
        return answer
    _start(place, options, b"" if waits else request)
    until = time.monotonic() + START_SECONDS
    while waits and time.monotonic() < until:
        time.sleep(0.05)
        answer = ask(place, request, waits)
        if answer is not None:
            return answer
    if waits:
        raise OSError(
            f"Memory did not start within {START_SECONDS:g} s; {folder()}/hooks.log says why."
        )
    return b""


def ask(place: str, request: bytes, waits: bool) -> bytes | None:
    """Return what the resident process answers, if somebody waits for it; None where there is none."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(ANSWER_SECONDS)
        try:
            _connect(line, place)
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        line.sendall(request)
        line.shutdown(socket.SHUT_WR)
        parts = []
        while waits and (part := line.recv(1 << 16)):
            parts.append(part)
        return b"".join(parts)


def _connect(line: socket.socket, place: str) -> None:
    """Connect from within the folder of a socket: its whole path may be longer than a system allows (104)."""
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(os.path.dirname(place))
        line.connect(os.path.basename(place))
    finally:
        os.fchdir(here)
        os.close(here)


def folder() -> str:
    """Return the folder of what hooks need, which nobody else may read; it is made where it is not there."""
    place = os.path.expanduser("~/.langmemory")
    os.makedirs(place, mode=0o700, exist_ok=True)
    return place


def socket_path(options: list[str]) -> str:
    """Return where the resident process listens that has the file and namespace of such options."""
    name = hashlib.sha256("\0".join((__version__, *options)).encode()).hexdigest()[:12]
    return f"{folder()}/hooks-{name}.sock"


def _start(place: str, options: list[str], request: bytes) -> None:
    """Start the resident process, with a request to begin with on its stdin."""
    import subprocess

    handed = f"{place}.{os.getpid()}"
    with (
        os.fdopen(os.open(handed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as stdin,
        open(
            f"{folder()}/hooks.log", "ab", opener=lambda path, flags: os.open(path, flags, 0o600)
        ) as log,
    ):
        os.unlink(handed)
        stdin.write(request)
        stdin.seek(0)
        subprocess.Popen(
            # -P: a module of the folder that somebody works in is not to be taken for one of Python's.
            [sys.executable, "-P", "-m", "langmemory", *options, "hooks", "serve"],
            stdin=stdin, stdout=log, stderr=log, cwd=folder(), start_new_session=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
