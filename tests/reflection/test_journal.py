"""The journal: pages that follow the memory, files that follow the pages, names that stay inside."""

from __future__ import annotations

import os
import shutil
import threading
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import PutOp

from langmemory import MemoryStore
from langmemory.changes import (
    Change,
    ChangeSet,
    DecideReview,
    Invalidate,
    OpenReview,
    RemoveMemory,
    SetStatus,
    Supersede,
    UpdateMemory,
    WithdrawReview,
)
from langmemory.config import Config
from langmemory.formation.rules import RuleExtractor
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.ports.facts import Extraction, SessionSummary
from langmemory.projections.journal import Journal, JournalFiles
from langmemory.projections.journal.pages import MARK, Learned, Page, Session, file_name, render
from tests.children import ended
from tests.stores.test_scale import steps

LENA = ("memories", "Lena")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def store(tmp_path: Path, folder: Path) -> Iterator[MemoryStore]:
    config = Config.model_validate({"journal": {"path": str(folder)}})
    with MemoryStore(tmp_path / "memory.db", config=config) as store:
        yield store


class Summarising(RuleExtractor):
    """The rules, and a summary a model could have written."""

    def extract(self, batch: Any, *, names: Any = ()) -> Extraction:
        found = super().extract(batch, names=names)
        summary = SessionSummary(
            text=f"They spoke of {batch.thread_id}.\n# Not a heading",
            decisions=("Go by train.",),
            open_points=("Who feeds the cat?",),
        )
        return Extraction(facts=found.facts, summary=summary)


def reflect(store: MemoryStore, text: str, at: str, thread: str, **facets: Any) -> dict[str, Any]:
    message = {"role": "user", "name": "Lena", "content": text, "at": at}
    store.remember(LENA, [message], thread_id=thread, **facets)
    graph = build_reflection_graph(store, extractor=Summarising())
    done: dict[str, Any] = graph.invoke({"namespace": list(LENA)})
    return done


def files(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*.md"))
    }


HAMBURG = "I live in Hamburg. My sister Katrin lives in Bremen."


def told(store: MemoryStore) -> dict[str, Any]:
    """Two days of Lena: she lives in Hamburg, and moves."""
    reflect(store, HAMBURG, "2026-01-11T23:30:00-05:00", "hello")
    return reflect(store, "I live in Valencia now.", "2026-07-12T08:00:00+02:00", "summer")


def test_a_page_tells_the_day(store: MemoryStore, folder: Path) -> None:
    """A day's page has its summary, what was learned and changed, decided and left open, by the
    clock of who spoke."""
    told(store)
    first, second = files(folder).values()
    assert [name.rpartition("/")[2] for name in files(folder)] == ["2026-01-11.md", "2026-07-12.md"]
    assert first.startswith(
        f"# Sunday, 11 January 2026\n{MARK}\n\n## hello\n\nThey spoke of hello."
    )
    assert "\n# Not" not in first
    assert "- Lena lives in Hamburg. (until 2026-07-12)" in first
    assert "### Changed\n\n- ~~Lena lives in Hamburg.~~ → Lena lives in Valencia." in second
    assert "### Decided\n\n- Go by train." in second
    assert "### Open\n\n- Who feeds the cat?" in second


def test_rebuilt_it_is_the_same_to_the_byte(store: MemoryStore, folder: Path) -> None:
    """A rebuild writes the same pages as the runs did; a second rebuild changes nothing."""
    told(store)
    before = files(folder)
    assert JournalFiles(folder).rebuild(store.journal) == 0
    elsewhere = folder.parent / "elsewhere"
    assert JournalFiles(elsewhere).rebuild(store.journal) == 2
    assert files(elsewhere) == before


def test_what_is_forgotten_or_undone_leaves_it(store: MemoryStore, folder: Path) -> None:
    """No file tells of what was undone or forgotten."""
    moved = told(store)
    store.changes.undo(moved["runs"][0], dry_run=True)
    assert "Valencia" in "".join(files(folder).values())
    store.changes.undo(moved["runs"][0])
    assert "Valencia" not in "".join(files(folder).values())
    assert "- Lena lives in Hamburg.\n" in "".join(files(folder).values())
    store.forget(LENA, entity="Katrin")
    assert "Katrin" not in "".join(files(folder).values())
    store.forget(LENA, keys=[item.key for item in store.search(LENA, limit=100)])
    assert files(folder) == {}
    assert not any(path.is_dir() for path in folder.iterdir())


