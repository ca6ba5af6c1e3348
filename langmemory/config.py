"""Config: every setting of langmemory, read from ``config/memory.json``, then the environment.

The model below is the one place where a setting has its unit, range and default;
``docs/configuration.md`` is printed from it by ``python -m langmemory.config``.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from langmemory.addresses import display_address, is_server
from langmemory.docstrings import docstrings_of
from langmemory.errors import ConfigError
from langmemory.types import SearchMode

DEFAULT_FILE = Path("config/memory.json")

MIB = 1024 * 1024
DAY_SECONDS = 86_400
CENTURY_SECONDS = 36_500 * DAY_SECONDS
"""More than anybody means to wait, and a time that the file can still express."""

FilePath = Annotated[str, Field(min_length=1), AfterValidator(os.path.expanduser)]
ModelName = Annotated[str, Field(pattern=r"^[^\s:]+:\S+$")]
WITH_SPARSE = r"^(static|mock|[^\s:]+:\S+) \+ splade(:\S+)?$"
WithSparse = Annotated[str, Field(pattern=WITH_SPARSE)]


class Section(BaseModel):
    """The base of all sections: no unknown key, no silent conversion, no change after reading."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True
    )


class DatabaseConfig(Section):
    """Where memory is kept and how the database treats it."""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, display_address(value) if name == "path" else value  # without a password

    path: FilePath = "memory.db"
    """The memory file; a relative path starts at the working directory. `":memory:"` keeps everything in the
    process. `postgresql://user:password@host/database?schema=name` is a schema of a PostgreSQL server (extra
    `postgres`)."""
    archive_path: FilePath | None = None
    """The file that archived memories move to after `lifecycle.archive_after_days`; null puts it beside the
    memory file: `memory.archive.db` beside `memory.db`. Each memory file needs one of its own. From
    `:memory:` nothing moves. `recall(include_archive=True)`, `restore`, `export` and `forget` reach what is
    in it."""
    synchronous: Literal["full", "normal"] = "full"
    """`full` survives a power cut with every acknowledged write; `normal` survives a killed process, may lose
    the last writes in a power cut, and writes faster."""
    busy_timeout_ms: Annotated[int, Field(ge=0, le=600_000)] = 5_000
    """Milliseconds a write waits for another process's write to finish."""

    def archive_of(self, path: str) -> str | None:
        """Return the archive file of a memory file; None for a memory that has none.

        Raises:
            ConfigError: They would be one file.
        """
        if path == ":memory:" or is_server(path):
            return None
        file = os.path.realpath(os.path.expanduser(path))
        stem, suffix = os.path.splitext(file)
        beside = f"{stem}.archive{suffix}"
        found = os.path.realpath(os.path.expanduser(self.archive_path or beside))
        if found == file:
            raise ConfigError(
                f"database.archive_path is the memory file itself, {file}. Name another file, or none."
            )
        return found


class EngineConfig(DatabaseConfig):
    """The section `database`, with what only a program sets."""

    readers: Annotated[int, Field(ge=1, le=64)] = 8
    """Idle reading connections kept open in one process."""
    quantized_index_bytes: Annotated[int, Field(ge=0)] = 256 * MIB
    """Bytes of memory for the quantized index of vectors, per file and process; above it a search streams the
    index from the file."""
    vector_copy_bytes: Annotated[int, Field(ge=0)] = 64 * MIB
    """Bytes of memory for a copy of the vectors; 0 makes none."""
    word_copy_bytes: Annotated[int, Field(ge=0)] = 128 * MIB
    """Bytes of memory for a copy of the keyword index; 0 makes none."""

    @classmethod
    def of(cls, settings: DatabaseConfig, **defaults: Any) -> EngineConfig:
        """Return the settings with the defaults of the rest, of which an engine has some of its own."""
        return settings if isinstance(settings, cls) else cls(**defaults, **settings.model_dump())


DEFAULT_DATABASE = DatabaseConfig()
"""How SQLite treats a file that is opened without a configuration."""


