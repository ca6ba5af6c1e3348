"""Files as LoCoMo and LongMemEval publish them; people and sentences are our own."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from langmemory.errors import ImportFormatError
from langmemory.parts.evals import Corpus, Report, System, evaluate, load, render
from langmemory.parts.evals.loaders import plain
from langmemory.parts.evals.ours import MemorySystem


def _talk(name: str) -> dict[str, Any]:
    """A sample of LoCoMo's own shape, with what is odd about some of them."""
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ilse",
            "speaker_b": "Tomo",
            "session_10_date_time": "12:05 am on 2 June, 2024",
            "session_10": [{"speaker": "Tomo", "dia_id": "D10:1", "text": "The canoe leaks."}],
            "session_2_date_time": "1:56 pm on 8 May, 2024",
            "session_2": [
                {"speaker": "Ilse", "dia_id": "D2:1", "text": "I planted quinces."},
                {
                    "speaker": "Tomo",
                    "dia_id": "D2:2",
                    "text": "Mine look like this.",
                    "img_url": ["https://example.org/1.jpg"],
                    "blip_caption": "a photo of two quinces",
                    "query": "quince",
                },
            ],
            "session_3": [],
            "session_11_date_time": "1:00 pm on 3 June, 2024",
        },
        "qa": [
            {"question": "Who planted?", "answer": "Ilse", "evidence": ["D2:1"], "category": 4},
            {"question": "How many?", "answer": 2, "evidence": ["D2:2; D10:1"], "category": 1},
            {"question": "When?", "answer": 2024, "evidence": ["D:2:1", "D2:1"], "category": 2},
            {"question": "Why?", "answer": "so", "evidence": [], "category": 3},
            {"question": "Sank?", "adversarial_answer": "no", "evidence": ["D"], "category": 5},
        ],
        "observation": {"session_2_observation": {"Ilse": [["Ilse planted quinces.", "D2:1"]]}},
        "session_summary": {"session_2_summary": "They spoke of quinces."},
        "event_summary": {"events_session_2": {"Ilse": ["planted"], "date": "8 May, 2024"}},
    }


def _kept(sample: dict[str, Any]) -> dict[str, Any]:
    """The same in the shape this project keeps."""
    said = sample["conversation"]
    return {
        "conversation": sample["sample_id"],
        "sessions": [
            {
                "session": number,
                "date_time": said[f"session_{number}_date_time"],
                "turns": [
                    {
                        "id": turn["dia_id"],
                        "speaker": turn["speaker"],
                        "text": turn["text"],
                        **(
                            {"image_caption": turn["blip_caption"]}
                            if "blip_caption" in turn
                            else {}
                        ),
                    }
                    for turn in said[f"session_{number}"]
                ],
                "observations": sample["observation"].get(f"session_{number}_observation"),
            }
            for number in (2, 10)
        ],
        "questions": sample["qa"],
    }


def _histories(**changes: Any) -> list[dict[str, Any]]:
    """LongMemEval's own shape: two questions, the second without an answer."""
    bees = [
        {"role": "user", "content": "I moved the hives behind the barn.", "has_answer": True},
        {"role": "assistant", "content": "A sheltered place.", "has_answer": False},
    ]
    soup = [{"role": "user", "content": "Which herbs go into a soup?"}]
    first = {
        "question_id": "bees1",
        "question_type": "single-session-user",
        "question": "Where are my hives?",
        "answer": "behind the barn",
        "question_date": "2024/06/02 (Sun) 08:30",
        "haystack_session_ids": ["late", "early", "early"],
        "haystack_dates": [
            "2024/05/20 (Mon) 02:21",
            "2024/05/19 (Sun) 23:59",
            "2024/05/19 (Sun) 23:59",
        ],
        "haystack_sessions": [bees, soup, soup],
        "answer_session_ids": ["late"],
    }
    second = first | {
        "question_id": "bees2_abs",
        "question": "Where are my goats?",
        "answer": 0,
        "answer_session_ids": ["late", "gone"],
        "haystack_sessions": [[turn | {"has_answer": None} for turn in bees], soup, soup],
    }
    return [first | changes, second]


def _written(path: Path, samples: object) -> Corpus:
    path.write_text(json.dumps(samples, ensure_ascii=False), encoding="utf-8")
    return load(path)


