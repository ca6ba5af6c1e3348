"""OpenClaw: a folder among its hooks, whose handler runs in the gateway and hands events on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from langmemory.parts.coding.events import Change, Event, Kind, Program, text_in
from langmemory.parts.importing.sessions import STORES, SessionFormat

_ABOUT = """---
name: langmemory
description: "Long-term memory: each answer gets what is remembered, and what was said is remembered"
metadata:
  { "openclaw": { "emoji": "🧠", "events": %s } }
---

# langmemory

Written by `langmemory hooks install openclaw`; `langmemory hooks uninstall openclaw` takes it away.
"""


class OpenClaw(Program):
    """Adapter of OpenClaw."""

    name = "openclaw"
    title = "OpenClaw"
    events: ClassVar[Mapping[str, Kind]] = {
        "agent:bootstrap": "prompt",
        "message:preprocessed": "turn",
        "message:sent": "turn",
        "session:compact:before": "compact",
        "command:new": "end",
        "command:reset": "end",
    }
    transcripts: ClassVar[SessionFormat | None] = "openclaw"
    next_step = "Run `openclaw hooks enable langmemory`, and start the gateway anew."

    def settings(self) -> Path:
        return STORES["openclaw"].home / "hooks" / "langmemory" / "handler.ts"

    def detect(self) -> bool:
        return STORES["openclaw"].home.is_dir()

    def read(self, name: str, payload: Mapping[str, Any]) -> Event | None:
        session, agent = text_in(payload, "session"), text_in(payload, "agent")
        kept = STORES["openclaw"].home / "agents" / agent / "sessions" / f"{session}.jsonl"
        inside = kept.resolve().is_relative_to(STORES["openclaw"].home.resolve())
        return Event(
            kind=self.events[name],
            session=session,
            folder=text_in(payload, "folder"),
            prompt=text_in(payload, "prompt"),
            transcript=str(kept) if inside and kept.is_file() else "",
        )

    def say(self, name: str, text: str) -> str:
        return text

    def install(self, options: Sequence[str]) -> list[Change]:
        commands = {name: shlex.split(self.command(name, options)) for name in self.events}
        handler = Path(__file__).with_suffix(".ts").read_text("utf-8")
        handler = handler.replace("%s", json.dumps(commands, indent=2), 1)
        about = _ABOUT % json.dumps(list(self.events))
        return [
            Change(path=path, before=path.read_text("utf-8") if path.exists() else None, after=text)
            for path, text in ((self.settings(), handler), (self.about(), about))
        ]

    def uninstall(self) -> list[Change]:
        return [
            Change(path=path, before=path.read_text("utf-8"), after=None, own_folder=True)
            for path in (self.settings(), self.about())
            if path.exists()
        ]

    def about(self) -> Path:
        """Return the file by which OpenClaw knows the hook."""
        return self.settings().with_name("HOOK.md")

    def installed(self) -> dict[str, str]:
        file = self.settings()
        if not file.exists() or not self.about().exists():
            return {}
        text = file.read_text("utf-8")
        return {name: str(file) for name in self.events if json.dumps(name) in text}
