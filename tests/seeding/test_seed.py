"""A workspace fills a memory: each fact with its source, once, undone as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from langmemory.errors import ModelUnavailableError
from langmemory.parts.importing.seeding import SeedReport, plan_seed, seed
from langmemory.parts.importing.seeding.git_history import Subjects, names, says_why
from langmemory.parts.importing.seeding.notes import notes_of
from langmemory.stores import MemoryStore
from tests.children import ended
from tests.places import address
from tests.tables import tables

PLACE = ("memories", "me")


def git(
    folder: Path,
    *words: str,
    author: str = "Ana Torres",
    address: str = "",
    at: str = "2026-03-01T10:00:00+00:00",
) -> None:
    """Run git as somebody, at a time."""
    address = address or f"{author.split()[0].lower()}@x"
    who = {"GIT_AUTHOR_NAME": author, "GIT_COMMITTER_NAME": author, "GIT_AUTHOR_EMAIL": address}
    when = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "GIT_COMMITTER_EMAIL": "a@x"}
    away = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), *words]
    subprocess.run(
        command, check=True, capture_output=True, env={**os.environ, **who, **when, **away}
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace: a repository with two people, documents, notes, and two chats called alike."""
    root = tmp_path / "work"
    texts = {
        "shop/docs/install.md": "# Shop\n\n## Install\n\nThe shop is installed by shopctl setup.\n",
        "notes/people.md": "# All\n\n## Bo\n\nMy brother Bo lives in Graz.\n\n- I am allergic to nuts.\n",
        "family/chat.txt": "03.01.26, 21:42 - Ana: Grüße\n14.01.26, 21:43 - Ana: Tofu heißt die Katze\n",
        "team/chat.txt": "03.01.26, 21:42 - Cem: Ins Café Central\n14.01.26, 09:00 - Cem: Gut\n",
        "package.json": '{"name": "shop"}',
        "broken/conversations.json": '[{"chat_messages": [{"sender": "human", "text": "hi"}, 1]}]',
    }  # fmt: skip
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    shop = root / "shop"
    git(shop, "init", "-q")
    for number in range(4):
        path = shop / "billing" / f"{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n", "utf-8")
        git(shop, "add", "billing")
        author = "Bo Li" if number == 3 else "Ana Torres"
        git(shop, "commit", "-qm", f"Billing, part {number}", author=author)
    (shop / "queue.py").write_text("1\n", "utf-8")
    git(shop, "add", "queue.py")
    why = "Use Redis for the queue\n\nPostgres was too slow there because of its locks.\n\nSigned-off-by: A"
    git(shop, "commit", "-qm", why, at="2026-04-01T10:00:00+00:00")
    return root


def filled(store: MemoryStore, work: Path) -> SeedReport:
    return seed(store, plan_seed(work), PLACE)


def test_the_plan_says_what_comes_from_where(work: Path) -> None:
    """Nothing is written; a damaged export is told beforehand, and a program's JSON is none."""
    plan = plan_seed(work)
    assert [(one.kind, one.path, one.count) for one in plan.sources] == [
        ("documents", ".", 1),
        ("conversations", "family/chat.txt", 2),
        ("conversations", "team/chat.txt", 2),
        ("notes", "notes/people.md", 2),
        ("git", "shop", 5),
    ]
    assert list(plan.failed) == ["broken/conversations.json"]
    assert "message 2: int" in plan.failed["broken/conversations.json"]


def test_a_chat_that_a_repository_keeps_is_left_out(work: Path) -> None:
    """It is some program's sample; one of the same path in the workspace itself is somebody's."""
    for folder in (work, work / "shop"):
        (folder / "samples").mkdir()
        (folder / "samples" / "chat.txt").write_text("03.01.26, 21:42 - Ana: Hello\n", "utf-8")
    git(work / "shop", "add", "samples")
    plan = plan_seed(work)
    assert list(plan.left_out) == ["shop/samples/chat.txt"]
    assert "samples/chat.txt" in [one.path for one in plan.of("conversations")]


