"""`store.graph`: entities, edges and ways between them, as far as the memories behind them go."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import networkx
import pytest

from langmemory.changes import AddEntity, AddMemory, ChangeSet, Facets, LinkEntities
from langmemory.errors import ConfigError, EntityNameError
from langmemory.operations.graph import Graph
from langmemory.stores import MemoryStore
from langmemory.subgraph import Subgraph, lying_on_edges, places_of
from langmemory.types import Entity
from tests.graph_world import NAMESPACE, apply, day, entities, fact, furnish
from tests.stores.test_scale import steps


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return furnish(MemoryStore(tmp_path / "memory.db"))


def claims(graph: Graph, name: str, *, past: bool = False) -> set[tuple[str, str]]:
    """(relation, object or literal) of an entity's edges."""
    edges = graph.entity(name, past=past).edges
    return {(edge.relation, edge.object or str(edge.literal)) for edge in edges}


def test_a_date_asks_for_what_held_then(store: MemoryStore) -> None:
    """``as_of`` is time in the world, ``known_at`` what the system believed."""
    before = store.graph(NAMESPACE, as_of=day("2022-01-01"))
    assert ("works_at", "organisation/hooli") in claims(before, "Lena")
    assert ("works_at", "organisation/globex") not in claims(before, "Lena")
    assert {one.name for one in store.graph(NAMESPACE, as_of=day("2019-01-01")).entities()} == set()
    first = store.changes.history(NAMESPACE, "hooli")[0].at
    believed = store.graph(NAMESPACE, known_at=first)
    assert claims(believed, "Lena") >= {("works_at", "organisation/hooli")}


def test_chains_and_circles_of_links_end(store: MemoryStore) -> None:
    """A link to a linked entity leads to the end; entities linked in a circle stand for one."""
    names = {f"person/m{n}": (f"Mi{n}", "person") for n in range(3)}
    apply(
        store,
        "chain",
        *entities(names),
        *fact("chain", "Mi0 swims.", "person/m0", "does", literal="swimming"),
        LinkEntities(key="person/m0", same_as="person/m1"),
        LinkEntities(key="person/m1", same_as="person/m2"),
    )
    graph = store.graph(NAMESPACE)
    assert graph.entity("Mi0").key == "person/m2"
    with (
        store._core.engine.write() as connection
    ):  # no change set makes one, a damaged import might
        connection.execute(
            "UPDATE entity SET same_as = (SELECT id FROM entity WHERE key = 'person/m0') "
            "WHERE key = 'person/m2'"
        )
    assert graph.entity("Mi1").key == graph.entity("Mi2").key == "person/m0"
    assert claims(graph, "Mi2") == {("does", "swimming")}


def test_paths_go_both_directions_shortest_first(store: MemoryStore) -> None:
    """Ways read as sentences; longer than allowed is not found, and none is no error."""
    graph = store.graph(NAMESPACE)
    (way,) = graph.paths("Zurich", "Lena")
    assert str(way) == "Zurich <-located_in- Initech <-works_at- Mira <-sister_of- Lena"
    assert [edge.fact for edge in way.edges] == ["office", "job", "sister"]
    assert graph.paths("Zurich", "Lena", max_length=2) == ()
    assert graph.paths("Paul", "Lena") == ()
    apply(
        store,
        "short",
        *fact("home", "Mira lives in Zurich.", "person/mira", "lives_in", "place/zurich"),
    )
    assert [len(way) for way in graph.paths("Lena", "Zurich")] == [2, 3]


def test_what_is_around_somebody(store: MemoryStore) -> None:
    """Neighbours come nearest first; a subgraph has the edges among what it reaches, no others."""
    graph = store.graph(NAMESPACE)
    assert [one.name for one in graph.neighbours("Lena", 2)] == ["Globex", "Mira", "Initech"]
    part = graph.subgraph("Mira", 1)
    assert [one.name for one in part.entities] == ["Mira", "Initech", "Lena"]
    assert {edge.fact for edge in part.edges} == {"sister", "job", "colour"}


