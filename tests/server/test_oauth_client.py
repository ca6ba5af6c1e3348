"""OAuth with the MCP SDK's own client: it finds the issuer, registers, signs in and asks for more."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.server.issuer import Issuer
from tests.server.mcp_client import SECOND, over_http, text_of

import httpx  # isort: skip
from mcp.client.auth import OAuthClientProvider  # isort: skip
from mcp.shared.auth import OAuthClientMetadata  # isort: skip

from langmemory.server.app import create_app  # isort: skip
from langmemory.server.oauth.settings import OAuthSettings
from langmemory.server.serving import address_of, listen, serving
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore

pytestmark = [pytest.mark.integration, pytest.mark.thorough]

SAID = "Tofu the cat sleeps on the piano"
BACK = "http://localhost:1/callback"


class Kept:
    """What a client keeps of a sign-in."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


def signing_in(url: str) -> OAuthClientProvider:
    """Return the SDK's client of OAuth, for a person who agrees to everything."""
    sent_back: dict[str, str] = {}

    async def open_browser(url: str) -> None:
        async with httpx.AsyncClient() as browser:
            answer = await browser.get(url)
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        sent_back.update({name: values[0] for name, values in query.items()})

    async def called_back() -> Any:
        if not SECOND:
            return sent_back["code"], sent_back["state"]
        from mcp.client.auth import AuthorizationCodeResult

        return AuthorizationCodeResult(code=sent_back["code"], state=sent_back["state"])

    metadata = OAuthClientMetadata(
        redirect_uris=[BACK],  # type: ignore[list-item]
        client_name="test",
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(
        server_url=url,
        client_metadata=metadata,
        storage=Kept(),
        redirect_handler=open_browser,
        callback_handler=called_back,
    )


def running(store: MemoryStore, issuer: Issuer, **options: Any) -> AbstractContextManager[str]:
    """Serve on a free port, which the settings have to know."""
    with listen(ServerSettings(port=0)) as free:
        address = address_of(free)
    port = urlsplit(address).port
    assert port is not None
    oauth = OAuthSettings(issuer=issuer.name, resource=f"{address}/memory/mcp")
    settings = ServerSettings(port=port, oauth=oauth)
    return serving(create_app(store, settings=settings, **options), settings)


@pytest.mark.parametrize("mounted", [False, True])
@pytest.mark.parametrize("path", ["", "/realms/home"])
async def test_a_client_signs_in_and_remembers(
    store: MemoryStore, tmp_path: Path, mounted: bool, path: str
) -> None:
    """From the address alone it gets a token for this server, and acts for the person who signed in."""
    with Issuer(path=path) as issuer, running(store, issuer, mounted=mounted) as address:
        url = f"{address}/memory/mcp"
        async with over_http(url, auth=signing_in(url)) as client:
            await client.done("remember", texts=[SAID], private=True)
            assert SAID in text_of(await client.call("recall", query="Tofu"))
    [asked] = issuer.authorized
    assert (asked["resource"], asked["scope"]) == (url, "memory:read memory:write")
    [item] = store.search(("memories", "maria"))
    assert item.value["owner"] == "maria"


async def test_a_client_asks_for_a_scope_that_it_lacks(store: MemoryStore) -> None:
    """Who was let read only is sent to allow writing when a tool needs it, and the call goes on."""
    with Issuer() as issuer, running(store, issuer) as address:
        issuer.grants = ["memory:read", "memory:read memory:write"]
        url = f"{address}/memory/mcp"
        async with over_http(url, auth=signing_in(url)) as client:
            assert await client.call("recall", query="Tofu")
            assert len(issuer.authorized) == 1
            await client.done("remember", texts=[SAID])
    assert len(issuer.authorized) == 2
    assert "memory:write" in issuer.authorized[1]["scope"]
    assert len(store.search(())) == 1
