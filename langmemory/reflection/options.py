"""Options of the executor: when conversations are reflected, how jobs are retried and kept."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Self

from langmemory.config import ReflectionConfig, WorkConfig, check_work

_DEFAULT: Final = WorkConfig()

FROM_CONFIG: Final = object()
"""A ``thread_id`` that was not given: the config's."""


class _Configured:
    """Options, most of them also keys of the configuration's section ``reflection``."""

    __slots__ = ()

    @classmethod
    def of(cls, settings: ReflectionConfig) -> Self:
        """As configured."""
        names = {option.name for option in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: value for name, value in settings if name in names})

    def __post_init__(self) -> None:
        """Raises ConfigError for what the configuration would not allow."""
        given = {option.name: getattr(self, option.name) for option in fields(self)}  # type: ignore[arg-type]
        check_work(given, type(self).__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Debounce(_Configured):
    """When the turns of a conversation are reflected."""

    debounce_seconds: float = _DEFAULT.debounce_seconds
    """So long after its last turn."""
    max_debounce_seconds: float = _DEFAULT.max_debounce_seconds
    """At the latest so long after the first turn that waits, however lively it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkOptions(_Configured):
    """How jobs are retried, leased and kept."""

    max_attempts: int = _DEFAULT.max_attempts
    """Attempts before a job is dead; with the delays below, about two hours."""
    retry_initial_seconds: float = _DEFAULT.retry_initial_seconds
    """Delay after the first failure; doubled after each further one."""
    retry_max_seconds: float = _DEFAULT.retry_max_seconds
    jitter: float = _DEFAULT.jitter
    """A delay is up to this share longer or shorter, so that many jobs do not return at once; 0–1."""
    lease_seconds: float = _DEFAULT.lease_seconds
    """How long a job of a worker that died is left alone; a living one renews it three times."""
    job_timeout_seconds: float = _DEFAULT.job_timeout_seconds
    """A job that runs longer is given up: its lease is not renewed any more."""
    poll_seconds: float = _DEFAULT.poll_seconds
    """How often jobs of other processes are looked for."""
    retention_days: float = _DEFAULT.retention_days
    """How long done and replaced jobs are kept."""

    def retry_delay_us(self, attempts: int, chance: float) -> int | None:
        """Microseconds to wait after so many failed attempts; None when it was the last.

        ``chance`` is uniform in 0–1.
        """
        if attempts >= self.max_attempts:
            return None
        delay = min(  # a power that a float still holds
            self.retry_initial_seconds * 2.0 ** min(attempts - 1, 60), self.retry_max_seconds
        )
        return round(delay * (1 + self.jitter * (2 * chance - 1)) * 1_000_000)

    @property
    def lease_us(self) -> int:
        return round(self.lease_seconds * 1_000_000)
