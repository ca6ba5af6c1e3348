"""Every page of the inspector in a real browser, over the file of `make inspect`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.server.browsing import Tabs, fits

from langmemory.stores import MemoryStore  # isort: skip
from scripts.inspect_demo import make  # isort: skip

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.integration,
    pytest.mark.thorough,
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def sample(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tabs]:
    """Pages over the sample conversation, with what reflection made of it."""
    from langmemory.server.app import create_app
    from langmemory.server.serving import serving

    path = tmp_path_factory.mktemp("sample") / "memory.db"
    make(path)
    with MemoryStore(path) as store, serving(create_app(store)) as address:
        yield Tabs(browser, f"{address}/memory/")


def searched(page: Page) -> None:
    """Ask, open whatever opens, and ask why another memory was not found."""
    page.locator(".results .bars").first.wait_for()
    page.get_by_role("combobox", name="Memory").fill("hazelnuts")
    page.get_by_role("button", name="Show the stage").click()
    page.get_by_label("Stages").wait_for()


def corrected(page: Page) -> None:
    """Open the dialog that corrects."""
    page.get_by_role("button", name="Correct").click()
    page.get_by_role("dialog").wait_for()


def forgotten(page: Page) -> None:
    """Open the dialog that shows what forgetting would take."""
    page.get_by_role("button", name="Forget…").click()
    page.get_by_text("This would go").wait_for()


def asked_for_a_token(page: Page) -> None:
    """Open the dialog for the token."""
    page.get_by_role("button", name="Token").click()
    page.get_by_role("dialog").wait_for()


def previewed(page: Page) -> None:
    """Open a run that changed something, and see what its undo would bring back."""
    page.get_by_role("link", name="2026-07-12-first-summer").click()
    page.get_by_role("button", name="Preview undo").click()
    page.get_by_role("button", name="Undo this run").wait_for()


def asked(page: Page) -> None:
    """Wait for both sides of a question."""
    page.locator(".review .said").nth(1).wait_for()


FACT = "#/memory?ns=memories&ns=lena&key=fact%2Fb686a973bb9a6b72"
STATES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "results": ("#/search?q=Who+sings+at+work%3F", searched),
    "a memory": (FACT, lambda page: page.get_by_role("heading", name="History").wait_for()),
    "correcting": (FACT, corrected),
    "forgetting": (FACT, forgotten),
    "token": ("", asked_for_a_token),
    "a run": ("#/runs", previewed),
    "reviews": ("#/reviews", asked),
}


def opened(sample: Tabs, **how: Any) -> Iterator[tuple[str, Page]]:
    """Yield every page that the navigation lists, and every further state, each by its name."""
    page = sample.open(**how)
    page.locator("#nav a").first.wait_for()
    for path in page.locator("#nav a").evaluate_all("all => all.map(e => e.hash)"):
        page.goto(sample.address + path)
        page.locator(f"#nav a[aria-current][href='{path}']").wait_for()
        page.locator("main h1").wait_for()
        yield path, page
    for name, (path, act) in STATES.items():
        page.goto("about:blank")
        page.goto(sample.address + path)
        page.locator("main h1").wait_for()
        act(page)
        page.evaluate("document.querySelectorAll('main details').forEach(e => e.open = true)")
        yield name, page
    page.context.close()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(sample: Tabs, scheme: Literal["light", "dark"], width: int) -> None:
    """axe-core finds nothing on any page, nothing scrolls sideways, nothing is logged or asked elsewhere."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is missing"
    ).Axe()
    found: list[str] = []
    for name, page in opened(sample, scheme=scheme, width=width):
        if not fits(page):
            found.append(f"{name} scrolls sideways")
        for one in axe.run(page).response["violations"]:
            where = [node["html"][:120] for node in one["nodes"][:3]]
            found.append(f"{name}: {one['impact']} {one['id']}: {one['help']} {where}")
    assert found == []
    assert sample.said == []
