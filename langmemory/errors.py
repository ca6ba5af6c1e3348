"""Errors of langmemory. Each says what happened, with which value, and the next step."""

from __future__ import annotations

from collections.abc import Sequence


def with_extra(name: str) -> str:
    """The next step where an optional package is missing."""
    return (
        f'install the extra "{name}" in a checkout with pip install ".[{name}]", or with the wheel that '
        f'make dist built: pip install "WHEEL[{name}]"'
    )


class LangMemoryError(Exception):
    """Base of every error langmemory raises on purpose."""


class ConfigError(LangMemoryError, ValueError):
    """A setting is unknown or out of range; the message names key, value and what is allowed."""


class DatabaseError(LangMemoryError):
    """The file cannot be used as a memory: not a database, unreadable, full disk, damaged."""


class DamagedTextError(DatabaseError, ValueError):
    """A stored text is no JSON any more."""


class DamagedFileError(DatabaseError):
    """Rows of the file cannot be read; ``damages`` says which. The others were brought out."""

    def __init__(self, message: str, damages: Sequence[object]) -> None:
        super().__init__(message)
        self.damages = damages


class SchemaVersionError(DatabaseError):
    """The file was written by a newer langmemory."""


class ClosedStoreError(LangMemoryError):
    """The store was closed; open a new one."""


class EmbeddingError(LangMemoryError):
    """The embedding model failed or answered nonsense; nothing was written."""


class EmbeddingModelMismatchError(EmbeddingError, ValueError):
    """The file's vectors come from another model than the one it was opened with."""


class InvalidFilterError(LangMemoryError, ValueError):
    """A filter has an unknown operator, a bad key or an operand of the wrong type."""


class InvalidValueError(LangMemoryError, ValueError):
    """A value cannot be stored as JSON without losing something."""


class OwnershipError(LangMemoryError, PermissionError):
    """A viewer may not write this: it would touch a private memory of somebody else."""


class ChangedMeanwhileError(LangMemoryError):
    """A memory is not any more what the writer last read; nothing was written. Read it again."""


class MessageNotFoundError(LangMemoryError, LookupError):
    """There is no such message of the bus, or none that this agent, or this viewer, may know of."""


class ForgettingError(LangMemoryError):
    """The memories are gone from memory, but the file may still hold bytes of it; the
    message says where and why. Forget it again."""


class ImportFormatError(LangMemoryError, ValueError):
    """A file to import is not in a known format; the message names the line."""


class VaultError(LangMemoryError, ValueError):
    """A secret cannot be stored or used as asked; the message never quotes it."""


class VaultKeyError(VaultError):
    """The key of the vault is missing, is none, or is another one; nothing was changed."""


class SecretNotFoundError(VaultError, LookupError):
    """The vault has no secret of this label, or none that this viewer may know of."""


class SecretDamagedError(VaultError):
    """A secret does not open: its row is not as it was written."""


class ChangeError(LangMemoryError, ValueError):
    """A change set cannot be applied as it stands; nothing of it was."""


class MaintenanceBusyError(LangMemoryError):
    """Another process maintains the file; wait until it has finished."""


class StalePlanError(ChangeError):
    """A memory changed after the plan was made; plan again."""


class UndoRefusedError(ChangeError):
    """Later changes stand on the run; the message names them."""


class EntityNameError(LangMemoryError, LookupError):
    """A name stands for no entity, or for more than one; the message lists those near it."""


class ExtractionError(LangMemoryError):
    """A model's answer could not be made into facts, also not on the second try."""

    model_calls: int = 0
    """How many were made in vain."""


class AnswerTooLongError(LangMemoryError):
    """A model's answer took more time or tokens than it may, and was cut off."""


class ModelUnavailableError(LangMemoryError):
    """A model could not be asked: unreachable, timed out, refused by its server."""


class JobFailedError(LangMemoryError):
    """A job in the background was given up; the message says why, `langmemory jobs` retries it."""


class TurnsReadError(StalePlanError):
    """Another run has learned from some of the turns since this one looked: it is to gather anew."""


class ServerError(LangMemoryError):
    """A server of langmemory refused a request, or failed, and no other error says why."""

    def __init__(self, message: str, *, status: int, kind: str = "") -> None:
        """``kind`` is the problem's word for programs, such as ``too-many``."""
        super().__init__(message)
        self.status, self.kind = status, kind


class AccessError(ServerError, PermissionError):
    """The server lets nobody in with this token, or the token does not allow it."""


class ServerUnreachableError(LangMemoryError, ConnectionError):
    """No answer came from the server; whether it did what was asked is not known."""