class TokenPrice(Section):
    """The price of a model, in US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class ModelsConfig(Section):
    """Which models are used. Model names stand nowhere else."""

    embedding: Literal["static", "e5", "mock"] | ModelName | WithSparse = "static"
    """Model that turns text into vectors, unless the application passes its own: `static` (embedded, no
    server), `e5` (multilingual-e5-small, extra `multilingual`), `mock` (hashes, for tests) or
    `"provider:model"`, such as `"ollama:nomic-embed-text"`. With a sparse encoder beside it: `"static +
    splade:MODEL"` (extra `rerank`)."""
    deep: ModelName | None = None
    """Chat model for reflection and hard questions, as `"provider:model"`; null works by rules."""
    fast: ModelName | None = None
    """Chat model for conversation, and for the question whether two names reflection meets are one, as
    `"provider:model"`; null means none."""
    ollama_url: Annotated[str | None, Field(pattern=r"^https?://\S+$")] = None
    """Where Ollama answers; null uses its client's own default (`OLLAMA_HOST`, else
    `http://127.0.0.1:11434`)."""
    ollama_context_tokens: Annotated[int, Field(ge=16_000)] = 16_384
    """Tokens of the window asked of an Ollama chat model, whose own default (about 4,000) silently cuts off
    what memory puts in front; more takes more of the GPU's memory."""
    rerank: ModelName | None = None
    """Chat model that has the last word on the order of a recall, as `"provider:model"`, or a reranker, as
    `"bge:BAAI/bge-reranker-v2-m3"` (also `cross-encoder:`, `colbert:`; extra `rerank`); null asks none. An
    application may pass its own reranker instead."""
    expand: ModelName | None = None
    """Chat model that says a query in other words when a recall found little, as `"provider:model"`; null
    asks none."""
    chat_timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = 120.0
    """Seconds to wait for an Ollama chat model to go on answering."""

    def ollama_options(self, timeout_seconds: float) -> dict[str, Any]:
        """Return where LangChain's models of Ollama ask, and how. Nothing ever closes their clients, so these
        keep no connection open between calls."""
        import httpx

        limits = httpx.Limits(max_connections=100, max_keepalive_connections=0)
        client = {"timeout": timeout_seconds, "limits": limits}
        return {"base_url": self.ollama_url, "client_kwargs": client}

    mock_embeddings: bool = False
    """Replace every embedding model by `mock`, also one the application passes."""

    prices: dict[str, TokenPrice] = Field(default_factory=dict)
    """What a million tokens of a chat model cost in US dollars, by the model's name: `{"gpt-4.1-mini":
    {"input": 0.4, "output": 1.6}}`. With it, `langmemory runs` shows what a reflection cost. A model that
    reports its own cost needs none."""

    @property
    def dense(self) -> str:
        """The embedding model without a sparse encoder beside it."""
        return self.embedding.partition(" + ")[0]

    @property
    def sparse(self) -> str | None:
        """The sparse encoder beside the embedding model, if there is one."""
        name = self.embedding.partition(" + ")[2]
        return None if self.mock_embeddings else name or None


BUILT_IN_PRESETS = ("fast", "balanced", "thorough")
"""Recall presets that are there without configuration: those of `langmemory.recall.presets`."""


class SearchConfig(Section):
    """How a search ranks."""

    mode: SearchMode = "hybrid"
    """Rank by vectors and words, or one of them."""
    passage_characters: Annotated[int | None, Field(ge=100, le=100_000)] = 500
    """A text more than half as long again is also embedded in passages of about so many characters, and found
    by the best of them; null embeds it whole only. Holds for what is written from then on, and for everything
    after `langmemory reembed`."""


class TTLConfig(Section):
    """When items expire; the keys are those of LangGraph's `TTLConfig`."""

    default_ttl: Annotated[float | None, Field(gt=0, le=525_600_000)] = (
        None  # a thousand years, as a single put takes it
    )
    """Minutes until what is put or remembered expires; null means never."""
    refresh_on_read: bool = True
    """Reading an item restarts its time to live."""


