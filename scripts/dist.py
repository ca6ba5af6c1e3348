"""Build wheel and sdist, install the wheel in a clean environment, and use it as a newcomer would.

Run it with ``make dist``. What was built is in ``dist/``; the rest happens in a temporary folder.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
START_SECONDS = 120

QUIET = {
    "LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true", "MOCK_EMBEDDINGS": "", "LANGMEMORY_CONFIG": "",
    "MEMORY_DB_PATH": "", "PYTHONPATH": "", "PYTHONUNBUFFERED": "1",
}  # fmt: skip
"""Nothing of this checkout or of the developer's settings reaches the clean environment."""


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,) = DIST.glob("*.whl")
    (sdist,) = DIST.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        programs = installed(place / "env", wheel)
        check_package(programs, place)
        check_demo(programs, place)
        check_template(programs, place)
    print(f"{wheel.name} and {sdist.name} are in {DIST.name}/, and the wheel works.")


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a program to its end and return what it printed."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **QUIET},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def installed(folder: Path, wheel: Path) -> Path:
    """Make a clean environment with the wheel and its dependencies; the folder of its programs."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", wheel)
    return programs


def check_package(programs: Path, place: Path) -> None:
    """It is the installed package that is imported, and it has types and data."""
    script = (
        "import json, langmemory; from pathlib import Path; print(Path(langmemory.__file__).parent)"
    )
    package = Path(run(programs / "python", "-c", script, cwd=place).strip())
    if not package.is_relative_to(programs.parent):
        sys.exit(f"langmemory was imported from {package}, not from the clean environment.")
    for name in ("py.typed", "examples/lena.jsonl", "templates/chat/langgraph.json"):
        if not (package / name).is_file():
            sys.exit(f"The wheel lacks langmemory/{name}.")


def check_demo(programs: Path, place: Path) -> None:
    """The first command of the README works without anything else."""
    run(programs / "langmemory", "doctor", cwd=place)
    if "Lena" not in run(programs / "langmemory", "demo", cwd=place):
        sys.exit("`langmemory demo` did not show the sample conversation.")


def check_template(programs: Path, place: Path) -> None:
    """A project of ``langmemory init`` installs, starts, and remembers across threads."""
    run(programs / "langmemory", "init", "my-bot", cwd=place)
    project = place / "my-bot"
    wanted = ("-m", "pip", "install", "--quiet", "-r", "requirements.txt")
    run(programs / "python", *wanted, cwd=project)
    with served(programs, project) as url:
        say(url, "My dog is called Bello.")
        answer = say(url, "What is my dog called?")
    if "Bello" not in answer:
        sys.exit(f"The project did not remember across threads; it answered {answer!r}.")


@contextmanager
def served(programs: Path, project: Path) -> Iterator[str]:
    """Serve a project by ``langgraph dev``; yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = project / "server.log"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [programs / "langgraph", "dev", "--no-browser", "--no-reload", "--port", str(port)],
            cwd=project, env={**os.environ, **QUIET, "PATH": path},
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        try:
            wait_for(server, url, log)
            yield url
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def wait_for(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Until the server answers."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/ok", timeout=1).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    sys.exit(f"langgraph dev did not start:\n{log.read_text()}")


def say(url: str, text: str) -> str:
    """One turn in a thread of its own; the answer."""
    thread = post(f"{url}/threads", {})["thread_id"]
    message = {"messages": [{"role": "user", "content": text}]}
    wanted = {"assistant_id": "chat", "input": message}
    state = post(f"{url}/threads/{thread}/runs/wait", wanted)
    return str(state["messages"][-1]["content"])


def post(url: str, body: dict[str, Any]) -> Any:
    """Send JSON and return the JSON of the answer."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
