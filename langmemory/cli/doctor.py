"""`langmemory doctor`: what works here, what does not, and what to do about it."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import typer

from langmemory.addresses import display_address, is_server
from langmemory.cli.target import JsonOption, OnFile, Target
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.errors import (
    ConfigError,
    DatabaseError,
    EmbeddingModelMismatchError,
    LangMemoryError,
)
from langmemory.files import create_file
from langmemory.pluralize import count_noun, memories

if TYPE_CHECKING:
    from langmemory.chat_models import Form
    from langmemory.config import Config, ModelsConfig
    from langmemory.types import Stats

State = Literal["ok", "warn", "fail"]

CHAT_MODELS = ("deep", "fast", "rerank", "expand")
"""Keys of the configuration that name one."""

LOSES_NOTHING = (3, 53)
"""The oldest SQLite to be used, as pyproject.toml says: 3.51 leaves out rows of an EXISTS with an OR
in it, before 3.43 there is no FTS5 with ``contentless_delete``."""

HEAD_KEY = "LANGMEMORY_HEAD_KEY"
"""Names the variable with the key of heads; with ``_FILE`` behind it, the one with the name of its file."""

LATEST_RUNS = 20
"""Runs that are looked at for answers of a model that could not be used."""

OLLAMA = "ollama:"

STYLES: dict[State, str] = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One line of the doctor's report."""

    state: State
    what: str
    found: str
    advice: str = ""
    """The next step; empty when all is well."""


def doctor(
    target: OnFile,
    *,
    rescue: Path | None = None,
    model: str | None = None,
    head: Path | None = None,
    as_json: JsonOption = False,
) -> None:
    """Check Python, SQLite, the memory file, the embedder and Ollama.

    The exit code is 1 if something fails.

    Args:
        rescue (FILE): Write all that can be read of a damaged memory file to FILE, as `export` does.
        model (NAME): Measure how a chat model can be asked for notes, and write it beside the configuration.
        head (FILE): Compare the memory with the head in FILE, which is kept elsewhere, and write the new one.
    """
    if rescue is not None:
        _rescue(target, rescue)
        return
    checks = list(examine(target) if model is None else measure_model(target.config(), model))
    if head is not None:
        target.check_output(head)
        checks += compare_head(target.config(), head)
    if as_json:
        say(json_text(plain(checks)))
    else:
        _print(checks)
    if any(check.state == "fail" for check in checks):
        raise typer.Exit(1)


def _rescue(target: Target, file: Path) -> None:
    """Write what can be read, and say what cannot; the damaged file stays as it is."""
    from langmemory.cli.export import write_rows
    from langmemory.engines.sqlite.connection import is_damage
    from langmemory.engines.sqlite.rescue import rescued
    from langmemory.ledger.transfer.transfer import export_rows

    path = target.config().database.path
    if is_server(path):
        raise ConfigError(
            f"{display_address(path)} is on a server. Its administrator restores it from a backup: pg_dump "
            "and pg_restore for one schema, pg_basebackup for all."
        )
    if not Path(path).is_file():
        raise ConfigError(
            f"{display_address(path)}: there is no such file. Name the memory file with --db."
        )
    target.check_output(file)
    with ExitStack() as opened:
        try:
            found = opened.enter_context(rescued(path))
        except LangMemoryError as error:
            if not is_damage(error):
                raise
            raise DatabaseError(
                f"{path} is damaged ({error.__cause__}). {NOTHING_READABLE}"
            ) from error
        rows = write_rows(export_rows(lambda: nullcontext(found.connection)), file)
        items = found.rows.get("item", 0)
    for damage in found.damages:
        say(f"damaged: {printable(str(damage))}", err=True)
    say(
        f"Wrote {count_noun(rows, 'row')} with {memories(items)} to {file}; "
        f"{count_noun(len(found.damages), 'problem')}. `langmemory import {shlex.quote(str(file))} --db NEW` "
        "makes a new memory file of them"
    )


