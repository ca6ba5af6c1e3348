"""README and docs say what is so: their code runs, prints what they show, and their names exist.

The ``python`` blocks of a page run in order, in one module of their own and in an empty directory,
and so do the ``langmemory`` commands of a ``bash`` block with an output. Configurations (``json``)
are saved on the way as ``config/memory.json``. Output is the plain block that directly follows;
``...`` in it stands for anything on the line (times, ids), and a line of its own for any lines. A
block that prints has such an output, or the test fails.

A page may use without further ado, as its readers bring their own:

* ``model``: a scripted chat model that answers "Understood.";
* ``embeddings``: vectors of word hashes, 256 dims;
* an Ollama: a server on loopback that speaks its protocol and has every model;
* OpenAI and Anthropic, and their keys: a server on loopback that speaks their protocols, at
  ``server_url``.
"""

from __future__ import annotations

import ast
import json
import logging
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from inspect import signature
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest
import tiktoken
import typer.main
from langgraph_cli.cli import cli as langgraph_cli
from typer.testing import CliRunner

from langmemory.cli.app import app
from langmemory.config import ENVIRONMENT, Config
from langmemory.middleware import MemoryMiddleware
from langmemory.nodes import MemoryState
from langmemory.nodes.recall import NodeOptions
from langmemory.recall.presets import find_preset
from langmemory.recall_options import RecallOptions
from scripts import llms_page
from tests import postgres_server
from tests.ollama_server import OllamaServer
from tests.provider_server import Asked, ProviderServer
from tests.scripted import ScriptedModel, StreamingModel
from tests.stores_in_use import words

pytestmark = pytest.mark.sqlite("pages show files, and what is said of them")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^()\s#]*)(?:#(?P<anchor>[^()\s]+))?\)")
HEADING = re.compile(r"^#+ +(?P<title>.+)$", re.MULTILINE)
VARIABLES = {*ENVIRONMENT, "LANGMEMORY_CONFIG"}

NOTES = json.dumps(
    {
        "facts": [
            {
                "text": "Maria lives in Lisbon.",
                "kind": "fact",
                "evidence": ["t1"],
                "claims": [{"subject": "Maria", "relation": "lives_in", "object": "Lisbon"}],
            },
            {
                "text": "Maria has a cat called Tofu.",
                "kind": "fact",
                "evidence": ["t1"],
                "claims": [{"subject": "Maria", "relation": "has_pet", "object": "Tofu"}],
            },
        ],
        "summary": {"text": "Maria moved to Lisbon with her cat Tofu."},
    }
)
"""A model's extraction from the conversation on the providers' pages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    """Of its first line of text, 1-based."""
    language: str
    text: str
    output: str
    """The stated output: the plain block that directly follows, if there is one."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    fences = list(FENCE.finditer(text))
    found = []
    for fence, after in zip_longest(fences, fences[1:]):
        follows = after and not after["language"] and not text[fence.end() : after.start()].strip()
        found.append(
            Block(
                page=page,
                line=text.count("\n", 0, fence.start()) + 2,
                language=fence["language"],
                text=fence["text"],
                output=after["text"] if after and follows else "",
            )
        )
    return found


ALL = [block for page in PAGES for block in blocks(page)]


def those(language: str) -> pytest.MarkDecorator:
    """One test for each block in a language."""
    found = [block for block in ALL if block.language == language]
    return pytest.mark.parametrize("block", found, ids=lambda block: block.place)


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaServer]:
    with OllamaServer() as server:
        yield server


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderServer]:
    with ProviderServer(answer) as server:
        yield server


def answer(asked: Asked) -> str | None:
    """Return a provider model's answer on these pages, to people and to reflection."""
    if asked.schema is not None:
        return NOTES if "facts" in asked.schema["properties"] else None
    if not asked.last.startswith("Where do I live"):
        return "I hope you and Tofu feel at home there soon."
    if "Lisbon" in asked.system:
        return "You live in Lisbon, with your cat Tofu."
    return "You have not told me."


