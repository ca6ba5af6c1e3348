"""Months of the journal that are over: one page with links to its days, which stand in the archive."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from langmemory import MemoryStore
from langmemory.changes import (
    AddEntity,
    AddMemory,
    Change,
    ChangeSet,
    Facets,
    LinkEntities,
    OpenReview,
    RemoveMemory,
    Supersede,
)
from langmemory.config import Config
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.projections.journal import JournalFiles, distilled_through
from langmemory.projections.journal.files import write_file
from langmemory.projections.journal.pages import file_name

LENA = ("memories", "lena")
HERE = Path(*LENA)
MAY = datetime(2026, 5, 3, 9, tzinfo=UTC)
NOW = datetime(2026, 6, 5, tzinfo=UTC)
WRITE_FILE = "langmemory.projections.journal.journal.write_file"
QUOTED = "Today I walked all the way along the river to the old mill with Greta."
"""A turn of which nothing is learned."""


def configured(folder: Path, **lifecycle: Any) -> Config:
    return Config.model_validate({"journal": {"path": str(folder)}, "lifecycle": lifecycle})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def store(tmp_path: Path, folder: Path) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path / "memory.db", config=configured(folder)) as opened:
        yield opened


def say(store: MemoryStore, text: str, day: int, **facets: Any) -> str:
    """A turn some days after the third of May; its key."""
    message = {"role": "user", "name": "Lena", "content": text, "at": MAY + timedelta(days=day)}
    [key] = store.remember(LENA, [message], thread_id=f"day {day}", **facets)
    return key


def apply(store: MemoryStore, run: str, *changes: Change) -> None:
    store.changes.apply(
        ChangeSet(namespace=LENA, run_id=run, kind="reflection", reason="", changes=changes)
    )


def fact(
    key: str, text: str, day: int, turn: str, *mentions: str, owner: str | None = None
) -> AddMemory:
    at = MAY + timedelta(days=day)
    facets: dict[str, Any] = {"owner": owner, "privacy": "private"} if owner else {}
    return AddMemory(
        key=f"fact/{key}",
        value={"text": text, "fact_kind": "fact", "said_at": at.isoformat()},
        facets=Facets(kind="semantic", valid_at=at, **facets),
        evidence=(turn,),
        mentions=mentions,
    )


def told(store: MemoryStore, folder: Path) -> dict[str, str]:
    """A May with ten facts, one change, one question, one quoted turn; June has begun. Keys of the turns."""
    first = say(store, "We bought the house in Bremen, and Klara got the keys.", 0)
    later = say(store, "Klara plays the organ, and the piano, and teaches both.", 6)
    quoted = say(store, QUOTED, 9)
    last = say(store, "I work at Marea now.", 20)
    june = say(store, "The garden has apple trees.", 31)
    apply(
        store,
        "may",
        *(AddEntity(key=name.casefold(), name=name) for name in ("Klara", "Bremen", "Marea")),
        fact("house", "Lena bought a house in Bremen.", 0, first, "bremen"),
        fact("keys", "Klara has the keys of the house.", 0, first, "klara"),
        fact("old", "Lena works at Nordlicht.", 0, first),
        *(
            fact(what, f"Klara {does} {what}.", 6, later, "klara")
            for what, does in (("organ", "plays the"), ("piano", "plays the"), ("music", "teaches"))
        ),
        fact("new", "Lena works at Marea.", 20, last, "marea"),
        fact("garden", "The garden has apple trees.", 31, june),
        OpenReview(
            id="review/1", about="dependant", question="Does that still hold?",
            memories=("fact/keys",), options={"yes": ()},
        ),
    )  # fmt: skip
    apply(
        store,
        "changed",
        Supersede(key="fact/old", by="fact/new", invalid_at=MAY + timedelta(days=20)),
    )
    JournalFiles(folder).rebuild(store.journal)
    return {"first": first, "later": later, "quoted": quoted}


def night(store: MemoryStore, *, now: datetime = NOW, **given: Any) -> dict[str, Any]:
    """The report of the task in a night that summarises before."""
    graph = build_maintenance_graph(store, now=lambda: now, tasks=["summarise", "journal"])
    reports = graph.invoke(given)["reports"]
    assert [one["error"] for one in reports] == [None] * len(reports)
    [report] = [one for one in reports if one["task"] == "journal"]
    return dict(report)


def written(folder: Path) -> dict[str, str]:
    """The pages of days and months by their names."""
    return {
        file.relative_to(folder / HERE).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*.md"))
        if file.name not in ("MEMORY.md", "DREAMS.md")
    }


def follows(store: MemoryStore, folder: Path) -> bool:
    """Whether the files say what a rebuild would write."""
    return JournalFiles(folder).rebuild(store.journal) == 0


def test_a_month_that_is_over_is_one_page(store: MemoryStore, folder: Path) -> None:
    """A night writes a page of the month in the place of its days, with its summary, themes with counts,
    changes, questions and days."""
    told(store, folder)
    days = {name: text for name, text in written(folder).items() if name.startswith("2026-05")}
    report = night(store)
    assert report["told"] == [
        "distilled: memories/lena/2026-05.md (its 3 days, in archive/2026-05)"
    ]
    found = written(folder)
    month = found.pop("2026-05.md")
    assert set(found) == {*(f"archive/2026-05/{name}" for name in days), "2026-06-03.md"}
    assert {name: found[f"archive/2026-05/{name}"] for name in days} == days
    assert month.startswith("# May 2026\n<!--")
    assert "7 facts on 3 days, from 3 conversations; 1 of them changed what was known." in month
    assert "## In short\n\n- " in month
    assert f"- Lena: “{QUOTED}” (`day 9/" in month
    assert "### Klara: 4 facts on 2 days" in month
    assert "- ~~Lena works at Nordlicht.~~ → Lena works at Marea. ([23 May])" in month
    assert "- Does that still hold? “Klara has the keys of the house.” ([3 May])" in month
    assert "apple" not in month


def test_every_line_says_where_it_is_from(store: MemoryStore, folder: Path) -> None:
    """Every line of a month's page has a link to a day or an id, and every link leads to a page that says
    so, also on private pages."""
    turns = told(store, folder)
    secret = fact("ill", "Lena has a weak heart valve.", 6, turns["later"], owner="lena")
    apply(store, "private", secret)
    night(store)
    pages = sorted(folder.rglob("2026-05.md"))
    assert [page.parent.name for page in pages] == ["lena", "lena.private"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        named = dict(re.findall(r"^\[(\d+ May)\]: (\S+)$", text, re.MULTILINE))
        lines = [line for line in text.splitlines() if line.startswith("- ")]
        assert lines
        for line in lines:
            days = re.findall(r"\[([^\]]+)\](?!\()", line)
            links = [*map(named.__getitem__, days), *re.findall(r"\]\((\S+)\)", line)]
            assert links or re.search(r"\(`\S.*`\)$", line), line
            assert all((page.parent / link).is_file() for link in links), line


def test_private_facts_stand_on_their_owners_page(store: MemoryStore, folder: Path) -> None:
    """The month's page that everybody reads says nothing private, nor counts it."""
    turns = told(store, folder)
    night(store)
    before = written(folder)
    secrets = [
        fact(f"ill{n}", f"Lena takes medicine {n}.", 6, turns["later"], "klara", owner="lena")
        for n in range(4)
    ]
    apply(store, "private", *secrets)
    night(store)
    after = written(folder)
    private = {name for name in after if name.startswith("lena.private/")}
    assert private == {"lena.private/2026-05.md", "lena.private/archive/2026-05/2026-05-09.md"}
    assert "4 facts on 1 day" in after["lena.private/2026-05.md"]
    assert "###" not in after["lena.private/2026-05.md"], "none of these facts names Klara"
    assert {name: text for name, text in after.items() if name not in private} == before