def examine(target: Target) -> Iterator[Check]:
    """Every check in turn; those that need a good configuration stop where it is bad."""
    yield _python()
    yield from _foreign_package()
    yield _sqlite()
    yield _fts5()
    yield _sqlite_vec()
    try:
        config = target.config()
    except LangMemoryError as error:
        yield Check(state="fail", what="configuration", found=_line(error), advice="Correct it.")
        return
    yield Check(state="ok", what="configuration", found=_source())
    file = list(_file(config))
    yield from file
    yield from _beside(config)
    readable = file[0].state == "ok"
    if readable:
        yield from _archive(config)
        yield from _unread_answers(config)
    yield _embedder(config, config.database.path if readable else ":memory:")
    yield from _chat_models(config.models)
    yield from _ollama(config.models)


def compare_head(config: Config, file: Path) -> Iterator[Check]:
    """Compare a memory with its head; where nothing differs, the new head takes its place."""
    from langmemory.engines.opening import is_there, open_engine
    from langmemory.ledger import heads

    path = config.database.path
    try:
        key = _head_key()
        if not is_there(path):
            raise ConfigError(f"{display_address(path)}: not there, and so has no head")
        with closing(open_engine(path, config.database)) as engine, engine.read() as snapshot:
            known = heads.load(file.read_text("utf-8"), key) if file.exists() else None
            differ = list(heads.differences(snapshot.connection, key, known)) if known else []
            now = heads.take(snapshot.connection, key, known.seal if known else "")
        tampered = any(one.sure for one in differ)
        if not tampered:
            _write_head(file, heads.dump(now))
    except (LangMemoryError, OSError, UnicodeDecodeError) as error:
        advice = "Correct it; the head in the file stays as it is."
        yield Check(state="fail", what="head", found=f"{file}: {_line(error)}", advice=advice)
        return
    for one in differ:
        advice = "Find out who changed it. Restore a backup, or move the head away to accept it."
        yield Check(
            state="fail" if one.sure else "warn", what="head", found=one.text, advice=advice
        )
    if known is None:
        advice = "Keep it where who can write to the memory cannot."
        found = f"{file} is new, so nothing was compared: {memories(len(now.items))}"
        yield Check(state="warn", what="head", found=found, advice=advice)
    elif not tampered:
        changes = count_noun(now.seq - known.seq, "recorded change")
        found = f"{file}: {memories(len(now.items))}, {changes} since the last head"
        yield Check(state="ok", what="head", found=found)


def _head_key() -> bytes:
    """Return the key of heads, from a variable or a file.

    Raises:
        ConfigError: There is none, or it is short.
    """
    from langmemory.ledger.heads import SHORTEST_KEY

    text, file = os.environ.get(HEAD_KEY, ""), os.environ.get(f"{HEAD_KEY}_FILE")
    if file:
        text = Path(file).read_text("utf-8")
    if len(key := text.strip().encode()) < SHORTEST_KEY:
        raise ConfigError(
            f"a head needs a key of at least {SHORTEST_KEY} characters in {HEAD_KEY}, or in the file that "
            f"{HEAD_KEY}_FILE names; `openssl rand -hex 32` makes one"
        )
    return key


def _write_head(file: Path, text: str) -> None:
    beside = file.with_name(f"{file.name}.new")
    beside.unlink(missing_ok=True)
    create_file(beside)
    beside.write_text(text, "utf-8")
    beside.replace(file)


def measure_model(config: Config, name: str) -> Iterator[Check]:
    """Ask a model about a few things said, in both forms; write the one that it follows."""
    from langmemory.chat_models import named_chat_model
    from langmemory.errors import ModelUnavailableError
    from langmemory.formation.extraction.measuring import measure

    try:
        model = named_chat_model(name, config.models)
        measured = measure(model)
    except (ConfigError, ModelUnavailableError) as error:
        advice = "Correct the name, or start the model's server."
        yield Check(state="fail", what=name, found=_line(error), advice=advice)
        return
    for one in measured.forms:
        found = (
            f"{one.right} of {one.wanted} notes made, {one.left_out} left out that nobody said, "
            f"{count_noun(one.unreadable, 'answer')} unreadable; {count_noun(one.calls, 'call')}, "
            f"{one.seconds:.0f} s"
        )
        yield Check(state="ok", what=f"form {one.form}", found=found)
    form = measured.form
    state: State = "warn" if form == "none" else "ok"
    file = write_form(name, form)
    advice = "Rules alone read conversations with it. Try a larger model." if form == "none" else ""
    yield Check(
        state=state, what=name, found=f"{form!r}, as {file} says from now on", advice=advice
    )


