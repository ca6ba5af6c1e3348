"""Where, when and with which versions a result was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "aiosqlite",
    "apsw",
    "sqlite-vec",
    "numpy",
)


def _cpu() -> str:
    about = Path("/proc/cpuinfo")
    for line in about.read_text().splitlines() if about.exists() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    """Commit of this repository, "+" for changes on top of it."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    output = subprocess.run(git, capture_output=True, text=True, check=False)
    return output.stdout.strip() or "not committed"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def description(sqlite: str | None) -> dict[str, str]:
    """Facts for the head of the report; `sqlite` is what the peers run on."""
    import apsw

    memory_gb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": f"{_cpu()}, {os.cpu_count()} cores, {memory_gb:.0f} GB",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "commit": _commit(),
        "SQLite of MemoryStore": apsw.sqlite_lib_version(),
        "SQLite of the peers": sqlite or "none that loads extensions: SqliteStore left out",
        **{package: _version(package) for package in PACKAGES},
    }
