"""`langmemory eval`: how well memory recalls, on a data set of yours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmemory.cli.values import Count, Reads, one_of

if TYPE_CHECKING:
    from rich.progress import TaskID

    from langmemory.parts.evals import Corpus, Progress, SystemFactory


class SystemName(StrEnum):
    """Values of `--system`."""

    langmemory = "langmemory"
    facts = "facts"
    no_embedder = "no-embedder"
    search = "search"
    keyword = "keyword"
    semantic = "semantic"
    inmemory = "inmemory"
    sqlite = "sqlite"


class Level(StrEnum):
    """Values of `--granularity`."""

    turn = "turn"
    session = "session"


AnySystem = Annotated[SystemName, Reads("|".join(SystemName), one_of(SystemName))]
AnyLevel = Annotated[Level, Reads("|".join(Level), one_of(Level))]


def eval_command(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="LoCoMo's or LongMemEval's file, .jsonl of sessions and questions, or a BEIR "
            "folder, told by its shape; without it a small sample is used.",
            exists=True,
            show_default=False,
        ),
    ] = None,
    *,
    system: list[AnySystem] | None = None,
    preset: list[str] | None = None,
    granularity: AnyLevel = Level.turn,
    ablate: bool = False,
    split: str | None = None,
    qrels: str = "test",
    asked_before: bool = False,
    json_file: Path | None = None,
    rankings: bool = False,
    limit_questions: Count | None = None,
    answers: str | None = None,
    judge: str | None = None,
    full_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Tokens of a conversation that is read whole, from its end; 0: none.",
        ),
    ] = None,
) -> None:
    """Measure recall on a data set: what is found, how early, how fast.

    Args:
        system: What to evaluate; repeatable. Default: everything.
        preset (NAME): Recall preset, built in or of the configuration; repeatable. Default: balanced.
        granularity: Rank turns or sessions.
        ablate: Switch each stage of the preset off in turn.
        split (NAMES): Conversations the constants were tuned on, with commas; the others are reported as held
            out. "none" to hold nothing out. Default: the first three of a LoCoMo file.
        qrels (NAME): Which judgements of a BEIR folder.
        asked_before: Once more, with every question asked before and answered "I don't know."
        json_file (--json): Write all figures to this file.
        rankings: With every question's ranking in the JSON.
        limit_questions: Ask only this many, evenly spread.
        answers (MODEL): Let this model answer from what each system finds, and from the whole conversation,
            such as "ollama:qwen3:8b" or "openai:gpt-4.1-mini".
        judge (MODEL): Says whether an answer is right. Default: the model that answers.
    """
    from langmemory.cli.screen import Screen
    from langmemory.config import load_config
    from langmemory.parts.evals import (
        SAMPLE,
        ablations,
        evaluate,
        load,
        named_systems,
        render,
    )
    from langmemory.parts.evals.table import columns_for

    _check_json(json_file)
    if judge and not answers:
        raise typer.BadParameter(
            "--judge judges answers: name the model that gives them with --answers"
        )
    if answers and (ablate or asked_before or rankings or granularity is Level.session):
        raise typer.BadParameter(
            "--answers takes no --ablate, --asked-before, --rankings or --granularity session"
        )
    if rankings and not json_file:
        raise typer.BadParameter("--rankings are part of the JSON: name a file with --json")
    if json_file and not json_file.absolute().parent.is_dir():  # before the evaluation, not after
        raise typer.BadParameter(
            f"there is no folder {json_file.parent} to write {json_file.name} to"
        )
    names = [str(name) for name in system or SystemName]
    if ablate and names[0] != SystemName.langmemory:
        raise typer.BadParameter(
            "--ablate compares with langmemory: name --system langmemory first"
        )
    presets = preset or ["balanced"]
    with _reading(data):
        corpus = load(data or SAMPLE, qrels=qrels, limit_questions=limit_questions)
    try:
        if split is not None:
            corpus = corpus.with_tuning([] if split == "none" else split.split(","))
        config = load_config()
        compared = named_systems(
            names, presets=presets, kind=corpus.kind, granularity=granularity.value, config=config
        )
        switched_off = (
            ablations(presets[0], kind=corpus.kind, granularity=granularity.value, config=config)
            if ablate
            else None
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if answers:
        _answer(corpus, compared, answers, judge, full_tokens, json_file)
        return
    with _progress() as progress:
        report = evaluate(
            corpus,
            compared,
            ablations=switched_off,
            granularity=granularity.value,
            asked_before=asked_before,
            progress=progress,
        )
    console = Screen()
    console.width = max(console.width, columns_for(report))
    console.print(render(report))
    if json_file:
        _write_json(json_file, report.to_json(rankings=rankings))


def _answer(
    corpus: Corpus,
    systems: Mapping[str, SystemFactory],
    reader: str,
    judge: str | None,
    full_tokens: int | None,
    json_file: Path | None,
) -> None:
    """Ask a model every question and show what it answers from each system."""
    from dataclasses import asdict

    from langmemory.chat_models import as_chat_model
    from langmemory.cli.screen import Screen
    from langmemory.parts.evals.answering import FULL_TOKENS, answer
    from langmemory.parts.evals.table import render_answers

    models = [as_chat_model(name) for name in (reader, judge or reader)]
    full_tokens = FULL_TOKENS if full_tokens is None else full_tokens
    with _progress() as progress:
        answered = answer(corpus, systems, *models, full_tokens=full_tokens, progress=progress)
    Screen().print(render_answers(answered))
    if json_file:
        shown = {"corpus": corpus.name, "reader": reader, "judge": judge or reader}
        _write_json(json_file, shown | {"systems": [asdict(one) for one in answered]})


def _write_json(file: Path, report: Mapping[str, Any]) -> None:
    import json

    text = json.dumps(report, indent=2, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


REPORT_BEGINS = '{\n  "corpus"'
"""A file that `--json` wrote before."""


def _check_json(file: Path | None) -> None:
    """Elsewhere `--json` is a switch, and what follows it the data: that is not written over.

    Raises:
        typer.BadParameter: There is something of that name that is no report.
    """
    if file is None or not file.exists():
        return
    if file.is_file():
        with file.open(encoding="utf-8", errors="replace") as there:
            if there.read(len(REPORT_BEGINS)) in ("", REPORT_BEGINS):
                return
    raise typer.BadParameter(
        f"--json {file}: this is there and is no report of an evaluation. Name another file to "
        "write the figures to; the data is named without an option"
    )


@contextmanager
def _reading(data: Path | None) -> Iterator[None]:
    """A word on stderr while a large file is read, gone when done."""
    from langmemory.cli.screen import Screen

    screen = Screen(stderr=True)
    name = data.name if data else "the sample"
    with screen.status(f"reading {name}") if screen.is_terminal else nullcontext():
        yield


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar a system on stderr, gone when done."""
    from langmemory.cli.screen import counting_bars

    tasks: dict[str, TaskID] = {}
    with counting_bars() as bars:

        def update(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done)

        yield update