def write_form(name: str, form: Form) -> Path:
    """Write how a model is asked beside the configuration."""
    import json

    from langmemory.chat_models import forms_file, measured_forms
    from langmemory.projections.journal.files import write_file

    file = forms_file()
    text = json.dumps({**measured_forms(), name: form}, indent=2, ensure_ascii=False) + "\n"
    write_file(file, text.encode(), lambda _: True)
    return file


def _python() -> Check:
    # pip refuses to install on older ones; this line is for bug reports.
    found = f"{platform.python_version()}, {sys.executable}"
    return Check(state="ok", what="Python", found=found)


FOREIGN: Final = "langmemory"
"""A package of somebody else on the index, with the same import name as this one."""


def _foreign_package() -> Iterator[Check]:
    """Yield what is wrong where the other package is installed: of two with one import name, the one that was
    installed last has overwritten files of the first."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution(FOREIGN)
    except PackageNotFoundError:
        return
    yield Check(
        state="fail",
        what="package",
        found=f"{FOREIGN} {found.version} of somebody else, in {found.locate_file('')}",
        advice=f"pip uninstall {FOREIGN}, then install this one again: pip install --force-reinstall "
        "--no-deps . in a checkout, or its wheel",
    )


def _sqlite() -> Check:
    import apsw

    version = apsw.sqlite_lib_version()
    found = f"{version} in apsw {apsw.apsw_version()}"
    if tuple(map(int, version.split("."))) >= LOSES_NOTHING:
        return Check(state="ok", what="SQLite", found=found)
    found += ", which loses results of some filters"
    return Check(state="fail", what="SQLite", found=found, advice="pip install -U 'apsw>=3.53'")


def _fts5() -> Check:
    import apsw

    if "ENABLE_FTS5" in apsw.compile_options:
        return Check(state="ok", what="FTS5", found="keyword search available")
    advice = "Install apsw from its wheel: pip install --force-reinstall --only-binary apsw apsw"
    return Check(state="fail", what="FTS5", found="not in this SQLite", advice=advice)


def _sqlite_vec() -> Check:
    """Exact searches are faster with it, and run without it, hence never a failure."""
    import apsw

    try:
        import sqlite_vec

        connection = apsw.Connection(":memory:")
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        version = connection.execute("SELECT vec_version()").get
        connection.close()
    except (ImportError, apsw.Error, AttributeError) as error:
        return Check(
            state="warn",
            what="sqlite-vec",
            found=f"does not load: {error}",
            advice="pip install --force-reinstall sqlite-vec",
        )
    return Check(state="ok", what="sqlite-vec", found=str(version))


def _source() -> str:
    from langmemory.config import DEFAULT_FILE, ENVIRONMENT

    named = os.environ.get("LANGMEMORY_CONFIG")
    file = named or (str(DEFAULT_FILE) if DEFAULT_FILE.is_file() else "defaults")
    variables = [name for name in ENVIRONMENT if os.environ.get(name)]
    return ", then ".join([file, *variables])


RESTORE = (
    "Restore a backup. `langmemory doctor --rescue FILE` writes all that can still be read to FILE."
)

NOTHING_READABLE = "Restore a backup: the list of its tables is unreadable, and with it all else."
REBUILD = (
    "`langmemory export all.jsonl`, then `langmemory import all.jsonl --db NEW`, indexes it anew."
)


def _file(config: Config) -> Iterator[Check]:
    from langmemory.engines.sqlite import Engine
    from langmemory.engines.sqlite.connection import is_damage
    from langmemory.engines.sqlite.engine import DAMAGED, check
    from langmemory.ledger.ageing import circles, unreachable
    from langmemory.ledger.jobs import counts
    from langmemory.ledger.sparse import read_sparse
    from langmemory.lifecycle.policies import PolicyOptions

    path = config.database.path
    if is_server(path):
        yield from _server(config)
        return
    folder = Path(path).parent
    if not folder.is_dir():
        found = f"{path}: there is no folder {folder}"
        yield Check(state="fail", what="memory file", found=found, advice=f"mkdir -p {folder}")
        return
    if not Path(path).exists():
        advice = "`langmemory import FILE` or the first run of your application makes it."
        yield Check(state="warn", what="memory file", found=f"{path}: not there", advice=advice)
        return
    try:
        with closing(Engine(path)) as engine, engine.read() as snapshot:
            stats = snapshot.stats()
            problems = check(snapshot.connection)
            dead = counts(snapshot.connection).get("dead", 0)
            unfinished = engine.remaining is not None
            rings = [] if problems else circles(snapshot.connection)
            rules = [] if problems else unreachable(snapshot, PolicyOptions.of(config.lifecycle))
            lacks = read_sparse(snapshot.connection).lacks
    except LangMemoryError as error:
        damaged = is_damage(error)
        found = f"{path} is damaged ({error.__cause__})" if damaged else _line(error)
        damages = _damages(path) if damaged else []
        advice = NOTHING_READABLE if damages is None else RESTORE if damaged else ""
        yield Check(state="fail", what="memory file", found=found, advice=advice)
        for damage in damages or ():
            yield Check(state="fail", what="damaged", found=damage, advice=RESTORE)
        return
    yield Check(state="ok", what="memory file", found=f"{path}: {memories(stats.items)}")
    yield from _consistency(
        stats, problems, lambda one: RESTORE if one.startswith(("SQLite", DAMAGED)) else REBUILD
    )
    if unfinished:
        found = "the last one was interrupted: bytes of what is gone may be left in the file"
        advice = "Opening the file finishes it; run `langmemory doctor` once more."
        yield Check(state="warn", what="forgetting", found=found, advice=advice)
    yield from _given_up(dead)
    yield from _circles(rings)
    yield from _rules(rules)
    yield from _sparse(lacks)


def _server(config: Config) -> Iterator[Check]:
    from langmemory.engines.opening import is_there
    from langmemory.errors import with_extra
    from langmemory.ledger.ageing import circles, unreachable
    from langmemory.ledger.jobs import counts
    from langmemory.ledger.sparse import read_sparse
    from langmemory.lifecycle.policies import PolicyOptions

    path, what = config.database.path, "memory server"
    try:
        from langmemory.engines.postgres import Engine
    except ImportError as error:
        found = f"{display_address(path)} needs psycopg ({error})"
        yield Check(state="fail", what=what, found=found, advice=with_extra("postgres"))
        return
    try:
        if not is_there(path):
            advice = "The first run of your application makes it."
            yield Check(
                state="warn", what=what, found=f"{display_address(path)}: not there", advice=advice
            )
            return
        with closing(Engine(path, settings=config.database)) as engine:
            with engine.read() as snapshot:
                stats, dead = snapshot.stats(), counts(snapshot.connection).get("dead", 0)
                rings = circles(snapshot.connection)
                rules = unreachable(snapshot, PolicyOptions.of(config.lifecycle))
                lacks = read_sparse(snapshot.connection).lacks
            problems = engine.check()
            findings = engine.findings()
            unfinished = engine.remaining is not None
    except LangMemoryError as error:
        yield Check(state="fail", what=what, found=_line(error))
        return
    size = f"{stats.file_bytes / 1e6:,.1f} MB"
    yield Check(state="ok", what=what, found=f"{engine.path}: {memories(stats.items)}, {size}")
    yield from _consistency(
        stats, problems, lambda _: "Restore a backup, or copy the memory to a new schema."
    )
    if unfinished:
        found = "the last one was interrupted: the tables are not vacuumed yet"
        advice = "Opening a store on it finishes it; run `langmemory doctor` once more."
        yield Check(state="warn", what="forgetting", found=found, advice=advice)
    yield from _given_up(dead)
    yield from _circles(rings)
    yield from _rules(rules)
    yield from _sparse(lacks)
    for one in findings:
        yield Check(state=one.state, what=one.what, found=one.found, advice=one.advice)


def _consistency(
    stats: Stats, problems: Sequence[str], advice: Callable[[str], str]
) -> Iterator[Check]:
    for problem in problems:
        yield Check(state="fail", what="consistency", found=problem, advice=advice(problem))
    if not problems:
        rows, vectors = (
            count_noun(stats.keywords, "keyword row"),
            count_noun(stats.vectors, "vector"),
        )
        yield Check(state="ok", what="consistency", found=f"{rows} and {vectors} agree with them")


def _given_up(dead: int) -> Iterator[Check]:
    if dead:
        advice = "`langmemory jobs` says why, `langmemory jobs --retry all` tries again."
        yield Check(state="warn", what="reflection", found=f"{dead} given up", advice=advice)


def _sparse(lacks: str | None) -> Iterator[Check]:
    if lacks is not None:
        advice = (
            "`langmemory.reencode(PATH, ENCODER)`, or `langmemory reembed` where the configuration names the "
            "encoder. Give the encoder to every program that writes."
        )
        yield Check(state="warn", what="sparse vectors", found=lacks, advice=advice)


def _circles(found: Sequence[Sequence[str]]) -> Iterator[Check]:
    for circle in found[:5]:
        ways = " requires ".join(circle)
        advice = "`langmemory graph NAME --unlink requires --to TARGET` ends one of these links."
        yield Check(state="warn", what="links", found=f"in a circle: {ways}", advice=advice)


def _rules(unreachable: Sequence[str]) -> Iterator[Check]:
    for rule in unreachable:
        found, _, advice = rule.partition(". ")
        yield Check(state="warn", what="lifecycle", found=found, advice=advice)


def _damages(path: str) -> list[str] | None:
    """Return every damaged row of a file that no store can open or count; None where nothing of it
    can be read."""
    from langmemory.engines.sqlite.rescue import rescued

    try:
        with rescued(path) as found:
            return [str(damage) for damage in found.damages]
    except LangMemoryError:
        return None


def _archive(config: Config) -> Iterator[Check]:
    """Check the archive file, if anything ever moved there."""
    from langmemory.engines.sqlite.engine import DAMAGED
    from langmemory.operations.maintaining import Maintaining
    from langmemory.stores import MemoryStore

    try:
        path = config.database.archive_of(config.database.path)
        with closing(MemoryStore(config.database.path, config=config, index=False)) as store:
            file, stats = Maintaining(store).archive, store.stats()
            problems = file.check()
            left = 0 if problems else file.leftovers()
    except LangMemoryError as error:
        yield Check(state="fail", what="archive", found=_line(error))
        return
    for problem in problems:
        advice = RESTORE if "SQLite" in problem or DAMAGED in problem else ""
        yield Check(state="fail", what="archive", found=problem, advice=advice)
    if left:
        found = f"{memories(left)} in both files: a move was interrupted, and nothing is lost"
        advice = "The next `langmemory maintain` deletes these copies from the archive file."
        yield Check(state="warn", what="archive", found=found, advice=advice)
    if stats.archived and not problems:
        yield Check(state="ok", what="archive", found=f"{path}: {memories(stats.archived)}")


def _unread_answers(config: Config) -> Iterator[Check]:
    """Whether the latest reflections could use what their model answered."""
    from langmemory.ports.facts import EXTRACTION_FAILED
    from langmemory.stores import MemoryStore

    try:
        with closing(MemoryStore(config.database.path, config=config, index=False)) as store:
            runs = store.changes.runs(limit=LATEST_RUNS)
    except LangMemoryError as error:
        yield Check(state="fail", what="reflection", found=_line(error))
        return
    failed = sum(EXTRACTION_FAILED in run.note.get("failures", ()) for run in runs)
    if failed:
        found = (
            f"{failed} of the last {count_noun(len(runs), 'run')} could use no answer of the model"
        )
        advice = (
            "Rules alone read them. `langmemory doctor --model NAME` measures how it can be asked."
        )
        yield Check(state="warn", what="reflection", found=found, advice=advice)


def _beside(config: Config) -> Iterator[Check]:
    """Check the files that the configuration puts beside the memory file."""
    if config.journal.path is not None:
        folder = Path(config.journal.path).absolute()
        there = next(one for one in (folder, *folder.parents) if one.exists())
        if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
            yield Check(state="ok", what="journal", found=str(folder))
        else:
            found = f"{there} is no folder that can be written to"
            advice = "Correct journal.path, then `langmemory journal --rebuild`."
            yield Check(state="warn", what="journal", found=found, advice=advice)


def _embedder(config: Config, path: str) -> Check:
    """Whether the configured embedder works and is the one the file's vectors come from; or what in
    the configuration keeps a store from being opened."""
    from langmemory.embeddings import resolve_embedder
    from langmemory.stores import MemoryStore

    try:
        with closing(MemoryStore(path, config=config)) as store:
            model, of_file = store.embeddings, store.stats().dims
        dims = len(resolve_embedder(model, config=config).embed_query("Does it work?"))
    except ConfigError as error:  # such as a preset that there is not
        return Check(state="fail", what="configuration", found=_line(error), advice="Correct it.")
    except EmbeddingModelMismatchError as error:
        advice = "All is well if your application passes that model itself; else langmemory reembed"
        return Check(state="fail", what="embedder", found=_line(error), advice=advice)
    except LangMemoryError as error:
        return Check(state="fail", what="embedder", found=_line(error))
    if of_file not in (None, dims):
        found = f"{config.models.dense} answers {dims} dimensions, the file's have {of_file}"
        return Check(state="fail", what="embedder", found=found, advice="langmemory reembed")
    return Check(
        state="ok", what="embedder", found=f"{config.models.dense} answers {dims} dimensions"
    )


def _chat_models(models: ModelsConfig) -> Iterator[Check]:
    """Whether those of other providers can be made here; whether they answer costs money to ask."""
    from langmemory.chat_models import named_chat_model
    from langmemory.recall.rerankers import is_reranker, named_reranker

    for key in CHAT_MODELS:
        name: str | None = getattr(models, key)
        if name is None or name.startswith(OLLAMA):
            continue
        try:
            if key == "rerank" and is_reranker(name):
                named_reranker(name)
            else:
                named_chat_model(name, models)
        except Exception as error:  # any provider's: a package, a key or the provider is missing
            advice = "Correct it, or set what it asks for."
            yield Check(state="fail", what=f"models.{key}", found=_line(error), advice=advice)
        else:
            yield Check(state="ok", what=f"models.{key}", found=name)


def _ollama(models: ModelsConfig) -> Iterator[Check]:
    from langmemory.cli.ollama import has_model, installed_models

    url = models.ollama_url
    named = {f"models.{key}": getattr(models, key) for key in CHAT_MODELS}
    named = {"models.embedding": models.dense, **named}
    wanted = {
        key: name.removeprefix(OLLAMA)
        for key, name in named.items()
        if name and name.startswith(OLLAMA)
    }
    found = installed_models(url)
    at = url or "its default address"
    if found is None:
        if not wanted:
            yield Check(state="ok", what="Ollama", found=f"does not answer at {at}; not needed")
            return
        needed = f"{', '.join(wanted)} {'needs' if len(wanted) == 1 else 'need'} it"
        advice = f"Start it with `ollama serve`; {needed}."
        yield Check(state="fail", what="Ollama", found=f"does not answer at {at}", advice=advice)
        return
    listed = ", ".join(found) or "no models"
    yield Check(state="ok", what="Ollama", found=f"answers at {at}: {listed}")
    for key, model in wanted.items():
        if has_model(found, model):
            yield Check(state="ok", what=key, found=f"{model} is installed")
        else:
            advice = f"ollama pull {model}"
            yield Check(state="fail", what=key, found=f"{model} is not installed", advice=advice)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def _print(checks: list[Check]) -> None:
    from rich.text import Text

    from langmemory.cli.screen import FOLD, WHOLE, Screen, facts_table

    table = facts_table(WHOLE, WHOLE, FOLD)
    for check in checks:
        detail = Text(check.found)
        if check.advice:
            detail.append(f"\n→ {check.advice}", STYLES[check.state])
        table.add_row(Text(check.state, STYLES[check.state]), check.what, detail)
    Screen().print(table)
