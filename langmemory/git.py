"""What git says about a folder, without the programs that its settings name for watching and signing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

SECONDS: Final = 60
"""How long an answer is waited for."""
_SETTINGS: Final = (
    "core.quotePath=false", "log.showSignature=false", "core.fsmonitor=false",
)  # fmt: skip
"""The last two keep git from starting programs that the repository names."""
_ENVIRONMENT: Final = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Git fetches nothing that a partial clone lacks, writes nothing into the repository, and asks nobody."""


def command(root: Path, *arguments: str) -> list[str]:
    """Return the command that asks git about a folder; run it in `environment`."""
    settings = [part for one in _SETTINGS for part in ("-c", one)]
    return ["git", *settings, "-C", str(root), *arguments]


def environment() -> dict[str, str]:
    """Return the variables that such a command runs with."""
    return {**os.environ, **_ENVIRONMENT}


def answer(root: Path, *arguments: str) -> bytes | None:
    """Return what git says; None where there is none, or it refuses, as of a folder in no repository."""
    try:
        done = subprocess.run(
            command(root, *arguments), capture_output=True, check=False, timeout=SECONDS,
            env=environment(),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
