"""Addresses of a memory: the path of a file, or the URL of a schema on a PostgreSQL server."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

from langmemory.errors import ConfigError

SCHEMES: Final = ("postgresql://", "postgres://")
"""One of these begins the address of a server; everything else is a path."""
DEFAULT_SCHEMA: Final = "langmemory"
LONGEST_NAME: Final = 63
"""Bytes of the name of a schema."""
POOL_SIZE: Final = 8
MOST_CONNECTIONS: Final = 1_000
POOL_TIMEOUT_SECONDS: Final = 30.0
LONGEST_TIMEOUT_SECONDS: Final = 3_600.0
WHERE: Final = ("host", "hostaddr", "port", "dbname", "service")
"""Options of libpq that say where a database is."""

_HOST: Final = r"(?:\[[^\]/@]*\]|[^/?@:,\[\]]*)(?::\d*)?"
_URL: Final = re.compile(
    rf"postgres(?:ql)?://(?:(?P<user>[^@/?:]*)(?::[^@/?]*)?@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?P<database>/[^?@]*)?(?:\?(?P<options>.*))?",
    re.DOTALL,
)


def is_server(place: str | os.PathLike[str]) -> bool:
    """Return whether an address is that of a PostgreSQL server.

    Raises:
        ConfigError: It was one before pathlib took a slash out of it.
    """
    text = os.fspath(place)
    if text.startswith(SCHEMES):
        return True
    if isinstance(place, os.PathLike) and text.startswith(tuple(one[:-1] for one in SCHEMES)):
        raise ConfigError(
            "The address of a PostgreSQL server is a pathlib.Path, which takes a slash out of it. Pass a str."
        )
    return False


def display_address(place: str, *, user: bool = False) -> str:
    """Return an address as it may be shown: that of a server without password and options, and without
    the user's name unless that is asked for."""
    return Address(place).shown(user=user) if place.startswith(SCHEMES) else place


def in_schema(place: str | os.PathLike[str], schema: str) -> str:
    """Return the address of another schema of the same server.

    Raises:
        ConfigError: It is the path of a file.
    """
    if not is_server(place):
        raise ConfigError(
            f"schema={schema!r:.80} is given with {os.fspath(place)!r:.200}; only a server has schemas."
        )
    url, _, options = str(place).partition("?")
    others = [one for one in options.split("&") if one and not one.startswith("schema=")]
    return f"{url}?" + "&".join([*others, f"schema={quote(schema, safe='')}"])


class Address:
    """The address of a schema: ``postgresql://user:password@host:port/database?schema=name``.

    Two more options are ours, ``pool_size`` and ``pool_timeout_seconds``. All others are those of libpq,
    such as ``sslmode``. Two addresses are equal where their URLs are.
    """

    def __init__(self, url: str) -> None:
        """Read a URL.

        Raises:
            ConfigError: It is none. The message does not repeat it, for it may hold a password.
        """
        found = _URL.fullmatch(url)
        if found is None:
            raise ConfigError(
                "The address of the PostgreSQL server cannot be read. Write it as "
                "postgresql://user:password@host:5432/database?schema=langmemory, and the characters "
                "@ : / ? # % in a user's name or password as %40 %3A %2F %3F %23 %25."
            )
        own: dict[str, str] = {}
        options: list[str] = []
        for option in filter(None, (found["options"] or "").split("&")):
            name, _, value = option.partition("=")
            if name in ("schema", "pool_size", "pool_timeout_seconds"):
                own[name] = unquote(value)
            else:
                options.append(option)
        schema = own.get("schema", DEFAULT_SCHEMA)
        if not schema or not schema.isprintable() or len(schema.encode()) > LONGEST_NAME:
            raise ConfigError(
                f"schema={schema!r:.80} is no name of a schema; it has 1 to {LONGEST_NAME} bytes."
            )
        self.schema = schema
        self.pool_size = int(_number(own, "pool_size", POOL_SIZE, 2, MOST_CONNECTIONS))
        """Connections that one process has at most."""
        self.pool_timeout_seconds = _number(
            own, "pool_timeout_seconds", POOL_TIMEOUT_SECONDS, 0.1, LONGEST_TIMEOUT_SECONDS
        )
        """How long a call waits for a connection, and for a server that is restarting."""
        self._url = url
        self._user, self._place = found["user"] or "", f"{found['hosts']}{found['database'] or ''}"
        self._where = [one for one in options if one.partition("=")[0] in WHERE]
        self.url = url.partition("?")[0] + (f"?{'&'.join(options)}" if options else "")
        """As libpq reads it."""

    def shown(self, *, user: bool = False) -> str:
        """Return it without password and options, but for those that say where it is, and without the user's
        name unless it is asked for. A store can be opened by it, where libpq finds the rest elsewhere."""
        name = f"{self._user}@" if user and self._user else ""
        options = "&".join([f"schema={quote(self.schema)}", *self._where])
        return f"postgresql://{name}{self._place}?{options}"[:300]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and self._url == other._url

    def __hash__(self) -> int:
        return hash(self._url)

    def __repr__(self) -> str:
        return f"Address({self.shown()!r})"


def _number(
    options: Mapping[str, str], name: str, default: float, least: float, most: float
) -> float:
    text = options.get(name, str(default))
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not least <= number <= most:
        raise ConfigError(f"{name}={text!r:.80} is not allowed: it is from {least:g} to {most:g}.")
    return number
