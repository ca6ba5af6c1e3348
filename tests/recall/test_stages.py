"""Stages of recall, each alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from langmemory.errors import ConfigError
from langmemory.languages.temporal.query import Period
from langmemory.ports.candidates import Ids
from langmemory.recall import features, scoring
from langmemory.recall.accesses import AccessLog, ShownLog
from langmemory.recall.excerpt import Excerpts
from langmemory.recall.fact_sources import FactSources, says_no_more
from langmemory.recall.intent import read_intent
from langmemory.recall.interaction import interact, join_texts
from langmemory.recall.presets import BALANCED, MOST_CANDIDATES, Preset
from langmemory.recall.query import read_query
from langmemory.recall.ranking import Pool, Reading, read, weights_among
from langmemory.recall.rerankers import mmr
from langmemory.recall.scoring import fuse, min_max, stale, weighted_sum
from langmemory.recall.selection import Deduplication, Selection, deeper, spread
from langmemory.recall.vocabulary import ASSISTANT, default_vocabulary, encode_item_tokens
from langmemory.types import Memory, RecallResult
from tests.recall.memory_source import NOW, MemorySource, ask, memory, micros

VOCABULARY = default_vocabulary()


def floats(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


def whole(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def texts(*contents: str):  # type: ignore[no-untyped-def]
    split = VOCABULARY.embedder.tokenize(contents)
    return join_texts(
        [encode_item_tokens(ids, text) for ids, text in zip(split, contents, strict=True)]
    )


def test_fusion_agrees_with_an_arm_that_has_all_the_weight() -> None:
    """With one arm weighted, both ways to fuse keep that arm's order."""
    channels = {"a": floats(3, 1, 2, 0), "b": floats(0, 9, 1, 5)}
    for way in (fuse, weighted_sum):
        fused = way(channels, {"a": 1.0})
        assert np.argsort(-fused).tolist() == [0, 2, 1, 3]


def test_what_an_arm_finds_alone_counts() -> None:
    """Where all scores are the same, those above 0 are 1: a single memory with the words of a query
    is met by it; and what no arm found is not."""
    assert min_max(floats(0.3)).tolist() == [1]
    assert min_max(floats(2, 2)).tolist() == [1, 1]
    assert min_max(floats(0, 0)).tolist() == min_max(floats(-0.5, -0.5)).tolist() == [0, 0]


def test_similar_words_meet_a_query_word() -> None:
    """A text about a violin meets "instruments" better than one about weather, and is akin."""
    met = interact(
        VOCABULARY.encode("instruments"),
        texts("I practise the violin daily", "rain and clouds again"),
        VOCABULARY,
    )
    assert met.matches[0, 0] > met.matches[0, 1] + 0.2
    assert met.related.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("query", "met", "unmet"),
    [
        ("帐篷进水", "我的帐篷进水了", "防水的水果干，水平不错"),
        ("我最近对什么过敏", "我对花粉过敏", "她会说英语"),
        ("где живёт Анна", "Анна живёт в Риге", "мы ели вкусный суп"),
        ("когда они переехали", "они переехал в мае", "перец и рис"),
        ("ありがとうと東京", "東京に住んでいます", "京都が好きです"),
    ],
)
def test_words_of_other_scripts_meet_themselves(query: str, met: str, unmet: str) -> None:
    """A word the token table does not know is met by itself, also inflected, and not by a text that
    shares some of its letters."""
    asked = VOCABULARY.encode(query)
    one = interact(asked, texts(met, unmet), VOCABULARY)
    first, second = (one.shares @ one.matches).tolist()
    assert first > second + 0.1
    assert VOCABULARY.encode("").tolist() == []


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("We went in July.", True),
        ("Im Februar ziehen wir um", True),
        ("Die Hochzeit ist am 14.2.", True),
        ("El 3 de octubre cumplo años", True),
        ("am Maerz arbeite ich nicht, im März schon", True),
        ("我昨天搬家了", True),
        ("我是五月二十号生的", True),
        ("生日是3月4号", True),
        ("年糕是我的猫", False),
        ("我们在聊天", False),
        ("Version 14.2 is out", False),
        ("Das Regal ist aus Eiche", False),
    ],
)
def test_a_text_tells_time_in_every_language(text: str, tells: bool) -> None:
    """Months, days and dates count in all four languages, and what only shares a character does
    not."""
    assert texts(text).any(VOCABULARY.temporal).tolist() == [tells]


