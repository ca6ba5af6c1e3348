"""Writes docs/languages.md: the files and keys of a language's folder, from the dataclasses that read them.

A test holds the page to the code: ``python -m scripts.languages_page`` writes it anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import langmemory
from langmemory.docstrings import docstrings_of
from langmemory.languages.tables import TOPICS, Topic, folders

PAGE: Final = Path(__file__).parents[1] / "docs" / "languages.md"
HEAD: Final = """# Add a language

langmemory knows {languages}. Each language is one folder of TOML files in
[`langmemory/languages`](../langmemory/languages). To add one, write a folder named by its
[BCP 47](https://www.rfc-editor.org/info/bcp47) code; no code changes. Only `words.toml` is required. The
smallest complete example is [`it`](../langmemory/languages/it).

This page is made from the code by `python -m scripts.languages_page`.
"""
REST: Final = """
A folder of your own application works too. Call `add_language` once, before langmemory reads a text:

```text
from pathlib import Path
from langmemory.languages import add_language

add_language(Path("languages/pt"))
```

## Values

* *Words* are one text, separated by white space, or a list where a word has spaces in it.
* A *pattern* is a regular expression. Case does not matter unless the key says so. A list of patterns is one
  of whole words.
* A long text may run over several lines of `'''`; line breaks and indentation are dropped.
* `${NAME}` stands for the entry of the table `[fragments]`; `{name}` for a placeholder that the key
  describes.
* An unknown or missing key is an error that names the file and the key.

Write a few dozen sentences as people type them, with what is to be read of each
([`tests/formation/test_italian.py`](../tests/formation/test_italian.py) is an example), and compare
`detect_language` on texts of the other languages before and after: a stop word that is a word of another
language, too, takes texts away from that one.
"""


def topics() -> list[Topic[Any]]:
    """Return every topic that a folder may hold, `words` first."""
    root = Path(langmemory.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if "Topic(\n" in path.read_text("utf-8") and path.name != "tables.py":
            import_module(".".join(path.relative_to(root.parent).with_suffix("").parts))
    return sorted(TOPICS, key=lambda topic: (topic.name != "words", topic.name))


def page() -> str:
    """Return the page."""
    *others, last = sorted(map(_name, folders().values()))
    head = HEAD.format(languages=f"{', '.join(others)} and {last}")
    rows = [f"| `{one.name}.toml` | {one.about} | {one.without} |" for one in topics()]
    table = "\n".join(["| file | contents | without it |", "|---|---|---|", *rows])
    return "\n".join([head, table, REST, *(line for one in topics() for line in _topic(one))])


def _name(folder: Path) -> str:
    """Return the name of a language: the first word of its first comment."""
    return (folder / "words.toml").read_text("utf-8").removeprefix("# ").partition(".")[0]


def _topic(topic: Topic[Any]) -> Iterator[str]:
    yield f"## `{topic.name}.toml`\n"
    yield f"{topic.about[0].upper()}{topic.about[1:]}.\n"
    yield from _keys(topic.cls, "")


def _keys(cls: Any, within: str) -> Iterator[str]:
    """Yield the keys of a dataclass, and after them those of the tables in it."""
    notes, kinds = docstrings_of(cls.__module__)[cls.__name__], get_type_hints(cls)
    yield "| key | value | |\n|---|---|---|"
    inner = []
    for one in fields(cls):
        if one.name == "code":
            continue
        required = one.default is MISSING and one.default_factory is MISSING
        note = re.sub(r"\s+", " ", notes.get(one.name, "")).replace("``", "`").replace("|", r"\|")
        value = f"{_value(kinds[one.name])}{', required' if required else ''}"
        yield f"| `{one.name}` | {value} | {note} |"
        nested = next((part for part in _parts(kinds[one.name]) if is_dataclass(part)), None)
        if nested is not None:
            several = get_origin(kinds[one.name]) is tuple
            inner.append((f"{within}{one.name}", nested, several))
    yield ""
    for name, nested, several in inner:
        yield f"### `{f'[[{name}]]' if several else f'[{name}]'}`\n"
        yield from _keys(nested, f"{name}.")


def _parts(kind: Any) -> Iterator[Any]:
    yield kind
    for one in get_args(kind):
        yield from _parts(one)


def _value(kind: Any) -> str:
    """Return what to write for a type."""
    origin, args = get_origin(kind), get_args(kind)
    if type(None) in args:
        return _value(args[0])
    if any(map(is_dataclass, _parts(kind))):
        return "tables" if origin is tuple else "table"
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in args)
    if origin is re.Pattern:
        return "pattern"
    if origin is frozenset:
        return "words"
    if origin is tuple:
        return "list" if args[-1] is Ellipsis else " and ".join(map(_value, args))
    if origin is not None and issubclass(origin, Mapping):
        return f"table of {_value(args[1])}"
    return {str: "text", bool: "true or false", int: "number", float: "number"}[kind]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
