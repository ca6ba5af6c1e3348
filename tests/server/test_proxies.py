"""The configurations of docs/how-to/reverse-proxy.md in real proxies, where these are installed."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography", reason='the extra "server" is not installed')

import httpx
import websockets.asyncio.client as websockets
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.server.client import API, token_of
from tests.waiting import until

from langmemory.server.app import create_app  # isort: skip
from langmemory.errors import ConfigError
from langmemory.server.serving import listen, serving
from langmemory.server.settings import ServerSettings
from langmemory.stores import MemoryStore

pytestmark = [pytest.mark.integration, pytest.mark.thorough]

NAME = "memory.example.com"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "reverse-proxy.md"
PLACE = ("memories", "maria")
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {},
               "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip


def block(language: str) -> str:
    """Return the configuration that the page shows."""
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert found
    return found[1]


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate of our own; where it and its key are."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


def nginx(folder: Path, port: int, upstream: str) -> list[str]:
    """Write nginx's configuration around that of the page; the command."""
    cert, key = certificate(folder)
    shown = (
        block("nginx")
        .replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
        .replace(f"/etc/letsencrypt/live/{NAME}/fullchain.pem", str(cert))
        .replace(f"/etc/letsencrypt/live/{NAME}/privkey.pem", str(key))
        .replace("127.0.0.1:8765", upstream)
    )
    places = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    bare = (
        f"server {{ listen 127.0.0.1:{port + 1}; location / {{ proxy_pass http://{upstream}; }} }}"
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}\n"
        f"http {{ access_log off;\n{places}{shown}{bare} }}"
    )
    return ["nginx", "-e", f"{folder}/errors", "-c", f"{folder}/nginx.conf"]


def caddy(folder: Path, port: int, upstream: str) -> list[str]:
    """Write Caddy's configuration around that of the page; the command."""
    cert, key = certificate(folder)
    shown = (
        block("caddyfile")
        .replace(f"{NAME} {{", f"https://{NAME}:{port} {{\n    tls {cert} {key}")
        .replace("127.0.0.1:8765", upstream)
    )
    bare = f"http://127.0.0.1:{port + 1} {{\n reverse_proxy {upstream} \n}}\n"
    (folder / "Caddyfile").write_text(f"{{\n admin off\n auto_https off\n}}\n{shown}\n{bare}")
    return ["caddy", "run", "--adapter", "caddyfile", "--config", f"{folder}/Caddyfile"]


def accepts(port: int) -> bool:
    """Return whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_ports() -> int:
    """Return a port that is free, as the one after it is."""
    while True:
        with listen(ServerSettings(port=0)) as one:
            port = one.getsockname()[1]
        try:
            listen(ServerSettings(port=port + 1)).close()
        except ConfigError:  # it is taken
            continue
        return int(port)


@contextmanager
def proxied(
    make: Callable[[Path, int, str], list[str]], folder: Path, upstream: str
) -> Iterator[int]:
    """Run a proxy; its port with TLS. The one after it is of a proxy without any settings."""
    port = free_ports()
    command = make(folder, port, upstream.removeprefix("http://"))
    program = shutil.which(command[0])
    if program is None:
        pytest.skip(f"{command[0]} is not installed; Debian has a package of it")
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(
        [program, *command[1:]], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        until(lambda: accepts(port))
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.parametrize("make", [nginx, caddy])
async def test_a_proxy_as_the_page_configures_it(
    store: MemoryStore,
    tmp_path: Path,
    make: Callable[[Path, int, str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With TLS and a token: the page, a write from it, MCP, the first event at once, a WebSocket, and a body
    that is too large. Without a token nothing, also through a proxy that says nothing of itself."""
    settings = ServerSettings(port=0, allowed_hosts=(NAME,))
    bearer = {"Authorization": f"Bearer {token_of(store, 'maria', PLACE)}"}
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: real(
            "127.0.0.1" if host in (NAME, NAME.encode()) else host, *rest, **more
        ),
    )
    with (
        serving(create_app(store, settings=settings), settings) as upstream,
        proxied(make, tmp_path, upstream) as port,
    ):
        trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        site = f"https://{NAME}:{port}"
        async with httpx.AsyncClient(base_url=site, verify=trusted, timeout=30) as client:
            assert (await client.get("/healthz")).text == "ok\n"
            assert (await client.get("/memory/")).status_code == 200
            assert (await client.get(f"{API}/stats")).status_code == 401
            client.headers.update(bearer)
            said = {
                "thread_id": "t",
                "messages": [{"role": "user", "content": "Tofu sleeps on the piano"}],
            }
            of_page = {"Origin": site, "Sec-Fetch-Site": "same-origin"}
            written = await client.post(f"{API}/remember", json=said, headers=of_page)
            assert written.status_code == 200
            forged = {"Origin": "https://evil.example.com"}
            assert (
                await client.post(f"{API}/remember", json=said, headers=forged)
            ).status_code == 403
            try:
                large = await client.post(f"{API}/recall", json={"query": "x" * 10_000_000})
                assert large.status_code == 413
            except httpx.TransportError:  # Caddy cuts an upload off once it is refused
                assert make is caddy
            accepts = {"Accept": "application/json, text/event-stream"}
            found = await client.post("/memory/mcp", json=INITIALIZE, headers=accepts)
            assert found.json()["result"]["serverInfo"]["name"] == "langmemory"
            async with asyncio.timeout(20), client.stream("GET", "/memory/events") as events:
                lines = events.aiter_lines()
                while await anext(lines) != "event: ready":
                    pass
            address = f"wss://{NAME}:{port}/memory/ws"
            options: dict[str, Any] = {"ssl": trusted, "additional_headers": bearer}
            async with websockets.connect(address, **options) as events_too:
                assert '"ready"' in str(await events_too.recv())
            bare = await client.get(
                f"http://127.0.0.1:{port + 1}{API}/stats", headers={"Authorization": ""}
            )
            assert bare.status_code == 401


def test_nginx_without_settings_lets_no_stranger_in(store: MemoryStore, tmp_path: Path) -> None:
    """It passes requests on to loopback, by HTTP/1.0 and with no header of a proxy; also a server that was
    started for one person takes them for what they are."""
    with serving(create_app(store)) as upstream:
        assert httpx.get(f"{upstream}{API}/stats").status_code == 200
        with proxied(nginx, tmp_path, upstream) as port:
            assert httpx.get(f"http://127.0.0.1:{port + 1}{API}/stats").status_code == 401
