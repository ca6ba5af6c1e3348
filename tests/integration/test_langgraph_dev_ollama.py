"""`langgraph dev` with a model behind Ollama's protocol: tools, core memory, streaming, failures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from tests.integration.langgraph_server import copy_project, langgraph_dev
from tests.ollama_server import OllamaServer, Reply, ToolCall

REPOSITORY = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.integration,
    pytest.mark.thorough,
    pytest.mark.xdist_group("langgraph-dev-ollama"),
]  # one server


@dataclass
class Served:
    """A running application and the model behind it."""

    client: SyncLangGraphClient
    ollama: OllamaServer

    def say(self, text: str, user: str) -> Any:
        return self.client.runs.wait(
            self.client.threads.create()["thread_id"],
            "chat",
            input={"messages": [{"role": "user", "content": text}]},
            context={"user_id": user},
        )

    def system(self) -> str:
        """The system message of the last request the model got."""
        return str(self.ollama.chats()[-1]["messages"][0]["content"])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    project = copy_project(REPOSITORY, tmp_path_factory.mktemp("project"))
    config = project / "config" / "memory.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(json.dumps({"models": {"fast": "ollama:llama3.1"}}))
    with OllamaServer() as ollama:
        environ = {
            "MEMORY_DB_PATH": str(project / "memory.db"),
            "OLLAMA_URL": ollama.url,
            "LANGMEMORY_CONFIG": str(config),
            "PYTHONPATH": str(REPOSITORY),
        }
        with langgraph_dev(project, environ) as url, get_sync_client(url=url) as client:
            yield Served(client, ollama)


def test_the_model_writes_core_memory_and_sees_it_in_every_thread(served: Served) -> None:
    """A tool call of the model edits the user's core memory, shown in the user's next thread, and
    in nobody else's."""
    served.ollama.script(
        Reply(
            tool_calls=[
                ToolCall("core_memory_append", {"block": "human", "content": "Plays the cello"}),
                ToolCall("core_memory_append", {"block": "nonsense", "content": "x"}),
            ]
        ),
        "Noted.",
    )
    state = served.say("I play the cello.", "anna")
    assert [message["type"] for message in state["messages"]] == [
        "human",
        "ai",
        "tool",
        "tool",
        "ai",
    ]
    assert "Correct them and call again" in state["messages"][3]["content"]

    state = served.say("Hello", "anna")
    assert "| Plays the cello" in served.system()
    assert "Plays the cello" in state["core_memory"]
    served.say("Hello", "bert")
    assert "cello" not in served.system()


def test_the_answer_streams_word_by_word(served: Served) -> None:
    """A client sees the words as the model writes them, and the budget report at the end."""
    served.ollama.script("one two three four five")
    words: list[str] = []
    updates: dict[str, Any] = {}
    for part in served.client.runs.stream(
        served.client.threads.create()["thread_id"],
        "chat",
        input={"messages": [{"role": "user", "content": "Count"}]},
        context={"user_id": "carla"},
        stream_mode=["messages-tuple", "updates"],
    ):
        if part.event == "messages" and part.data[0]["type"] == "AIMessageChunk":
            words.append(part.data[0]["content"])
        if part.event == "updates":
            updates |= part.data
    assert "".join(words) == "one two three four five"
    assert len(words) > 4
    assert list(updates) == ["recall", "summarize", "model", "remember", "condense"]
    assert updates["model"]["budget"]["level"] == "peak"


def test_a_failed_run_says_why_and_the_server_goes_on(served: Served) -> None:
    """A model error reaches the client; the next run works."""
    served.ollama.script(Reply(fault="http_500"))
    with pytest.raises(Exception, match="ResponseError"):
        served.say("Hello", "dora")
    served.ollama.script("Here I am.")
    assert served.say("Hello", "dora")["messages"][-1]["content"] == "Here I am."