class RecallConfig(Section):
    """How much work a recall may do."""

    preset: Annotated[str, Field(min_length=1)] = "balanced"
    """Set of recall options used when a call names none: `fast`, `balanced`, `thorough` or one of
    `presets`."""
    presets: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options to override, by preset and option name; another name is a preset of your own."""
    min_score: Annotated[float, Field(ge=0, le=1)] | Literal["auto"] | None = "auto"
    """Lowest probability with which the block of a prompt, and `recall` over MCP, show a memory where the
    call names none: `"auto"` is the gate, null shows whatever is found."""
    prompt_log: Literal["off", "figures", "texts"] = "figures"
    """What is kept of each memory block that a model got: `figures` are time, namespace, tokens and
    milliseconds; `texts` also the question and the block, which `forget` searches too; `off` is nothing."""


class ReflectionConfig(Section):
    """How conversations become knowledge, and how the queue of reflections is worked on."""

    batch_tokens: Annotated[int, Field(ge=1)] = 2_000
    """Tokens of conversation, approximately, that one call of the model reads."""
    debounce_seconds: Annotated[float, Field(ge=0, le=CENTURY_SECONDS)] = 30
    """Seconds after the last turn of a conversation until it is reflected."""
    max_debounce_seconds: Annotated[float, Field(ge=0, le=CENTURY_SECONDS)] = 600
    """Seconds after the first turn that waits, at which it is reflected however lively the conversation
    is."""
    max_attempts: Annotated[int, Field(ge=1)] = 10
    """Attempts until a failing job is given up (`langmemory jobs` retries it); after about two hours."""


class WorkConfig(ReflectionConfig):
    """As `ReflectionConfig`, with what only a program sets, by `WorkOptions`."""

    job_timeout_seconds: Annotated[float, Field(gt=0, le=CENTURY_SECONDS)] = 3_600
    """Seconds after which a job that still runs is given up: its lease is not renewed any more."""
    retention_days: Annotated[float, Field(gt=0)] = 7
    """Days that done and replaced jobs are kept."""
    retry_initial_seconds: Annotated[float, Field(gt=0, le=CENTURY_SECONDS)] = 15
    """Seconds until a failed job is tried again; doubled after each further failure."""
    retry_max_seconds: Annotated[float, Field(gt=0, le=CENTURY_SECONDS)] = 3_600
    """Seconds between two attempts at most."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.2
    """Share by which these delays are longer or shorter by chance, so that many jobs do not return at
    once."""
    lease_seconds: Annotated[float, Field(gt=0, le=DAY_SECONDS)] = 60
    """Seconds a job of a worker that died is left alone; a living one renews its lease three times in
    them."""
    poll_seconds: Annotated[float, Field(gt=0, le=DAY_SECONDS)] = 1
    """Seconds between two looks for jobs of other processes."""


class PrivacyConfig(Section):
    """Options for what is kept out of memory, or from others."""

    redact: bool = True
    """Replace credentials in what is remembered (keys, tokens, passwords, card numbers, IBANs) by
    placeholders before it is stored. An application may pass `redact=` its own function."""
    confidences: bool = True
    """Keep what somebody asks to keep to themselves, what they tell of their health or money, and surprises
    they plan private to them, by rule; each time in a run that can be undone."""


Ages = Literal["default", "habitual", "episodic", "semantic", "procedural", "archival", "resource"]
"""Temporal classes that fade, and kinds of derived memories. No derived memory is of kind ``episodic``."""
HalfLife = Annotated[float, Field(gt=0, le=36_500)]


class LifecycleConfig(Section):
    """How memory ages. The other numbers of the rules are those of
    `langmemory.lifecycle.policies.PolicyOptions`, which a program sets."""

    half_life_days: HalfLife | dict[Ages, HalfLife] = 60
    """Days after which half of the retention of an unused memory is left. Each use adds 15 %, a person's
    confirmation doubles it; timeless facts (birthdays, kin, allergies) and pinned memories keep all, plans
    and visits fade twice as fast once they are over. An object names the days of some classes and kinds:
    `{"default": 60, "episodic": 30, "procedural": 365}`."""
    unused_days: Annotated[float, Field(gt=0)] = 90
    """Days without a use, or a mention, after which a derived memory gets the priority `archive`: only a
    search finds it."""
    max_facts: Annotated[int | None, Field(ge=1)] = 50_000
    """Derived memories that a namespace may keep; the least salient are archived, at most 5 % in a night.
    null means no limit."""
    archive_after_days: Annotated[float | None, Field(ge=0)] = 180
    """Days after which an archived memory moves to the archive file; null never moves any."""
    max_reviews: Annotated[int, Field(ge=0)] = 5
    """Questions about fading memories of a namespace that may wait for an answer at a time."""
    task_seconds: Annotated[float, Field(gt=0)] = 600
    """Seconds that one task of a night may take."""
    task_model_calls: Annotated[int, Field(ge=0)] = 20
    """Calls of a model that one task of a night may make."""
    memory_page_tokens: Annotated[int, Field(ge=100)] = 1_500
    """Tokens that `MEMORY.md` may have, approximately."""
    journal: Literal["distilled", "full"] = "distilled"
    """What stands in the journal for a month that is over: one page with its summary and themes, with its
    days in `archive/`, or its days."""
    notes: bool = False
    """Give new memories keywords, tags and links to their nearest."""


