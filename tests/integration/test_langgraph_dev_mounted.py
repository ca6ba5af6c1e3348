"""The memory API as `http.app` of a real `langgraph dev`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

from langmemory import MemoryStore
from langmemory.types import TokenScope
from tests.integration.langgraph_server import copy_project, langgraph_dev

pytest.importorskip("uvicorn", reason='the extra "server" is not installed')

REPOSITORY = Path(__file__).parents[2]
API = "/api/v1/memory"
SAID = "My dog is called Bello and he is a terrier."

pytestmark = [
    pytest.mark.integration,
    pytest.mark.thorough,
    pytest.mark.xdist_group("langgraph-dev-mounted"),
]  # one server

APP = """
from langmemory.server.app import create_app

app = create_app(mounted=True)
"""
SIGNED_IN = """
import sys

from langmemory.server.app import create_app
from langmemory.server.oauth.settings import OAuthSettings
from langmemory.server.settings import ServerSettings

port = sys.argv[sys.argv.index("--port") + 1]
oauth = OAuthSettings(issuer="{issuer}", resource=f"http://127.0.0.1:{{port}}/memory/mcp")
app = create_app(mounted=True, settings=ServerSettings(oauth=oauth))
"""
STORE = """
from contextlib import asynccontextmanager
import asyncio

from langmemory import MemoryStore


@asynccontextmanager
async def open_store():
    store = await asyncio.to_thread(MemoryStore, {path!r})
    yield store
    await store.aclose()
"""


def project_with(folder: Path, **http: Any) -> tuple[Path, Path]:
    """Return a project whose server has the memory API and a store of its own, and the file of the store."""
    project = copy_project(REPOSITORY, folder)
    file = project / "of the server.db"
    (project / "api.py").write_text(APP)
    (project / "own_store.py").write_text(STORE.format(path=str(file)))
    config = json.loads((project / "langgraph.json").read_text())
    config["store"] = {"path": "./own_store.py:open_store"}
    config["http"] = {"app": "./api.py:app", **http}
    (project / "langgraph.json").write_text(json.dumps(config))
    return project, file


def environ_of(project: Path) -> dict[str, str]:
    # The file that is configured beside the server's store is another one: nothing is to go there.
    return {"PYTHONPATH": str(REPOSITORY), "MEMORY_DB_PATH": str(project / "configured.db")}


def token_in(file: Path, viewer: str | None = None, scope: TokenScope = "admin") -> str:
    with MemoryStore(file) as store:
        return store.tokens.create(viewer=viewer, scope=scope)[1]


@dataclass
class Served:
    """A running server and a client of it with a token of the application."""

    url: str
    http: httpx.Client
    project: Path
    file: Path
    token: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    project, file = project_with(tmp_path_factory.mktemp("project"))
    token = token_in(file)
    bearer = {"Authorization": f"Bearer {token}"}
    with (
        langgraph_dev(project, environ_of(project)) as url,
        httpx.Client(base_url=url, headers=bearer, timeout=60) as client,
    ):
        yield Served(url, client, project, file, token)


def test_rest_answers_over_the_store_of_the_server(served: Served) -> None:
    """What a run of the server remembers is recalled over REST, and the other way round; no other file is
    opened."""
    graphs = get_sync_client(url=served.url)
    thread = graphs.threads.create()["thread_id"]
    said = {"messages": [{"role": "user", "content": SAID}]}
    graphs.runs.wait(thread, "chat", input=said, context={"user_id": "anna"})
    found = served.http.post(f"{API}/recall", json={"query": "What is my dog called?"})
    assert found.status_code == 200, found.text
    assert "Bello" in found.json()["results"][0]["memory"]["text"]
    put = {"value": {"text": "Tofu is a cat"}, "namespace": ["pets"], "key": "tofu"}
    assert served.http.post(f"{API}/semantic", json=put).status_code == 201
    item = graphs.store.get_item(["pets"], "tofu")
    assert item["value"] == {"text": "Tofu is a cat"}
    asked = {"query": "What is my dog called?", "namespace": ["memories", "anna"]}
    block = served.http.post(f"{API}/context/inject", json=asked)
    assert "Bello" in block.json()["text"]
    export = served.http.get(f"{API}/export")
    assert "Bello" in export.text
    assert not (served.project / "configured.db").exists()


def test_nobody_gets_in_without_a_token(served: Served) -> None:
    """The server lets everybody reach its custom routes, on loopback too; the memory API asks for a token
    all the same, refuses pages of other sites, and shows a viewer what that viewer may see."""
    assert httpx.get(f"{served.url}{API}/memories").status_code == 401
    assert httpx.get(f"{served.url}/memory/events").status_code == 401
    assert httpx.get(f"{served.url}/memory/metrics").status_code == 401
    posted = httpx.post(f"{served.url}/memory/mcp", json={})
    assert posted.status_code == 401
    other = served.http.get(f"{API}/memories", headers={"Origin": "https://evil.example"})
    assert other.json()["type"] == "urn:langmemory:problem:origin"
    mine = {"text": "A secret", "privacy": "private", "owner": "maria"}
    put = {"value": mine, "namespace": ["pets"], "key": "secret"}
    assert served.http.post(f"{API}/semantic", json=put).status_code == 201
    paul = {"Authorization": f"Bearer {token_in(served.file, 'paul')}"}
    path = f"{API}/memories/secret?namespace=pets"
    assert served.http.get(path).status_code == 200
    assert served.http.get(path, headers=paul).status_code == 404


async def test_models_use_it_over_mcp(served: Served) -> None:
    """At /memory/mcp the SDK's client remembers and recalls; /mcp is the server's own."""
    from tests.server.mcp_client import over_http, text_of

    address = f"{served.url}/memory/mcp?namespace=memories/mcp"
    async with over_http(address, served.token) as client:
        await client.done("remember", texts=["The piano was tuned by Ida"])
        found = await client.call("recall", query="Who tuned the piano?")
        assert "Ida" in text_of(found)
    async with over_http(f"{served.url}/mcp") as client:
        tools = (await client.session.list_tools()).tools
        assert "chat" in [one.name for one in tools]


def test_events_arrive(served: Served) -> None:
    """A change that is made through the server's own store API is told on /memory/events and /memory/ws."""
    connect = pytest.importorskip("websockets.sync.client").connect
    bearer = {"Authorization": f"Bearer {served.token}"}
    address = f"{served.url.replace('http', 'ws')}/memory/ws"
    graphs = get_sync_client(url=served.url)
    with (
        served.http.stream("GET", "/memory/events?namespace=news") as stream,
        connect(f"{address}?namespace=news", additional_headers=bearer) as socket,
    ):
        assert json.loads(socket.recv(30))["type"] == "ready"
        lines = stream.iter_lines()
        assert next(one for one in lines if one.startswith("event:")) == "event: ready"
        graphs.store.put_item(["news"], "k", {"text": "Something happened"})
        told = json.loads(socket.recv(30))
        assert (told["type"], told["id"], told["namespace"]) == ("memory", "k", ["news"])
        data = next(one for one in lines if one.startswith("data:") and "cursor" in one)
        assert json.loads(data.removeprefix("data:"))["id"] == "k"