def bytes_as_tokens(*_: Any) -> tiktoken.Encoding:
    """OpenAI's client loads its table of tokens from the network; here a byte is a token."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    return tiktoken.Encoding("bytes", pat_str="(?s:.)", mergeable_ranks=ranks, special_tokens={})


@pytest.fixture
def database() -> Iterator[str]:
    """A schema of a server that has the roles of the page about PostgreSQL."""
    address, roles = postgres_server.fresh(), ("reporting", "maria_sql")
    import psycopg

    with psycopg.connect(postgres_server.url(), autocommit=True) as admin:
        for role in roles:
            admin.execute(f"CREATE ROLE {role}".encode())
        try:
            yield address
        finally:
            for role in roles:
                admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())
            postgres_server.drop(address)


@pytest.fixture
def reader(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ollama: OllamaServer,
    provider: ProviderServer,
) -> Iterator[None]:
    """Somebody who tries a page: an empty directory, no configuration, 100 columns."""
    monkeypatch.chdir(tmp_path)
    for name in (*VARIABLES, "LANGGRAPH_STORE", "LANGMEMORY_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_URL", ollama.url)
    for name, value in provider.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tiktoken, "encoding_for_model", bytes_as_tokens)
    monkeypatch.setattr(tiktoken, "get_encoding", bytes_as_tokens)
    monkeypatch.setenv("COLUMNS", "100")
    log = logging.getLogger("langmemory")
    level, handlers = log.level, log.handlers[:]
    environment = dict(os.environ)
    yield
    os.environ.clear()  # a page may set variables
    os.environ.update(environment)
    log.setLevel(level)
    log.handlers[:] = handlers


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.usefixtures("reader")
def test_a_page_does_what_it_shows(
    page: Path,
    monkeypatch: pytest.MonkeyPatch,
    provider: ProviderServer,
    request: pytest.FixtureRequest,
) -> None:
    """From top to bottom, every snippet runs and prints what the page says it prints."""
    if page.name == "postgres.md":
        database = request.getfixturevalue("database")
        monkeypatch.setenv("MEMORY_DB_PATH", database)
    module = ModuleType("page")
    citing = StreamingModel(otherwise="Ada does [R:1a2b3c4d].")
    server = f"{provider.url}/v1"
    vars(module).update(
        model=ScriptedModel(), citing_model=citing, embeddings=words(), server_url=server
    )
    monkeypatch.setitem(sys.modules, "page", module)  # where type hints are looked up
    for block in blocks(page):
        if block.language == "json":
            save_configuration(block)
            continue
        if block.language == "python":
            printed = run_python(block, module)
        elif block.language == "bash" and block.output:
            printed = run_commands(block)
        else:
            continue
        assert prints(block.output, printed), (
            f"{block.place} shows\n\n{block.output}\nand prints\n\n{printed}"
        )


@pytest.mark.usefixtures("reader")
def test_the_first_example_runs_again() -> None:
    """Whoever runs the README's first example a second time, on the same file, sees the same."""
    first = [block for block in blocks(ROOT / "README.md") if block.language == "python"][:2]
    for _ in range(2):
        module = ModuleType("example")
        for block in first:
            assert prints(block.output, run_python(block, module))
        module.store.close()


def save_configuration(block: Block) -> None:
    found = json.loads(block.text)
    if not (is_langgraph_json(found) or is_of_mcp_clients(found)):
        Path("config").mkdir(exist_ok=True)
        Path("config/memory.json").write_text(block.text, "utf-8")


def is_langgraph_json(found: dict[str, Any]) -> bool:
    return bool(found.keys() & {"graphs", "store"})


def is_of_mcp_clients(found: dict[str, Any]) -> bool:
    return found.keys() == {"mcpServers"}


def check_mcp_server(found: dict[str, Any]) -> None:
    """An entry starts our command, or names our endpoint."""
    if "command" in found:
        assert found["command"] == "langmemory"
        check_langmemory(found["args"])
    else:
        assert found["url"].partition("?")[0].endswith("/memory/mcp")
        assert found.keys() <= {"url", "headers"}


def run_python(block: Block, module: ModuleType) -> str:
    """Run the block and return what it prints; errors point at the line of the page."""
    code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
    with redirect_stdout(StringIO()) as printed:
        exec(code, vars(module))
    return printed.getvalue()


def run_commands(block: Block) -> str:
    """Run the block's `langmemory` commands and return what they print."""
    printed = ""
    for program, *arguments in commands(block):
        assert program == "langmemory", f"{block.place}: only langmemory is run for its output"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{block.place}: {result.output}{result.exception!r}"
        printed += result.output
    return printed


def prints(shown: str, printed: str) -> bool:
    """Whether a page's output is what was printed, white space at line ends aside."""
    pattern = "".join(
        "(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
        for line in map(str.rstrip, shown.splitlines())
    )
    plain = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern, plain) is not None


def commands(block: Block) -> list[list[str]]:
    """The words of each command of a bash block; `NAME=value` before one is checked here."""
    found = []
    for line in block.text.replace("\\\n", " ").splitlines():
        words_of_line = shlex.split(line, comments=True)
        while words_of_line and re.match(r"\w+=", words_of_line[0]):
            name = words_of_line.pop(0).partition("=")[0]
            assert name in VARIABLES, f"{block.place}: nothing reads {name}"
        if words_of_line:
            found.append(words_of_line)
    return found


