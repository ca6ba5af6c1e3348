"""MCP with real clients and real processes: the SDK's own, LangGraph's adapters, the Inspector."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedModel, tool_call
from tests.server.client import token_of
from tests.server.mcp_client import (
    ENVIRONMENT,
    RUN,
    SECOND,
    command_in,
    over_http,
    over_stdio,
    plain,
    server,
    text_of,
)

from langmemory.stores import MemoryStore  # isort: skip

pytestmark = [pytest.mark.integration, pytest.mark.thorough]

SAID = "Tofu the cat sleeps on the piano"
ME = ("memories", "me")


async def test_stdio_serves_one_file(tmp_path: Path) -> None:
    """`langmemory mcp` makes the file, remembers, recalls, and logs no text."""
    log = tmp_path / "log"
    with log.open("w") as errors:
        async with over_stdio(tmp_path, errors=errors) as client:
            await client.done("remember", texts=[SAID])
            found = await client.call("recall", query="Where does Tofu sleep?")
            assert SAID in text_of(found)
            assert SAID in text_of(await client.call("search", query="Tofu"))
            assert "There is no memory" in await client.refused("get_memory", id="tofu")
    assert "ofu" not in log.read_text()
    with MemoryStore(tmp_path / "memory.db") as store:
        assert [one.value["content"] for one in store.search(ME)] == [SAID]


async def test_clients_in_any_folder_share_one_memory(tmp_path: Path) -> None:
    """Without a file in the command it is one in the home directory that nobody else may read: two clients
    that run at once see what the other remembers, and nothing is on stderr or in their folders."""
    folders = [tmp_path / name for name in ("home", "one", "two")]
    for folder in folders:
        folder.mkdir()
    home, one, two = folders
    log = tmp_path / "log"
    with log.open("w") as errors:
        first = over_stdio(one, home=home, errors=errors)
        second = over_stdio(two, home=home, errors=errors)
        async with first as claude, second as cursor:
            assert (await claude.done("recall", query="Tofu"))["memories"] == []
            await claude.done("remember", texts=[SAID])
            assert SAID in text_of(await cursor.call("recall", query="Where is Tofu?"))
            await cursor.done("remember", texts=["Ada tunes the piano"])
            assert "Ada" in text_of(await claude.call("recall", query="piano"))
    assert log.read_text() == ""
    assert not [*one.iterdir(), *two.iterdir()]
    file = home / ".langmemory" / "memory.db"
    assert [oct(path.stat().st_mode)[-3:] for path in (file.parent, file)] == ["700", "600"]


async def test_stdio_acts_for_its_viewer(tmp_path: Path) -> None:
    """Viewer and namespace are those of the command: what is private to others is not there."""
    place = ("team", "house")
    with MemoryStore(tmp_path / "memory.db") as store:
        said = [{"role": "user", "content": SAID}]
        store.remember(place, said, thread_id="t", owner="maria", privacy="private")
    options = "-n", "team/house", "--viewer"
    async with over_stdio(tmp_path, *options, "ben") as client:
        assert (await client.done("recall", query="Tofu"))["memories"] == []
        await client.done("remember", texts=["Ben hates the piano"], private=True)
    async with over_stdio(tmp_path, *options, "maria") as client:
        [found] = (await client.done("recall", query="Tofu and the piano"))["memories"]
        assert found["text"] == SAID


def test_nothing_but_the_protocol_is_on_stdout(tmp_path: Path) -> None:
    """What Python or a library below it prints meanwhile goes to stderr."""
    program = """
import anyio, os, sys
from langmemory.server.mcp import sdk
async def answer(call, method, params):
    print("printed"); os.system("echo echoed"); os.write(1, b"written\\n")
    return {"tools": []}
