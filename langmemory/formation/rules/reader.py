"""One turn read by the rules of one language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from langmemory.formation.batch import MOST_READ, Turn
from langmemory.formation.entities.roles import person_words
from langmemory.formation.relations.vocabulary import relation_named
from langmemory.formation.rules.clauses import (
    MAX_SENTENCE,
    Clause,
    Sentence,
    own_words,
    read_sentences,
    sentences,
    strip_openers,
)
from langmemory.formation.rules.grammar import CAPITAL, TIME, Rule
from langmemory.formation.rules.patterns import Patterns
from langmemory.formation.rules.persons import Persons
from langmemory.formation.rules.retractions.held import no_longer, told_in
from langmemory.formation.rules.typed import as_written
from langmemory.formation.times import PREFER, TimeInText, resolve
from langmemory.languages import LANGUAGES, split_words
from langmemory.languages.patterns import compiled
from langmemory.languages.temporal.calendar import Prefer
from langmemory.ports.facts import Claim, Fact, When

_DAY = timedelta(days=1)
_BARE_DAY = re.compile(r"\D*\b\d{1,2}\W*")
_LATER_DAYS = 100
"""By so much a time is moved to see whether it goes along."""
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
"""Characters of the private use area, as which times are written."""
_REST_OF_DATE = re.compile(r"\s*\d")
"""Of "30 February" and "February 30", which there are not, only a part is read as a time."""

_FRACTION = re.compile(r"[.,:]\d")
_APART = re.compile(r"[,;–—]\s*[a-zà-ÿ]")
"""Between a statement and a time that is one of something else."""
_DIGITS_OF_WRITERS = 2
"""Of somebody's age who writes; "I'm 5" is minutes, or a joke."""
_SMALL_WORD = re.compile(r"(?<![\w@./'’-])[^\W\d_A-ZÀ-ÖØ-Þ]+(?![\w@/]|\.\w)")
_SHORT_NAME = 2
"""Letters of a name that may as well be another word where it is written small."""
_SHORT_FORM = 3
"""Letters that a name and its short form share: "Max", "Maximilian"."""
_SHORT = ("minute", "hour", "day", "week")

_WORDS_OF_DOING = 9
"""Words of something somebody likes to do; longer ones are half a story."""

CONFIDENCE = 0.85
STATES = frozenset(("lives_in", "works_at", "workplace", "studies_at"))
"""Relations that "today" and "this week" make a thing of the moment: "I'm working at Joe's today"."""
HABITS = frozenset(("diet", "does_not_eat"))
"""Relations of which a day is an exception: "no bread today"."""
COUPLES = frozenset(("partner_of", "married_to", "engaged_to", "lives_with"))
"""Relations to somebody, who is no town."""
LISTS = frozenset(("allergic_to", "does_not_eat", "speaks"))
"""Relations whose object may be a list, each item a fact; so are likes and dislikes."""
NAMED = frozenset(("parent_of", "sibling_of", "has_pet"))
"""Relations whose object, if it is somebody, may be a list and is spoken of by name from then on."""
NO_NAMES = frozenset({"", "user", "human"})
"""What speakers without a name are called."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Subject:
    """Who a clause is about."""

    shown: str
    """In the statement."""
    claimed: str
    """In the claim."""
    many: bool = False


def speaker_named(turn: Turn, patterns: Patterns) -> tuple[str, str]:
    """What a turn's speaker is called in statements, and in claims."""
    speaker = turn.speaker.strip()
    if speaker.casefold() in NO_NAMES:
        return patterns.grammar.user, "user"
    return speaker, speaker