def test_questions_are_answered_with_their_source(tmp_path: Path, work: Path) -> None:
    """Who works on something, why it was chosen, what notes, chats and documents say: the first result says
    it, and its evidence where it is from."""
    with MemoryStore(tmp_path / "memory.db") as store:
        report = filled(store, work)
        assert (report.documents, report.messages) == (1, 2 + 4 + 1)
        assert list(report.failed) == ["broken/conversations.json"]
        for question, told, source in (
            (
                "Who works on billing?",
                "Ana Torres works on the billing (shop/billing): 3 commits",
                "",
            ),
            ("Why do we use Redis for the queue?", "too slow", "git/shop/"),
            ("Where does my brother live?", "Graz", "notes/people.md/"),
            ("Wie heißt die Katze?", "Tofu", ""),
            ("How is the shop installed?", "shopctl setup", ""),
        ):
            best = store.recall(question, PLACE, limit=2).results
            said = next((one.memory for one in best if told in one.memory.text), None)
            assert said is not None, (question, [one.memory.text for one in best])
            evidence = [one.key for one in store.changes.evidence(PLACE, said.key)]
            assert source in " ".join([said.key, *evidence])
        cem = store.recall("Café Central", PLACE, limit=1).results[0].memory
        assert (cem.key.startswith("team/chat/"), cem.speaker) == (True, "Cem")
        work_fact = store.get(PLACE, "git/shop/area/billing")
        assert work_fact is not None
        assert "So does Bo Li (1)." in work_fact.value["text"]
        assert work_fact.value["source"].startswith("git log, newest commit ")


def test_a_folder_is_found_by_what_its_commits_say() -> None:
    """By words that its commits have and others have not; of two folders of one name the busier has it alone,
    and a folder that only holds another is none."""
    said = {
        "svc/inv": ["Invoices have a tax number", "Reminders for invoices", "Round invoice totals"],
        "svc/trk": ["Position of a vessel", "Map of vessels", "Alarm when a vessel leaves"],
        "test/inv": ["Open ones are tried", "Test of invoices"],
    }  # fmt: skip
    subjects = Subjects()
    for area, texts in said.items():
        for text in texts:
            subjects.add(text, [area])
    assert subjects.telling("svc/inv", "inv") == ["invoices"]
    assert subjects.telling("svc/trk", "trk") == ["vessel"]
    assert names({"svc/inv": 3, "test/inv": 2, "svc/geo_lib": 1}) == {
        "svc/inv": "inv", "test/inv": "test inv", "svc/geo_lib": "geo lib",
    }  # fmt: skip


def test_a_second_run_adds_nothing_and_undo_takes_all_back(tmp_path: Path, work: Path) -> None:
    """The run is the same the second time; undoing it leaves nothing, also of what formation made."""
    with MemoryStore(tmp_path / "memory.db") as store:
        first = filled(store, work)
        assert first.facts >= 5
        again = filled(store, work)
        assert (again.run_id, again.added) == (first.run_id, 0)
        git(
            work / "shop",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "Drop the cache, because nobody used it",
        )
        assert filled(store, work).messages == 1
        store.changes.undo(first.run_id)
        assert [one.key for one in store.search(PLACE, limit=100)] == []
        assert store.recall("Who works on billing?", PLACE).results == ()


def test_work_on_one_thing_is_no_earlier_state_of_work_on_another(
    tmp_path: Path, work: Path
) -> None:
    """Facts about who works on what differ by a name or two, and all of them hold."""
    site = work / "site"
    for number in range(3):
        (site / "blog").mkdir(parents=True, exist_ok=True)
        (site / "blog" / f"{number}.html").write_text("1\n", "utf-8")
        git(site, "init", "-q")
        git(site, "add", "blog")
        git(
            site,
            "commit",
            "-qm",
            f"Blog, part {number}",
            at=f"2026-04-0{number + 1}T10:00:00+00:00",
        )
    with MemoryStore(tmp_path / "memory.db") as store:
        filled(store, work)
        found = store.recall("What does Ana Torres work on?", PLACE, limit=10).results
        told = [one for one in found if one.memory.key.startswith(("git/shop/", "git/site/"))]
        assert len(told) >= 4
        assert [one.memory.text for one in told if "earlier" in one.parts] == []


