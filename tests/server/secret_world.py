"""A file with secrets of Maria in every part of it, and random requests of Ben, over every door, that look
for them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.server.client import API

from langmemory.changes import (  # isort: skip
    AddEdge,
    AddEntity,
    AddMemory,
    ChangeSet,
    Facets,
    LinkEntities,
    OpenReview,
    SetStatus,
    Supersede,
    UpdateMemory,
)
from langmemory.context import note_id  # isort: skip
from langmemory.messages import turn_key  # isort: skip
from langmemory.server.mcp.tools import all_tools  # isort: skip
from langmemory.server.openapi import BODIES  # isort: skip
from langmemory.server.routes import PREFIX, Route  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.timestamps import EPOCH  # isort: skip

PLACE: Final = ("memories", "home")
ASKED: Final = ("xylophone", "zanzibar", "quixotic", "Vladivostok")
"""Words of private memories that requests name, too: an answer may repeat them to who named them."""
NEVER_ASKED: Final = (
    "samarkand", "marzipan", "bulawayo", "timbuktu", "Zwickau", "ouagadougou", "kefir", "paprika",
)  # fmt: skip
"""Words of private memories, keys, names, namespaces, reasons and questions that no request names."""
SECRETS: Final = (*ASKED, *NEVER_ASKED)


def fill(store: MemoryStore) -> None:
    """Put what is private to Maria into every part of the file, beside what everybody may see."""
    mine = Facets(privacy="private", owner="maria")
    private = {"privacy": "private", "owner": "maria"}
    store.put(PLACE, "secret", {"text": "I play the xylophone in samarkand", **private})
    store.put(PLACE, "secret", {"text": "I love the xylophone of samarkand", **private})
    store.put((*PLACE, "core"), "human", {"content": "quixotic samarkand", **private})
    store.put((*PLACE, "core"), "persona", {"content": "Be kind."})
    store.put((*PLACE, "timbuktu"), "k", {"text": "samarkand again", **private})
    store.put(
        (*PLACE, "working", "s1"), "scratch", {"text": "bulawayo", "kind": "working", **private}
    )
    store.put(PLACE, "open", {"text": "The house has a garden"})
    store.put(PLACE, "shared later", {"text": "The bulawayo of Maria", **private})
    store.put(PLACE, "shared later", {"text": "The roof is new"})
    store.put(PLACE, "hidden later", {"text": "The cellar is wet"})
    store.put(PLACE, "hidden later", {"text": "The cellar hides bulawayo", **private})
    store.remember(
        PLACE,
        [
            {
                "role": "user",
                "content": "A quixotic thought of zanzibar and samarkand",
                "id": "said",
            },
            {"role": "user", "content": "Tell me of ouagadougou", "id": "asked"},
        ],
        thread_id="t",
        owner="maria",
        privacy="private",
        at=EPOCH.replace(year=2026),
    )
    store.remember(PLACE, [{"role": "user", "content": "The clarinet is mine", "id": "open said"}],
                   thread_id="t", owner="ben", at=EPOCH.replace(year=2026, month=2))  # fmt: skip
    boss = store.bus(PLACE, agent="boss")
    boss.share(
        "She plays the xylophone", details="in samarkand", topic="music", to="helper", id="for-maria",
        owner="maria", privacy="private",
    )  # fmt: skip
    boss.share("A quixotic kefir", memories=["secret"], id="with-a-secret")
    boss.share("The house has a garden", topic="music", memories=["open"], id="for-all")
    mine_ = store.for_viewer("maria").bus(PLACE, agent="helper")
    mine_.subscribe(query="samarkand")
    mine_.reply("for-maria", "Yes, in samarkand", id="by-maria")
    store.for_viewer("ben").bus(PLACE, agent="helper").share("The roof is new", id="by-ben")
    changes: tuple[Any, ...] = (
        AddEntity(key="maria", name="Maria", kind="person"),
        AddEntity(key="zwickau-key", name="Zwickau", kind="place"),
        AddEntity(key="trip", name="Vladivostok", kind="place", aliases=("bulawayo",)),
        AddEntity(key="garden", name="Garden", kind="place"),
        LinkEntities(key="zwickau-key", same_as="trip"),
        AddMemory(
            key="fact",
            value={"text": "Maria goes to Vladivostok by kefir"},
            facets=mine,
            evidence=("secret",),
            mentions=("maria", "trip"),
            reason="she said marzipan",
        ),
        AddMemory(
            key="marzipan key",
            value={"text": "The house of samarkand has two gardens"},
            facets=mine,
            mentions=("garden", "zwickau-key"),
        ),
        AddMemory(
            key="made of both",
            value={"text": "The house is large"},
            evidence=("secret", "open", "marzipan key"),
            mentions=("garden",),
            reason="seen with marzipan",
        ),
        AddMemory(key="old", value={"text": "The house has one garden"}, mentions=("garden",)),
        AddEdge(fact="fact", subject="maria", relation="goes_to", object="trip"),
        AddEdge(fact="fact", subject="maria", relation="eats", literal="kefir"),
        AddEdge(fact="marzipan key", subject="garden", relation="lies_in", object="zwickau-key"),
        AddEdge(fact="made of both", subject="garden", relation="is", literal="large"),
        AddEdge(fact="made of both", subject="garden", relation="belongs_to", object="maria"),
        AddEdge(fact="old", subject="garden", relation="belongs_to", object="maria"),
    )
    for number, part in enumerate(
        (
            changes,
            (
                Supersede(
                    key="old",
                    by="marzipan key",
                    invalid_at=EPOCH.replace(year=2030),
                    reason="marzipan",
                ),
                UpdateMemory(key="open", facets=Facets(importance=0.9), reason="said by marzipan"),
                AddMemory(key="put away", value={"text": "An old bulawayo"}, facets=mine),
                SetStatus(key="put away", status="archived"),
                AddMemory(key="plain", value={"text": "The house has a door"}),
                OpenReview(
                    id="asked",
                    about="duplicate",
                    question="Is it one house?",
                    memories=("open", "plain"),
                    options={"yes": (), "no": ()},
                ),
                OpenReview(
                    id="review",
                    about="contradiction",
                    question="Is it marzipan or kefir?",
                    memories=("open", "marzipan key"),
                    options={"yes": (), "paprika": ()},
                ),
            ),
        ),
        start=1,
    ):
        store.changes.apply(
            ChangeSet(
                namespace=PLACE,
                run_id=f"r{number}",
                kind="reflection",
                reason="learned of marzipan and paprika",
                changes=part,
                note={"model": "paprika"},
            )
        )


_KEYS: Final = (
    turn_key("t", "said"), turn_key("t", "open said"), "open", "open", "secret", "said", "fact",
    "human", "persona", "old", "made of both", "put away",
    "shared later", "hidden later", "mine", "k", "../secret", "secret\x00", "SECRET", " secret",
)  # fmt: skip
POOL: Final[Mapping[str, tuple[Any, ...]]] = {
    "namespace": (
        *(list(PLACE),) * 8, ["memories"], [*PLACE, "core"], [*PLACE, "working", "s1"], ["other"],
        ["memories", ".."], [""], ["memories/home"], ["*"],
    ),
    "key": _KEYS,
    "query": ("xylophone", "What is played in zanzibar?", "", "quixotic journey to Vladivostok", "garden",
              '"xylo" OR *', "Where does Maria go?"),
    "agent": ("home", "maria", "ben", ".."),
    "label": ("human", "persona", "../x"),
    "session": ("s1", "home", "x"),
    "name": ("maria", "Maria", "Vladivostok", "trip", "Garden", "garden", "Vladivostock", "Mar"),
    "entity": ("maria", "Vladivostok", "garden", "trip"),
    "first": ("maria", "Maria", "garden"),
    "last": ("trip", "Vladivostok", "maria", "garden"),
    "max_length": (1, 4, 6),
    "depth": (0, 1, 4),
    "id": ("r1", "review", "asked", "r2", "1", "", "undo-r1", "for-maria", "with-a-secret", "for-all",
           "by-maria", *("by-ben",) * 4),
    "run_id": ("r1", "r2", "maintenance", "undo-r1"),
    "message_id": ("for-maria", "with-a-secret", "for-all", "by-maria", *("by-ben",) * 4, ""),
    "message_ids": (["for-maria", "for-all"],),
    "review_id": ("review", "asked", "r1"),
    "subscription_id": (1, 2, 3),
    "answer": ("a saxophone",),
    "task": ("a saxophone", "task"),
    "title": ("a saxophone",),
    "types": (["finding"], ["request", "finding"]),
    "pattern": ("(a)-[]-(b)", "(a)", "(a {name: $who})-[goes_to]->(b)", "(a)-[lies_in]-(b)-[]-(c)", "(a",
                "(a:place)", "(a)-[:eats]->(b)"),
    "values": ({"who": "Maria"}, {"who": "trip"}, {}, {"who": 1}),
    "value": ({"text": "a new one"}, {"text": "mine", "privacy": "private", "owner": "maria"},
              {"text": "mine", "privacy": "private"}, {"text": "x", "status": "superseded"}, {}, None, [],
              {"text": "x", "evidence": ["secret"]}),
    "text": ("a new one", " "),
    "thread_id": ("t", "other"),
    "messages": ([{"role": "user", "content": "a clarinet"}],
                 [{"role": "user", "content": "My clarinet has a case."},
                  {"role": "user", "content": "The hall was painted by the neighbours in a light green, "
                   "which took them three days and two ladders."},
                  {"role": "user", "content": "The garden has nine trees, and each of them is old."}],
                 [{"role": "user", "content": "a clarinet", "id": "said"}],
                 [{"role": 1}], []),
    "owner": ("maria", "ben", None),
    "keys": (["secret"], ["secret", "open"], []),
    "entities": (["Maria"], [], ["trip"]),
    "exclude": (["open"], ["secret"]),
    "option": ("yes", "no"),
    "reason": ("tidying",),
    "blocks": ({"human": "Ben"}, {"persona": "Mild"}, {"../x": ""}),
    "past": (True, False),
    "explain": (True,),
    "counted": (True, False),
    "include_archive": (True,),
    "known_at": ("2035-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    "as_of": ("2026-01-01T00:00:00Z", "2035-01-01T00:00:00Z"),
    "since": ("2020-01-01T00:00:00Z",),
    "until": ("2040-01-01T00:00:00Z",),
    "updated_at": ("2020-01-01T00:00:00Z",),
    "granularity": ("session", "turn"),
    "min_score": ("auto", 0.0),
    "budget_tokens": (50, 400),
    "limit": (1, 2, 10, 200),
    "filter": ({"owner": "maria"}, {"text": {"$contains": "xylo"}}, {"$or": [{"privacy": "private"}]},
               {"no": {"$bad": 1}}),
    "cursor": ("W10", "WzBd", "e30", "bm8", "WzAuMCwiIiwiIl0"),
    "open_only": (False, True),
    "dry_run": (True, False),
    "everything": (True, False),
    "history": (True, False),
    "pinned": (True,),
    "status": (["superseded"], ["archived", "active", "pending"]),
    "kind": (["core"], ["episodic", "working"]),
    "ids": ([1], ["for-maria", "for-all"]),
    "to": ("helper", "boss"),
    "type": (["finding"], "finding"),
    "summary": ("a saxophone",),
    "done": ("a saxophone",),
    "question": ("Which instrument?",),
    "next_steps": (["practise"],),
    "memories": (["open"], ["secret"], []),
    "topic": ("music",),
    "sender": ("boss",),
    "reply_to": ("for-maria", "for-all", "by-maria"),
    "min_priority": ("low", "high"),
    "number": (1, 2, 3),
    "ops": (
        [{"op": "get", "namespace": list(PLACE), "key": "secret"}],
        [{"op": "search", "query": "xylophone"}, {"op": "search", "filter": {"owner": "maria"}}],
        [{"op": "search", "namespace_prefix": list(PLACE), "limit": 10_000}],
        [{"op": "list_namespaces"}, {"op": "list_namespaces", "max_depth": 3}],
        [{"op": "list_namespaces", "match_conditions": [{"match_type": "suffix", "path": ["*"]}]}],
        [{"op": "put", "namespace": list(PLACE), "key": "secret", "value": None}],
        [{"op": "put", "namespace": list(PLACE), "key": "secret", "value": {"text": "x"}}],
        [{"op": "nothing", "key": "secret"}],
    ),
}  # fmt: skip
WRONG: Final = (
    None,
    -1,
    10**30,
    1.5,
    True,
    "",
    "trombone",
    [],
    {},
    [None],
    {"a": {"b": []}},
    "\x00",
)
HEADERS: Final[tuple[Mapping[str, str], ...]] = (
    *({},) * 12,
    {"Memory-Viewer": '"maria"'},
    {"Memory-Viewer": "maria"},
    {"Memory-Viewer": '""'},
    {"Memory-Viewer": '"ben"'},
    {"Memory-Viewer": "null"},
    {"X-Viewer": "maria", "X-Forwarded-For": "127.0.0.1", "Memory-Owner": "maria"},
    {"Idempotency-Key": "maria's"},
    {"Idempotency-Key": "ben's"},
    {"If-Match": "*"},
    {"If-Match": '"0-0"'},
    {"If-None-Match": "*"},
    {"Accept": "text/html"},
)

MCP_POOL: Final[Mapping[str, tuple[Any, ...]]] = {
    "query": POOL["query"][:2] + POOL["query"][3:],
    "id": (
        turn_key("t", "said"),
        turn_key("t", "open said"),
        "secret",
        "fact",
        "open",
        f"R:{note_id(PLACE, 'secret')}",
        f"R:{note_id((*PLACE, 'core'), 'human')}",
        "made of both",
        "old",
        *("by-ben",) * 6,
    ),
    "texts": (["a clarinet"], "one", []),
    "speaker": ("Maria", "Ben"),
    "private": (True, False),
    "ids": (["secret"], ["open"], ["fact", "open"], ["R:1a2b3c4d"]),
    "option": ("yes", "no"),
    "limit": (1, 50),
    "around": (1, 50),
    "summary": ("a saxophone",),
    "question": ("Which instrument?",),
    "done": ("a saxophone",),
    "to": ("helper", "boss"),
    "topic": ("music",),
    "reply_to": ("for-maria", "for-all", "by-maria"),
    "memories": (["open"], ["secret"], []),
    "acknowledge": (["for-maria", "for-all"], []),
    "read": ("for-maria", "for-all", "by-maria"),
    "reason": ("tidying",),
    "kinds": (["episodic"], ["semantic", "core"], "core"),
    "since": ("2020-01-01",),
    "as_of": ("2035-01-01",),
    "confirmation": ("1-00",),
}
URIS: Final = (
    "memory://core", "memory://item/secret", "memory://item/open", "memory://item/",
    "memory://item/..%2Fsecret", "memory://item/made%20of%20both", "file:///etc/passwd", "memory://all",
)  # fmt: skip
PAGES: Final = (
    "/memory", "/memory/", "/memory/inspector/main.js", "/memory/inspector/..%2f..%2fapp.py",
    "/memory/inspector/secret", "/memory/metrics", "/memory/healthz", "/memory/readyz", "/metrics",
    f"{PREFIX}/docs", f"{PREFIX}/openapi.json", f"{PREFIX}/secret", f"{PREFIX}/memories/",
    f"{PREFIX}//memories",
    f"{PREFIX}/runs/r1/", f"{PREFIX}/%2e%2e/memories", "/memory/events?type=run", "/memory/ws",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request, as httpx takes it."""

    sent: Mapping[str, Any]
    door: str = ""
    """What of the server it goes to, for counting."""
    text: str = field(default="")
    """All that it says itself."""


