"""Makes a release, all but the upload: version, changelog, checks, packages, commit and tag.

``python -m scripts.release 0.2.0`` runs ``.ci/run``, which takes a quarter of an hour. Where a step fails,
the checkout is as it was before. The last line it prints is the command that uploads.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
VERSION: Final = "langmemory/__init__.py"
CHANGELOG: Final = "CHANGELOG.md"
CHECKS: Final = ((".ci/run",), ("make", "dist"))
UPLOAD: Final = "twine upload dist/langgraph_langmemory-{version}* && git push origin v{version}"
_LINE: Final = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
UNRELEASED: Final = "## Unreleased\n"


def release(version: str, *, root: Path = ROOT, checks: Sequence[Sequence[str]] = CHECKS) -> None:
    """Make a release in a checkout, and exit with what is wrong where something is."""
    source, changes = root / VERSION, root / CHANGELOG
    before = _git(root, "rev-parse", "HEAD")
    code, notes = source.read_text("utf-8"), changes.read_text("utf-8")
    _check(root, version, code, notes)
    day = datetime.now(UTC).date().isoformat()
    source.write_text(_LINE.sub(f'__version__ = "{version}"', code), "utf-8")
    changes.write_text(
        notes.replace(UNRELEASED, f"{UNRELEASED}\n## {version} - {day}\n", 1), "utf-8"
    )
    _git(root, "commit", "--quiet", "--all", "--message", f"Release {version}")
    done = False
    try:
        for command in checks:  # after the commit: the packages have its time
            if subprocess.run(command, cwd=root).returncode:
                sys.exit(f"{' '.join(command)} failed; the checkout is as it was before.")
        done = True
    finally:
        if not done:
            _git(root, "reset", "--quiet", "--hard", before)
    _git(root, "tag", "--annotate", f"v{version}", "--message", f"Release {version}")
    print(f"v{version} is tagged. Upload it with:\n{UPLOAD.format(version=version)}")


def _check(root: Path, version: str, code: str, notes: str) -> None:
    """Exit where the checkout or the version is not fit for a release."""
    current = _LINE.findall(code)[0]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"{version!r} is no version; write it as 1.2.3.")
    if _parts(version) < _parts(current):
        sys.exit(f"{version} is before {current}, which {VERSION} has.")
    if changed := _git(root, "status", "--porcelain"):
        sys.exit(f"Commit or remove first:\n{changed}")
    if _git(root, "tag", "--list", f"v{version}"):
        sys.exit(f"v{version} is released already; choose a later version.")
    news = notes.partition(UNRELEASED)[2].partition("\n## ")[0]
    if not news.strip():
        sys.exit(f"{CHANGELOG} has nothing under {UNRELEASED.strip()!r}.")


def _parts(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"git {arguments[0]} failed: {done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Pass the version: python -m scripts.release 0.2.0")
    release(sys.argv[1])
