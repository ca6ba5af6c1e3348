"""Cursor: ``hooks.json`` in its folder. It takes context when a session begins, and none at a prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from langmemory.parts.coding.events import Event, Kind, Program, called, text_in
from langmemory.parts.importing.sessions import STORES


class Cursor(Program):
    """Adapter of Cursor."""

    name = "cursor"
    title = "Cursor"
    events: ClassVar[Mapping[str, Kind]] = {
        "sessionStart": "start",
        "beforeSubmitPrompt": "turn",
        "afterAgentResponse": "turn",
        "postToolUseFailure": "turn",
        "postToolUse": "turn",
        "preCompact": "compact",
        "sessionEnd": "end",
    }
    next_step = (
        "Cursor takes memory's context when a session begins; the MCP server gives it the rest."
    )

    def settings(self) -> Path:
        return STORES["cursor"].home / "hooks.json"

    def empty(self) -> str:
        return '{\n  "version": 1\n}\n'

    def entry(self, event: str, command: str) -> dict[str, Any]:
        return {"command": command}

    def read(self, name: str, payload: Mapping[str, Any]) -> Event | None:
        said = {
            "beforeSubmitPrompt": ("user", "prompt"),
            "afterAgentResponse": ("assistant", "text"),
        }
        role, field = said.get(name, ("", ""))
        roots = payload.get("workspace_roots")
        tools = name in ("postToolUse", "postToolUseFailure")
        return Event(
            kind=self.events[name],
            session=text_in(payload, "conversation_id") or text_in(payload, "session_id"),
            folder=str(roots[0]) if isinstance(roots, list) and roots else text_in(payload, "cwd"),
            messages=[{"role": role, "content": text_in(payload, field)}] if role else (),
            calls=called(
                payload.get("tool_name"), payload.get("tool_input"), payload.get("error_message")
            )
            if tools
            else (),
        )

    def say(self, name: str, text: str) -> str:
        return json.dumps({"additional_context": text}) if text else ""