def of_route(route: Route, choice: random.Random) -> Asked:
    """Return a request of a route, of values from the pool; what has none there is left out. One in ten
    has something wrong."""
    parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
    for part, model in route.models.items():
        for name, one in model.model_fields.items():
            likely = 0.9 if name == "namespace" else 0.4
            if name in POOL and (one.is_required() or choice.random() < likely):
                parts[part][name] = choice.choice(POOL[name])
            elif name == "recall":
                asked = {"query": choice.choice(POOL["query"]), "namespace": list(PLACE)}
                parts[part][name] = asked
    body: Any = parts["body"]
    if choice.random() < 0.1:
        wrong = choice.choice((parts["query"], parts["body"]))
        name = choice.choice((*wrong, "viewer", "owner", "namespace"))
        wrong[name] = choice.choice(WRONG)
    path = {name: _in_path(one) for name, one in parts["path"].items()}
    url = API + _template(route).format(**path)
    sent: dict[str, Any] = {
        "method": route.method,
        "url": url,
        "params": {name: _in_query(one) for name, one in parts["query"].items()},
        "headers": {**choice.choice(HEADERS)},
    }
    if route.uploads:
        sent["content"] = b'{"text": "x"}\n'
        sent["headers"]["Content-Type"] = "application/x-ndjson"
    elif "body" in route.models:
        sent["content"] = json.dumps(body).encode()
        sent["headers"]["Content-Type"] = "application/json"
    return Asked(sent=sent, door=route.name, text=str((sent, parts)))


