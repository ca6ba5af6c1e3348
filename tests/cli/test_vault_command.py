"""`langmemory vault`: a secret goes in by stdin or a hidden prompt, and comes out only where asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest
from typer.testing import CliRunner, Result

from langmemory.cli.app import app
from langmemory.parts.vault import VaultKey

WORD = "correct-horse-battery-42"


def run(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["vault", *words], input=given)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANGMEMORY_VAULT_KEY_FILE", "vault.key")


def test_a_secret_from_put_to_forget() -> None:
    """It is printed by --reveal alone; each step says what it did, and the log tells all of them."""
    assert "LANGMEMORY_VAULT_KEY_FILE=vault.key" in run("key", "--file", "vault.key").stdout
    for number in ("1", "2"):
        stored = run("put", "GitHub token", given=f"{WORD}{number}\n")
        assert f"Stored GitHub token (version {number})" in stored.stdout
    shown = [
        run("get", "GitHub token"),
        run("list"),
        run("list", "--json"),
        run("key"),
        run("audit"),
    ]
    assert [one.exit_code for one in shown] == [0] * 5
    assert WORD not in "".join(one.output for one in shown)
    assert "--reveal prints it" in shown[0].stderr
    unknown = run("get", "GitHub tokens")
    assert (unknown.exit_code, "vault list" in unknown.stderr) == (2, True)
    assert run("get", "GitHub token", "--reveal", "--reason", "deploy").stdout == f"{WORD}2"
    assert run("get", "GitHub token", "--reveal", "--version", "1").stdout == f"{WORD}1"
    run("key", "--file", "vault.key")
    assert "Encrypted 2 versions anew" in run("rotate").stdout
    assert "vault restore 'GitHub token'" in run("rm", "GitHub token").stdout
    assert run("get", "GitHub token", "--reveal").exit_code == 1
    assert "version 2 counts" in run("restore", "GitHub token").stdout
    assert run("rm", "GitHub token", "--forget", given="n\n").exit_code == 1
    assert "Erased 2 versions" in run("rm", "GitHub token", "--forget", "--yes").stdout
    told = [one["action"] for one in json.loads(run("audit", "--json").stdout)]
    assert told[::-1] == ["put", "put", "unlock", "unlock", "rotate", "delete", "restore", "forget"]


def test_a_wrong_key_and_no_key_are_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says where the key was looked for and what makes one; nothing that was typed is repeated."""
    refused = run("put", "wifi", given=WORD)
    assert (refused.exit_code, "vault.key: No such file" in refused.stderr) == (1, True)
    assert WORD not in refused.output
    run("key", "--file", "vault.key")
    run("put", "wifi", given=WORD)
    monkeypatch.setenv("LANGMEMORY_VAULT_KEY", VaultKey.generate().text())
    refused = run("get", "wifi", "--reveal")
    assert (refused.exit_code, "the environment variable" in refused.stderr) == (1, True)
    assert "not here" in run("key").stdout
    monkeypatch.delenv("LANGMEMORY_VAULT_KEY")
    Path("vault.key").chmod(0o644)
    assert "Others may read the key of the vault in vault.key (mode 644)" in run("key").stdout
    assert "exclude each other" in run("key", "--new", "--file", "x").stderr
    assert run("key", "--new").stdout.startswith("lmk_")


def test_the_key_may_be_in_the_system_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the package keyring, with a backend as a system has one: made, used, rotated, and a keyring
    that fails is told."""
    keyring = pytest.importorskip("keyring", reason="the extra vault is not installed")

    class Ring(keyring.backend.KeyringBackend):  # type: ignore[misc, name-defined]
        priority = 1
        entries: ClassVar[dict[tuple[str, str], str]] = {}

        def get_password(self, service: str, username: str) -> str | None:
            return self.entries.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            self.entries[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.entries[service, username]

    before = keyring.get_keyring()
    monkeypatch.delenv("LANGMEMORY_VAULT_KEY_FILE")
    monkeypatch.setenv("LANGMEMORY_VAULT_KEYRING", "work")
    try:
        keyring.set_keyring(Ring())
        assert "holds no key" in run("put", "wifi", given=WORD).stderr
        assert "is in the keyring" in run("key", "--keyring", "work").stdout
        assert "Stored wifi (version 1)" in run("put", "wifi", given=WORD).stdout
        run("key", "--keyring", "work")
        assert len(Ring.entries["langmemory", "work"].splitlines()) == 2
        assert "Encrypted 1 version anew" in run("rotate").stdout
        assert run("get", "wifi", "--reveal").stdout == WORD

        def locked(*_: object) -> None:
            raise keyring.errors.KeyringLocked("no prompt here")

        monkeypatch.setattr(Ring, "get_password", locked)
        for words in (("get", "wifi", "--reveal"), ("key", "--keyring", "work")):
            refused = run(*words)
            assert "keyring refused: no prompt here" in refused.stderr
            assert isinstance(refused.exception, SystemExit)
        keyring.set_keyring(keyring.backends.fail.Keyring())
        assert "no keyring" in run("get", "wifi", "--reveal").stderr
    finally:
        keyring.set_keyring(before)