def test_a_second_clone_tells_only_what_is_its_own(tmp_path: Path, work: Path) -> None:
    """Commits that two folders have are read once; a worktree has none of its own."""
    git(work, "clone", "-q", str(work / "shop"), str(work / "shop-fork"))
    git(work / "shop-fork", "commit", "-q", "--allow-empty", "-m", "Try Kafka, because it is fast")
    git(work / "shop", "worktree", "add", "-q", str(work / "shop-review"))
    plan = plan_seed(work)
    assert [(one.path, one.count) for one in plan.of("git")] == [("shop", 5), ("shop-fork", 1)]
    assert "5 commits of another folder left out" in plan.of("git")[1].note
    assert list(plan.left_out) == ["shop-review"]


def test_one_person_has_one_name(tmp_path: Path, work: Path) -> None:
    """Who commits by a login and by a full name with one address is one person."""
    shop = work / "shop"
    git(shop, "commit", "-q", "--allow-empty", "-m", "Tidy", author="at", address="ANA@x")
    git(shop, "commit", "-q", "--allow-empty", "-m", "Tidy", author="at", address="other@x")
    [source] = plan_seed(work).of("git")
    assert source.history is not None
    assert {name: one.commits for name, one in source.history.people.items()} == {
        "Ana Torres": 5, "Bo Li": 1, "at": 1,
    }  # fmt: skip


def test_a_decision_that_was_taken_back_says_so(tmp_path: Path, work: Path) -> None:
    """Also where it is reverted after it was read; what is reverted and brought back holds. A fact that a
    person corrected stays as they said."""
    shop, before = work / "shop", "Use Redis for the queue"
    with MemoryStore(tmp_path / "memory.db", index=False) as store:

        def decided() -> str:
            filled(store, work)
            found = [one.value["text"] for one in store.search(PLACE, limit=100)
                     if "/decision/" in one.key and one.value["text"].startswith(before)]  # fmt: skip
            return " ".join(found)

        assert decided().endswith("because of its locks.")
        git(shop, "revert", "--no-edit", "HEAD", at="2026-05-02T10:00:00+00:00")
        assert decided().endswith("because of its locks. This was taken back on 2026-05-02.")
        area = "git/shop/area/billing"
        store.changes.correct(PLACE, area, value={"text": "Cem Aydin does the billing"}, reason="x")
        (shop / "billing" / "9.py").write_text("9\n", "utf-8")
        git(shop, "add", "billing")
        git(shop, "commit", "-qm", "Billing, part 9")
        filled(store, work)
        told = store.get(PLACE, area)
        assert told is not None
        assert told.value["text"] == "Cem Aydin does the billing"
    git(shop, "revert", "--no-edit", "HEAD~1")
    [source] = plan_seed(work).of("git")
    assert source.history is not None
    assert len(source.history.reverted) == 1


def test_a_shallow_clone_is_told_and_not_taken_for_the_work_of_one(
    tmp_path: Path, work: Path
) -> None:
    """Its oldest commit seems to add every file."""
    for number in range(3):
        (work / "shop" / "billing" / f"b{number}.py").write_text("1\n", "utf-8")
        git(work / "shop", "add", "billing")
        git(work / "shop", "commit", "-qm", f"Billing again {number}", author="Bo Li")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "3", f"file://{work / 'shop'}", str(clone))
    [source] = plan_seed(clone).of("git")
    assert source.history is not None
    assert "a shallow clone" in source.note
    assert (source.count, source.history.areas) == (3, {})


def test_of_a_message_only_trailers_are_left_out(tmp_path: Path, work: Path) -> None:
    """A first line, or a sentence, that begins with "Fixes" is none."""
    text = (
        "Fixes the login, because nobody could log in\n\nRefs to sessions go.\n\nFixes: #12\nCc: Bo"
    )
    git(work / "shop", "commit", "-q", "--allow-empty", "-m", text)
    [source] = plan_seed(work).of("git")
    assert source.history is not None
    assert source.history.decisions[-1].message.split("\n\n") == [
        "Fixes the login, because nobody could log in", "Refs to sessions go.",
    ]  # fmt: skip