class Reader:
    """Reads the text of one turn; names it learns are added to ``known``, by their case-folded form.

    With ``answers`` its first clause was made of a short answer, and says something only where a
    rule matches it to its end: "Ask Tom" is no place, and "Far away from you" none that is called Far.
    """

    def __init__(
        self,
        turn: Turn,
        text: str,
        known: dict[str, str],
        patterns: Patterns,
        *,
        answers: bool = False,
    ) -> None:
        self.turn = turn
        self.known = known
        self.patterns = patterns
        self.grammar = patterns.grammar
        text = self._as_written(text)
        self.text = own_words(_PRIVATE.sub(" ", text), patterns)
        shown, claimed = speaker_named(turn, patterns)
        self.me = _Subject(shown=shown, claimed=claimed)
        self._kin_names: dict[str, set[str]] = {}
        self.persons = Persons(known, patterns, speaker=claimed, called=self._kin_names)
        self._named_pets: set[tuple[str, str]] = set()
        self._begun: Fact | None = None
        """What the turn told last of where somebody lives or works, if it told since when."""
        self._stopped: dict[tuple[Claim, When | None], datetime] = {}
        """Of what began so and is told to be over, when it was."""
        self._to_the_end = answers

    @property
    def in_part(self) -> bool:
        """Whether what the speaker says is too long to be read whole."""
        return len(self.text) > MOST_READ

    def heard_before(self, text: str) -> None:
        """Take note of whom the speaker's turn before spoke of at its end: "she" may mean them."""
        *_, last = sentences(text) if len(text) <= MAX_SENTENCE else [""]
        self.persons.see(self._as_written(last), before=True)

    def _as_written(self, text: str) -> str:
        """A text as the patterns know it."""
        for pattern, written in self.grammar.respelled:
            text = compiled(pattern).sub(written, text)
        text = self._with_capitals(as_written(text, self.grammar.code))
        return text.replace("’", "'")

    def _with_capitals(self, text: str) -> str:
        """With known names as they are known, where they are written small: "joris", "joriss bike"."""
        if not self.grammar.spaced:
            return text
        possessive, not_names = self.grammar.genitive[0], self.grammar.not_names

        def written(word: re.Match[str]) -> str:
            for name, form in ((word[0], "{s}"), (word[0].removesuffix("s"), possessive)):
                known = self.known.get(name, "")
                if len(name) > _SHORT_NAME and name not in not_names and known.isalpha():
                    return form.format(s=known)
            return word[0]

        never = not_names | self.grammar.not_places

        def named(found: re.Match[str]) -> str:
            text = found.string[: found.end()]
            for start, end in sorted(map(found.span, found.groupdict()), reverse=True):
                name = _SMALL_WORD.sub(capital, text[max(start, 0) : max(end, 0)])
                text = text[: max(start, 0)] + name + text[max(end, 0) :]
            return text[found.start() :]

        def capital(word: re.Match[str]) -> str:
            return word[0] if word[0] in never else word[0].capitalize()

        return _SMALL_WORD.sub(written, self.patterns.naming.sub(named, text))

    def facts(self) -> Iterator[Fact]:
        told = read_sentences(self.text, self.patterns, self.turn.said_at)
        facts = [fact for sentence in told for fact in self._read(sentence)]
        for fact in facts:
            claim = fact.claims[0]
            if not fact.ends and (claim, fact.when) in self._stopped:
                fact = replace(fact, invalid_at=self._stopped[claim, fact.when])
            if claim.object_is_entity or (claim.subject, claim.object) not in self._named_pets:
                yield fact  # else "a dog" is Rex

    def _read(self, sentence: Sentence) -> Iterator[Fact]:
        self.persons.new_sentence()
        if not sentence.clauses:
            self.persons.see(sentence.said)
            return
        yield from self._relatives(" , ".join(clause.text for clause in sentence.clauses))
        subject, of_subject, takes_back = None, "", None
        for place, clause in enumerate(sentence.clauses):
            text, back = strip_openers(clause.text, self.patterns)
            takes_back = takes_back if takes_back == "surely" else back or takes_back
            if turned := self.patterns.inverted.match(text):
                verb, who = turned["verb"], turned["subject"]
                text = f"{who} {verb}{text[turned.end() :]}"
            found, rest = self._subject(text)
            carried = found is None and place > 0 and self.patterns.carried.match(text)
            if carried and not self._is_noun(text, sentence.clauses[place - 1].text):
                found = subject and (self._subject(of_subject)[0] or subject)  # named since, maybe
                rest = text
            else:
                of_subject = text
            if found is None:
                found, rest = self._understood(text, place)
            subject = found
            if clause.certain and (over := self._over(clause)) is not None:
                yield over
            elif clause.certain:
                for fact in self._clause(clause, text, subject, rest):
                    corrects = takes_back == "surely" or (
                        takes_back == "perhaps" and relation_named(fact.claims[0].relation).timeless
                    )
                    if corrects or self._may_be_called(fact.claims[0]):
                        yield replace(fact, corrects=True) if corrects else fact
                        if fact.claims[0].relation in STATES and fact.when and not fact.ends:
                            self._begun = fact
                if (over := self._over(clause)) is not None:
                    yield over
            self.persons.see(clause.text)
            self._to_the_end = False

    def _over(self, clause: Clause) -> Fact | None:
        """That what began is over, where the clause says when and nothing else: "and quit in 2016"."""
        begun = self._begun
        if begun is None or begun.when is None or self.patterns.gone.search(clause.text) is None:
            return None
        for found in map(clause.time, re.findall(TIME, clause.text)):
            when = self._resolve_time(found, "past")
            follows = begun.when.end <= when.start and when.end <= self.turn.said_at
            if not follows or found.role != "at":
                continue
            self._begun = None
            self._stopped[begun.claims[0], begun.when] = when.start
            held = told_in(begun, self.me.shown, self.me.claimed)
            if held is None:
                return None
            text = no_longer(held)
            return replace(begun, text=text, ends=True, when=when, time_words=when.words)
        return None

    def _is_noun(self, text: str, before: str) -> bool:
        """Whether what may be a verb goes on with a list: "so much energy and love everywhere"."""
        word = text.split()[0]
        if not re.fullmatch(self.grammar.verb_or_noun, word):
            return False
        return re.search(rf"\b{word}s?\b|{self.grammar.listed}", before) is not None

    def _understood(self, text: str, place: int) -> tuple[_Subject | None, str]:
        """Who a clause is about that begins with "she" or a verb: "Moved to Rome." is about the speaker
        where nobody else was spoken of."""
        begun = text[:1].lower() + text[1:]
        if place == 0 and self.patterns.dropped.match(begun) and self.persons.alone:
            return self.me, begun
        for gender, pattern in self.patterns.pronouns:
            if found := pattern.match(text):
                one = self.persons.meant(gender)
                if one is None or one.what == "pet":
                    return None, text
                rest = text[found.end() :].lstrip()
                rest = rest[:1].lower() + rest[1:]
                if one.name:
                    return _Subject(shown=one.name, claimed=one.name), rest
                return self._kin(one.word), rest
        return None, text

    def _clause(
        self, clause: Clause, text: str, subject: _Subject | None, rest: str
    ) -> Iterator[Fact]:
        if found := self.patterns.its_name.match(text):
            yield from self._its_name(found)
        nobody = subject is None or (
            subject.claimed != self.me.claimed
            and self.patterns.not_of_others.match(rest) is not None
        )
        done = False
        for rule, pattern in self.patterns.rules:
            if (nobody and not rule.whole) or (done and not rule.also):
                continue
            match = pattern.match(text if rule.whole else rest)
            if match is None or self.patterns.denied.match(match.string, match.end()):
                continue
            if self._to_the_end and not self.patterns.rest_of_answer.fullmatch(
                match.string, match.end()
            ):
                continue
            made = list(self._make_facts(rule, match, clause, subject or self.me))
            yield from made
            done = done or bool(made)

    def _its_name(self, match: re.Match[str]) -> Iterator[Fact]:
        """Of an animal, or of somebody of the speaker's, told before: "She's called Luna"."""
        text = match[0]
        genders = (gender for gender, pattern in self.patterns.pronouns if pattern.match(text))
        one = self.persons.meant(next(genders, "either"))
        if one is None or one.name or one.what not in ("kin", "pet"):
            return
        name = match["name"] or match["name2"]
        yield from self._relative("pet" if one.what == "pet" else "kin", one.word, name, self.me)

    def _make_facts(
        self, rule: Rule, match: re.Match[str], clause: Clause, subject: _Subject
    ) -> Iterator[Fact]:
        groups = {name: value for name, value in match.groupdict().items() if value}
        if rule.relation in ("kin", "pet"):
            word = groups["kinship" if rule.relation == "kin" else "pet"]
            whose = self.me if rule.whole else subject  # "my son is called", "she has a son called"
            yield from self._relative(rule.relation, word, groups["object"], whose)
            return
        if rule.whole:
            if "name" in groups and not self._is_name(groups["name"]):
                return
            subject = self._whose(groups)
        time = self._time(rule, match, clause)
        if time is None and rule.times in ("must", "over", "long"):
            return
        if rule.relation in STATES and rule.times == "bounds" and self._is_of_a_time(clause):
            return
        if rule.relation in HABITS and self._is_for_a_day(clause):
            return
        if rule.relation == "age" and self._is_ahead(clause):
            return
        # "I live here until May" is so until then, "I lived here until May" says that it is over.
        ends = rule.ends or (time is not None and time.role == "until" and rule.times == "over")
        behind = match.string[match.end() :]
        for thing in self._objects(
            rule, groups, clause, is_me=subject.claimed == self.me.claimed, behind=behind
        ):
            yield self._fact(rule, groups, subject, thing, time, clause, ends=ends)

    def _fact(
        self,
        rule: Rule,
        groups: dict[str, str],
        subject: _Subject,
        thing: str,
        time: TimeInText | None,
        clause: Clause,
        *,
        ends: bool,
    ) -> Fact:
        shown = subject.shown
        if subject.many and rule.kind == "decision":
            shown = self.grammar.we_text.format(s=shown)
        parts = {
            "s": shown,
            "g": self._genitive(shown),
            "o": self.patterns.time_lead.sub("", thing) if "<time>" in rule.pattern else thing,
            "time": thing,
            "other": _clean(groups.get("other", "")),
        }
        when = self._when(rule, time)
        text = rule.text.format(**parts)
        if rule.kind == "decision" and clause.reason:
            quoted = self.patterns.first_person.search(clause.reason) is not None
            text = self.grammar.reason_texts[quoted].format(
                text=text.rstrip(".。"), reason=clause.reason
            )
        for pattern, written in self.grammar.tidied:
            text = re.sub(pattern, written, text)
        if when is not None and rule.kind in ("plan", "event", "decision"):
            text = _append_date(text, when)
        if rule.relation in NAMED and rule.entity:
            self.known.setdefault(thing.casefold(), thing)
        claim = Claim(
            subject=subject.claimed,
            relation=rule.relation.format(**parts).replace(" ", "_"),
            object=rule.claimed.format(**parts),
            object_is_entity=rule.entity,
        )
        return self._make_fact(
            text, claim, kind=rule.kind, importance=rule.importance,
            time_words=time.when.words if time else None, when=when, ends=ends,
        )  # fmt: skip

    def _make_fact(self, text: str, claim: Claim, **more: object) -> Fact:
        turn = self.turn
        # An id such as an e-mail address is written as it is, a name with a capital letter.
        if turn.speaker.isalpha() or not text.startswith(turn.speaker):
            text = text[0].upper() + text[1:]
        return Fact(
            text=text, claims=(claim,), speaker=turn.speaker, owner=turn.owner,
            privacy=turn.privacy_of(text), language=self.grammar.code, evidence=(turn.key,),
            said_at=turn.said_at, confidence=CONFIDENCE, **more,  # type: ignore[arg-type]
        )  # fmt: skip

    def _subject(self, text: str) -> tuple[_Subject | None, str]:
        """Who a clause begins with, and the rest of it."""
        patterns = self.patterns
        if found := patterns.we.match(text):
            return replace(self.me, many=True), text[found.end() :].lstrip()
        if found := patterns.i.match(text):
            rest = text[found.end() :].lstrip()
            return self.me, rest[:1].lower() + rest[1:]
        if found := patterns.relative.match(text):
            name = self._name(found["name"] or "")
            if not name or not self._is_name(name):
                rest = text[found.end("kin") :].lstrip()
                return self._kin(found["kin"]), self.patterns.aside.sub("", rest, count=1)
            rest = text[found.start("name") + len(name) :]
            return _Subject(shown=name, claimed=name), patterns.resumed.sub("", rest, count=1)
        other = patterns.others.match(text)
        is_kin = other is not None and other[0].split()[-1] in self.grammar.kin
        if other is not None and is_kin and (name := self.persons.apposed(other)):  # "her son Nils"
            rest = text[other.end() + 1 + len(name) :]
            return _Subject(shown=name, claimed=name), patterns.resumed.sub("", rest, count=1)
        if not self.grammar.spaced:
            name = next((name for name in self.known.values() if text.startswith(name)), "")
            return (_Subject(shown=name, claimed=name) if name else None), text[len(name) :]
        if found := patterns.name.match(text):
            for word in reversed([*re.finditer(r"\S+", found[0])]):
                if name := self.known.get(text[: word.end()].casefold(), ""):
                    rest = patterns.resumed.sub("", text[word.end() :], count=1)
                    return _Subject(shown=name, claimed=name), rest
        return None, text

    def _kin(self, word: str) -> _Subject:
        """Somebody of the speaker's whose name is not said, or was said before."""
        if len(names := self._kin_names.get(word, set())) == 1:
            [name] = names  # "My sister Ana … My sister works"
            return _Subject(shown=name, claimed=name)
        role = self.grammar.kin[word]
        shown = self._of(self.me, word)
        return _Subject(shown=shown, claimed=f"{self.me.claimed}'s {role}")

    def _of(self, subject: _Subject, word: str) -> str:
        if word.lower() in self.grammar.kin:  # "Dad"
            word = word.lower()
        return self.grammar.whose.format(g=self._genitive(subject.shown), kin=word)

    def _genitive(self, name: str) -> str:
        normal, after_s, of_user = self.grammar.genitive
        if name == self.grammar.user:
            return of_user
        return (after_s if name[-1] in "sßxz" else normal).format(s=name)

    def _whose(self, groups: dict[str, str]) -> _Subject:
        if groups.get("name"):
            name = self.known.get(groups["name"].casefold(), groups["name"])
            return _Subject(shown=name, claimed=name)
        return self._kin(groups["kinship"]) if groups.get("kinship") else self.me

    def _relatives(self, sentence: str) -> Iterator[Fact]:
        """Those the sentence names in passing: "my sister Katrin"."""
        named = (("kin", self.patterns.kin_name), ("pet", self.patterns.pet_name))
        over = self.patterns.died.search(sentence) is not None
        for what, pattern in named:
            for found in () if over and what == "pet" else pattern.finditer(sentence):
                groups = found.groupdict()
                word = next((groups[g] for g in ("kin", "kin2", "kin3") if groups.get(g)), None)
                name = next((groups[g] for g in ("name", "name2", "name3") if groups.get(g)), None)
                if word and name:
                    yield from self._relative(what, word, name, self.me)

    def _relative(self, what: str, word: str, name: str, whose: _Subject) -> Iterator[Fact]:
        name = self._name(name)
        if not self._is_name(name):
            return
        self.known.setdefault(name.casefold(), name)
        grammar = self.grammar
        if what == "pet":
            self._named_pets.add((whose.claimed, word))
            text = grammar.pet_text.format(s=whose.shown, kin=word, o=name)
            claim = Claim(subject=whose.claimed, relation="has_pet", object=name)
        else:
            if whose == self.me:
                self._kin_names.setdefault(word, set()).add(name)
            text = grammar.kin_text.format(o=name, whose=self._of(whose, word))
            claim = Claim(
                subject=name,
                relation=f"{grammar.kin[word]}_of".replace(" ", "_"),
                object=whose.claimed,
            )
        yield self._make_fact(text, claim, importance=0.7)

    def _name(self, name: str) -> str:
        """Without what begins something else, such as a time, in the spelling known."""
        end = 0
        for word in re.finditer(r"\S+", name):
            if end and (word[0].casefold() in self.grammar.not_names or re.match(TIME, word[0])):
                break
            if not end or not word[0].islower():  # else it may be the "van" of what is cut off
                end = word.end()
        return self.known.get(name[:end].casefold(), name[:end])

    def _is_name(self, name: str) -> bool:
        first = _first(name)
        return bool(first) and first not in self.grammar.not_names

    def _is_place(self, name: str) -> bool:
        """Whether it may be one: not home, not IKEA, and no tool one "moves to": SQLite, Slack."""
        first = _first(name)
        written = next((w for w in name.split() if w.casefold() == first), "")
        as_tools_are = any(one.isupper() or one.isdigit() for one in written[1:])
        return bool(first) and not as_tools_are and first not in self.grammar.not_places

    def _whole(self, item: str, behind: str) -> list[str]:
        """A liked thing with what belongs to it: of "throwing a party for friends" the whole, nothing of
        "stories that matter", which are not all stories."""
        grammar = self.grammar
        if re.match(grammar.narrows, behind):
            return []
        if not re.match(grammar.doing, item):
            return [item]
        rest = re.match(grammar.done, behind)
        whole = _clean(item + (rest[0] if rest else ""))
        if not person_words().nobody.isdisjoint(whole.casefold().split()):
            return []  # "holding them"
        whole = self._retold(whole)
        return [whole] if whole and len(whole.split()) <= _WORDS_OF_DOING else []

    def _is_thing(self, item: str) -> bool:
        """Whether it may be liked, or not: no pronoun, no "though", and no day of the week, which is a
        joke."""
        if not strip_openers(item, self.patterns)[0]:
            return False
        day = _first(item)
        weekdays = LANGUAGES[self.grammar.code].times.day_names
        is_day = day in weekdays or day.removesuffix("s") in weekdays
        if is_day or self.patterns.not_things.match(item) is not None:
            return False
        return not self.grammar.leaning_things or self.patterns.leaning.search(item) is None

    def _objects(
        self, rule: Rule, groups: dict[str, str], clause: Clause, *, is_me: bool, behind: str
    ) -> Iterator[str]:
        """The object as written, or each item of a list of things; ``behind`` is what follows what the
        rule matched."""
        if "object" not in groups:  # the rule says it all: "getting married"
            yield ""
            return
        thing = groups["object"]
        if re.fullmatch(TIME, thing):
            words, rest = clause.time(thing).when.words, clause.text.partition(thing)[2]
            months = LANGUAGES[self.grammar.code].times.months
            bare = _BARE_DAY.fullmatch(words) and months.keys().isdisjoint(split_words(words))
            if not bare and not _REST_OF_DATE.match(rest) and not self._leans_on_now(words):
                yield words
            return
        thing = _clean(thing)
        if rule.relation == "age":
            if _FRACTION.match(clause.text.partition(thing)[2]):
                return  # how tall somebody is
            thing = str(self.grammar.numbers.get(thing, thing))
            if len(thing) < _DIGITS_OF_WRITERS and is_me:
                return
        if rule.if_me and not self._is_me(thing):
            return
        if rule.relation in COUPLES and _first(thing) in self.grammar.places:
            return  # "Rome and I broke up"
        if rule.relation == "allergic_to" and self.patterns.no_allergens.fullmatch(thing):
            return
        if "Place>" in rule.pattern and not self._is_place(thing):
            return
        if rule.kind in ("plan", "decision"):
            thing = self._retold(thing)
            if thing:
                yield thing
        elif (
            rule.kind == "preference"
            or rule.relation in LISTS
            or (rule.entity and rule.relation in NAMED)
        ):
            items = [item for item in self.patterns.and_.split(thing) if item]
            between = (found[0].strip() for found in self.patterns.and_.finditer(thing))
            if len(items) > 1 and all(mark == "," for mark in between):
                items = items[:1]  # no list: "olives, sorry"
                if re.match(self.grammar.doing, items[0]) and " " in items[0]:
                    return  # nor the whole of it: "making a warm, soft bread"
            if items and rule.kind == "preference":
                doing = [re.match(self.grammar.doing, item) is not None for item in items]
                if doing[0] and not all(doing) and " " in items[0]:
                    items = [thing]  # "improving schools and roads"
                items[-1:] = self._whole(items[-1], behind)
            if items and self._is_thing(items[0]):  # else it is no list: "you, pizza"
                yield from filter(self._is_thing, items)
        elif rule.relation == "named" and thing.casefold() == self.me.shown.casefold():
            return  # that the speaker is called so is known
        elif rule.relation == "workplace":
            yield self._retold(thing)
        elif not rule.entity or self._is_name(thing):
            yield self.known.get(thing.casefold(), thing)

    def _time(self, rule: Rule, match: re.Match[str], clause: Clause) -> TimeInText | None:
        """The time the clause gives its statement."""
        taken = set(re.findall(TIME, match.groupdict().get("object") or ""))
        for character in re.findall(TIME, clause.text):
            found = clause.time(character)
            if character in taken or found.when.precision == "minute":
                continue
            ahead = rule.relation in STATES and found.when.start > self.turn.said_at
            if rule.times == "bounds" and found.role == "at" and not ahead:
                continue
            between = match.string.partition(character)[0][match.end() :]
            if rule.times == "bounds" and _APART.search(between):
                continue  # "is diabetic, on insulin since May"
            if rule.times == "over" and found.role not in ("until", "from_to"):
                continue
            if rule.times == "long" and (found.role != "since" or found.when.precision in _SHORT):
                continue
            if rule.kind == "plan" and self._is_idle(found):
                continue
            return found
        return None

    def _is_of_a_time(self, clause: Clause) -> bool:
        """Whether the clause speaks of a day, week or month that is under way, or of what is past."""
        now = self.turn.said_at
        return any(
            found.role == "at"
            and found.when.start <= now
            and (found.when.end <= now or found.when.precision in ("day", "week", "month"))
            for found in map(clause.time, re.findall(TIME, clause.text))
        )

    def _is_for_a_day(self, clause: Clause) -> bool:
        """Whether the clause speaks of today, or of a day to come: "Tomorrow I'm vegan"."""
        return any(
            found.role == "at"
            and found.when.precision == "day"
            and found.when.end > self.turn.said_at
            for found in map(clause.time, re.findall(TIME, clause.text))
        )

    def _is_ahead(self, clause: Clause) -> bool:
        """Whether the clause speaks of a time to come: "I'm 30 tomorrow"."""
        return any(
            found.role == "at" and self._resolve_time(found, None).start > self.turn.said_at
            for found in map(clause.time, re.findall(TIME, clause.text))
        )

    def _leans_on_now(self, words: str) -> bool:
        """Whether the day or year that words mean depends on when they are said, so that they mean
        nothing later: "tomorrow", "last May", and not "3 May", "in 1990"."""

        def meant(later: int, prefer: Prefer | None = None) -> datetime | None:
            when = resolve(words, said_at=self.turn.said_at + timedelta(days=later),
                           language=self.grammar.code, prefer=prefer)  # fmt: skip
            return None if when is None else when.start.replace(tzinfo=None)

        now, later = meant(0), meant(_LATER_DAYS)
        if now is None or later is None:
            return True
        if (now.month, now.day) != (later.month, later.day):
            return True
        past, future = meant(_LATER_DAYS, "past"), meant(_LATER_DAYS, "future")
        return past == future and _YEAR.search(words) is None

    def _is_idle(self, found: TimeInText) -> bool:
        """Whether a plan for this time is not worth keeping: for today, or for the past."""
        when = self._resolve_time(found, "future")
        return when.end <= self.turn.said_at + _DAY or when.precision in ("hour", "minute")

    def _when(self, rule: Rule, time: TimeInText | None) -> When | None:
        prefer = rule.prefer or PREFER.get(rule.kind)
        if prefer is None and time is not None and time.role == "until" and not rule.ends:
            prefer = "past" if rule.times == "over" else "future"
        return None if time is None else self._resolve_time(time, prefer)

    def _resolve_time(self, found: TimeInText, prefer: Prefer | None) -> When:
        when = resolve(found.when.words, said_at=self.turn.said_at, language=self.grammar.code,
                       prefer=prefer)  # fmt: skip
        return when or found.when

    def _is_me(self, name: str) -> bool:
        """Return whether the speaker may be called so: by the name they are known by, or by any where
        they are known by none."""
        known = self.me.claimed.split()
        return not _has_a_name(known) or name.split()[0].casefold() == known[0].casefold()

    def _may_be_called(self, claim: Claim) -> bool:
        """Return False for what a speaker who is known by another name quotes: "My name is Inigo
        Montoya"."""
        known = self.me.claimed.split()
        if (claim.relation, claim.subject) != ("named", self.me.claimed) or not _has_a_name(known):
            return True
        if not self.grammar.spaced:
            return True
        beginnings = {word[:_SHORT_FORM].casefold() for word in known}
        return any(word[:_SHORT_FORM].casefold() in beginnings for word in claim.object.split())

    def _retold(self, phrase: str) -> str:
        """In the third person; empty when it leans on what was said before ("decided to do it")."""
        phrase = re.sub(r"\s+[-–—]+(?:\s.*)?$", "", phrase)
        words = [self.grammar.theirs.get(word.lower(), word) for word in phrase.split()]
        text = " ".join(words)
        return "" if self.patterns.leaning.search(text) else text