def test_neighbours_lend_their_words() -> None:
    """The preceding turn counts for a turn, less with distance, and not across threads."""
    thread, position = whole(1, 1, 1, 2), whole(4, 5, 7, 5)
    around = features.neighbour_index(thread, position, 2)
    matches = floats(1, 0, 0, 0)[None, :]
    lead, both = features.context_match(
        matches,
        floats(1),
        around,
        decay=0.9,
        states=floats(1, 1, 1, 1),
        muted=np.zeros(4, np.bool_),
    )
    assert lead.tolist() == pytest.approx([1, 0.9, 0, 0])
    assert both.tolist() == pytest.approx([1, 0.9, 0, 0])


def reading_of(pool: Pool) -> Reading:
    """What is read of candidates by a query that has no words."""
    intent = read_intent("?", NOW)
    return read(pool, read_query("?", intent), intent, VOCABULARY, every_turn=False)


@pytest.mark.parametrize(
    ("words", "thread", "lead"),
    [(10, None, 1.0), (64, None, 0.5), (500, None, 0.0), (500, "t", 1.0)],
    ids=["notes", "pages", "chapters", "long turns"],
)
def test_words_count_by_bm25_in_long_documents(words: int, thread: str | None, lead: float) -> None:
    """Outside threads the weight of `preceding_context` goes to `keyword` as texts get longer."""
    text = " ".join(["tea"] * words)
    memories = [memory(n, text, thread_id=thread, position=n if thread else None) for n in (1, 2)]
    source = MemorySource(memories)
    met = np.array([1, 0.5], np.float32)
    pool = Pool(rows=source.rows(source.ids), keyword=met, dense=met)
    weights = weights_among(pool, reading_of(pool), BALANCED)
    plain = BALANCED.weights_for()
    assert weights["preceding_context"] == pytest.approx(
        plain["preceding_context"] * lead, rel=0.02
    )
    assert sum(weights.values()) == pytest.approx(sum(plain.values()))


def test_words_that_found_nothing_get_no_weight() -> None:
    """A search by meaning alone keeps late interaction, however long the documents are."""
    source = MemorySource([memory(1, " ".join(["tea"] * 500))])
    none = np.zeros(1, np.float32)
    pool = Pool(rows=source.rows(source.ids), keyword=none, dense=none + 1)
    assert weights_among(pool, reading_of(pool), BALANCED) == BALANCED.weights_for()


def test_an_answer_inherits_its_question() -> None:
    """A turn after a question has that question's score, a turn after a statement none."""
    said = texts("What is your cat called?", "Oscar.", "He is old.")
    asking = features.questions(said, VOCABULARY)
    assert asking.tolist() == [True, False, False]
    before = features.neighbour_index(whole(1, 1, 1), whole(0, 1, 2), 1)[-1]
    assert features.answers_previous(
        floats(0.8, 0.1, 0.1), asking, before
    ).tolist() == pytest.approx([0, 0.8, 0])


def test_a_session_is_one_day_of_a_thread() -> None:
    """Best turns lift their session; other days are apart, and things without a thread are each a
    session by themselves, where there are any."""
    day = 86_400_000_000
    session = features.sessions(whole(1, 1, 1, -1, -1), whole(0, 5, day, 0, 0))
    evidence = features.session_evidence(floats(0.5, 0.5, 0.2, 0.9, 1.1), session, best=3)
    assert evidence.tolist() == pytest.approx([1, 1, 0.2, 0.9, 1])
    notes = features.session_evidence(floats(0.5, 0.9), whole(-1, -1), best=3)
    assert notes.tolist() == [0, 0]


