"""Tasks, decisions and sessions of a team, and STATE.md, which follows them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from langmemory.errors import EntityNameError, InvalidValueError, OwnershipError
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.parts.team import swarm as team_swarm
from langmemory.ports.journal import StateRow
from langmemory.projections.journal import state_files
from langmemory.projections.journal.journal import Journal
from langmemory.stores import MemoryStore
from langmemory.swarm import STATUSES, Board

TEAM = ("team", "shop")
EMPTY = Board(tasks=(), counts=dict.fromkeys(STATUSES, 0), decisions=(), sessions=(), agents=())


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    """An empty store."""
    return MemoryStore(tmp_path / "memory.db", index=False)


def edges(store: MemoryStore, *, past: bool = False) -> set[tuple[str, str, str]]:
    """The edges of the team, by names."""
    graph = store.graph(TEAM)
    names = {one.key: one.name for one in graph.entities(past=True)}
    return {
        (names[edge.subject], edge.relation, names[edge.object or ""])
        for edge in graph.edges(past=past)
    }


def test_tasks_are_memories_with_edges_that_have_times(store: MemoryStore) -> None:
    """A task knows who works on it, what contains it and what it requires; handing it over ends one edge and
    begins another, and each change is a run that can be undone."""
    planner, writer = store.swarm(TEAM, agent="planner"), store.swarm(TEAM, agent="writer")
    ship = planner.add_task("Ship the checkout", details="by May")
    page = planner.add_task(
        "Write the page", agent="writer", part_of="Ship the checkout", requires=["artifact:prices"]
    )
    assert (ship.status, page.status, page.agent) == ("open", "in_progress", "writer")
    assert edges(store) == {
        ("Ship the checkout", "made_by", "planner"),
        ("Write the page", "made_by", "planner"),
        ("writer", "works_on", "Write the page"),
        ("Ship the checkout", "contains", "Write the page"),
        ("Write the page", "requires", "prices"),
    }
    blocked = writer.update_task(page.key, blockers=["a list of prices"], note="waiting")
    assert (blocked.status, blocked.blockers) == ("blocked", ("a list of prices",))
    assert writer.update_task(page.key, blockers=[]).status == "in_progress"
    handed = writer.update_task("Write the page", agent="editor")
    assert handed.agent == "editor"
    assert ("writer", "works_on", "Write the page") in edges(store, past=True) - edges(store)
    done = store.swarm(TEAM, agent="editor").update_task(page.key, status="done", note="it is live")
    assert (done.status, done.note, done.agent) == ("done", "it is live", "editor")
    assert not store.graph(TEAM).edges(page.key, "works_on")
    assert [one.title for one in planner.tasks()] == ["Ship the checkout", "Write the page"]
    assert [one.title for one in planner.tasks(closed=False)] == ["Ship the checkout"]
    assert planner.tasks(status="done", agent="editor") == (done,)
    assert "Task: Write the page (done)" in store.recall("Write the page?", TEAM).results[0].text
    store.changes.undo(store.changes.runs(TEAM)[0].id)
    assert planner.task(page.key) == handed
    assert ("editor", "works_on", "Write the page") in edges(store)
    assert store.admin.check() == []


def test_decisions_say_why_and_give_way_to_later_ones(store: MemoryStore) -> None:
    """A decision affects things and is about a task; a later one takes its place, also in a context."""
    planner = store.swarm(TEAM, agent="planner")
    planner.add_task("Ship the checkout")
    euros = planner.record_decision(
        "Prices are in euros", why="our customers", alternatives=["dollars"],
        affects=["shop/prices.py"], regarding="Ship the checkout",
    )  # fmt: skip
    assert edges(store) > {
        ("Prices are in euros", "affects", "shop/prices.py"),
        ("Prices are in euros", "regarding", "Ship the checkout"),
    }
    context = store.graph(TEAM).context_for("Ship the checkout")
    assert [one.why for one in context.entries] == ["task", "regarding"]
    francs = planner.record_decision(
        "Prices are in francs, too", why="the Swiss", supersedes="Prices are in euros"
    )
    assert planner.decisions() == (francs,)
    assert [one.holds for one in planner.decisions(holding=False)] == [True, False]
    with pytest.raises(InvalidValueError, match="is no decision"):
        planner.record_decision("x", why="y", supersedes="Ship the checkout")
    store.changes.undo(store.changes.runs(TEAM)[0].id)
    assert [one.key for one in planner.decisions()] == [euros.key]


def test_what_is_wrong_is_said_and_nothing_is_written(store: MemoryStore) -> None:
    """Unknown tasks, empty texts and wrong words are refused with the next step."""
    team = store.swarm(TEAM, agent="a")
    for call, error in (
        (lambda: team.update_task("nothing", status="done"), EntityNameError),
        (lambda: team.add_task(""), InvalidValueError),
        (lambda: team.add_task("x" * 300), InvalidValueError),
        (lambda: team.add_task("x", requires=["nothing"]), EntityNameError),
        (lambda: team.record_decision("x", why=" "), InvalidValueError),
        (lambda: team.tasks(status="finished"), Exception),  # type: ignore[arg-type]
    ):
        with pytest.raises(error):
            call()
    assert team.board() == EMPTY
    assert store.changes.runs(TEAM) == []


def test_agents_that_change_one_task_at_once_lose_nothing(store: MemoryStore) -> None:
    """Each update is planned anew where another came first, so that all notes and one worker stay."""
    team = store.swarm(TEAM, agent="planner")
    task = team.add_task("Ship")

    def take(name: str) -> None:
        store.swarm(TEAM, agent=name).update_task(task.key, agent=name)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(take, [f"agent {n}" for n in range(8)]))
    worker = team.task(task.key).agent
    assert [edge.subject for edge in store.graph(TEAM).edges(task.key, "works_on")] == [
        f"agent:{worker}"
    ]
    assert len(store.graph(TEAM).edges(task.key, "works_on", past=True)) == 8
    assert store.admin.check() == []


def test_a_viewer_has_no_part_in_what_is_private(store: MemoryStore) -> None:
    """Private tasks, and what is about them, are their owner's alone, on the board and in the graph."""
    mia, joe = (store.for_viewer(one).swarm(TEAM, agent="helper") for one in ("mia", "joe"))
    secret = mia.add_task("Plan the surprise", privacy="private", agent="helper")
    about = mia.record_decision("We meet at eight", why="he is out", regarding=secret.key)
    assert about.privacy == "private"
    assert joe.board() == EMPTY
    assert store.for_viewer("joe").graph(TEAM).entities() == ()
    assert len(mia.board().tasks) == 1
    with pytest.raises(EntityNameError):
        joe.update_task(secret.key, status="done")
    shared = joe.add_task("Buy bread")
    with pytest.raises(OwnershipError):
        mia.update_task(shared.key, status="done")
    assert asyncio.run(mia.aboard()) == mia.board()


