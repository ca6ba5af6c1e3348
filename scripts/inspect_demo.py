"""`make inspect`: the inspector over ten months of sample conversation, imported and reflected once."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

from langchain_core.messages import HumanMessage

from langmemory.cli.app import app
from langmemory.config import Config
from langmemory.context.citations import usage
from langmemory.context.disclosure import MemoryBlock
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.graphs.reflection import batches
from langmemory.nodes.recall import RecallNode
from langmemory.parts.demo.story import NAMESPACE, questions, sample_folder
from langmemory.parts.importing.importing import import_conversations
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore

FILE = Path(".cache/inspect/memory.db")


LOGGED = Config.model_validate({"recall": {"prompt_log": "texts"}})
GUESTS = """# The wedding

## Guests

Oma Hilde sits near the door. Emil's table has no nuts. Tomás plays after the cake.

## Food

Vegetable paella for sixty, and a lemon cake without hazelnuts.
"""


def make(path: Path) -> None:
    """Write the demo's file; one that is there already is a person's by now, and stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / "memory.db"
        with MemoryStore(made, config=LOGGED) as store:
            with (sample_folder() / "lena.jsonl").open("rb") as stream:
                import_conversations(store, NAMESPACE, stream, "messages")
            for _ in batches(store, NAMESPACE):
                pass
            live(store)
        os.replace(made, path)


def live(store: MemoryStore) -> None:
    """Let the memory be used as an application and its agents use it, so that each page has something."""
    node = RecallNode(NAMESPACE, store=store, viewer=None)
    for one in reversed(questions()):
        found = node.invoke({"messages": [HumanMessage(one.question)]})
        block = MemoryBlock.from_state(found["memory_block"])
        answer = f"[{block.entries[0].label}]"  # of a model that cites what was found first
        store.admin.count_usage(usage(answer, block))
    store.documents.add(text=GUESTS, name="wedding.md", namespace=NAMESPACE)
    store.procedures.add(
        NAMESPACE,
        "pack for a weekend with the twins",
        ["Check the weather", "Bring Emil's allergy card", "Ask Tomás for the car"],
    )
    team = store.swarm(NAMESPACE, agent="planner")
    team.add_task("Book the garden in Lüneburg", details="For the wedding in May")
    team.record_decision("The wedding is in Lüneburg", why="Oma Hilde does not travel any more")
    store.bus(NAMESPACE, agent="planner").share("The garden is free on 15 May.", topic="wedding")
    build_maintenance_graph(store).invoke({"namespace": list(NAMESPACE)})


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