def test_nothing_in_the_store_changes(store: MemoryStore, folder: Path) -> None:
    """The task changes no memory; a dry run tells what would move, and moves nothing; a second night
    changes no file."""
    told(store, folder)
    graph = build_maintenance_graph(store, now=lambda: NOW, tasks=["journal"])
    before, files_before = list(store.admin.export()), written(folder)
    [dry] = graph.invoke({"dry_run": True})["reports"]
    assert written(folder) == files_before
    done = graph.invoke({})["reports"][0]
    assert done["told"] == dry["told"] != []
    assert done["lines"] == done["runs"] == []
    assert list(store.admin.export())[1:] == before[1:], "but for the time of the export"
    first = {file: file.stat().st_mtime_ns for file in folder.rglob("*.md")}
    assert graph.invoke({})["reports"][0]["told"] == []
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*.md")} == first


def test_a_month_is_over_where_its_last_clock_says_so() -> None:
    """Somebody on Baker Island still speaks in May when it is noon of the first of June in Greenwich."""
    first = datetime(2026, 6, 1, tzinfo=UTC)
    assert distilled_through("distilled", first + timedelta(hours=11, minutes=59)) == "2026-04"
    assert distilled_through("distilled", first + timedelta(hours=12)) == "2026-05"
    assert distilled_through("distilled", datetime(2026, 1, 5, tzinfo=UTC)) == "2025-12"
    assert distilled_through("full", first) is None


