"""Writes docs/reference/conformance.md: what `langgraph-store-conformance` reports of all stores.

``python -m scripts.conformance_page`` runs the suite against all of them, which takes two minutes, and writes
the page. It needs the extra dev.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks.extensions import loadable_sqlite

loadable_sqlite()  # before anything of LangGraph's SQLite stores is imported
ROOT: Final = Path(__file__).parents[1]
sys.path.append(str(ROOT / "conformance"))

from langgraph_store_conformance import CHECKS, Report, run  # noqa: E402

from tests.conforming import NOTES, STORES  # noqa: E402

PAGE: Final = ROOT / "docs" / "reference" / "conformance.md"
SIGNS: Final = {"passed": "✓", "failed": "✗", "not offered": "–"}
PACKAGES: Final = (
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
)


def page(reports: list[Report]) -> str:
    """Return the page."""
    return "\n".join([*_head(), *_table(reports), *_reasons(reports), ""])


def _head() -> Iterator[str]:
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    yield f"""# Conformance of LangGraph stores

`langgraph-store-conformance` tests an implementation of LangGraph's `BaseStore` against its contract. It is a
package of its own in `conformance/`, which needs `langgraph-checkpoint` alone; its README says how to run it
against your store. This page is made by `python -m scripts.conformance_page`.

Each check runs by the sync and by the async methods, with a new store, so that ✗ may be of one of the two
ways. A check with an asterisk is not in LangGraph's documentation: users expect it, and a store that does
otherwise breaks no promise. – means that the store does not offer it. The suite was written beside
`MemoryStore`, whose faults are mended when it shows them: that is a reason why it passes more.

Seen with {versions}.
"""


def _table(reports: list[Report]) -> Iterator[str]:
    yield f"| check | {' | '.join(one.store for one in reports)} |"
    yield f"|---|{'---|' * len(reports)}"
    for number, check in enumerate(CHECKS):
        signs = [SIGNS[one.results[number].outcome] for one in reports]
        yield f"| {check.about}{'' if check.documented else ' *'} | {' | '.join(signs)} |"
    for title, documented in (("documented", True), ("others", False)):
        counts = [
            Counter(one.outcome for one in report.results if one.check.documented == documented)
            for report in reports
        ]
        cells = [f"{one['passed']} of {one['passed'] + one['failed']}" for one in counts]
        yield f"| **Passed, {title}** | {' | '.join(cells)} |"


def _reasons(reports: list[Report]) -> Iterator[str]:
    yield "\n## What differs"
    for report in reports:
        failed = [one for one in report.results if one.outcome == "failed"]
        if failed:
            yield f"\n### {report.store}\n"
        if note := NOTES.get(report.store):
            yield f"{note}\n"
        for one in failed:
            mark = "" if one.check.documented else " *"
            yield f"- `{one.check.name}`{mark}: {_short(one.reason)}"


def _short(reason: str) -> str:
    line = " ".join(reason.replace("`", "'").split())
    return f"`{line if len(line) < 240 else line[:240] + ' …'}`"


def main() -> None:
    reports = []
    for name, factory in STORES.items():
        reports.append(run(factory, name))
        counts = Counter(one.outcome for one in reports[-1].results)
        print(f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in counts.items())}")
    PAGE.write_text(page(reports), "utf-8")


if __name__ == "__main__":
    main()
