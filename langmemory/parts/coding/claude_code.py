"""Claude Code: hooks in ``settings.json`` of its folder; its transcripts have what was said and done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from langmemory.parts.coding.events import Event, Kind, Program, text_in
from langmemory.parts.coding.settings_file import scan
from langmemory.parts.importing.sessions import STORES, SessionFormat


class ClaudeCode(Program):
    """Adapter of Claude Code."""

    name = "claude-code"
    title = "Claude Code"
    events: ClassVar[Mapping[str, Kind]] = {
        "SessionStart": "start",
        "UserPromptSubmit": "prompt",
        "Stop": "turn",
        "PreCompact": "compact",
        "SessionEnd": "end",
    }
    transcripts: ClassVar[SessionFormat | None] = "claude-code"

    def settings(self) -> Path:
        return STORES["claude-code"].home / "settings.json"

    def problems(self) -> Iterator[str]:
        file = self.settings()
        if file.exists():
            off = scan(file.read_text("utf-8"), str(file)).members.get("disableAllHooks")
            if off is not None and off.value is True:
                yield f"{file} says disableAllHooks: no hook runs until that is taken out."

    def read(self, name: str, payload: Mapping[str, Any]) -> Event | None:
        return Event(
            kind=self.events[name],
            session=text_in(payload, "session_id"),
            folder=text_in(payload, "cwd"),
            prompt=text_in(payload, "prompt"),
            transcript=text_in(payload, "transcript_path"),
            shortened=payload.get("source") == "compact",
        )
