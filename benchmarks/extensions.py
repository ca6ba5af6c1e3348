"""A `sqlite3` that can load extensions, which LangGraph's own SQLite stores need.

Many Pythons are built without it. Then `pysqlite3` takes the name `sqlite3` in this process, from
the environment or from `.cache/bench/`, before anything of LangGraph's is imported, so that all
stores can be compared call by call in one process.
"""

from __future__ import annotations

import importlib
import sqlite3
import subprocess
import sys

from benchmarks.vectors import CACHE

FOLDER = CACHE / "pysqlite3"


def loadable_sqlite() -> str | None:
    """Make `import sqlite3` load extensions; returns what was found, None when nothing was."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return f"sqlite3 of this Python, SQLite {sqlite3.sqlite_version}"
    if "langgraph.store.sqlite" in sys.modules:
        raise RuntimeError("loadable_sqlite() must run before langgraph.store.sqlite is imported")
    sys.path.append(str(FOLDER))
    try:
        pysqlite3 = importlib.import_module("pysqlite3")
    except ModuleNotFoundError:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
        ]
        command = [*pip, "--target", str(FOLDER), "pysqlite3-binary"]
        if subprocess.run(command, check=False).returncode:
            return None
        importlib.invalidate_caches()
        pysqlite3 = importlib.import_module("pysqlite3")
    sys.modules["sqlite3"] = pysqlite3
    sys.modules["sqlite3.dbapi2"] = importlib.import_module("pysqlite3.dbapi2")
    return f"pysqlite3, SQLite {pysqlite3.sqlite_version}"