def check_langmemory(arguments: list[str]) -> None:
    """The command is there, and so are its options, and those of all commands that stand before it."""
    command: Any = typer.main.get_command(app)
    while arguments and arguments[0] in ("--db", "-n", "--namespace"):
        arguments = arguments[2:]
    for name in arguments:
        if name == "--help" or not hasattr(command, "commands"):
            break
        context = command.make_context(name, [], resilient_parsing=True)
        command = command.get_command(context, name)  # some are made when they are asked for
        assert command is not None, f"no command {name!r}"
    options = {name for parameter in command.params for name in parameter.opts}
    used = {word.partition("=")[0] for word in arguments if word.startswith("-")}
    assert used <= {*options, "--help"}


def check_make(targets: list[str]) -> None:
    known = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(targets) <= set(known)


def check_pip(arguments: list[str]) -> None:
    """A page installs this project, with extras it has, or packages it is tested with."""
    if arguments == ["install", "-r", "requirements.txt"]:
        return
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    known = {re.split(r"[<>=]", each)[0] for each in [*project["dependencies"], *extras["dev"]]}
    for place in (".", project["name"]):
        known |= {place, *(f"{place}[{extra}]" for extra in extras)}
    assert arguments[0] == "install"
    assert set(arguments[1:]) <= known


def check_python(arguments: list[str]) -> None:
    """A module of ours is run."""
    assert arguments[0] == "-m"
    assert (ROOT / arguments[1].replace(".", "/")).with_suffix(".py").exists()


def check_langgraph(arguments: list[str]) -> None:
    assert arguments[0] in langgraph_cli.commands


def check_claude(arguments: list[str]) -> None:
    """Claude Code is told to start our command, where our endpoint is, or what our plugin is called."""
    if arguments[0] == "plugin":
        assert arguments[1:3] == ["marketplace", "add"] or arguments[2] == "langmemory@langmemory"
        return
    assert arguments[:2] == ["mcp", "add"]
    if "--" in arguments:
        command, *words = arguments[arguments.index("--") + 1 :]
        check_mcp_server({"command": command, "args": words})
    else:
        assert arguments[2:4] == ["--transport", "http"]
        check_mcp_server({"url": arguments[5]})


def check_docker(arguments: list[str]) -> None:
    """What runs in the image is our command; options of docker are not ours to check."""
    words = arguments[1:]
    if arguments[0] in ("run", "exec") and "langmemory" in words:
        check_langmemory(words[words.index("langmemory") + 1 :])


def check_nothing(arguments: list[str]) -> None:
    """Not ours to check."""


PROGRAMS: dict[str, Callable[[list[str]], None]] = {
    "langmemory": check_langmemory,
    "make": check_make,
    "pip": check_pip,
    "python": check_python,
    "langgraph": check_langgraph,
    "ollama": check_nothing,
    "cd": check_nothing,
    "export": check_nothing,
    "docker": check_docker,
    "claude": check_claude,
}


@those("bash")
def test_commands_exist(block: Block) -> None:
    """Every command, option, target and package on a page exists."""
    for program, *arguments in commands(block):
        PROGRAMS[program](arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_text_exist(page: Path) -> None:
    """So is what a page mentions in passing."""
    for code in re.findall(r"`([^`\n]+)`", FENCE.sub("", page.read_text("utf-8"))):
        program, *arguments = code.split()
        if arguments and program in ("langmemory", "make", "langgraph"):
            PROGRAMS[program](arguments)


def state_keys(state: type[Any]) -> set[str]:
    return set(get_type_hints(state)) - {"messages"}


@pytest.mark.parametrize(
    ("page", "heading", "names"),
    [
        ("reference/recall.md", "option", set(RecallOptions.__annotations__)),
        (
            "how-to/agents.md",
            "argument",
            {*signature(MemoryMiddleware).parameters, *NodeOptions.__annotations__} - {"options"},
        ),
        ("reference/nodes.md", "key", state_keys(MemoryState)),
    ],
)
def test_tables_are_complete(page: str, heading: str, names: set[str]) -> None:
    """A table of options, arguments or keys has all there are, and no other."""
    _, _, table = (DOCS / page).read_text("utf-8").partition(f"| {heading} |")
    rows = re.match(r".*\n\|[-|]+\|\n((?:\|.*\n)+)", table)
    assert rows
    listed = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in rows[1].splitlines()]
    assert {name for row in listed for name in row} == names


