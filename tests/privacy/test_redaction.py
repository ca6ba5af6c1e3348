"""Credentials never reach the file: what is known as one, what is not, and on which paths."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore
from typer.testing import CliRunner

from langmemory import MemoryStore, build_chat_graph
from langmemory.cli.app import app
from langmemory.config import Config, PrivacyConfig
from langmemory.errors import ConfigError
from langmemory.nodes import MemoryState, RememberNode
from langmemory.redaction import Redacted, redact_credentials
from tests.tables import tables

CASES = tables(__file__)

NS = ("memories", "mia")

CREDENTIALS = CASES["credentials"]

ORDINARY = CASES["ordinary"]


def lines(text: str) -> list[str]:
    return [line.strip().replace("¶", "\n") for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    ("kind", "said"), [(kind, said) for kind, texts in CREDENTIALS.items() for said in lines(texts)]
)
def test_credentials_are_replaced_and_nothing_else(kind: str, said: str) -> None:
    """Of each credential only its own characters are replaced, by a placeholder that names its kind."""
    before, _, rest = said.partition("‹")
    after = rest.partition("›")[2]
    found = redact_credentials(said.replace("‹", "").replace("›", ""))
    assert found.text == f"{before}[redacted: {kind}]{after}"
    assert found.counts == {kind: 1}
    assert redact_credentials(found.text).text == found.text


@pytest.mark.parametrize("said", lines(ORDINARY))
def test_ordinary_text_stays(said: str) -> None:
    """Order numbers, telephone numbers, UUIDs, hashes, programs and talk about passwords stay."""
    assert redact_credentials(said) == Redacted(text=said)


PASSWORDS_TOLD = CASES["passwords_told"]
"""Invented passwords in `later-first.jsonl` and `typed-fit.jsonl`."""


def test_conversations_of_the_benchmarks_stay() -> None:
    """In all conversations of the repository nothing is taken for a credential but the passwords that
    two files tell."""
    folder = Path(__file__).parents[2] / "benchmarks" / "conversations"
    found = [
        said
        for file in sorted(folder.glob("*.jsonl"))
        for said in _texts([json.loads(line) for line in file.read_text("utf-8").splitlines()])
        if redact_credentials(said).counts
    ]
    assert len(found) == len(PASSWORDS_TOLD)
    assert all(map(str.__contains__, found, PASSWORDS_TOLD))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]


def stored(store: Any) -> str:
    return json.dumps([item.value for item in store.search((), limit=100)], ensure_ascii=False)


def test_remember_tells_what_it_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """`remember` stores the placeholder, in no index anything else, and tells how much it replaced:
    in what it returns and in the log, without the words."""
    caplog.set_level(logging.INFO, "langmemory")
    with MemoryStore(tmp_path / "memory.db") as store:
        said = [("user", "My password is hunter2, my card 4111 1111 1111 1111."), ("user", "Hi")]
        keys = store.remember(NS, said, thread_id="t")
        assert len(keys) == 2
        assert keys.redacted == {"password": 1, "card number": 1}
        assert store.remember(NS, said, thread_id="t") == []
        assert "[redacted: password], my card [redacted: card number]." in stored(store)
        assert [entry.after for entry in store.changes.history(NS, keys[0])]
    assert "card number=1, password=1" in caplog.text
    data = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for word in ("hunter2", "4111"):
        assert word.encode() not in data
        assert word not in caplog.text


async def test_the_hook_is_the_applications(tmp_path: Path) -> None:
    """An application passes its own function, or switches redaction off, by argument or configuration;
    where the function fails, nothing is stored."""

    def names(text: str) -> str:
        return text.replace("Olga", "somebody")

    with MemoryStore(tmp_path / "own.db", redact=names) as store:
        keys = await store.aremember(NS, [("user", "Olga's password is hunter2")], thread_id="t")
        assert keys.redacted == {"text": 1}
        assert "somebody's password is hunter2" in stored(store)
    off = Config(privacy=PrivacyConfig(redact=False))
    for number, options in enumerate(({"redact": False}, {"config": off})):
        with MemoryStore(tmp_path / f"off{number}.db", **options) as store:  # type: ignore[arg-type]
            assert (
                store.remember(NS, [("user", "My password is hunter2")], thread_id="t").redacted
                == {}
            )
            assert "hunter2" in stored(store)

    def fail(text: str) -> str:
        raise RuntimeError("no")

    with MemoryStore(tmp_path / "fail.db", redact=fail) as store:
        with pytest.raises(RuntimeError):
            store.remember(NS, [("user", "My password is hunter2")], thread_id="t")
        assert store.search(()) == []
    with pytest.raises(ConfigError, match="redact is 'yes'"):
        MemoryStore(tmp_path / "x.db", redact="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
@pytest.mark.parametrize("kind", ["ours", "plain"])
async def test_nodes_replace_them_in_any_store(tmp_path: Path, call: str, kind: str) -> None:
    """A graph stores placeholders in a `MemoryStore` and in any other store, once, and its state tells
    how much was replaced in the last run."""
    store: Any = MemoryStore(tmp_path / "memory.db") if kind == "ours" else InMemoryStore()
    builder = StateGraph(MemoryState)
    builder.add_node("remember", RememberNode(NS))
    builder.add_edge(START, "remember")
    graph = builder.compile(store=store, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t", "user_id": "mia"}}
    states = []
    for text in ("My password is hunter2", "Thanks", "And my IBAN is DE89370400440532013000"):
        said: Any = {"messages": [("user", text)]}
        states.append(
            graph.invoke(said, config) if call == "invoke" else await graph.ainvoke(said, config)
        )
    assert [state.get("redacted") for state in states] == [{"password": 1}, {}, {"IBAN": 1}]
    contents = sorted(item.value["content"] for item in store.search(NS))
    assert contents == [
        "And my IBAN is [redacted: IBAN]",
        "My password is [redacted: password]",
        "Thanks",
    ]


def test_an_edited_message_is_replaced_too(tmp_path: Path) -> None:
    """A credential in an edited message is replaced by a placeholder, too."""
    store = MemoryStore(tmp_path / "memory.db")
    builder = StateGraph(MemoryState)
    builder.add_node("remember", RememberNode(NS))
    builder.add_edge(START, "remember")
    graph = builder.compile(store=store, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    for text in ("My password is a secret", "My password is hunter2"):
        graph.invoke({"messages": [{"role": "user", "content": text, "id": "1"}]}, config)
    assert [i.value["content"] for i in store.search(NS)] == ["My password is [redacted: password]"]


def test_a_client_without_threads_says_it_once(tmp_path: Path) -> None:
    """A client that sends the whole conversation with each call, without a thread, stores a credential's
    placeholder once."""
    store = MemoryStore(tmp_path / "memory.db")
    graph = build_chat_graph(FakeListChatModel(responses=["Fine."]), namespace=NS, store=store)
    said: list[Any] = []
    for text in ("My password for everything at home is hunter2", "What is new?", "Bye"):
        said.append(("user", text))
        graph.invoke({"messages": said})
        said.append(("assistant", "Fine."))
    found = [item.value["content"] for item in store.search(NS, limit=50)]
    assert [text for text in found if "password" in text] == [
        "My password for everything at home is [redacted: password]"
    ]


def test_importers_replace_them(tmp_path: Path) -> None:
    """`langmemory import` stores placeholders and says how many."""
    file = tmp_path / "talk.jsonl"
    row = {"role": "user", "content": "My password is hunter2", "thread_id": "t"}
    file.write_text(json.dumps(row) + "\n")
    done = CliRunner().invoke(app, ["--db", str(tmp_path / "memory.db"), "import", str(file)])
    assert done.exit_code == 0, done.output
    assert "not stored: 1 password" in done.output
    with MemoryStore(tmp_path / "memory.db") as store:
        assert "[redacted: password]" in stored(store)