def test_names_that_are_not_known_or_not_clear(store: MemoryStore) -> None:
    """An unknown name is answered with near ones, an ambiguous one with the keys to choose from."""
    graph = store.graph(NAMESPACE)
    with pytest.raises(EntityNameError, match=r"'Initec' in memories/lena. Near it: Initech"):
        graph.entity("Initec")
    with pytest.raises(EntityNameError, match="none with a name near it"):
        graph.edges("Qxqxqx")
    with pytest.raises(EntityNameError, match="Nothing was ever stored in memories/nobody"):
        store.graph(("memories", "nobody")).entity("Lena")
    assert store.graph(("memories", "nobody")).entities() == ()
    apply(
        store,
        "other",
        AddEntity(key="person/lena-2", name="Lena", kind="person"),
        *fact("other", "Another Lena sings.", "person/lena-2", "does", literal="singing"),
    )
    with pytest.raises(EntityNameError, match=r"2 are called 'Lena'.*person/lena .*person/lena-2 "):
        graph.entity("Lena")
    assert claims(graph, "person/lena-2") == {("does", "singing")}


def test_a_name_from_a_private_memory_stays_private(store: MemoryStore) -> None:
    """A nickname that stands only in a private memory neither shows nor finds for others."""
    apply(
        store,
        "nick",
        AddEntity(key="person/mira", name="Mira", aliases=("Grumpel",)),
        AddMemory(
            key="nick",
            value={"text": "Paul calls Mira Grumpel."},
            facets=Facets(privacy="private", owner="paul"),
            mentions=("person/mira",),
        ),
    )
    assert store.graph(NAMESPACE).entity("Grumpel").name == "Mira"
    assert store.for_viewer("paul").graph(NAMESPACE).entity("Grumpel").aliases == ("Grumpel",)
    theirs = store.for_viewer("lena").graph(NAMESPACE)
    assert theirs.entity("Mira").aliases == ()
    with pytest.raises(EntityNameError):
        theirs.entity("Grumpel")


def test_exports_survive_a_round_trip_through_networkx(store: MemoryStore) -> None:
    """JSON is node-link data, GraphML loses nothing but absent times; names may hold anything."""
    apply(
        store,
        "odd",
        AddEntity(key="person/odd", name='张伟 <"&\x01', kind="person"),
        *fact("odd", "张伟 lebt <hier>.", "person/odd", "lives_in", "place/zurich"),
    )
    graph = store.graph(NAMESPACE)
    data = json.loads(json.dumps(graph.subgraph(past=True).to_json()))
    made = networkx.node_link_graph(data, edges="edges")
    past = {(a, b) for a, b, edge in made.edges(data=True) if not edge["current"]}
    assert past == {("person/lena", "organisation/hooli")}
    parsed = networkx.parse_graphml(graph.subgraph(past=True).to_graphml())
    assert set(parsed.nodes) == set(made.nodes)
    assert {(a, b, d["relation"], d["fact"]) for a, b, d in parsed.edges(data=True)} == {
        (a, b, d["relation"], d["fact"]) for a, b, d in made.edges(data=True)
    }
    assert parsed.nodes["person/odd"]["name"] == '张伟 <"&'


def test_long_ways_through_a_large_family_are_found(store: MemoryStore) -> None:
    """Where many know each other and few ways lead on, these are found, shortest first, however long
    ways may be; nobody is passed twice."""
    family = [f"f{n}" for n in range(20)]
    names = {key: (key, "person") for key in ("s", "x", "g", *family)}
    known = [(one, other) for n, one in enumerate(("s", *family)) for other in family[n:]]
    claims = [*known, ("s", "x"), ("x", "g")]
    facts = [fact(str(n), "x", one, "knows", other) for n, (one, other) in enumerate(claims)]
    apply(store, "f", *entities(names), *(c for one in facts for c in one), namespace=("f",))
    graph = store.graph(("f",))
    (way,) = graph.paths("s", "g", 20)
    assert [entity.key for entity in way.entities] == ["s", "x", "g"]
    ways = graph.paths("f0", "g", 20, limit=30)
    assert [len(way) for way in ways] == [3] + [4] * 19 + [5] * 10
    stops = [tuple(entity.key for entity in way.entities) for way in ways]
    assert len(set(stops)) == 30
    assert all(len(set(one)) == len(one) for one in stops)


def test_graphml_is_xml_whatever_is_said(store: MemoryStore) -> None:
    """GraphML leaves out characters that XML cannot hold, in keys, relations and values too, and
    keeps all others, also unprintable ones."""
    apply(
        store,
        "odd",
        *entities({"e/\x01": ("\ufffeZoë\xa0👩\u200d🚀\x0b", "person")}),
        *fact("odd\x02", "x", "e/\x01", "likes\x03", literal="tea\x04 & <\u202eحليب>"),
        namespace=("odd",),
    )
    parsed = networkx.parse_graphml(store.graph(("odd",)).subgraph(past=True).to_graphml())
    assert parsed.nodes["e/"]["name"] == "Zoë\xa0👩\u200d🚀"
    [(start, end, edge)] = parsed.edges(data=True)
    assert (start, edge["relation"], edge["fact"]) == ("e/", "likes", "odd")
    assert parsed.nodes[end]["name"] == "tea & <\u202eحليب>"