@those("json")
def test_json_is_accepted(block: Block) -> None:
    """A JSON block is a configuration, recall presets included, or a langgraph.json of files that
    are in this repository."""
    found = json.loads(block.text)
    if is_of_mcp_clients(found):
        for server in found["mcpServers"].values():
            check_mcp_server(server)
        return
    if is_langgraph_json(found):
        paths = [graph["path"] for graph in found.get("graphs", {}).values()]
        for path in (*paths, found["store"]["path"]):
            file, _, name = path.partition(":")
            assert re.search(rf"\b{name}\b", (ROOT / file).read_text("utf-8")), path
        return
    config = Config.model_validate(found)
    for name in config.recall.presets:
        find_preset(name, config)


@those("diff")
def test_a_diff_leads_from_code_to_code(block: Block) -> None:
    """Both sides of a diff are Python, and what its new lines import is there."""
    lines = block.text.splitlines()
    for sign in "-+":
        ast.parse("\n".join(line[1:] for line in lines if line[:1] in ("", " ", sign)))
    for line in lines:
        if re.match(r"\+(from|import) ", line):
            exec(line[1:], {})


def test_links_lead_somewhere() -> None:
    """Relative links name files that are there, and headings that are in them."""
    broken = []
    for page in PAGES:
        for link in LINK.finditer(FENCE.sub("", page.read_text("utf-8"))):
            if "://" in link["target"]:
                continue
            target = (page.parent / link["target"]).resolve() if link["target"] else page
            if not target.exists() or (link["anchor"] and link["anchor"] not in anchors(target)):
                broken.append(f"{page.relative_to(ROOT)}: {link[0][2:-1]}")
    assert not broken


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them."""
    text = FENCE.sub("", page.read_text("utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading["title"].lower()).replace(" ", "-")
        for heading in HEADING.finditer(text)
    }


@pytest.mark.parametrize("index", ["README.md", "decisions/README.md"])
def test_an_index_lists_every_page(index: str) -> None:
    """No page is reachable only by those who know its name: decisions are on a page of their own."""
    page = DOCS / index
    listed = {
        (page.parent / link["target"]).resolve() for link in LINK.finditer(page.read_text("utf-8"))
    }
    decisions = {one for one in PAGES if one.parent.name == "decisions"}
    pages = {one for one in PAGES if DOCS in one.parents}
    wanted = decisions if page in decisions else pages - decisions | {DOCS / "decisions/README.md"}
    assert wanted - {page} <= listed


def test_models_are_told_of_every_page() -> None:
    """``llms.txt`` is as its script writes it: ``python -m scripts.llms_page``."""
    assert llms_page.PAGE.read_text("utf-8") == llms_page.written()


def test_output_is_compared_line_by_line() -> None:
    """The comparison sees a changed, a missing and an added line, and lets only ellipses pass."""
    assert prints("a\nb ... c\n...\nz\n", "a\nb 12 ms c\nx\ny\nz\n")
    assert prints("", "")
    assert not prints("", "a\n")
    assert not prints("a\n", "a\nb\n")
    assert not prints("a\nb\n", "a\n")
    assert not prints("a\n", "A\n")


def test_the_image_is_built_of_files_that_are_there() -> None:
    """What the Dockerfile copies exists and gets past .dockerignore, is all that the build needs, and the
    command that the image runs exists."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    words = [line.split() for line in lines if line.startswith("COPY ") and "--from" not in line]
    copied = {name for _, *names, _ in words for name in names}
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {f"!{name}" for name in copied} == {one for one in ignored if one.startswith("!")}
    assert all((ROOT / name).exists() for name in copied)
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)
    needed = {project["project"]["readme"], *project["project"]["license-files"]}
    needed |= set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"])
    assert {name.partition("/")[0] for name in needed} <= copied
    command = next(line.removeprefix("CMD ") for line in lines if line.startswith("CMD "))
    check_langmemory(json.loads(command))


def test_the_services_of_the_compose_file_run_commands_that_exist() -> None:
    """compose.yaml can be read, what its services depend on is there, and their commands exist."""
    import yaml

    found = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    assert set(found) == {"services", "volumes"}
    services = found["services"]
    assert set(services) == {"database", "server", "worker"}
    for name in ("server", "worker"):
        assert set(services[name]["depends_on"]) <= set(services)
        check_langmemory(services[name]["command"])
        assert services[name]["environment"]["MEMORY_DB_PATH"].startswith("postgresql://")
    assert {one.partition(":")[0] for one in services["database"]["volumes"]} == set(
        found["volumes"]
    )
