"""The command ``langgraph-store-conformance MODULE:FACTORY``."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator

from langgraph_store_conformance.running import Outcome, Report, run

SIGNS: dict[Outcome, str] = {"passed": "ok", "failed": "FAIL", "not offered": "-"}


def main(arguments: list[str] | None = None) -> int:
    """Run the checks and print the report; 0 where each documented check passed."""
    parser = argparse.ArgumentParser(
        prog="langgraph-store-conformance",
        description="Test an implementation of LangGraph's BaseStore against its contract.",
    )
    parser.add_argument(
        "factory", metavar="MODULE:FACTORY", help="what makes a store, see the README"
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail for undocumented expectations, too"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    given = parser.parse_args(arguments)
    module, _, name = given.factory.partition(":")
    if not name:
        parser.error(f"{given.factory} names no factory; write MODULE:FACTORY")
    try:
        factory = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        parser.error(f"{given.factory} cannot be imported: {error}")
    report = run(factory, given.factory)
    print(as_json(report) if given.json else "\n".join(as_lines(report)))
    failed = any(one.outcome == "failed" for one in report.results)
    return int(failed if given.strict else not report.conforms)


def as_lines(report: Report) -> Iterator[str]:
    able = sorted(report.capabilities - {"base", "no ttl"})
    yield report.store
    yield f"Called by {' and '.join(report.ways)}. Offers {', '.join(able) or 'the base'}."
    group = ""
    for one in report.results:
        if one.check.needs[0] != group:
            group = one.check.needs[0]
            yield f"\n{group}"
        extra = "" if one.check.documented else " (undocumented)"
        yield f"  {SIGNS[one.outcome]:5}{one.check.name}: {one.check.about}{extra}"
        if one.reason:
            yield f"       {one.reason[:400]}"
    counts = Counter(one.outcome for one in report.results)
    yield "\n" + ", ".join(f"{counts[one]} {one}" for one in SIGNS)


def as_json(report: Report) -> str:
    checks = [
        {"name": one.check.name, "about": one.check.about, "group": one.check.needs[0],
         "documented": one.check.documented, "outcome": one.outcome, "reason": one.reason}
        for one in report.results
    ]  # fmt: skip
    head = {"store": report.store, "ways": report.ways, "capabilities": sorted(report.capabilities)}
    return json.dumps({**head, "conforms": report.conforms, "checks": checks}, indent=2)


if __name__ == "__main__":
    sys.exit(main())
