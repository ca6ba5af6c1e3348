"""Build the plugin of Claude Code: the pages of ``plugins/claude-code``, and what derives from the package.

``make dist`` builds it into ``dist/claude-code`` and checks it; ``python -m scripts.plugin FOLDER`` builds it
elsewhere.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from langmemory import __version__
from langmemory.parts.coding.client import WAIT
from langmemory.parts.coding.events import SCRIPT, WAITS
from langmemory.parts.coding.programs import PROGRAMS

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "plugins" / "claude-code"
NAME = "langmemory"
ABOUT = (
    "Long-term memory on this machine: remembers sessions, and gives each prompt what answers it"
)


def files() -> dict[str, Any]:
    """Return the files that derive from the package, by their paths in the plugin."""
    program = PROGRAMS["claude-code"]
    hooks = {
        event: [
            program.entry(
                event, " ".join([SCRIPT, *([WAIT] if kind in WAITS else []), program.name, event])
            )
        ]
        for event, kind in program.events.items()
    }
    author = {"name": "The langmemory authors"}
    plugin = {"name": NAME, "version": __version__, "description": ABOUT, "author": author}
    listed = {"name": NAME, "source": "./", "description": ABOUT}
    return {
        ".claude-plugin/plugin.json": plugin,
        ".claude-plugin/marketplace.json": {
            "name": NAME, "description": ABOUT, "owner": author, "plugins": [listed],
        },
        ".mcp.json": {"mcpServers": {"memory": {"command": "langmemory", "args": ["mcp"]}}},
        "hooks/hooks.json": {"hooks": hooks},
    }  # fmt: skip


def build(folder: Path) -> Path:
    """Write the plugin into a folder that is not there yet."""
    shutil.copytree(PAGES, folder)
    for name, value in files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", "utf-8")
    return folder


def check(folder: Path, programs: Path | None = None) -> None:
    """Exit where a page does not say what it is for, a command is not in ``programs``, or Claude Code refuses
    the plugin, where it is installed."""
    for page in (*folder.glob("commands/*.md"), *folder.glob("skills/*/SKILL.md")):
        if not re.match(r"---\n(?:.+\n)*?description: \S", page.read_text("utf-8")):
            sys.exit(f"{page} has no description in its front matter.")
    for name in (SCRIPT, "langmemory"):
        if programs is not None and not (programs / name).exists():
            sys.exit(f"The plugin runs {name}, which the wheel does not have.")
    if claude := shutil.which("claude"):
        done = subprocess.run(
            [claude, "plugin", "validate", folder], capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"claude plugin validate failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    check(build(Path(sys.argv[1])))
