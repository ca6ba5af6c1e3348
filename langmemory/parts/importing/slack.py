"""Slack's export: a folder for each channel, with a list of messages for each day, beside `users.json`."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from langmemory.errors import ImportFormatError
from langmemory.parts.importing.json_stream import MAX_BYTES, iterate_array
from langmemory.parts.importing.message import ImportedMessage, MessageReader

_LINK: Final = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
_SAID: Final = frozenset({None, "thread_broadcast", "me_message", "file_share"})
"""Subtypes of what a person said; the others tell of joins, topics and programs."""


def is_slack(message: Any) -> bool:
    """Return whether an element of a list is a message of a Slack export."""
    return isinstance(message, dict) and message.get("type") == "message" and "ts" in message


def read_slack(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the messages of one day of a channel.

    The channel, the folder's name, is the thread; an answer belongs to the thread of what it answers. People
    are named as `users.json` of the export names them.
    """
    reader = MessageReader(file=file.name)
    path = Path(file.name).absolute()
    channel, people = path.parent.name, people_of(path.parent.parent)
    for line, message in iterate_array(file):
        where = f"line {line}"
        if not is_slack(message):
            raise reader.error(where, "no message of a Slack export; expected type and ts")
        stamp, user = str(message["ts"]), message.get("user")
        above = str(message.get("thread_ts") or stamp)
        try:
            at = float(stamp)
        except ValueError:
            raise reader.error(where, f"ts is {stamp!r:.40}; expected seconds since 1970") from None
        profile = message.get("user_profile")
        own = profile.get("real_name") if isinstance(profile, dict) else None
        spoken = isinstance(user, str) and message.get("subtype") in _SAID
        yield reader.message(
            where=where,
            role="user" if spoken and not message.get("bot_id") else "system",
            content=_plain(message.get("text"), people),
            thread=channel if above == stamp else f"{channel}/{above}",
            id=f"{channel}/{stamp}",
            at=at,
            name=people.get(str(user)) or own or user,
        )


def people_of(folder: Path) -> Mapping[str, str]:
    """Return the names of people by their id, as the export's `users.json` has them; none without it."""
    path = folder / "users.json"
    try:
        found = path.stat()
        if found.st_size > MAX_BYTES:
            return {}
        return _people(path, found.st_size, found.st_mtime_ns)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ImportFormatError(
            f"{path} cannot be read: {error}. Take it out to go without names."
        ) from None


@lru_cache(maxsize=1)
def _people(path: Path, size: int, modified_ns: int) -> Mapping[str, str]:
    """Return the names in a file, which each day of an export asks for, as long as it is as it was."""
    users = json.loads(path.read_text("utf-8-sig"))
    known = {}
    for one in users if isinstance(users, list) else ():
        if not isinstance(one, dict) or not isinstance(one.get("id"), str):
            continue
        profile = one.get("profile")
        names = {**one, **profile} if isinstance(profile, dict) else one
        name = names.get("real_name") or names.get("display_name") or names.get("name")
        if isinstance(name, str):
            known[one["id"]] = name
    return known


def _plain(text: object, people: Mapping[str, str]) -> object:
    """Return a text as it is read: with names for people and channels, and links as they are shown."""
    if not isinstance(text, str):
        return text

    def replacement(match: re.Match[str]) -> str:
        kind, target, label = match.groups()
        if kind == "@":
            return f"@{people.get(target) or label or target}"
        return f"{kind.replace('!', '@')}{label or target}" if kind else label or target

    return html.unescape(_LINK.sub(replacement, text))
