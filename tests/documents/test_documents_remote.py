"""Documents over REST: sent, listed, searched and taken out, by a client that reads its own files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason='the extra "server" is not installed')

import httpx  # isort: skip

from langmemory import MemoryStore, RemoteMemoryStore  # isort: skip
from langmemory.errors import AccessError, ConfigError, ImportFormatError  # isort: skip
from langmemory.resources import citation  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip

PLACE = ("documents",)
GUIDE = "# Guide\nOf herons.\n## Install\n\nRun pip to install the heron.\n"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[MemoryStore, str]]:
    """A store, and the address at which it is served."""
    settings = ServerSettings(document_limit_bytes=2_000_000)
    with (
        MemoryStore(tmp_path / "memory.db") as store,
        serving(create_app(store, settings=settings)) as address,
    ):
        yield store, address


def test_a_client_adds_its_own_files(served: tuple[MemoryStore, str], tmp_path: Path) -> None:
    """A folder of the client's machine is read as on one machine: what is new, changed, moved, gone, and
    what cannot be read; a large file goes whole, and an unchanged one is not sent."""
    store, address = served
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "guide.md").write_text(GUIDE)
    (folder / "large.md").write_text("# Large\n\n" + "A sentence of some words. " * 60_000)
    (folder / "bad.pdf").write_bytes(b"nothing")
    with RemoteMemoryStore(address) as remote:
        done = remote.documents.add(folder)
        assert done.added == ["guide.md", "large.md"]
        assert "bad.pdf" in done.failed
        assert [one.failed for one in store.documents.sources()] == [done.failed]
        assert remote.documents.list() == store.documents.list()
        assert remote.documents.refresh().unchanged == 2
        found = remote.recall("how is the heron installed?", PLACE, kinds=["resource"]).results
        assert citation(found[0].memory.value) == "guide.md#L3-L5"
        (folder / "guide.md").rename(folder / "moved.md")
        (folder / "large.md").unlink()
        (folder / "bad.pdf").unlink()
        done = asyncio.run(remote.documents.arefresh())
        assert (done.moved, done.removed, done.failed) == (
            {"moved.md": "guide.md"},
            ["large.md"],
            {},
        )
        [one] = remote.documents.list()
        assert [chunk.place for chunk in remote.documents.chunks(one.key)] == ["L1-L2", "L3-L5"]
        os.utime(folder / "moved.md", ns=(1, 1))
        assert remote.documents.refresh().unchanged == 1
        assert remote.documents.remove("moved.md").removed == ["moved.md"]
        assert store.documents.list() == []
        assert not remote.documents.refresh()
    store.documents.add(folder)
    [here] = store.documents.list()
    with httpx.Client(base_url=f"{address}/api/v1/memory") as client:
        assert client.delete(f"/documents/{here.id}").json()["removed"] == ["moved.md"]
    assert not store.documents.refresh()


def test_what_only_calls_itself_a_document_is_none(served: tuple[MemoryStore, str]) -> None:
    """A client may write such a value; documents and folders are listed without it."""
    store, address = served
    values: tuple[dict[str, Any], ...] = (
        {"record": "document", "root": ""},
        {"record": "document", "root": "", "path": ["x"], "chunks": 3},
        {"record": "source", "root": "client:/x"},
    )
    with RemoteMemoryStore(address) as remote:
        for number, value in enumerate(values):
            remote.put(PLACE, f"doc/{number}", value)
        remote.documents.add(text=GUIDE, name="guide.md")
        assert [one.path for one in remote.documents.list()] == ["guide.md"]
        assert store.documents.sources() == []
        assert store.documents.get("doc/0") is None
        assert not remote.documents.refresh().failed


def test_odd_front_matter_is_told(served: tuple[MemoryStore, str]) -> None:
    """A date that there is none of is no error of the server: the document is read without its links."""
    with RemoteMemoryStore(served[1]) as remote:
        text = "---\ndate: 2023-02-29\nrequires: b.md\n---\n# A\n"
        done = remote.documents.add(text=text, name="a.md")
        assert (done.added, list(done.unlinked)) == (["a.md"], ["a.md"])


def test_a_text_is_sent_and_credentials_are_replaced(served: tuple[MemoryStore, str]) -> None:
    """The server reads what is sent as it reads its own, refuses what it cannot read, and what is too
    large."""
    store, address = served
    with RemoteMemoryStore(address) as remote:
        secret = "sk-" + "a1B2" * 10
        remote.documents.add(text=f"# Keys\n\nThe key is {secret}.\n", name="keys.md")
        [one] = store.documents.list()
        assert secret not in store.documents.chunks(one.key)[0].text
        with pytest.raises(ImportFormatError, match=r"paper.pdf"):
            remote.documents.add(b"nothing", name="paper.pdf")
        with pytest.raises(Exception, match="larger than"):
            remote.documents.add(text="word " * 500_000, name="much.md")
        with pytest.raises(ConfigError, match="no document of the key"):
            remote.documents.chunks("doc/0000")


def test_documents_are_listed_by_pages(served: tuple[MemoryStore, str]) -> None:
    """A cursor goes on after what was seen; one of another list is refused, as is an unknown document."""
    store, address = served
    for number in range(5):
        store.documents.add(text=GUIDE, name=f"page-{number}.md")
    with httpx.Client(base_url=f"{address}/api/v1/memory") as client:
        seen, cursor = [], None
        while True:
            page = client.get(
                "/documents", params={"limit": 2, **({"cursor": cursor} if cursor else {})}
            )
            seen += [one["path"] for one in page.json()["items"]]
            cursor = page.json()["next"]
            if cursor is None:
                break
        assert seen == [f"page-{number}.md" for number in range(5)]
        id = store.documents.list()[0].id
        first = client.get(f"/documents/{id}/chunks", params={"limit": 1}).json()
        rest = client.get(f"/documents/{id}/chunks", params={"cursor": first["next"]}).json()
        assert [one["heading"] for one in first["items"] + rest["items"]] == [
            "Guide",
            "Guide > Install",
        ]
        for cursor in ("x", "[1, 2]", '["x"]'):
            assert client.get("/documents", params={"cursor": cursor}).status_code == 422
        assert client.get("/documents/00ff").status_code == 404
        assert client.delete(f"/documents/{id}").json()["removed"] == ["page-0.md"]
        assert client.post("/documents/refresh", json={}).json()["failed"] == {}


def test_a_token_reaches_its_own_documents(served: tuple[MemoryStore, str]) -> None:
    """A token that is bound to a namespace adds there, and nowhere else; one that reads does not write."""
    store, address = served
    own = store.tokens.create(namespaces=[("lena",)], scope="write")[1]
    reads = store.tokens.create(namespaces=[("lena",)], scope="read")[1]
    with RemoteMemoryStore(address, token=own) as remote:
        remote.documents.add(text=GUIDE, name="guide.md", namespace=("lena",))
        with pytest.raises(AccessError, match="does not reach"):
            remote.documents.add(text=GUIDE, name="guide.md")
    with RemoteMemoryStore(address, token=reads) as remote:
        assert [one.path for one in remote.documents.list(("lena",))] == ["guide.md"]
        with pytest.raises(AccessError, match="scope write"):
            remote.documents.remove("guide.md", ("lena",))


def test_projects_over_rest(served: tuple[MemoryStore, str], tmp_path: Path) -> None:
    """A token that is bound to a namespace knows what lies there alone, and none without the scope admin
    names folders of the server's machine."""
    store, address = served
    root = tmp_path / "work" / "web"
    root.mkdir(parents=True)
    (root / "package.json").write_text('{"name": "@a/web.js", "description": "A site."}')
    (root / "guide.md").write_text("# Guide\n\nSee `app.js`.\n")
    with RemoteMemoryStore(address) as remote:
        assert remote.projects.add(root) == remote.projects.get("@a/web.js")
        assert len(remote.projects.refresh("@a/web.js").added) == 2
        assert remote.documents.list(project="@a/web.js") == store.documents.list(
            project="@a/web.js"
        )
    other = store.tokens.create(namespaces=[("lena",)], scope="admin")[1]
    with RemoteMemoryStore(address, token=other) as remote:
        assert remote.projects.list() == []
        assert remote.projects.get("@a/web.js") is None
        with pytest.raises(AccessError, match="whole file"):
            remote.projects.discover("/")
        told = []
        for name in ("@a/web.js", "no such"):
            with pytest.raises(ConfigError) as refused:
                remote.projects.refresh(name)
            told.append(str(refused.value).replace(name, "NAME"))
        assert told[0] == told[1]
    writes = store.tokens.create(scope="write")[1]
    with (
        RemoteMemoryStore(address, token=writes) as remote,
        pytest.raises(AccessError, match="scope admin"),
    ):
        remote.projects.update("@a/web.js", root="/")
    with RemoteMemoryStore(address) as remote:
        assert len(remote.projects.remove("@a/web.js").removed) == 2
        assert remote.projects.list() == []