def test_only_one_named_person_is_preferred() -> None:
    """Turns of the person a query names count; naming both prefers neither."""
    speakers = ["Ana Silva", "Ben", None]
    nobody = np.zeros(3, np.bool_)
    one = features.named_speakers(speakers, ("ana", "dog"))
    assert features.spoken_by(speakers, one, nobody).tolist() == [1, 0, 0]
    both = features.named_speakers(speakers, ("ana", "ben"))
    assert features.spoken_by(speakers, both, nobody).tolist() == [0, 0, 0]
    genitive = features.named_speakers(["Jule", "Matthes"], ("jules", "katze"))
    assert genitive == {"Jule"}


def test_a_chat_with_an_assistant_is_about_the_person() -> None:
    """Where the query names neither side, what the person said is preferred; what the assistant said
    where that is asked for. People among themselves are all the same."""
    speakers = ["user", "Juno", "Maria"]
    said = texts("hello", "hello").having(ASSISTANT)
    assert said.tolist() == [False, False]
    split = VOCABULARY.embedder.tokenize(["hello"])[0]
    marked = join_texts(
        [encode_item_tokens(split, "hello", [ASSISTANT] * one) for one in (False, True, False)]
    )
    juno = marked.having(ASSISTANT)
    assert features.spoken_by(speakers, set(), juno).tolist() == [1, 0, 1]
    assert features.spoken_by(speakers, set(), juno, asks_listener=True).tolist() == [0, 1, 0]
    assert features.spoken_by(speakers, {"Maria"}, juno).tolist() == [0, 0, 1]
    assert features.spoken_by(["Ana", "Ben"], set(), said, asks_listener=True).tolist() == [0, 0]


def test_what_was_said_last_counts_by_half_lives() -> None:
    """The newest counts fully and what is a half-life older half; what was derived is as old as the
    last of its sources, whenever it was written down."""
    day = 86_400_000_000
    times = whole(0, 60 * day, 120 * day, 500 * day)
    fact_sources = FactSources(
        derived=whole(3, 3), sources=whole(0, 1), superseded=whole(), successors=whole()
    )
    assert fact_sources.said_at(times).tolist() == [0, 60 * day, 120 * day, 60 * day]
    counted = features.recency(fact_sources.said_at(times), half_life_days=60)
    assert counted.tolist() == pytest.approx([0.25, 0.5, 1, 0.5])


def test_a_fact_stands_for_the_turn_it_was_made_of() -> None:
    """Of a turn and the facts made of it alone, the best takes the turn's place where it meets the
    query nearly as well; what rests on several turns, or says something else, takes nobody's. A turn that
    says more stays beside it."""
    #             turns: 0, 1, 2, 3   facts: 4 and 5 of 0, 6 of 1, 7 of 2 and 3
    fact_sources = FactSources(
        derived=whole(4, 5, 6, 7, 7),
        sources=whole(0, 0, 1, 2, 3),
        superseded=whole(),
        successors=whole(),
    )
    overlap = floats(1, 1, 1, 1, 0.7, 0.9, 0.5, 1)
    score = floats(0.8, 0.7, 0.6, 0.5, 0.2, 0.4, 0.3, 0.1)
    for no_more, gone in ((np.ones(5, np.bool_), [0]), (np.zeros(5, np.bool_), [])):
        settled = score.copy()
        found = {"overlap": overlap, "keyword": overlap * 0}
        collapsed = fact_sources.settle(settled, found, no_more)
        assert np.flatnonzero(collapsed).tolist() == gone
        assert settled.tolist() == pytest.approx([0.8, 0.7, 0.6, 0.5, 0.2, 0.8, 0.3, 0.1])


