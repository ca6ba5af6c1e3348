"""A browser for the tests and the screenshots: find one, or install Debian's Chromium.

    python -m scripts.browser

ends with 0 in any case: where there is no browser, the tests that need one are skipped, and say why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NONE = (
    "there is no Chromium or Chrome on the PATH: install Debian's package `chromium` (as root, "
    "`make browser` does), or run `playwright install chromium`"
)


def find() -> str | None:
    """Return the path of a browser: one on the PATH, else the one that Playwright has downloaded."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


def install() -> None:
    """Install Debian's package with apt-get.

    Raises:
        subprocess.CalledProcessError: apt-get failed; it has said why.
    """
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "--quiet"],
        ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", "chromium"],
    ):
        subprocess.run(command, env=environment, check=True)


def main() -> None:
    """Say where the browser is, after installing one where that is possible."""
    if find() is None and shutil.which("apt-get") and os.geteuid() == 0:
        try:
            install()
        except subprocess.CalledProcessError as error:
            print(f"{error.cmd[0]} ended with {error.returncode}; tests in a browser are skipped.")
    print(find() or f"Tests in a browser are skipped: {NONE}.")


if __name__ == "__main__":
    main()
