"""Where the tests keep their files: in memory where there is room, since most of a test's time on a
disk is waiting for it to confirm writes. And which certificates they trust: none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

IN_MEMORY = Path("/dev/shm")
ROOM = 1024**3
"""Bytes that have to be free there; a whole run takes a fifth of it."""


def pytest_configure() -> None:
    """Put ``tmp_path`` into memory, unless ``PYTEST_DEBUG_TEMPROOT`` or ``--basetemp`` says where, and
    have HTTP clients look for certificates in a folder without any: they talk to loopback, and each
    client that is made would load all of the web's, which takes longer than most tests."""
    os.environ.pop("SSL_CERT_FILE", None)
    os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)
    if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free >= ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