@pytest.mark.parametrize(
    ("turn", "fact", "no_more"),
    [
        ("We called the boat Marlin.", "Ada has a boat called Marlin.", True),
        ("The Marlin needs a new sail.", "Ada has a boat called Marlin.", False),
        ("I live in Ulm.", "Ada lives in Ulm.", True),
        ("I live in Ulm with two lodgers.", "Ada lives in Ulm.", False),
        ("Ich wohne in Ulm und suche einen Gärtner.", "Ada wohnt in Ulm.", False),
    ],
)
def test_a_turn_says_no_more_than_a_fact_where_each_word_is_the_facts(
    turn: str, fact: str, no_more: bool
) -> None:
    """What remains of a turn after the words of the fact, in this form or in another, is nothing telling."""
    pairs = [(0, texts(fact).tokens)]
    assert says_no_more(texts(turn), VOCABULARY, pairs).tolist() == [no_more]


def test_what_holds_now_stands_before_the_turn_that_tells_what_was() -> None:
    """Where a fact of a turn has given way, what took its place goes before the turn; but not where
    the query asks the turn for something else, by another fact of it or by its own words."""
    #             turns: 0, 1, 2   facts: 3 of 1   successors: 4 of 0, 5 of 1, 6 of 2
    fact_sources = FactSources(
        derived=whole(3), sources=whole(1), superseded=whole(0, 1, 2), successors=whole(4, 5, 6)
    )
    overlap = floats(1, 1, 1, 0.9, 0.7, 0.7, 0.5)
    score = floats(0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)
    fact_sources.succeed(score, {"overlap": overlap, "keyword": overlap * 0})
    assert score[4] > score[0]
    assert score.tolist() == pytest.approx([0.8, 0.7, 0.6, 0.5, 0.8, 0.3, 0.2])


@pytest.mark.parametrize(
    ("results", "removed", "sessions", "gated", "crowded"),
    [
        (3, 0, False, False, False),
        (3, 4, False, False, True),
        (3, 3, False, False, False),
        (3, 4, False, True, False),
        (5, 9, False, False, False),
        (3, 0, True, False, True),
        (5, 0, True, False, False),
    ],
    ids=[
        "few", "few of many that say the same", "half say the same", "the others are too low", "enough",
        "few sessions", "sessions enough",
    ],
)  # fmt: skip
def test_a_search_goes_deeper_where_most_was_passed_over(
    results: int, removed: int, sessions: bool, gated: bool, crowded: bool
) -> None:
    """Results that are missing are looked for only where others took their places."""
    one = RecallResult(memory=memory(1, "tea"), score=1.0, parts={})
    chosen = Selection(
        order=whole(0),
        results=[one] * results,
        removed={str(n): "" for n in range(removed)},
        sessions=sessions,
        gated=gated,
    )
    assert chosen.crowded(5, contentless=0) is crowded
    assert chosen.crowded(5, contentless=9) is (
        crowded or (results, sessions, gated) == (3, False, False)
    )


def test_a_search_goes_deeper_while_there_is_more_and_up_to_a_bound() -> None:
    """Eight times as many candidates are looked at where a channel had as many as it was asked for."""

    def more(found: int, preset: Preset, *, by: str = "dense") -> Preset | None:
        ranking: Any = SimpleNamespace(channels={"dense": (), "keyword": (), by: range(found)})
        return deeper(ranking, preset, 5)

    shallow = BALANCED.model_copy(update={"depth": 100})
    assert more(99, shallow) is None
    assert more(100, shallow) == shallow.model_copy(update={"depth": 800})
    assert more(100, shallow, by="keyword") == more(100, shallow)
    deepest = shallow.model_copy(update={"depth": MOST_CANDIDATES})
    assert more(1999, shallow.model_copy(update={"depth": 1999})) == deepest
    assert more(MOST_CANDIDATES, deepest) is None


def test_what_was_deleted_since_the_ranking_began_is_left_out() -> None:
    """The next one has its place."""

    class Meanwhile(MemorySource):
        def memories(self, ids: Ids) -> list[Memory]:
            return [one for one in super().memories(ids) if one.id != 1]

    texts = ("Ada has a cat", "Ada likes a dog", "Ada sees a bird")
    memories = [memory(n, text) for n, text in enumerate(texts, start=1)]
    whole = ask(MemorySource(memories), "Has Ada a cat?", limit=3).results
    assert whole[0].memory.id == 1
    found = ask(Meanwhile(memories), "Has Ada a cat?", limit=2).results
    assert [one.memory.id for one in found] == [one.memory.id for one in whole[1:]]


