"""What notes and exported chats hold beside what people say: the topic ``importing`` of each language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from langmemory.languages import Topic


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ImportWords:
    """Texts are case-folded, without marks of direction and without a period at the end."""

    note_folders: frozenset[str] = frozenset()
    """Names of folders of notes."""
    omitted: frozenset[str] = frozenset()
    """What WhatsApp writes where a picture was, or a message was deleted."""
    edited: tuple[str, ...] = ()
    """And behind a message that was changed."""
    attached: tuple[str, ...] = ()
    """And beside the name of a file."""
    am: frozenset[str] = frozenset()
    """Words for the first half of a day beside a time of the clock."""
    pm: frozenset[str] = frozenset()
    behind_dates: tuple[str, ...] = ()
    """What may stand behind year, month and day."""
    mail_from: frozenset[str] = frozenset()
    """Header of who wrote a mail, as programs copy it above an answer."""
    mail_sent: frozenset[str] = frozenset()
    """And of when it was sent."""
    decisions: tuple[str, ...] = ()
    """Regular expressions by which a commit says why something was done, or what was decided."""


_IMPORTING: Final = Topic(
    ImportWords,
    "importing",
    about="what exported chats, mails, notes and commits hold beside what people say",
    without="notices of programs count as messages",
)


def import_words() -> ImportWords:
    """Return the words of all languages."""
    return _IMPORTING.everywhere
