"""Standing requests: how a person wants to be answered from now on, told the assistant in talk.

Only what is in the lists of a language is ever taken up, so that no words of a conversation become orders
of another sort; what is asked for once ("answer this one in German") is left alone.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal

from langmemory.formation.batch import Turn
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.rules.clauses import own_words, plainly_said, sentences
from langmemory.formation.rules.patterns import Patterns
from langmemory.languages import Topic, ordinary_words
from langmemory.ports.facts import Claim, Fact

Lasting = Literal["if said", "if alone", "always"]
"""When something asked for is meant for good: only where words say so, also where the turn has nothing
else that it may belong to, or by its nature ("call me Bob"). "From now on" says so in any case, and
"always" where the turn has nothing else."""

_OBJECT = re.compile(r"(?<!P)<(\w+)>")
_PLACE = re.compile(r"\{([A-Za-z]+)\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One way to ask for something, as a regular expression over a whole clause.

    The clause comes without its words for "from now on" and "please" (`Manners`). ``{placeholders}``
    are those of its language, and ``<Name>`` is ``{Name}`` as the object; each alternative may have
    its own. Whatever the case of the letters, unless the pattern says otherwise.
    """

    pattern: str
    text: str
    """The statement: ``{s}`` is who asks, ``{o}`` the object."""
    relation: str
    """Of `relations`."""
    object: str = "{o}"
    """The claim's object: a word of its own where there are many words for it."""
    lasts: Lasting = "if said"
    ends: bool = False
    """Takes back what was asked for."""
    importance: float = 0.7


@dataclass(frozen=True, kw_only=True)
class Manners:
    """How one asks for something in a language. Regular expressions without groups, whatever the
    case of the letters."""

    code: str
    spaced: bool = True
    for_good: str
    """Words by which something is asked for from now on."""
    habit: str
    """Words by which it is asked for always: of answers, or of what else the turn is about."""
    fillers: str
    """Words that change nothing."""
    leads: str
    """What a clause that asks for something may begin with: "I want you to"."""
    polite: str
    """A lead that is a question: "could you". It asks for something for good only with words that say
    so, or by what it asks for: "could you stop calling me madam"."""
    tags: str
    """A clause that makes no question of the sentence before it: "okay?"."""
    splits: str
    """What separates clauses."""
    ands: str
    """What may join two of them besides."""
    when: str
    """A clause that begins so says on what occasions something is asked for."""
    somewhere: str
    """A clause that begins so says for what it is asked: "In the essay, always cite sources"."""
    unclear: str
    """A sentence with this asks for nothing for certain: conditions, reports of what others say, jokes."""
    elsewhere: str
    """A turn with this is about a text or a game, and so may be what it asks for."""
    tasks: str
    """A clause that begins so asks for something to be done now."""
    company: str
    """A sentence that begins so speaks of who speaks, or to the assistant. Beside any other, such as
    a heading, what is asked for may be meant for that."""
    same: Mapping[str, str] = field(default_factory=dict)
    """Objects by another word for them, case-folded."""
    claimed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What a thing is called in claims, whatever the language, to the words for it, case-folded: what
    was asked for in one language is taken back in another."""
    conditional: str = r"(?!)"
    """A statement of a model with this asks for something on a condition."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of a relation, the only objects there are, as a statement has them."""
    pronouns: tuple[str, ...] = ()
    """The first of the pronouns somebody may go by: "she" of "she/her"."""
    no_names: frozenset[str] = frozenset()
    """What nobody is called beside `ordinary_words`, case-folded: "Call me ASAP"."""
    placeholders: Mapping[str, str]
    requests: tuple[Request, ...]

    @cached_property
    def not_names(self) -> frozenset[str]:
        """All words that nobody is called, case-folded."""
        return self.no_names | ordinary_words(self.code) if self.spaced else self.no_names

    @cached_property
    def patterns(self) -> tuple[tuple[Request, re.Pattern[str]], ...]:
        """Each request and its regular expression."""
        return tuple((one, self.compile_pattern(one.pattern)) for one in self.requests)

    def compile_pattern(self, pattern: str) -> re.Pattern[str]:
        numbers = itertools.count()
        pattern = _OBJECT.sub(lambda o: f"(?P<object{next(numbers)}>{{{o[1]}}})", pattern)
        while found := _PLACE.search(pattern):
            pattern = pattern.replace(found[0], f"(?:{self.placeholders[found[1]]})")
        return re.compile(pattern, re.IGNORECASE)

    @cached_property
    def found(self) -> Mapping[str, re.Pattern[str]]:
        """The expressions of the fields above, by field; at word ends where words are spaced."""
        edge = (r"(?<!\w)(?:", r")(?!\w)") if self.spaced else ("(?:", ")")
        names = (
            "for_good", "habit", "company", "fillers", "leads", "polite", "tags", "when", "somewhere",
            "unclear", "elsewhere", "tasks", "conditional",
        )  # fmt: skip
        whole = {name: getattr(self, name).join(edge) for name in names}
        whole |= {"splits": self.splits, "ands": self.ands}
        return {name: re.compile(part, re.IGNORECASE) for name, part in whole.items()}


