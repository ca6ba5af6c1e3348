"""Where the tests keep their files: in memory where there is room, since most of a test's time on a
disk is waiting for it to confirm writes. Which certificates they trust: none. What is not imported. The
store that most of them use."""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from langmemory.stores import MemoryStore

IN_MEMORY = Path("/dev/shm")
ROOM = 1024**3
"""Bytes that have to be free there; a whole run takes a fifth of it."""

WHOLLY_THOROUGH = re.compile(r"^pytestmark = (\[[^\]]*)?pytest\.mark\.thorough\b", re.MULTILINE)


def pytest_configure() -> None:
    """Put ``tmp_path`` into memory, unless ``PYTEST_DEBUG_TEMPROOT`` or ``--basetemp`` says where, and
    have HTTP clients look for certificates in a folder without any: they talk to loopback, and each
    client that is made would load all of the web's, which takes longer than most tests."""
    os.environ.pop("SSL_CERT_FILE", None)
    os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)
    if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free >= ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while modules are imported and tests collected, which took half of the time, nor
    in what this made."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where thorough tests are left out, import no module that has no others."""
    wholly = collection_path.suffix == ".py" and config.getoption("markexpr") == "not thorough"
    return True if wholly and WHOLLY_THOROUGH.search(collection_path.read_text("utf-8")) else None


pytest_plugins = (
    ["tests.on_postgres"] if os.environ.get("LANGMEMORY_TEST_ENGINE") == "postgres" else []
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """An empty memory file, indexed by the embedded model."""
    from langmemory.stores import MemoryStore  # not before a plugin says on which engine

    with MemoryStore(tmp_path / "memory.db") as opened:
        yield opened
