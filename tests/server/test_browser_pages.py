"""Every page of the inspector in a real browser, over the file of `make inspect`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from langmemory.changes import AddMemory, ChangeSet, OpenReview
from tests.server.browsing import WIDTHS, Tabs, fits

from langmemory.stores import MemoryStore  # isort: skip
from scripts.inspect_demo import make  # isort: skip

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.integration,
    pytest.mark.thorough,
    pytest.mark.xdist_group("browser"),
]


LENA = ("memories", "lena")
QUESTION = ChangeSet(
    namespace=LENA,
    run_id="reflect/1",
    kind="reflection",
    reason="two days of birth",
    changes=(
        AddMemory(key="fact/3", value={"text": "Ida was born on 3 May."}),
        AddMemory(key="fact/5", value={"text": "Ida was born on 5 May."}),
        OpenReview(
            id="review/1",
            about="contradiction",
            question="Which of these holds?",
            memories=("fact/5", "fact/3"),
            options={"both": (), "new": ()},
        ),
    ),
)
CHOIR = "# Choir\n\n## Rehearsals\n\nThe choir of the works council rehearses on Tuesdays.\n"


@pytest.fixture(scope="module")
def sample(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tabs]:
    """Pages over the sample conversation, with what reflection made of it, and a question."""
    from langmemory.server.app import create_app
    from langmemory.server.serving import serving

    path = tmp_path_factory.mktemp("sample") / "memory.db"
    make(path)
    with MemoryStore(path) as store, serving(create_app(store)) as address:
        store.documents.add(text=CHOIR, name="choir.md", namespace=LENA)
        store.changes.apply(QUESTION)
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


def planned(page: Page) -> None:
    """See what a night would do now."""
    page.get_by_role("button", name="What would a night do now?").click()
    page.get_by_role("heading", name="It would").wait_for()


def asked(page: Page) -> None:
    """Wait for both sides of a question."""
    page.locator(".review .said").nth(1).wait_for()


def read_through(page: Page) -> None:
    """Open a document, and the part that answers."""
    page.get_by_role("link", name="choir.md#L1-L5").click()
    page.get_by_text("rehearses on Tuesdays").wait_for()
    page.locator("li.part[aria-current]").wait_for()


FACT = "#/memory?ns=memories&ns=lena&key=fact%2Fb686a973bb9a6b72"
STATES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "results": ("#/search?q=Who+sings+at+work%3F", searched),
    "a memory": (FACT, lambda page: page.get_by_role("heading", name="History").wait_for()),
    "a turn": (
        "#/memory?ns=memories&ns=lena&key=2026-02-03-oma-hilde%2F2026-02-03%2F09",
        lambda page: page.get_by_role("heading", name="Where it was said").wait_for(),
    ),
    "correcting": (FACT, corrected),
    "forgetting": (FACT, forgotten),
    "a document": ("#/documents?q=When+does+the+choir+rehearse%3F", read_through),
    "token": ("", asked_for_a_token),
    "a run": ("#/runs", previewed),
    "reviews": ("#/reviews", asked),
    "a night": ("#/nights", planned),
    "around somebody": (
        "#/graph?entity=person%2Fbente-00e3",
        lambda page: page.get_by_role("link", name="Show all").wait_for(),
    ),
}


def listed(tabs: Tabs, page: Page) -> Iterator[str]:
    """Show one page after another of those that the navigation lists, and yield the path of each."""
    page.locator("#nav a").first.wait_for()
    for path in page.locator("#nav a").evaluate_all("all => all.map(e => e.hash)"):
        page.goto("about:blank")
        page.goto(tabs.address + path)
        page.locator(f"#nav a[aria-current][href='{path}']").wait_for()
        page.locator("main h1").wait_for()
        yield path


def opened(sample: Tabs, *, width: int) -> Iterator[tuple[str, Page]]:
    """Yield every page that the navigation lists, and every further state, each by its name."""
    page = sample.open(width=width)
    for path in listed(sample, page):
        yield path, page
    for name, (path, act) in STATES.items():
        page.goto("about:blank")
        page.goto(sample.address + path)
        page.locator("main h1").wait_for()
        act(page)
        page.evaluate("document.querySelectorAll('main details').forEach(e => e.open = true)")
        yield name, page
    page.context.close()


def test_everybody_can_read_it(sample: Tabs) -> None:
    """axe-core finds nothing on any page, narrow or wide, light or dark; none scrolls sideways, logs or asks
    elsewhere."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is missing"
    ).Axe()
    found: list[str] = []
    for name, page in opened(sample, width=360):
        violations = []
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            if not fits(page):
                found.append(f"{name} scrolls sideways at {width}")
            violations += axe.run(page).response["violations"]
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate("axe.run({runOnly: 'color-contrast', resultTypes: ['violations']})")
        assert dark["passes"], f"axe saw no text in {name}"
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 360, "height": WIDTHS[360]})
        for one in violations + dark["violations"]:
            where = [node["html"][:120] for node in one["nodes"][:3]]
            found.append(f"{name}: {one['impact']} {one['id']}: {one['help']} {where}")
    assert found == []
    assert sample.said == []