def test_no_client_has_the_server_read_a_folder(
    served: tuple[MemoryStore, str], tmp_path: Path
) -> None:
    """What a client says of folders is of its own machine: the server reads none of them, and takes no
    item that names one of its own."""
    store, address = served
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "keys.md").write_text("The heron's key is under the mat.\n")
    (folder / "more.md").write_text("The otter's key is on the shelf.\n")
    with RemoteMemoryStore(address) as remote:
        remote.documents.add(folder)
        (folder / "keys.md").write_text("The heron's key is elsewhere.\n")
        assert not store.documents.refresh()
        assert store.documents.refresh(root=folder).unchanged == 0
        for record in ("source", "document", "project"):
            value = {"kind": "resource", "record": record, "root": str(folder), "pattern": ""}
            with pytest.raises(AccessError, match="folder of the server's machine"):
                remote.put(PLACE, "doc-source/1", {**value, "ignore": []})
        shape = {"kind": "resource", "path": str(folder / "keys.md"), "pattern": "", "ignore": []}
        for record, root in (("document", None), ("document", 0), ("source", ""), ("source", [])):
            with pytest.raises(AccessError, match="folder of the server's machine"):
                remote.put(PLACE, "doc/1", {**shape, "record": record, "root": root})
        with pytest.raises(AccessError, match="folder of the server's machine"):
            remote.put(PLACE, "doc/1", {**shape, "record": "document"})
        query = {"namespace": "documents", "root": str(folder), "path": "keys.md"}
        answer = httpx.put(f"{address}/api/v1/memory/documents", params=query, content=b"Nothing.")
        assert answer.status_code == 422, answer.text
        assert remote.documents.refresh().changed == ["keys.md"]
        assert remote.documents.remove(folder).removed == ["keys.md", "more.md"]