class Known:
    """What answers have told so far, by the part of the API and the name of the field: ids, keys and labels
    to ask about next."""

    def __init__(self, **values: Any) -> None:
        self._values: dict[str, list[Any]] = {name: [value] for name, value in values.items()}

    def learn(self, answer: Any, part: str, name: str = "") -> None:
        """Note the values of an answer."""
        if isinstance(answer, Mapping):
            for field_name, value in answer.items():
                self.learn(value, part, field_name)
        elif isinstance(answer, list):
            for value in answer:
                self.learn(value, part, name)
        elif isinstance(answer, str | int) and not isinstance(answer, bool):
            values = self._values.setdefault(f"{part}/{name}", [])
            if answer not in values:
                values.append(answer)

    def guess(self, part: str, name: str, choice: random.Random) -> Any:
        """Return a value for an argument: one that was told, or one of the pool; None where there is none."""
        names = (name, f"{part}/{name}", *([f"{part}/id"] if name.endswith("id") else []))
        told = [one for each in names for one in self._values.get(each, ())]
        pool = POOL.get(name, ())
        return choice.choice(
            told if told and (not pool or choice.random() < 0.6) else pool or (None,)
        )


NAMESPACES: Final = (PLACE, PLACE, PLACE, ("documents",), ("team", "shop"))


