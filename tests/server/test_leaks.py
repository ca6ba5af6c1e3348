"""No request, whatever it is made of, shows a viewer what is private to another."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from typing import Any, Final

from tests.server.client import API, serving, token_of

from langmemory.changes import AddEdge, AddEntity, AddMemory, ChangeSet, Facets  # isort: skip
from langmemory.server.api import ROUTES  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.routes import Route  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

REQUESTS: Final = int(os.environ.get("LANGMEMORY_REQUESTS", "400"))
PLACE: Final = ("memories", "home")
SECRETS: Final = ("xylophone", "zanzibar", "quixotic", "Vladivostok")

POOL: Final[Mapping[str, tuple[Any, ...]]] = {
    "namespace": (["memories"], ["memories", "home"], ["memories", "home", "core"], ["other"]),
    "key": ("secret", "said", "fact", "open", "human"),
    "query": ("xylophone", "What is played in zanzibar?", "", "quixotic journey to Vladivostok"),
    "agent": ("home", "maria", "ben"),
    "session": ("s1", "home"),
    "name": ("maria", "Maria", "Vladivostok", "trip"),
    "entity": ("maria", "Vladivostok"),
    "first": ("maria", "Maria"),
    "last": ("trip", "Vladivostok"),
    "id": ("r1", "review", "r2", "for-maria", "for-all"),
    "run_id": ("r1", "r2"),
    "pattern": ("(a)-[]-(b)", "(a)", "(a {name: $who})-[goes_to]->(b)"),
    "values": ({"who": "Maria"}, {}),
    "value": ({"text": "a new one"}, {"text": "mine", "privacy": "private", "owner": "maria"}),
    "text": ("a new one",),
    "thread_id": ("t", "other"),
    "messages": ([{"role": "user", "content": "a clarinet"}],),
    "owner": ("maria", "ben"),
    "keys": (["secret"], []),
    "entities": (["Maria"], []),
    "option": ("yes", "no"),
    "reason": ("tidying",),
    "blocks": ({"human": "Ben"},),
    "past": (True,),
    "explain": (True,),
    "include_archive": (True,),
    "known_at": ("2035-01-01T00:00:00Z",),
    "as_of": ("2026-01-01T00:00:00Z", "2035-01-01T00:00:00Z"),
    "open_only": (False, True),
    "dry_run": (True, False),
    "history": (True, False),
    "ids": ([1],),
    "to": ("helper", "boss"),
    "type": (["finding"],),
    "summary": ("a saxophone",),
    "done": ("a saxophone",),
    "question": ("Which instrument?",),
    "next_steps": (["practise"],),
    "memories": (["open"], ["secret"], ["fact"]),
    "topic": ("music",),
    "sender": ("boss",),
    "reply_to": ("for-maria", "for-all"),
    "min_priority": ("low", "high"),
    "number": (1, 2),
    "ops": (
        [{"op": "get", "namespace": list(PLACE), "key": "secret"}],
        [{"op": "search", "query": "xylophone"}, {"op": "search", "filter": {"owner": "maria"}}],
        [{"op": "list_namespaces"}],
        [{"op": "put", "namespace": list(PLACE), "key": "secret", "value": None}],
    ),
}


def fill(store: MemoryStore) -> None:
    """Put what is private to Maria into every part of the file, beside what everybody may see."""
    mine = Facets(privacy="private", owner="maria")
    store.put(
        PLACE, "secret", {"text": "I play the xylophone", "privacy": "private", "owner": "maria"}
    )
    store.put(
        PLACE, "secret", {"text": "I love the xylophone", "privacy": "private", "owner": "maria"}
    )
    store.put(
        (*PLACE, "core"), "human", {"content": "quixotic", "privacy": "private", "owner": "maria"}
    )
    store.put(PLACE, "open", {"text": "The house has a garden"})
    boss = store.bus(PLACE, agent="boss")
    boss.share(
        "She plays the xylophone", details="in zanzibar", topic="music", to="helper", id="for-maria",
        owner="maria", privacy="private",
    )  # fmt: skip
    boss.share("The house has a garden", topic="music", memories=["open"], id="for-all")
    boss.share("A quixotic idea", memories=["secret"], id="with-a-secret")
    store.for_viewer("maria").bus(PLACE, agent="helper").subscribe(query="zanzibar")
    store.remember(
        PLACE,
        [{"role": "user", "content": "A quixotic thought of zanzibar", "id": "said"}],
        thread_id="t",
        owner="maria",
        privacy="private",
    )
    store.changes.apply(
        ChangeSet(
            namespace=PLACE,
            run_id="r1",
            kind="reflection",
            reason="learned of Vladivostok",
            changes=(
                AddEntity(key="maria", name="Maria", kind="person"),
                AddEntity(key="trip", name="Vladivostok", kind="place"),
                AddMemory(
                    key="fact",
                    value={"text": "Maria goes to Vladivostok"},
                    facets=mine,
                    evidence=("secret",),
                    mentions=("maria", "trip"),
                ),
                AddEdge(fact="fact", subject="maria", relation="goes_to", object="trip"),
            ),
        )
    )


def made(route: Route, random_: random.Random) -> dict[str, Any]:
    """Return a request of a route, of values from the pool; what has none there is left out."""
    parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
    for part, model in route.models.items():
        for name, field in model.model_fields.items():
            if name in POOL and (field.is_required() or random_.random() < 0.6):
                parts[part][name] = random_.choice(POOL[name])
    url = API + route.path.replace(":path", "").format(**parts["path"])
    asked: dict[str, Any] = {"method": route.method, "url": url, "params": parts["query"]}
    return {**asked, "json": parts["body"]} if "body" in route.models else asked


async def test_nothing_private_is_shown_to_another(store: MemoryStore) -> None:
    """Over every operation, with every right that a viewer's token can have."""
    fill(store)
    random_ = random.Random(5)
    declared = [route for routes in ROUTES for route in routes.declared if not route.uploads]
    token = token_of(store, "ben", scope="admin", agent="helper")
    answered = set()
    async with serving(store, token=token) as client:
        for number in range(REQUESTS):
            route = declared[number % len(declared)]
            request = made(route, random_)
            asked = str(request)
            response = await client.request(**request)
            assert response.status_code < 500, (asked, response.text)
            if response.status_code < 300:
                answered.add(route.name)
            told = response.text
            for query in POOL["query"]:  # as this token asked, or subscribed
                told = told.replace(f'"query":"{query}"', "")
            for secret in SECRETS:
                assert secret not in told or secret in asked, (asked, told)
    kept = store.get(PLACE, "secret")
    assert kept is not None
    assert kept.value["text"] == "I love the xylophone"
    assert len(answered) > len(declared) / 2


def test_inside_another_server_there_are_two_places_alone(store: MemoryStore) -> None:
    """Mounted, the application answers below its two prefixes and hides no other route."""
    paths = {getattr(one, "path", "") for one in create_app(store, mounted=True).routes}
    assert paths == {"/api/v1/memory", "/memory"}