async def test_wherever_it_was_written_it_is_followed(tmp_path: Path) -> None:
    """A folder that only one graph was given, or only one export, is followed by every store on the
    file: undone, decided and forgotten."""
    given, exported = tmp_path / "given", tmp_path / "exported"
    with MemoryStore(tmp_path / "memory.db") as store:
        store.remember(LENA, [{"role": "user", "name": "Lena", "content": HAMBURG}], thread_id="t")
        graph = build_reflection_graph(store, journal=given)
        graph.invoke({"namespace": list(LENA)})
        JournalFiles(exported).rebuild(store.journal)
        option = Invalidate(
            key=store.changes.runs()[0].note["learned"][0], invalid_at=datetime.now(UTC)
        )
        question = OpenReview(
            id="review/1", about="dependant", question="Still so?", memories=(option.key,),
            options={"no": (option,), "yes": ()},
        )  # fmt: skip
        store.changes.apply(
            ChangeSet(
                namespace=LENA, run_id="asks", kind="maintenance", reason="", changes=(question,)
            )
        )
    assert files(given) == files(exported) != {}
    with MemoryStore(tmp_path / "memory.db") as other:
        decided = await other.changes.adecide("review/1", "no")
        assert "until" in "".join(files(given).values())
        await other.changes.aundo(decided.run_id)
        assert "until" not in "".join(files(given).values())
        assert "Still so?" in "".join(files(given).values())
        other.changes.decide("review/1", "yes")
        assert "Still so?" not in "".join(files(given).values())
        assert files(given) == files(exported)
        shutil.rmtree(exported)
        other.forget(LENA, entity="Lena")
    assert files(given) == {}
    assert not exported.exists()


def key_of(store: MemoryStore, text: str) -> str:
    """Of the fact that says so."""
    [key] = [i.key for i in store.search(LENA, limit=100) if text in str(i.value.get("text", ""))]
    return key


def test_what_is_deleted_leaves_it(store: MemoryStore, folder: Path, tmp_path: Path) -> None:
    """No file tells of what was deleted, by whichever store on the file: neither where it was
    learned nor beside what took its place; what a rebuild would write stands there at once."""
    told(store)
    with MemoryStore(tmp_path / "memory.db") as other:
        other.delete(LENA, key_of(store, "lives in Hamburg"))
    pages = "".join(files(folder).values())
    assert "Hamburg" not in pages
    assert "- Lena lives in Valencia.\n" in pages
    assert "Katrin" in pages
    assert JournalFiles(folder).rebuild(store.journal) == 0
    assert store.admin.delete_namespace(LENA) > 3
    assert files(folder) == {}
    assert not any(path.is_dir() for path in folder.iterdir())


async def test_deleted_without_blocking_it_leaves_it(store: MemoryStore, folder: Path) -> None:
    """An awaited delete is followed as well, also of a private page, and of the turn after which a
    conversation's part of the page is named."""
    reflect(store, "I am allergic to nuts.", "2026-07-12T09:00:00+02:00", "doctor",
            owner="lena", privacy="private")  # fmt: skip
    [turn] = [item.key for item in store.search(LENA) if item.key.startswith("doctor/")]
    await store.adelete(LENA, turn)
    assert JournalFiles(folder).rebuild(store.journal) == 0
    await store.adelete(LENA, key_of(store, "nuts"))
    assert "nuts" not in "".join(files(folder).values())
    assert JournalFiles(folder).rebuild(store.journal) == 0


KILLED = """
import os, sys
from langmemory import MemoryStore
from langmemory.projections.journal import Journal
store = MemoryStore(sys.argv[1])
Journal.follow = lambda *_: os._exit(9)
[fact] = store.admin.memories(kinds=("semantic",))
store.delete(fact.namespace, fact.key)
"""


