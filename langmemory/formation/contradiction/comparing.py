"""Comparison of two facts by their structure, before anybody reads their words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from langmemory.formation.contradiction.comparable import (
    END,
    ComparableFact,
    asks_assistant,
    overlap_in_time,
    spoken_name,
    words_of,
)
from langmemory.formation.contradiction.pairs import Pair, later, speaks_of_change
from langmemory.formation.entities.roles import person_words
from langmemory.formation.relations.vocabulary import PLANNED, Relation, relation_named
from langmemory.formation.statements import cues
from langmemory.formation.wording import wording
from langmemory.languages import LANGUAGES, split_words
from langmemory.ports.facts import Claim
from langmemory.types import NO_LONGER

NEVER_TRUE = "corrected: never was true"
SAID_AGAIN = "said again after that"


def compare_facts(new: ComparableFact, old: ComparableFact) -> Pair | None:
    """The pair with what structure says to it; None when they do not concern each other."""
    if old.key == new.key or old.end <= old.start:
        return None  # what never was true stands against nothing
    if new.owner is None and "private" in (new.privacy, old.privacy):
        return None
    # How somebody wants to be answered is theirs to say: a name may be several people's.
    personal = "private" in (new.privacy, old.privacy) or asks_assistant(new) or asks_assistant(old)
    if personal and new.owner != old.owner:
        return None
    found: list[Pair] = []
    for mine in new.claims:
        for theirs in old.claims:
            if mine.subject == theirs.subject:
                pair = _claims_compared(new, mine, old, theirs)
                if pair is not None and (pair.verdict or pair.undecided) != "both_true":
                    return _check_privacy(pair)
                found += [pair] if pair is not None else []
    return _check_privacy(found[0]) if found else None


def _claims_compared(
    new: ComparableFact, mine: Claim, old: ComparableFact, theirs: Claim
) -> Pair | None:
    if mine.relation == NO_LONGER + theirs.relation or _ends(mine, theirs):
        return _pair_by_end(new, mine, old, theirs)
    if theirs.relation == NO_LONGER + mine.relation or _ends(theirs, mine):
        return _ended_before(new, mine, old, theirs)
    same_object = _same_object(mine, theirs)
    over, planned = mine.relation.removeprefix(NO_LONGER), theirs.relation.removeprefix(PLANNED)
    if over == planned and over != mine.relation and planned != theirs.relation:
        if not same_object or new.said_at < old.said_at or old.end <= new.start:
            return None
        until = max(old.start, new.start)
        pair = Pair(new=new, old=old, about="contradiction", until=until)
        return replace(pair, reason="the plan may be off")
    if relation_named(mine.relation).opposite == theirs.relation:
        return _tastes(new, old) if same_object else None
    if mine.relation != theirs.relation:
        return None
    if same_object and _is_redated(new, old):
        return _by_correction(Pair(new=new, old=old, about="contradiction"))
    if same_object:  # it may say until when the same holds that was known without an end
        if new.end == END or old.end != END or new.end <= old.start or new.said_at < old.said_at:
            return None
        pair = Pair(new=new, old=old, about="contradiction", verdict="supersedes", until=new.end)
        return replace(pair, reason="it is known until when")
    if not overlap_in_time(new, old):
        return None
    relation = relation_named(mine.relation)
    if not relation.is_single and not _may_exclude(new, mine, old, theirs, relation):
        return None
    return _values_compared(new, mine, old, theirs, relation)


def _may_exclude(
    new: ComparableFact, mine: Claim, old: ComparableFact, theirs: Claim, relation: Relation
) -> bool:
    """Whether of a relation that need not have one value, one may give way: to a correction in
    nearly the same words; and where nobody knows how many it has, to what is the same but for the
    value, or says that something changed."""
    near = _one_word_apart(new, old)
    if _takes_back(old, new):
        return near
    if new.corrects or relation.values == "many":
        return new.corrects and near
    if mine != new.claims[0] or theirs != old.claims[0] or new.kind == old.kind == "event":
        return False
    return near or speaks_of_change(new)


def _values_compared(
    new: ComparableFact, mine: Claim, old: ComparableFact, theirs: Claim, relation: Relation
) -> Pair | None:
    """Two values of one relation for the same time."""
    unknown = relation.values == "unknown"
    pair = Pair(
        new=new, old=old, about="contradiction", undecided="both_true" if unknown else "unclear"
    )
    if new.corrects and new.said_at < old.said_at and not relation.is_single:
        return None  # it takes back something said before that
    if (corrected := _by_correction(pair)) is not None:
        return corrected
    if set(new.evidence) & set(old.evidence) and not speaks_of_change(new):
        return replace(pair, verdict="both_true", reason="said in one breath")
    if _part_of(mine, theirs):
        return replace(pair, verdict="both_true", reason="one says the other more exactly")
    if relation.timeless:
        return replace(pair, reason="which one is right")
    second = later(new, old)
    if second is None:
        return replace(pair, reason="which one came after the other")
    is_news = new.said_at > old.told_at and new.dated and speaks_of_change(new)
    # "I live in Bonn", and days later "we moved to Lisbon last week".
    if second is old and not old.dated and relation.values == "one" and is_news:
        return replace(
            pair, verdict="supersedes", until=new.said_at, reason="told later, as a change"
        )
    if second is old and not _is_history(new, old):
        return replace(pair, until=old.start, reason="said later, of an earlier time")
    if second is new and new.said_at < old.told_at:
        return replace(pair, reason=SAID_AGAIN)
    role = spoken_name(mine.subject)  # "Lena's sister": she may have two
    shared = " " in role and role.rpartition(" ")[2] in person_words().shared
    if shared and not speaks_of_change(second):
        return replace(pair, reason="there may be more than one")
    if unknown:
        return replace(pair, reason=f"perhaps only one “{_words(relation)}” holds")
    if relation.values == "usually one" and not speaks_of_change(second):
        return replace(pair, reason=f"as a rule only one “{_words(relation)}” holds")
    one_in_other = _is_country(mine.object) != _is_country(theirs.object) or (
        relation.object == "place" and (_names(new, theirs.object) or _names(old, mine.object))
    )  # "lives in Holtenau, a quarter of Kiel"
    if one_in_other and not speaks_of_change(second):
        return replace(pair, reason="one place may lie in the other")
    reason = f"only one “{_words(relation)}” holds at a time"
    return replace(pair, verdict="supersedes", reason=reason)


def _words(relation: Relation) -> str:
    return relation.name.replace("_", " ")


def _one_word_apart(new: ComparableFact, old: ComparableFact) -> bool:
    """Whether two texts say nearly the same, but for what they say it of."""
    ours = wording(new.text, new.language).words
    theirs = wording(old.text, old.language).words
    return len(ours - theirs) <= 2 and len(theirs - ours) <= 2 and bool(ours & theirs)


def _is_redated(new: ComparableFact, old: ComparableFact) -> bool:
    """Whether a correction tells the same with another number or date: "Sorry, the test is on the 22nd"."""
    if not new.corrects:
        return False
    ours, theirs = wording(new.text, new.language), wording(old.text, old.language)
    others = (ours.numbers, ours.dates) != (theirs.numbers, theirs.dates)
    return others and _one_word_apart(new, old)


def _is_history(new: ComparableFact, old: ComparableFact) -> bool:
    """Whether a fact that began before the old one is surely over: it was said before, speaks of
    the past, or the old one tells its own beginning."""
    return (
        new.said_at <= old.said_at
        or old.dated
        or (cues().past.search(f"{new.text} {new.heard}") is not None)
    )


def _tastes(new: ComparableFact, old: ComparableFact) -> Pair | None:
    if not overlap_in_time(new, old):
        return None
    pair = Pair(new=new, old=old, about="contradiction", reason="the opposite of it")
    if (corrected := _by_correction(pair)) is not None:
        return corrected
    second = later(new, old)
    if second is new and new.said_at < old.told_at:
        return replace(pair, reason=SAID_AGAIN)
    return (
        replace(pair, verdict="supersedes")
        if second is not None and speaks_of_change(second)
        else pair
    )


def _pair_by_end(
    new: ComparableFact, mine: Claim, old: ComparableFact, theirs: Claim
) -> Pair | None:
    """The new fact says that the old one is over."""
    pair = Pair(new=new, old=old, about="contradiction")
    if old.end <= new.start:
        return None
    if not _same_object(mine, theirs):
        asked = new.start >= old.start and new.said_at >= old.told_at
        may_be = asked and _may_mean(new, mine, old, theirs)
        return replace(pair, until=new.start, reason="it may be what is over") if may_be else None
    start = _over_since(new, old)
    if start < old.start:
        if old.said_at <= new.said_at < old.start:  # it is yet to begin
            return replace(pair, until=old.start, reason="the plan may be off")
        if old.dated or new.said_at <= old.said_at:  # an earlier time of it is over
            return _again(replace(pair, verdict="supersedes"), over=new, again=old)
        return replace(pair, until=old.start, reason="over before it was said to hold")
    if new.corrects:
        return _pair_by_correction(pair)
    if new.said_at < old.told_at:
        return replace(pair, until=start, reason=SAID_AGAIN)
    if _is_of_another(new, mine, old):
        return replace(pair, until=start, reason="somebody else told it")
    if new.implied:
        return replace(pair, until=start, reason="it may be over, or never was so")
    return replace(pair, verdict="supersedes", until=start, reason="it is over")


def _over_since(new: ComparableFact, old: ComparableFact) -> datetime:
    """When the old fact was over: within the time that the new one names, but not before it was told last."""
    if new.over_by is None or old.dated or not new.start < old.told_at < new.over_by:
        return new.start
    return old.told_at


def _is_of_another(new: ComparableFact, mine: Claim, old: ComparableFact) -> bool:
    """Whether somebody else than who told a fact says that it is over, and not of themselves."""
    if new.speaker is None or old.speaker is None or new.speaker == old.speaker:
        return False
    return words_of(mine.subject) != words_of(new.speaker)


def _pair_by_correction(pair: Pair) -> Pair:
    """The known fact never was true, unless it was said again after the correction."""
    if pair.new.said_at < pair.old.told_at:
        return replace(pair, until=pair.old.start, reason=SAID_AGAIN)
    return replace(pair, verdict="supersedes", until=pair.old.start, reason=NEVER_TRUE)


def _by_correction(pair: Pair) -> Pair | None:
    """The pair where one of the two corrects the other."""
    if pair.new.corrects and pair.new.said_at >= pair.old.said_at:
        return _pair_by_correction(pair)
    if _takes_back(pair.old, pair.new):
        return replace(pair, verdict="supersedes", comes_late=True, reason=NEVER_TRUE)
    return None


def _takes_back(old: ComparableFact, new: ComparableFact) -> bool:
    """Whether a known correction may be one of what is told only now, and was said before it."""
    return old.corrects and not old.new and new.said_at < old.said_at


def _ended_before(
    new: ComparableFact, mine: Claim, old: ComparableFact, theirs: Claim
) -> Pair | None:
    """The new fact is known to be over: news that comes late; with a later beginning, it is so again."""
    if not _same_object(mine, theirs) or new.end <= old.start:
        return None
    pair = Pair(new=new, old=old, about="contradiction", verdict="supersedes")
    if new.start >= old.start:
        return _again(pair, over=old, again=new)
    if _takes_back(old, new):
        return replace(pair, comes_late=True, reason=NEVER_TRUE)
    return replace(pair, reason="it is known to be over")


def _again(pair: Pair, *, over: ComparableFact, again: ComparableFact) -> Pair | None:
    """Reinstate what was ``over``, and supersede that it is over, also where one hears of that only after
    it was so ``again``. That it ended once, as an event ("left Kiel"), stays."""
    stated = over.ends and over.kind != "event" and wording(over.text, over.language).negated
    in_one_breath = bool(set(again.evidence) & set(over.evidence))
    if not stated or over.end <= again.start or again.said_at < over.told_at or in_one_breath:
        return None
    if again.corrects and again is pair.new:
        return _pair_by_correction(pair)
    # What is new and began earlier gives way when it began.
    until = again.start if over is pair.old else None
    return replace(pair, until=until, reason="it is so again")


def _ends(mine: Claim, theirs: Claim) -> bool:
    return theirs.relation in relation_named(mine.relation).ended


def _check_privacy(pair: Pair) -> Pair | None:
    """Let a person decide where more people may read the known fact than the new one. Nothing
    gives way to what waits for approval, and of what gave way before nobody is asked."""
    old_goes = pair.loser is pair.old
    if pair.old.past and pair.undecided == "unclear":
        return pair if pair.verdict == "supersedes" else None
    if pair.old.waiting:
        return pair if pair.verdict == "supersedes" and old_goes else None
    undecided_or_goes = pair.verdict is None or (pair.verdict == "supersedes" and old_goes)
    if undecided_or_goes and pair.new.privacy == "private" != pair.old.privacy:
        if pair.verdict is None and pair.undecided == "both_true":
            return None  # nothing says that they exclude each other
        return replace(pair, verdict="unclear", reason="others may read the known fact")
    return pair


def _same_object(one: Claim, other: Claim) -> bool:
    if one.object_is_entity == other.object_is_entity:
        return one.object == other.object
    return words_of(one.object) == words_of(other.object)


def _may_mean(new: ComparableFact, mine: Claim, old: ComparableFact, theirs: Claim) -> bool:
    """Whether one claim has a common noun for what the other names: of "no longer has a dog", and a dog
    called Rex; of "lost her job", and the one she has."""
    for claim, other in ((mine, old), (theirs, new)):
        words = {*words_of(claim.object).split()} - cues().articles
        if claim.object_is_entity or not words:
            continue
        if words <= set(split_words(other.text)):
            return True
        relation = relation_named(theirs.relation)
        named = {word for phrase in relation.phrases for word in phrase.split("_")}
        if claim is mine and relation.is_single and words <= named:
            return True
    return False


def _part_of(one: Claim, other: Claim) -> bool:
    """Whether one object is the other with more words: "May", "3 May"; "Berlin", "Berlin Mitte"."""
    ours, theirs = set(words_of(one.object).split()), set(words_of(other.object).split())
    return bool(ours) and bool(theirs) and (ours <= theirs or theirs <= ours)


def _names(statement: ComparableFact, place: str) -> bool:
    """Whether a statement speaks of a place, too."""
    words = words_of(place).split()
    return bool(words) and set(words) <= set(split_words(statement.text))


def _is_country(place: str) -> bool:
    return words_of(place) in LANGUAGES["en"].countries