@pytest.mark.parametrize("summarised", [True, False])
def test_rebuilt_it_is_the_same_to_the_byte(
    store: MemoryStore, folder: Path, summarised: bool
) -> None:
    """Whoever deletes the folder and has it rebuilt finds the same pages, also where no summaries of the tree
    stand in the store."""
    told(store, folder)
    tasks = ["summarise", "journal"] if summarised else ["journal"]
    build_maintenance_graph(store, now=lambda: NOW, tasks=tasks).invoke({})
    before = written(folder)
    assert "## In short" in before["2026-05.md"]
    shutil.rmtree(folder)
    JournalFiles(folder).rebuild(store.journal)
    assert written(folder) == before


def test_a_folder_configured_later_has_all_months(tmp_path: Path, folder: Path) -> None:
    """The first night with a journal writes its pages, those of old months in the archive at once."""
    with MemoryStore(tmp_path / "memory.db") as store:
        turn = say(store, "Klara plays the organ.", 0)
        apply(store, "may", fact("organ", "Klara plays the organ.", 0, turn))
        assert night(store)["refused"] == ["there is no journal: journal.path is not set"]
    with MemoryStore(tmp_path / "memory.db", config=configured(folder)) as store:
        night(store)
        assert set(written(folder)) == {"2026-05.md", "archive/2026-05/2026-05-03.md"}


def test_what_is_forgotten_leaves_the_archive(store: MemoryStore, folder: Path) -> None:
    """No page of a distilled month tells of what was forgotten: neither the month's nor the day's."""
    turns = told(store, folder)
    night(store)
    assert "Greta" in "".join(written(folder).values())
    store.forget(LENA, keys=[turns["quoted"]])
    assert "Greta" not in "".join(written(folder).values())
    assert "organ" in "".join(written(folder).values())
    store.forget(LENA, entity="Klara")
    assert "Klara" not in "".join(written(folder).values())
    assert follows(store, folder)
    store.forget(LENA, everything=True)
    assert written(folder) == {}
    assert not any(path.is_dir() for path in folder.iterdir())


def test_a_deleted_turn_is_not_quoted(store: MemoryStore, folder: Path) -> None:
    """The month's page loses what it quotes of a turn that is deleted, at once; the next night retells."""
    turns = told(store, folder)
    night(store)
    store.delete(LENA, turns["quoted"])
    assert "Greta" not in "".join(written(folder).values())
    assert follows(store, folder)
    night(store)
    assert "## In short" in written(folder)["2026-05.md"]
    assert follows(store, folder)


def test_an_edited_turn_is_not_quoted_as_it_was(store: MemoryStore, folder: Path) -> None:
    """Other words of an old turn stand on the month's page after the next night, the old ones not even until
    then."""
    turns = told(store, folder)
    night(store)
    item = store.get(LENA, turns["quoted"])
    assert item is not None
    store.put(LENA, turns["quoted"], item.value | {"content": QUOTED.replace("Greta", "Paul")})
    assert "Greta" not in "".join(written(folder).values())
    assert follows(store, folder)
    night(store)
    assert "to the old mill with Paul" in written(folder)["2026-05.md"]
    assert follows(store, folder)


def test_what_is_undone_leaves_the_archive(store: MemoryStore, folder: Path) -> None:
    """An undone run leaves the month's page and the day's, and what it had replaced holds there again."""
    told(store, folder)
    night(store)
    store.changes.undo("changed")
    month = written(folder)["2026-05.md"]
    assert "## Changed" not in month
    assert "(until" not in written(folder)["archive/2026-05/2026-05-03.md"]
    assert follows(store, folder)
    store.changes.undo("may")
    assert written(folder) == {}
    store.lifecycle.undo(store.lifecycle.nights()[0].id)
    assert follows(store, folder)


def test_what_comes_to_an_old_month_joins_it(store: MemoryStore, folder: Path) -> None:
    """A fact told in a month that is distilled stands in its archive and on its page at once."""
    turns = told(store, folder)
    night(store)
    apply(store, "late", fact("choir", "Klara sings in a choir.", 7, turns["later"], "klara"))
    found = written(folder)
    assert "choir" in found["archive/2026-05/2026-05-10.md"]
    assert "### Klara: 5 facts on 3 days" in found["2026-05.md"]
    assert "2026-05-10.md" not in found
    apply(store, "gone", RemoveMemory(key="fact/choir", reason=""))
    assert "choir" not in "".join(written(folder).values())
    assert follows(store, folder)