def part_of(route: Route) -> str:
    """Return the first part of the path of a route."""
    return route.path.split("/")[1]


def of_known(route: Route, known: Known, choice: random.Random, rows: bytes) -> Asked:
    """Return a request of a route that is likely to be answered: its example, or with what is known.

    Args:
        route: Of the API.
        known: What answers have told.
        choice: Of the values.
        rows: An export, for routes that take rows.
    """
    parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
    family = part_of(route)
    for part, model in route.models.items():
        example = BODIES.get(route.name, {}) if part == "body" else {}
        for name, one in model.model_fields.items():
            wanted = 1.0 if one.is_required() else 0.9 if name == "namespace" else 0.2
            if name in example:
                parts[part][name] = example[name]
                wanted = 0.5
            if choice.random() < wanted:
                is_place = name == "namespace"
                value = choice.choice(NAMESPACES) if is_place else known.guess(family, name, choice)
                if value is not None:
                    parts[part][name] = value
    path = {name: _in_path(one) for name, one in parts["path"].items()}
    sent: dict[str, Any] = {
        "method": route.method,
        "url": API + _template(route).format(**path),
        "params": {name: _in_query(one) for name, one in parts["query"].items()},
        "headers": {},
    }
    if route.uploads:
        sent["content"] = rows if "rows" in route.name else b"# Garden\n\nIt is green.\n"
        sent["headers"]["Content-Type"] = "application/x-ndjson"
    elif "body" in route.models:
        sent["content"] = json.dumps(parts["body"]).encode()
        sent["headers"]["Content-Type"] = "application/json"
    return Asked(sent=sent, door=route.name, text=str((sent, parts)))