class JournalConfig(Section):
    """The daily pages for people."""

    path: FilePath | None = None
    """Folder of the journal: one Markdown file a day and namespace, with what was said in it. New pages and
    folders are readable by whoever runs the process; null writes none."""


class TracingConfig(Section):
    """Text in traces of LangSmith and OpenTelemetry, where they are switched on."""

    texts: bool = False
    """Put the query and the recalled texts into the spans of recall. Without it spans hold counts, ids and
    times only."""


class Config(Section):
    """All settings. `Config()` is the defaults; `load_config` reads file and environment."""

    database: DatabaseConfig = DatabaseConfig()
    models: ModelsConfig = ModelsConfig()
    search: SearchConfig = SearchConfig()
    ttl: TTLConfig = TTLConfig()
    recall: RecallConfig = RecallConfig()
    reflection: ReflectionConfig = ReflectionConfig()
    lifecycle: LifecycleConfig = LifecycleConfig()
    privacy: PrivacyConfig = PrivacyConfig()
    journal: JournalConfig = JournalConfig()
    tracing: TracingConfig = TracingConfig()


ENVIRONMENT: dict[str, tuple[str, str]] = {
    "MEMORY_DB_PATH": ("database", "path"),
    "MEMORY_ARCHIVE_DB_PATH": ("database", "archive_path"),
    "OLLAMA_URL": ("models", "ollama_url"),
    "MOCK_EMBEDDINGS": ("models", "mock_embeddings"),
    "LANGMEMORY_TRACE_TEXTS": ("tracing", "texts"),
}
"""Environment variable → the key it overrides. An empty variable counts as not set."""


def load_config(
    path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None
) -> Config:
    """Read the settings: defaults, then the file, then the environment.

    Args:
        path: The JSON file; else `LANGMEMORY_CONFIG`, else `config/memory.json` if there is one.
        environ: Environment variables; the process's own if not given.

    Raises:
        ConfigError: A named file is missing or not JSON, a key is unknown, a value not allowed.
    """
    environ = os.environ if environ is None else environ
    named = path or environ.get("LANGMEMORY_CONFIG") or None
    file = Path(os.path.expanduser(named)) if named else DEFAULT_FILE
    raw = _read(file) if named or file.is_file() else {}
    try:
        settings = Config.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(_explain(error, str(file))) from error
    _check_presets(settings, str(file))
    for variable, (section, key) in ENVIRONMENT.items():
        if text := environ.get(variable):
            settings = _override(settings, section, key, text, variable)
    return settings


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))  # Windows editors write its mark
    except OSError as error:
        raise ConfigError(
            f"Cannot read the configuration {file}: {error.strerror}. "
            "Correct LANGMEMORY_CONFIG or the path, or leave both out to use the defaults."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file} is not a JSON file: {error}.") from error


def _check_presets(settings: Config, source: str) -> None:
    """Refuse the name of a preset that is neither built in nor among `recall.presets`."""
    known = sorted({*BUILT_IN_PRESETS, *settings.recall.presets})
    if settings.recall.preset not in known:
        raise ConfigError(
            f"{source}: recall.preset: there is no recall preset {settings.recall.preset!r}. "
            f"Known: {', '.join(known)}."
        )


def check_work(values: Mapping[str, Any], source: str) -> None:
    """Refuse what `WorkConfig` does not allow.

    Raises:
        ConfigError: One line for each value that is not allowed; it begins with the ``source``.
    """
    try:
        WorkConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_explain(error, source, prefix=("reflection",))) from error


_BOOLEANS = {"1": True, "true": True, "0": False, "false": False}


def _override(settings: Config, section: str, key: str, text: str, variable: str) -> Config:
    part: Section = getattr(settings, section)
    value: Any = text
    if type(part).model_fields[key].annotation is bool:
        if text.lower() not in _BOOLEANS:
            raise ConfigError(
                f"environment variable {variable} is {text!r}; allowed: {', '.join(_BOOLEANS)}."
            )
        value = _BOOLEANS[text.lower()]
    try:
        changed = type(part).model_validate({**part.model_dump(), key: value})
    except ValidationError as error:
        where = f"environment variable {variable}"
        raise ConfigError(_explain(error, where, prefix=(section,))) from error
    return settings.model_copy(update={section: changed})