def test_credentials_in_commits_are_not_stored(tmp_path: Path, work: Path) -> None:
    """A key in a message is in neither the turn nor the decision."""
    key = "ghp_" + "a1B2" * 9
    git(work / "shop", "commit", "-q", "--allow-empty", "-m", f"Use {key} because it works")
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        filled(store, work)
        said = [str(one.value) for one in store.search(PLACE, limit=100)]
        assert len([one for one in said if "because it works" in one]) == 2
        assert not [one for one in said if key in one]


def test_a_model_that_is_away_is_asked_once(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said is stored, and the report says how many conversations wait for it."""
    asked: list[str] = []

    def away(store: object, namespace: object, thread: str, graph: object) -> object:
        asked.append(thread)
        raise ModelUnavailableError("llama could not be asked.")

    monkeypatch.setattr(sys.modules["langmemory.parts.importing.seeding.seed"], "batches", away)
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        report = filled(store, work)
        assert report.messages == 7
        assert report.failed[asked[0]].startswith("llama could not be asked. 3 conversations")
        assert len(asked) == 1


def test_what_was_there_before_stays(tmp_path: Path, work: Path) -> None:
    """A memory that had something keeps it when a seeding is undone, and no seeding reads it: also not one
    that has a chat in the workspace itself."""
    (work / "trip.txt").write_text("14.01.26, 21:42 - Ana: Hello\n", "utf-8")
    with MemoryStore(tmp_path / "memory.db") as store:
        store.remember(
            PLACE, [{"role": "user", "content": "I play the cello.", "id": "1"}], thread_id="t"
        )
        run = filled(store, work).run_id
        assert [one.thread_id for one in store.admin.unread_threads(PLACE)] == ["t"]
        store.changes.undo(run)
        assert [one.key for one in store.search(PLACE, limit=100)] == ["t/1"]


@pytest.mark.thorough
def test_a_killed_run_goes_on(tmp_path: Path, work: Path) -> None:
    """A process that ends in the middle leaves whole transactions; the next one completes them in the same
    run, which is undone as one."""
    program = (
        "import os, sys; from pathlib import Path\n"
        "from langmemory.parts.importing.seeding import plan_seed, seed\n"
        "from langmemory.stores import MemoryStore\n"
        "def stop(name):\n    if name == sys.argv[3]: os._exit(9)\n"
        "store = MemoryStore(sys.argv[1])\n"
        "seed(store, plan_seed(sys.argv[2]), ('memories', 'me'), progress=stop)"
    )
    path = tmp_path / "memory.db"
    assert ended(program, address(path), work, "shop") == 9
    with MemoryStore(path) as store:
        assert store.search(PLACE, limit=1)
        report = filled(store, work)
        assert report.known > 0
        assert store.get(PLACE, "git/shop/area/billing") is not None
        store.changes.undo(report.run_id)
        assert store.search(PLACE, limit=1) == []


def test_a_slack_export_is_one_source(tmp_path: Path) -> None:
    """Its days are counted together, and a damaged day does not stop the others."""
    root = tmp_path / "export"
    (root / "general").mkdir(parents=True)
    (root / "users.json").write_text(json.dumps([{"id": "U1", "real_name": "Ana"}]), "utf-8")
    for day in (1, 2):
        said = [{"type": "message", "user": "U1", "ts": f"{day}.0", "text": f"Plan {day}"}]
        (root / "general" / f"2026-03-0{day}.json").write_text(json.dumps(said), "utf-8")
    (root / "general" / "2026-03-03.json").write_text(
        '[{"type": "message", "ts": "1", "user": "U1"', "utf-8"
    )
    plan = plan_seed(root)
    assert [(one.format, one.path, one.count) for one in plan.sources] == [("slack", ".", 2)]
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        report = seed(store, plan, PLACE)
        assert report.messages == 2
        assert {one.key for one in store.search(PLACE, limit=9)} == {
            "general/general/1.0",
            "general/general/2.0",
        }


def test_names_may_look_like_patterns(tmp_path: Path) -> None:
    """Brackets in the name of the workspace, a folder or a note are part of the name."""
    root = tmp_path / "work [old]"
    (root / "notes").mkdir(parents=True)
    (root / "guide.md").write_text("# Guide\n\nIt is installed by a script.\n", "utf-8")
    (root / "notes" / "Ana [1] #2!.md").write_text("My sister Ana lives in Graz.\n", "utf-8")
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        report = seed(store, plan_seed(root), PLACE)
        assert (report.documents, report.messages, report.failed) == (1, 1, {})
        assert [one.path for one in store.documents.list(PLACE)] == ["guide.md"]


def test_notes_are_paragraphs_and_items(tmp_path: Path) -> None:
    """Items and paragraphs are notes of their own, with whom they are about, and the day of the heading above
    them; code and tables are none, and of a long one nothing is lost."""
    path = tmp_path / "2026-02-03.md"
    long = "word " * 700
    path.write_text(
        "---\ntitle: x\n---\n# Day\n\n## Maria\n- prefers email\n  over phone\n- [ ] Maria is back in May\n\n"
        "```\ncode\n```\n| a |\n<!-- hidden\nlines -->\nA paragraph\nof two lines.\n"
        f"## 2026-02-04\n### Run\n{long}\n",
        "utf-8",
    )
    notes = notes_of(path)
    assert [one["content"] for one in notes[:3]] == [
        "Maria: prefers email over phone", "Maria is back in May", "Maria: A paragraph of two lines.",
    ]  # fmt: skip
    assert [f"{one['at']:%d}" for one in notes] == ["03", "03", "03", "04", "04"]
    assert " ".join(one["content"] for one in notes[3:]) == f"Run: {long.strip()}"


@pytest.mark.parametrize(("text", "said", "unread"), [one[1:] for one in tables(__file__)["notes"]])
def test_of_odd_notes_nothing_is_lost(
    tmp_path: Path, text: str, said: list[tuple[str, str]], unread: list[str]
) -> None:
    """Odd fences, rules, headings, comments and pictures: what somebody said is a note of its day, and what
    is none is told."""
    path, left_out = tmp_path / "2026-01-01.md", list[str]()
    path.write_bytes(text.encode())
    found = notes_of(path, left_out)
    assert [(f"{one['at']:%m-%d}", one["content"]) for one in found] == list(said)
    assert left_out == list(unread)


def test_notes_and_chats_that_were_changed_add_what_is_new(tmp_path: Path) -> None:
    """Where a line was written above others, or a chat begins later than its last export did, the others are
    the same ones; what was taken away does not return."""
    note, chat = tmp_path / "notes" / "people.md", tmp_path / "trip.txt"
    note.parent.mkdir()
    note.write_text("- My brother Bo lives in Graz.\n- I am allergic to nuts.\n", "utf-8")
    lines = [f"{day}.01.26, 21:42 - Ana: Day {day}\n" for day in range(14, 18)]
    chat.write_text("".join(lines[:3]), "utf-8")
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        assert filled(store, tmp_path).messages == 5
        [nuts] = [one for one in store.search(PLACE, limit=50) if "allergic to nuts." in str(one.value)
                  and one.key.startswith("notes")]  # fmt: skip
        store.delete(PLACE, nuts.key)
        note.write_text("- My cousin Tim lives in Oslo.\n" + note.read_text("utf-8"), "utf-8")
        chat.write_text("".join(lines[1:]), "utf-8")
        report = filled(store, tmp_path)
        assert (report.messages, report.known) == (2, 4)
        said = [str(one.value.get("content", "")) for one in store.search(PLACE, limit=50)]
        assert sorted(filter(None, said)) == [
            "Day 14", "Day 15", "Day 16", "Day 17", "My brother Bo lives in Graz.",
            "My cousin Tim lives in Oslo.",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Use SQLite instead of files", True),
        ("Wir nehmen SQLite, weil es überall läuft", True),
        ("Usamos SQLite porque es simple", True),
        ("改用 SQLite，因为简单", True),
        ("Fix a typo", False),
        ("Bump the version", False),
    ],
)
def test_commits_that_say_why(message: str, told: bool) -> None:
    """Words of reason and decision in four languages tell them from the others."""
    assert says_why(message) is told
