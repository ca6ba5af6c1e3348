"""Memories from git: who works on what, the commits that say why, and the subjects of folders.

A folder is called `cli`, and people ask for the command line. The commits say both.
"""

from __future__ import annotations

import codecs
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from math import log
from pathlib import Path
from typing import IO, Any, Final

from langmemory import git
from langmemory.changes import AddMemory, Change, Facets, UpdateMemory
from langmemory.errors import ImportFormatError
from langmemory.languages import LANGUAGES, detect_language, is_unspaced
from langmemory.parts.importing.words import import_words
from langmemory.pluralize import count_noun
from langmemory.ports.facts import digest

MOST_WORDS: Final = 8
"""That are named with a folder."""
FEWEST: Final = 2
"""Commits of a folder that have a word."""
LEAST_LIFT: Final = 1.5
"""How many times as often commits of the folder have it as all commits."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")


class Subjects:
    """Counts the words of first lines of commits, by folder."""

    def __init__(self) -> None:
        self._commits = 0
        self._all = Counter[str]()
        self._of = Counter[str]()
        """Commits of a folder."""
        self._by: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, subject: str, areas: Iterable[str]) -> None:
        """Count a commit that changes these folders."""
        words = {
            word
            for word in map(str.lower, _WORD.findall(subject))
            if word not in _stop_words() and not is_unspaced(word)
        }
        self._commits += 1
        self._all.update(words)
        for area in areas:
            self._of[area] += 1
            self._by[area].update(words)

    def telling(self, area: str, called: str) -> list[str]:
        """Return the words that commits of a folder have more often than others, the most telling first, but
        for those that it is ``called`` by and other endings of a word ("positions")."""
        known = set(called.lower().split())
        scored = {
            word: count * log(lift)
            for word, count in self._by[area].items()
            if count >= FEWEST
            and word not in known
            and (lift := count / self._of[area] * self._commits / self._all[word]) >= LEAST_LIFT
        }
        chosen: list[str] = []
        for word in sorted(scored, key=lambda word: (-scored[word], word)):
            if not any(word.startswith(one) or one.startswith(word) for one in chosen):
                chosen.append(word)
        return chosen[:MOST_WORDS]


def names(areas: Mapping[str, int]) -> dict[str, str]:
    """Return what folders are called in a sentence: by the last part of their path, where no folder with more
    commits has it, else by their whole path.

    Args:
        areas: How many commits each has.
    """
    names_by_area: dict[str, str] = {}
    for area in sorted(areas, key=lambda one: (-areas[one], one)):
        short = _readable_name(area.rsplit("/", 1)[-1])
        names_by_area[area] = short if short not in names_by_area.values() else _readable_name(area)
    return names_by_area


def _readable_name(path: str) -> str:
    return re.sub(r"[_/-]", " ", path).strip(". ")


@cache
def _stop_words() -> frozenset[str]:
    """Of all languages: commits have several, and a first line is too short to tell its own."""
    return frozenset().union(*(one.stop_words for one in LANGUAGES.values()))


_RECORD, _FIELD = "\x1e", "\x1f"


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """One commit, without merges."""

    id: str
    author: str
    at: datetime
    message: str
    paths: tuple[str, ...]

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0].strip()


def tracked(root: Path) -> frozenset[str]:
    """Return the paths of the files that a repository has, relative to it; none where git is not there."""
    output = git.answer(root, "ls-files", "-z")
    return frozenset((output or b"").decode("utf-8", "replace").split("\0")) - {""}


def cut_off(root: Path) -> frozenset[str]:
    """Return the oldest commits of a shallow clone, whose parents are not here; none of a whole one."""
    place = git.answer(root, "rev-parse", "--git-path", "shallow")
    if place is None:
        return frozenset()
    try:
        return frozenset((root / place.decode().strip()).read_text("ascii").split())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def _people(root: Path) -> dict[tuple[str, str], str]:
    """Return what authors are called who use several names with one address, by name and address: where one
    of these is a full name, ``anna`` is Anna Schmidt."""
    output = git.answer(root, "log", "--no-merges", "--format=%aN%x1f%aE") or b""
    by_address: dict[str, Counter[str]] = defaultdict(Counter)
    for line in output.decode("utf-8", "replace").splitlines():
        name, _, address = line.partition(_FIELD)
        by_address[address.casefold()][name] += 1
    found: dict[tuple[str, str], str] = {}
    for address, count in by_address.items():
        full = [name for name in count if " " in name.strip()]
        if len({name.casefold() for name in full}) == 1:
            called = max(full, key=count.__getitem__)
            found |= {(name, address): called for name in count}
    return found


def commits(root: Path) -> Iterator[Commit]:
    """Yield the commits, newest first.

    Raises:
        ImportFormatError: git is not there, or cannot read them.
    """
    people = _people(root)
    command = git.command(
        root, "log", "--no-merges", "--no-ext-diff", "--no-textconv", "--name-only",
        "--format=%x1e%H%x1f%aN%x1f%aE%x1f%aI%x1f%B%x1f",
    )  # fmt: skip
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, env=git.environment()
            )
        except OSError as error:
            why = error.strerror or error
            raise ImportFormatError(f"{root}: git cannot be started ({why}).") from error
        with process:
            assert process.stdout is not None
            yield from _read(process.stdout, people)
        errors.seek(0)
        message = errors.read().decode("utf-8", "replace").strip()
    if process.returncode and "does not have any commits" not in message:
        why = " ".join(message.split()) if message else "no reason given"
        raise ImportFormatError(f"{root}: git log failed: {why}")


def _read(stream: IO[bytes], people: Mapping[tuple[str, str], str]) -> Iterator[Commit]:
    """Yield the commits that git writes."""
    rest, decode = "", codecs.getincrementaldecoder("utf-8")("replace").decode
    for part in iter(lambda: stream.read(1 << 16), b""):
        *records, rest = (rest + decode(part)).split(_RECORD)
        yield from filter(None, (_commit(one, people) for one in records))
    if (last := _commit(rest, people)) is not None:
        yield last


def _commit(record: str, people: Mapping[tuple[str, str], str]) -> Commit | None:
    parts = record.split(_FIELD)
    if len(parts) != 6:
        return None
    id, author, address, at, message, names = parts
    author = people.get((author, address.casefold()), author)
    try:
        said_at = datetime.fromisoformat(at.strip())
    except ValueError:
        return None
    paths = tuple(line for line in names.splitlines() if line.strip())
    return Commit(
        id=id.strip(),
        author=author.strip() or "somebody",
        at=said_at,
        message=message.strip(),
        paths=paths,
    )


MOST_DECISIONS: Final = 2_000
"""The newest that are taken."""
FEWEST_COMMITS: Final = 3
"""Of an area that somebody works on."""
MOST_AREAS: Final = 150
MOST_PEOPLE: Final = 5
"""Named with an area."""
SHORT: Final = 400
"""Characters of a commit that is taken whole as the text of a decision."""
_REVERTS: Final = re.compile(r"^This reverts commit ([0-9a-f]{40})", re.MULTILINE)
"""As ``git revert`` writes it."""
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n{2,}|\n(?=[-*] )")


@dataclass(kw_only=True, slots=True)
class _Work:
    """What one person did in an area."""

    commits: int = 0
    last: datetime | None = None
    newest: str = ""

    def add(self, commit: Commit) -> None:
        self.commits += 1
        if self.last is None or commit.at > self.last:
            self.last, self.newest = commit.at, commit.id


@dataclass(kw_only=True, slots=True)
class GitHistory:
    """What a repository's commits tell."""

    name: str
    commits: int = 0
    copies: int = 0
    """Commits that were left out, since another repository of the workspace has them."""
    decisions: list[Commit] = field(default_factory=list)
    """Oldest first."""
    areas: dict[str, dict[str, _Work]] = field(default_factory=dict)
    """Folder, at most two deep → person → what they did there."""
    people: dict[str, _Work] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    """What the folders are called."""
    about: dict[str, list[str]] = field(default_factory=dict)
    """Words that tell what each is about."""
    reverted: dict[str, datetime] = field(default_factory=dict)
    """Commits that a later one takes back → when that was."""
    shallow: bool = False
    """Whether the older commits are not here."""

    @property
    def thread(self) -> str:
        """The thread of its commits."""
        return f"git/{self.name}"

    def turns(self) -> Iterator[dict[str, Any]]:
        """Yield the commits that say why, as messages of their authors."""
        for one in self.decisions:
            yield {
                "role": "user",
                "name": one.author,
                "content": one.message,
                "id": one.id[:12],
                "at": one.at,
            }