MANNERS: Mapping[str, Manners] = Topic(
    Manners,
    "requests",
    about="how people ask to be answered",
    without="only a model finds requests",
)


@cache
def claimed_things() -> Mapping[str, str]:
    """Return what a thing is called in claims, by each word for it in any language."""
    return {
        word: thing
        for manners in MANNERS.values()
        for thing, words in manners.claimed.items()
        for word in words
    }


MAX_CHARACTERS = 1500
"""Longer turns are mostly pasted, and pasted guidelines are full of orders."""
CONFIDENCE = 0.85
_QUESTION = re.compile(r"[?？]")
_EDGE = " \t\n,;:.!?¡¿–—-，。！？；：、"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Clause:
    said: str
    """As it stands in the text."""
    opener: str
    """What stands before what it says: "Today," """
    match: tuple[Request, str] | None
    """What it asks for."""
    empty: bool
    """It says no more than "from now on", if that."""
    for_good: bool
    habit: bool
    polite: bool


def standing_requests(
    turn: Turn, text: str, patterns: Patterns, *, named: str, claimed: str
) -> tuple[list[Fact], str]:
    """What the speaker asks for from now on, and the text without it.

    Args:
        text: of the turn.
        named: the speaker in statements.
        claimed: the speaker in claims.
    """
    text = text.replace("’", "'")
    if patterns.grammar.code not in MANNERS:
        return [], text
    manners = MANNERS[patterns.grammar.code]
    if len(text) > MAX_CHARACTERS or manners.found["elsewhere"].search(text):
        return [], text
    own = [sentence for sentence in sentences(own_words(text, patterns)) if sentence]
    facts: list[Fact] = []
    rest = text
    for number, sentence in enumerate(own):
        others = own[:number] + own[number + 1 :]
        for found in _requests_in_sentence(sentence, others, manners, patterns):
            facts.append(_fact(turn, patterns, found, named, claimed))
            rest = rest.replace(found.said, " ", 1)
    return facts, rest


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """A clause that asks for something for good."""

    said: str
    request: Request
    thing: str
    occasion: str
    """"when I ask about code"; empty for always."""


def _fact(turn: Turn, patterns: Patterns, found: _Asked, named: str, claimed: str) -> Fact:
    asked = found.request
    parts = {"s": named, "o": found.thing}
    text = asked.text.format(**parts)
    if found.occasion:  # as it was said: "I" is not to become somebody else
        text = f'{text} ("{found.occasion}")'
    if turn.speaker.isalpha() or not text.startswith(turn.speaker):  # "u-17" stays as it is
        text = text[0].upper() + text[1:]
    thing = asked.object.format(**parts)
    claim = Claim(
        subject=claimed,
        relation=asked.relation,
        object=claimed_things().get(thing.casefold(), thing),
        object_is_entity=False,
    )
    return Fact(
        text=text, kind="procedure", claims=(claim,), ends=asked.ends,
        speaker=turn.speaker, owner=turn.owner, privacy=turn.privacy_of(text), confidence=CONFIDENCE,
        importance=asked.importance, language=patterns.grammar.code, evidence=(turn.key,),
        said_at=turn.said_at,
    )  # fmt: skip


