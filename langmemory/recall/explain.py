"""Explain: why each memory was recalled, for people (rich) and for programs (JSON)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from langmemory.languages import compared, is_unspaced, split_words
from langmemory.pluralize import count_noun
from langmemory.recall import scoring
from langmemory.recall.intent import Intent
from langmemory.recall.query import Query
from langmemory.recall.spelling import Meant
from langmemory.types import Ageing, Memory, Recall, RecallResult, ResultExplanation, Trace

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType

    from langmemory.recall.ranking import Ranking

Json = dict[str, Any]


def explain_recall(
    recall: Recall,
    ranking: Ranking,
    query: Query,
    intent: Intent,
    meant: Meant,
    orders: Mapping[str, Sequence[int]],
    removed: Iterable[tuple[Memory, str]],
    milliseconds: Mapping[str, float],
) -> Recall:
    """The recall with every result's explanation and the whole trace.

    ``removed`` is what was left out, and why. ``orders`` are ids, best first, by relevance and after
    each stage since, by the stage's name.
    """
    places = {id_: place for place, id_ in enumerate(ranking.pool.rows.ids.tolist())}
    ranks = {name: _ranks(ids.tolist()) for name, ids in ranking.channels.items()}
    ranks_after = [(stage, _ranks(ids)) for stage, ids in orders.items()]
    shares = scoring.shares(ranking.signals, ranking.weights)
    results = []
    for result in recall.results:
        id_, parts = result.memory.id, dict(result.parts)
        raw = {name: parts[name] for name in ("dense", "keyword")}
        place = places[id_]
        found = {name: float(values[place]) for name, values in ranking.signals.items()}
        parts |= found | raw
        added = {name: share * found[name] for name, share in shares.items()}
        factors = {name: float(values[place]) for name, values in ranking.multipliers.items()}
        why = ResultExplanation(
            ranks={name: of[id_] for name, of in ranks.items() if id_ in of},
            contributions=dict(sorted(added.items(), key=lambda one: -one[1])),
            multipliers=factors,
            moves=_moves(id_, ranks_after),
            matched_words=matched_words(query, result.memory.text),
            evidence=evidence_of(result.memory.value),
        )
        results.append(replace(result, parts=parts, explanation=why))
    candidates = {name: len(ids) for name, ids in ranking.channels.items()}
    return replace(
        recall,
        results=tuple(results),
        trace=replace(
            recall.trace,
            intent=intent_facts(intent, query, meant),
            candidates={**candidates, "ranked": len(ranking.score), "results": len(results)},
            milliseconds=milliseconds,
            removed=left_out(removed, {result.memory.key for result in recall.results}),
        ),
    )


def _ranks(ids: Sequence[int]) -> dict[int, int]:
    return {id_: rank for rank, id_ in enumerate(ids, start=1)}


def qualified_key(memory: Memory, *, beside: Memory) -> str:
    """The key of a memory, with its namespace where that is not the one of another."""
    if memory.namespace == beside.namespace:
        return memory.key
    return f"{memory.key} in {'/'.join(memory.namespace)}"


def left_out(removed: Iterable[tuple[Memory, str]], known: Collection[str]) -> dict[str, str]:
    """Why memories were left out, by key, or by key and namespace where the key is among those
    ``known`` or of two of them."""
    reasons: dict[str, str] = {}
    for memory, reason in removed:
        name = memory.key
        if name in known or name in reasons:
            name = f"{name} in {'/'.join(memory.namespace)}"
        reasons[name] = reason
    return reasons


def _moves(id_: int, places: Sequence[tuple[str, Mapping[int, int]]]) -> tuple[str, ...]:
    """One line for each stage after which a memory stood elsewhere than before it."""
    return tuple(
        f"{stage}: {before[id_]} -> {after[id_]}"
        for (_, before), (stage, after) in pairwise(places)
        if id_ in before and id_ in after and before[id_] != after[id_]
    )


def evidence_of(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sources that a value names: ``evidence`` or ``message_ids``, a string or a list."""
    named = value.get("evidence") or value.get("message_ids") or ()
    if isinstance(named, str):
        return (named,)
    return tuple(key for key in named if isinstance(key, str)) if isinstance(named, list) else ()


def matched_words(query: Query, text: str) -> tuple[str, ...]:
    """The query's words that stand in a text, also as beginnings of longer ones ("paint" in
    "painted"), in the query's order."""
    words = set(map(compared, split_words(text)))

    def stands(term: str) -> bool:
        if is_unspaced(term):  # the words are pairs of characters
            return any(term in word for word in words)
        return term in words or (len(term) > 3 and any(word.startswith(term) for word in words))

    return tuple(term for term in query.terms if stands(compared(term)))


def intent_facts(intent: Intent, query: Query, meant: Meant) -> Json:
    """The understanding of the query, as plain JSON values."""
    facts: Json = {
        "language": intent.language.code,
        "asks": sorted(intent.asks),
        "names": list(intent.names),
        "phrases": list(intent.phrases),
        "terms": list(query.terms),
    }
    if intent.period is not None:
        facts["period"] = "-".join(
            str(part)
            for part in (intent.period.year, intent.period.month, intent.period.day)
            if part is not None
        )
    if intent.window is not None:
        facts["window"] = [end.isoformat() for end in intent.window]
    if intent.edge is not None:
        facts["edge"] = intent.edge
    if meant:
        facts["spelling"] = {typed: list(words) for typed, words in meant.items()}
    return facts