def read_history(root: Path, name: str, known: set[bytes] | None = None) -> GitHistory:
    """Return what the commits of a repository tell.

    Args:
        root: The repository.
        name: What it is called.
        known: Commits of repositories that were read before, which a clone and a worktree have, too: they
            are left out, and those of this one are added.

    Raises:
        ImportFormatError: git is not there, or cannot read it.
    """
    history = GitHistory(name=name)
    cut = cut_off(root)
    history.shallow = bool(cut)
    work: dict[str, dict[str, _Work]] = defaultdict(lambda: defaultdict(_Work))
    people: dict[str, _Work] = defaultdict(_Work)
    decisions, subjects = list[Commit](), Subjects()
    known = set() if known is None else known
    own = set[bytes]()
    for commit in commits(root):
        if (id := bytes.fromhex(commit.id)) in known:
            history.copies += 1
            continue
        own.add(id)
        history.commits += 1
        if commit.id not in history.reverted:  # newest first, so that what is reverted again counts
            history.reverted |= dict.fromkeys(_REVERTS.findall(commit.message), commit.at)
        if commit.author.endswith("[bot]"):
            continue
        people[commit.author].add(commit)
        # The last commit of a shallow clone has the whole tree.
        paths = () if commit.id in cut else commit.paths
        areas = {area for path in paths for area in _areas(path)}
        if not _REVERTS.search(commit.message):  # it has the words of another
            subjects.add(commit.subject, areas)
        for area in areas:
            work[area][commit.author].add(commit)
        if len(decisions) < MOST_DECISIONS and says_why(
            message := _without_trailers(commit.message)
        ):
            decisions.append(replace(commit, message=message))
    known |= own  # all of it was read
    history.decisions = decisions[::-1]
    history.people = dict(people)
    busy = Counter({area: sum(one.commits for one in by.values()) for area, by in work.items()})
    alike = {area.partition("/")[0] for area, number in busy.items() if "/" in area
             and number == busy[area.partition("/")[0]]}  # fmt: skip
    history.areas = {
        area: dict(work[area])
        for area, number in busy.most_common(MOST_AREAS)
        if number >= FEWEST_COMMITS and area not in alike
    }
    history.called = names({area: busy[area] for area in history.areas})
    history.about = {area: subjects.telling(area, history.called[area]) for area in history.areas}
    return history


