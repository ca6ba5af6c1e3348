"""Parts: nothing outside a part imports it, and what is switched off is gone while the rest works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.source import GROUP, PACKAGE, modules, source

from langmemory.hooks import BUILT_IN, OFF  # isort: skip

pytestmark = pytest.mark.xdist_group(GROUP)

PARTS = PACKAGE / "parts"
PUBLIC = (PACKAGE / "__init__.py", PACKAGE / "short_term.py")
NAMES = [one.name for one in BUILT_IN]

ASKED = """
import gc, json, os, sys
gc.disable()
from langmemory.hooks import BUILT_IN, OFF

def ask():
    from langmemory import MemoryStore
    with MemoryStore(":memory:") as store:
        store.put(("a",), "k", {"text": "Tofu is a cat"})
        found = len(store.recall("Which cat?", ("a",)).results)
        rooms = {part.name: [name for name in part.rooms if hasattr(store, name)] for part in BUILT_IN}
    loaded = [name for name in sys.modules if name.startswith("langmemory.parts.")]
    from langmemory.cli.app import COMMANDS
    from langmemory.server.api import all_routes
    from langmemory.server.mcp.tools import all_tools
    commands = [one for each in COMMANDS.values() for one in each]
    routes = [route.path for each in all_routes() for route in each.declared]
    tools = {name: one.work.__module__ for name, one in all_tools().items()}
    return {part.name: {
        "found": found,
        "rooms": rooms[part.name],
        "loaded": [one for one in loaded if one.split(".")[2] == part.name],
        "commands": [one for one in part.commands if one in commands],
        "routes": [path for path in routes if path.split("/")[1] in part.rooms],
        "tools": [name for name, module in tools.items() if module in part.agent_tools],
    } for part in BUILT_IN}

answers = {}
for off in ("", *(part.name for part in BUILT_IN)):
    os.environ[OFF] = off
    for name in [one for one in sys.modules if one.split(".")[0] == "langmemory"]:
        del sys.modules[name]
    answers[off] = ask()
print(json.dumps(answers))
"""
"""Prints what of each part is there, with each part off in turn: the package is imported anew for each, and
the libraries once."""


@cache
def asked() -> dict[str, dict[str, dict[str, object]]]:
    """Return what of each part is there, by the part that is off, or by an empty name."""
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    answers: dict[str, dict[str, dict[str, object]]] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("name", NAMES)
def test_a_part_that_is_switched_off_is_gone(name: str) -> None:
    """Its rooms, routes, tools and commands are there with it and gone without it; memory works without."""
    with_it, without = asked()[""][name], asked()[name][name]
    [part] = [one for one in BUILT_IN if one.name == name]
    assert with_it["rooms"] == list(part.rooms)
    assert with_it["commands"] == list(part.commands)
    assert bool(with_it["routes"]) == bool(part.rooms)
    assert bool(with_it["tools"]) == bool(part.agent_tools)
    assert without == {
        "found": 1,
        "rooms": [],
        "loaded": [],
        "commands": [],
        "routes": [],
        "tools": [],
    }


@pytest.mark.parametrize("name", NAMES)
def test_nothing_outside_a_part_imports_it(name: str) -> None:
    """What a part registers is found by its name alone, but for parts that say they need it, and the public
    names that `langmemory` tells type checkers."""
    needing = [PARTS / one.name for one in BUILT_IN if name in (one.name, *one.needs)]
    prefix = f"langmemory.parts.{name}"
    wrong = [
        f"{module.relative_to(PACKAGE)} imports {node.module}"
        for module in modules()
        if module not in PUBLIC and not set(needing) & {*module.parents}
        for node in source(module).imports
        if f"{getattr(node, 'module', '')}.".startswith(f"{prefix}.")
        or any(f"{alias.name}.".startswith(f"{prefix}.") for alias in node.names)
    ]
    assert wrong == []


def test_an_unknown_part_cannot_be_switched_off(tmp_path: Path) -> None:
    """A name that is no part is refused with those there are, in one line at the command line."""
    done = subprocess.run(
        [sys.executable, "-m", "langmemory", "--help"], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, OFF: "teams"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "'teams', which is no part; there are team" in done.stderr
    assert len(done.stderr.splitlines()) == 1