def _explain(error: ValidationError, source: str, prefix: tuple[str, ...] = ()) -> str:
    """One line for each setting that is wrong: where, which key, which value, what is allowed."""
    lines: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        path = prefix + tuple(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            known = _keys(*path[:-1])
            near = difflib.get_close_matches(path[-1], known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            key = ".".join(path)
            lines[key] = f"{source}: unknown key {key!r}; {hint}Known: {', '.join(known)}."
        else:
            # Below "section.key" pydantic appends the names of a union's alternatives.
            key = ".".join(path[:2]) or "the file"
            value = json.dumps(detail["input"], default=repr)
            lines[key] = f"{source}: {key} is {value}; allowed: {_describe_allowed(*path[:2])}."
    return "\n".join(lines.values())


def _sections() -> dict[str, type[Section]]:
    return {name: field.annotation for name, field in Config.model_fields.items()}  # type: ignore[misc]


def _keys(section: str | None = None) -> list[str]:
    """Names of the sections, or of the keys in one."""
    return list(_sections()[section].model_fields if section else Config.model_fields)


def _describe_allowed(section: str | None = None, key: str | None = None) -> str:
    """Describe what a setting, a section or the whole file may be, in words."""
    if section is None or key is None:
        return f"an object with {', '.join(_keys(section))}"
    model = WorkConfig if section == "reflection" else _sections()[section]
    return _describe(model.model_json_schema()["properties"][key])


def _describe(schema: Mapping[str, Any]) -> str:
    """A JSON schema in words: ``integer, 0 to 600000, or null``."""
    if "anyOf" in schema:
        return ", or ".join(_describe(option) for option in schema["anyOf"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return ", ".join(json.dumps(value) for value in schema["enum"])
    words = [str(schema.get("type", "object" if "$ref" in schema else "any value"))]
    if isinstance(schema.get("additionalProperties"), dict):
        values = _describe(schema["additionalProperties"])
        words = ["object of objects" if values == "object" else f"object; each value a {values}"]
        if "enum" in (keys := schema.get("propertyNames", {})):
            words.append(f"keys {_describe(keys)}")
    low, high = schema.get("minimum"), schema.get("maximum")
    above = schema.get("exclusiveMinimum")
    if above is not None:
        words.append(f"above {above:g}")
    if low is not None and high is not None:
        words.append(f"{low} to {high}")
    elif low is not None:
        words.append(f"{low} or more")
    elif high is not None:
        words.append(f"at most {high}")
    if "minLength" in schema:
        words.append("not empty")
    if "pattern" in schema:
        words.append(_PATTERNS.get(schema["pattern"], schema["pattern"]))
    return ", ".join(words)


_PATTERNS = {
    r"^[^\s:]+:\S+$": 'as `"provider:model"`',
    WITH_SPARSE: 'as `"model + splade:MODEL"`',
    r"^https?://\S+$": "as `http://host:port`",
}


def _row(section: str, name: str, field: FieldInfo, meaning: str) -> str:
    default = json.dumps(field.get_default(call_default_factory=True))
    variables = [v for v, place in ENVIRONMENT.items() if place == (section, name)]
    allowed = _describe_allowed(section, name)
    cells = [f"`{name}`", allowed, f"`{default}`", " ".join(meaning.split()), *variables]
    if not variables:
        cells.append("")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def markdown() -> str:
    """The reference of all settings, as `docs/configuration.md` holds it."""
    parts = [_INTRODUCTION]
    for name, section in _sections().items():
        doc = (section.__doc__ or "").strip()
        texts = docstrings_of(section.__module__)[section.__name__]
        rows = [_row(name, key, field, texts[key]) for key, field in section.model_fields.items()]
        head = "| key | allowed | default | meaning | environment |\n|---|---|---|---|---|"
        parts.append("\n".join([f"## `{name}`", "", doc, "", head, *rows]))
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = """\
# Configuration

<!-- Printed by `python -m langmemory.config`; change `langmemory/config.py`, not this file. -->

Settings are read from the JSON file that `LANGMEMORY_CONFIG` names, else from `config/memory.json`
under the working directory if there is one; whatever it leaves out has the default below. Then the
environment variables in the last column override the file; an empty variable counts as not set.
An unknown key or a value that is not allowed is an error that names both. What an application
passes to `MemoryStore` itself wins over all of it."""


if __name__ == "__main__":
    print(markdown(), end="")