def test_locomo_as_published_is_the_same_corpus_as_in_our_shape(tmp_path: Path) -> None:
    """Sessions by number, captions, notes, evidence and the held-out split: nothing differs."""
    talks = [_talk(f"talk{number}") for number in range(4)]
    (tmp_path / "a").mkdir()
    published = _written(tmp_path / "a" / "mini.json", talks)
    assert published == _written(tmp_path / "mini.json", list(map(_kept, talks)))
    sessions = published.conversations[0].sessions
    assert [session.id for session in sessions] == ["2", "10"]
    assert sessions[0].at == datetime(2024, 5, 8, 13, 56, tzinfo=UTC)
    assert sessions[0].turns[1].text == "Mine look like this. [shares a photo of two quinces]"
    assert sessions[0].observations[0].evidence == ("D2:1",)
    assert published.tuning == {"talk0", "talk1", "talk2"}


def test_what_is_odd_in_locomo_is_read_and_reported(tmp_path: Path) -> None:
    """Two ids in one string are two; what names no turn is missing; no evidence is none."""
    who, many, when, why, sank = _written(tmp_path / "mini.json", [_talk("talk")]).questions
    assert (dict(who.evidence), who.missing) == ({"D2:1": 1.0}, ())
    assert set(many.evidence) == {"D2:2", "D10:1"}
    assert (set(when.evidence), when.missing) == ({"D2:1"}, ("D:2:1",))
    assert (dict(why.evidence), why.missing) == ({}, ())
    assert (sank.category, sank.missing) == ("adversarial", ("D",))


def test_a_session_without_a_time_has_none(tmp_path: Path) -> None:
    """Nothing is refused because a date is missing."""
    talk = _talk("talk")
    del talk["conversation"]["session_2_date_time"]
    talk["observation"] = None
    corpus = _written(tmp_path / "mini.json", [talk])
    assert [session.at for session in corpus.conversations[0].sessions] == [
        None,
        datetime(2024, 6, 2, 0, 5, tzinfo=UTC),
    ]


def test_longmemeval_is_a_history_a_question(tmp_path: Path) -> None:
    """Turns that have the answer are evidence, sessions are in order of time and named once each,
    and the file's name needs no ending."""
    corpus = _written(tmp_path / "longmemeval_x", _histories())
    hives, goats = corpus.questions
    assert corpus.isolated
    assert [session.id for session in corpus.conversations[0].sessions] == [
        *("early", "early#2", "late")
    ]
    assert [turn.speaker for turn in corpus.conversations[0].sessions[2].turns] == [
        *("user", "assistant")
    ]
    assert corpus.conversations[0].sessions[2].at == datetime(2024, 5, 20, 2, 21, tzinfo=UTC)
    assert (hives.category, dict(hives.evidence)) == ("single-session-user", {"late_1": 1.0})
    assert hives.at == datetime(2024, 6, 2, 8, 30, tzinfo=UTC)
    assert (goats.category, dict(goats.evidence), goats.missing) == ("abstention", {}, ("gone",))
    assert corpus.categories == ("single-session-user", "abstention")


def test_sessions_are_judged_by_what_the_data_says_of_them(tmp_path: Path) -> None:
    """A question without an answering turn is not scored by turns, and says that sessions are;
    by sessions it is scored, apart, and pooled figures are without it."""
    corpus = _written(tmp_path / "mini.json", _histories())

    def ours() -> System:
        return MemorySystem(mode="keyword")

    by_turn = evaluate(corpus, {"ours": ours})
    assert (by_turn.questions, by_turn.unanswerable) == (1, ("bees2_abs",))
    assert "1: --granularity session" in _printed(by_turn)
    by_session = evaluate(corpus, {"ours": ours}, granularity="session")
    assert (by_session.questions, by_session.known_by_session) == (2, 0)
    groups = {g.category: g.questions for g in by_session.system("ours").groups}
    assert groups == {"pooled": 1, "single-session-user": 1, "abstention": 1}
    assert by_session.system("ours").outcomes[0].ranking[0] == "late"


