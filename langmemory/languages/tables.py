"""The data of a language, read from the TOML files of its folder.

Each language is one folder, ``languages/<code>/``, with one file for each topic it has. `Topic` reads
the files of one topic into dataclasses, when they are first needed. In a file:

* Text in several lines (``'''``) is joined; line breaks and indentation are dropped.
* A set or tuple of plain words may be one text, separated by white space.
* A key of a table of sets may be several words, which share the set.
* ``${NAME}`` stands for the entry of the table ``fragments``.
* A regular expression matches whatever the case; a list of them is one of whole words.
"""

from __future__ import annotations

import re
import tomllib
import types
from collections.abc import Iterator, Mapping, ValuesView
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, reduce
from importlib import resources
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

NEVER = re.compile(r"(?!)")
"""Matches nothing."""

_BREAK = re.compile(r"\n\s*")
_FRAGMENT = re.compile(r"\$\{(\w+)\}")
_FOLDERS: dict[str, Path] = {}
TOPICS: list[Topic[Any]] = []
"""Every topic that an imported module has."""


def folders() -> dict[str, Path]:
    """Return the folder of each language by its code; English first, since it is the fallback."""
    if not _FOLDERS:
        root = Path(str(resources.files("langmemory.languages")))
        codes = sorted(path.parent.name for path in root.glob("*/words.toml"))
        _FOLDERS.update((code, root / code) for code in sorted(codes, key=lambda one: one != "en"))
    return _FOLDERS


def add_language(folder: Path) -> None:
    """Add the language in a folder to this process, or replace the one of the same code.

    Args:
        folder: Its name is the BCP 47 code. It holds ``words.toml``; other topics are optional.
    """
    if not (folder / "words.toml").is_file():
        raise ValueError(f"{folder} has no words.toml. Write one; see docs/languages.md.")
    folders()[folder.name] = folder
    for topic in TOPICS:
        topic.forget(folder.name)


def table(path: Path) -> dict[str, Any]:
    """Return a TOML file as a dictionary.

    Raises:
        ValueError: The file is no TOML; the message names file and line.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is no TOML: {error}. Correct the file.") from error


class Topic(Mapping[str, T], Generic[T]):
    """What one topic knows of each language, by code; read when first asked for."""

    def __init__(self, cls: type[T], name: str, *, about: str, without: str) -> None:
        """Describe a topic.

        Args:
            cls: A dataclass. Its field ``code``, if there is one, is the name of the folder.
            name: Of the file, without ``.toml``.
            about: Contents of the file, for the reference.
            without: The consequence where a language has no such file.
        """
        self.cls, self.name, self.about, self.without = cls, name, about, without
        self._read: dict[str, T] = {}
        self._codes: tuple[str, ...] = ()
        self._every: dict[str, T] = {}
        self._everywhere: T | None = None
        TOPICS.append(self)

    def __getitem__(self, code: str) -> T:
        if code not in self._read:
            path = self._path(code)
            if path is None:
                raise KeyError(code)
            self._read[code] = read(self.cls, path)
        return self._read[code]

    def __iter__(self) -> Iterator[str]:
        self.values()
        return iter(self._every)

    def __len__(self) -> int:
        return len(self.values())

    def __contains__(self, code: object) -> bool:
        return isinstance(code, str) and (code in self._read or self._path(code) is not None)

    def values(self) -> ValuesView[T]:
        """Return the data of every language."""
        codes = (*folders(),)
        if codes != self._codes:
            self._every = {code: self[code] for code in codes if code in self}
            self._codes = codes
        return self._every.values()

    @property
    def everywhere(self) -> T:
        """Return the data of all languages as one: its sets, tables and patterns are joined."""
        if self._everywhere is None:
            paths = filter(None, map(self._path, folders()))
            self._everywhere = _joined(self.cls, [_data(path) for path in paths])
        return self._everywhere

    def forget(self, code: str) -> None:
        """Read the file of a language again when it is next asked for."""
        self._read.pop(code, None)
        self._codes, self._everywhere = (), None

    def _path(self, code: str) -> Path | None:
        folder = folders().get(code)
        path = folder and folder / f"{self.name}.toml"
        return path if path and (code in self._read or path.is_file()) else None


def read(cls: type[T], path: Path) -> T:
    """Return the data of a file as a dataclass.

    Raises:
        ValueError: The file is no TOML, misses a key, or has one that the dataclass does not know.
    """
    data, fragments = _data(path)
    kind: Any = cls
    if "code" in _types(kind):
        data = {"code": path.parent.name, **data}
    try:
        built: T = _built(kind, data, fragments)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}. Correct the file.") from error
    return built


def _data(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the keys of a file, and its fragments."""
    data = table(path)
    return data, {name: _text(text, {}) for name, text in data.pop("fragments", {}).items()}


