"""Compare orders of forgetting: ``python -m benchmarks.forgetting [DATA] [--budget 50] [--json FILE]``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.forgetting.exam import BUDGETS, evaluate_lifecycle
from benchmarks.forgetting.report import lifecycle_report, render_lifecycle
from langmemory.parts.evals import SAMPLE, load


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each exam, and write all figures where they are to go."""
    parser = argparse.ArgumentParser("python -m benchmarks.forgetting", description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--budget", type=float, action="append", help="per cent that are kept")
    parser.add_argument("--limit-questions", type=int)
    parser.add_argument("--json", type=Path, dest="file")
    given = parser.parse_args(arguments)
    corpus = load(given.data, limit_questions=given.limit_questions)
    if corpus.kind == "documents":
        parser.error("it needs conversations; these are documents")
    budgets = [percent / 100 for percent in given.budget or ()] or BUDGETS
    report = lifecycle_report(corpus, evaluate_lifecycle(corpus, budgets=budgets))
    Console(width=110).print(render_lifecycle(report))
    if given.file:
        text = json.dumps(report.to_json(), indent=2, ensure_ascii=False)
        given.file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
