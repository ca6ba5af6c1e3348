"""The design itself: what is declared once is found at every door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Protocol, cast

import pytest
from pydantic import Field
from typer.testing import CliRunner

from tests.server.client import token_of

from langmemory import RemoteMemoryStore  # isort: skip
from langmemory.cli.app import app  # isort: skip
from langmemory.errors import AccessError, InvalidValueError  # isort: skip
from langmemory.declaring import Room, operation, register, unregister  # isort: skip
from langmemory.server.access import Access, Grant  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.mcp.tools import Turn, all_tools  # isort: skip
from langmemory.server.serving import serving as served  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.tools.derived import create_operation_tools  # isort: skip
from scripts import operations_page  # isort: skip

HOME = ("memories", "maria")


class Garden:
    """What grows where, as one person sees it."""

    def __init__(self, core: Any, viewer: str | None, namespace: tuple[str, ...]) -> None:
        self._core, self._viewer, self.namespace = core, viewer, namespace

    @operation("write", "POST /garden/plants", for_models=True)
    def plant(
        self, name: Annotated[str, Field(min_length=1, max_length=40)], *, rows: int = 1
    ) -> list[str]:
        """Plant something, and return what was planted.

        Args:
            name: The plant.
            rows: How many rows.
        """
        return [f"{self._viewer or 'everybody'} plants {name} in {'/'.join(self.namespace)}"] * rows


class Gardens(Protocol):
    """A store that has the room."""

    def garden(self, namespace: tuple[str, ...]) -> Any:
        """Return the room."""


@pytest.fixture
def garden() -> Iterator[None]:
    """Declare the room for one test."""
    register(Room(name="garden", tag="Garden", cls=Garden, agent=None))
    yield
    unregister("garden")


@pytest.mark.usefixtures("garden")
async def test_an_operation_is_declared_once_and_found_at_every_door(
    store: MemoryStore, tmp_path: Path
) -> None:
    """Its only declaration is the method above: it is there in the store, over REST, in a remote store and
    its async twin, over MCP, as a tool, as a command, and on the reference page."""
    said = ["maria plants peas in memories/maria"] * 2
    local = cast("Gardens", store.for_viewer("maria"))
    assert local.garden(HOME).plant("peas", rows=2) == said
    assert await local.garden(HOME).aplant("peas", rows=2) == said

    with served(create_app(store)) as address:
        with RemoteMemoryStore(address, token=token_of(store, "maria", HOME)) as remote:
            assert remote.garden(HOME).plant("peas", rows=2) == said
            assert await remote.garden(HOME).aplant("peas", rows=2) == said
            with pytest.raises(InvalidValueError, match="name"):
                remote.garden(HOME).plant("")
            with pytest.raises(AccessError):
                remote.garden(("memories", "ben")).plant("peas")
            with pytest.raises(TypeError):
                remote.garden(HOME).plant("peas", depth=3)
        reader = token_of(store, "maria", HOME, scope="read")
        with RemoteMemoryStore(address, token=reader) as remote, pytest.raises(AccessError):
            remote.garden(HOME).plant("peas")

    grant = Grant(id="test", viewer="maria", namespaces=(HOME,), scope="write")
    tool = all_tools()["garden_plant"]
    turn = Turn(
        access=Access(application=store, grant=grant), progress=cast("Any", None), forgot=print
    )
    _, answer = await tool.work(turn, tool.arguments.model_validate({"name": "peas", "rows": 2}))
    assert answer.model_dump()["answer"] == said
    assert tool.described()["inputSchema"]["properties"]["rows"]["description"] == "How many rows."

    [made] = create_operation_tools(HOME, rooms=["garden"], viewer="maria", store=store)
    assert made.invoke({"name": "peas", "rows": 2}) == str(said)

    file = tmp_path / "m.db"
    MemoryStore(str(file)).close()
    words = ["--db", str(file), "call", "garden", "plant", "-n", "memories/maria", "--name", "peas"]
    done = CliRunner().invoke(app, [*words, "--rows", "2", "--viewer", "maria", "--json"])
    assert json.loads(done.stdout) == said
    assert "How many rows." in CliRunner().invoke(app, [*words[:5], "--help"]).stdout

    assert "| `rows` | integer, optional | How many rows. |" in operations_page.page()