def test_the_board_shows_agents_and_what_waits_for_them(store: MemoryStore) -> None:
    """Each agent stands there with its open tasks and how many messages it has yet to acknowledge."""
    planner = store.swarm(TEAM, agent="planner")
    planner.add_task("Ship", agent="writer")
    store.bus(TEAM, agent="planner").share("We open in May")
    store.bus(TEAM, agent="planner").handoff("reader", "read this")
    assert [(one.name, one.tasks, one.inbox) for one in planner.board().agents] == [
        ("planner", (), 0), ("reader", (), 2), ("writer", ("Ship",), 1),
    ]  # fmt: skip


def test_a_board_counts_all_tasks_and_shows_the_latest(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many tasks are open, those that are done have a place on it, and an agent has all that it
    works on."""
    monkeypatch.setattr(team_swarm, "ON_BOARD", 2)
    team = store.swarm(TEAM)
    for number in range(5):
        team.add_task(f"Task {number}", agent="writer")
    for number in range(2):
        team.update_task(f"Task {number}", status="done")
    board = team.board()
    shown = ["Task 4", "Task 3", "Task 1", "Task 0"]
    assert [one.title for one in board.tasks] == shown
    assert {status: n for status, n in board.counts.items() if n} == {"in_progress": 3, "done": 2}
    assert board.agents[0].tasks == ("Task 4", "Task 3", "Task 2")


def test_state_has_a_hundred_lines_whatever_there_is() -> None:
    """Of hundreds of tasks, decisions and sessions a hundred lines are on the page, the rest is archived."""
    day = datetime(2026, 5, 1, tzinfo=UTC)
    rows = [
        StateRow(f"{n}", record, {"what": f"d{n}", "title": f"t{n}", "status": "done"}, True, None,
                 "shared", day + timedelta(hours=n))
        for n, record in enumerate(("task", "decision", "session") * 100)
    ]  # fmt: skip
    page = state_files.StatePage(namespace=TEAM, owner=None, rows=rows)
    files = state_files.render(page)
    assert len(files[state_files.NAME].splitlines()) <= 100
    kept = [text.count("\n- ") for text in files.values()]
    assert (sum(kept), len(files)) == (300, 2)
    assert "d298" in files[state_files.NAME]
    assert "d1 " not in files[state_files.NAME]


def test_state_follows_and_forgets(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open tasks stay on the page, what is older stands in the archive; what is undone, made private or
    forgotten leaves both, and a file of somebody else is left alone."""
    monkeypatch.setattr(state_files, "MOST_LINES", 20)
    folder = tmp_path / "journal"
    team = store.swarm(TEAM, agent="planner")
    first = team.add_task("Ship <b>the</b> checkout\nnow")
    assert store.journal.state_files(folder).write() == 1
    page = folder / "team" / "shop" / "STATE.md"
    archive = page.with_name("STATE-archive.md")
    for number in range(10):
        team.record_decision(f"Decision {number}.", why="so")
    text = page.read_text()
    assert len(text.splitlines()) <= 20
    assert "&lt;b>the" in text  # harmless, and the oldest, but open
    assert "Decision 9." in text
    assert "Decision 0." in archive.read_text()
    assert "see STATE-archive.md" in text
    assert store.journal.state_pages(TEAM)[None] == text
    store.changes.undo(store.changes.runs(TEAM)[0].id)
    assert "Decision 9." not in page.read_text()
    oldest = team.decisions()[-1]
    store.forget(TEAM, keys=[first.key, oldest.key])
    assert "checkout" not in page.read_text()
    assert "Decision 0." not in archive.read_text()
    store.for_viewer("mia").swarm(TEAM).add_task("A surprise", privacy="private")
    own = folder / "team" / "shop" / "mia.private" / "STATE.md"
    assert "A surprise" in own.read_text()
    assert "A surprise" not in page.read_text()
    store.forget(TEAM, owner="mia")
    assert not own.exists()
    page.write_text("mine")
    team.add_task("Another")
    assert page.read_text() == "mine"


def test_state_follows_what_a_killed_process_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends between a change and its page leaves a mark that the next one follows."""
    file, folder = tmp_path / "memory.db", tmp_path / "journal"
    page = folder / "team" / "shop" / "STATE.md"
    with MemoryStore(file, index=False) as store:
        store.swarm(TEAM).add_task("First")
        store.journal.state_files(folder).write()
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "follow", lambda _: False)
            store.swarm(TEAM).add_task("Second")
        assert "Second" not in page.read_text()
    with MemoryStore(file, index=False):
        assert "Second" in page.read_text()


def test_a_session_ends_once_and_says_what_it_came_to(store: MemoryStore) -> None:
    """Under an id that is there already nothing is written; it is linked with its tasks and artifacts."""
    team = store.swarm(TEAM, agent="writer")
    task = team.add_task("Write", agent="writer")
    begun = datetime(2026, 5, 1, 9, tzinfo=UTC)
    ended = team.end_session(
        "one", started_at=begun, work_done=["a draft"], next_steps=["review"], tasks=[task.key],
        artifacts=["page.html"],
    )  # fmt: skip
    assert team.end_session("one", started_at=begun, work_done=["other"]) == ended
    assert team.sessions(agent="writer") == (ended,)
    assert team.sessions(agent="reader") == ()
    assert (ended.started_at, ended.work_done, ended.next_steps) == (
        begun,
        ("a draft",),
        ("review",),
    )
    relations = {edge.relation for edge in store.graph(TEAM).edges("session/one")}
    assert relations == {"made_by", "works_on", "produces"}


def test_nights_leave_tasks_decisions_and_sessions_as_they_are(store: MemoryStore) -> None:
    """Tasks of one title are as many tasks, also when they are done, and nobody is asked whether they are the
    same; so it is with decisions about different tasks, and with sessions."""
    team = store.swarm(TEAM, agent="writer")
    for number in range(3):
        task = team.add_task("Publish the weekly report", agent="writer")
        team.update_task(task.key, status="done")
        team.record_decision("Ship on Monday", why="support is in", regarding=task.key)
        team.end_session(f"{number}", started_at=datetime.now(UTC), work_done=["It is out"])
        team.add_task("Water the plants")
    before = team.board()
    build_maintenance_graph(store).invoke({"namespace": list(TEAM)})
    assert team.board() == before
    assert store.changes.reviews(TEAM) == []