def test_one_session_takes_no_more_places_than_its_share() -> None:
    """What exceeds it comes behind all else; what was said in no session shares with nothing."""
    session = whole(-1, 0, 0, -1, 1, 0, 1, -1)
    assert spread(np.arange(8), session, 1).tolist() == [0, 1, 3, 4, 7, 2, 5, 6]
    assert spread(np.arange(8), session, 2).tolist() == [0, 1, 2, 3, 4, 6, 7, 5]


def test_a_period_fades_after_its_end() -> None:
    """Said within the month counts whole, a week later half, before it not at all."""
    said = [datetime(2023, 5, 10, tzinfo=UTC), datetime(2023, 6, 8, tzinfo=UTC)]
    said.append(datetime(2023, 4, 30, tzinfo=UTC))
    near = features.within(
        whole(*(micros(at) for at in said)),
        Period(year=2023, month=5).ranges(range(0)),
        lag_days=14,
    )
    assert near.tolist() == pytest.approx([1, 0.5, 0])


def test_strength_decays_slower_for_what_is_used_and_matters() -> None:
    """Ebbinghaus: half after one half-life; use and importance stretch it; always in 0..1."""
    assert float(scoring.strength(60.0)) == pytest.approx(0.5)
    assert scoring.strength(60.0, accesses=3) > scoring.strength(60.0)
    assert scoring.strength(60.0, importance=1.0) > scoring.strength(60.0, importance=0.1)
    assert float(scoring.strength(0.0)) == 1.0


def test_multipliers_stay_within_their_named_bounds() -> None:
    """A spread of 0.1 moves a score by at most 5 % either way for importance."""
    factors = scoring.multipliers({"importance": floats(0, 0.5, 1)}, {"importance": 0.1})
    assert factors["importance"].tolist() == pytest.approx([0.95, 1, 1.05])


def test_what_no_longer_holds_is_stale() -> None:
    """Superseded, ended and disbelieved memories are stale; others are not."""
    past = datetime(2024, 1, 1, tzinfo=UTC)
    future = datetime(2025, 1, 1, tzinfo=UTC)
    source = MemorySource(
        [
            memory(1, "a"),
            memory(2, "b", status="superseded"),
            memory(3, "c", invalid_at=past),
            memory(4, "d", expired_at=past),
            memory(5, "e", invalid_at=future),
        ]
    )
    rows = source.rows(whole(1, 2, 3, 4, 5))
    assert stale(rows, micros(NOW)).tolist() == [0, 1, 1, 1, 0]


