"""Who is let in: tokens, whoever sits here, names of hosts, pages of other sites."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.server.client import API, ELSEWHERE, problem, serving, token_of

from langmemory.server.app import create_app  # isort: skip
from langmemory.server.oauth.settings import OAuthSettings  # isort: skip
from langmemory.server.settings import ServerSettings  # isort: skip
from langmemory.errors import ConfigError  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

OAUTH = OAuthSettings(
    issuer="https://login.example.com", resource="https://memory.example.com/memory/mcp"
)
ASK = {"json": {"query": "cat"}}
PLACE = ("memories", "maria")


async def test_whoever_sits_here_needs_no_token(store: MemoryStore) -> None:
    """A request of this machine to this machine is let in, and sees the whole file."""
    store.put(PLACE, "k", {"text": "Tofu is a cat", "privacy": "private", "owner": "maria"})
    async with serving(store) as client:
        found = await client.post(f"{API}/recall", **ASK)
    assert [one["memory"]["key"] for one in found.json()["results"]] == ["k"]


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"Host": "memory.example.com"},
    ],
)
async def test_what_a_proxy_passes_on_is_not_from_here(
    store: MemoryStore, headers: dict[str, str]
) -> None:
    """Behind a proxy on the same machine nobody is let in without a token."""
    settings = ServerSettings(allowed_hosts=("memory.example.com",))
    async with serving(store, settings=settings) as client:
        assert problem(await client.post(f"{API}/recall", headers=headers, **ASK)) == "unauthorized"


@pytest.mark.parametrize("prefix", [API, "/memory"])
async def test_http_1_0_is_of_a_proxy(store: MemoryStore, prefix: str) -> None:
    """nginx without further settings passes requests on as HTTP/1.0, addressed to loopback, with no header
    that says so. They need a token."""
    app = create_app(store)
    path = f"{prefix}/recall" if prefix == API else f"{prefix}/events"
    scope = {
        "type": "http", "method": "POST" if prefix == API else "GET", "path": path, "raw_path": path.encode(),
        "query_string": b"", "root_path": "", "scheme": "http", "http_version": "1.0",
        "headers": [(b"host", b"127.0.0.1:8765"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 4711), "server": ("127.0.0.1", 8765),
    }  # fmt: skip
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b'{"query": "cat"}', "more_body": False}

    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
    assert sent[0]["status"] == 401


@pytest.mark.parametrize(
    ("settings", "address", "mounted"),
    [
        (ServerSettings(), ELSEWHERE, False),
        (ServerSettings(require_token=True), "127.0.0.1", False),
        (ServerSettings(host="0.0.0.0"), "127.0.0.1", False),
        (ServerSettings(allowed_hosts=("memory.example.com",)), "127.0.0.1", False),
        (ServerSettings(oauth=OAUTH), "127.0.0.1", False),
        (ServerSettings(), "127.0.0.1", True),
    ],
)
async def test_everybody_else_needs_a_token(
    store: MemoryStore, settings: ServerSettings, address: str, mounted: bool
) -> None:
    """From elsewhere, where it is asked for, on a server open to all and inside another one, no request
    gets in without a token, and each does with one."""
    token = token_of(store, None)
    async with serving(store, settings=settings, address=address, mounted=mounted) as client:
        refused = await client.post(f"{API}/recall", **ASK)
        assert (refused.status_code, problem(refused)) == (401, "unauthorized")
        assert refused.headers["www-authenticate"].startswith("Bearer")
        bearer = {"Authorization": f"Bearer {token}"}
        assert (await client.post(f"{API}/recall", headers=bearer, **ASK)).status_code == 200


async def test_a_token_that_does_not_count_is_refused(store: MemoryStore) -> None:
    """Forged, revoked, expired and malformed tokens are refused, also on this machine."""
    made, good = store.tokens.create(scope="read")
    revoked, gone = store.tokens.create(scope="admin")
    store.tokens.revoke(revoked.id)
    now = datetime.now(UTC)
    past = store.tokens
    past.clock = lambda: now - timedelta(days=2)
    _, expired = past.create(expires_at=now - timedelta(days=1))
    forged = f"lmt_{made.id}_{'A' * 43}"
    async with serving(store) as client:
        for text in (forged, gone, expired, good[:-1], f"{good}A", "", "x" * 10_000, "lmt_é"):
            headers = {"Authorization": b"Bearer " + text.encode()}
            assert (await client.post(f"{API}/recall", headers=headers, **ASK)).status_code == 401
        for header in (good, f"Basic {good}"):
            refused = await client.post(f"{API}/recall", headers={"Authorization": header}, **ASK)
            assert refused.status_code == 401
        headers = {"Authorization": f"Bearer {good}"}
        assert (await client.post(f"{API}/recall", headers=headers, **ASK)).status_code == 200
        in_query = await client.post(f"{API}/recall?access_token={good}", **ASK)
        assert problem(in_query) == "invalid"


def test_a_token_is_not_in_the_file(store: MemoryStore) -> None:
    """What is stored of a token does not give it back."""
    _, text = store.tokens.create(viewer="maria")
    secret = text.split("_", 2)[2]  # which may hold one
    engine = store._core.engine
    assert engine.leftovers([secret])[1] == []
    assert engine.leftovers(["maria"])[1] != []


@pytest.mark.parametrize(
    "wrong",
    [{"viewer": " "}, {"scope": "root"}, {"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}],
)
def test_a_wrong_token_is_not_made(store: MemoryStore, wrong: dict[str, Any]) -> None:
    """An empty viewer, an unknown scope and a time that is over are refused."""
    with pytest.raises(ConfigError):
        store.tokens.create(**wrong)
    assert store.tokens.listed() == []


async def test_a_name_that_points_here_is_refused(store: MemoryStore) -> None:
    """DNS rebinding: a request to a name that is none of this server's is refused."""
    async with serving(store) as client:
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.nip.io", ""):
            refused = await client.post(f"{API}/recall", headers={"Host": host}, **ASK)
            assert (refused.status_code, problem(refused)) == (421, "host")
        for host in ("localhost:8765", "LOCALHOST", "127.0.0.1:1", "[::1]:8765"):
            let_in = await client.post(f"{API}/recall", headers={"Host": host}, **ASK)
            assert let_in.status_code == 200, host


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_pages_of_other_sites_are_refused(
    store: MemoryStore, headers: dict[str, str]
) -> None:
    """CSRF: what a browser sends for a page of another site is refused, and no answer allows CORS."""
    async with serving(store) as client:
        refused = await client.post(f"{API}/recall", headers=headers, **ASK)
        assert problem(refused) == "origin"
        asked = await client.options(
            f"{API}/recall", headers={**headers, "Access-Control-Request-Method": "POST"}
        )
        assert not [name for name in asked.headers if name.startswith("access-control")]