def _joined(cls: type[T], files: list[tuple[dict[str, Any], dict[str, str]]]) -> T:
    """Return the data of several languages as one value of a dataclass."""
    made: dict[str, Any] = {"code": ""} if "code" in get_type_hints(cls) else {}
    for name, kind in get_type_hints(cls).items():
        values = [(data[name], fragments) for data, fragments in files if name in data]
        if get_origin(kind) is re.Pattern and values:
            sources = "|".join(_source(data, fragments) for data, fragments in values)
            made[name] = re.compile(sources, re.IGNORECASE)
        elif values:
            made[name] = reduce(_union, (_built(kind, *each) for each in values))
    return cls(**made)


def _union(one: Any, other: Any) -> Any:
    if isinstance(one, frozenset):
        return one | other
    if isinstance(one, tuple):
        return one + other
    if not isinstance(one, dict):
        return one
    shared = {key: _union(one[key], other[key]) for key in one if key in other}
    return {**other, **one, **shared}


def _source(data: str | list[str], fragments: Mapping[str, str]) -> str:
    """Return a regular expression as a file has it: of a list, one of its whole words."""
    if isinstance(data, str):
        return _text(data, fragments)
    return rf"\b(?:{'|'.join(_text(one, fragments) for one in data)})\b"


@cache
def _types(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _built(kind: Any, data: Any, fragments: Mapping[str, str]) -> Any:
    """Return TOML data as a value of a type."""
    origin, args = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        known = _types(kind)  # type: ignore[arg-type]
        if unknown := data.keys() - known.keys():
            raise ValueError(f"unknown key {sorted(unknown)[0]!r}; known are {sorted(known)}")
        required = {
            one.name
            for one in fields(kind)
            if one.default is MISSING and one.default_factory is MISSING
        }
        if missing := required - data.keys():
            raise ValueError(f"the key {sorted(missing)[0]!r} is missing")
        return kind(**{k: _built(known[k], v, fragments) for k, v in data.items()})  # type: ignore[operator]
    if origin in (types.UnionType, Union):
        return _built(next(one for one in args if one is not type(None)), data, fragments)
    if origin is Literal or kind in (bool, int, Any):
        return data
    if kind is float:
        return data  # 2 stays 2
    if kind is str:
        return _text(data, fragments)
    if origin is re.Pattern:
        return re.compile(_source(data, fragments), re.IGNORECASE)
    if origin is not None and issubclass(origin, Mapping):
        made = {k: _built(args[1], v, fragments) for k, v in data.items()}
        return _by_word(made) if get_origin(args[1]) is frozenset else made
    if isinstance(data, str):
        return origin(_text(word, fragments) for word in data.split())
    if origin is tuple and args[-1] is not Ellipsis:
        return tuple(_built(one, v, fragments) for one, v in zip(args, data, strict=True))
    several = frozenset if origin is frozenset else tuple
    return several(_built(args[0], one, fragments) for one in data)


def _by_word(sets: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return the union of the sets of each word; a key may be several words."""
    found: dict[str, frozenset[str]] = {}
    for words, members in sets.items():
        for word in words.split():
            found[word] = found.get(word, frozenset()) | members
    return found


def _text(text: str, fragments: Mapping[str, str]) -> str:
    if "\n" in text or text.startswith("    "):
        text = _BREAK.sub("", text.lstrip())
    while fragments and _FRAGMENT.search(text):
        text = _FRAGMENT.sub(lambda found: fragments[found[1]], text)
    return text
