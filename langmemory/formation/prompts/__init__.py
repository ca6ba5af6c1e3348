"""Prompts for models, one Markdown file each; ``$name`` is filled in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Text of ``<name>.md``.

    Raises:
        FileNotFoundError: There is none.
    """
    return files(__name__).joinpath(f"{name}.md").read_text("utf-8").strip()