def test_mmr_puts_what_is_new_before_what_repeats() -> None:
    """With lambda below 1 a twin of the first falls behind a weaker stranger; with 1 it does not."""
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    score = floats(1, 0.9, 0.8)
    assert mmr(score, vectors, lambda_=0.7, limit=3).tolist() == [0, 2, 1]
    assert mmr(score, vectors, lambda_=1.0, limit=3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("lambda_", [0.3, 0.7, 0.95])
def test_mmr_of_many_is_the_order_of_one_comparison_a_pick(lambda_: float) -> None:
    """However many candidates are compared at a time, each place goes to the best of all that are
    left, by what was taken before it."""
    random = np.random.default_rng(5)
    vectors = np.eye(8, dtype=np.float32)[random.integers(0, 8, 1543)]
    vectors[::3] = 0
    vectors[1::3] = (vectors[1::3] + np.roll(vectors[1::3], 1, axis=1)) * np.float32(0.5**0.5)
    score = random.permutation(len(vectors)).astype(np.float32) / len(vectors)
    order = mmr(score, vectors, lambda_=lambda_, limit=len(vectors))
    assert sorted(order.tolist()) == list(range(len(vectors)))
    nearest = np.zeros(len(vectors), dtype=np.float32)
    worth = lambda_ * score
    for place in order:
        assert worth[place] >= worth.max() - 1e-6
        worth[place] = -np.inf
        later = np.maximum(nearest, vectors @ vectors[place])
        worth -= (1 - lambda_) * (later - nearest)
        nearest = later
    assert mmr(score, vectors, lambda_=lambda_, limit=300).tolist() == order[:300].tolist()


def test_mmr_of_novelty_alone_still_gives_everything_once() -> None:
    """With lambda 0 every candidate keeps one place."""
    order = mmr(floats(0.9, 0.8, 0.7), np.eye(3, dtype=np.float32), lambda_=0.0, limit=3)
    assert sorted(order.tolist()) == [0, 1, 2]


def fold(texts: list[str], similarity: float = 1.0) -> list[int]:
    """Indexes of the texts that are kept."""
    folding = Deduplication(similarity)
    return [i for i, text in enumerate(texts) if folding.twin(i, text, None) is None]


def test_folding_keeps_the_first_of_equal_texts() -> None:
    """Equal but for case and space always fold; near equal only below similarity 1, as does what has the same
    words in another order. What two people say never does."""
    said = ["The cat is red.", "the  cat is RED.", "The cat is red today.", "Dogs bark.",
            "Anna beat Ben.", "Ben beat Anna."]  # fmt: skip
    assert fold(said) == [0, 2, 3, 4, 5]
    assert fold(said, 0.7) == [0, 3, 4]
    assert fold(["Cats chase mice.", "Cats chase mice quickly."], 0.75) == [0], (
        "three words of four"
    )
    assert fold(["👍", "🙂"], 0.5) == [0, 1], "no words"
    folding = Deduplication(0.5)
    assert folding.twin(0, "The cat is red.", "ann") is None
    assert folding.twin(1, "The cat is red today.", "ben") is None
    assert folding.twin(2, "The cat is red now.", "ann") == 0


def test_accesses_are_counted_and_drained_once() -> None:
    """Accesses add up until drained; a full batch says so."""
    log = AccessLog(batch=2)
    assert log.record([7], 10) is False
    assert log.record([7, 8], 20) is True
    assert log.drain() == [(7, 2, 20), (8, 1, 20)]
    assert log.drain() == []


def test_years_of_any_time_a_memory_may_have() -> None:
    """Also those before 1970, and those at the ends of the calendar."""
    for first, last in (
        (datetime(1969, 12, 31, 23), datetime(1970, 1, 1)),
        (datetime.min, datetime.max),
    ):
        times = [(one - datetime(1970, 1, 1)) // timedelta(microseconds=1) for one in (last, first)]
        assert features.years_of(whole(*times)) == range(first.year - 1, last.year + 1)


def test_threads_remember_what_they_were_given() -> None:
    """Memories are remembered by thread; the thread unused longest is forgotten first."""
    log = ShownLog(max_threads=2)
    for thread in ("a", "b", "a", "c"):
        log.note(thread, [(("ns",), f"key-{thread}")])
    assert log.before("a", ("ns",)) == {(("ns",), "key-a")}
    assert log.before("b", ("ns",)) == frozenset()


def test_what_was_given_is_known_by_namespace_and_bounded() -> None:
    """The same key elsewhere was not given; of many memories the last ones are remembered."""
    log = ShownLog(max_memories=2)
    log.note("t", [(("u", "a"), "profile")])
    assert log.before("t", ("u", "b")) == frozenset()
    assert log.before("t", ("u",)) == {(("u", "a"), "profile")}
    log.note("t", [(("u", "a"), str(number)) for number in range(5)])
    assert {key for _, key in log.before("t", ("u", "a"))} == {"3", "4"}


def test_presets_change_by_mapping() -> None:
    """Options and single weights are overridden by name; everything else stays."""
    preset = Preset.from_mapping({"name": "mine", "weights": {"speaker": 0.5}, "depth": 20})
    assert (preset.name, preset.depth, preset.weights.speaker) == ("mine", 20, 0.5)
    assert preset.weights.dense == BALANCED.weights.dense


@pytest.mark.parametrize(
    "changes",
    [
        {"dept": 3},
        {"weights": {"speker": 1}},
        {"others_factor": 2},
        {"weights": 3},
        {"multiplier_ranges": {"novelty": 0.1}},
        {"multiplier_ranges": {"recency": -3}},
        {"assistant_weights": {"speaker": -1}},
        {"context_weight": 0.4},
    ],
)
def test_unknown_options_are_refused(changes: dict[str, object]) -> None:
    """An unknown option or a value out of range is a ConfigError that names it."""
    with pytest.raises(ConfigError, match=next(iter(changes))):
        Preset.from_mapping(changes)


def best_start(text: str, query: str, characters: int) -> int:
    return Excerpts(query).start(text, characters)


def test_the_part_of_a_text_that_meets_a_query() -> None:
    """An excerpt begins with the sentence that meets the query, earlier where there is room for more,
    and at the beginning where nothing is met better."""
    filler = "We walked on and on along the river. " * 10
    text = f"{filler}Lunch was soup. The dentist called about Tuesday. {filler}"
    assert text[best_start(text, "tooth doctor appointment", 40) :].startswith("The dentist")
    assert text[best_start(text, "soup and the dentist", 60) :].startswith("Lunch was")
    assert best_start(text, "walking at a river", 60) == 0
    assert best_start(text, "", 60) == best_start(text, "the of and", 60) == 0
    assert best_start("One sentence without an end", "sentence", 5) == 0
    end = best_start(f"{filler}The dentist called.", "dentist", 100)
    assert text[end:].startswith("We walked")
    assert end > 200
    assert best_start("天气很好。我们去散步。" * 10 + "牙医打电话来了。", "牙医", 8) == 110


def test_an_excerpt_of_a_text_without_full_stops() -> None:
    """The excerpt of a text without punctuation begins near the words of the question, between two
    words; so does a script without spaces."""
    text = "and then we went on " * 200 + "until Maria ate peanuts " + "and went home " * 200
    for room in (100, 400):
        start = best_start(text, "is Maria allergic to peanuts?", room)
        assert text[start - 1] == " "
        assert "Maria ate peanuts" in text[start : start + room]
    thai = "สวัสดีครับ" * 200 + "มาเรียอาศัยอยู่ในลียง" + "สวัสดีครับ" * 100
    assert "ลียง" in thai[best_start(thai, "มาเรียอาศัยอยู่ที่ไหน", 200) :][:200]


def test_an_excerpt_of_a_text_of_tiny_sentences() -> None:
    """A text with more sentences than are looked at one by one is still searched to its end."""
    table = "No. " * 100_000 + "The dentist called about Tuesday. " + "No. " * 1_000
    start = best_start(table, "dentist", 200)
    assert "The dentist called" in table[start : start + 200]


def test_an_excerpt_for_a_query_of_any_length() -> None:
    """A pasted page as the query is no reason to take long, nor are odd texts."""
    page = " ".join(f"word{n} river dentist" for n in range(5_000))
    assert best_start("A. " * 500 + "The dentist called.", page, 30) > 1_000
    assert best_start("\0\n\n . . \ud83d", "x" * 50_000, 10) in range(10)


def test_excerpts_of_one_query_are_the_same_whatever_was_asked_before() -> None:
    """Excerpts that are taken one after another, of several texts and sizes, begin where each would by
    itself."""
    texts = [
        f"Lunch was soup. {'We walked along the river. ' * 9}The dentist called. Then we slept.",
        f"{'no stops here ' * 40}the dentist moved to Ulm {'and so on ' * 30}",
    ]
    excerpts = Excerpts("when did the dentist call?")
    for text in [*texts, *texts]:
        for room in (300, 40, 120, 300):
            alone = best_start(text, "when did the dentist call?", room)
            assert excerpts.start(text, room) == alone
    assert excerpts.start(texts[0], 40) > 0
