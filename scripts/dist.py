"""Build wheels and sdists, install the wheels in a clean environment, and use them as a newcomer would.

Run it with ``make dist``. What was built is in ``dist/``; the rest happens in a temporary folder. Each
package is built twice: the same commit gives the same bytes. ``SHA256SUMS`` has their sums, ``sbom.json``
what is installed with the wheel.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import httpx

from scripts import plugin, typescript_client
from tests.integration.langgraph_server import OFFLINE, langgraph_dev

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
CONFORMANCE = ROOT / "conformance"

QUIET = {
    "MOCK_EMBEDDINGS": "", "LANGMEMORY_CONFIG": "", "MEMORY_DB_PATH": "", "PYTHONPATH": "",
}  # fmt: skip
"""Nothing of this checkout or of the developer's settings reaches the clean environment."""


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    wheel, sdist = build(ROOT)
    suite, _ = build(CONFORMANCE)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        programs = installed(place / "env", wheel)
        bill = run(
            programs / "python", ROOT / "scripts" / "sbom.py", "langgraph-langmemory", cwd=place
        )
        (DIST / "sbom.json").write_text(bill, "utf-8")
        check_package(programs, place)
        check_suite(programs, suite, place)
        check_demo(programs, place)
        check_template(programs, place)
        plugin.check(plugin.build(DIST / "claude-code"), programs)
    typescript_client.build(DIST / "typescript")
    sums = [f"{digest(one)}  {one.name}\n" for one in sorted(DIST.iterdir()) if one.is_file()]
    (DIST / "SHA256SUMS").write_text("".join(sums), "utf-8")
    names = ", ".join(one.name for one in (wheel, sdist, suite))
    print(f"{names} the plugin and the TypeScript client are in {DIST.name}/, and the wheels work.")


def build(package: Path) -> tuple[Path, Path]:
    """Build wheel and sdist of a package twice, and exit where their bytes differ."""
    moment = run("git", "log", "-1", "--format=%ct").strip()
    made = []
    with tempfile.TemporaryDirectory() as again:
        for folder in (DIST, Path(again)):
            before = set(folder.glob("*"))
            run(
                sys.executable, "-m", "build", "--outdir", folder, package, SOURCE_DATE_EPOCH=moment
            )
            made.append(sorted(set(folder.glob("*")) - before, key=lambda one: one.suffix))
        for first, second in zip(*made, strict=True):
            if digest(first) != digest(second):
                sys.exit(f"{first.name} has other bytes when it is built again.")
    sdist, wheel = made[0]
    return wheel, sdist


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a program to its end and return what it printed."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **OFFLINE, **QUIET, **environment},
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


def check_suite(programs: Path, suite: Path, place: Path) -> None:
    """The conformance suite installs, and knows a store."""
    run(programs / "python", "-m", "pip", "install", "--quiet", "--no-deps", suite)
    usage = run(programs / "langgraph-store-conformance", "--help", cwd=place)
    if "MODULE:FACTORY" not in usage:
        sys.exit(f"langgraph-store-conformance --help printed {usage!r}.")


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
    with langgraph_dev(project, QUIET, programs) as url:
        say(url, "My dog is called Bello.")
        answer = say(url, "What is my dog called?")
    if "Bello" not in answer:
        sys.exit(f"The project did not remember across threads; it answered {answer!r}.")


def say(url: str, text: str) -> str:
    """One turn in a thread of its own; the answer."""
    thread = post(f"{url}/threads", {})["thread_id"]
    message = {"messages": [{"role": "user", "content": text}]}
    wanted = {"assistant_id": "chat", "input": message}
    state = post(f"{url}/threads/{thread}/runs/wait", wanted)
    return str(state["messages"][-1]["content"])


def post(url: str, body: dict[str, Any]) -> Any:
    """Send JSON and return the JSON of the answer."""
    return httpx.post(url, json=body, timeout=120).raise_for_status().json()


if __name__ == "__main__":
    main()
