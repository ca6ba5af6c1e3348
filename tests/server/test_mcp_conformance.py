"""MCP's own conformance suite (`@modelcontextprotocol/conformance`) against `/memory/mcp`.

Its scenarios call tools, resources and prompts of a server made for them. So the endpoint answers here as
that server, by the same door, endpoint and module of the SDK. What any server has to pass runs against memory
itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("mcp", reason='the extra "server" is not installed')
pytest.importorskip("uvicorn", reason='the extra "server" is not installed')

from langmemory.server.app import create_app  # isort: skip
from langmemory.server.mcp import answering  # isort: skip
from langmemory.server.mcp.sdk import INVALID_PARAMS, Call, Json, Refusal  # isort: skip
from langmemory.server.serving import serving  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

pytestmark = [pytest.mark.integration, pytest.mark.thorough]

SUITE: Final = ["npx", "--yes", "--offline", "@modelcontextprotocol/conformance"]
NOT_OFFERED: Final = {
    "logging-set-level": "the server offers no logging to clients",
    "tools-call-with-logging": "the server offers no logging to clients",
    "completion-complete": "the server completes no arguments",
    "tools-call-sampling": "the server asks the client for nothing, since requests have no session",
    "tools-call-elicitation": "the server asks the client for nothing",
    "elicitation-sep1034-defaults": "the server asks the client for nothing",
    "elicitation-sep1330-enums": "the server asks the client for nothing",
    "resources-subscribe": "resources are not subscribed to; /memory/events tells of changes",
    "resources-unsubscribe": "resources are not subscribed to",
}
"""Scenarios of capabilities that the server does not declare."""
OF_ANY_SERVER: Final = (
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection",
)  # fmt: skip

PNG: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
TEXT: Final = {"type": "text", "text": "This is a simple text response for testing."}
IMAGE: Final = {"type": "image", "data": PNG, "mimeType": "image/png"}
RESOURCE: Final = {
    "type": "resource",
    "resource": {"uri": "test://embedded", "mimeType": "text/plain", "text": "Embedded."},
}
CONTENTS: Final[dict[str, list[Json]]] = {
    "test_simple_text": [TEXT],
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [RESOURCE],
    "test_multiple_content_types": [TEXT, IMAGE, RESOURCE],
    "test_error_handling": [TEXT],
    "test_tool_with_progress": [TEXT],
}
PROMPTS: Final[dict[str, list[str]]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}


async def fixture(call: Call, method: str, params: Json) -> Json:
    """Answer as the server that the suite's scenarios are made for."""
    name = params.get("name", "")
    if method == "tools/list":
        schema = {"type": "object", "properties": {}, "additionalProperties": False}
        return {
            "tools": [{"name": one, "description": one, "inputSchema": schema} for one in CONTENTS]
        }
    if method == "tools/call":
        if name not in CONTENTS:
            raise Refusal(INVALID_PARAMS, f"There is no tool {name}.")
        if name == "test_tool_with_progress":
            for done in (0, 50, 100):
                await call.progress(done, 100, "Working")
        return {"content": CONTENTS[name], "isError": name == "test_error_handling"}
    if method == "resources/read":
        uri = params["uri"]
        kind = {"blob": PNG} if uri.endswith("binary") else {"text": f"What {uri} says"}
        return {"contents": [{"uri": uri, "mimeType": "image/png", **kind}]}
    if method == "resources/list":
        named = [{"uri": f"test://static-{one}", "name": one} for one in ("text", "binary")]
        return {"resources": named}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "data"}]}
    if method == "prompts/list":
        return {
            "prompts": [
                {
                    "name": one,
                    "description": one,
                    "arguments": [
                        {"name": each, "description": each, "required": True} for each in taken
                    ],
                }
                for one, taken in PROMPTS.items()
            ]
        }
    content = {"test_prompt_with_embedded_resource": RESOURCE, "test_prompt_with_image": IMAGE}
    said = content.get(name, {"type": "text", "text": str(params.get("arguments"))})
    return {"messages": [{"role": "user", "content": said}]}


def suite(address: str, folder: Path, *options: str) -> dict[str, bool]:
    """Run the suite; return by scenario whether all its checks passed."""
    ran = subprocess.run(
        [*SUITE, "server", "--url", address, "-o", str(folder / "results"), *options],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env=os.environ,
    )
    rows = re.findall(r"^([✓✗]) ([\w-]+): \d+ passed, \d+ failed", ran.stdout, re.MULTILINE)
    found = {name: mark == "✓" for mark, name in rows}
    if not found:  # of one scenario there is no table
        passed = re.search(r"Passed: (\d+)/(\d+)", ran.stdout)
        assert passed, ran.stdout + ran.stderr
        found = {options[-1]: passed[1] == passed[2] != "0"}
    return found


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    if shutil.which("npx") is None:
        pytest.skip("there is no npx")
    if subprocess.run([*SUITE, "--help"], capture_output=True, timeout=120).returncode:
        pytest.skip(
            "npm has no @modelcontextprotocol/conformance in its cache, or Node is before 22"
        )


def test_the_protocol_is_spoken_as_its_suite_wants(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every scenario passes but those of capabilities that the server does not declare."""

    def made(*_: Any) -> Any:
        return fixture

    monkeypatch.setattr(answering, "answering", made)
    with serving(create_app(store)) as address:
        found = suite(f"{address}/memory/mcp", tmp_path)
    assert {name for name, passed in found.items() if not passed} == set(NOT_OFFERED)
    assert len(found) >= 30


@pytest.mark.parametrize("scenario", OF_ANY_SERVER)
def test_memory_passes_what_any_server_has_to(
    store: MemoryStore, tmp_path: Path, scenario: str
) -> None:
    """The handshake, the lists and the guard against DNS rebinding, with memory's own tools."""
    with serving(create_app(store)) as address:
        found = suite(f"{address}/memory/mcp", tmp_path, "--scenario", scenario)
    assert found == {scenario: True}
