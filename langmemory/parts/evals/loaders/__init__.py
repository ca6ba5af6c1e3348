"""Data sets on disk → `Corpus`, by their shape.

The path is always the user's; nothing is downloaded and nothing is copied.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from langmemory.errors import ImportFormatError
from langmemory.parts.evals.corpus import Corpus
from langmemory.parts.evals.loaders.beir import load_beir
from langmemory.parts.evals.loaders.locomo import load_locomo
from langmemory.parts.evals.loaders.longmemeval import load_longmemeval
from langmemory.parts.evals.loaders.plain import UTF_8, load_jsonl, samples

SAMPLE = Path(__file__).parents[1] / "data" / "sample.jsonl"
"""Two small conversations of our own, to try the evaluation with."""


def load(path: str | Path, *, qrels: str = "test", limit_questions: int | None = None) -> Corpus:
    """Load a data set: a BEIR folder, a list of LoCoMo or LongMemEval, or plain JSONL.

    Args:
        path: file or folder.
        qrels: for BEIR, which `qrels/*.tsv` to judge by.
        limit_questions: so many of the questions, evenly spread over all of them.

    Raises:
        FileNotFoundError: nothing is there.
        ImportFormatError: it has none of these shapes; the message says where.
    """
    source = Path(path)
    try:
        if source.is_dir():
            corpus = load_beir(source.resolve(), qrels=qrels)  # "." has no name
        elif _is_list(source):
            corpus = _load_list(source, limit_questions)
        elif source.suffix == ".jsonl":
            corpus = load_jsonl(source)
        elif source.suffix == ".json":
            raise ImportFormatError(
                f"{source.name} is not LoCoMo-shaped or LongMemEval-shaped: both are lists. "
                "Sessions and questions, an object a line, are read from a .jsonl"
            )
        else:
            raise ImportFormatError(
                f"{source.name}: expected a LoCoMo-shaped or LongMemEval-shaped list, a .jsonl of "
                "sessions and questions, or a BEIR folder"
            )
    except UnicodeDecodeError as error:
        raise ImportFormatError(f"{source.name} is not UTF-8 text: {error}") from None
    _check(source.name, corpus)
    return corpus.limited(limit_questions) if limit_questions else corpus


def _is_list(path: Path) -> bool:
    """Whether it is one of JSON, whatever its name ends in: published files have no ending, too."""
    with path.open(encoding=UTF_8) as file:
        return file.read(1_000).lstrip()[:1] == "["


def _load_list(path: Path, limit_questions: int | None) -> Corpus:
    first = next(samples(path), None)
    if first is None:
        raise ImportFormatError(f"{path.name}: the list is empty")
    if "haystack_sessions" in first:
        return load_longmemeval(path, limit_questions=limit_questions)
    if "qa" in first or "questions" in first:
        return load_locomo(path)
    raise ImportFormatError(
        f"{path.name} is not LoCoMo-shaped ('qa' or 'questions') nor LongMemEval-shaped "
        f"('haystack_sessions'): its first object has {sorted(first)}"
    )


def _check(name: str, corpus: Corpus) -> None:
    """Refuses what would be scored wrongly.

    Raises:
        ImportFormatError: An id is given twice, a text or a speaker is none, or there is no question.
    """
    twice = Counter(conversation.id for conversation in corpus.conversations).most_common(1)
    if twice and twice[0][1] > 1:
        raise ImportFormatError(f"{name}: there are two conversations called {twice[0][0]!r}")
    for conversation in corpus.conversations:
        seen: set[str] = set()
        for turn in conversation.turns:
            _check_text(f"{name}: the text of {turn.id}", turn.text)
            if turn.speaker is not None:
                _check_text(f"{name}: the speaker of {turn.id}", turn.speaker)
            if turn.id in seen:
                raise ImportFormatError(
                    f"{name}: the id {turn.id!r} stands for two turns of {conversation.id!r}; "
                    "evidence needs one id for each"
                )
            seen.add(turn.id)
    asked: set[str] = set()
    for question in corpus.questions:
        if question.id in asked:
            raise ImportFormatError(f"{name}: there are two questions called {question.id!r}")
        asked.add(question.id)
        _check_text(f"{name}: the text of question {question.id}", question.text)
    if not corpus.questions:
        raise ImportFormatError(f"{name} has no questions to ask")


def _check_text(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise ImportFormatError(f"{what} is {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ImportFormatError(
            f"{what} holds half of a surrogate pair at character {error.start}: no store can keep "
            "it, put U+FFFD in its place"
        ) from None
