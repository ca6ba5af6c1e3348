"""A leaked file shows nothing: whatever is done with secrets, none of their bytes is anywhere."""

from __future__ import annotations

import base64
import json
import logging
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langmemory import MemoryStore
from langmemory.errors import LangMemoryError
from langmemory.parts.vault import VaultKey
from langmemory.parts.vault.tools import fill_secrets
from tests.places import POSTGRES
from tests.stores.test_vault import shown_by
from tests.tools.test_secrets import Tracer

MARK = "Qv7zKx-geheim-92Lm"
"""In every secret, at any place: who finds no form of it finds no secret."""
OPERATIONS = int(os.environ.get("LANGMEMORY_VAULT_OPERATIONS", "250"))
SEED = int(os.environ.get("LANGMEMORY_SEED", "7"))
PLACES = (("memories", "home"), ("memories", "work"), ("shop",))
LABELS, OWNERS = ("wifi", "GitHub token", "Tür-Code 密码", "pin"), (None, "mia", "noor")
TAILS = "abcxyz0189 äöü密码🔑\n\"'\\/+="


def forms() -> tuple[bytes, ...]:
    """Return the mark as text, UTF-16, hexadecimal and base64 at its three places, in small letters."""
    raw = MARK.encode()
    found = [raw, MARK.encode("utf-16-le"), MARK.encode("utf-16-be"), raw.hex().encode()]
    for one in (raw, MARK.encode("utf-16-le")):
        for before in range(3):
            told = base64.b64encode(bytes(before) + one)
            found.append(told[-(-before * 8 // 6) : (before + len(one)) * 8 // 6])
    found += [one.translate(bytes.maketrans(b"+/", b"-_")) for one in found]
    return tuple(dict.fromkeys(one.lower() for one in found))


FORMS = forms()


def shows(told: bytes) -> bool:
    """Return whether the mark is there, in any form. (A pattern of all forms takes ten times as long.)"""
    small = told.lower()
    return any(one in small for one in FORMS)


@tool
def unlock_door(code: str) -> str:
    """Unlock the door with a code."""
    if len(code) % 3 == 0:
        raise ValueError(f"{code!r} is wrong")
    return f"Tried {code}, {code.encode().hex()}, {base64.b64encode(code.encode()).decode()}"


class World:
    """A memory, an agent with checkpoints beside it, and all that they tell anybody."""

    def __init__(self, folder: Path, choice: random.Random) -> None:
        self.folder, self.choice = folder, choice
        self.keys = [VaultKey.generate()]
        self.asked = 0
        self.tracer, self.told = Tracer(), [""]
        self.exported: list[dict[str, Any]] = []
        self.stored: dict[tuple[tuple[str, ...], str | None, str], str] = {}
        self.open()

    def open(self) -> None:
        self.store = MemoryStore(self.folder / "m.db", index=False, vault_key=self.keys)

    def place(self) -> tuple[tuple[str, ...], str, str | None]:
        pick = self.choice.choice
        return pick(PLACES), pick(LABELS), pick(OWNERS)

    def text(self) -> str:
        some = self.choice.choices(TAILS, k=self.choice.randrange(40))
        cut = self.choice.randrange(len(some) + 1)
        return "".join(some[:cut]) + MARK + "".join(some[cut:])

    # What is done.

    def put(self) -> None:
        where, label, owner = self.place()
        text = self.text()
        self.told.append(repr(self.store.vault.put(where, label, text, owner=owner)))
        self.stored[where, owner, label] = text

    def get(self) -> None:
        where, label, owner = self.place()
        secret = self.store.vault.get(where, label, owner=owner, reason="fuzz")
        self.told.append(f"{secret} {secret!r} {[secret]}")
        assert secret.reveal() == self.stored[where, owner, label]

    def delete(self) -> None:
        where, label, owner = self.place()
        self.store.vault.delete(where, label, owner=owner)
        del self.stored[where, owner, label]

    def restore(self) -> None:
        where, label, owner = self.place()
        self.store.vault.restore(where, label, owner=owner)
        self.stored[where, owner, label] = self.store.vault.get(where, label, owner=owner).reveal()

    def go_back(self) -> None:
        where, label, owner = self.place()
        versions = self.store.vault.versions(where, label, owner=owner)
        if versions:
            self.store.vault.restore(where, label, owner=owner, version=versions[-1].version)
            self.stored[where, owner, label] = self.store.vault.get(
                where, label, owner=owner
            ).reveal()

    def look(self) -> None:
        vault = self.store.vault
        self.told.append(repr([vault.list(deleted=True), vault.audit(), vault.status(), vault]))
        viewer = self.store.for_viewer("mia")
        self.told.append(repr([viewer.vault.list(), viewer.recall("wifi", ("memories",))]))

    def remember(self) -> None:
        where, label, _ = self.place()
        said = [{"role": "user", "content": f"Where is the {label}?"}]
        self.store.remember(where, said, thread_id=str(self.choice.random()))
        self.told.append(repr(self.store.recall(f"{label} secret", where, explain=True)))

    def ask(self) -> None:
        where, label, _ = self.place()
        wrapped = fill_secrets(unlock_door, [label], namespace=where)
        call: Any = {"name": "unlock_door", "args": {"code": f"{{{{vault:{label}}}}}"}, "id": "1"}
        builder = StateGraph(MessagesState)
        builder.add_node("tools", ToolNode([wrapped], handle_tool_errors=True))
        builder.add_edge(START, "tools")
        builder.add_edge("tools", END)
        with SqliteSaver.from_conn_string(str(self.folder / "checkpoints.db")) as saver:
            graph = builder.compile(store=self.store, checkpointer=saver)
            start: Any = {"messages": [AIMessage("", tool_calls=[call])]}
            # Each turn writes its whole conversation: of one for all turns it would be their square.
            thread, self.asked = self.asked // 10, self.asked + 1
            config: Any = {
                "configurable": {"thread_id": str(thread)}, "callbacks": [self.tracer]
            }  # fmt: skip
            self.told.append(repr(graph.invoke(start, config)["messages"][-1]))

    def export(self) -> None:
        self.exported = list(self.store.admin.export())
        file = self.folder / f"export-{self.choice.randrange(3)}.jsonl"
        file.write_text("\n".join(map(json.dumps, self.exported)))

    def take_back(self) -> None:
        self.store.admin.import_rows(self.exported)
        self.reread()

    def reread(self) -> None:
        """What is there after an import was there before, or comes from the export."""
        for one in self.store.vault.list():
            secret = self.store.vault.get(one.namespace, one.label, owner=one.owner)
            self.stored[one.namespace, one.owner, one.label] = secret.reveal()

    def rotate(self) -> None:
        self.store.close()
        self.keys = [VaultKey.generate(), *self.keys]
        self.open()
        self.told.append(repr(self.store.vault.rotate()))

    def wrong_key(self) -> None:
        other = MemoryStore(self.folder / "m.db", index=False, vault_key=VaultKey.generate())
        where, label, owner = self.place()
        with other:
            other.vault.get(where, label, owner=owner)

    def wrong_text(self) -> None:
        where, label, owner = self.place()
        self.store.vault.put(where, label, "\ud800" + self.text(), owner=owner)

    def forget(self) -> None:
        where, label, owner = self.place()
        self.store.vault.forget(where, label, owner=owner)
        self.stored.pop((where, owner, label), None)

    def seen(self) -> bytes:
        """Return every byte that anybody but the process itself gets."""
        parts = [file.read_bytes() for file in sorted(self.folder.rglob("*")) if file.is_file()]
        told = "\n".join([*self.told, *self.tracer.told])
        self.told, self.tracer.told = [], []
        return b"\n".join([*parts, told.encode("utf-8", "surrogatepass")])


def searched(told: bytes, number: int) -> int:
    """Search what anybody gets, and return its length. No frame of the walk keeps it: reports of errors
    have the variables of frames."""
    assert not shows(told), number
    return len(told)


WEIGHTS: dict[Callable[[World], None], float] = {
    World.put: 30, World.get: 25, World.delete: 6, World.restore: 6, World.go_back: 6, World.look: 4,
    World.remember: 4, World.ask: 6, World.export: 1, World.take_back: 0.5, World.rotate: 0.5,
    World.wrong_key: 3, World.wrong_text: 3, World.forget: 0.5,
}  # fmt: skip


def test_no_byte_of_a_secret_is_anywhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Random operations, failing ones too: file, WAL, history, exports, logs, traces and checkpoints.
    `make soak` does 10,000."""
    caplog.set_level(logging.DEBUG)
    choice = random.Random(SEED)
    world = World(tmp_path, choice)
    done: dict[str, int] = {}
    looked = 0
    for number in range(1, OPERATIONS + 1):
        [act] = choice.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))
        try:
            act(world)
        except LangMemoryError as error:
            world.told.append(shown_by(error))
        else:
            done[act.__name__] = done.get(act.__name__, 0) + 1
        if number % 250 == 0 or number == OPERATIONS:
            looked += searched(world.seen() + caplog.text.encode("utf-8", "surrogatepass"), number)
            caplog.clear()
    assert looked > 100_000
    assert {"put", "get", "ask"} <= done.keys()
    for (where, owner, label), text in world.stored.items():
        assert world.store.vault.get(where, label, owner=owner).reveal() == text
    for bytes_of in _data_directory(world.store) if POSTGRES else ():
        searched(bytes_of, OPERATIONS)
    world.store.close()


def _data_directory(store: MemoryStore) -> Iterator[bytes]:
    """Yield the files of the server, its log of writes included, after all of it was written."""
    raw: Any = store.conn
    raw.execute("CHECKPOINT")
    [(folder,)] = raw.execute("SHOW data_directory").fetchall()
    yield from (file.read_bytes() for file in sorted(Path(folder).rglob("*")) if file.is_file())


def test_the_search_finds_what_is_there() -> None:
    """Each form in which a secret might stand is found, so that finding nothing says something."""
    raw = f"x{MARK}y"
    for told in (
        raw.encode(), raw.encode("utf-16"), raw.encode().hex().upper().encode(), json.dumps(raw).encode(),
        *(base64.b64encode(b"a" * n + raw.encode()) for n in range(3)),
        *(base64.urlsafe_b64encode(b"a" * n + raw.encode("utf-16-le")) for n in range(3)),
    ):  # fmt: skip
        assert shows(told)
    assert not shows(b"nothing of the kind")