def _has_a_name(words: list[str]) -> bool:
    """Return whether a speaker is called by a name, and not "user" or by an id ("lena93", "u-17")."""
    return all(re.fullmatch(CAPITAL, word) and not re.search(r"\d", word) for word in words)


def _first(name: str) -> str:
    """The first word that is no article and no title, case-folded."""
    words, known = name.casefold().split(), LANGUAGES.everywhere
    return next(
        (w for w in words if w not in known.articles and w.rstrip(".") not in known.titles), ""
    )


def _clean(text: str) -> str:
    return " ".join(re.sub(TIME, " ", text).split()).strip(" ,;:–—-")


def _append_date(text: str, when: When) -> str:
    """With the day, month or year in brackets, for a statement is no longer near its moment."""
    start, last = when.start, when.end
    match when.precision:
        case "minute" | "hour":
            shown = f"{start:%Y-%m-%d %H:%M}"
        case "day" if (last - start).days <= 1:
            shown = f"{start:%Y-%m-%d}"
        case "month" if (last - start).days <= 31:
            shown = f"{start:%Y-%m}"
        case "year" if (last - start).days <= 366:
            shown = f"{start:%Y}"
        case _:
            shown = f"{start:%Y-%m-%d} – {last - _DAY:%Y-%m-%d}"
    stop = text[-1]
    return f"{text[:-1]} ({shown}){stop}"