anyio.run(sdk.over_stdio, sdk.server(answer, version="1", instructions=""))
"""
    messages: list[dict[str, Any]] = [
        {"method": "initialize", "id": 1, "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"method": "tools/list", "id": 2},
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=ENVIRONMENT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    answers = []
    for one in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **one}) + "\n")
        process.stdin.flush()
        if "id" in one:
            answers.append(json.loads(process.stdout.readline()))
    rest, errors = process.communicate(timeout=30)
    assert [one["id"] for one in answers] == [1, 2]
    assert rest == ""
    assert {"printed", "echoed", "written"} <= set(errors.split())
    assert process.returncode == 0


async def test_http_serves_a_token(tmp_path: Path) -> None:
    """A running `langmemory serve` answers at /memory/mcp, for the viewer of the token."""
    with MemoryStore(tmp_path / "memory.db") as store:
        maria, ben = (token_of(store, who, ME) for who in ("maria", "ben"))
    with server(tmp_path, "--require-token") as address:
        async with over_http(address, maria) as client:
            await client.done("remember", texts=[SAID], private=True)
            assert client.progress == [(0, 1), (1, 1)]
            assert SAID in text_of(await client.call("recall", query="Tofu"))
        async with over_http(address, ben) as client:
            assert (await client.done("recall", query="Tofu"))["memories"] == []
        with pytest.raises(Exception):  # noqa: B017, PT011 - of the transport, another in each major
            async with over_http(address):
                pass


@pytest.mark.skipif(not SECOND, reason="the first major of the SDK does not speak it")
async def test_http_speaks_the_protocol_without_a_handshake(tmp_path: Path) -> None:
    """Clients of the second major ask without initialize, each request by itself."""
    from mcp import Client

    with server(tmp_path) as address:
        async with Client(f"{address}?namespace=memories/me") as client:
            assert client.protocol_version >= "2026"
            await client.call_tool("remember", {"texts": [SAID]})
            found = plain(await client.call_tool("recall", {"query": "Tofu"}))
    assert SAID in text_of(found)


async def test_a_langgraph_agent_uses_the_tools(tmp_path: Path) -> None:
    """With langchain-mcp-adapters, on stdio and over HTTP: one agent remembers, another one recalls."""
    adapters = pytest.importorskip(
        "langchain_mcp_adapters.client",
        reason="langchain-mcp-adapters needs the first major of the MCP SDK",
    )
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    async def answered(connection: dict[str, Any], *script: Any) -> list[Any]:
        tools = await adapters.MultiServerMCPClient({"memory": connection}).get_tools()
        model = ScriptedModel(script=list(script)).bind_tools(tools)

        async def think(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition)
        graph.add_edge("tools", "think")
        asked = {"messages": [("user", "Where does Tofu sleep?")]}
        found: list[Any] = (await graph.compile().ainvoke(asked))["messages"]
        return found

    stdio = {
        "transport": "stdio",
        "command": RUN[0],
        "args": [*command_in(tmp_path)[1:], "mcp"],
        "env": ENVIRONMENT,
        "cwd": str(tmp_path),
    }
    said = await answered(stdio, tool_call("remember", texts=[SAID]), "Noted.")
    assert "Remembered 1 memory" in str(said[2].content)
    with server(tmp_path) as address:
        http = {"transport": "streamable_http", "url": f"{address}?namespace=memories/me"}
        said = await answered(http, tool_call("recall", query="Where does Tofu sleep?"), "There.")
        assert SAID in str(said[2].content)
        assert said[2].artifact["structured_content"]["memories"][0]["text"] == SAID
        refused = await answered(http, tool_call("get_memory", id="nothing"), "Oh.")
        assert "There is no memory" in str(refused[2].content)


@pytest.mark.thorough
def test_the_inspector_lists_and_calls_the_tools(tmp_path: Path) -> None:
    """The command line of @modelcontextprotocol/inspector, where npm has it in its cache."""
    inspector = ["npx", "--yes", "--offline", "@modelcontextprotocol/inspector", "--cli"]
    if shutil.which("npx") is None:
        pytest.skip("there is no npx")
    helped = subprocess.run([*inspector, "--help"], capture_output=True, text=True, timeout=120)
    if helped.returncode:
        pytest.skip("npm does not have @modelcontextprotocol/inspector in its cache")
    if "--connect-timeout" in helped.stdout:
        inspector += ["--connect-timeout", "100000"]

    def inspect(*words: str) -> dict[str, Any]:
        paths = ["env", f"PYTHONPATH={ENVIRONMENT['PYTHONPATH']}"]
        command = [*inspector, *paths, *command_in(tmp_path), "mcp", *words]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert ran.returncode == 0, ran.stderr
        found: dict[str, Any] = json.loads(ran.stdout)
        return found

    assert len(inspect("--method", "tools/list")["tools"]) == 8
    stored = inspect("--method", "tools/call", "--tool-name", "remember", "--tool-arg", f'texts=["{SAID}"]')  # fmt: skip  # noqa: E501
    assert len(stored["structuredContent"]["ids"]) == 1
    found = inspect("--method", "tools/call", "--tool-name", "recall", "--tool-arg", "query=Tofu")
    assert SAID in text_of(found)
    assert inspect("--method", "resources/read", "--uri", "memory://core")["contents"]
    assert inspect("--method", "prompts/list")["prompts"][0]["name"] == "memory-block"
