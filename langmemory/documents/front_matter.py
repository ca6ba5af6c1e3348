"""Front matter: the links that a Markdown document names in the YAML at its beginning."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, get_args

from langmemory.documents.records import StoredDocument
from langmemory.documents.splitting import FRONT_MATTER
from langmemory.links import NAMED, LinkRelation, anchor_of
from langmemory.resources import KEYS
from langmemory.values import whole_characters

MOST_CHARACTERS: Final = 20_000
"""Of front matter that is read."""
MOST_LINKS: Final = 200
"""Of one document."""

Links = Mapping[str, Sequence[str]]
"""Relation → what it names: paths, keys, titles or names."""


class FrontMatterError(ValueError):
    """Front matter cannot be read; the message says why."""


def links_in(text: str) -> dict[str, list[str]]:
    """Return the links that the front matter of a text names.

    Raises:
        FrontMatterError: It is no YAML, or what stands under a relation is neither text nor a list of texts.
    """
    found = FRONT_MATTER.match(text)
    if found is None:
        return {}
    front_matter = found[1] or ""
    relations = [one for one in get_args(LinkRelation) if one in front_matter]
    if not relations:
        return {}
    if len(front_matter) > MOST_CHARACTERS:
        raise FrontMatterError(
            f"it has {len(front_matter):,} characters; {MOST_CHARACTERS:,} at most are read"
        )
    import yaml  # few documents have links

    try:
        loaded = yaml.safe_load(front_matter)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 2}" if where is not None else ""
        raise FrontMatterError(f"it is no YAML{line}") from None
    except RecursionError:
        raise FrontMatterError("it is nested too deeply") from None
    except (
        Exception
    ) as error:  # of many kinds: a date or a number that there is none of, or an odd tag
        why = str(error).partition(";")[0]
        raise FrontMatterError(f"a value of it cannot be read ({why:.100})") from None
    if not isinstance(loaded, dict):
        return {}
    links = {
        one: list(_texts(one, loaded[one])) for one in relations if loaded.get(one) is not None
    }
    if sum(map(len, links.values())) > MOST_LINKS:
        raise FrontMatterError(f"it names more than {MOST_LINKS} links")
    return {relation: ends for relation, ends in links.items() if ends}


def _texts(relation: str, value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, str | int | float) or isinstance(one, bool):
            raise FrontMatterError(
                f"{relation} is {one!r:.60}; write a path or name, or a list of them"
            )
        if name := " ".join(whole_characters(str(one)).replace("\0", "\ufffd").split()):
            yield name[:200]


def names_any(links: Links, files: Collection[str]) -> bool:
    """Return whether links may lead to one of some files, given by the names without their folders."""
    return any(
        posixpath.basename(name.partition("#")[0]) in files or name.startswith(KEYS)
        for names in links.values()
        for name in names
    )


def ends_of(
    known: StoredDocument, documents: Mapping[tuple[str, str], StoredDocument]
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the links of a document as (relation, ends to look for, the first that is there).

    Args:
        known: The document.
        documents: All of its namespace, by root and path.
    """
    found = []
    for relation, names in known.links.items():
        for name in names:
            path = _document(known, name, documents)
            if path is not None:
                ends: tuple[str, ...] = (anchor_of(path),)
            elif name.startswith(tuple(f"{kind}:" for kind in NAMED)):
                ends = (name,)
            elif relation == "supersedes":  # a document gives way to a document alone
                continue
            else:
                ends = (name, f"artifact:{name}")
            found.append((relation, ends))
    return found


def _document(
    known: StoredDocument, name: str, documents: Mapping[tuple[str, str], StoredDocument]
) -> str | None:
    """Return the key of a document that is named by a path from the folder of another, or from one above it,
    the nearest first: a root may hold several projects, and each names its files from its own folder."""
    bare = name.partition("#")[0]
    for folder in PurePosixPath(known.document.path).parents:
        path = posixpath.normpath(folder.as_posix() + "/" + bare)
        other = documents.get((known.document.root, path))
        if other is not None:
            return other.document.key
    return None
