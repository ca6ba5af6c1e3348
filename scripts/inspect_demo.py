"""`make inspect`: the inspector over ten months of sample conversation, imported and reflected once."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from langmemory.cli.app import app
from langmemory.cli.demo_questions import NAMESPACE, sample_folder
from langmemory.cli.import_file import import_conversations
from langmemory.cli.reflect import batches
from langmemory.config import Config
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


if __name__ == "__main__":
    if not FILE.exists():
        print("Importing ten months of conversation, some seconds", file=sys.stderr)
        make(FILE)
    sys.argv = ["langmemory", "--db", str(FILE), "serve", "--quiet", *sys.argv[1:]]
    app()
