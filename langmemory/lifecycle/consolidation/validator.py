"""The validator: which operations of a model may be done, and why not the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langmemory.formation.asking.json_answers import BadAnswerError
from langmemory.formation.grounding import (
    MAX_CHARACTERS,
    harmful,
    is_copied,
    sentences,
    turned_round,
    unsupported_part,
)
from langmemory.formation.wording import language_of, missing_words, telling_words
from langmemory.lifecycle.consolidation.listing import (
    AnyOperation,
    CoreText,
    Insight,
    Listed,
    Listing,
    MergeSame,
    Outdate,
    entries_in,
    parse_operations,
)

HABIT_SESSIONS: Final = 3
"""Conversations from which something stated is a habit."""
MOST_LOST: Final = 0.25
"""Share of the telling words of a core block that a new text may leave out."""
MOST_GOING: Final = 0.25
"""Share of the listed memories that one answer may merge away or outdate, and `FEW` at least."""
FEW: Final = 3
ALIKE: Final = 0.6
"""Share of words that memories must have in common to be merged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """An answer of a model, checked."""

    accepted: tuple[AnyOperation, ...] = ()
    refused: tuple[str, ...] = ()
    """Why each other operation was refused; never memory text."""


def validate_answer(answer: str, listing: Listing) -> Checked:
    """Return the operations of an answer that may be done on a listing.

    Raises:
        BadAnswerError: Nothing in it can be read as operations.
    """
    entries, broke_off = entries_in(answer)
    operations, refused = parse_operations(entries)
    if entries and not operations:
        raise BadAnswerError(f"none of its operations has the form asked for: {refused[0]}")
    refused += ["the answer broke off in the middle"] * broke_off
    return validate_operations(operations, listing, refused)


def validate_operations(
    operations: Sequence[AnyOperation], listing: Listing, refused: Sequence[str] = ()
) -> Checked:
    """Return the operations that may be done, and with those refused before why the others may not."""
    reasons = list(refused)
    against = _conflicting(operations)
    accepted: list[AnyOperation] = []
    texts: set[tuple[str, ...]] = set()
    for place, one in enumerate(operations):
        reason = against.get(place) or next(_objections(one, listing), None)
        if reason is None and isinstance(one, Insight | CoreText):
            if (said := tuple(sentences(one.text))) in texts:
                reason = "it was said in the same answer"
            texts.add(said)
        if reason is None:
            accepted.append(one)
        else:
            reasons.append(f"{one.op}: {reason}")
    going = {key for one in accepted for key in _going(one)}
    if len(going) > max(FEW, MOST_GOING * len(listing.memories)):
        kept = [one for one in accepted if not _going(one)]
        reasons += [
            f"{one.op}: {len(going)} of {len(listing.memories)} memories would go at once"
            for one in accepted
            if _going(one)
        ]
        accepted = kept
    return Checked(accepted=tuple(accepted), refused=tuple(reasons))


def _objections(one: AnyOperation, listing: Listing) -> Iterator[str]:
    """Yield why an operation may not be done."""
    ids = _ids(one)
    if not ids:
        yield "it has no sources"
        return
    if unknown := [name for name in ids if name not in listing.by_id]:
        yield f"{len(unknown)} of its sources are not listed"
        return
    if len(set(ids)) < len(ids):
        yield "it names a memory twice"
    if (reason := harmful(one.reason)) is not None:
        yield f"its reason holds {reason}"
    sources = [listing.by_id[name] for name in ids]
    match one:
        case Insight():
            yield from _about_insight(one, sources, listing)
        case MergeSame():
            yield from _about_merge(sources)
        case Outdate():
            yield from _about_outdating(*sources)
        case CoreText():
            yield from _about_core(one, sources, listing)


def _about_insight(one: Insight, sources: Sequence[Listed], listing: Listing) -> Iterator[str]:
    yield from _about_sources(sources)
    texts = [source.memory.text for source in sources]
    if (reason := harmful(one.text, texts)) is not None:
        yield f"its text holds {reason}"
    if len(one.text) > MAX_CHARACTERS:
        yield f"its text has {len(one.text)} characters, of at most {MAX_CHARACTERS}"
    sessions = frozenset[str]().union(*(source.sessions for source in sources))
    if one.kind == "habit" and len(sessions) < HABIT_SESSIONS:
        yield f"a habit stated in {len(sessions)} conversations, of at least {HABIT_SESSIONS}"
    elif len(sources) < 2:
        yield "one source makes no insight"
    counts = (len(sources), len(sessions))
    yield from _about_text(one.text, sources, texts, counts=counts, order=one.kind == "rule")
    known = [*(each.memory.text for each in listing.memories), *listing.concluded]
    if is_copied(one.text, known):
        yield "its text says nothing new"
    yield from _about_secrets(one.text, sources, listing)


def _about_text(
    text: str,
    sources: Sequence[Listed],
    texts: Sequence[str],
    *,
    counts: Sequence[int] = (),
    order: bool = False,
) -> Iterator[str]:
    language = language_of(text)
    if language not in {source.language.split("-")[0] for source in sources}:
        yield "it is in another language than its sources"
    elif (reason := unsupported_part(text, language, texts, counts=counts)) is not None:
        yield f"its text has {reason}"
    elif not order and turned_round(text, language, texts):
        yield "its text says the opposite of its sources"


