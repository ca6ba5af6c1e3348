from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory.errors import ImportFormatError
from langmemory.parts.evals import SAMPLE, load
from langmemory.parts.evals.corpus import Corpus


def _locomo(path: Path, count: int = 4) -> Corpus:
    """A LoCoMo-shaped file of our own words."""
    sample = {
        "speakers": ["Ada", "Ben"],
        "sessions": [
            {
                "session": 1,
                "date_time": "1:56 pm on 8 May, 2023",
                "turns": [
                    {"id": "D1:1", "speaker": "Ada", "text": "I bought a kite."},
                    {
                        "id": "D1:2",
                        "speaker": "Ben",
                        "text": "Look at this!",
                        "image_caption": "a red kite above a hill",
                    },
                ],
            },
            {"session": 2, "date_time": "12:05 am on 9 May, 2023", "turns": []},
        ],
        "questions": [
            {"question": "What did Ada buy?", "category": 4, "evidence": ["D1:1; D1:2"]},
            {"question": "When?", "category": 2, "evidence": ["D1:1", "D9:9"]},
            {"question": "Who flies?", "category": 5, "evidence": ["D"]},
            {"question": "Would Ada sail?", "category": 3, "evidence": []},
        ],
    }
    path.write_text(json.dumps([{"conversation": f"c{n}", **sample} for n in range(count)]))
    return load(path)


def test_locomo_shape_is_read_with_times_captions_and_category_names(tmp_path: Path) -> None:
    """Session times are UTC, captions belong to the turn, numbers become names."""
    corpus = _locomo(tmp_path / "mini.json")
    (session,) = corpus.conversations[0].sessions
    assert session.at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert [turn.speaker for turn in session.turns] == ["Ada", "Ben"]
    assert "a red kite above a hill" in session.turns[1].text
    assert corpus.categories == ("open-domain", "single-hop", "temporal", "adversarial")
    assert corpus.tuning == {"c0", "c1", "c2"}


def test_evidence_that_does_not_exist_is_kept_apart_and_two_ids_in_one_are_parted(
    tmp_path: Path,
) -> None:
    """Nothing named as evidence vanishes: it is a turn, or it is reported as missing."""
    both, half, none, empty = _locomo(tmp_path / "mini.json", 1).questions
    assert set(both.evidence) == {"D1:1", "D1:2"}
    assert (set(half.evidence), half.missing) == ({"D1:1"}, ("D9:9",))
    assert (dict(none.evidence), none.missing) == ({}, ("D",))
    assert (dict(empty.evidence), empty.missing) == ({}, ())


def test_beir_folders_are_read_with_graded_judgements(tmp_path: Path) -> None:
    """Titles join texts, zero judgements are no evidence, unjudged queries are left out."""
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": "d1", "title": "Kites", "text": "They fly."}\n'
        '{"_id": "d2", "title": "", "text": "Boats float."}\n'
    )
    (folder / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "what flies"}\n{"_id": "q2", "text": "never judged"}\n'
    )
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq1\td7\t1\n"
    )
    corpus = load(folder)
    (question,) = corpus.questions
    assert corpus.kind == "documents"
    assert [turn.text for turn in corpus.conversations[0].turns] == [
        "Kites\nThey fly.",
        "Boats float.",
    ]
    assert (dict(question.evidence), question.missing) == ({"d1": 2.0}, ("d7",))
    with pytest.raises(ImportFormatError, match=r"dev\.tsv.*there: \['test'\]"):
        load(folder, qrels="dev")


def test_what_windows_saves_is_read(tmp_path: Path) -> None:
    """A byte order mark, carriage returns and an empty last line are no part of the data."""
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    files = {
        "corpus.jsonl": '{"_id": "d1", "text": "Kites fly."}',
        "queries.jsonl": '{"_id": "q1", "text": "what flies"}',
        "qrels/test.tsv": "q1\td1\t1",
    }
    for name, text in files.items():
        (folder / name).write_text(f"{text}\r\n\r\n", encoding="utf-8-sig", newline="")
    (question,) = load(folder).questions
    assert dict(question.evidence) == {"d1": 1.0}
    sample = tmp_path / "sample.jsonl"
    sample.write_text(SAMPLE.read_text(encoding="utf-8"), encoding="utf-8-sig", newline="\r\n")
    assert load(sample).questions == load(SAMPLE).questions


