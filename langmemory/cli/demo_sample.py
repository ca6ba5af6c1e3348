"""Where the conversation of the demo is, and what belongs to it."""

from __future__ import annotations

from pathlib import Path

from langmemory.errors import LangMemoryError

NAMESPACE = ("memories", "lena")


def sample_folder() -> Path:
    """`examples/data` of the repository, or its copy in the installed package.

    Raises:
        LangMemoryError: Neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / "examples" / "data", package / "examples"):
        if (folder / "lena.jsonl").is_file():
            return folder
    raise LangMemoryError(
        "the sample conversation is not installed: clone the repository and run the demo there"
    )


def example_answer() -> str:
    """Return an answer to the demo's last message, written by hand, for who has no model running."""
    return (sample_folder() / "answer.txt").read_text(encoding="utf-8").strip()