def _areas(path: str) -> Iterator[str]:
    """Yield the folders of a file that count as areas."""
    folders = path.split("/")[:-1]
    for depth in range(1, min(len(folders), 2) + 1):
        yield "/".join(folders[:depth])


_TRAILERS: Final = re.compile(
    r"^\(?(?:(?:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|change-id|cc|git-svn-id"
    r"|cherry[- ]picked from)\b[: ]|(?:fixes|closes|refs?)(?::| +(?:#|[a-z]+-\d|https?:))).*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines of a message that tell nothing of why."""


def _without_trailers(message: str) -> str:
    subject, _, body = message.partition("\n")
    return f"{subject}\n{_TRAILERS.sub('', body)}".strip()


def says_why(message: str) -> bool:
    """Return whether a commit says why something was done, or what was decided."""
    return _decisions(import_words().decisions).search(message) is not None


@cache
def _decisions(patterns: tuple[str, ...]) -> re.Pattern[str]:
    spaced = "|".join(one for one in patterns if not is_unspaced(one))
    within = "|".join(filter(is_unspaced, patterns)) or "(?!)"
    return re.compile(rf"\b(?:{spaced})\b|{within}", re.IGNORECASE)


def decision_text(commit: Commit) -> str:
    """Return a commit as one statement: all of a short one, else its first line and the sentences that say
    why."""
    whole = " ".join(commit.message.split())
    if len(whole) <= SHORT:
        return whole
    body = commit.message[len(commit.subject) :]
    why = [" ".join(one.split()) for one in _SENTENCE.split(body) if one.strip() and says_why(one)]
    text = ". ".join([commit.subject.rstrip("."), " ".join(why)]).strip()
    return text if len(text) <= 2 * SHORT else text[: text.rfind(" ", 0, 2 * SHORT)] + " …"


def facts(history: GitHistory, known: Mapping[str, Mapping[str, Any]]) -> Iterator[Change]:
    """Yield facts about who works on what, and the decisions, each with the commits it is from.

    Args:
        history: Of a repository.
        known: Values of the memories that are there, by key.
    """
    for commit in history.decisions:
        key = f"{history.thread}/decision/{commit.id[:12]}"
        text = decision_text(commit)
        if (at := history.reverted.get(commit.id)) is not None:
            text = f"{text.rstrip('.')}. This was taken back on {at:%Y-%m-%d}."
        value = _value(text, "decision", f"commit {commit.id[:12]}", commit.at)
        if key in known:
            if at is not None and known[key].get("text") != text:
                yield UpdateMemory(key=key, value=value, reason="reverted")
        else:
            yield AddMemory(
                key=key,
                value=value,
                facets=Facets(kind="semantic", valid_at=commit.at, speaker=commit.author),
                evidence=(f"{history.thread}/{commit.id[:12]}",),
            )
    for key, text, work in _work_facts(history):
        assert work.last is not None
        value = _value(text, "fact", f"git log, newest commit {work.newest[:12]}", work.last)
        if key not in known:
            yield AddMemory(key=key, value=value, facets=Facets(kind="semantic"))
        elif known[key].get("text") != text:
            yield UpdateMemory(key=key, value=value, reason="newer commits")


def keys(history: GitHistory) -> list[str]:
    """Return the keys of all facts that a history may give."""
    decisions = [f"{history.thread}/decision/{one.id[:12]}" for one in history.decisions]
    return [*decisions, *(key for key, _, _ in _work_facts(history))]


def _work_facts(history: GitHistory) -> Iterator[tuple[str, str, _Work]]:
    for area, by in sorted(history.areas.items()):
        (who, most), *others = sorted(by.items(), key=lambda one: (-one[1].commits, one[0]))
        named = [f"{name} ({work.commits:,})" for name, work in others[: MOST_PEOPLE - 1]]
        if len(others) > len(named):
            named.append(count_noun(len(others) - len(named), "other"))
        so = f" So {'does' if len(others) == 1 else 'do'} {', '.join(named)}." if named else ""
        # It begins as the question does, has the folder's name twice, and few words that all such facts
        # have: recall orders by time what it takes for versions of one. See decision 054.
        details = [", ".join(history.about[area]), count_noun(most.commits, "commit")]
        where = f"the {history.called[area]} ({history.name}/{area})"
        text = f"{who} works on {where}: {'; '.join(filter(None, details))}.{so}"
        newest = max(by.values(), key=lambda one: one.last or most.last or datetime.max)
        yield f"{history.thread}/area/{area}", text, newest
    for who, work in sorted(history.people.items()):
        places = Counter({area: by[who].commits for area, by in history.areas.items() if who in by})
        named = [
            f"the {history.called[area]}"
            for area in _disjoint(area for area, _ in places.most_common())
        ]
        where = f", mostly on {', '.join(named)}" if named else ""
        text = f"{who} works on {history.name}{where}: {_summary(work).rstrip(',')}."
        yield f"{history.thread}/person/{digest(who)}", text, work


def _disjoint(areas: Iterable[str], most: int = 5) -> list[str]:
    """Return the first areas of which none is within another."""
    chosen: list[str] = []
    for area in areas:
        if len(chosen) < most and not any(
            area.startswith(f"{one}/") or one.startswith(f"{area}/") for one in chosen
        ):
            chosen.append(area)
    return chosen


def _summary(work: _Work) -> str:
    assert work.last is not None
    return f"{count_noun(work.commits, 'commit')}, the last on {work.last:%Y-%m-%d},"


def _value(text: str, kind: str, source: str, at: datetime) -> dict[str, Any]:
    return {
        "text": text, "fact_kind": kind, "language": detect_language(text).code, "source": source,
        "said_at": at.isoformat(),
    }  # fmt: skip
