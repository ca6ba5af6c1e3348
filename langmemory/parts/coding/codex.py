"""Codex: ``hooks.json`` in its folder, with the events of Claude Code but for the end of a session."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from langmemory.parts.coding.claude_code import ClaudeCode
from langmemory.parts.coding.events import Kind
from langmemory.parts.importing.sessions import STORES, SessionFormat


class Codex(ClaudeCode):
    """Adapter of Codex."""

    name = "codex"
    title = "Codex"
    events: ClassVar[Mapping[str, Kind]] = {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "Stop": "turn",
        "PreCompact": "compact",
    }
    transcripts: ClassVar[SessionFormat | None] = "codex"
    next_step = "Codex runs hooks that you trust: look at them with /hooks in Codex."

    def settings(self) -> Path:
        return STORES["codex"].home / "hooks.json"

    def problems(self) -> Iterator[str]:
        file = STORES["codex"].home / "config.toml"
        try:
            features = tomllib.loads(file.read_text("utf-8")).get("features", {})
        except (OSError, tomllib.TOMLDecodeError):
            return
        if features.get("hooks", features.get("codex_hooks")) is False:
            yield f"{file} says hooks = false under [features]: no hook runs until that is taken out."