def _about_sources(sources: Sequence[Listed]) -> Iterator[str]:
    if any(source.said_by in ("assistant", "tool") for source in sources):
        yield "a source was not said by the person"
    owners = {source.memory.owner for source in sources}
    private = any(source.memory.privacy == "private" for source in sources)
    if len(owners) > 1 and (private or len(owners - {None}) > 1):
        yield "its sources belong to different owners"
    if private and None in owners:
        yield "a private source has no owner"


def _about_secrets(
    text: str, sources: Sequence[Listed], listing: Listing, before: str = ""
) -> Iterator[str]:
    """A text may not say what only a private memory says that is no source of it, unless it was said
    ``before``."""
    if any(source.memory.privacy == "private" for source in sources):
        return
    shared, secret = set(telling_words(before, language_of(before))), set[str]()
    for one in listing.memories:
        words = telling_words(one.memory.text, one.language)
        if one.memory.privacy == "private":
            secret |= words
        else:
            shared |= words
    if telling_words(text, language_of(text)) & (secret - shared):
        yield "it says what a private memory says that is no source"


def _about_merge(memories: Sequence[Listed]) -> Iterator[str]:
    keep, *others = memories
    if not others:
        yield "it merges nothing"
    for other in others:
        if other.circle != keep.circle:
            yield "they are not for the same people to read"
        if (other.said_by, other.statement, other.memory.kind) != (
            keep.said_by, keep.statement, keep.memory.kind,
        ):  # fmt: skip
            yield "they are of different kinds"
        if other.memory.pinned or other.memory.verified:
            yield "a person vouched for one that would go"
        alike = other.wording.matches(keep.wording)
        if not alike or other.wording.overlap(keep.wording) < ALIKE:
            yield "they do not say the same"
        if keep.statement == "event" and other.memory.at.date() != keep.memory.at.date():
            yield "two events are not one"


def _about_outdating(old: Listed, new: Listed) -> Iterator[str]:
    if old.circle != new.circle:
        yield "they are not for the same people to read"
    if new.said_by in ("assistant", "tool"):
        yield "what outdates it was not said by the person"
    if old.memory.at >= new.memory.at:
        yield "it would be outdated by something older"
    if old.statement == "event":
        yield "what happened is not outdated"
    if old.memory.pinned or old.memory.verified:
        yield "a person vouched for it"
    if old.relation and new.relation and old.relation != new.relation:
        yield "they are about different things"
    words, names = new.wording.words, old.wording.names | new.wording.names
    common = old.wording.words - missing_words(old.wording.words, words)
    if len(common) < 2 or not common - names - _subject(old):
        yield "they are about different things"


def _subject(one: Listed) -> set[str]:
    first = one.memory.text.split(maxsplit=1)[:1]
    return {"".join(filter(str.isalnum, word.casefold())) for word in first}


def _about_core(one: CoreText, sources: Sequence[Listed], listing: Listing) -> Iterator[str]:
    if one.block not in listing.blocks:
        yield "there is no such block"
        return
    yield from _about_sources(sources)
    if any(source.memory.privacy == "private" for source in sources):
        yield "a core block is read by everybody, and a source is private"
    before = listing.blocks[one.block]
    texts = [source.memory.text for source in sources]
    if (reason := harmful(" ".join(one.text.split("\n")), [before, *texts])) is not None:
        yield f"its text holds {reason}"
    if len(one.text) > listing.limit:
        yield f"its text has {len(one.text)} characters, of at most {listing.limit}"
    if not one.text.strip():
        yield "its text is empty"
        return
    language = language_of(before or one.text)
    words = telling_words(before, language)
    lost = missing_words(words, telling_words(one.text, language))
    if words and len(lost) > MOST_LOST * len(words):
        yield f"it loses {len(lost) / len(words):.0%} of the block"
    if is_copied(one.text, [before]):
        yield "its text says nothing new"
    kept = sentences(before)
    for compared, sentence in sentences(one.text).items():
        if compared not in kept:
            yield from _about_text(sentence, sources, [before, *texts])
            said = telling_words(sentence, language)
            if (
                missing_words(said, [w for text in texts for w in telling_words(text, language)])
                == said
            ):
                yield "it changes what no source speaks of"
    yield from _about_secrets(one.text, sources, listing, before)


def _ids(one: AnyOperation) -> list[str]:
    match one:
        case MergeSame():
            return [one.keep, *one.others]
        case Outdate():
            return [one.old, one.by]
        case _:
            return one.sources


def _going(one: AnyOperation) -> list[str]:
    match one:
        case MergeSame():
            return one.others
        case Outdate():
            return [one.old]
        case _:
            return []


def _stays(one: AnyOperation) -> str:
    return one.keep if isinstance(one, MergeSame) else getattr(one, "by", "")


def _conflicting(operations: Sequence[AnyOperation]) -> Mapping[int, str]:
    """By place: operations by which a memory goes twice, or gives way to what gives way to it."""
    ways: dict[str, list[tuple[str, int]]] = {}
    for place, one in enumerate(operations):
        for key in _going(one):
            ways.setdefault(key, []).append((_stays(one), place))
    against: dict[int, str] = {}
    for key, found in ways.items():
        if len({place for _, place in found}) > 1:
            against |= {place: "another operation takes the same memory" for _, place in found}
        for target, place in found:
            if target != key and key in _reachable_from(target, ways):
                against[place] = "memories would give way to each other"
    return against


def _reachable_from(start: str, ways: Mapping[str, Sequence[tuple[str, Any]]]) -> set[str]:
    found, left = {start}, [start]
    while left:
        for target, _ in ways.get(left.pop(), ()):
            if target not in found:
                found.add(target)
                left.append(target)
    return found