def test_the_inspector_is_served(served: Served) -> None:
    """The page and all its parts come from below /memory/, with a policy that lets nothing else in."""
    moved = httpx.get(f"{served.url}/memory", follow_redirects=False)
    assert moved.headers["location"].endswith("memory/")
    page = httpx.get(f"{served.url}/memory/")
    assert page.headers["content-type"].startswith("text/html")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    script = httpx.get(f"{served.url}/memory/inspector/app.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert httpx.get(f"{served.url}{API}/docs").status_code == 200


def test_routes_of_the_server_are_its_own(served: Served) -> None:
    """Nothing that LangGraph's server answers is shadowed: its state, docs, store, assistants, health and
    metrics, and what it has not is not found."""
    url = served.url
    assert httpx.get(f"{url}/ok").json()["ok"] is True
    assert "langgraph_py_version" in httpx.get(f"{url}/info").json()
    assert httpx.get(f"{url}/metrics").status_code == 200
    assert "langmemory_requests" not in httpx.get(f"{url}/metrics").text
    assert "/threads" in httpx.get(f"{url}/openapi.json").json()["paths"]
    assert httpx.get(f"{url}/docs").status_code == 200
    names = httpx.post(f"{url}/assistants/search", json={}).json()
    assert {one["graph_id"] for one in names} == {"chat", "reflection", "maintenance"}
    assert "items" in httpx.post(f"{url}/store/items/search", json={"namespace_prefix": []}).json()
    assert httpx.get(f"{url}/healthz").status_code == 404


@pytest.mark.parametrize("protected", [False, True])
def test_it_is_closed_on_a_server_that_lets_everybody_in(tmp_path: Path, protected: bool) -> None:
    """Where the server listens to others, memory is closed, with what to do about it, unless the server
    asks for its own authentication before custom routes; the server itself goes on."""
    project, file = project_with(tmp_path, enable_custom_route_auth=protected)
    bearer = {"Authorization": f"Bearer {token_in(file)}"}
    with langgraph_dev(project, environ_of(project), host="0.0.0.0") as url:
        assert httpx.get(f"{url}/ok").status_code == 200
        answers = [
            httpx.get(f"{url}{path}", headers=bearer)
            for path in (f"{API}/memories", "/memory/metrics", "/memory/")
        ]
        if protected:
            assert {one.status_code for one in answers} == {200}
            assert httpx.get(f"{url}{API}/memories").status_code == 401
            return
        for one in answers:
            assert one.status_code == 403
            assert "enable_custom_route_auth" in one.json()["detail"]


async def test_a_client_signs_in_below_the_server(tmp_path: Path) -> None:
    """With OAuth, the SDK's client finds the issuer though nothing at the server's root is ours, and acts for
    who signed in."""
    from tests.server.issuer import Issuer
    from tests.server.mcp_client import over_http, text_of
    from tests.server.test_oauth_client import signing_in

    project, file = project_with(tmp_path)
    with Issuer() as issuer:
        (project / "api.py").write_text(SIGNED_IN.format(issuer=issuer.name))
        with langgraph_dev(project, environ_of(project)) as url:
            address = f"{url}/memory/mcp"
            async with over_http(address, auth=signing_in(address)) as client:
                await client.done("remember", texts=[SAID])
                assert "Bello" in text_of(await client.call("recall", query="dog"))
            well_known = "/.well-known/oauth-protected-resource"
            assert httpx.get(f"{url}{well_known}/memory/mcp").status_code == 404
    with MemoryStore(file) as store:
        assert len(store.search(("memories", "maria"))) == 1