def test_a_link_between_two_people_joins_their_themes(store: MemoryStore, folder: Path) -> None:
    """Themes follow when somebody says that two names are one person, and when that is taken back."""
    turns = told(store, folder)
    apply(
        store, "sister", AddEntity(key="sister", name="my sister"),
        *(fact(f"s{n}", f"My sister likes tea {n}.", 6, turns["later"], "sister") for n in range(3)),
    )  # fmt: skip
    night(store)
    apart = written(folder)["2026-05.md"]
    assert "### my sister: 3 facts" in apart
    apply(store, "link", LinkEntities(key="sister", same_as="klara"))
    assert "### Klara: 7 facts" in written(folder)["2026-05.md"]
    assert follows(store, folder)
    store.changes.undo("link")
    assert written(folder)["2026-05.md"] == apart


def test_full_keeps_every_day_in_its_place(
    tmp_path: Path, store: MemoryStore, folder: Path
) -> None:
    """With ``full`` no month is distilled, and those that were are taken apart again."""
    told(store, folder)
    before = written(folder)
    night(store)
    with MemoryStore(tmp_path / "memory.db", config=configured(folder, journal="full")) as other:
        report = night(other)
        assert report["told"] == [
            "moved back: memories/lena/2026-05.md (its 3 days, from archive/2026-05)"
        ]
        assert written(folder) == before
        assert not (folder / HERE / "archive").exists()
        assert night(other)["told"] == []


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("after", range(4))
def test_a_kill_loses_nothing(
    store: MemoryStore, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Wherever the process ends while days move to the archive, the next one to open the file completes
    that: every page once, as a rebuild writes it."""
    told(store, folder)
    write, done = write_file, []

    def killed(*args: Any) -> bool:
        if len(done) == after:
            raise KilledError
        done.append(args)
        return write(*args)

    store.journal.distil(through="2026-05")
    monkeypatch.setattr(WRITE_FILE, killed)
    with pytest.raises(KilledError):
        store.journal.follow()
    monkeypatch.setattr(WRITE_FILE, write)
    with MemoryStore(tmp_path / "memory.db", config=configured(folder)) as other:
        found = written(folder)
        assert set(found) == {
            "2026-05.md", "2026-06-03.md",
            *(f"archive/2026-05/2026-05-{day}.md" for day in ("03", "09", "23")),
        }  # fmt: skip
        assert follows(other, folder)


def test_files_of_others_stay(store: MemoryStore, folder: Path) -> None:
    """A file that somebody else wrote is neither overwritten nor removed, wherever it stands."""
    told(store, folder)
    here = folder / HERE
    own = [here / "2026-05.md", here / "archive" / "2026-05" / "2026-05-03.md",
           here / "archive" / "notes.md", here / "archive" / "2026-05" / "list.md"]  # fmt: skip
    for file in own:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# My own\n")
    night(store)
    store.forget(LENA, everything=True)
    assert sorted(folder.rglob("*.md")) == sorted(own)
    assert {file.read_text() for file in own} == {"# My own\n"}


def test_a_namespace_called_archive_is_no_archive(store: MemoryStore, folder: Path) -> None:
    """Pages of the namespaces below never stand where days of months do."""
    assert file_name("archive") != "archive" != file_name("Archive").casefold()
    told(store, folder)
    beside = (*LENA, "archive", "2026-05")
    at = MAY.isoformat()
    [turn] = store.remember(
        beside, [{"role": "user", "content": "I sing.", "at": MAY}], thread_id="t"
    )
    sings = AddMemory(
        key="fact/sings", value={"text": "They sing.", "said_at": at},
        facets=Facets(kind="semantic", valid_at=MAY), evidence=(turn,),
    )  # fmt: skip
    store.changes.apply(
        ChangeSet(namespace=beside, run_id="sings", kind="reflection", reason="", changes=(sings,))
    )
    night(store)
    assert sum("They sing." in text for text in written(folder).values()) == 2
    assert "They sing." not in written(folder)["archive/2026-05/2026-05-03.md"]
    assert follows(store, folder)


def test_only_the_namespaces_of_a_night_move(store: MemoryStore, folder: Path) -> None:
    """A night over one namespace leaves the days of others where they are."""
    told(store, folder)
    assert night(store, namespace=["memories", "ben"])["told"] == []
    assert "2026-05.md" not in written(folder)
    night(store, namespace=list(LENA))
    assert "2026-05.md" in written(folder)


def test_what_cannot_be_written_is_told(
    store: MemoryStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the pages cannot be written, the report says so, and the next night writes them."""
    told(store, folder)

    def full(*_: Any) -> bool:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(WRITE_FILE, full)
        [refused] = night(store)["refused"]
        assert "could not be written" in refused
    night(store)
    assert "2026-05.md" in written(folder)
    assert follows(store, folder)
