"""The whole reflection through langchain-ollama, against a server that speaks Ollama's protocol:
whatever the model does ends as designed, and the conversation is never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from langchain_core.messages import HumanMessage
from langchain_ollama import ChatOllama

from langmemory import MemoryStore
from langmemory.errors import ModelUnavailableError
from langmemory.graphs import build_chat_graph
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.reflection import Debounce, LocalReflectionExecutor, TurnQueue, Worker, WorkOptions
from langmemory.reflection.reflector import performer
from langmemory.types import Job
from tests.formation.test_extraction import SCHEMA_ECHO
from tests.graphs.test_reflection_graph import HAMBURG, answer, facts
from tests.ollama_server import OllamaServer, Reply
from tests.reflection.clock import Clock
from tests.seeds import seeds

LENA = ("memories", "lena")
NOW = Debounce(debounce_seconds=0)
RUN: Any = {"configurable": {"user_id": "lena", "thread_id": "t1"}}
SAID = "I live in Hamburg."

Mode = Literal["sync", "async"]

GOOD = answer(HAMBURG)

GOOD_ANSWERS: dict[str, list[str | Reply]] = {
    "plain": [GOOD],
    "think tags": [f"<think>t1 is about Hamburg.</think>\n{GOOD}"],
    "thinking field": [Reply(content=GOOD, thinking="t1 is about Hamburg.")],
    "fenced": [f"```json\n{GOOD}\n```"],
    "broken once": ['{"facts": [{"text": "Lena li', GOOD],
    "refused once": ["I'm sorry, but I can't assist with that.", GOOD],
}

BAD_ANSWERS = {
    "broken JSON": '{"facts": [{"text": "Lena li',
    "thoughts only": "<think>What to say about Hamburg",
    "schema echo": SCHEMA_ECHO,
    "refusal": "I'm sorry, but I can't assist with that.",
    "silence": "",
}

FAULTS: dict[str, Reply | None] = {
    "HTTP 500": Reply(fault="http_500"),
    "too slow": Reply(content=GOOD, delay_seconds=5),
    "vanished": None,
    "unknown model": Reply(fault="not_found"),
    "dropped at once": Reply(fault="drop"),
    "dropped midway": Reply(content=GOOD, fault="drop"),
    "broken off": Reply(content=GOOD, fault="error_midway"),
}
"""What an extractor makes of each is tried in test_extraction_ollama.py."""
EACH_FAULT = pytest.mark.parametrize("fault", seeds([*FAULTS.values()], first=3), ids=[*FAULTS])


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


@pytest.fixture(params=seeds(["sync", "async"], first=1))
def mode(request: pytest.FixtureRequest) -> Mode:
    found: Mode = request.param
    return found


def reflection(store: MemoryStore, url: str, fault: Reply | None = None) -> Any:
    """A graph whose model is waited for; not for long where a fault is that it is slow."""
    timeout = 1 if fault and fault.delay_seconds else 30
    model = ChatOllama(model="qwen3:4b", base_url=url, client_kwargs={"timeout": timeout})
    return build_reflection_graph(store, model=model)


def reflect(graph: Any, mode: Mode) -> dict[str, Any]:
    """One run over all of Lena's memory."""
    job = {"namespace": list(LENA)}
    done: dict[str, Any] = graph.invoke(job) if mode == "sync" else asyncio.run(graph.ainvoke(job))
    return done


class Conversation:
    """Lena talks to a chat graph, whose model is well, and which leaves reflection to a worker."""

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self.store = store
        self.jobs = store.jobs
        self.jobs.clock = clock
        queue = TurnQueue(store, debounce=NOW)
        queue._jobs = self.jobs
        self.server = OllamaServer()
        self.server.always("I see.")
        model = ChatOllama(model="qwen3:4b", base_url=self.server.url)
        self.graph = build_chat_graph(model, store=store, reflection=queue)

    def __enter__(self) -> Conversation:
        self.server.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.server.__exit__(*error)

    def says(self, text: str) -> str:
        """Return the answer to a message."""
        state = self.graph.invoke({"messages": [HumanMessage(text, name="Lena")]}, RUN)
        return str(state["messages"][-1].text)

    def worker(self, graph: Any, mode: Mode) -> Worker:
        return Worker(
            self.jobs,
            performer(graph, self.store, run_async=mode == "async"),
            kind="reflection",
            options=WorkOptions(max_attempts=3, retry_initial_seconds=10, jitter=0),
        )

    def job(self) -> Job:
        """The newest."""
        states = ("running", "pending", "dead", "done", "replaced")
        return max(self.jobs.listed(states), key=lambda job: job.id)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lena(store: MemoryStore, clock: Clock) -> Iterator[Conversation]:
    with Conversation(store, clock) as conversation:
        yield conversation