def test_each_history_has_a_system_of_its_own_and_one_is_open_at_a_time(tmp_path: Path) -> None:
    """Hundreds of histories are hundreds of stores, one after the other; nobody finds another's."""
    corpus = _written(tmp_path / "mini.json", _histories())
    open_now: list[int] = []
    most = [0, 0]

    class Counted(MemorySystem):
        def __init__(self) -> None:
            super().__init__(mode="keyword")
            open_now.append(1)
            most[0] = max(most[0], len(open_now))
            most[1] += 1

        def close(self) -> None:
            super().close()
            open_now.pop()

    told: list[int] = []
    report = evaluate(
        corpus,
        {"ours": Counted},
        granularity="session",
        progress=lambda name, done, total: told.append(done),
    )
    assert (most, open_now) == ([1, 2], [])
    assert told == [0, 1, 2]
    assert [o.question for o in report.system("ours").outcomes] == ["bees1", "bees2_abs"]


def test_a_sample_of_questions_holds_their_histories_only(tmp_path: Path) -> None:
    """`limit_questions` picks evenly, in a file too large to hold as in any other."""
    histories = [_histories(question_id=f"bees{number}")[0] for number in range(10)]
    _written(tmp_path / "mini.json", histories)
    corpus = load(tmp_path / "mini.json", limit_questions=3)
    assert [question.id for question in corpus.questions] == ["bees0", "bees3", "bees6"]
    assert [one.id for one in corpus.conversations] == ["bees0", "bees3", "bees6"]


def test_a_question_is_asked_when_the_data_says(tmp_path: Path) -> None:
    """ "Last week" is the week before the question's date, not before the last session's."""
    corpus = _written(tmp_path / "mini.json", _histories())
    system = MemorySystem(mode="keyword")
    try:
        system.ingest(corpus.conversations[0])
        assert system._asked_at(corpus.questions[0]) == datetime(2024, 6, 2, 8, 30, tzinfo=UTC)
    finally:
        system.close()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[1]", "line 1: int; expected a JSON object"),
        ('[{"a": 1},\n {"qa"', "line 2: not JSON .Expecting ':' delimiter"),
        ('[{"qa": []}', "found the end of the file; expected ',' or ']'"),
        ('[{"qa": []}]\n[]', r"line 2: found '\['; expected the end of the file"),
    ],
)
def test_a_broken_list_is_refused_with_the_place(tmp_path: Path, text: str, complaint: str) -> None:
    """Such as a download that ended early."""
    (tmp_path / "list.json").write_text(text)
    with pytest.raises(ImportFormatError, match=complaint):
        list(plain.samples(tmp_path / "list.json"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[]", "the list is empty"),
        ('[{"rows": 1}]', r"first object has \['rows'\]"),
        ('[{"qa": [], "conversation": {}}]', "not LoCoMo-shaped: KeyError.'sample_id'"),
        ('[{"qa": [], "sample_id": "a", "conversation": {}}]', "no questions"),
        ('[{"haystack_sessions": []}]', "question 0 is not LongMemEval-shaped: KeyError"),
    ],
)
def test_a_list_of_something_else_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    """The expected answer, in one line."""
    (tmp_path / "list.json").write_text(text)
    with pytest.raises(ImportFormatError, match=complaint):
        load(tmp_path / "list.json")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"haystack_dates": ["2024/05/20 (Mon) 02:21"]}, "bees1 .* shorter|argument"),
        ({"haystack_dates": ["yesterday"] * 3}, "bees1 .*'yesterday'"),
        ({"question_date": 20240520}, "bees1 "),
        ({"haystack_sessions": [["hello"], [], []]}, "bees1 "),
        ({"haystack_sessions": [[{"role": "user", "content": None}], [], []]}, "late_1 is None"),
        ({"question_id": "bees2_abs"}, "two conversations called 'bees2_abs'"),
    ],
)
def test_a_history_that_cannot_be_read_is_named(
    tmp_path: Path, changes: dict[str, object], complaint: str
) -> None:
    """Among five hundred the question's id says where to look."""
    with pytest.raises(ImportFormatError, match=complaint):
        _written(tmp_path / "mini.json", _histories(**changes))


def _printed(report: Report) -> str:
    output = StringIO()
    Console(file=output, width=200).print(render(report))
    return output.getvalue()
