"""chat: a conversation at the terminal with a model and memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from langmemory.cli import conversation
from tests.cli.place import SAMPLE, Configure, Run
from tests.ollama_server import OllamaServer, Reply
from tests.postgres_server import place


def test_what_was_said_in_one_chat_is_known_in_the_next(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """The model's answers are printed, and a later conversation is shown what this one said."""
    configure(fast="ollama:llama-test")
    first = run("chat", input="My cello teacher is called Herr Petrow.\n/quit\n")
    assert first.exit_code == 0
    assert "You said: My cello teacher is called Herr Petrow." in first.stdout
    second = run("chat", input="Who teaches me the cello?\n/memory\n")
    assert second.exit_code == 0
    system = ollama.chats()[-1]["messages"][0]
    assert system["role"] == "system"
    assert "Herr Petrow" in system["content"]
    assert second.stdout.count("Petrow") >= 1
    assert json.loads(run("stats", "--json").stdout)["items"] == 4


def test_a_chat_remembers_its_own_turns(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """Within one chat the model sees the turns before."""
    configure(fast="ollama:llama-test")
    run("chat", input="One.\nTwo.\n")
    said = [
        message["content"]
        for message in ollama.chats()[-1]["messages"]
        if message["role"] != "system"
    ]
    assert said == ["One.", "You said: One.", "Two."]


def test_without_a_model_memory_answers(run: Run) -> None:
    """A chat without a configured model says so, remembers, and answers with what memory knows."""
    told = run("chat", input="My cello teacher is called Herr Petrow.\n")
    assert told.exit_code == 0
    assert "models.fast" in told.stdout
    assert "Herr Petrow" in run("chat", input="Who teaches me the cello?\n").stdout


def test_a_model_ollama_lacks_is_named_before_the_chat(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """A missing model is an error with the command that gets it."""
    configure(fast="ollama:other")
    assert "run `ollama pull other`" in run("chat").stderr


def test_an_ollama_that_is_off_is_said_so(run: Run, configure: Configure) -> None:
    """No answer from Ollama is an error with the command that starts it."""
    configure(fast="ollama:other")
    assert "start it with `ollama serve`" in run("chat").stderr


def test_an_answer_that_fails_does_not_end_the_chat(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """The failure is one line, the next turn is answered, and what was said before is not lost."""
    configure(fast="ollama:llama-test")
    ollama.script(Reply(fault="http_500"))
    chat = run("chat", input="My cat is called Momo.\nAre you there?\n/quit\n")
    assert chat.exit_code == 0
    assert chat.stderr.count("No answer: ") == 1
    assert "You said: Are you there?" in chat.stdout
    assert [row["text"] for row in found(run, "Momo")][:1] == ["My cat is called Momo."]
    ollama.script(Reply(fault="http_500"))
    assert run("chat", input="Hello?\n").exit_code == 1


def test_what_got_no_answer_is_remembered_once(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """A person who leaves after a failure has still said it; one who goes on has said it once."""
    configure(fast="ollama:llama-test")
    ollama.script(Reply(fault="http_500"), "Fine.", Reply(fault="http_500"))
    run("chat", input="My cat is called Momo.\nAre you there?\nShe likes tuna.\n")
    told = [row["text"] for row in stored(run) if row["speaker"] == "user"]
    assert sorted(told) == ["Are you there?", "My cat is called Momo.", "She likes tuna."]


def test_bytes_of_another_encoding_end_no_chat(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """A terminal that is not UTF-8 costs some letters of one turn, not every turn after it."""
    configure(fast="ollama:llama-test")
    chat = run("chat", input=b"Sch\xf6n.\nAre you there?\n")
    assert chat.exit_code == 0
    assert "You said: Sch�n." in chat.stdout
    assert "You said: Are you there?" in chat.stdout


def test_what_a_reranker_says_is_no_part_of_the_answer(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """Of all models that speak in a turn the person reads the one they talk to."""
    configure(fast="ollama:llama-test", rerank="ollama:llama-test", expand="ollama:llama-test")
    run("import", str(SAMPLE))
    ollama.always("[1, 2] is my ranking")
    chat = run("chat", input="Where does Lena live?\n/quit\n")
    assert len(ollama.chats()) > 1
    assert chat.stdout.count("is my ranking") == 1


def test_the_person_is_told_what_is_not_stored(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """Below the answer, or its failure, stand the kinds of credentials that were left out of memory;
    nothing below a turn without any."""
    configure(fast="ollama:llama-test")
    ollama.script("Noted.", "Hello.", Reply(fault="http_500"))
    lines = ["My password is hunter2!x", "Hi.", "My PIN is 4711.", "/quit"]
    chat = run("chat", input="\n".join(lines) + "\n")
    told = [line for line in chat.stdout.splitlines() if "Not stored: " in line]
    assert [line.partition("Not stored: ")[2] for line in told] == [
        "password; a placeholder is stored instead.",
        "PIN; a placeholder is stored instead.",
    ]
    assert all("hunter2" not in row["text"] and "4711" not in row["text"] for row in stored(run))


def stored(run: Run) -> list[dict[str, str]]:
    """Everything there is."""
    return list(json.loads(run("list", "--json").stdout))


def found(run: Run, query: str) -> list[dict[str, str]]:
    results = json.loads(run("search", query, "--json").stdout)["results"]
    return [one["memory"] for one in results]


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="no process there gets a single Ctrl-C")
def test_ctrl_c_keeps_what_was_said_and_drops_the_answer(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """A person who stops an answer has still said their part; what nobody saw is not remembered."""
    configure(fast="ollama:llama-test")
    ollama.script(Reply(content="It will rain until Sunday", delay_seconds=0.7))
    chat = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "langmemory",
            "--db",
            place("memory.db"),
            "chat",
            "--thread",
            "t",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What a shell runs in the background ignores Ctrl-C, and so does what that starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert chat.stdin is not None
    assert chat.stdout is not None
    chat.stdin.write(b"My cat is called Momo.\n")
    chat.stdin.flush()
    while b"will" not in chat.stdout.read1():
        pass
    chat.send_signal(signal.SIGINT)
    shown, errors = chat.communicate(timeout=60)
    assert chat.returncode == 130, errors
    assert b"Sunday" not in shown
    assert [row["text"] for row in stored(run)] == ["My cat is called Momo."]


def test_a_person_goes_on_after_ctrl_c(
    run: Run, ollama: OllamaServer, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal Ctrl-C ends an answer, not the chat: the next line is answered, and the thread
    holds what was said without the answer that was stopped."""
    configure(fast="ollama:llama-test")
    monkeypatch.setattr("langmemory.cli.chat.at_a_terminal", lambda: True)
    ollama.script(Reply(content="It will rain until Sunday"), "Fine.")
    stopped = iter([True])
    whole = conversation._answer

    async def answer(*arguments: Any) -> AsyncIterator[str]:
        async for piece in whole(*arguments):
            yield piece
            if next(stopped, False):
                raise KeyboardInterrupt

    monkeypatch.setattr(conversation, "_answer", answer)
    chat = run("chat", input="My cat is called Momo.\nAre you there?\n")
    assert chat.exit_code == 0, chat.output
    assert "Fine." in chat.stdout
    sent = [one["content"] for one in ollama.chats()[-1]["messages"] if one["role"] != "system"]
    assert sent == ["My cat is called Momo.", "Are you there?"]
    told = {row["text"] for row in stored(run)}
    assert told == {"My cat is called Momo.", "Are you there?", "Fine."}


def test_a_named_thread_goes_on(run: Run, ollama: OllamaServer, configure: Configure) -> None:
    """`--thread` with a name from before: the model sees what was said then, and it is stored once."""
    configure(fast="ollama:llama-test")
    run("chat", "--thread", "boat", input="The boat is called Otter.\nShe leaks.\n")
    again = run("chat", "--thread", "boat", input="What is she called?\n")
    assert "goes on after 4 messages" in again.stdout
    sent = [one["content"] for one in ollama.chats()[-1]["messages"] if one["role"] != "system"]
    assert sent == [
        "The boat is called Otter.", "You said: The boat is called Otter.",
        "She leaks.", "You said: She leaks.", "What is she called?",
    ]  # fmt: skip
    assert json.loads(run("stats", "--json").stdout)["items"] == 6
    other = run("chat", "--thread", "car", input="What is she called?\n")
    assert "goes on" not in other.stdout


def test_the_person_types_while_the_chat_is_loaded(
    run: Run, ollama: OllamaServer, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prompt waits for no import: here loading ends only after the first line was typed."""
    configure(fast="ollama:llama-test")
    typed = threading.Event()
    lines = iter(["The boat is called Otter.", "/quit"])

    def slow(*arguments: Any, **options: Any) -> conversation.Conversation:
        assert typed.wait(30), "the prompt waited"
        return whole(*arguments, **options)

    def type_line(*_: object) -> str:
        typed.set()
        return next(lines)

    whole = conversation.Conversation
    monkeypatch.setattr(conversation, "Conversation", slow)
    monkeypatch.setattr("builtins.input", type_line)
    assert "You said: The boat" in run("chat").stdout
