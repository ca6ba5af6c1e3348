"""ReflectionExecutor in one process and several: LangMem's behaviour, and nothing lost."""

from __future__ import annotations

import asyncio
import math
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import langmem
import pytest
from langchain_core.callbacks import StdOutCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.config import get_config, get_store
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from langmemory import MemoryStore
from langmemory.errors import ClosedStoreError, ConfigError, InvalidValueError, JobFailedError
from langmemory.nodes import RememberNode
from langmemory.operations.jobs import Jobs
from langmemory.reflection import (
    Debounce,
    LocalReflectionExecutor,
    ReflectionExecutor,
    TurnQueue,
    WorkOptions,
)
from langmemory.reflection.local import JobFuture
from langmemory.types import Job
from tests.waiting import until

OFTEN = WorkOptions(poll_seconds=0.05)
LATER = 3_600
ANNA: RunnableConfig = {"configurable": {"thread_id": "t", "user_id": "anna"}}
BOB: RunnableConfig = {"configurable": {"thread_id": "t", "user_id": "bob"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(path, index=False) as store:
        yield store


def keep(payload: dict[str, Any]) -> Any:
    """A reflector: puts what it is given where the run says."""
    user = get_config()["configurable"].get("user_id", "nobody")
    get_store().put(("kept", user), str(payload["n"]), {"text": f"note {payload['n']}"})
    return {"kept": payload["n"]}


def reflector(function: Callable[..., Any] = keep, namespace: Any = ("kept", "{user_id}")) -> Any:
    runnable = RunnableLambda(function, name="keep")
    runnable.namespace = namespace  # as LangMem's managers have one
    return runnable


def kept(store: MemoryStore, user: str = "anna") -> set[str]:
    return {item.key for item in store.search(("kept", user), limit=1_000)}


def test_a_namespace_without_a_thread_is_reflected_whole(store: MemoryStore) -> None:
    """Submitted outside a run, a namespace alone stands for all that is new in it."""
    payloads: list[Any] = []
    now = Debounce(debounce_seconds=0)
    with ReflectionExecutor(
        payloads.append, store=store, name="keep", debounce=now, options=OFTEN
    ) as executor:
        executor.submit(("kept", "anna")).result(10)
        executor.submit(("kept", "anna"), ANNA).result(10)
    assert payloads == [
        {"namespace": ["kept", "anna"]}, {"namespace": ["kept", "anna"], "thread_id": "t"}
    ]  # fmt: skip


def test_threads_of_one_name_are_those_of_their_people(store: MemoryStore) -> None:
    """A reflector that says not whose memory it reflects: what one person said in a thread does not
    take the place of what another said in a thread of the same name."""
    payloads: list[Any] = []
    executor = ReflectionExecutor(payloads.append, store=store, name="keep", lanes=0)
    submitted = [
        executor.submit({"n": n}, {"configurable": {"user_id": user, "thread_id": "monday"}})
        for n, user in enumerate(("anna", "bob", "anna"))
    ]
    assert [future.cancelled() for future in submitted] == [True, False, False]
    executor.shutdown()
    with ReflectionExecutor(payloads.append, store=store, name="keep", options=OFTEN) as worker:
        worker.submit({"n": 3}).result(10)
    assert {payload["n"] for payload in payloads} == {1, 2, 3}


@pytest.mark.parametrize("path_", ["file", ":memory:"])
def test_a_submitted_payload_is_reflected(path_: str, path: Path) -> None:
    """The future has what the reflector returned, and what it wrote is in its namespace."""
    store = MemoryStore(path if path_ == "file" else path_, index=False)
    with store, ReflectionExecutor(reflector(), store=store) as executor:
        assert executor.submit({"n": 1}, ANNA).result(10) == {"kept": 1}
        found = executor.search(namespace=("kept", "anna"))
        assert [(item["key"], item["namespace"]) for item in found] == [("1", ["kept", "anna"])]


def test_a_chain_that_is_no_graph_may_submit(store: MemoryStore) -> None:
    """A runnable of LangChain has a config but no runtime: what it submits is reflected with that, and
    it may search."""
    with ReflectionExecutor(lambda payload: payload["n"], store=store, name="adds") as executor:

        def chain(n: int) -> Any:
            executor.search("anything")
            return executor.submit({"n": n + 1}).result(timeout=30)

        assert RunnableLambda(chain).invoke(1, {"configurable": {"thread_id": "t"}}) == 2


async def test_submitting_from_an_event_loop_never_waits(store: MemoryStore) -> None:
    """The future comes at once, whatever locks the file, and can be awaited; an async reflector runs."""
    executor = ReflectionExecutor(reflector(), store=store, options=OFTEN)

    async def slowly(payload: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return f"slowly {payload['n']}"

    other = ReflectionExecutor(reflector(slowly, ("x",)), store=store, name="s", run_async=True)
    with store._core.engine.write():
        future = executor.submit({"n": 1}, ANNA)
        assert not future.done()
    assert await asyncio.wrap_future(future) == {"kept": 1}
    assert await asyncio.wrap_future(other.submit({"n": 2})) == "slowly 2"
    found = await executor.asearch(namespace=("kept", "anna"))
    assert found[0]["key"] == "1"
    executor.shutdown()
    other.shutdown()


def test_an_async_function_is_a_reflector_without_being_told_so(store: MemoryStore) -> None:
    """It is awaited on a loop of the worker's own."""

    async def reflect(payload: dict[str, Any]) -> int:
        await asyncio.sleep(0)
        return int(payload["n"])

    with ReflectionExecutor(reflect, store=store, options=OFTEN) as executor:
        assert executor.submit({"n": 1}).result(10) == 1


@pytest.mark.parametrize("wrong", ["I live in Porto.", [("user", "I live in Porto.")], None])
def test_what_is_no_payload_is_refused_at_once(store: MemoryStore, wrong: Any) -> None:
    """Text or messages alone say what to pass instead."""
    with (
        ReflectionExecutor(reflector(), store=store) as executor,
        pytest.raises(ConfigError, match=r"The payload is a \w+; pass a dict such as"),
    ):
        executor.submit(wrong, ANNA)


@pytest.mark.parametrize("ours", [True, False], ids=["langmemory", "langmem"])
def test_langmems_users_find_what_they_know(ours: bool, store: MemoryStore) -> None:
    """The same script ends alike with both: the store comes from the graph, the thread from its
    config, a later submit cancels the pending one, leaving the block waits."""
    theirs: Any = InMemoryStore()
    used = store if ours else theirs
    module: Any = ReflectionExecutor if ours else langmem.ReflectionExecutor
    executor = module(reflector()) if ours else module(reflector(), store=theirs)
    # LangMem's worker, when it meets the first, cancelled one, forgets that the second is pending.
    last = 3 if ours else 2
    futures = []

    @entrypoint(store=used)
    def chat(n: int) -> int:
        futures.append(executor.submit({"n": n}, after_seconds=LATER if n < last else 0))
        return n

    with executor:
        for n in range(1, last + 1):
            chat.invoke(n, ANNA)
        assert futures[-1].result(10) == {"kept": last}
    assert [future.cancelled() for future in futures] == [*[True] * (last - 1), False]
    assert [item.key for item in used.search(("kept",))] == [str(last)]
    assert [item["key"] for item in executor.search(namespace=("kept", "anna"))] == [str(last)]


def test_what_was_waiting_is_done_by_the_next_process(path: Path) -> None:
    """Shutting down keeps what is not due, and what a closed store interrupts; a later executor
    under the same name does it, with the config and context it was submitted with."""
    store = MemoryStore(path, index=False)
    executor = ReflectionExecutor(reflector(), store=store, options=OFTEN)
    futures = [
        executor.submit({"n": n}, ANNA, after_seconds=LATER, thread_id=f"t{n}") for n in range(3)
    ]
    executor.shutdown(cancel_futures=True)
    assert all(future.cancelled() for future in futures)
    with pytest.raises(CancelledError):
        futures[0].result()
    closed = ReflectionExecutor(reflector(), store=store, options=OFTEN)
    waiting = closed.submit({"n": 3}, ANNA, after_seconds=LATER, thread_id="t3")
    store.close()
    with pytest.raises(ClosedStoreError):
        waiting.result(10)
    with MemoryStore(path, index=False) as again:
        for job in again.jobs.listed(("pending",)):
            assert job.lock == "kept.anna"
        stranger = ReflectionExecutor(reflector(), store=again, name="other", options=OFTEN)
        again.jobs.run_now("keep")
        # It has looked for work since, and done what came after.
        assert stranger.submit({"n": 4}, BOB).result(10) == {"kept": 4}
        assert kept(again) == set()
        stranger.shutdown()
        with ReflectionExecutor(reflector(), store=again, options=OFTEN):
            until(lambda: kept(again) == {"0", "1", "2", "3"})


def test_futures_of_work_done_elsewhere_are_settled(store: MemoryStore, path: Path) -> None:
    """An executor that leaves the work to others learns results, failures and replacements from
    the file; messages come back as messages."""

    def answer(payload: dict[str, Any]) -> Any:
        if payload["n"] == 2:
            raise ConfigError("no such model")
        return {"said": AIMessage(payload["messages"][0].text.upper(), id="1"), "n": (1, 2)}

    here = ReflectionExecutor(reflector(answer), store=store, lanes=0, options=OFTEN)
    messages = [HumanMessage("hello")]
    good = here.submit({"n": 1, "messages": messages}, ANNA, thread_id="a")
    bad = here.submit({"n": 2}, ANNA, thread_id="b")
    old = here.submit({"n": 3}, ANNA, thread_id="c", after_seconds=LATER)
    with MemoryStore(path, index=False) as other_store:
        there = ReflectionExecutor(reflector(answer), store=other_store, options=OFTEN)
        there.submit({"n": 4}, ANNA, thread_id="c", after_seconds=LATER)
        assert set(as_completed([good, bad], timeout=10)) == {good, bad}
        assert good.result() == {"said": AIMessage("HELLO", id="1"), "n": [1, 2]}
        with pytest.raises(JobFailedError, match="ConfigError: no such model"):
            bad.result()
        with pytest.raises(CancelledError):
            old.result(10)
        there.shutdown(cancel_futures=True)
    here.shutdown()


def test_what_waits_is_not_read_while_it_waits(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether others have ended jobs is asked every second: that reads the jobs that are over, and
    none of the thousands of conversations that wait."""
    read: list[int] = []
    looked = threading.Semaphore(0)
    find, unfinished = Jobs.find, Jobs.unfinished

    def reading(jobs: Jobs, ids: Sequence[int]) -> list[Job]:
        read.extend(ids)
        return find(jobs, ids)

    def looking(jobs: Jobs, due_by_us: int | None = None) -> set[int]:
        looked.release()
        return unfinished(jobs, due_by_us)

    monkeypatch.setattr(Jobs, "find", reading)
    monkeypatch.setattr(Jobs, "unfinished", looking)
    executor = ReflectionExecutor(reflector(), store=store, lanes=0, options=OFTEN)
    waits = [
        executor.submit({"n": n}, ANNA, thread_id=str(n), after_seconds=LATER) for n in range(5)
    ]
    for _ in range(3):
        assert looked.acquire(timeout=10)
    assert read == []
    dropped = waits[2].job_id  # type: ignore[attr-defined]
    store.jobs.drop([dropped])
    with pytest.raises(CancelledError):
        waits[2].result(10)
    assert set(read) == {dropped}
    executor.shutdown()


@pytest.mark.parametrize("name", ["customer_key", "session_token", "langgraph_team", "lc_user"])
def test_what_a_namespace_is_made_of_is_kept_whatever_it_is_called(
    store: MemoryStore, name: str
) -> None:
    """A job finds its namespace, though the variable looks like a secret or like one of LangGraph's;
    what else looks so is not written to the file."""
    seen: dict[str, Any] = {}

    def look(payload: dict[str, Any]) -> None:
        seen.update(get_config()["configurable"])

    with ReflectionExecutor(reflector(look, ("kept", f"{{{name}}}")), store=store) as executor:
        executor.submit({"n": 1}, {"configurable": {name: "c1", "api_key": "s3cret"}}).result(10)
    assert seen[name] == "c1"
    assert "api_key" not in seen


def test_an_artifact_does_not_keep_a_conversation_from_being_reflected(store: MemoryStore) -> None:
    """A tool's artifact (an image, a table) is submitted if it has a JSON form, and left out if
    not; the message comes either way."""

    def artifacts(payload: dict[str, Any]) -> list[Any]:
        return [[message.text, message.artifact] for message in payload["messages"]]

    given = [
        ToolMessage("plot", tool_call_id="1", artifact=b"PNG"),
        ToolMessage("rows", tool_call_id="2", artifact={"rows": [1, 2]}),
    ]
    with ReflectionExecutor(reflector(artifacts), store=store, options=OFTEN) as executor:
        result = executor.submit({"messages": given}, ANNA).result(10)
    assert result == [["plot", None], ["rows", {"rows": [1, 2]}]]


def test_a_cancelled_future_takes_its_job_back(store: MemoryStore) -> None:
    """A cancelled job that has not begun is not run; a running one cannot be cancelled."""
    running, go_on = threading.Event(), threading.Event()

    def wait(payload: dict[str, Any]) -> str:
        running.set()
        go_on.wait(10)
        return "done"

    executor = ReflectionExecutor(reflector(wait), store=store)
    first = executor.submit({"n": 1}, ANNA, thread_id=None)
    second = executor.submit({"n": 2}, ANNA, thread_id=None)
    assert running.wait(10)
    assert second.cancel()
    assert not first.cancel()
    go_on.set()
    assert first.result(10) == "done"
    executor.shutdown()
    assert [job.state for job in store.jobs.listed(("pending", "done"))] == ["done"]


def test_whoever_waits_for_a_cancelled_future_is_woken(store: MemoryStore) -> None:
    """Cancelled by its owner, and again by the end of the executor: `wait` returns, nothing is
    raised."""
    executor = ReflectionExecutor(reflector(), store=store)
    future = executor.submit({"n": 1}, ANNA, after_seconds=LATER)
    assert future.cancel()
    assert wait([future], timeout=10).done == {future}
    assert isinstance(future, JobFuture)
    future.give_way()
    assert future.cancel()
    executor.shutdown()


def test_submitting_while_it_shuts_down(store: MemoryStore) -> None:
    """Whoever submits while another thread shuts the executor down has a cancelled future and a job
    for the next process, and neither of them an error."""
    executor = ReflectionExecutor(reflector(), store=store)
    futures = [executor.submit({"n": n}, ANNA, after_seconds=LATER, thread_id=n) for n in range(50)]
    both = threading.Barrier(2)

    def give_way() -> None:
        for future in futures:
            both.wait(10)
            future.give_way()  # type: ignore[attr-defined]

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(give_way) for _ in range(2)]:
            done.result(20)
    assert all(future.cancelled() for future in futures)
    executor.shutdown()
    assert store.jobs.counts() == {"pending": 50}


def test_an_executor_may_outlive_its_store(path: Path) -> None:
    """Shut down after the store was closed it ends without an error, and the job is in the file."""
    with MemoryStore(path) as closed:
        executor = ReflectionExecutor(reflector(), store=closed)
        executor.submit({"n": 1}, ANNA, after_seconds=LATER)
    executor.shutdown()
    with MemoryStore(path) as opened:
        assert opened.jobs.counts() == {"pending": 1}


def test_a_retry_goes_on_under_the_same_future(store: MemoryStore) -> None:
    """A passing failure is not the future's end; a final one is, with the reflector's own error."""
    calls: list[int] = []

    def fails(payload: dict[str, Any]) -> str:
        calls.append(payload["n"])
        if payload["n"] == 2:
            raise TypeError("final")
        if len(calls) == 1:
            raise TimeoutError
        return "fine"

    quickly = WorkOptions(poll_seconds=0.05, retry_initial_seconds=0.05)
    executor = ReflectionExecutor(reflector(fails), store=store, options=quickly)
    assert executor.submit({"n": 1}, ANNA).result(10) == "fine"
    with pytest.raises(TypeError, match="final"):
        executor.submit({"n": 2}, ANNA).result(10)
    executor.shutdown()
    assert calls == [1, 1, 2]


def test_lanes_run_beside_each_other_and_a_namespace_in_order(store: MemoryStore) -> None:
    """Two people are reflected at the same time, two conversations of one never."""
    both = threading.Barrier(2, timeout=10)
    active: dict[str, int] = {"anna": 0, "ben": 0}
    most: dict[str, int] = dict(active)

    def meet(payload: dict[str, Any]) -> None:
        user = get_config()["configurable"]["user_id"]
        active[user] += 1
        most[user] = max(most[user], active[user])
        both.wait()
        active[user] -= 1

    with ReflectionExecutor(reflector(meet), store=store, lanes=4, options=OFTEN) as executor:
        for user in ("anna", "ben"):
            for n in range(3):
                config: RunnableConfig = {"configurable": {"user_id": user, "thread_id": f"t{n}"}}
                executor.submit({"n": n}, config)
    assert most == {"anna": 1, "ben": 1}
    assert store.jobs.counts() == {"done": 6}


@dataclass
class Who:
    user_id: str
    api_key: str = "secret"


def test_a_graph_reflects_with_the_context_it_was_submitted_with(
    store: MemoryStore, path: Path
) -> None:
    """Context and configurable come back in their own types and by their names, the graph's own
    settings hold; secrets, callbacks and LangGraph's own entries are not in the file."""
    seen: list[Any] = []

    class State(TypedDict):
        n: int

    def node(state: State, config: RunnableConfig, runtime: Runtime[Who]) -> State:
        seen.append((runtime.context, config, runtime.store))
        return {"n": state["n"] + 1}

    builder = StateGraph(State, context_schema=Who)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = builder.compile(name="count").with_config(recursion_limit=77)
    executor = ReflectionExecutor(graph, store=store, options=OFTEN)
    results = []

    def submit(state: State) -> None:
        results.append(executor.submit({"n": 1, "namespace": ["memories", "anna"]}))

    chat = StateGraph(State, context_schema=Who)
    chat.add_node("submit", submit)
    chat.add_edge(START, "submit")
    number = uuid.uuid4()
    chat.compile(store=store).invoke(
        {"n": 0},
        {
            "configurable": {"thread_id": "t", "number": number, "openai_api_key": "sk-hush"},
            "callbacks": [StdOutCallbackHandler()],
        },
        context=Who(user_id="anna"),
    )
    assert results[0].result(10) == {"n": 2}
    context, config, used = seen[0]
    assert context == Who(user_id="anna")
    assert config["configurable"]["number"] == str(number)
    assert config["configurable"]["thread_id"] == "t"
    assert config["recursion_limit"] == 77
    assert used is store
    executor.shutdown()
    assert store._core.engine.leftovers(["sk-hush"]) == (1, [])


def test_remember_node_hands_turns_over(store: MemoryStore, path: Path) -> None:
    """A graph that remembers reflects its threads when they are quiet: by an executor itself, or
    through a queue that finds the graph's store, for a worker elsewhere."""
    seen: list[Any] = []
    executor = ReflectionExecutor(
        reflector(seen.append), store=store, debounce=Debounce(debounce_seconds=60), options=OFTEN
    )
    for reflection in (executor, TurnQueue()):
        builder = StateGraph(MessagesState)
        builder.add_node("remember", RememberNode(("kept", "{user_id}"), reflection=reflection))
        builder.add_edge(START, "remember")
        graph = builder.compile(store=store)
        for text in ("Hello", f"My name is Anna {type(reflection).__name__}"):
            graph.invoke({"messages": [HumanMessage(text)]}, ANNA)
    assert seen == []
    store.jobs.run_now(executor.name)
    until(lambda: len(seen) == 1)
    assert seen == [{"namespace": ["kept", "anna"], "thread_id": "t"}]
    executor.shutdown()
    (waiting,) = store.jobs.listed(("pending",))
    assert (waiting.kind, waiting.lock, waiting.thread) == ("reflection", "kept.anna", "t")


@pytest.mark.parametrize(
    ("submit", "says"),
    [
        (lambda store: ReflectionExecutor(reflector(), store=InMemoryStore()), "InMemoryStore"),
        (lambda store: ReflectionExecutor("graph"), "namespace is required"),
        (lambda store: ReflectionExecutor(3), "is a int"),
        (lambda store: ReflectionExecutor(reflector(), store=store, lanes=-1), "lanes is -1"),
        (lambda store: ReflectionExecutor(reflector()).submit({"n": 1}, ANNA), "No store"),
        (lambda store: local(store).submit({"n": 1}), "'user_id' is missing"),
        (lambda store: local(store).submit({"n": object()}, ANNA), "no JSON form"),
        (lambda store: local(store).submit({"n": 1}, ANNA, after_seconds=math.inf), "is inf"),
        (lambda store: local(store).submit({"n": 1}, ANNA, after_seconds=math.nan), "is nan"),
    ],
)
def test_what_cannot_work_is_said_at_once(
    submit: Callable[[MemoryStore], Any], says: str, store: MemoryStore
) -> None:
    """Wrong stores, payloads and arguments fail where they are given, not hours later."""
    with pytest.raises((ConfigError, InvalidValueError), match=says):
        submit(store)
    assert store.jobs.counts() == {}


def local(store: MemoryStore) -> LocalReflectionExecutor:
    return ReflectionExecutor(reflector(), store=store, lanes=0)


def test_two_reflectors_of_one_name_are_told_of(
    store: MemoryStore, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Executors of one process that would do each other's jobs, each with a reflector of its own, are
    logged; not those of one reflector, of another file or name, or after one was shut down."""
    one, other = keep, RunnableLambda(lambda payload: payload, name="keep")
    first = ReflectionExecutor(one, store=store)
    executors = [first, ReflectionExecutor(one, store=store)]
    executors += [ReflectionExecutor(other, store=store, name="another")]
    executors += [ReflectionExecutor(other, store=store, lanes=0)]
    with MemoryStore(":memory:", index=False) as elsewhere:
        ReflectionExecutor(other, store=elsewhere).shutdown()
    assert caplog.messages == []
    with MemoryStore(path, index=False) as again:
        ReflectionExecutor(other, store=again).shutdown()
    assert [message for message in caplog.messages if "jobs of 'keep'" in message]
    caplog.clear()
    for executor in executors:
        executor.shutdown()
    ReflectionExecutor(other, store=store).shutdown()
    assert caplog.messages == []
