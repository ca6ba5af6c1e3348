"""Config: what is read from where, and what a mistake in it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from langmemory.config import BUILT_IN_PRESETS, Config, load_config, markdown
from langmemory.errors import ConfigError
from langmemory.recall.presets import PRESETS

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(settings: Any) -> Path:
        file = tmp_path / "memory.json"
        file.write_text(settings if isinstance(settings, str) else json.dumps(settings))
        return file

    return write


def test_without_file_and_environment_everything_has_its_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing configured is a working configuration."""
    monkeypatch.chdir(tmp_path)
    assert load_config(environ={}) == Config()


def test_the_repository_file_shows_the_defaults() -> None:
    """`config/memory.json` changes nothing: a template that copies it starts from the defaults."""
    assert load_config(REPOSITORY / "config" / "memory.json", {}) == Config()


def test_the_reference_is_printed_from_the_model() -> None:
    """`docs/configuration.md` never drifts: `python -m langmemory.config` writes it."""
    assert (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8") == markdown()


def test_the_file_is_named_by_argument_then_variable_then_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An explicit path beats LANGMEMORY_CONFIG, which beats `./config/memory.json`."""
    monkeypatch.chdir(tmp_path)
    for folder, milliseconds in (("config", 1), ("variable", 2), ("argument", 3)):
        (tmp_path / folder).mkdir()
        settings = {"database": {"busy_timeout_ms": milliseconds}}
        (tmp_path / folder / "memory.json").write_text(json.dumps(settings))
    named = {"LANGMEMORY_CONFIG": "variable/memory.json"}
    assert load_config(environ={}).database.busy_timeout_ms == 1
    assert load_config(environ=named).database.busy_timeout_ms == 2
    assert load_config("argument/memory.json", named).database.busy_timeout_ms == 3


def test_the_environment_overrides_the_file(write: Any) -> None:
    """Each documented variable replaces its key; an empty one counts as not set."""
    file = write({"database": {"path": "a.db", "archive_path": "b.db", "busy_timeout_ms": 7}})
    environ = {
        "MEMORY_DB_PATH": "/data/memory.db",
        "MEMORY_ARCHIVE_DB_PATH": "",
        "OLLAMA_URL": "http://gpu:11434",
        "MOCK_EMBEDDINGS": "1",
    }
    config = load_config(file, environ)
    assert config.database.path == "/data/memory.db"
    assert config.database.archive_path == "b.db"
    assert config.database.busy_timeout_ms == 7
    assert config.models.ollama_url == "http://gpu:11434"
    assert config.models.mock_embeddings is True


def test_a_home_folder_is_expanded(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "~" in a path means the user's home, also in JSON and in a container's environment."""
    monkeypatch.setenv("HOME", "/home/maria")
    file = write({"database": {"archive_path": "~/old.db"}})
    config = load_config(file, {"MEMORY_DB_PATH": "~/memory.db"})
    assert config.database.path == "/home/maria/memory.db"
    assert config.database.archive_path == "/home/maria/old.db"


def test_the_file_itself_may_be_in_the_home_folder(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "~" in LANGMEMORY_CONFIG, too: an .env file or a service's unit has no shell to expand it."""
    file = write({"database": {"busy_timeout_ms": 3}})
    monkeypatch.setenv("HOME", str(file.parent))
    assert (
        load_config(environ={"LANGMEMORY_CONFIG": f"~/{file.name}"}).database.busy_timeout_ms == 3
    )


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    """A file that a Windows editor saved is read like any other."""
    file = tmp_path / "memory.json"
    file.write_text('{"database": {"busy_timeout_ms": 3}}', encoding="utf-8-sig")
    assert load_config(file, {}).database.busy_timeout_ms == 3


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"serch": {}}, ["'serch'", "did you mean 'search'"]),
        ({"database": {"pth": "x"}}, ["'database.pth'", "'path'"]),
        ({"database": {"busy_timeout_ms": -5}}, ["database.busy_timeout_ms", "-5", "0 to 600000"]),
        ({"models": {"ollama_context_tokens": True}}, ["models.ollama_context_tokens", "true"]),
        ({"database": {"busy_timeout_ms": "4"}}, ["busy_timeout_ms", '"4"', "integer"]),
        ({"database": {"synchronous": "off"}}, ['"off"', '"full", "normal"']),
        ({"database": None}, ["database is null", "object"]),
        ({"models": {"embedding": "minilm"}}, ["models.embedding", "minilm", "provider:model"]),
        ({"models": {"ollama_url": "localhost:11434"}}, ["models.ollama_url", "http://"]),
        ({"ttl": {"default_ttl": 0}}, ["ttl.default_ttl", "above 0"]),
        ({"ttl": {"default_ttl": 1e300}}, ["ttl.default_ttl", "1e+300", "525600000"]),
        ({"recall": {"presets": {"fast": 3}}}, ["recall.presets", "object"]),
        ({"recall": {"preset": "quick"}}, ["recall.preset", "'quick'", "balanced"]),
        ({"recall": {"preset": ""}}, ["recall.preset", '""', "not empty"]),
        ('{"reflection": {"debounce_seconds": NaN}}', ["reflection.debounce_seconds", "NaN"]),
        ([], ["the file", "object"]),
        ("{nonsense", ["not a JSON file"]),
    ],
)
def test_a_mistake_names_file_key_value_and_what_is_allowed(
    write: Any, settings: Any, parts: list[str]
) -> None:
    """A typing error costs one look at the message."""
    file = write(settings)
    with pytest.raises(ConfigError) as caught:
        load_config(file, {})
    for part in [str(file), *parts]:
        assert part in str(caught.value)


def test_the_presets_a_setting_may_name_are_those_of_recall_and_those_of_the_file(
    write: Any,
) -> None:
    """Built-in presets are known by their names; one of the file's own may be named as well."""
    assert set(BUILT_IN_PRESETS) == set(PRESETS)
    own = {"recall": {"presets": {"mine": {}}, "preset": "mine"}}
    assert load_config(write(own), {}).recall.preset == "mine"


def test_there_are_no_more_than_forty_keys() -> None:
    """Everybody can read all of them; what only a program sets is an option of a program."""
    assert sum(len(type(section).model_fields) for _, section in Config()) <= 40


def test_all_mistakes_are_told_at_once(write: Any) -> None:
    """Two wrong keys are two lines, so that one start finds both."""
    with pytest.raises(ConfigError) as caught:
        load_config(write({"database": {"busy_timeout_ms": -1, "pth": 1}}), {})
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [
        ("MOCK_EMBEDDINGS", "maybe", "1, true, 0, false"),
        ("OLLAMA_URL", "gpu", "http://"),
        ("LANGMEMORY_CONFIG", "/no/such/file.json", "/no/such/file.json"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, allowed: str
) -> None:
    """Nobody searches the file for what the environment did."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load_config(environ={variable: value})
    assert variable in str(caught.value)
    assert allowed in str(caught.value)


def test_a_configuration_does_not_change_after_it_was_read() -> None:
    """A running store never sees a setting move."""
    with pytest.raises(ValidationError):
        Config().database.path = "other.db"
