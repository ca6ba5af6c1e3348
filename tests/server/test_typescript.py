"""The TypeScript client, under Node against a running server."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from scripts import typescript_client  # isort: skip

pytestmark = pytest.mark.integration

SCRIPT = """
import { MemoryClient, MemoryError } from "%s/index.js";
const memory = new MemoryClient("%s/", { token: "%s" });
const namespace = ["home", "a/b 100%%"];
const turns = await memory.remember(
  { namespace, thread_id: "t", messages: [{ role: "user", content: "My sister Änna lives in Lisbon." }] });
const { results } = await memory.recall({ query: "Where is my sister?", namespace });
await memory.putSemantic({ key: "x/y z?", namespace, value: { text: "tea" } });
const got = await memory.getMemory({ key: "x/y z?", namespace });
const listed = await memory.listSemantic({ namespace: ["home"], limit: 5 });
let refusal = null;
try {
  await memory.getMemory({ key: "nobody", namespace }, { viewer: "Zoë" });
} catch (error) {
  refusal = [error instanceof MemoryError, error.status, error.kind, error.message];
}
const rows = [];
for await (const row of await memory.export()) rows.push(row);
const text = results[0].memory.value.content;
console.log(JSON.stringify({ turns, text, got, listed, refusal, rows: rows.length }));
"""

USE = """
import { MemoryClient, type Recall } from "./index.js";
const memory = new MemoryClient("http://localhost", { viewer: "mia" });
export const found: Promise<Recall> = memory.recall({ query: "tea", limit: 3 }, { headers: {} });
// @ts-expect-error: a query is a text
memory.recall({ query: 5 });
"""


def test_a_program_under_node(store: MemoryStore, tmp_path: Path) -> None:
    """It remembers, recalls and lists in any namespace, by any key, and throws what the server refuses."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    client = typescript_client.build(tmp_path / "client")
    token = store.tokens.create(viewer=None, scope="admin")[1]
    with serving(create_app(store, settings=ServerSettings(require_token=True))) as address:
        script = tmp_path / "program.mjs"
        script.write_text(SCRIPT % (client.as_posix(), address, token), "utf-8")
        done = subprocess.run([node, script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["text"] == "My sister Änna lives in Lisbon."
    assert (seen["got"]["key"], seen["got"]["namespace"]) == ("x/y z?", ["home", "a/b 100%"])
    assert [one["key"] for one in seen["listed"]["items"]] == ["x/y z?"]
    assert seen["refusal"][:3] == [True, 404, "not-found"]
    assert "nobody" in seen["refusal"][3]
    assert seen["rows"] >= 2


def test_the_declarations_are_typescript(tmp_path: Path) -> None:
    """The compiler takes them, strictly, and refuses a wrong argument."""
    compiler = shutil.which("tsc")
    if compiler is None:
        pytest.skip("the TypeScript compiler is not installed")
    client = typescript_client.build(tmp_path / "client")
    (client / "use.ts").write_text(USE, "utf-8")
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "use.ts"]
    done = subprocess.run([compiler, *options], cwd=client, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
