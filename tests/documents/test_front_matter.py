"""Links that documents name in their front matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from langmemory.documents.front_matter import FrontMatterError, links_in
from langmemory.stores import MemoryStore
from tests.tables import tables

TEAM = ("team",)


def linked(store: MemoryStore) -> set[tuple[str, str, str]]:
    """The links that hold, by names."""
    graph = store.graph(TEAM)
    names = {one.key: one.name for one in graph.entities()}
    return {
        (names[edge.subject], edge.relation, names[edge.object or ""]) for edge in graph.edges()
    }


def test_the_links_of_documents_are_those_of_their_front_matter(tmp_path: Path) -> None:
    """Paths, titles and names are linked; a document that comes later, moves or changes is followed, links of
    others stay, and what cannot be read is told without losing the document."""
    folder = tmp_path / "docs"
    folder.mkdir()

    def write(name: str, front: str) -> None:
        folder.joinpath(name).write_text(f"---\n{front}\n---\n# {name}\n\nText.\n")

    write(
        "checkout.md", "requires: [prices.md, payment API]\naffects: Ship it\nsupersedes: Ship it"
    )
    write("pay.md", "provides: payment API\ntitle: requires nothing")
    write("bad.md", "requires: [a")
    write("worse.md", "requires: {a: b}")
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        store.put(TEAM, "t", {"record": "task", "title": "Ship it", "text": "Ship it"})
        done = store.documents.add(folder, namespace=TEAM)
        assert (len(done.added), done.failed) == (4, {})
        assert done.unlinked.keys() == {"bad.md", "worse.md"}
        own = {
            ("checkout.md", "requires", "payment API"),
            ("checkout.md", "affects", "Ship it"),  # it cannot take the place of a task
            ("pay.md", "provides", "payment API"),
        }
        assert linked(store) == own | {("checkout.md", "requires", "prices.md")}
        assert store.graph(TEAM).edges("artifact:prices.md")
        write("prices.md", "title: Prices")
        store.documents.refresh(TEAM)
        assert linked(store) == own | {("checkout.md", "requires", "prices.md")}
        assert not [e for e in store.graph(TEAM).edges() if e.object == "artifact:prices.md"]
        store.graph(TEAM).link("t", "requires", "checkout.md")  # by hand
        context = store.graph(TEAM).context_for("Ship it")
        assert [one.name for one in context.entries] == [
            "Ship it", "checkout.md", "payment API", "pay.md", "prices.md",
        ]  # fmt: skip
        write("checkout.md", "requires: prices.md")
        store.documents.refresh(TEAM)
        kept = {("checkout.md", "requires", "prices.md"), ("Ship it", "requires", "checkout.md"),
                ("pay.md", "provides", "payment API")}  # fmt: skip
        assert linked(store) == kept
        runs = len(store.changes.runs(TEAM))
        store.documents.refresh(TEAM)
        assert len(store.changes.runs(TEAM)) == runs  # nothing changed, so nothing is written
        folder.joinpath("prices.md").unlink()
        store.documents.refresh(TEAM)
        assert store.graph(TEAM).edges("artifact:prices.md")  # now it is a name again


def test_a_path_is_from_the_nearest_folder_that_has_it(tmp_path: Path) -> None:
    """A folder with two projects: each names its own files from its own root."""
    for name, front in (
        ("shop/docs/deploy.md", "requires: [docs/build.md, shared.md, ../../shared.md#part]"),
        ("shop/docs/build.md", "title: Build"),
        ("docs/build.md", "title: Another"),
        ("shared.md", "title: Shared"),
    ):
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\n{front}\n---\n# {name}\n")
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        store.documents.add(tmp_path / "work", namespace=TEAM)
        assert linked(store) == {
            ("shop/docs/deploy.md", "requires", "shop/docs/build.md"),
            ("shop/docs/deploy.md", "requires", "shared.md"),
        }


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ("requires: [" + "x, " * 300 + "y]", "more than 200"),
        ("requires: x\nmore: " + "y" * 30_000, "characters"),
        ("requires: " + "[" * 5_000, "it is"),
        ("a: &a [x]\nrequires: [*a, *a]", "requires is"),
        ("requires: !!python/object/apply:os.system [ls]", "no YAML"),
    ],
)
def test_front_matter_that_means_harm_is_refused(front: str, message: str) -> None:
    """Large, deep, tricky or executable front matter makes a short error and no link."""
    with pytest.raises(FrontMatterError, match=message):
        links_in(f"---\n{front}\n---\ntext")


def test_odd_front_matter_stops_no_other_file(tmp_path: Path) -> None:
    """Of a folder every file is read. Impossible dates, huge numbers and odd types are told by the name of
    their file, which is read without its links; a link that can be made is made."""
    folder, cases = tmp_path / "docs", tables(__file__)["odd"]
    folder.mkdir()
    for number, (front, _) in enumerate(cases):
        front = front.replace("{many digits}", "9" * 5_000)
        (folder / f"{number:02}.md").write_text(f"---\n{front}\n---\n# {number}\n\nText.\n")
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        done = store.documents.add(folder, namespace=TEAM)
        assert (len(done.added), done.failed) == (len(cases), {})
        for number, (front, why) in enumerate(cases):
            assert why in done.unlinked.get(f"{number:02}.md", ""), front
        told = {f"{number:02}.md" for number, (_, why) in enumerate(cases) if why}
        assert done.unlinked.keys() == told
        assert not told & {source for source, _, _ in linked(store)}


def test_front_matter_without_links_is_not_read() -> None:
    """Other front matter is nobody's concern here."""
    assert links_in("---\ntitle: [\n---\ntext") == {}
    assert links_in("requires: x") == {}
    assert links_in("---\nrequires: 7\nprovides: ' a  b '\n---\n") == {
        "requires": ["7"],
        "provides": ["a b"],
    }
