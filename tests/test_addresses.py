"""Addresses: what is a server, which schema is meant, and what may be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from langmemory import MemoryStore
from langmemory.addresses import Address, display_address, in_schema, is_server
from langmemory.config import Config, DatabaseConfig
from langmemory.errors import ConfigError

SECRETS = (
    "postgresql://ann:hush@db.example:5432/app?schema=team&sslmode=require",
    "postgres://ann:hush@h1:5432,h2:5433/app?schema=team&password=hush",
    "postgresql://ann:hush@[::1]:5432/app?schema=team",
    "postgresql:///app?host=/run/postgresql&user=ann&password=hush&schema=team",
)


@pytest.mark.parametrize("url", SECRETS)
def test_a_shown_address_has_no_password(url: str) -> None:
    """Neither password nor user are in what is shown of an address, its own text or the configuration's."""
    config = Config(database=DatabaseConfig(path=url))
    for text in (display_address(url), repr(Address(url)), repr(config), str(config)):
        assert "hush" not in text
        assert "ann" not in text
        assert "/app?schema=team" in text


@pytest.mark.parametrize("url", SECRETS)
def test_what_is_shown_is_an_address_of_the_same_place(url: str) -> None:
    """A store can be opened again by its path: by host or socket, port, database and schema."""
    again, first = Address(display_address(url)), Address(url)
    conninfo = pytest.importorskip("psycopg.conninfo")
    told, asked = (conninfo.conninfo_to_dict(one.url) for one in (again, first))
    assert again.schema == first.schema
    for name in ("host", "port", "dbname"):
        assert told.get(name) == asked.get(name)


@pytest.mark.parametrize("url", SECRETS)
def test_the_schema_is_ours_and_the_rest_is_libpqs(url: str) -> None:
    """The option schema is taken out of an address; every other option is left as it is."""
    address = Address(url)
    assert address.schema == "team"
    assert "schema" not in address.url
    assert address.url.count("=") == url.count("=") - 1


def test_options_of_libpq_are_not_written_anew() -> None:
    """An escaped space stays one: libpq does not read a plus as a space."""
    url = "postgresql://host/db?options=-c%20statement_timeout%3D9000&schema=a%20b"
    assert Address(url).url == "postgresql://host/db?options=-c%20statement_timeout%3D9000"
    assert Address(url).schema == "a b"


def test_without_a_name_the_schema_is_langmemory() -> None:
    """An address that names no schema means the schema langmemory."""
    assert Address("postgresql://host/db").schema == "langmemory"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hu/sh@host/db",
        "postgresql://ann:hush@host:5432@host/db",
        "postgresql://ann:hush#x@h:port/db",
        "postgresql://ann:hush",
        "postgresql://host/hush@db",
    ],
)
def test_a_wrong_address_is_not_repeated(url: str) -> None:
    """The error about an address that cannot be read does not hold it, for it may hold a password."""
    with pytest.raises(ConfigError, match="%40") as raised:
        MemoryStore(url)
    assert "hush" not in str(raised.value)
    assert "sh@" not in str(raised.value)


@pytest.mark.parametrize("name", ["", "x" * 64, "ä" * 32, "a\0b", "a\nb", "\ud800"])
def test_a_schema_has_a_name(name: str) -> None:
    """A name that PostgreSQL would refuse or cut off is refused, with the name in the message."""
    with pytest.raises(ConfigError, match="is no name of a schema"):
        Address(f"postgresql://host/db?schema={name}")


def test_a_schema_can_be_given_beside_an_address() -> None:
    """The schema that is given replaces that of the address, and keeps its other options."""
    assert in_schema("postgresql://host/db", "a b") == "postgresql://host/db?schema=a%20b"
    changed = in_schema("postgres://host/db?schema=x&sslmode=require", "y")
    assert Address(changed).schema == "y"
    assert Address(changed).url == "postgres://host/db?sslmode=require"


def test_a_file_has_no_schema(tmp_path: Path) -> None:
    """A schema given with a file is refused."""
    with pytest.raises(ConfigError, match="only a server has schemas"):
        MemoryStore(tmp_path / "memory.db", schema="team")


def test_a_path_object_cannot_be_a_server() -> None:
    """An address that pathlib has broken is refused instead of becoming a file of that name."""
    assert is_server("postgres://host/db")
    assert not is_server(Path("postgresql.db"))
    with pytest.raises(ConfigError, match="Pass a str"):
        MemoryStore(Path("postgresql://host/db"))