def nothing_is_lost(store: MemoryStore, *said: str, idle: tuple[str, ...] = ()) -> None:
    """Every turn is stored. One with content is found by what it says, an ``idle`` one takes no place.
    (A fact would speak for the turn it was made of.)"""
    stored = [item.value.get("content") for item in store.search(LENA, limit=100)]
    assert {*said, *idle} <= set(stored)
    for text in (*said, *idle):
        found = {one.text for one in store.recall(text, LENA, kinds=("episodic",)).results}
        assert found.isdisjoint(idle)
        assert text in found or text in idle


def unread(store: MemoryStore) -> int:
    return sum(thread.turns for thread in store.admin.unread_threads())


@pytest.mark.parametrize("replies", GOOD_ANSWERS.values(), ids=GOOD_ANSWERS)
def test_good_answers_become_facts(
    lena: Conversation, server: OllamaServer, mode: Mode, replies: list[Any]
) -> None:
    """However it is dressed, and also at the second try, an answer becomes facts, and the job is
    done with what came of it."""
    assert lena.says(SAID) == "I see."
    server.script(*replies)
    assert lena.worker(reflection(lena.store, server.url), mode).run_due() == 1
    job = lena.job()
    assert job.state == "done"
    assert job.result["model_calls"] == len(replies) == len(server.chats())
    assert facts(lena.store) == {"Lena lives in Hamburg.": "active"}
    assert job.result["failures"] == []
    assert unread(lena.store) == 0


