"""The layers of memory, what was said and documents: the questions in a message, and which answers each.

Seldom does a question alone tell: "Which port does Heron use?" asks a manual, "Which port does Heron use in
Lisbon?" what somebody said. So both are looked up, and how well the best of each match tells most. The words
of the question add to that: what was decided was said, how something works is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp, log
from typing import Final, get_args

from langmemory.languages import Topic, detect_language, keyword_terms, split_words
from langmemory.languages.tables import NEVER
from langmemory.recall.calibration import is_about_asker
from langmemory.recall.contentless import doing
from langmemory.types import Kind, Namespace, Recall, RecallResult, Trace

MOST_QUESTIONS: Final = 3
"""Of one message that are looked up apart; a message with more is looked up whole."""
LONGEST: Final = 600
"""Characters of a message that is taken apart."""
FEW_WORDS: Final = 2
"""A question with fewer words beside stop words, and none for what it is about, is looked up with those of
the one before."""

DOCUMENTS: Final[tuple[Kind, ...]] = ("resource",)
SAID: Final[tuple[Kind, ...]] = tuple(kind for kind in get_args(Kind) if kind not in DOCUMENTS)
"""The kinds of memory in each layer."""
MOST_COUNTED: Final = 100_000
"""Memories of a layer that are counted."""
CROWDS_FROM: Final = 400
"""Memories of a layer below which it takes no places of the other, ten times the candidates of a
channel ..."""
CROWDS_TIMES: Final = 4
"""... and how many times as many as the other has, see `crowds`."""

INTERCEPT: Final = -1.1
SCORE_WEIGHT: Final = 1.45
WORDS_WEIGHT: Final = 1.5
PEOPLE_WEIGHT: Final = -0.8
DOCUMENTS_WEIGHT: Final = 2.0
"""Of the log odds that documents answer, see `share_of_documents`."""
LOOKED_AT: Final = 20
"""Results of each layer that are looked at, at least."""
LEAST_SHARE: Final = 0.2
"""Of a layer, below which it is left out, ..."""
LIKELY: Final = 0.5
"""... but for results with this score: they are evidence more likely than not. The share is of little worth
where a layer has a few memories: words are not rare there, and scores are high."""
DOCUMENT_GATE: Final = 0.1
"""Score that the best part of a document must have where nobody chose a lowest one. What refers to the person
("What is my blood type?") is seldom answered by documents, however low the gate for what they said."""
ABOUT_ASKER_GATE: Final = 0.3
"""The same for a question about who asks alone ("What am I allergic to?"), where nothing that was said is as
likely to answer it. Of 63 such questions to talk a part of Python's library has .1 for 59 of 100, .3 for 14;
those that documents answer have .7 and more on `heron`."""
_EDGE: Final = 1e-4
_MARK = re.compile("[?？؟]")


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerWords:
    """How a language asks for what was said and for what is written. The case of letters does not count."""

    code: str
    people: re.Pattern[str] = NEVER
    """Asks what somebody said, decided or did."""
    documents: re.Pattern[str] = NEVER
    """Asks how something works, or what holds for everybody."""
    joins: re.Pattern[str] = NEVER
    """Stands between two questions."""
    back: re.Pattern[str] = NEVER
    """Words for something named before: "it"."""


WORDS: Final[Topic[LayerWords]] = Topic(
    LayerWords,
    "layers",
    about="words by which a question is about people, or about documents",
    without="a question is asked of all layers alike",
)


def questions_in(message: str) -> tuple[str, ...]:
    """Return the questions of a message by the rules of its language, in order; the message itself where it
    asks one thing. One that goes back to the question before ("How do I export them?") has its words behind
    it."""
    found, before = list[str](), list[str]()
    for part, goes_back in _asked(message):
        terms, asked = _telling(part), part
        if goes_back:
            behind = [one for one in before if one not in terms]
            terms, asked = [*terms, *behind], " ".join((asked, *behind))
        found.append(asked)
        before = terms
    return tuple(found)


def separate_questions(message: str) -> tuple[str, ...]:
    """Return the questions of a message where each stands for itself; else the message."""
    asked = _asked(message)
    if len(asked) < 2 or any(goes_back or doing(one) != "asks" for one, goes_back in asked):
        return (message,)
    return tuple(one for one, _ in asked)


def _asked(message: str) -> list[tuple[str, bool]]:
    """Return the questions of a message, and of each whether it goes back to the one before; the message
    where it asks one thing, or very many."""
    words = WORDS.get(detect_language(message).code)
    parts = [] if words is None or len(message) > LONGEST else _parts(message, words)
    if words is None or not 1 < len(parts) <= MOST_QUESTIONS:
        return [(message, False)]
    mark = _MARK.search(message)
    return [
        (
            part if mark is None or _MARK.search(part) else part + mark[0],
            place > 0 and (bool(words.back.search(part)) or not _has_subject(part)),
        )
        for place, part in enumerate(parts)
    ]


def _has_subject(question: str) -> bool:
    """Whether a question says by itself what it is about: by two telling words, a name, or a word for what
    both sides know ("where is my car")."""
    language = detect_language(question)
    words = frozenset(split_words(question))
    return (
        len(_telling(question)) >= FEW_WORDS
        or not words.isdisjoint(language.references | language.indefinite | language.first_person)
        or any(word[0].isupper() for word in question.split()[1:])
    )


def _parts(message: str, words: LayerWords) -> list[str]:
    """Return a message cut between its questions; what has no word of its own ("and why?") is no question."""
    parts, start = list[str](), 0
    for cut in words.joins.finditer(message):
        if _telling(message[start : cut.start()]) and _telling(message[cut.end() :]):
            parts.append(message[start : cut.start()].strip(" ,;"))
            start = cut.end()
    return [*parts, message[start:].strip(" ,;")]


def _telling(question: str) -> list[str]:
    """The words of a question that are no stop words."""
    language = detect_language(question)
    return [one for one in keyword_terms(question, language) if one not in language.stop_words]


def crowds(documents: int, said: int) -> bool:
    """Return whether one layer of a namespace leaves the other few places, where both are ranked as one: of
    20,000 parts of documents and 2,000 turns, 40 candidates are nearly all documents. Where the layers are of
    about one size, one ranking finds more, since a question may be for both."""
    less, more = sorted((documents, said))
    return less > 0 and more >= max(CROWDS_FROM, CROWDS_TIMES * less)


def share_of_documents(
    question: str, people: Sequence[RecallResult], documents: Sequence[RecallResult]
) -> float:
    """Return the probability, 0..1, that documents answer a question rather than what was said, by its words
    and by what was found of each, best first."""
    if not people or not documents:
        return 1.0 if documents else 0.0
    asks_people, asks_documents = asks_for(question)
    odds = INTERCEPT + SCORE_WEIGHT * (_log_odds(documents) - _log_odds(people))
    odds += WORDS_WEIGHT * (_words_met(documents) - _words_met(people))
    odds += PEOPLE_WEIGHT * asks_people + DOCUMENTS_WEIGHT * asks_documents
    return 1 / (1 + exp(-odds))


def asks_for(question: str) -> tuple[bool, bool]:
    """Return whether the words of a question ask for what was said, and whether for what is written."""
    words = WORDS.get(detect_language(question).code)
    if words is None:
        return False, False
    return bool(words.people.search(question)), bool(words.documents.search(question))


def _log_odds(results: Iterable[RecallResult]) -> float:
    """Of the best result."""
    best = min(max((one.score for one in results), default=0.0), 1 - _EDGE)
    return log(max(best, _EDGE) / (1 - best))


def _words_met(results: Iterable[RecallResult]) -> float:
    """How well the words of the question are met, as a logarithm of BM25."""
    return log(1 + max((one.parts.get("keyword", 0.0) for one in results), default=0.0))


def share_results(
    people: Sequence[RecallResult],
    documents: Sequence[RecallResult],
    share: float,
    *,
    filled: bool = False,
) -> list[RecallResult]:
    """Return the results of both layers, each in its own order, by their score as a part of the best of the
    layer times the share of the layer. Of a layer with less than `LEAST_SHARE` only what is `LIKELY` is
    shown, by its score; ``filled``: all of it, behind the other."""
    lists = (people, documents)
    order = places((1 - share, share), [[one.score for one in each] for each in lists])
    kept = [lists[layer][place] for layer, place in order]
    for part, results in zip((1 - share, share), lists, strict=True):
        if part >= LEAST_SHARE:
            continue
        if filled:
            kept += results
        else:
            kept = by_score(kept, [one for one in results if one.score >= LIKELY])
    return kept


def places(shares: Sequence[float], scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the order of the results of some layers: of which layer each is, and its place there. Given
    are the shares of the layers, and the scores in each."""
    ranked = [
        (-share * score / max(each[0], _EDGE), layer, place)
        for layer, (share, each) in enumerate(zip(shares, scores, strict=True))
        if share >= LEAST_SHARE
        for place, score in enumerate(each)
    ]
    return [(layer, place) for _, layer, place in sorted(ranked)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """What a question found."""

    people: Recall | None = None
    """What was said; None: it was not looked up."""
    documents: Recall | None = None
    share: float | None = None
    """The probability that documents answer; None: the results tell."""


def merge_recalls(found: Sequence[Recall], limit: int) -> Recall:
    """Return what one question found in several places, by score; of each place in its own order."""
    if len(found) == 1:
        return found[0]
    return replace(
        found[0],
        results=tuple(by_score(*(one.results for one in found))[:limit]),
        trace=_join_traces([("", one.trace) for one in found]),
    )


def by_score(*lists: Sequence[RecallResult]) -> list[RecallResult]:
    """Return the results of several lists by score; of each list in its own order, of equals the first list's
    first."""
    ranked = [
        (-lowest, which, place)
        for which, results in enumerate(lists)
        for place, lowest in enumerate(accumulate((one.score for one in results), min))
    ]
    return [lists[which][place] for _, which, place in sorted(ranked)]


def dealt(lists: Sequence[Sequence[RecallResult]], limit: int) -> list[RecallResult]:
    """Return the results of several questions in turn, each memory once, at most ``limit``; no score is above
    that of the place before it."""
    places = range(max(map(len, lists), default=0))
    return placed(
        [results[place] for place in places for results in lists if place < len(results)], limit
    )


def placed(results: Iterable[RecallResult], limit: int) -> list[RecallResult]:
    """Return results in this order, each memory once, at most ``limit``; no score is above that of the place
    before it."""
    found: dict[tuple[Namespace, str], RecallResult] = {}
    for one in results:
        if len(found) < limit:
            found.setdefault((one.memory.namespace, one.memory.key), one)
    lowest, merged = 1.0, list[RecallResult]()
    for one in found.values():
        lowest = min(lowest, one.score)
        merged.append(replace(one, score=lowest))
    return merged


def of_both(
    query: str,
    questions: Sequence[str],
    look_up: Callable[[str], Looked],
    *,
    limit: int,
    gated: bool = False,
    filled: bool = False,
    degraded: tuple[str, ...] = (),
) -> Recall:
    """Return what was said and what documents say, in answer to the questions of a query.

    Args:
        query: As it was asked.
        questions: Those in it, each of which is looked up.
        look_up: Looks a question up in one layer at least.
        limit: Results at most.
        gated: Leave documents out that do not pass, see `passes`.
        filled: An unlikely layer takes the places that are left, see `shared`.
        degraded: What went wrong before.
    """
    lists, shares, found = list[list[RecallResult]](), dict[str, float](), list[Layered]()
    for question in questions:
        looked = look_up(question)
        people = looked.people.results if looked.people else ()
        documents = looked.documents.results if looked.documents else ()
        if gated and not passes(question, people, documents):
            documents = ()
        share = looked.share
        if share is None or not people or not documents:
            share = share_of_documents(question, people, documents)
        lists.append(share_results(people, documents, share, filled=filled))
        shares[question] = round(share if looked.share is None else looked.share, 3)
        found += [("", looked.people), ("documents: ", looked.documents)]
    traces = [(layer, one.trace) for layer, one in found if one is not None]
    trace = _join_traces(traces)
    return Recall(
        query=query,
        results=tuple(dealt(lists, limit)),
        trace=replace(trace, questions=shares, degraded=(*degraded, *trace.degraded)),
    )


Layered = tuple[str, Recall | None]
"""What was found, behind what the stages of its layer are called by."""


def passes(
    question: str, people: Sequence[RecallResult], documents: Sequence[RecallResult]
) -> bool:
    """Return whether the parts of documents found answer a question well enough to be shown where nobody
    chose a lowest score."""
    said, written = (max((one.score for one in each), default=0.0) for each in (people, documents))
    about_asker = said < written and is_about_asker(question)
    return written >= (ABOUT_ASKER_GATE if about_asker else DOCUMENT_GATE)


def _join_traces(traces: Sequence[tuple[str, Trace]]) -> Trace:
    """Return the trace of several look-ups, each behind what the stages of its layer are called by."""
    candidates, milliseconds, removed = dict[str, int](), dict[str, float](), dict[str, str]()
    for layer, trace in traces:
        for stage, count in trace.candidates.items():
            candidates[layer + stage] = candidates.get(layer + stage, 0) + count
        for stage, spent in trace.milliseconds.items():
            milliseconds[stage] = milliseconds.get(stage, 0.0) + spent
        removed |= {**trace.removed, **removed}
    return replace(
        traces[0][1],
        candidates=candidates,
        milliseconds=milliseconds,
        removed=removed,
        degraded=tuple(dict.fromkeys(why for _, trace in traces for why in trace.degraded)),
        expansions=tuple(dict.fromkeys(one for _, trace in traces for one in trace.expansions)),
    )
