"""`store.documents`: what is read, again and otherwise, found, cited and taken out."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings

from langmemory import MemoryStore
from langmemory.documents import Documents, writing
from langmemory.errors import ConfigError, EmbeddingError, ImportFormatError
from langmemory.resources import citation, is_chunk

PLACE = ("documents",)
GUIDE = (
    "# Guide\nOf herons.\n## Install\n\nRun pip to install the heron.\n\n"
    "## Use\n\nThe heron stands in water.\n"
)
PAPER = "# Paper\n\nA study of glaciers in the Alps.\n"


class Counting(Embeddings):
    """An embedder that knows which texts it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [[float(len(text)), 1.0, float(text.count("e"))] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(len(text)), 1.0, float(text.count("e"))]


class Failing(Counting):
    """An embedder that is not there at first."""

    fails = True

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.fails:
            raise ConnectionError("nobody answers")
        return super().embed_documents(texts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents."""
    found = tmp_path / "work"
    (found / "docs").mkdir(parents=True)
    (found / "docs" / "guide.md").write_text(GUIDE)
    (found / "paper.md").write_text(PAPER)
    return found


def chunks(store: MemoryStore) -> dict[str, dict[str, Any]]:
    """The chunks that are stored, by key."""
    found = store.search(PLACE, limit=10_000)
    return {item.key: item.value for item in found if is_chunk(item.value)}


def written(folder: Path, name: str, text: str) -> None:
    """A file that is surely otherwise than before."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000))


def test_documents_are_found_and_cited(store: MemoryStore, folder: Path) -> None:
    """A question brings the section that answers it, word for word, with path and lines."""
    done = store.documents.add(folder)
    assert done.added == ["docs/guide.md", "paper.md"]
    [first, *_] = store.recall("how is the heron installed?", PLACE, kinds=["resource"]).results
    value = first.memory.value
    assert citation(value) == "docs/guide.md#L3-L5"
    assert value["text"] == "## Install\n\nRun pip to install the heron."
    assert value["heading"] == "Guide > Install"
    assert first.memory.kind == "resource"
    shown = [(one.path, one.title, one.chunks) for one in store.documents.list()]
    assert shown == [("docs/guide.md", "Guide", 3), ("paper.md", "Paper", 1)]
    listed = [one.text for one in store.admin.memories(PLACE)]
    assert {"docs/guide.md Guide", "paper.md Paper", f"{folder}"} <= {*listed}


def test_headings_are_searched_and_stand_beside_the_text(store: MemoryStore, folder: Path) -> None:
    """What only a heading says is found by words too; neighbours are known in order."""
    store.documents.add(folder)
    results = store.recall("paper", PLACE).results
    assert results[0].memory.value["path"] == "paper.md"
    keys = {value["heading"]: key for key, value in chunks(store).items()}
    assert store.documents.around(keys["Guide > Install"]) == [
        keys["Guide"], keys["Guide > Install"], keys["Guide > Use"]
    ]  # fmt: skip
    assert store.documents.around(keys["Guide"], after=0) == [keys["Guide"]]
    with pytest.raises(ConfigError, match="no chunk"):
        store.documents.around("doc/none/1")


def test_what_did_not_change_costs_nothing(tmp_path: Path, folder: Path) -> None:
    """An unchanged file is not read, a touched one not embedded, and of a changed one only what changed."""
    embedder = Counting()
    store = MemoryStore(tmp_path / "m.db", index={"dims": 3, "embed": embedder})
    store.documents.add(folder)
    before, history = chunks(store), len(store.changes.history(PLACE, next(iter(chunks(store)))))
    embedder.texts.clear()
    done = store.documents.refresh()
    assert (done.unchanged, bool(done), embedder.texts) == (2, False, [])
    written(folder, "paper.md", PAPER)
    assert store.documents.refresh().unchanged == 2
    assert (chunks(store), embedder.texts) == (before, [])
    written(
        folder, "docs/guide.md", "# Guide\n\nNew at the top.\n" + GUIDE.removeprefix("# Guide\n")
    )
    done = store.documents.refresh()
    assert done.changed == ["docs/guide.md"]
    assert embedder.texts == ["Guide\n# Guide\n\nNew at the top.\nOf herons."]
    after = chunks(store)
    moved = {key for key in before if key in after}
    assert len(moved) == 3
    install = next(value for value in after.values() if value["heading"] == "Guide > Install")
    assert citation(install) == "docs/guide.md#L5-L7"
    assert len(store.changes.history(PLACE, next(iter(before)))) >= history
    store.close()


def test_files_that_are_gone_go_and_moved_ones_stay(store: MemoryStore, folder: Path) -> None:
    """A file that moved keeps the keys of its chunks; one that is gone is found no more."""
    store.documents.add(folder)
    before = {key for key, value in chunks(store).items() if value["path"] == "docs/guide.md"}
    (folder / "docs" / "guide.md").rename(folder / "manual.md")
    (folder / "paper.md").unlink()
    done = store.documents.refresh()
    assert (done.moved, done.removed) == ({"manual.md": "docs/guide.md"}, ["paper.md"])
    after = chunks(store)
    assert set(after) == before
    assert {value["path"] for value in after.values()} == {"manual.md"}
    results = store.recall("glaciers", PLACE, kinds=["resource"]).results
    assert all(one.memory.value["path"] == "manual.md" for one in results)
    assert [one.path for one in store.documents.list()] == ["manual.md"]


def test_a_new_file_does_not_take_the_place_of_one_that_moved(
    store: MemoryStore, folder: Path
) -> None:
    """A document keeps its key where it moved; a new one at its old path gets another."""
    store.documents.add(folder)
    before = {key for key, value in chunks(store).items() if value["path"] == "paper.md"}
    (folder / "paper.md").rename(folder / "study.md")
    store.documents.refresh()
    written(folder, "paper.md", "# Paper\n\nAnother one, on tides.\n")
    assert store.documents.refresh().added == ["paper.md"]
    assert {key for key, value in chunks(store).items() if value["path"] == "study.md"} == before
    assert store.documents.refresh().unchanged == 3


def test_a_folder_that_moved_or_is_in_another_is_known_once(
    store: MemoryStore, folder: Path
) -> None:
    """Its documents keep their keys where it is added again elsewhere; what is within a folder that was added
    before is not read twice."""
    store.documents.add(folder / "docs")
    before = set(chunks(store))
    (folder / "docs").rename(folder / "manual")
    done = store.documents.add(folder / "manual")
    assert done.moved == {"guide.md": f"{folder / 'docs' / 'guide.md'}"}
    assert set(chunks(store)) == before
    done = store.documents.add(folder)
    assert (done.added, done.unchanged) == (["paper.md"], 1)


def test_what_was_taken_out_is_what_was_named_and_stays_out(
    store: MemoryStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of one folder goes, not its namesake in another one. Reading the folder again does not bring it
    back; adding it does, and then it is kept up to date."""
    documents, other = store.documents, folder.parent / "other"
    other.mkdir()
    written(other, "paper.md", "# Another paper")
    documents.add([folder, other])
    with pytest.raises(ConfigError, match=r"'paper.md' is in 2 folders: .*other.*Pass its whole"):
        documents.remove("paper.md")
    monkeypatch.chdir(other)
    (other / "alias.md").symlink_to("paper.md")
    documents.refresh()
    assert documents.remove("alias.md").removed == ["alias.md"]
    assert documents.remove("paper.md").removed == ["paper.md"]
    assert documents.remove(folder / "docs").removed == ["docs/guide.md"]
    assert documents.remove("paper.md").removed == ["paper.md"]
    written(folder, "docs/new.md", "# New")
    assert not documents.refresh()
    assert documents.add("paper.md").added == ["paper.md"]
    written(other, "paper.md", "# Another paper, revised")
    assert documents.refresh().changed == ["paper.md"]
    assert documents.add(folder).added == ["docs/guide.md", "docs/new.md", "paper.md"]


def test_a_folder_that_is_not_there_loses_nothing(store: MemoryStore, folder: Path) -> None:
    """As on a disk that is not mounted."""
    store.documents.add(folder)
    before = chunks(store)
    folder.rename(folder.parent / "elsewhere")
    done = store.documents.refresh()
    assert done.failed == {str(folder): "the folder is not there"}
    assert chunks(store) == before
    folder.mkdir()  # what is left of a disk that was mounted there
    assert "the folder is empty" in store.documents.refresh().failed[str(folder)]
    assert chunks(store) == before


def test_texts_bytes_files_and_globs(store: MemoryStore, folder: Path) -> None:
    """All that can be given; the same name again takes the place of what it held."""
    documents = store.documents
    assert documents.add(text="# Note\n\nBuy milk.", name="note.md").added == ["note.md"]
    assert documents.add(b"<h1>Page</h1><p>Bread.", name="page.html").added == ["page.html"]
    assert documents.add(text="# Note\n\nBuy oats.", name="note.md").changed == ["note.md"]
    assert documents.add(folder / "paper.md").added == ["paper.md"]
    assert documents.add(str(folder / "**" / "*.md")).added == ["docs/guide.md"]
    assert [one.path for one in documents.list(prefix="no")] == ["note.md"]
    assert not any("milk" in value["text"] for value in chunks(store).values())
    written(folder, "paper.md", PAPER + "\nMore.\n")
    assert documents.refresh().changed == ["paper.md"]
    assert documents.remove("note.md").removed == ["note.md"]
    assert documents.remove(folder).removed == ["docs/guide.md", "paper.md"]
    assert (documents.sources(), len(documents.list())) == ([], 1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "Pass a path"),
        ({"text": "x"}, "name="),
        ({"source": b"x"}, "name="),
        ({"source": "nowhere.md"}, "There is no file or folder 'nowhere.md'"),
        ({"source": "nowhere/*.md"}, "There is no file"),
        ({"source": "a", "text": "x", "name": "y"}, "Pass one text"),
        ({"text": "half \ud83d", "name": "y"}, "half a character"),
    ],
)
def test_what_does_not_fit_is_refused(
    store: MemoryStore, arguments: dict[str, Any], why: str
) -> None:
    """The message names the next step, and nothing is written."""
    with pytest.raises(ConfigError, match=why):
        store.documents.add(**arguments)
    with pytest.raises(ConfigError, match="No document is known by"):
        store.documents.remove("nothing.md")
    assert store.search(()) == []


def test_a_dry_run_writes_nothing(store: MemoryStore, folder: Path) -> None:
    """It says what would be done."""
    assert store.documents.add(folder, dry_run=True).added == ["docs/guide.md", "paper.md"]
    assert store.search(()) == []
    store.documents.add(folder)
    before = chunks(store)
    (folder / "paper.md").unlink()
    assert store.documents.refresh(dry_run=True).removed == ["paper.md"]
    assert store.documents.remove(folder, dry_run=True).removed == ["docs/guide.md", "paper.md"]
    assert chunks(store) == before


def test_what_tools_make_is_left_out(store: MemoryStore, folder: Path) -> None:
    """Hidden files, `.gitignore` at any depth, packages, unknown formats, and what the caller names."""
    for name in (".env", ".git/config", "node_modules/a.md", "picture.png", "docs/drafts/a.md", "docs/b.log",
                 "keep.log", "skipped.md"):  # fmt: skip
        written(folder, name, "text")
    (folder / "docs" / ".gitignore").write_text("drafts/\n*.log\n")
    done = store.documents.add(folder, ignore=["skipped.md"])
    assert done.added == ["docs/guide.md", "keep.log", "paper.md"]


def test_links_lead_nowhere_else(store: MemoryStore, folder: Path, tmp_path: Path) -> None:
    """A loop, a link to itself, and one out of the folder are not followed; one within it is."""
    (tmp_path / "secret.md").write_text("outside")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "loop").symlink_to(folder)
    (folder / "self.md").symlink_to(folder / "self.md")
    (folder / "alias.md").symlink_to(folder / "paper.md")
    done = store.documents.add(folder)
    assert done.added == ["alias.md", "docs/guide.md", "paper.md"]
    assert list(done.failed) == ["self.md"]


def test_one_bad_file_does_not_stop_the_others(store: MemoryStore, folder: Path) -> None:
    """It stands in `failed` with the reason; what was known of it stays until it can be read again."""
    store.documents.add(folder)
    (folder / "paper.md").write_bytes(b"\x00\x01")
    written(folder, "large.txt", "x" * 5_000)
    (folder / "broken.pdf").write_bytes(b"no pdf")
    written(folder, "new.md", "# New")
    done = store.documents.refresh(most_bytes=4_000)
    assert done.added == ["new.md"]
    assert set(done.failed) == {"paper.md", "large.txt", "broken.pdf"}
    assert "more than 4,000" in done.failed["large.txt"]
    assert "paper.md" in [one.path for one in store.documents.list()]
    with pytest.raises(ImportFormatError, match="is no text"):
        store.documents.add(folder / "paper.md")
    written(folder.parent, "single.md", "# One")
    done = store.documents.add([folder / "broken.pdf", folder.parent / "single.md"])
    assert (done.added, list(done.failed)) == (["single.md"], ["broken.pdf"])


def test_a_name_that_is_no_text_does_not_stop_the_others(store: MemoryStore, folder: Path) -> None:
    """As a file has that was copied from an old disk: it cannot be stored, so it is named as unread."""
    with contextlib.suppress(OSError):  # some systems have no such names
        (folder / "caf\udce9.md").write_text("# No")
        done = store.documents.add(folder)
        assert done.added == ["docs/guide.md", "paper.md"]
        assert done.failed == {"caf\\udce9.md": "its name is not UTF-8; rename it"}


def test_what_was_interrupted_is_finished_by_reading_again(tmp_path: Path, folder: Path) -> None:
    """Where the embedder fails in the middle of the first reading, `refresh` knows the folder."""
    embedder = Failing()
    with MemoryStore(tmp_path / "memory.db", index={"embed": embedder, "dims": 3}) as store:
        with pytest.raises(EmbeddingError):
            store.documents.add(folder)
        embedder.fails = False
        assert store.documents.refresh().added == ["docs/guide.md", "paper.md"]


def test_a_pipe_is_not_waited_for(store: MemoryStore, tmp_path: Path) -> None:
    """What is no regular file is refused at once."""
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(ImportFormatError, match="no regular file"):
        store.documents.add(tmp_path / "pipe.md")


def test_a_file_that_changes_while_it_is_read_is_not_stored_by_halves(
    store: MemoryStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read again, and refused where it never rests."""
    path = folder / "paper.md"
    real, times = os.fstat, []

    def growing(number: int) -> os.stat_result:
        found = real(number)
        times.append(1)
        if len(times) % 2 == 1 and len(times) < limit:
            path.write_text(path.read_text() + "more\n")
        return found

    monkeypatch.setattr("langmemory.documents.files.os.fstat", growing)
    limit = 2
    store.documents.add(path)
    assert any(value["text"].endswith("more") for value in chunks(store).values())
    limit = 100
    with pytest.raises(ImportFormatError, match="changed while it was read"):
        store.documents.add(path)


def test_two_at_once_leave_whole_documents(store: MemoryStore, folder: Path) -> None:
    """Who comes second plans again: no chunk is left over from the first."""
    store.documents.add(folder)
    real = writing.Writer._stored
    waiting = threading.Event()

    def slow(self: writing.Writer, known: Any) -> Any:
        found = real(self, known)
        if not waiting.is_set():
            waiting.set()
            written(folder, "paper.md", "# Paper\n\nThe second version.\n")
            Documents(store).refresh()
        return found

    written(folder, "paper.md", "# Paper\n\nThe first version.\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing.Writer, "_stored", slow)
        Documents(store).refresh()
    Documents(store).refresh()
    texts = [value["text"] for value in chunks(store).values() if value["path"] == "paper.md"]
    assert len(texts) == 1
    [paper] = [one for one in store.documents.list() if one.path == "paper.md"]
    assert paper.chunks == 1


def test_documents_that_wait_for_others_are_not_lost(tmp_path: Path, folder: Path) -> None:
    """Several documents are written together. Where somebody else writes one of them meanwhile, or one
    cannot be embedded, the others are there all the same."""

    class Failing(Counting):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            if any("glaciers" in text for text in texts):
                raise ConnectionError("no answer")
            return super().embed_documents(texts)

    def meanwhile(number: int, of: int, path: str) -> None:
        if path == "paper.md":
            store.documents.add(folder)

    with MemoryStore(tmp_path / "memory.db") as store:
        done = store.documents.add(folder, progress=meanwhile)
        assert len(store.documents.list()) == 2
        assert "docs/guide.md" in done.added
        assert store.documents.add(folder).unchanged == 2
    with MemoryStore(tmp_path / "failing.db", index={"embed": Failing(), "dims": 3}) as store:
        with pytest.raises(EmbeddingError, match="no answer"):
            store.documents.add(folder)
        assert [one.path for one in store.documents.list()] == ["docs/guide.md"]


def test_a_document_that_may_not_be_written_is_named(store: MemoryStore, folder: Path) -> None:
    """A document whose key holds somebody else's private memory fails under its own path; the one that
    waited with it is written."""
    written(folder, "docs/notes.md", "# Notes\n\nOf owls.\n")
    store.documents.add(folder / "docs" / "guide.md")
    [taken] = store.documents.list()
    item = store.get(PLACE, taken.key)
    assert item is not None
    store.put(PLACE, taken.key, {**item.value, "privacy": "private", "owner": "bob"}, index=False)
    done = store.for_viewer("ann").documents.add(folder / "docs")
    assert (done.added, [*done.failed]) == (["notes.md"], ["guide.md"])


def test_credentials_in_documents_are_replaced(store: MemoryStore) -> None:
    """As in what is remembered: a key in a page is not searched for, and not shown to a model."""
    store.documents.add(text="# Deploy\n\nUse key sk-proj-" + "a1B2" * 12 + ".", name="deploy.md")
    [value] = chunks(store).values()
    assert "[redacted" in value["text"]


def test_a_viewer_reads_documents_and_keeps_their_own(store: MemoryStore) -> None:
    """What a viewer adds is theirs as everything else that they put."""
    ann = store.for_viewer("ann")
    ann.documents.add(text="# Note\n\nBuy oats.", name="note.md")
    assert [one.path for one in ann.documents.list()] == ["note.md"]
    assert [one.path for one in store.documents.list()] == ["note.md"]


async def test_without_blocking_the_loop(store: MemoryStore, folder: Path) -> None:
    """The async twins do the same."""
    assert (await store.documents.aadd(folder)).added == ["docs/guide.md", "paper.md"]
    assert (await store.documents.arefresh()).unchanged == 2
    assert (await store.documents.aremove("paper.md")).removed == ["paper.md"]


def test_watching_reads_what_changes(store: MemoryStore, folder: Path) -> None:
    """Each change is read soon after; an event ends it."""
    store.documents.add(folder)
    stop = threading.Event()
    found = store.documents.watch(stop=stop)
    assert next(found).unchanged == 2
    timer = threading.Timer(0.3, written, (folder, "new.md", "# New\n\nA new page."))
    timer.start()
    assert next(found).added == ["new.md"]
    stop.set()
    assert list(found) == []
