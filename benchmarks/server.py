"""What the server costs: its start, a recall over REST beside the library's own, many clients, events.

The server is a process of its own, as `langmemory serve` is, and so are the clients of a flood. Times on the
clock say little beside other work, so processor time stands beside them. It is read from /proc: Linux.

python -m benchmarks.server            # 10,000 memories, about two minutes; prints Markdown
python -m benchmarks.server --plain    # uvicorn without uvloop and httptools
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from benchmarks.corpus import Corpus
from benchmarks.machine import description
from benchmarks.measure import settle
from benchmarks.recall_latency import filled
from langmemory import MemoryStore

API: Final = "/api/v1/memory"
PLACE: Final = ("memories", "ana")
QUESTIONS: Final = 200
SUBSCRIBERS: Final = 1_000
COMMAND: Final = (sys.executable, "-m", "langmemory")
PLAIN: Final = (
    sys.executable,
    "-c",
    "import sys; sys.modules['uvloop'] = sys.modules['httptools'] = None; "
    "from langmemory.cli.app import app; app(prog_name='langmemory')",
)
TICKS: Final = os.sysconf("SC_CLK_TCK")


def request(method: str, path: str, body: Any = None) -> bytes:
    """Return a request as it is sent."""
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    if content:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return head.encode() + b"\r\n" + content


def requests(kind: str) -> list[bytes]:
    """Return requests of one kind, each another one."""
    questions = Corpus().questions(0, QUESTIONS)
    if kind == "healthz":
        return [request("GET", "/healthz")]
    if kind == "recall":
        bodies: list[dict[str, Any]] = [{"query": one, "namespace": PLACE} for one in questions]
        return [request("POST", f"{API}/recall", one) for one in bodies]
    ops: list[dict[str, Any]] = [
        {
            "search": {"op": "search", "namespace_prefix": PLACE, "query": text},
            "put": {"op": "put", "namespace": ("bench",), "key": f"k{n}", "value": {"text": text}},
        }[kind]
        for n, text in enumerate(questions)
    ]
    return [request("POST", f"{API}/store/batch", {"ops": [one]}) for one in ops]


class Connection:
    """One connection that is kept, as cheap as a client can be."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, sent: bytes) -> bytes:
        """Send a request and return the body of the answer."""
        self._socket.sendall(sent)
        received = b""
        while b"\r\n\r\n" not in received:
            piece = self._socket.recv(1 << 18)
            assert piece, "the server has closed the connection"
            received += piece
        head, _, body = received.partition(b"\r\n\r\n")
        size = _size(head)
        while len(body) < size:
            body += self._socket.recv(1 << 18)
        return body


def _size(head: bytes) -> int:
    """Return how long the body is of an answer that is no refusal."""
    assert head.startswith(b"HTTP/1.1 2"), head
    found = re.search(rb"content-length: (\d+)", head.lower())
    assert found
    return int(found[1])


