"""An authorization server on loopback: metadata, keys made here, and a consent that is always given."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

pytest.importorskip("jwt", reason='the extra "server" is not installed')

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tests.loopback import JsonHandler, LoopbackServer

KEYS: dict[str, Any] = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "RS256": lambda: rsa.generate_private_key(65_537, 2_048),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


class Issuer(LoopbackServer):
    """The server. Tests turn its keys, count what it is asked, and make it fail."""

    def __init__(self, *algorithms: str, path: str = "") -> None:
        self.keys: dict[str, tuple[str, Any]] = {}
        self.path = path
        self.asked: list[str] = []
        self.down = False
        self.says: dict[str, Any] = {}
        """What the metadata says otherwise."""
        self.grants = ["memory:read memory:write"]
        """Scopes that sign-ins get, one after the other; the last from then on."""
        self.authorized: list[dict[str, str]] = []
        """What clients asked the person for."""
        for algorithm in algorithms or ("ES256",):
            self.new_key(algorithm)
        issuer = self

        class Handler(JsonHandler):
            def do_GET(self) -> None:
                issuer.get(self)

            def do_POST(self) -> None:
                issuer.post(self)

        super().__init__(Handler)

    @property
    def name(self) -> str:
        """The issuer, as its tokens name it."""
        return self.url + self.path

    def new_key(self, algorithm: str = "ES256") -> str:
        """Make a key; its id."""
        kid = f"k{len(self.keys) + 1}"
        self.keys[kid] = algorithm, KEYS[algorithm]()
        return kid

    def token(
        self, kid: str | None = None, headers: dict[str, Any] | None = None, **claims: Any
    ) -> str:
        """Return an access token for Maria; a claim of None is left out."""
        kid = kid or next(iter(self.keys))
        algorithm, key = self.keys[kid]
        return jwt.encode(self.claims(**claims), key, algorithm, {"kid": kid, **(headers or {})})

    def claims(self, **claims: Any) -> dict[str, Any]:
        """Return the claims of such a token."""
        now = int(time.time())
        found = {
            "iss": self.name,
            "sub": "maria",
            "aud": RESOURCE,
            "iat": now,
            "exp": now + 300,
            "scope": "openid memory:read memory:write",
            **claims,
        }
        return {name: value for name, value in found.items() if value is not None}

    def public(self, kid: str) -> bytes:
        """Return the public key as PEM."""
        pem: bytes = (
            self.keys[kid][1]
            .public_key()
            .public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
        return pem

    def get(self, handler: JsonHandler) -> None:
        """Answer metadata and keys, or send the person's browser back to the client."""
        asked = urlsplit(handler.path)
        self.asked.append(asked.path)
        if self.down:
            handler.answer({}, 500)
        elif asked.path == f"/.well-known/oauth-authorization-server{self.path}":
            metadata = {
                "issuer": self.name,
                "jwks_uri": f"{self.url}/jwks",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }
            handler.answer({**metadata, **self.says})
        elif asked.path == "/jwks":
            handler.answer({"keys": [_jwk(kid, *key) for kid, key in self.keys.items()]})
        elif asked.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(asked.query).items()}
            self.authorized.append(query)
            code = json.dumps({"resource": query["resource"], "challenge": query["code_challenge"]})
            back = urlencode({"code": code, "state": query["state"]})
            handler.send_response(302)
            handler.send_header("Location", f"{query['redirect_uri']}?{back}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        else:
            handler.answer({}, 404)

    def post(self, handler: JsonHandler) -> None:
        """Register a client, or give a token for a code."""
        raw = handler.rfile.read(int(handler.headers["Content-Length"]))
        if handler.path == "/register":
            metadata = {**json.loads(raw), "client_id": "c1", "token_endpoint_auth_method": "none"}
            handler.answer(metadata, 201)
            return
        form = {name: values[0] for name, values in parse_qs(raw.decode()).items()}
        code = json.loads(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == code["challenge"]
        assert form["resource"] == code["resource"]
        scope = self.grants.pop(0) if len(self.grants) > 1 else self.grants[0]
        token = self.token(aud=form["resource"], scope=scope)
        handler.answer({"access_token": token, "token_type": "Bearer", "scope": scope})


RESOURCE = "http://localhost/memory/mcp"


def _jwk(kid: str, algorithm: str, key: Any) -> dict[str, Any]:
    made = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)  # type: ignore[attr-defined]
    return {**made, "kid": kid, "use": "sig", "alg": algorithm}


def signed_by_hand(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None) -> str:
    """Return a token with HS256, or without a signature, as no library would make it."""
    parts = ".".join(
        base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=")
        for one in (header, claims)
    )
    signature = hmac.new(secret, parts.encode(), hashlib.sha256).digest() if secret else b""
    return f"{parts}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"
