"""A `langgraph dev` server on loopback, as a subprocess, for as long as a test needs it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

START_SECONDS = 90
OFFLINE = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGSMITH_API_KEY": "",
    "HF_HUB_OFFLINE": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Nothing the server would send or ask outside this machine."""


@contextmanager
def langgraph_dev(
    project: Path,
    environ: Mapping[str, str],
    programs: Path | None = None,
    *,
    host: str = "127.0.0.1",
) -> Iterator[str]:
    """Serve the langgraph.json in `project` with the `langgraph` in the folder ``programs``, else the one
    beside this Python, on the address ``host``; yields the server's URL on loopback.

    The output goes to ``project/server.log`` and is shown when the server does not start.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = project / "server.log"
    command = [
        str((programs or Path(sys.executable).parent) / "langgraph"),
        *("dev", "--no-browser", "--no-reload", "--host", host, "--port", str(port)),
    ]
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            cwd=project,
            env={**os.environ, **OFFLINE, **environ},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait(server, url, log)
            yield url
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    for _ in range(START_SECONDS * 5):
        if server.poll() is not None:
            raise RuntimeError(f"langgraph dev ended with {server.returncode}:\n{log.read_text()}")
        try:
            if httpx.get(f"{url}/ok", timeout=1).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"langgraph dev did not start in {START_SECONDS} s:\n{log.read_text()}")


def copy_project(repository: Path, target: Path) -> Path:
    """Copy the files that `langgraph dev` loads into a clean directory."""
    for name in ("langgraph.json", "graphs", "stores", "tools", "config"):
        source = repository / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, target / name)
    return target