def test_a_process_killed_before_its_files_follow_leaves_no_page_behind(
    store: MemoryStore, folder: Path
) -> None:
    """The store that opens the file next takes what was deleted off the page."""
    reflect(store, "I live in Kiel.", "2026-01-11T09:00:00+00:00", "t")
    assert "Kiel" in "".join(files(folder).values())
    assert ended(KILLED, store.path) == 9
    assert "Kiel" in "".join(files(folder).values())
    with MemoryStore(store.path) as other:
        assert "Kiel" not in "".join(files(folder).values())
        assert other.conn.execute("SELECT count(*) FROM stale_page").fetchone() == (0,)


def test_what_expired_or_was_overwritten_leaves_it(store: MemoryStore, folder: Path) -> None:
    """No file tells of what a sweep deleted, or of what a put wrote something else over."""
    told(store)
    key = key_of(store, "Katrin lives")
    value = store.search(LENA, filter={"text": "Katrin lives in Bremen."})[0].value
    store.put(LENA, key, {**value, "text": "Katrin lives in Kiel."}, ttl=1e-6)
    pages = "".join(files(folder).values())
    assert "Bremen" not in pages
    assert "- Katrin lives in Kiel.\n" in pages
    while not store.sweep_ttl():  # a minute's ten-thousandth part
        pass
    assert "Kiel" not in "".join(files(folder).values())
    assert JournalFiles(folder).rebuild(store.journal) == 0


@pytest.mark.parametrize("call", ["sync", "async"])
async def test_a_change_set_is_followed(store: MemoryStore, folder: Path, call: str) -> None:
    """The files show every archive, rewrite, question and decision of a change set as a rebuild
    would; a dry run changes none."""
    told(store)

    async def apply(run: str, *changes: Change, dry_run: bool = False) -> None:
        one = ChangeSet(namespace=LENA, run_id=run, kind="correction", reason="", changes=changes)
        if call == "sync":
            store.changes.apply(one, dry_run=dry_run)
        else:
            await store.changes.aapply(one, dry_run=dry_run)
        assert JournalFiles(folder).rebuild(store.journal) == 0

    key = key_of(store, "Katrin lives")
    await apply("dry", SetStatus(key=key, status="archived"), dry_run=True)
    assert "Bremen" in "".join(files(folder).values())
    await apply("archives", SetStatus(key=key, status="archived"))
    assert "Bremen" not in "".join(files(folder).values())
    key = key_of(store, "sister")
    value = next(item.value for item in store.search(LENA, limit=100) if item.key == key)
    await apply("moves", UpdateMemory(key=key, value={**value, "said_at": "2026-03-03T10:00:00Z"}))
    assert any(name.endswith("/2026-03-03.md") for name in files(folder))
    asked = OpenReview(
        id="q", about="a", question="Which sister?", memories=(key,), options={"this": ()}
    )
    await apply("asks", asked)
    assert "Which sister?" in "".join(files(folder).values())
    await apply("decides", DecideReview(id="q", option="this"))
    assert "Which sister?" not in "".join(files(folder).values())


def test_what_a_run_or_its_undo_touches_beside_is_followed(
    store: MemoryStore, folder: Path
) -> None:
    """A turn that is removed, a question that is withdrawn, and what their undo brings back, stand in
    the files as a rebuild would write them, and pages of other days are left alone."""
    told(store)
    facts = (key_of(store, "Katrin lives"), key_of(store, "lives in Valencia"))
    asked = OpenReview(
        id="q", about="a", question="Which sister?", memories=facts[:1], options={"this": ()}
    )
    [turn] = [one.key for one in store.search(LENA, limit=100) if "My sister" in str(one.value)]
    [other] = folder.rglob("2026-07-12.md")
    other.write_text(f"# Elsewhere\n{MARK}\n", encoding="utf-8")
    pages = []
    for run, change in (
        ("asks", asked),
        ("withdraws", WithdrawReview(id="q")),
        ("removes", RemoveMemory(key=turn)),
        ("ends", Invalidate(key=facts[0], invalid_at=datetime(2026, 2, 2, tzinfo=UTC))),
    ):
        pages.append(as_rebuilt(store, folder, but=other))
        store.changes.apply(
            ChangeSet(namespace=LENA, run_id=run, kind="correction", reason="", changes=(change,))
        )
        assert as_rebuilt(store, folder, but=other) != pages[-1]
    for run in ("ends", "removes", "withdraws", "asks"):
        store.changes.undo(run)
        assert as_rebuilt(store, folder, but=other) == pages.pop()
    assert other.read_text(encoding="utf-8").startswith("# Elsewhere")


