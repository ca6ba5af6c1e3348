"""The coding agents that memory has an adapter for, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from langmemory.errors import ConfigError
from langmemory.parts.coding.claude_code import ClaudeCode
from langmemory.parts.coding.codex import Codex
from langmemory.parts.coding.cursor import Cursor
from langmemory.parts.coding.events import Program
from langmemory.parts.coding.gemini import Gemini
from langmemory.parts.coding.openclaw import OpenClaw

PROGRAMS: Final[Mapping[str, Program]] = {
    one.name: one for one in (ClaudeCode(), Codex(), Cursor(), Gemini(), OpenClaw())
}


def program(name: str) -> Program:
    """Return an adapter.

    Raises:
        ConfigError: There is none of this name.
    """
    if name not in PROGRAMS:
        raise ConfigError(
            f"There are no hooks for {name!r:.80}; there are some for {', '.join(PROGRAMS)}."
        )
    return PROGRAMS[name]