def test_a_name_with_quotes_is_known_to_whoever_reads_it(store: MemoryStore) -> None:
    """A viewer who may read a memory knows the name it calls somebody, whatever letters that has."""
    for n, name in enumerate(('Dwayne "The Rock" Johnson', "AC\\DC", "First\nSecond")):
        namespace = ("quoted", str(n))
        apply(
            store,
            f"quoted {n}",
            *entities({"e": (name, "person")}),
            *fact("f", f"We met {name} there.", "e", "was", literal="there"),
            namespace=namespace,
        )
        graph = store.for_viewer("paul").graph(namespace)
        assert graph.entity(name).name == name


def test_mermaid_names_everybody_and_dots_what_is_past(store: MemoryStore) -> None:
    """Each entity, literal and edge is a line; past edges are dotted and name their years; nothing that is
    said becomes markup."""
    lines = store.graph(NAMESPACE).subgraph(past=True).to_mermaid().splitlines()
    data = store.graph(NAMESPACE).subgraph(past=True).to_json()
    assert lines[0] == "graph LR"
    assert len(lines) == 1 + len(data["nodes"]) + len(data["edges"])
    nodes = {name: node for node, name in re.findall(r'(n\d+)[(\[]+"(.*?)"', "\n".join(lines))}
    assert [line for line in lines if "-.->" in line] == [
        f'  {nodes["Lena"]} -.->|"works at, 2020–2023"| {nodes["Hooli"]}'
    ]
    apply(
        store,
        "odd",
        *entities({"e": ('<b>"#1"</b>\n`x`', "person")}),
        *fact("odd", "x", "e", "likes", literal="a|b] --> c"),
        namespace=("odd",),
    )
    assert store.graph(("odd",)).subgraph(past=True).to_mermaid().splitlines()[1:] == [
        '  n0(["#60;b#62;#34;#35;1#34;#60;/b#62; #96;x#96;"])',
        '  n1["a|b] --#62; c"]',
        '  n0 -->|"likes"| n1',
    ]


def test_no_node_lies_on_an_edge_of_others() -> None:
    """Of somebody with twenty things, some of which have more: every edge and its label is to be seen."""
    net = networkx.star_graph(20)
    net.add_edges_from((one, 10 * one + leaf) for one in (3, 9, 14) for leaf in range(1, 4))
    assert lying_on_edges(net, places_of(networkx, net)) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_of_anything(store: MemoryStore, tmp_path: Path, suffix: str) -> None:
    """Names in any script, dollars, loops, nothing at all, hundreds of things: a picture comes out."""
    names = {
        "a": ("张伟", "person"),
        "b": ("محمد", "person"),
        "c": ("$\\frac{1$", "oddity"),
        "d": ("😀", "thing"),
    }
    many = {f"m/{n}": (f"Member {n}", "person") for n in range(130)}
    apply(
        store,
        "odd",
        *entities(names | many),
        *fact("1", "x", "a", "kennt", "b"),
        *fact("2", "x", "b", "knows", "a"),
        *fact("3", "x", "c", "is_$", literal="$ \n " + "long " * 40),
        *fact("4", "x", "d", "likes", "d"),
        *(one for n in range(1, 130) for one in fact(f"m{n}", "x", "m/0", "knows", f"m/{n}")),
        namespace=("odd",),
    )
    for namespace, name in (
        (NAMESPACE, "Lena"),
        (NAMESPACE, None),
        (("odd",), "张伟"),
        (("odd",), None),
        (("no",), None),
    ):
        file = tmp_path / f"graph.{suffix}"
        file.unlink(missing_ok=True)
        store.graph(namespace).subgraph(name, past=True).draw(file)
        assert file.stat().st_size > 4000  # a blank sheet has less than 3,000


@pytest.mark.parametrize("name", ["lena", "lena.", ".png"])
def test_a_picture_without_an_ending_is_refused(
    store: MemoryStore, tmp_path: Path, name: str
) -> None:
    """A file whose name does not say what to draw is an error that names it; none of another name is
    written."""
    drawn = tmp_path / "drawn"
    drawn.mkdir()
    with pytest.raises(ConfigError, match=f"{name}' has no ending"):
        store.graph(NAMESPACE).subgraph(past=True).draw(drawn / name)
    assert list(drawn.iterdir()) == []