@contextmanager
def server(file: Path, command: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the port and the process id of a server that listens."""
    process = subprocess.Popen(
        [*command, "--db", str(file), "serve", "--port", "0", "--quiet"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    found = re.search(r"http://\S+?:(\d+)", process.stderr.readline())
    assert found
    try:
        yield int(found[1]), process.pid
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def load() -> str:
    """Return how many processes want a processor, over the last minute."""
    return f"load {os.getloadavg()[0]:.1f}"


def starts(folder: Path, command: Sequence[str]) -> Iterator[str]:
    """Yield how long it takes from the command to the first answer."""
    walls, cpus = [], []
    for _ in range(7):
        before = time.perf_counter()
        with server(folder / "empty.db", command) as (port, pid):
            Connection(port).ask(requests("healthz")[0])
            walls.append(time.perf_counter() - before)
            cpus.append(cpu_seconds(pid))
    yield f"* Start to the first answer: {min(walls):.2f} s at best, {median(walls):.2f} s as a rule; "
    yield f"  processor time {min(cpus):.2f} and {median(cpus):.2f} s ({load()})."


def latencies(file: Path, command: Sequence[str]) -> Iterator[str]:
    """Yield what a recall takes here and over REST, call by call in turn."""
    sent, questions = requests("recall"), Corpus().questions(0, QUESTIONS)
    health = requests("healthz")[0]
    with server(file, command) as (port, pid), MemoryStore(file) as store:
        connection = Connection(port)
        for question, one in zip(questions, sent, strict=True):
            store.recall(question, PLACE)
            connection.ask(one)
        settle(lambda n: store.recall(questions[n % QUESTIONS], PLACE))
        times: dict[str, list[float]] = {"library": [], "REST": [], "/healthz": []}
        own = served = 0.0
        for question, one in zip(questions * 3, sent * 3, strict=True):
            cpu, begun = time.process_time(), time.perf_counter()
            store.recall(question, PLACE)
            times["library"].append(time.perf_counter() - begun)
            own += time.process_time() - cpu
            before, begun = cpu_seconds(pid), time.perf_counter()
            connection.ask(one)
            times["REST"].append(time.perf_counter() - begun)
            served += cpu_seconds(pid) - before
            begun = time.perf_counter()
            connection.ask(health)
            times["/healthz"].append(time.perf_counter() - begun)
        yield "| in turn | best ms | p50 | p95 | CPU ms a call |"
        yield "|---|---|---|---|---|"
        calls = len(times["REST"])
        cpu_of = {"library": own / calls, "REST": served / calls}
        for name, taken in times.items():
            p50, p95 = np.percentile(taken, (50, 95)) * 1e3
            cost = f"{cpu_of[name] * 1e3:.2f}" if name in cpu_of else ""
            yield f"| {name} | {min(taken) * 1e3:.2f} | {p50:.2f} | {p95:.2f} | {cost} |"
        yield f"\n{load()}; what `/healthz` takes is HTTP, the loop and the client itself."


async def flood(port: int, kind: str, clients: int, seconds: float) -> dict[str, float]:
    """Return what so many clients got in so many seconds, each asking again at once."""
    sent = requests(kind)
    taken: list[float] = []
    until = time.perf_counter() + seconds

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        place = number * len(sent) // clients
        while (begun := time.perf_counter()) < until:
            writer.write(sent[place % len(sent)])
            place += 1
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(_size(head))
            taken.append(time.perf_counter() - begun)
        writer.close()

    await asyncio.gather(*map(client, range(clients)))
    used = resource.getrusage(resource.RUSAGE_SELF)
    p50, p95 = np.percentile(taken, (50, 95))
    return {
        "calls": len(taken),
        "p50": float(p50),
        "p95": float(p95),
        "cpu": used.ru_utime + used.ru_stime,
    }


def floods(file: Path, command: Sequence[str], clients: int, seconds: float) -> Iterator[str]:
    """Yield what many clients get, which ask from another process."""
    yield f"| {clients} clients | a second | p50 ms | p95 | server's CPU ms a call | cores |"
    yield "|---|---|---|---|---|---|"
    with server(file, command) as (port, pid):
        for kind in ("recall", "recall", "search", "put"):
            before = cpu_seconds(pid)
            ran = subprocess.run(
                [sys.executable, "-m", "benchmarks.server", "--flood", kind, str(port),
                 "--clients", str(clients if kind != "get" else 2), "--seconds", str(seconds)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            found, used = json.loads(ran.stdout), cpu_seconds(pid) - before
            calls = found["calls"]
            rest = f"{found['p50'] * 1e3:.1f} | {found['p95'] * 1e3:.1f} | {used / calls * 1e3:.2f}"
            yield f"| {kind} | {calls / seconds:.0f} | {rest} | {used / seconds:.2f} |"
    yield f"\n{load()}. The first line warms the server."


def heard(follower: socket.socket, text: bytes) -> None:
    """Read on until something was heard."""
    received = b""
    while text not in received:
        piece = follower.recv(1 << 16)
        assert piece, received[-200:]
        received += piece


def events(file: Path, command: Sequence[str], seconds: float) -> Iterator[str]:
    """Yield what idle subscribers cost, and how late an event comes beside them."""
    asked = request("GET", "/memory/events?namespace=bench")
    with server(file, command) as (port, pid):
        followers: list[socket.socket] = []
        for wanted in (1, SUBSCRIBERS):
            fresh = [
                socket.create_connection(("127.0.0.1", port))
                for _ in range(wanted - len(followers))
            ]
            for one in fresh:
                one.sendall(asked)
            for one in fresh:
                one.settimeout(60)
                heard(one, b"event: ready")
            followers += fresh
            time.sleep(2)
            before = cpu_seconds(pid)
            time.sleep(seconds)
            share = (cpu_seconds(pid) - before) / seconds
            lags, connection = [], Connection(port)
            for n in range(10):
                put = {"op": "put", "namespace": ["bench"], "key": f"e{wanted}-{n}", "value": {}}
                connection.ask(request("POST", f"{API}/store/batch", {"ops": [put]}))
                begun = time.perf_counter()
                heard(followers[0], f'"e{wanted}-{n}"'.encode())
                lags.append((time.perf_counter() - begun) * 1e3)
            yield (
                f"* {wanted:,} idle subscribers: {share * 100:.2f} % of a core over {seconds:g} s. From "
                f"the answer to a put until the first has the event: {median(lags):.0f} ms, at most "
                f"{max(lags):.0f} ({load()})."
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--flood", nargs=2, metavar=("KIND", "PORT"))
    given = parser.parse_args()
    if given.flood:
        kind, port = given.flood
        print(json.dumps(asyncio.run(flood(int(port), kind, given.clients, given.seconds))))
        return
    command = PLAIN if given.plain else COMMAND
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        filled(file, given.memories).close()
        for name, value in description(None).items():
            print(f"* {name}: {value}")
        for part in (
            starts(Path(folder), command),
            latencies(file, command),
            floods(file, command, given.clients, given.seconds),
            events(file, command, given.seconds),
        ):
            print("", *part, sep="\n", flush=True)


if __name__ == "__main__":
    main()