@pytest.mark.parametrize("bad", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_bad_answers_leave_the_conversation_to_the_rules(
    lena: Conversation, server: OllamaServer, mode: Mode, bad: str
) -> None:
    """Two answers that cannot be used leave what rules read: the job is done and says so, as does the
    run's note; nothing is tried for ever, and what was said is recalled as it was said."""
    lena.says(SAID)
    server.always(bad)
    assert lena.worker(reflection(lena.store, server.url), mode).run_due() == 1
    job = lena.job()
    assert (job.state, job.error) == ("done", None)
    assert job.result["failures"] == ["extraction failed"]
    [run] = lena.store.changes.runs()
    assert run.note["failures"] == ["extraction failed"]
    assert (run.note["model_calls"], len(server.chats())) == (2, 2)
    assert facts(lena.store) == {"Lena lives in Hamburg.": "active"}
    assert unread(lena.store) == 0
    assert lena.says("And you?") == "I see."
    nothing_is_lost(lena.store, SAID, idle=("And you?", "I see."))


@EACH_FAULT
def test_an_absent_model_is_waited_for(
    lena: Conversation, server: OllamaServer, mode: Mode, clock: Clock, fault: Reply | None
) -> None:
    """A model that cannot be asked leaves the job in the queue with growing delays and a reason a
    person can act on, and in the end dead; nothing counts as read, the chat goes on all the while,
    and once the model is back a retry reads everything."""
    gone = OllamaServer()
    if fault is None:
        with gone:
            pass
    server.always(fault)
    graph = reflection(lena.store, server.url if fault else gone.url, fault)
    worker = lena.worker(graph, mode)
    assert lena.says(SAID) == "I see."
    for attempt, delay in ((1, 10), (2, 20)):
        assert worker.run_due() == 1
        job = lena.job()
        assert (job.state, job.attempts) == ("pending", attempt)
        assert job.due_at.timestamp() * 1e6 - clock.us == delay * 1e6
        assert worker.run_due() == 0
        clock.forward(delay)
    assert worker.run_due() == 1
    job = lena.job()
    assert (job.state, job.attempts) == ("dead", 3)
    assert job.error is not None
    assert job.error.startswith("ModelUnavailableError: qwen3:4b could not be asked")
    assert "Check that its server runs" in job.error
    assert SAID not in job.error
    assert (unread(lena.store), lena.store.changes.runs(), facts(lena.store)) == (2, [], {})
    nothing_is_lost(lena.store, SAID, idle=("I see.",))

    assert lena.says("Are you there?") == "I see."  # a job of its own
    assert lena.jobs.retry() == [job.id]
    server.always(answer())
    server.script(GOOD)
    assert lena.worker(reflection(lena.store, server.url), mode).run_due() == 2
    assert lena.jobs.counts().get("done") == 2
    assert facts(lena.store) == {"Lena lives in Hamburg.": "active"}
    assert unread(lena.store) == 0


@EACH_FAULT
def test_without_a_queue_the_caller_is_told(
    store: MemoryStore, server: OllamaServer, mode: Mode, fault: Reply | None
) -> None:
    """A graph that is invoked raises ModelUnavailableError and has written nothing; the next run
    finds all of it. Of several batches those before the fault stay."""
    for thread in ("t1", "t2"):
        store.remember(LENA, [HumanMessage(SAID, name="Lena")], thread_id=thread)
    if fault is None:
        with OllamaServer() as gone:
            gone.script(GOOD)
            graph = reflection(store, gone.url)
            batches = graph.stream({"namespace": list(LENA)})
            for update in batches:
                if "apply" in update:
                    break
        server.script(answer())
    else:
        server.script(GOOD, fault, answer())
        graph = reflection(store, server.url, fault)
    with pytest.raises(ModelUnavailableError, match="qwen3"):
        reflect(graph, mode)
    assert (len(store.changes.runs()), unread(store)) == (1, 1)
    nothing_is_lost(store, SAID)
    assert reflect(reflection(store, server.url), mode)["failures"] == []
    assert (len(store.changes.runs()), unread(store)) == (2, 0)


@pytest.mark.parametrize(
    ("replies", "failures"),
    [([GOOD], []), ([BAD_ANSWERS["refusal"]] * 2, ["extraction failed"])],
    ids=["good", "folded"],
)
def test_an_executor_ends_the_same(
    store: MemoryStore, server: OllamaServer, mode: Mode, replies: list[str], failures: list[str]
) -> None:
    """The future of an executor in the background has what the run came to."""
    store.remember(LENA, [HumanMessage(SAID, name="Lena")], thread_id="t1")
    server.script(*replies)
    graph = reflection(store, server.url)
    with LocalReflectionExecutor(graph, store, run_async=mode == "async") as executor:
        done = executor.submit({"namespace": list(LENA), "thread_id": "t1"}).result(timeout=30)
    assert done["failures"] == failures
    assert facts(store) == {"Lena lives in Hamburg.": "active"}
    nothing_is_lost(store, SAID)


@EACH_FAULT
def test_an_executor_says_why_it_gave_up(
    store: MemoryStore, server: OllamaServer, mode: Mode, fault: Reply | None
) -> None:
    """The future of an executor fails with the reason after the last attempt; the chat of this
    process is answered while it tries, and its turns are not marked."""
    server.always(fault)
    with OllamaServer() as gone:
        url = server.url if fault else gone.url
    options = WorkOptions(max_attempts=2, retry_initial_seconds=0.01, poll_seconds=0.01)
    graph = reflection(store, url, fault)
    with (
        OllamaServer() as well,
        LocalReflectionExecutor(
            graph, store, run_async=mode == "async", options=options, debounce=NOW
        ) as executor,
    ):
        well.always("I see.")
        chat = build_chat_graph(
            ChatOllama(model="any", base_url=well.url), store=store, reflection=executor
        )
        state = chat.invoke({"messages": [HumanMessage(SAID, name="Lena")]}, RUN)
        assert state["messages"][-1].text == "I see."
        job = {"namespace": list(LENA), "thread_id": "t2"}
        store.remember(LENA, [HumanMessage("I like tea.", name="Lena")], thread_id="t2")
        with pytest.raises(ModelUnavailableError, match="qwen3:4b could not be asked"):
            executor.submit(job).result(timeout=60)
    assert unread(store) == 3
    nothing_is_lost(store, SAID, "I like tea.", idle=("I see.",))