ENDLESS = (None, float("inf"))
"""Half-lives of what does not fade: as it is computed, and as it is read from JSON."""


def describe_fading(one: Ageing) -> str:
    """Return how far a memory has faded, on one line."""
    told = [f"retention {one.retention:.2f}, salience {one.salience:.2f}", one.temporal_class]
    if one.half_life_days not in ENDLESS:
        told.append(f"half-life {one.half_life_days:.0f} days")
    if one.uses:
        last = f", last on {one.used_at.day} {one.used_at:%b %Y}" if one.used_at else ""
        told.append(f"{count_noun(one.uses, 'use')}{last}")
    return " · ".join(told)


NARROW = 90
"""Columns of a terminal below which results stand under each other: beside the other columns of a table,
too little is left for the text."""


LEFT_OUT = 10
"""Lines for what was left out; the JSON has all."""


class _Rendered:
    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Group]:
        yield _list(self._recall) if options.max_width < NARROW else _table(self._recall)


def render(recall: Recall) -> RenderableType:
    """A recall for the terminal: its results, then how they were found."""
    return _Rendered(recall)


def _list(recall: Recall) -> Group:
    """For narrow terminals: every result in lines of its own."""
    from rich.console import Group
    from rich.text import Text

    lines = [Text(recall.query, style="italic")]
    for rank, result in enumerate(recall.results, start=1):
        heading = f"{rank}. {result.score:.3f}  {result.at:%Y-%m-%d}  {result.speaker or ''}"
        lines += [Text(), Text(heading.rstrip(), style="bold"), Text(result.text)]
        lines += [Text(line, style="dim") for line in reasons(result)]
    return Group(*lines, Text(), *(Text(line, style="dim") for line in _facts(recall.trace)))


def _table(recall: Recall) -> Group:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(recall.query), title_justify="left", show_lines=True)
    for heading in ("#", "score", "when", "who", "memory", "why"):
        justify: JustifyMethod = "right" if heading in ("#", "score") else "left"
        table.add_column(heading, justify=justify, overflow="fold")
    for rank, result in enumerate(recall.results, start=1):
        table.add_row(
            str(rank),
            f"{result.score:.3f}",
            f"{result.at:%Y-%m-%d}",
            Text(result.speaker or ""),
            Text(result.text),
            Text("\n".join(reasons(result))),
        )
    return Group(table, *(Text(line, style="dim") for line in _facts(recall.trace)))


def reasons(result: RecallResult) -> list[str]:
    """One line for each thing that speaks for an explained result, what adds most to its relevance
    first; then where it is."""
    lines: list[str] = []
    why = result.explanation
    if why is not None:
        if why.matched_words:
            lines.append("words: " + ", ".join(why.matched_words))
        if why.ranks:
            lines.append("found by " + ", ".join(f"{name} #{at}" for name, at in why.ranks.items()))
        added = [
            f"{name} {value:.2f}" for name, value in why.contributions.items() if value >= 0.005
        ]
        if added:
            lines.append(f"relevance {result.parts['relevance']:.2f}: " + ", ".join(added))
        changed = {n: v for n, v in why.multipliers.items() if abs(v - 1) > 0.005}
        if changed:
            lines.append(" ".join(f"{name} x{value:.2f}" for name, value in changed.items()))
        lines.extend(why.moves)
        if why.ageing is not None:
            lines.append(describe_fading(why.ageing))
    lines.append(f"{result.memory.key} in {'/'.join(result.memory.namespace)}")
    return lines


def _facts(trace: Trace) -> list[str]:
    lines = [f"preset {trace.preset}"]
    if trace.intent:
        if spelling := trace.intent.get("spelling"):
            read = (f"{' or '.join(words)} for {typed}" for typed, words in spelling.items())
            lines.append("read: " + ", ".join(read))
        shown = {n: value for n, value in trace.intent.items() if value and n != "spelling"}
        known = {n: " ".join(map(str, v)) if isinstance(v, list) else v for n, v in shown.items()}
        lines.append("understood: " + ", ".join(f"{n} {value}" for n, value in known.items()))
    if trace.questions:
        asked = (f"{one} (documents {share:.2f})" for one, share in trace.questions.items())
        lines.append("asked: " + " · ".join(asked))
    if trace.expansions:
        lines.append("also looked for: " + " ".join(trace.expansions))
    if trace.candidates:
        lines.append("candidates: " + ", ".join(f"{n} {c}" for n, c in trace.candidates.items()))
    if trace.milliseconds:
        lines.append("ms: " + ", ".join(f"{n} {ms:.1f}" for n, ms in trace.milliseconds.items()))
    removed = list(trace.removed.items())
    lines.extend(f"left out {key}: {reason}" for key, reason in removed[:LEFT_OUT])
    if len(removed) > LEFT_OUT:
        lines.append(f"left out {len(removed) - LEFT_OUT} more")
    lines.extend(f"degraded: {what}" for what in trace.degraded)
    return lines
