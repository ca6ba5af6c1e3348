"""`make inspect`: the inspector over ten months of sample conversation, imported and reflected once."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

from langmemory.cli.app import app
from langmemory.config import Config
from langmemory.graphs.reflection import batches
from langmemory.parts.demo.story import NAMESPACE, sample_folder
from langmemory.parts.importing.importing import import_conversations
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore

FILE = Path(".cache/inspect/memory.db")


def make(path: Path) -> None:
    """Write the demo's file; one that is there already is a person's by now, and stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / "memory.db"
        with MemoryStore(made, config=Config()) as store:
            with (sample_folder() / "lena.jsonl").open("rb") as stream:
                import_conversations(store, NAMESPACE, stream, "messages")
            for _ in batches(store, NAMESPACE):
                pass
        os.replace(made, path)


def port() -> int:
    """Return the usual port, or any that is free where something else listens there."""
    usual = ServerSettings()
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((usual.host, usual.port))
        except OSError:
            return 0
    return usual.port


if __name__ == "__main__":
    if not FILE.exists():
        print("Importing ten months of conversation, some seconds", file=sys.stderr)
        make(FILE)
    options = ["--quiet", "--open", "--port", str(port())]
    sys.argv = ["langmemory", "--db", str(FILE), "serve", *options]
    app()
