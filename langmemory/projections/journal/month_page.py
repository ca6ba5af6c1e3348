"""The page of a month that is over: its summary, its themes, and what changed, with links to its days."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from langmemory.pluralize import count_noun
from langmemory.projections.journal.pages import (
    MARK,
    MONTHS,
    WEEKDAYS,
    Page,
    Session,
    archive_path_of_day,
    folders_of,
    learned_line,
    line,
)
from langmemory.types import Namespace

MOST_LINES: Final = 12
"""Lines under one heading; the others are counted, and stand on the pages of their days."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A sentence, and where it comes from."""

    text: str
    days: tuple[date, ...]
    """Of the month, whose pages tell of it."""
    keys: tuple[str, ...]
    """Of the turns and facts that it retells: they stand for the days, where no page tells of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """A person or thing that several facts of the month speak of."""

    name: str
    facts: int
    days: tuple[date, ...]
    told: tuple[Told, ...]
    """The most central of those that neither the summary tells nor a change."""
    left: tuple[date, ...]
    """Days of the facts that the page does not tell, one for each fact."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthPage:
    """One month of one namespace, for everybody in it or for the owner of what is private."""

    namespace: Namespace
    owner: str | None
    month: str
    """YYYY-MM."""
    days: Sequence[Page]
    """Its days, in order."""
    summary: Sequence[Told]
    themes: Sequence[Theme]

    @property
    def path(self) -> tuple[str, ...]:
        """Folders and file name."""
        return (*folders_of(self.namespace, self.owner), f"{self.month}.md")


def render(page: MonthPage) -> str:
    """Return the page as Markdown."""
    year, month = page.month.split("-")
    changed = _each(page.days, _changed_lines)
    decided = _each(page.days, lambda session: session.decisions)
    asked = _each(page.days, lambda session: (*session.open_points, *session.questions))
    blocks = [
        f"# {MONTHS[int(month) - 1]} {year}\n{MARK}",
        _figures(page, len(changed)),
        *_list("## In short", map(_line_of_sentence, page.summary)),
        *_themes(page.themes),
        *_list("## Changed", _first_lines(changed, lambda text: text)),
        *_list("## Decided", _first_lines(decided, line)),
        *_list("## Open", _first_lines(asked, line)),
        *_list("## Days", map(_day, page.days)),
        "\n".join(
            f"{_link(day.day)}: {'/'.join(archive_path_of_day(day.day))}" for day in page.days
        ),
    ]
    return "\n\n".join(blocks) + "\n"


def _figures(page: MonthPage, changed: int) -> str:
    facts = sum(len(session.learned) for day in page.days for session in day.sessions)
    threads = {session.thread_id for day in page.days for session in day.sessions}
    told = f"{count_noun(facts, 'fact')} on {count_noun(len(page.days), 'day')}"
    told += f", from {count_noun(len(threads), 'conversation')}"
    return f"{told}; {changed} of them changed what was known." if changed else f"{told}."


def _each(
    days: Iterable[Page], texts: Callable[[Session], Iterable[str]]
) -> list[tuple[str, tuple[date, ...]]]:
    """What the sessions of days say, each text once, with its days."""
    found: dict[str, dict[date, None]] = {}
    for day in days:
        for session in day.sessions:
            for text in texts(session):
                found.setdefault(text, {})[day.day] = None
    return [(text, tuple(days)) for text, days in found.items() if text.strip()]


def _changed_lines(session: Session) -> Iterator[str]:
    return (learned_line(one) for one in session.learned if one.instead_of)


def _first_lines(
    told: Sequence[tuple[str, tuple[date, ...]]], shown: Callable[[str], str]
) -> Iterator[str]:
    for text, days in told[:MOST_LINES]:
        yield f"{shown(text)} ({_links(days)})"
    if left := told[MOST_LINES:]:
        yield f"and {len(left)} more: {_links(sorted({day for _, days in left for day in days}))}"


def _themes(themes: Sequence[Theme]) -> Iterator[str]:
    if themes:
        yield "## Themes"
    for theme in themes:
        head = f"### {line(theme.name)}: {count_noun(theme.facts, 'fact')} on "
        lines = [_line_of_sentence(one) for one in theme.told]
        if theme.left:
            days = _links(sorted(set(theme.left)))
            lines.append(f"and {count_noun(len(theme.left), 'further fact')}: {days}")
        elif not lines:
            lines = [f"told above: {_links(theme.days)}"]
        yield from _list(f"{head}{count_noun(len(theme.days), 'day')}", lines)


def _line_of_sentence(one: Told) -> str:
    keys = (line(key).replace("`", "'") for key in one.keys)
    where = [_link(day) for day in one.days] or [f"`{key}`" for key in keys]
    return f"{line(one.text)} ({', '.join(where)})"


def _links(days: Iterable[date]) -> str:
    return ", ".join(map(_link, days))


def _link(day: date) -> str:
    """A reference to the page of a day, whose address stands once, at the end."""
    return f"[{day.day} {MONTHS[day.month - 1]}]"


def _day(page: Page) -> str:
    facts = sum(len(session.learned) for session in page.sessions)
    told = f"{count_noun(facts, 'fact')} from {count_noun(len(page.sessions), 'conversation')}"
    day = f"{WEEKDAYS[page.day.weekday()]}, {page.day.day} {MONTHS[page.day.month - 1]}"
    return f"[{day}]({'/'.join(archive_path_of_day(page.day))}): {told}"


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    items = [f"- {one}" for one in lines]
    if items:
        yield f"{title}\n\n" + "\n".join(items)
