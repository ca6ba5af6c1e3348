"""The audit log of a server: who asked for what and what came of it, a line of JSON for each request.

A line has no key, no query and no text: nobody could forget them there.
"""

from __future__ import annotations

import json
import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langmemory.errors import ConfigError

logger = logging.getLogger("langmemory.server")


class Audit:
    """Appends to a file that its owner alone can read. The file is opened for each line, so that it may be
    moved away while the server runs."""

    def __init__(self, file: Path) -> None:
        """Begin the file.

        Raises:
            ConfigError: It cannot be written.
        """
        self._file = file
        try:
            os.close(self._opened())
        except OSError as error:
            raise ConfigError(
                f"The audit log {file} cannot be written: {error.strerror or error}. Pass another file."
            ) from error

    def add(self, fields: dict[str, Any]) -> None:
        """Add a line. The request it tells of is done: where the line cannot be written, the log says so."""
        line = json.dumps({"at": datetime.now(UTC).isoformat(), **fields}) + "\n"
        try:
            descriptor = self._opened()
            try:
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            logger.error("audit_failed error=%s", error.strerror or type(error).__name__)

    def _opened(self) -> int:
        return os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
