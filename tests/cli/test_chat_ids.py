"""chat: what is printed has no ids of memories."""

from __future__ import annotations

import re
from typing import Any

from tests.cli.place import Configure, Run
from tests.ollama_server import OllamaServer


def test_an_answer_is_printed_without_ids(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """The model is asked to cite, and cites; the person reads the sentence alone, and it is counted."""
    configure(fast="ollama:llama-test")
    run("chat", input="My cello teacher is called Herr Petrow.\n/quit\n")

    def cite(body: dict[str, Any]) -> str:
        labels = re.findall(r"R:[0-9a-f]{8}", body["messages"][0]["content"])
        return f"Herr Petrow [{labels[0]}] teaches you ({labels[0]})." if labels else "Nobody."

    ollama.always(cite)
    answered = run("chat", input="Who teaches me the cello?\n")
    assert "Herr Petrow teaches you." in answered.stdout
    assert not re.search(r"[0-9a-f]{8}\b", answered.stdout)
    used = run("usage", "--json").stdout
    assert re.search(r'"referenced": *1', used)
