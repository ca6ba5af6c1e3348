"""Tasks, decisions and sessions over REST and `RemoteMemoryStore`: those of the file behind the server."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.server.client import token_of

from langmemory import RemoteMemoryStore  # isort: skip
from langmemory.errors import AccessError, EntityNameError, InvalidValueError  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving as served  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.parts.team import create_swarm_tools  # isort: skip

TEAM = ("team", "shop")


def test_a_team_over_a_server_is_that_of_the_file(store: MemoryStore) -> None:
    """What one agent sets over the server the other reads from the file, with the same errors; a token says
    who writes, and a viewer has no part in what is private."""
    here = store.swarm(TEAM, agent="here")
    with served(create_app(store)) as address:
        with RemoteMemoryStore(address) as remote:
            there = remote.swarm(TEAM, agent="there")
            task = there.add_task("Ship", details="by May", requires=["artifact:API"], agent="here")
            assert here.tasks() == (task,) == there.tasks()
            assert (task.made_by, task.agent) == ("there", "here")
            blocked = there.update_task("Ship", blockers=["legal"])
            assert blocked.status == "blocked"
            assert there.update_task("Ship", blockers=[], agent="").agent is None
            decided = there.record_decision(
                "In euros",
                why="customers",
                alternatives=["dollars"],
                affects=["x.py"],
                regarding="Ship",
            )
            assert here.decisions() == (decided,) == there.decisions()
            ended = there.end_session(
                "s", started_at=datetime(2026, 5, 1, tzinfo=UTC), tasks=["Ship"]
            )
            assert here.sessions() == (ended,) == there.sessions()
            assert there.board() == here.board()
            for call, error in (
                (lambda: there.update_task("no", status="done"), EntityNameError),
                (lambda: there.add_task("x", requires=["no"]), EntityNameError),
                (lambda: there.record_decision("x", why="y", supersedes="Ship"), InvalidValueError),
            ):
                with pytest.raises(error):
                    call()
            tools = {one.name: one for one in create_swarm_tools(TEAM, agent="there", store=remote)}
            assert "Ship: done" in tools["update_task"].invoke({"task": "Ship", "status": "done"})
        token = token_of(store, None, TEAM, agent="bound")
        with RemoteMemoryStore(address, token=token) as bound:
            assert bound.swarm(TEAM).add_task("Mine").made_by == "bound"
            with pytest.raises(AccessError):
                bound.swarm(TEAM, agent="other").add_task("Theirs")
        store.for_viewer("mia").swarm(TEAM).add_task("Secret", privacy="private")
        with RemoteMemoryStore(address, token=token_of(store, "joe", TEAM)) as joe:
            assert {one.title for one in joe.swarm(TEAM).tasks()} == {"Ship", "Mine"}
