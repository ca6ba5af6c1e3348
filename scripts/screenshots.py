"""Take the screenshots of the inspector that stand in the README and the docs.

    python -m scripts.screenshots [NAME …]

They show the sample conversation, in headless Chromium, and go to `docs/images/inspector-*.png`. Look at each
before you commit it.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from langmemory.server.app import create_app
from langmemory.server.serving import serving
from langmemory.stores import MemoryStore
from scripts.browser import ARGUMENTS, NONE, find
from scripts.inspect_demo import make

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
MOST_BYTES = 150_000
COLOURS = 128
SCALE = 1.5
"""Pixels of the image for one of the page: sharp on most screens, and small enough."""


def ready(page: Page) -> None:
    """Wait for the page alone."""
    page.locator("main h1").wait_for()


def found(page: Page) -> None:
    """Ask twice: for the first question the models are loaded, and the page says how long it took."""
    for _ in range(2):
        page.reload()
        page.locator(".results .bars").first.wait_for()


def corrected(page: Page) -> None:
    """Correct the memory, so that its history has a difference."""
    page.get_by_role("button", name="Correct").click()
    page.get_by_label("What it is to say").fill("Lena works at Aigua Clara, four days a week.")
    page.get_by_label("Why").fill("four days, Fridays off")
    page.get_by_role("button", name="Save").click()
    page.locator(".history ins", has_text="four").wait_for()
    page.get_by_role("button", name="Close").click()


def in_may(page: Page) -> None:
    """Move the first slider to what held in May."""
    slider = page.get_by_label("As of")
    slider.focus()
    for _ in range(200):
        page.keyboard.press("ArrowLeft")
        if "May" in str(slider.get_attribute("aria-valuetext")):
            break
    slider.blur()


def then(page: Page) -> None:
    """Move the graph to May, when Lena lived in Hamburg."""
    in_may(page)
    page.locator(".picture a:not(.faint) .name-of", has_text="Hamburg").wait_for()


def both_sides(page: Page) -> None:
    """Wait for both sides of a question."""
    page.locator(".review .said").nth(1).wait_for()


@dataclass(frozen=True, kw_only=True, slots=True)
class Shot:
    """One picture."""

    path: str
    """Of the inspector."""
    act: Callable[[Page], None] = ready
    schemes: tuple[Literal["light", "dark"], ...] = ("light",)
    height: int = 760


FACT = "#/memory?ns=memories&ns=lena&key=fact%2Fb686a973bb9a6b72"
SHOTS = {
    "search": Shot(
        path="#/search?q=Can+I+bring+hazelnut+cookies+for+Emil%3F",
        act=found,
        schemes=("light", "dark"),
    ),
    "memory": Shot(path=FACT, act=corrected, schemes=("dark",)),
    "timeline": Shot(path="#/timeline", act=in_may),
    "graph": Shot(path="#/graph", act=then, schemes=("dark",)),
    "reviews": Shot(path="#/reviews", act=both_sides, height=520),
}


def compressed(taken: bytes) -> bytes:
    """Return a PNG with a palette: pages have few colours."""
    image = Image.open(io.BytesIO(taken)).convert("RGB")
    packed = io.BytesIO()
    small = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(packed, "PNG", optimize=True)
    return packed.getvalue()


def take(browser: Any, address: str, name: str, shot: Shot) -> None:
    """Write the pictures of one shot, one for each scheme."""
    for scheme in shot.schemes:
        context = browser.new_context(
            viewport={"width": 1200, "height": shot.height},
            device_scale_factor=SCALE,
            color_scheme=scheme,
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
        )
        page = context.new_page()
        page.goto(f"{address}/memory/{shot.path}")
        shot.act(page)
        packed = compressed(page.screenshot())
        context.close()
        path = IMAGES / f"inspector-{name}-{scheme}.png"
        if len(packed) > MOST_BYTES:
            sys.exit(f"{path.name} has {len(packed):,} bytes, more than {MOST_BYTES:,}.")
        path.write_bytes(packed)
        print(f"{path.name}  {len(packed) // 1000} kB")


def main() -> None:
    """Take those that are named, or all."""
    names = sys.argv[1:] or list(SHOTS)
    if unknown := set(names) - set(SHOTS):
        sys.exit(f"There is no {', '.join(sorted(unknown))}; there are {', '.join(SHOTS)}.")
    executable = find()
    if executable is None:
        sys.exit(f"Nothing was taken: {NONE}.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "memory.db"
        make(path)
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        with MemoryStore(path) as store, serving(create_app(store)) as address:
            for name in names:
                take(browser, address, name, SHOTS[name])
        browser.close()


if __name__ == "__main__":
    main()
