"""Run LangGraph's own store test suites against `MemoryStore`, on files and on a PostgreSQL server, and
against `RemoteMemoryStore`.

The suites come from the source distributions of the installed versions, downloaded with pip into
`.cache/conformance/` (never committed). Exit code 0 means: every test that is not left out by name
below was run and passed, and every name below still exists. The PostgreSQL server is that of the tests, see
`tests/postgres_server.py`.

    python scripts/conformance.py [--store local|postgres|remote] [-k EXPRESSION]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

REPOSITORY = Path(__file__).resolve().parents[1]
CACHE = REPOSITORY / ".cache" / "conformance"

PYTEST_INI = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
"""Keeps pytest from walking up to our own configuration."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """Test files of one distribution, and the tests of them that are not about behaviour."""

    distribution: str
    files: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """"file::test", with parameters or for all of them → why it says nothing about our store."""
    left_out_remote: Mapping[str, str] = field(default_factory=dict)
    """The same, of the remote store alone."""
    stores: tuple[str, ...] = ("local", "postgres", "remote")
    """Those of `STORES` that it can run against."""

    def left_out_of(self, store: str) -> dict[str, str]:
        """Return what is left out for one of `STORES`."""
        return {**self.left_out, **(self.left_out_remote if store == "remote" else {})}


STORES = {
    "local": "MemoryStore",
    "postgres": "MemoryStore on PostgreSQL",
    "remote": "RemoteMemoryStore",
}

THEIR_TABLES = (
    "writes to PostgresStore's table `store` to age an item, and turns `omit_expired` on after the store was "
    "opened; tests/stores/test_ttl.py holds ours to the same"
)

SUITES = (
    Suite(distribution="langgraph-checkpoint", files=("test_store.py",)),
    Suite(
        distribution="langgraph-checkpoint-sqlite",
        files=("test_store.py", "test_async_store.py", "test_ttl.py"),
        left_out={
            "test_store.py::test_escape_glob_literal": (
                "calls SqliteStore's private _escape_glob_literal; MemoryStore has no GLOB"
            ),
            "test_store.py::test_namespace_match_pattern": (
                "calls SqliteStore's private _namespace_match_pattern; MemoryStore has no regex"
            ),
            "test_store.py::test_list_namespaces_prefix_uses_indexable_condition": (
                "reads the SQL that the private BaseSqliteStore generates"
            ),
            "test_store.py::test_nonnull_migrations": (
                "reads the private SqliteStore.MIGRATIONS; ours are files with their own test"
            ),
            "test_store.py::test_vector_store_initialization": (
                "asks store.conn for SqliteStore's table names; its public half is "
                "test_async_store.py's test of the same name, which runs"
            ),
        },
        left_out_remote={
            "test_async_store.py::test_no_running_loop": (
                "expects that a sync call on the loop of `async with from_conn_string` is refused; "
                "RemoteMemoryStore has no such constructor"
            ),
        },
    ),
    Suite(
        distribution="langgraph-checkpoint-postgres",
        files=("test_store.py", "test_async_store.py"),
        stores=("postgres",),
        left_out={
            "test_store.py::test_escape_like_literal": (
                "calls PostgresStore's private _escape_like_literal; MemoryStore has no LIKE"
            ),
            "test_store.py::test_namespace_match_pattern": (
                "calls PostgresStore's private _namespace_match_pattern; MemoryStore has no regex"
            ),
            "test_store.py::test_nonnull_migrations": (
                "reads the private PostgresStore.MIGRATIONS; ours are files with their own test"
            ),
            "test_async_store.py::test_abatch_uses_single_pool_checkout": (
                "counts calls of langgraph.checkpoint.postgres._ainternal, which MemoryStore has not"
            ),
            "test_store.py::test_batch_list_namespaces_ops": (
                "asks for the suffix 'public', a string: PostgresStore takes it for six labels and finds "
                "nothing, which the test does not notice; ours refuses a string where a tuple is meant"
            ),
            **{
                f"test_async_store.py::test_large_batches{name}[{way}]": (
                    "the same as [default]: ours has one way to connect, and this takes minutes"
                )
                for name in ("", "_async")
                for way in ("pipe", "pool")
            },
            **{
                f"test_store.py::test_scores[{query}-halfvec-l2]": (
                    "expects the negative Euclidean distance as the score; ours is always the cosine"
                )
                for query in ("aaa", "bbb", "ccc", "abcd", "poisson")
            },
            **{
                f"{file}::test_omit_expired_{name}": THEIR_TABLES
                for file in ("test_store.py", "test_async_store.py")
                for name in (
                    "filters_read_paths",
                    "disabled_preserves_expired_rows",
                    "refresh_ttl_only_refreshes_live_rows",
                    "search_pagination",
                )
            },
        },
    ),
)


def fetch_tests(distribution: str) -> Path:
    """Folder that holds the `tests` package of the installed version of `distribution`."""
    release = f"{distribution.replace('-', '_')}-{version(distribution)}"
    folder = CACHE / release
    if (folder / "tests").is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
    requirement = f"{distribution}=={version(distribution)}"
    subprocess.run([*pip, "--dest", str(CACHE), "--quiet", requirement], check=True)
    partial = CACHE / f"{release}.part"
    with tarfile.open(CACHE / f"{release}.tar.gz") as archive:
        tests = [m for m in archive if m.name.startswith(f"{release}/tests/")]
        archive.extractall(partial, members=tests, filter="data")
    (partial / release / "pytest.ini").write_text(PYTEST_INI)
    (partial / release).rename(folder)
    partial.rmdir()
    return folder


def run(suite: Suite, store: str, selection: str | None) -> tuple[dict[str, str], list[str]]:
    """Outcome of every test that ran, and the tests left out, both as "file::test[…]"."""
    folder = fetch_tests(suite.distribution)
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    environment = os.environ | {
        # The suite's folder first: its `tests` package must win over ours.
        "PYTHONPATH": os.pathsep.join(map(str, (folder, REPOSITORY / "scripts", REPOSITORY))),
        "CONFORMANCE_STORE": store,
        "CONFORMANCE_LEFT_OUT": json.dumps(list(suite.left_out_of(store))),
        "CONFORMANCE_REPORT": str(report),
    }
    pytest = [sys.executable, "-m", "pytest", "-p", "conformance_plugin", "-q", "--tb=short"]
    chosen = ["-k", selection] if selection else []
    files = [f"tests/{name}" for name in suite.files]
    subprocess.run([*pytest, *chosen, *files], cwd=folder, env=environment, check=False)
    if not report.exists():
        sys.exit(f"{suite.distribution}: pytest did not finish, see its output above.")
    verdicts = json.loads(report.read_text())
    return verdicts["outcomes"], verdicts["left_out"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("-k", dest="selection", help="only tests that match, as in pytest")
    parser.add_argument("--store", choices=STORES, help="only this one")
    given = parser.parse_args()
    stores = [given.store] if given.store else list(STORES)
    return max([check(store, given.selection) for store in stores])


def check(store: str, selection: str | None) -> int:
    """Run all suites against one of our stores, and print what came of it; 0 where all passed."""
    console = Console()
    head = Column("suite", overflow="fold")
    counts = Table(
        head,
        "passed",
        "failed",
        "skipped",
        "left out",
        title=f"LangGraph's suites against {STORES[store]}",
    )
    reasons = Table(Column("left out", overflow="fold"), "why", title="Left out by name")
    problems: list[str] = []
    for suite in SUITES:
        if store not in suite.stores:
            continue
        outcomes, left_out = run(suite, store, selection)
        for file in suite.files:
            seen = Counter(o for name, o in outcomes.items() if name.startswith(f"{file}::"))
            numbers = [seen[outcome] for outcome in ("passed", "failed", "skipped")]
            numbers.append(sum(name.startswith(f"{file}::") for name in left_out))
            name = f"{suite.distribution} {version(suite.distribution)} {file}"
            counts.add_row(name, *map(str, numbers))
            if not selection and not seen["passed"]:
                problems.append(f"{suite.distribution} {file}: nothing ran")
        for name, reason in suite.left_out_of(store).items():
            reasons.add_row(escape(name), reason)
            if not selection and not any(name in (n, n.split("[")[0]) for n in left_out):
                problems.append(f"{name} is left out but no longer exists: remove it from the list")
        problems += [f"{o}: {name}" for name, o in outcomes.items() if o != "passed"]

    console.print(counts, reasons, sep="\n")
    for problem in problems:
        console.print(problem, style="red", markup=False)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