async def test_a_form_is_no_request(store: MemoryStore) -> None:
    """A body of a type that a form can send is refused."""
    async with serving(store) as client:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            sent = await client.post(
                f"{API}/recall", content=b'{"query": "cat"}', headers={"Content-Type": kind}
            )
            assert (sent.status_code, problem(sent)) == (415, "media-type")


async def test_a_token_reaches_its_namespaces_alone(store: MemoryStore) -> None:
    """What lies elsewhere is refused by name, and not found from above."""
    store.put(("memories", "ben"), "k", {"text": "Rex is a cat"})
    store.put(("memories", "maria"), "k", {"text": "Tofu is a cat"})
    store.put(("memories", "maria", "work"), "k", {"text": "The cat at work"})
    token = token_of(store, None, ("memories", "maria"))
    async with serving(store, token=token) as client:
        for namespace in (["memories"], ["memories", "ben"], ["memories", "mari"]):
            asked = {"query": "cat", "namespace": namespace}
            assert problem(await client.post(f"{API}/recall", json=asked)) == "namespace"
        for asked in ({"query": "cat"}, {"query": "cat", "namespace": ["memories", "maria"]}):
            found = (await client.post(f"{API}/recall", json=asked)).json()["results"]
            assert sorted(tuple(one["memory"]["namespace"]) for one in found) == [
                ("memories", "maria"),
                ("memories", "maria", "work"),
            ]
    several = token_of(store, None, ("memories", "maria"), ("memories", "ben"))
    async with serving(store, token=several) as client:
        assert problem(await client.post(f"{API}/recall", **ASK)) == "namespace-needed"


async def test_a_token_allows_what_its_scope_says(store: MemoryStore) -> None:
    """A reader does not write."""
    said = {
        "messages": [{"role": "user", "content": "Tofu is a cat"}],
        "thread_id": "t",
        "namespace": list(PLACE),
    }
    async with serving(store, token=token_of(store, "maria", scope="read")) as client:
        assert problem(await client.post(f"{API}/remember", json=said)) == "scope"
    async with serving(store, token=token_of(store, "maria", scope="write")) as client:
        assert (await client.post(f"{API}/remember", json=said)).status_code == 200
    assert len(store.search(PLACE)) == 1


async def test_a_token_outlives_forgetting_and_does_not_hinder_it(store: MemoryStore) -> None:
    """What a person said is forgotten and proven gone, though a token still bears their name."""
    store.put(PLACE, "k", {"text": "Tofu is a cat", "owner": "maria"})
    token = token_of(store, "maria", PLACE)
    assert store.forget((), owner="maria").purged
    assert store.tokens.verified(token) is not None