def as_rebuilt(store: MemoryStore, folder: Path, *, but: Path) -> dict[str, str]:
    """The files but one, once it is sure that they are those of a rebuild."""
    there, elsewhere = files(folder), folder.parent / "elsewhere"
    JournalFiles(elsewhere).rebuild(store.journal)
    rebuilt = files(elsewhere)
    for found in (there, rebuilt):
        del found[str(but.relative_to(folder))]
    assert there == rebuilt
    return there


@pytest.mark.sqlite("counts SQLite's instructions")
def test_a_page_costs_what_stands_on_it(tmp_path: Path) -> None:
    """A day of the journal takes no longer, however much was said on other days."""
    took = []
    for days in (2, 400):
        with MemoryStore(tmp_path / f"{days}.db", index=False) as store:
            facts = [
                PutOp(LENA, f"fact/{n}", {"text": f"It was {n}.", "said_at": at.isoformat()})
                for n in range(days * 4)
                for at in [datetime(2020, 1, 1, 10, tzinfo=UTC) + timedelta(days=n // 4)]
            ]
            store.batch(facts)
            over = tuple(
                Supersede(
                    key=f"fact/{n}", by=f"fact/{n + 1}", invalid_at=datetime(2021, 1, 1, tzinfo=UTC)
                )
                for n in range(0, days * 4, 4)
            )
            store.changes.apply(
                ChangeSet(namespace=LENA, run_id="ends", kind="correction", reason="", changes=over)
            )
            day = [date(2020, 1, 2)]
            [page] = store.journal.pages(LENA, days=day)
            [session] = page.sessions
            assert len(session.learned) == 4
            assert session.learned[1].instead_of == ("It was 4.",)
            with store._core.engine.read() as snapshot:
                connection = snapshot.connection
            took.append(steps(connection, partial(store.journal.pages, LENA, days=day)))
    assert 0 < took[1] < 1.5 * took[0]


def test_an_import_is_followed(store: MemoryStore, folder: Path, tmp_path: Path) -> None:
    """Imported facts stand in the files of the store that imports them, over what was there."""
    told(store)
    with MemoryStore(tmp_path / "copy.db") as other:
        other.admin.import_rows(store.admin.export())
        key = key_of(other, "Katrin lives")
        value = {**next(i.value for i in other.search(LENA, limit=100) if i.key == key)}
        other.put(LENA, key, {**value, "text": "Katrin lives in Kiel."})
        other.put(LENA, "fact/new", {**value, "text": "Katrin sings."})
        store.admin.import_rows(other.admin.export())
    pages = "".join(files(folder).values())
    assert "Katrin lives in Kiel." in pages
    assert "Katrin sings." in pages
    assert "Bremen" not in pages
    assert JournalFiles(folder).rebuild(store.journal) == 0


def test_a_question_about_what_is_deleted_leaves_it(store: MemoryStore, folder: Path) -> None:
    """A question that may quote a deleted memory stands on no page, also not beside another one."""
    told(store)
    keys = (key_of(store, "Katrin lives"), key_of(store, "lives in Valencia"))
    question = OpenReview(
        id="review/1", about="contradiction", question="Valencia or Bremen?", memories=keys,
        options={"both": ()},
    )  # fmt: skip
    store.changes.apply(
        ChangeSet(namespace=LENA, run_id="asks", kind="maintenance", reason="", changes=(question,))
    )
    JournalFiles(folder).rebuild(store.journal)
    assert "Valencia or Bremen?" in "".join(files(folder).values())
    store.delete(LENA, keys[1])
    assert "Valencia" not in "".join(files(folder).values())
    assert JournalFiles(folder).rebuild(store.journal) == 0


def test_what_is_deleted_while_a_page_is_written_leaves_it(
    store: MemoryStore, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was about to write a page as it was before another process deleted something does not
    have the last word."""
    told(store)
    key = key_of(store, "Katrin lives")
    shutil.rmtree(folder)
    written = Journal.written
    with MemoryStore(tmp_path / "memory.db") as other:

        def late(self: Journal, *args: Any, **given: Any) -> dict[tuple[str, ...], str]:
            found = written(self, *args, **given)
            if other.get(LENA, key) is not None:
                folder.mkdir(exist_ok=True)
                other.delete(LENA, key)
            return found

        monkeypatch.setattr(Journal, "written", late)
        JournalFiles(folder).rebuild(store.journal)
    assert "Bremen" not in "".join(files(folder).values())


def test_a_page_that_cannot_be_written_hinders_no_delete(
    store: MemoryStore, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A deletion holds although its page cannot be written; the log says what to do."""
    told(store)
    key = key_of(store, "Katrin lives")
    [page, _] = sorted(folder.rglob("*.md"))
    draft = page.with_name(f".{page.name}.{os.getpid()}.{threading.get_ident()}")
    draft.mkdir()  # in its way
    store.delete(LENA, key)
    assert store.get(LENA, key) is None
    assert "langmemory journal --rebuild --path" in caplog.text


def test_a_folder_that_cannot_be_written_hinders_no_reflection(
    store: MemoryStore, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Facts are learned although their page cannot be written, batch after batch. The run says so,
    and the pages can be written later."""
    folder.write_text("a file, where the journal's folder is to be")
    for day, text in (("2026-01-11", HAMBURG), ("2026-01-12", "I have a cat called Tofu.")):
        message = {"role": "user", "name": "Lena", "content": text, "at": day}
        store.remember(LENA, [message], thread_id=day)
    done = build_reflection_graph(store, extractor=Summarising()).invoke({"namespace": list(LENA)})
    assert len(done["runs"]) == 2
    assert {failure.partition(":")[0] for failure in done["failures"]} == {"journal"}
    assert store.admin.unread_threads() == []
    assert "langmemory journal --rebuild --path" in caplog.text
    folder.unlink()
    JournalFiles(folder).rebuild(store.journal)
    assert "Bremen" in "".join(files(folder).values())


def test_a_page_that_cannot_be_put_in_place_leaves_nothing_beside_it(
    store: MemoryStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a page cannot be replaced, as on Windows while somebody reads it, no draft with the same
    words is left in the folder."""

    def fail(self: Path, target: Path) -> Path:
        raise PermissionError(13, "The process cannot access the file", str(target))

    told(store)
    shutil.rmtree(folder)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(PermissionError):
        JournalFiles(folder).rebuild(store.journal)
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("said_at", ["yesterday", "2026-02-31", "0000-01-01", 5, None, ["x"]])
def test_what_names_no_day_stands_on_no_page(
    store: MemoryStore, folder: Path, said_at: object
) -> None:
    """A memory of somebody's own whose ``said_at`` is no day hinders neither the journal nor its own
    deletion."""
    told(store)
    before = files(folder)
    for text in ("of my own", "of my own still"):
        store.put(LENA, "fact/own", {"text": text, "said_at": said_at})
    assert JournalFiles(folder).rebuild(store.journal) == 0
    store.delete(LENA, "fact/own")
    assert files(folder) == before


def test_private_memories_have_pages_of_their_own(store: MemoryStore, folder: Path) -> None:
    """Private memories appear in their owner's folder and nowhere else."""
    told(store)
    reflect(store, "I am allergic to nuts.", "2026-07-12T09:00:00+02:00", "doctor",
            owner="lena", privacy="private")  # fmt: skip
    private = {name for name, text in files(folder).items() if "nuts" in text}
    assert {Path(name).parent.name for name in private} == {"lena.private"}
    assert len(private) == 1
    assert len(files(folder)) == 3


def test_somebody_elses_file_is_left_alone(store: MemoryStore, folder: Path) -> None:
    """A file that does not begin as a page does is neither overwritten nor removed."""
    told(store)
    [page, _] = [folder / name for name in files(folder)]
    page.write_text("# My own notes\n", encoding="utf-8")
    (page.parent / "todo.md").write_text("buy milk", encoding="utf-8")
    JournalFiles(folder).rebuild(store.journal)
    assert page.read_text(encoding="utf-8") == "# My own notes\n"
    assert (page.parent / "todo.md").exists()


def test_days_can_be_chosen(store: MemoryStore) -> None:
    """Pages of single days are those of the whole journal."""
    told(store)
    pages = store.journal.pages()
    assert [page.day for page in pages] == [date(2026, 1, 11), date(2026, 7, 12)]
    assert store.journal.pages(LENA, days=[date(2026, 7, 12)]) == pages[1:]
    assert store.journal.pages(LENA, days=[]) == []
    key = key_of(store, "lives in Valencia")
    value = next(item.value for item in store.search(LENA, limit=100) if item.key == key)
    store.put(LENA, key, {**value, "said_at": f"2026-03-03T10:00:00Z{' or so' * 20}"})
    assert len(store.journal.pages(LENA, days=[date(2026, 3, 3)])) == 1
    assert store.journal.pages(("memories", "nobody")) == []


NAMES = st.one_of(
    st.text(min_size=1, max_size=80),
    st.sampled_from(
        ["..", ".", "a/b", "C:\\x", "con", "NUL.txt", "a ", "a.", " a", "%2E", "~x", "Lena", "lena",
         "LENA", "Zoë", "Zoe\u0308", "\u212a", "k", "你好", "x" * 300, "ß", "ss", "a\0b"]
    ),
)  # fmt: skip


@given(NAMES, NAMES)
def test_names_stay_in_their_folder_and_apart(one: str, other: str) -> None:
    """Any name is one path component on every system, and two names are two files, also where case
    and normal form do not count."""
    for name in (one, other):
        safe = file_name(name)
        assert PurePosixPath(safe).parts == PureWindowsPath(safe).parts == (safe,)
        assert safe not in {".", ".."}
        assert not safe.endswith((" ", "."))
        assert len(safe.encode()) < 200
        assert not PureWindowsPath(safe).is_reserved()
    if one != other:
        folded = [unicodedata.normalize("NFC", file_name(name)).casefold() for name in (one, other)]
        assert folded[0] != folded[1]


def test_names_keep_their_letters() -> None:
    """Plain names of any script stay as they are."""
    assert [file_name(name) for name in ("lena", "你好", "zoë-3")] == ["lena", "你好", "zoë-3"]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<script>alert(1)</script> a < b", "&lt;script>alert(1)&lt;/script> a &lt; b"),
        ("![x](http://example.org/seen.png)", "![x]\\(http://example.org/seen.png)"),
        ("see [this](javascript:x) and [that][1]", "see [this]\\(javascript:x) and [that]\\[1]"),
        ("![[secret page]]", "![\\[secret page]]"),
        ("# No heading", "\\# No heading"),
        ("```", "\\```"),
        ("---", "\\---"),
        ("1. no list", "1\\. no list"),
        ("[1]: http://example.org", "\\[1]: http://example.org"),
        ("red \x1b[2J\u202eback\x07", "red [2Jback"),
        ("2026-07-12", "2026-07-12"),
        ("Rex is 3.5 kg (about) [M] ok", "Rex is 3.5 kg (about) [M] ok"),
    ],
)
def test_anybodys_words_stay_words_on_a_page(said: str, shown: str) -> None:
    """No markup, no picture loaded from elsewhere, no order to a terminal, wherever they stand."""
    session = Session(
        thread_id=said, summaries=(said,), decisions=(said,), learned=(Learned(text=said),)
    )
    text = render(Page(namespace=LENA, owner=None, day=date(2026, 1, 1), sessions=(session,)))
    lines = text.splitlines()
    assert [line for line in lines if shown in line] == [
        f"## {shown}", shown, f"- {shown}", f"- {shown}",
    ]  # fmt: skip