def test_a_graph_that_no_drawing_can_show_is_refused(tmp_path: Path) -> None:
    """Of thousands of entities the error says what to draw instead, at once; Mermaid and GraphML have all."""
    everybody = [
        Entity(key=f"p/{n}", namespace=("a",), name=f"P {n}", kind="person") for n in range(501)
    ]
    graph = Subgraph(entities=tuple(everybody), edges=())
    with pytest.raises(ConfigError, match="501 entities are more than a drawing of 500"):
        graph.draw(tmp_path / "g.png")
    assert len(graph.to_mermaid().splitlines()) == 502


def test_a_missing_extra_is_named(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without networkx or matplotlib the error says what to install; the rest works."""
    monkeypatch.setitem(sys.modules, "networkx", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    graph = store.graph(NAMESPACE)
    assert graph.subgraph(past=True).to_json()["nodes"]
    with pytest.raises(ImportError, match=r'extra "graph".* pip install "\.\[graph\]"'):
        graph.subgraph().to_graphml()
    with pytest.raises(ImportError, match=r'extra "graph".* pip install "\.\[graph\]"'):
        graph.subgraph().draw(tmp_path / "graph.png")


def test_what_is_deleted_leaves_the_graph(store: MemoryStore) -> None:
    """With the last memory that speaks of it an entity is gone; an undo takes back what it added."""
    store.delete(NAMESPACE, "office")
    assert "Zurich" not in {one.name for one in store.graph(NAMESPACE).entities()}
    store.changes.undo("second")
    assert claims(store.graph(NAMESPACE), "Lena") >= {("works_at", "organisation/hooli")}


def test_another_store_on_the_file_sees_it(store: MemoryStore, tmp_path: Path) -> None:
    """A graph object reads anew each time, so that writes from elsewhere show."""
    graph = MemoryStore(tmp_path / "memory.db").graph(NAMESPACE)
    assert len(graph.edges("Mira")) == 2
    store.changes.apply(
        ChangeSet(
            namespace=NAMESPACE,
            run_id="later",
            kind="correction",
            reason="test",
            changes=tuple(
                fact("home", "Mira lives in Zurich.", "person/mira", "lives_in", "place/zurich")
            ),
        )
    )
    assert len(graph.edges("Mira")) == 3


def beside_a_hub(path: Path, size: int) -> MemoryStore:
    """Lena knows Mira, and both know Paul; as many others as said know Paul."""
    others = {f"person/o{n}": (f"O{n}", "person") for n in range(size)}
    names = {f"person/{name}": (name.title(), "person") for name in ("lena", "mira", "paul")}
    pairs = [("lena", "mira"), ("lena", "paul"), ("paul", "mira")]
    known = [(f"person/{one}", f"person/{other}") for one, other in pairs]
    known += [(other, "person/paul") for other in others]
    facts = (fact(f"f{n}", "x", one, "knows", other) for n, (one, other) in enumerate(known))
    store = MemoryStore(path, index=False)
    apply(store, "all", *entities(names | others), *(change for one in facts for change in one))
    return store


@pytest.mark.sqlite("counts SQLite's instructions")
@pytest.mark.parametrize(
    "read",
    [
        lambda graph: graph.neighbours("person/lena"),
        lambda graph: graph.paths("person/lena", "person/mira", 2),
        lambda graph: graph.entity("person/lena"),
    ],
)
def test_whom_many_know_costs_nothing_beside(
    tmp_path: Path, read: Callable[[Graph], object]
) -> None:
    """One step around an entity takes no longer, however many others know one of its neighbours."""
    took = []
    for size in (30, 600):
        with beside_a_hub(tmp_path / f"{size}.db", size) as store:
            read(store.graph(NAMESPACE))
            with store._core.engine.read() as snapshot:
                connection = snapshot.connection
            took.append(steps(connection, lambda: read(store.graph(NAMESPACE))))
    assert 0 < took[1] < 1.5 * took[0]


def test_what_is_around_somebody_known_to_many(tmp_path: Path) -> None:
    """Neighbours are those of the subgraph, and its edges those between them and none that leads on."""
    with beside_a_hub(tmp_path / "m.db", 5) as store:
        graph = store.graph(NAMESPACE)
        near = graph.subgraph("person/lena", 1)
        assert near.entities[1:] == graph.neighbours("person/lena")
        assert [edge.fact for edge in near.edges] == ["f0", "f1", "f2"]
        assert len(graph.subgraph("person/lena", 2).edges) == 8
        assert [len(way) for way in graph.paths("person/lena", "person/o1", 3)] == [2, 3]