def _template(route: Route) -> str:
    return route.path.replace(":path", "")


def _in_path(value: Any) -> str:
    from urllib.parse import quote

    return quote(str(value), safe="").replace(".", "%2E")


def _in_query(value: Any) -> Any:
    return [str(one) for one in value] if isinstance(value, list | tuple) else value


def of_mcp(choice: random.Random) -> Asked:
    """Return a message to the MCP endpoint."""
    kind = choice.random()
    method, params = "tools/call", dict[str, Any]()
    if kind < 0.7:
        tool = choice.choice(list(all_tools().values()))
        given = {
            name: choice.choice(MCP_POOL[name])
            for name, one in tool.arguments.model_fields.items()
            if name in MCP_POOL and (one.is_required() or choice.random() < 0.4)
        }
        if choice.random() < 0.1:
            given[choice.choice((*given, "viewer", "namespace"))] = choice.choice(WRONG)
        params = {"name": tool.name, "arguments": given}
    elif kind < 0.85:
        method, params = "resources/read", {"uri": choice.choice(URIS)}
    elif kind < 0.95:
        method = "prompts/get"
        params = {"name": "memory-block", "arguments": {"query": choice.choice(MCP_POOL["query"])}}
    else:
        method = choice.choice(("tools/list", "resources/list", "resources/templates/list",
                                "prompts/list", "secret/list"))  # fmt: skip
    place = choice.choice(("", *("?namespace=memories/home",) * 3, "?namespace=memories"))
    return Asked(
        sent={
            "method": "POST",
            "url": f"/memory/mcp{place}",
            "json": {"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            "headers": {
                "Accept": "application/json, text/event-stream",
                **choice.choice(HEADERS[:18]),
                "accept": "application/json, text/event-stream",
            },
        },
        door=f"mcp {params.get('name', method)}",
        text=json.dumps(params),
    )


def of_pages(choice: random.Random) -> Asked:
    """Return a request for a page, or what is none."""
    sent = {
        "method": choice.choice(("GET", "GET", "HEAD", "POST", "OPTIONS")),
        "url": choice.choice([one for one in PAGES if "events" not in one]),
        "headers": dict(choice.choice(HEADERS)),
    }
    return Asked(sent=sent, door="pages", text=str(sent))