def test_the_sample_is_whole() -> None:
    """Every piece of evidence in the shipped sample exists, and each question has some."""
    corpus = load(SAMPLE)
    assert len(corpus.scored) == len(corpus.questions) == 8
    assert not [question for question in corpus.questions if question.missing]
    assert dict(corpus.questions[6].evidence) == {"e1": 2, "d3": 1}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.jsonl", '{"session": "s", "turns": []}\nnot json', "line 2"),
        ("a.jsonl", '{"hello": 1}', "neither 'turns' nor 'question'"),
        ("a.jsonl", '{"session": "s", "turns": [{"text": "no id"}]}', "session 's'"),
        ("a.jsonl", '{"question": "q", "evidence": [], "conversation": "gone"}', "'gone'"),
        ("a.json", '{"not": "a list of conversations"}', "not LoCoMo-shaped"),
        ("a.csv", "", "expected a LoCoMo-shaped"),
        ("a.jsonl", '{"session": "s", "turns": []}', "no questions"),
        (
            "a.jsonl",
            '{"session": "s", "turns": [{"id": "1", "text": "a"}, {"id": "1", "text": "b"}]}',
            "'1' stands for two turns",
        ),
        ("a.jsonl", '{"session": "s", "turns": [{"id": "1", "text": 5}]}', "text of 1 is 5"),
        (
            "a.jsonl",
            '{"session": "s", "turns": []}\n{"question": "q", "evidence": {"a": 0}}',
            "gains above 0",
        ),
        ("a.jsonl", '{"session": "s", "turns": []}\n{"question": "q", "evidence": null}', "list"),
        ("a.jsonl", "\udcff", "not UTF-8"),
        (
            "a.jsonl",
            '{"session": "s", "turns": [{"id": "1", "text": "half \\ud83d"}]}',
            "text of 1 holds half of a surrogate pair at character 5",
        ),
        (
            "a.jsonl",
            '{"session": "s", "turns": [{"id": "1", "text": "a", "speaker": 5}]}',
            "speaker of 1 is 5",
        ),
        (
            "a.json",
            '[{"conversation": 1, "sessions": [], "questions": []}, '
            '{"conversation": 1, "sessions": [], "questions": []}]',
            "two conversations called '1'",
        ),
    ],
)
def test_a_file_of_another_shape_is_refused_with_the_place(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    """An error names the unreadable file and the place in it; it is no KeyError."""
    (tmp_path / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ImportFormatError, match=complaint):
        load(tmp_path / name)


def test_ids_of_a_beir_folder_may_be_numbers_and_a_text_or_title_null(tmp_path: Path) -> None:
    """Judgements name both as text; nothing is indexed as "None"; "." is the folder's name."""
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": 1, "title": "Kites", "text": null}\n{"_id": 2, "title": null, "text": "Boats"}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id": 7, "text": "what flies"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n7\t1\t1\n7\t2\t-1\n")
    corpus = load(folder / "qrels" / "..")
    assert corpus.name == corpus.conversations[0].id == "tiny"
    assert [(turn.id, turn.text) for turn in corpus.conversations[0].turns] == [
        ("1", "Kites"),
        ("2", "Boats"),
    ]
    (question,) = corpus.questions
    assert (question.id, dict(question.evidence)) == ("7", {"1": 1.0})
    (folder / "queries.jsonl").write_text('{"_id": "7", "text": "a"}\n{"_id": "7", "text": "b"}\n')
    with pytest.raises(ImportFormatError, match="two questions called '7'"):
        load(folder)


@pytest.mark.parametrize(
    ("turn", "observations", "complaint"),
    [
        ({"text": None}, {}, "text of a is None"),
        ({"text": "hi"}, {"Ada": [["without evidence"]]}, "observation .* not .'without evidence'"),
        ({"text": "hi"}, {"Ada": ["ab"]}, "observation .* not 'ab'"),
    ],
)
def test_what_a_locomo_session_lacks_is_said(
    tmp_path: Path, turn: dict[str, object], observations: object, complaint: str
) -> None:
    """A text that is none is not stored as "None", and a note in another form is no traceback."""
    session = {
        "session": 1,
        "date_time": "1:56 pm on 8 May, 2023",
        "turns": [{"id": "a", "speaker": "Ada", **turn}],
        "observations": observations,
    }
    asked = {"question": "?", "category": 1, "evidence": ["a"]}
    sample = {"conversation": "c", "sessions": [session], "questions": [asked]}
    (tmp_path / "a.json").write_text(json.dumps([sample]))
    with pytest.raises(ImportFormatError, match=complaint):
        load(tmp_path / "a.json")


@pytest.mark.parametrize(
    "wrong",
    [
        '{"neither": 1}',
        '{"session": "t", "turns": [{"id": "b"}]}',
        '{"question": "q"}',
        '{"question": "q", "evidence": {"a": 0}}',
        '{"question": "q", "evidence": ["a"], "conversation": "gone"}',
        "[]",
        "{",
    ],
)
def test_a_wrong_line_is_named_by_its_number(tmp_path: Path, wrong: str) -> None:
    """Of thousands of lines the one to mend is told as editors count them, blank lines too."""
    right = '{"session": "s", "turns": [{"id": "a", "text": "x"}]}'
    file = tmp_path / "mine.jsonl"
    file.write_text(f"{right}\n\n{wrong}\n", encoding="utf-8")
    with pytest.raises(ImportFormatError, match=r"mine\.jsonl, line 3\b") as complaint:
        load(file)
    assert "\n" not in str(complaint.value)


def test_a_wrong_conversation_of_a_locomo_file_is_named_by_its_number(tmp_path: Path) -> None:
    """A file of ten conversations says which one to look at, and what is wrong there."""
    right = {"conversation": 1, "sessions": [], "questions": []}
    session = {"session": 1, "date_time": "yesterday", "turns": [{"id": "a", "speaker": "A"}]}
    wrong = {"conversation": 2, "sessions": [session], "questions": []}
    (tmp_path / "a.json").write_text(json.dumps([right, wrong]))
    with pytest.raises(ImportFormatError, match=r"a\.json: conversation 2 .*'yesterday'"):
        load(tmp_path / "a.json")


def test_limited_questions_are_spread_over_all_conversations(tmp_path: Path) -> None:
    """A quick look still asks every conversation."""
    limited = _locomo(tmp_path / "mini.json").limited(4)
    assert [question.conversation for question in limited.questions] == ["c0", "c1", "c2", "c3"]


def test_evidence_that_is_one_string_is_one_id(tmp_path: Path) -> None:
    """ "s1" is a turn's id, not its letters; judgements may be fractions."""
    file = tmp_path / "a.jsonl"
    file.write_text(
        '{"session": "s", "turns": [{"id": "s1", "text": "a cat"}]}\n'
        '{"question": "cat?", "evidence": "s1"}'
    )
    assert dict(load(file).questions[0].evidence) == {"s1": 1.0}
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "text": "a cat"}')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "cat?"}')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t0.5\n")
    assert dict(load(tmp_path).questions[0].evidence) == {"d": 0.5}
