"""Public names use the terms of docs/glossary.md."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import get_args

from langmemory.types import Kind, Priority

GLOSSARY = (Path(__file__).parents[1] / "docs" / "glossary.md").read_text()
PUBLIC_MODULES = (
    "langmemory",
    "langmemory.types",
    "langmemory.changes",
    "langmemory.config",
    "langmemory.errors",
    "langmemory.graphs",
    "langmemory.nodes",
    "langmemory.reflection",
    "langmemory.parts.langmem",
    "langmemory.short_term",
    "langmemory.tools",
)


def avoided() -> set[str]:
    """Return the words of the glossary's last table, left column."""
    table = GLOSSARY[GLOSSARY.index("| avoid | use |") :]
    return set(re.findall(r"^\| ([a-z]+) \|", table, re.MULTILINE)) - {"avoid"}


def names_of(thing: object, name: str) -> set[str]:
    """Return a public object's name with those of its public members and parameters."""
    names = {name}
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            if not member.startswith("_"):
                names |= names_of(value, member)
        names |= set(getattr(thing, "__annotations__", {}))
    elif callable(thing):
        with suppress(TypeError, ValueError):
            names |= set(inspect.signature(thing).parameters)
    return names


def public_names() -> set[str]:
    """Return all public names of the modules that users import from."""
    names: set[str] = set()
    for module in map(import_module, PUBLIC_MODULES):
        for name in getattr(module, "__all__", vars(module)):
            thing = getattr(module, name)
            origin = getattr(thing, "__module__", None) or module.__name__
            if not name.startswith("_") and origin.startswith("langmemory"):
                names |= names_of(thing, name)
    return {name for name in names if not name.startswith("_")}


def parts(name: str) -> set[str]:
    """Return the words of a snake_case or CamelCase name in lower case."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_public_names_use_the_words_of_the_glossary() -> None:
    """No public name contains a word that the glossary replaces."""
    words = avoided()
    assert words
    assert {name for name in public_names() if parts(name) & words} == set()


def test_each_term_is_explained_once_in_two_lines() -> None:
    """Each term has one entry, and an entry has at most two lines."""
    entries = re.findall(r"^\*\*(.+)\*\*\n((?:.+\n)+)", GLOSSARY, re.MULTILINE)
    terms = [term for term, _ in entries]
    assert len(terms) == len(set(terms)) > 30
    assert {term for term, text in entries if text.count("\n") > 2} == set()


def test_the_values_of_public_choices_are_in_the_glossary() -> None:
    """Each kind, priority and status of a memory is a word of the glossary."""
    missing = {
        value
        for value in (*get_args(Kind), *get_args(Priority))
        if not re.search(rf"\b{value}\b", GLOSSARY)
    }
    assert missing == set()
