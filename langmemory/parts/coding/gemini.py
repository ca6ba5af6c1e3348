"""Gemini CLI: hooks in ``settings.json`` of its folder. What was said comes with the events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from langmemory.parts.coding.events import SECONDS, Event, Kind, Program, called, home, text_in
from langmemory.parts.importing.sessions import Call

_BY_HOOKS: Final = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""What hooks gave, which Gemini CLI puts before the words of a person."""


class Gemini(Program):
    """Adapter of Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"
    events: ClassVar[Mapping[str, Kind]] = {
        "SessionStart": "start",
        "BeforeAgent": "prompt",
        "AfterTool": "turn",
        "AfterAgent": "turn",
        "PreCompress": "compact",
        "SessionEnd": "end",
    }

    def settings(self) -> Path:
        return home("GEMINI_CLI_HOME", "~") / ".gemini" / "settings.json"

    def entry(self, event: str, command: str) -> dict[str, Any]:
        hook = {
            "type": "command",
            "name": "langmemory",
            "command": command,
            "timeout": SECONDS * 1_000,
        }
        return {"hooks": [hook]}

    def read(self, name: str, payload: Mapping[str, Any]) -> Event | None:
        prompt = _BY_HOOKS.sub("", text_in(payload, "prompt"))
        said: list[dict[str, Any]] = []
        calls: list[Call] = []
        if name == "AfterAgent":
            said = [
                {"role": "user", "content": prompt},
                {"role": "assistant", "content": text_in(payload, "prompt_response")},
            ]
        elif name == "AfterTool":
            answer = payload.get("tool_response")
            error = answer.get("error") if isinstance(answer, dict) else None
            calls = called(payload.get("tool_name"), payload.get("tool_input"), error)
        return Event(
            kind=self.events[name],
            session=text_in(payload, "session_id"),
            folder=text_in(payload, "cwd"),
            prompt=prompt,
            messages=[one | {"at": text_in(payload, "timestamp")} for one in said],
            calls=calls,
        )