def _requests_in_sentence(
    sentence: str, others: list[str], manners: Manners, patterns: Patterns
) -> Iterator[_Asked]:
    """Each clause that asks for something for good."""
    found = manners.found
    bare = plainly_said(sentence)
    if bare is None:
        return
    clauses = [clause for part in found["splits"].split(bare) for clause in _parts(part, manners)]
    cores = [_core(clause, manners, patterns) for clause in clauses]
    occasion = next((c for c in map(_tidy, clauses) if found["when"].match(c)), "")
    spread = [one for one in cores if one.empty]  # "from now on: …", "…, always"
    for_good_all = any(one.for_good for one in spread)
    habit_all = any(one.habit for one in spread)
    last = cores[-1] if cores else None
    if _QUESTION.search(sentence):
        tagged = last is not None and found["tags"].fullmatch(last.said.strip(_EDGE).casefold())
        if not tagged and not any(one.polite for one in cores):
            return
        if not any(one.for_good or one.habit or _is_for_good(one) for one in cores):
            return
    if any(
        not (one.for_good or one.habit) and found["somewhere"].match(one.said.strip(_EDGE))
        for one in cores
    ):
        return
    for one in cores:
        if one.match is None or found["unclear"].search(bare.replace(one.said, one.opener)):
            continue
        for_good, habit = one.for_good or for_good_all, one.habit or habit_all
        asked, thing = one.match
        lasting = asked.lasts != "if said" and not (one.polite and not _is_for_good(one))
        if not (for_good or habit or lasting):
            continue
        if occasion and relation_named(asked.relation).is_single:
            continue  # an answer in German to what is German is no answer in German always
        clauses_beside = [each.said for each in cores if each is not one]
        if (
            asked.lasts != "always"
            and not for_good
            and not _is_alone(clauses_beside, others, manners, patterns)
        ):
            continue
        yield _Asked(said=one.said, request=asked, thing=thing, occasion=occasion)


def _is_for_good(clause: _Clause) -> bool:
    """Whether what a clause asks for is meant for good though it only asks: "Can you stop calling me
    madam?", "could you keep your answers short?", and not "can you use metric units?"."""
    if clause.match is None:
        return False
    asked, _ = clause.match
    general = asked.relation in ("answers_without", "answer_length")
    return asked.lasts == "always" or (asked.lasts == "if alone" and general)


def _parts(clause: str, manners: Manners) -> Iterator[str]:
    """A clause, or both that an "and" joins, where only they ask for something."""
    joined = manners.found["ands"].split(clause)
    yield from joined if len(joined) > 1 else [clause]


def _core(clause: str, manners: Manners, patterns: Patterns) -> _Clause:
    found = manners.found
    text = _strip_openers(clause, patterns)
    gap = " " if manners.spaced else ""
    core, for_good = found["for_good"].subn(gap, text)
    core, habit = found["habit"].subn(gap, core)
    core = _tidy(found["fillers"].sub(gap, core))
    match, polite = _match(core, manners), None
    if match is None:
        polite = found["polite"].match(core)
        lead = polite or found["leads"].match(core)
        match = _match(_tidy(core[lead.end() :]), manners) if lead else None
    return _Clause(
        said=clause,
        opener=clause[: len(clause) - len(text)],
        match=match,
        empty=not core,
        for_good=for_good > 0,
        habit=habit > 0,
        polite=polite is not None,
    )


def _strip_openers(clause: str, patterns: Patterns) -> str:
    """Without "Hey," and "Actually"; a "no" stays: "No emojis"."""
    text = clause.lstrip(_EDGE)
    while (opener := patterns.openers.match(text)) and opener.end():
        text = text[opener.end() :].lstrip(_EDGE)
    return text


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(_EDGE)


def _match(core: str, manners: Manners) -> tuple[Request, str] | None:
    for asked, pattern in manners.patterns:
        if match := pattern.fullmatch(core):
            thing = next((said for said in match.groups() if said), "").strip()
            if thing.casefold() not in manners.not_names:
                return asked, manners.same.get(thing.casefold(), thing)
    return None


def _is_alone(
    clauses: list[str], sentences: list[str], manners: Manners, patterns: Patterns
) -> bool:
    """Whether nothing beside it is what it may be asked for: "Write a poem. No jokes!", a heading."""
    if any(_QUESTION.search(text) for text in sentences):
        return False
    for sentence in sentences:
        parts = [part for part in manners.found["splits"].split(sentence) if part.strip(_EDGE)]
        cores = [_core(part, manners, patterns) for part in parts]
        if any(one.match is not None for one in cores):
            continue
        if parts and not manners.found["company"].match(parts[0].strip(_EDGE)):
            return False
        clauses = [*clauses, *parts]
    return not any(_is_task(clause, manners, patterns) for clause in clauses)


def _is_task(clause: str, manners: Manners, patterns: Patterns) -> bool:
    """Whether a clause asks for something to be done now."""
    begun = manners.found["fillers"].sub("", _strip_openers(clause, patterns)).strip(_EDGE)
    if not manners.found["tasks"].match(begun):
        return False
    return _core(clause, manners, patterns).match is None