def test_why_in_three_clicks(sample: Tabs) -> None:
    """Whoever types what the assistant said is three clicks from the turn in which the person said so."""
    page = sample.open(width=1280)
    page.get_by_role("searchbox").fill("No hazelnuts in the cake, because of Emil.")
    page.get_by_role("button", name="Search", exact=True).click()
    found = page.get_by_role("link", name="Emil is allergic to hazelnuts.", exact=True)
    found.locator("xpath=ancestor::li").locator(".bars").first.wait_for()
    found.click()
    source = page.locator("section", has=page.get_by_role("heading", name="What it rests on"))
    turn = source.get_by_role("link", name="Emil is badly allergic to hazelnuts")
    turn.wait_for()
    assert "Lena" in source.inner_text()
    assert "3 Feb 2026" in source.inner_text()
    turn.click()
    page.get_by_role("heading", name="Emil is badly allergic to hazelnuts").wait_for()
    said = page.locator("section", has=page.get_by_role("heading", name="Where it was said"))
    assert said.locator("li").count() == 7
    assert "Emil is badly allergic" in said.locator("li[aria-current]").inner_text()
    assert "No hazelnuts at all, then" in said.locator("li[aria-current] + li").inner_text()
    page.context.close()


def test_the_menu_marks_the_page_that_is_coming(sample: Tabs) -> None:
    """Also where the menu is made anew, as it learns which pages are empty, before the page is there."""
    page = sample.open(width=1280)
    page.get_by_text("Not used yet").wait_for()
    page.route("**/graph/subgraph*", lambda _: None)  # which never comes
    page.route("**/jobs*", lambda route: route.fulfill(json={"items": [{}], "next": None}))
    page.evaluate("location.hash = '#/graph'")
    page.locator("nav a[aria-current=page]", has_text="graph").wait_for()
    page.get_by_label("Namespace").select_option(index=0)
    page.locator("[aria-label=Care] a", has_text="jobs").wait_for()
    assert page.locator("nav a[aria-current=page]").all_inner_texts() == ["graph"]
    page.context.close()


@pytest.mark.parametrize("tabs", ["an empty file"], indirect=True)
def test_an_empty_file(tabs: Tabs) -> None:
    """Over an empty file every page says what fills it, and nothing fails."""
    page = tabs.open()
    for path in listed(tabs, page):
        assert page.locator("main .problem").count() == 0, path
        assert fits(page), path


def test_long_words_wrap(tabs: Tabs, filled: MemoryStore, tmp_path: Path) -> None:
    """What has no place to break, and what is written from right to left, makes no page wider."""
    long = "x" * 600
    place = ("p" * 120, "q" * 120)
    filled.put(place, "k" * 120, {"text": long, "kind": "semantic", "speaker": "s" * 90})
    filled.put(place, "rtl", {"text": "שלום " * 90 + long, "kind": "semantic"})
    filled.projects.add(tmp_path, name="n" * 100)
    team = filled.swarm(place, agent="boss")
    task = team.add_task("t" * 200, agent="worker" * 10)
    team.update_task(task.key, status="blocked", blockers=["freigabe " * 20], note=long)
    page = tabs.open(f"#/memory?ns={place[0]}&ns={place[1]}&key={'k' * 120}")
    page.get_by_role("heading", name="History").wait_for()
    assert fits(page), "a memory"
    page.get_by_label("Namespace").select_option(index=0)  # all
    for path in listed(tabs, page):
        assert fits(page), path
    page.goto(f"{tabs.address}#/search?q={long[:200]}")
    page.locator(".results .bars").first.wait_for()
    assert fits(page), "results"
    page.goto(f"{tabs.address}#/swarm")
    page.get_by_label("Namespace").select_option(label="/".join(place))
    page.locator(".board .tag").wait_for()
    assert fits(page), "a board"
