"""What a hook says, in one form for all programs, and what a program has to say of itself."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from langmemory.errors import ConfigError
from langmemory.parts.coding import client, settings_file
from langmemory.parts.importing.sessions import Call, SessionFormat, call_text

Kind = Literal["start", "prompt", "turn", "compact", "end"]
"""A session begins; somebody asks; something was said or done; the context is about to be shortened; the
session ends."""

WAITS: Final[frozenset[Kind]] = frozenset(("start", "prompt"))
"""What gets an answer."""
MODULE: Final = client.__name__
SCRIPT: Final = "langmemory-hook"
"""The command of the package that does the same, for the plugin."""
SECONDS: Final = 10
"""After which a program may stop a hook."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """What happened in a session."""

    kind: Kind
    session: str
    folder: str
    prompt: str = ""
    """What somebody asks."""
    messages: Sequence[Mapping[str, Any]] = ()
    """What was said, as `MemoryStore.remember` takes it, where no transcript has it."""
    calls: Sequence[Call] = ()
    """Calls of tools with their results, likewise."""
    transcript: str = ""
    """The file in which the program keeps the session; empty where there is none that can be read."""
    shortened: bool = False
    """Whether the context was shortened just now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A file as it is to be; None where it is to go."""

    path: Path
    before: str | None
    after: str | None
    own_folder: bool = False
    """Whether its folder goes with it, once that is empty."""


class Program:
    """A coding agent. An adapter is a subclass that says what is its own."""

    name: ClassVar[str]
    title: ClassVar[str]
    events: ClassVar[Mapping[str, Kind]]
    """By what the program calls them: those that memory takes."""
    transcripts: ClassVar[SessionFormat | None] = None
    """The format of its transcripts."""
    next_step: ClassVar[str] = ""
    """What a person has to do after the installation."""

    def settings(self) -> Path:
        """Return the file that has the hooks."""
        raise NotImplementedError

    def detect(self) -> bool:
        """Return whether the program was used on this machine."""
        return self.settings().parent.is_dir()

    def entry(self, event: str, command: str) -> dict[str, Any]:
        """Return what stands in the settings for an event."""
        return {"hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}

    def read(self, name: str, payload: Mapping[str, Any]) -> Event | None:
        """Return what a payload says; None where it is nothing to memory."""
        raise NotImplementedError

    def say(self, name: str, text: str) -> str:
        """Return what the program takes as context, if there is any."""
        if not text:
            return ""
        return json.dumps(
            {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
        )

    def problems(self) -> Iterator[str]:
        """Yield why its hooks would not run, by its own settings."""
        yield from ()

    def command(self, event: str, options: Sequence[str]) -> str:
        """Return the command of an event: this Python, which takes no module of the folder it runs in."""
        waits = [client.WAIT] if self.events[event] in WAITS else []
        return shlex.join([sys.executable, "-P", "-m", MODULE, *waits, self.name, event, *options])

    def is_ours(self, command: str) -> bool:
        """Return whether a command is one of memory for this program."""
        words = command.split()
        return self.name in words and (MODULE in words or any(SCRIPT in one for one in words[:1]))

    def install(self, options: Sequence[str]) -> list[Change]:
        """Return what installing changes. Hooks that are there are replaced."""
        file = self.settings()
        before = _text(file)
        start = self._without(before)
        text, pieces = start or self.empty(), []
        for event in self.events:
            entry = json.dumps(self.entry(event, self.command(event, options)))
            text, added = settings_file.put_in(text, event, entry, str(file))
            pieces += added
        receipt = json.dumps({"made": start is None, "pieces": pieces})
        kept = self.receipt()
        return [
            Change(path=file, before=before, after=text),
            Change(path=kept, before=_text(kept), after=receipt),
        ]

    def empty(self) -> str:
        """Return the settings of a program that has none."""
        return "{}\n"

    def uninstall(self) -> list[Change]:
        """Return what taking the hooks out changes."""
        file, kept = self.settings(), self.receipt()
        before = _text(file)
        return [
            Change(path=file, before=before, after=self._without(before)),
            Change(path=kept, before=_text(kept), after=None),
        ]

    def _without(self, text: str | None) -> str | None:
        """Return the settings without what is ours; None where installing made the file, and nobody added to
        it."""
        kept = _text(self.receipt())
        receipt: dict[str, Any] = json.loads(kept) if kept else {"made": False, "pieces": []}
        if text is None:
            return None
        pieces = [(int(place), str(piece)) for place, piece in receipt["pieces"]]
        left = settings_file.take_out(text, pieces, self.is_ours, str(self.settings()))
        return None if receipt["made"] and left == self.empty() else left

    def receipt(self) -> Path:
        """Return the file that says what was put in."""
        return Path(client.folder()) / f"hooks-{self.name}.json"

    def installed(self) -> dict[str, str]:
        """Return the commands that are there, by event."""
        text = _text(self.settings())
        found = settings_file.commands(text, str(self.settings())) if text else ()
        return {event: command for event, command in found if self.is_ours(command)}


def _text(file: Path) -> str | None:
    """Return what a file says, with its ends of lines; None where it is not there."""
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text. Mend it, and try again.") from error


def apply(change: Change) -> None:
    """Write a change. A file keeps its mode, and a link stays one."""
    if change.after is None:
        change.path.unlink(missing_ok=True)
        if change.own_folder and not any(change.path.parent.iterdir()):
            change.path.parent.rmdir()
    elif change.after != change.before:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        change.path.write_bytes(change.after.encode())


def text_in(payload: Mapping[str, Any], name: str) -> str:
    """Return a text of a payload; empty where there is none."""
    found = payload.get(name)
    return found if isinstance(found, str) else ""


def called(tool: Any, given: Any, error: Any) -> list[Call]:
    """Return the call of a tool and how it ended; ``error`` is what was wrong, if it failed."""
    name, text = str(tool or "tool"), error if isinstance(error, str) else json.dumps(error)
    return [
        Call("call", call_text(given), "", name),
        Call("result", text if error else "", "", name, bool(error)),
    ]


def home(variable: str, default: str) -> Path:
    """Return the folder of a program."""
    return Path(os.environ.get(variable) or default).expanduser()
