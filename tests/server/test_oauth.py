"""OAuth: the MCP endpoint as a resource server, with an issuer on loopback."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.client import API, ELSEWHERE, problem, serving, token_of
from tests.server.issuer import RESOURCE, Issuer, signed_by_hand

import httpx  # isort: skip

from langmemory.errors import ConfigError  # isort: skip
from langmemory.server.access import Grant
from langmemory.server.app import create_app
from langmemory.server.oauth.settings import OAuthSettings
from langmemory.server.oauth.verifier import (
    InvalidTokenError,
    IssuerKeys,
    MissingScopeError,
    grant_of,
    jwt_verifier,
)
from langmemory.server.problems import Problem
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore

MCP = "/memory/mcp"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
METADATA = "http://localhost/.well-known/oauth-protected-resource/memory/mcp"


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """A running issuer."""
    with Issuer() as running:
        yield running


def oauth(issuer: Issuer, **options: Any) -> ServerSettings:
    """Return the settings of a server that takes the issuer's tokens."""
    given = {"issuer": issuer.name, "resource": RESOURCE, **options}
    return ServerSettings(oauth=OAuthSettings(**given))


def calling(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the call of a tool."""
    return {**LIST, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


async def post(client: httpx.AsyncClient, token: str, message: Any = LIST) -> httpx.Response:
    """Send a message with a token."""
    headers = {**HEADERS, "Authorization": f"Bearer {token}"}
    return await client.post(MCP, json=message, headers=headers)


async def test_clients_learn_where_to_get_a_token(store: MemoryStore, issuer: Issuer) -> None:
    """A request without a token is answered with where the metadata is, and that names the issuer."""
    async with serving(store, settings=oauth(issuer), address=ELSEWHERE) as client:
        refused = await client.post(MCP, json=LIST, headers=HEADERS)
        assert (refused.status_code, problem(refused)) == (401, "unauthorized")
        assert refused.headers["www-authenticate"] == (
            f'Bearer realm="langmemory", resource_metadata="{METADATA}", '
            'scope="memory:read memory:write"'
        )
        metadata = (await client.get(METADATA)).json()
        assert metadata == {
            "resource": RESOURCE,
            "authorization_servers": [issuer.name],
            "bearer_methods_supported": ["header"],
            "resource_name": "langmemory",
            "scopes_supported": ["memory:read", "memory:write"],
        }
        for path in ("/.well-known", "/memory/.well-known"):
            found = await client.get(f"{path}/oauth-protected-resource")
            assert found.json() == metadata


async def test_a_mounted_endpoint_names_metadata_below_its_own_path(
    store: MemoryStore, issuer: Issuer
) -> None:
    """Inside another server nothing at the root is ours; the challenge names a place below /memory."""
    async with serving(store, settings=oauth(issuer), mounted=True) as client:
        refused = await client.post(MCP, json=LIST, headers=HEADERS)
        url = "http://localhost/memory/.well-known/oauth-protected-resource"
        assert f'resource_metadata="{url}"' in refused.headers["www-authenticate"]
        assert (await client.get(url)).json()["resource"] == RESOURCE
        assert (await client.get(METADATA)).status_code == 404
        assert (await post(client, issuer.token())).status_code == 200


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "EdDSA"])
async def test_a_token_of_the_issuer_acts_for_its_person(
    store: MemoryStore, algorithm: str
) -> None:
    """Viewer and namespace come from its claims: others do not see what was stored in private."""
    with Issuer(algorithm) as issuer:
        async with serving(store, settings=oauth(issuer), address=ELSEWHERE) as client:
            said = calling("remember", texts=["Tofu sleeps on the piano"], private=True)
            assert (await post(client, issuer.token(), said)).status_code == 200
            found = await post(client, issuer.token(), calling("recall", query="Tofu"))
            assert "piano" in found.text
            other = await post(client, issuer.token(sub="ben"), calling("recall", query="Tofu"))
            assert "piano" not in other.text
    [item] = store.search(("memories", "maria"))
    assert (item.value["owner"], item.value["privacy"]) == ("maria", "private")


def forgeries(issuer: Issuer, stranger: Issuer) -> dict[str, tuple[str, str]]:
    """Return tokens that do not count, and what is said of each."""
    now, good = int(time.time()), issuer.token()
    kid = next(iter(issuer.keys))
    head, body, signature = good.split(".")
    other = stranger.token(kid="k1", iss=issuer.name).rpartition(".")[2]
    claims = issuer.claims()
    key = "not the issuer's"
    return {
        "forged by another key": (stranger.token(iss=issuer.name), key),
        "other claims": (f"{head}.{issuer.token(sub='ben').split('.')[1]}.{signature}", key),
        "other signature": (f"{head}.{body}.{other}", key),
        "no signature": (f"{head}.{body}.", key),
        "alg none": (signed_by_hand({"alg": "none", "kid": kid}, claims, None), "algorithm"),
        "alg nOnE": (signed_by_hand({"alg": "nOnE", "kid": kid}, claims, None), "algorithm"),
        "HS256 with the public key": (
            signed_by_hand({"alg": "HS256", "kid": kid}, claims, issuer.public(kid)),
            "algorithm",
        ),
        "RS256 named for an EC key": (
            signed_by_hand({"alg": "RS256", "kid": kid}, claims, issuer.public(kid)),
            key,
        ),
        "key in the header": (
            stranger.token(headers={"kid": "mine", "jwk": {"kty": "oct", "k": "AA"}}, iss=issuer.name),
            "a key that the issuer does not have",
        ),
        "unknown kid": (issuer.token(headers={"kid": "k9"}), "a key that the issuer does not have"),
        "critical extension": (issuer.token(headers={"crit": ["exp"], "exp": 1}), "well-formed"),
        "logout token": (issuer.token(headers={"typ": "logout+jwt"}), "no access token"),
        "another audience": (issuer.token(aud="https://other.example.com/mcp"), "another server"),
        "audience above": (issuer.token(aud="http://localhost/"), "another server"),
        "no audience": (issuer.token(aud=None), "'aud' is missing"),
        "another issuer": (issuer.token(iss="https://evil.example.com"), "another issuer"),
        "issuer with a slash": (issuer.token(iss=f"{issuer.name}/"), "another issuer"),
        "no issuer": (issuer.token(iss=None), "'iss' is missing"),
        "expired": (issuer.token(exp=now - 61), "expired"),
        "never expires": (issuer.token(exp=None), "'exp' is missing"),
        "not yet valid": (issuer.token(nbf=now + 90), "not valid yet"),
        "issued tomorrow": (issuer.token(iat=now + 90_000), "not valid yet"),
        "nobody": (issuer.token(sub=None), "'sub' is missing"),
        "empty viewer": (issuer.token(sub=""), "'sub' is missing"),
        "viewer with a line break": (issuer.token(sub="maria\nadmin"), "'sub' is missing"),
        "no JWT": ("eyJhbGciOiJub25lIn0", "well-formed"),
        "a word": ("maria", "well-formed"),
    }  # fmt: skip


async def test_a_token_that_does_not_count_is_refused(store: MemoryStore, issuer: Issuer) -> None:
    """Forged, unsigned, of another issuer, audience or time: each is 401, says why, and repeats nothing."""
    with Issuer() as stranger:
        async with serving(store, settings=oauth(issuer), address=ELSEWHERE) as client:
            assert (await post(client, issuer.token())).status_code == 200
            for what, (token, said) in forgeries(issuer, stranger).items():
                refused = await post(client, token)
                assert refused.status_code == 401, what
                assert said in refused.json()["detail"], (what, refused.json()["detail"])
                challenge = refused.headers["www-authenticate"]
                assert 'error="invalid_token"' in challenge
                assert f'resource_metadata="{METADATA}"' in challenge
                assert token not in refused.text + challenge


async def test_clocks_may_differ_a_little(store: MemoryStore, issuer: Issuer) -> None:
    """A token counts that has expired, or is issued, within the leeway."""
    now = int(time.time())
    async with serving(store, settings=oauth(issuer), address=ELSEWHERE) as client:
        for times in ({"exp": now - 30}, {"nbf": now + 30}, {"iat": now + 30}):
            assert (await post(client, issuer.token(**times))).status_code == 200, times


async def test_a_token_counts_in_its_header_alone(store: MemoryStore, issuer: Issuer) -> None:
    """In the address, the body or a second header it is refused, and on REST it is no token."""
    token, bearer = issuer.token(), {"Authorization": f"Bearer {issuer.token()}"}
    async with serving(store, settings=oauth(issuer), address=ELSEWHERE) as client:
        for query in ("access_token", "token"):
            refused = await client.post(f"{MCP}?{query}={token}", json=LIST, headers=HEADERS)
            assert refused.status_code == 401
            refused = await client.post(
                f"{MCP}?{query}={token}", json=LIST, headers={**HEADERS, **bearer}
            )
            assert (refused.status_code, problem(refused)) == (422, "invalid")
            assert token not in refused.text
        assert (await client.post(MCP, data={"access_token": token})).status_code == 401
        asked = {"query": "cat"}
        assert (await client.post(f"{API}/recall", json=asked, headers=bearer)).status_code == 401


async def test_no_argument_chooses_the_viewer(store: MemoryStore, issuer: Issuer) -> None:
    """Neither an argument nor a header of a request makes it somebody else's."""
    place = ("memories", "maria")
    store.put(place, "k", {"text": "The secret cat", "privacy": "private", "owner": "ben"})
    headers = {**HEADERS, "Authorization": f"Bearer {issuer.token()}"}
    async with serving(store, settings=oauth(issuer), address=ELSEWHERE) as client:
        for more in ({}, {"viewer": "ben"}, {"owner": "ben"}, {"sub": "ben"}):
            message = calling("recall", query="cat", **more)
            found = await client.post(MCP, json=message, headers=headers)
            assert found.status_code == 200
            assert "secret" not in found.text
        as_ben = {**headers, "Memory-Viewer": '"ben"'}
        refused = await client.post(MCP, json=LIST, headers=as_ben)
        assert (refused.status_code, problem(refused)) == (403, "viewer")
        elsewhere = f"{MCP}?namespace=memories/ben"
        refused = await client.post(elsewhere, json=LIST, headers=headers)
        assert (refused.status_code, problem(refused)) == (403, "namespace")


async def test_scopes_say_what_a_token_may_do(store: MemoryStore, issuer: Issuer) -> None:
    """Without a scope of ours nothing, with read no writing; the refusal names the scope to ask for."""
    async with serving(store, settings=oauth(issuer), address=ELSEWHERE) as client:
        for token, message, needed in (
            (issuer.token(scope="openid profile"), LIST, "read"),
            (issuer.token(scope=None), LIST, "read"),
            (issuer.token(scope="memory:reader"), LIST, "read"),
            (issuer.token(scope="memory:read"), calling("remember", texts=["x"]), "write"),
        ):
            refused = await post(client, token, message)
            assert (refused.status_code, problem(refused)) == (403, "scope")
            challenge = refused.headers["www-authenticate"]
            assert f'error="insufficient_scope", scope="memory:{needed}"' in challenge
            assert f'resource_metadata="{METADATA}"' in challenge
        reader = issuer.token(scope=None, scp=["memory:read"])
        listed = await post(client, reader)
        assert '"recall"' in listed.text
        assert '"remember"' not in listed.text
        writer = issuer.token(scp="memory:write", scope="memory:read")
        assert '"remember"' in (await post(client, writer)).text
        own = token_of(store, "maria", ("memories", "maria"), scope="read")
        said = await post(client, own, calling("remember", texts=["x"]))
        assert (said.status_code, "isError" in said.text) == (200, True)
    assert not store.search(())


async def test_an_issuer_without_our_scopes_can_be_used(store: MemoryStore, issuer: Issuer) -> None:
    """With a scope in the settings, it is what every token may do, and none is asked for."""
    with_scope = oauth(issuer, scope="write")
    async with serving(store, settings=with_scope, address=ELSEWHERE) as client:
        refused = await client.post(MCP, json=LIST, headers=HEADERS)
        assert "scope=" not in refused.headers["www-authenticate"]
        assert "scopes_supported" not in (await client.get(METADATA)).json()
        said = calling("remember", texts=["Tofu is a cat"])
        assert (await post(client, issuer.token(scope=None), said)).status_code == 200
    assert len(store.search(())) == 1


async def test_a_key_that_is_turned_counts_without_a_restart(issuer: Issuer) -> None:
    """A token of a new key makes the keys be read again, once in a while; one of a withdrawn key ends with
    the time of those that were read."""
    given = OAuthSettings(issuer=issuer.name, resource=RESOURCE)
    patient, eager, brief = (
        jwt_verifier(given, IssuerKeys(given, **times))
        for times in ({}, {"pause_seconds": 0}, {"pause_seconds": 0, "fresh_seconds": 1e-9})
    )
    old = issuer.token()
    for verify in (patient, eager, brief):
        assert (await verify(old)).viewer == "maria"
    new = issuer.token(kid=issuer.new_key())
    with pytest.raises(InvalidTokenError):
        await patient(new)  # the keys were read a moment ago
    assert (await eager(new)).viewer == "maria"
    del issuer.keys["k1"]
    assert (await eager(old)).viewer == "maria"
    with pytest.raises(InvalidTokenError, match="does not have"):
        await brief(old)


async def test_unknown_keys_do_not_make_it_ask_the_issuer_each_time(issuer: Issuer) -> None:
    """Whatever keys a hundred tokens claim, the issuer is asked once in a while."""
    verify = jwt_verifier(OAuthSettings(issuer=issuer.name, resource=RESOURCE))
    for number in range(100):
        with pytest.raises(InvalidTokenError):
            await verify(issuer.token(headers={"kid": f"forged-{number}"}))
    assert issuer.asked.count("/jwks") == 1


async def test_an_issuer_that_is_down_is_said_so(
    store: MemoryStore, issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    """Its tokens are answered with 503 and its name, while langmemory's own tokens go on."""
    issuer.down = True
    own = token_of(store, "maria", ("memories", "maria"))
    async with serving(store, settings=oauth(issuer), address=ELSEWHERE) as client:
        for _ in range(3):
            refused = await post(client, issuer.token())
            assert (refused.status_code, problem(refused)) == (503, "issuer-unreachable")
            assert issuer.name in refused.json()["detail"]
            assert refused.headers["retry-after"] == "10"
        assert len(issuer.asked) == 1
        assert (await post(client, own)).status_code == 200
        refused = await post(client, "maria")
        assert refused.status_code == 401
    assert f"oauth_keys_failed issuer={issuer.name} reason=HTTPStatusError" in caplog.text


async def test_keys_outlive_an_outage(issuer: Issuer) -> None:
    """While the issuer is down the keys that were read count on until their time is over, and an unknown one
    is not called forged."""
    given = OAuthSettings(issuer=issuer.name, resource=RESOURCE)
    verify = jwt_verifier(given, IssuerKeys(given, pause_seconds=0.2, fresh_seconds=1.5))
    await verify(issuer.token())
    new = issuer.token(kid=issuer.new_key())
    issuer.down = True
    await asyncio.sleep(0.2)
    for _ in range(2):  # the second is not asked for: the first has just failed
        with pytest.raises(Problem, match="cannot be read"):
            await verify(new)
    assert issuer.asked.count("/jwks") == 2
    assert (await verify(issuer.token())).viewer == "maria"
    await asyncio.sleep(1.5)
    with pytest.raises(Problem, match="cannot be read"):
        await verify(issuer.token())
    issuer.down = False
    await asyncio.sleep(0.2)
    assert (await verify(issuer.token())).viewer == "maria"


@pytest.mark.parametrize(
    ("says", "said"),
    [
        ({"issuer": "https://evil.example.com"}, "is of the issuer 'https://evil.example.com'"),
        ({"jwks_uri": None}, "names no jwks_uri"),
        ({"jwks_uri": "http://evil.example.com/jwks"}, "https address as jwks_uri"),
    ],
)
async def test_metadata_of_somebody_else_is_not_believed(
    issuer: Issuer, says: dict[str, Any], said: str
) -> None:
    """Metadata that names another issuer, no keys, or keys without TLS gives no key."""
    issuer.says = says
    given = OAuthSettings(issuer=issuer.name, resource=RESOURCE)
    with pytest.raises(Problem, match=said):
        await jwt_verifier(given)(issuer.token())


async def test_an_issuer_may_have_a_path(store: MemoryStore) -> None:
    """As realms of Keycloak do; and its keys may be named without metadata."""
    with Issuer(path="/realms/home") as issuer:
        given = OAuthSettings(issuer=issuer.name, resource=RESOURCE)
        assert (await jwt_verifier(given)(issuer.token())).viewer == "maria"
        issuer.asked.clear()
        named = OAuthSettings(
            issuer=issuer.name, resource=RESOURCE, jwks_url=f"{issuer.url}/jwks", audience="api://m"
        )
        assert (await jwt_verifier(named)(issuer.token(aud=["x", "api://m"]))).viewer == "maria"
        assert issuer.asked == ["/jwks"]


async def test_an_application_can_verify_tokens_itself(store: MemoryStore, issuer: Issuer) -> None:
    """A verifier of its own decides what a token gives; refusals are answered as for JWTs."""

    async def verify(token: str) -> Grant:
        if token == "none":
            raise MissingScopeError
        if token != "opaque":
            raise InvalidTokenError("It is not in our list.")
        return Grant(id="app-1", viewer="ada", namespaces=(("team", "house"),), scope="read")

    settings = oauth(issuer)
    async with serving(store, settings=settings, address=ELSEWHERE, verifier=verify) as client:
        assert (await post(client, "opaque")).status_code == 200
        refused = await post(client, "opaque", calling("remember", texts=["x"]))
        assert (refused.status_code, problem(refused)) == (403, "scope")
        assert (await post(client, "none")).status_code == 403
        refused = await post(client, "other")
        assert (refused.status_code, "not in our list" in refused.text) == (401, True)
    with pytest.raises(ConfigError, match="A verifier needs"):
        create_app(store, verifier=verify)


def test_claims_make_a_grant() -> None:
    """Templates take any claim; a slash or a period in one makes no further label."""
    given = OAuthSettings(
        issuer="https://login.example.com",
        resource="https://memory.example.com/memory/mcp",
        viewer_claim="email",
        namespaces=("memories/{email}", "team-{org}/shared"),
    )
    claims = {"email": "ann/b@example.com", "org": "acme", "scope": "memory:admin memory:read"}
    found = grant_of(claims, given)
    assert found.viewer == "ann/b@example.com"
    assert found.namespaces == (("memories", "ann/b@example~2Ecom"), ("team-acme", "shared"))
    assert found.scope == "admin"
    assert "ann" not in found.id
    with pytest.raises(InvalidTokenError, match="'org'"):
        grant_of({**claims, "org": ["acme"]}, given)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"issuer": "http://login.example.com"}, "https address as issuer"),
        ({"issuer": "login.example.com"}, "https address as issuer"),
        ({"resource": "https://m.example.com/memory/mcp#x"}, "https address as resource"),
        ({"jwks_url": "file:///etc/passwd"}, "https address as jwks_url"),
        ({"namespaces": ("memories//x",)}, "'memories//x'"),
        ({"namespaces": ("memories/{sub",)}, r"'memories/\{sub'"),
        ({"namespaces": ("a.b",)}, "'a.b'"),
        ({"scope": "all"}, "not 'all'"),
    ],
)
def test_settings_that_cannot_be_are_refused(options: dict[str, Any], said: str) -> None:
    """Addresses without TLS, templates that are none and unknown scopes are errors at the start."""
    given = {"issuer": "https://i.example.com", "resource": "https://m.example.com/memory/mcp"}
    with pytest.raises(ConfigError, match=said):
        OAuthSettings(**{**given, **options})


@pytest.mark.thorough
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=st.one_of(st.text(max_size=60), st.from_regex(r"[\w-]{0,20}\.[\w-]{0,20}\.[\w-]{0,20}"))
)
async def test_any_text_is_refused_and_nothing_fails(issuer: Issuer, text: str) -> None:
    """Whatever stands where a token is expected, the verifier calls it invalid."""
    verify = jwt_verifier(OAuthSettings(issuer=issuer.name, resource=RESOURCE))
    with pytest.raises(InvalidTokenError):
        await verify(text)
