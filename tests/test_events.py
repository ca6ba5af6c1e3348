"""Records of a call: a line in the log, a span in LangSmith, tokens with the run."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langsmith import Client, tracing_context
from typer.testing import CliRunner

from langmemory import MemoryStore, build_reflection_graph, create_memory_store_manager
from langmemory.changes import AddMemory, ChangeSet
from langmemory.cli.app import app
from langmemory.config import Config, TokenPrice
from langmemory.errors import ConfigError
from langmemory.reflection import ReflectionExecutor
from langmemory.reflection.reflector import performer
from langmemory.reflection.tokens import noted
from tests.scripted import ScriptedModel

ANNA = ("memories", "anna")
SECRETS = ("Tofu", "Lisbon", "porcupine")
"""Words of what is said and asked below; none may stand in a log line or a span."""

FACTS = {
    "facts": [
        {
            "text": "Anna lives in Lisbon.",
            "evidence": [1],
            "claims": [{"subject": "Anna", "relation": "lives_in", "object": "Lisbon"}],
        }
    ]
}


def say(store: MemoryStore, text: str = "I live in Lisbon with Tofu the porcupine.") -> list[str]:
    return store.remember(ANNA, [{"role": "user", "name": "Anna", "content": text}], thread_id="t")


def answer(content: Any, **reported: Any) -> AIMessage:
    """An answer of a model that says what it took."""
    return AIMessage(
        content if isinstance(content, str) else json.dumps(content),
        usage_metadata={"input_tokens": 1_000, "output_tokens": 200, "total_tokens": 1_200},
        response_metadata={"model_name": "scripted-1-2026-01-01", **reported},
    )


def events(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [record.langmemory for record in caplog.records if hasattr(record, "langmemory")]


def names(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [event["event"] for event in events(caplog)]


class Spans(Client):
    """A LangSmith client that keeps what it is given instead of sending it."""

    def __init__(self) -> None:
        super().__init__(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False)
        self.kept: dict[str, dict[str, Any]] = {}

    def create_run(self, *args: Any, **kwargs: Any) -> None:
        self._note(kwargs)

    def update_run(self, run_id: Any, *args: Any, **kwargs: Any) -> None:
        self._note({"id": run_id, **kwargs})

    def _note(self, run: dict[str, Any]) -> None:
        kept = self.kept.setdefault(str(run["id"]), {})
        kept.update({key: value for key, value in run.items() if value is not None})

    def named(self, name: str) -> list[dict[str, Any]]:
        return [run for run in self.kept.values() if run["name"] == name]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_call_writes_one_line_with_counts_and_milliseconds(
    store: MemoryStore, caplog: pytest.LogCaptureFixture, asynchronous: bool
) -> None:
    """remember, recall, apply, undo and forget say in the log how much and how long, and no text."""
    said = [{"role": "user", "name": "Anna", "content": "Tofu, my porcupine, lives in Lisbon."}]
    change_set = ChangeSet(
        namespace=ANNA, run_id="r1", kind="correction", reason="by hand",
        changes=(AddMemory(key="k", value={"text": "Tofu likes Lisbon."}),),
    )  # fmt: skip

    async def called() -> None:
        await store.aremember(ANNA, said, thread_id="t")
        await store.arecall("Where is the porcupine?", ANNA)
        await store.changes.aapply(change_set)
        await store.changes.aundo("r1")
        await store.aforget(ANNA, everything=True)

    with caplog.at_level(logging.INFO, "langmemory"):
        if asynchronous:
            asyncio.run(called())
        else:
            store.remember(ANNA, said, thread_id="t")
            store.recall("Where is the porcupine?", ANNA)
            store.changes.apply(change_set)
            store.changes.undo("r1")
            store.forget(ANNA, everything=True)
    assert names(caplog) == ["remember", "recall", "apply", "undo", "forget"]
    remembered, recalled, applied, undone, forgotten = events(caplog)
    assert (remembered["added"], recalled["results"], applied["added"]) == (1, 1, 1)
    assert (applied["run"], undone["changed"], forgotten["memories"]) == ("r1", 1, 1)
    assert all(event["ms"] >= 0 for event in events(caplog))
    assert "recall results=1 preset=balanced ms=" in caplog.text
    assert not any(secret in caplog.text for secret in SECRETS)


def test_a_call_that_fails_says_so_by_its_error(
    store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    """The line of a failed call has the type of the error, whose message may hold text."""
    with caplog.at_level(logging.INFO, "langmemory"), pytest.raises(ConfigError, match="porcupine"):
        store.recall("Where?", ANNA, preset="porcupine")
    assert "recall error=ConfigError ms=" in caplog.text
    assert "porcupine" not in caplog.text


def test_nothing_is_written_where_nobody_listens(
    store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Python's default level is WARNING: an application that sets none sees no events."""
    with caplog.at_level(logging.WARNING):
        say(store)
        store.recall("Where?", ANNA)
    assert events(caplog) == []


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_reflection_logs_its_batch_and_its_job(
    store: MemoryStore, caplog: pytest.LogCaptureFixture, asynchronous: bool
) -> None:
    """A job writes a line for each batch, with what came of it and what the model took, and one for
    itself."""
    graph = build_reflection_graph(store, model=ScriptedModel(script=[answer(FACTS)]))
    say(store)
    with (
        caplog.at_level(logging.INFO, "langmemory"),
        ReflectionExecutor(graph, store, run_async=asynchronous) as executor,
    ):
        executor.submit({"namespace": list(ANNA)}, thread_id="t").result(60)
    found = {event["event"]: event for event in events(caplog)}
    batch, job = found["reflection"], found["job"]
    assert (batch["turns"], batch["extracted"], batch["failures"]) == (1, 1, 0)
    assert (batch["calls"], batch["input_tokens"], batch["output_tokens"]) == (1, 1_000, 200)
    assert (job["state"], job["attempt"]) == ("done", 1)
    assert job["ms"] > 0
    assert not any(secret in caplog.text for secret in SECRETS)


def test_tokens_and_cost_stay_with_the_run(tmp_path: Path) -> None:
    """Every call of a run counts, an answer that could not be used included; what they cost is said
    where the configuration has the model's price, also for the dated name a provider answers with."""
    config = Config.model_validate(
        {"models": {"prices": {"openai:scripted-1": {"input": 2, "output": 10}}}}
    )
    path = tmp_path / "memory.db"
    with MemoryStore(path, config=config) as store:
        say(store)
        model = ScriptedModel(script=[answer("What?"), answer(FACTS)])
        build_reflection_graph(store, model=model).invoke({"namespace": list(ANNA)})
        (run,) = store.changes.runs(ANNA)
        assert run.note["usage"] == {
            "scripted-1-2026-01-01": {"calls": 2, "input_tokens": 2_000, "output_tokens": 400}
        }
        assert run.note["cost_usd"] == pytest.approx(0.008)
    shown = CliRunner().invoke(app, ["runs", "--db", str(path)], env={"COLUMNS": "160"})
    assert "2,000 tokens in, 400 out, $0.0080" in shown.output


def test_an_answer_that_cannot_be_used_at_all_is_paid_for_too(store: MemoryStore) -> None:
    """A batch that stays verbatim says what was spent on it."""
    say(store)
    model = ScriptedModel(script=[answer("What?"), answer("What?")])
    build_reflection_graph(store, model=model).invoke({"namespace": list(ANNA)})
    (run,) = store.changes.runs(ANNA)
    assert run.note["failures"] == ["extraction failed"]
    assert run.note["usage"]["scripted-1-2026-01-01"]["input_tokens"] == 2_000
    assert "cost_usd" not in run.note


def test_rules_take_no_tokens(store: MemoryStore) -> None:
    """A run without a model says nothing of tokens."""
    say(store)
    build_reflection_graph(store).invoke({"namespace": list(ANNA)})
    (run,) = store.changes.runs(ANNA)
    assert "usage" not in run.note


def test_a_manager_notes_its_tokens(store: MemoryStore) -> None:
    """A pass of the memory manager is a run like any other."""
    changes = {"changes": [{"Memory": {"content": "Anna lives in Lisbon."}}]}
    model = ScriptedModel(otherwise=lambda _: answer(changes))
    manager = create_memory_store_manager(model, namespace=ANNA, store=store)
    manager.invoke({"messages": [("user", "I live in Lisbon.")]})
    for run in store.changes.runs(ANNA):
        assert run.note["usage"]["scripted-1-2026-01-01"]["input_tokens"] >= 1_000
    assert store.changes.runs(ANNA)


def test_a_cost_is_said_only_where_all_of_it_is_known() -> None:
    """A model reports its own cost or the configuration has its price; with neither there is no sum
    that looks like the whole. The price of one model is not that of another with a longer name."""
    counts = {"calls": 1, "input_tokens": 1_000_000, "output_tokens": 0}
    prices = {"gpt-4.1": TokenPrice(input=2, output=8)}
    assert noted({"gpt-4.1-2025-04-14": counts}, prices)["cost_usd"] == 2
    assert noted({"routed": {**counts, "cost_usd": 0.5}}, {})["cost_usd"] == 0.5
    assert "cost_usd" not in noted({"gpt-4.1-mini": counts}, prices)
    assert "cost_usd" not in noted({"gpt-4.1": counts, "other": counts}, prices)


def test_recall_and_reflection_are_spans_of_counts(store: MemoryStore) -> None:
    """Where LangSmith traces, recall and the parts of a reflection are spans whose inputs and outputs
    are counts."""
    spans = Spans()
    with tracing_context(enabled=True, client=spans):
        say(store)
        store.recall("Where is the porcupine?", ANNA)
        model = ScriptedModel(script=[answer(FACTS)])
        build_reflection_graph(store, model=model).invoke({"namespace": list(ANNA)})
    (recall,) = spans.named("langmemory.recall")
    assert recall["run_type"] == "retriever"
    assert recall["inputs"] == {}
    assert recall["outputs"] == {"results": 1, "preset": "balanced"}
    (extract,) = spans.named("langmemory.reflection.extract")
    assert extract["outputs"] == {
        "facts": 1, "calls": 1, "input_tokens": 1_000, "output_tokens": 200,
    }  # fmt: skip
    (apply,) = spans.named("langmemory.apply")
    assert extract["trace_id"] == apply["trace_id"]  # both within the graph's own run
    ours = [run for run in spans.kept.values() if run["name"].startswith("langmemory.")]
    shown = json.dumps([(run["inputs"], run.get("outputs")) for run in ours], default=str)
    assert not any(secret in shown for secret in SECRETS)


def test_a_job_is_a_span(store: MemoryStore) -> None:
    """A reflection that an executor runs is one span, with the counts of what came of it."""
    spans = Spans()
    say(store)
    graph = build_reflection_graph(store)
    with ReflectionExecutor(graph, store, lanes=0) as executor:
        executor.submit({"namespace": list(ANNA)}, thread_id="t")
        job = store.jobs.leases.claim("reflection", "test", lease_us=60_000_000, max_attempts=3)
    assert job is not None
    with tracing_context(enabled=True, client=spans):
        performer(graph, store)(job)
    (span,) = spans.named("langmemory.reflection")
    assert span["outputs"]["runs"] == 1
    (extract,) = spans.named("langmemory.reflection.extract")
    assert extract["trace_id"] == span["trace_id"]


async def test_an_asynchronous_recall_is_a_span(store: MemoryStore) -> None:
    """`arecall` is recorded as `recall` is, with what failed by its type alone."""
    spans = Spans()
    with tracing_context(enabled=True, client=spans):
        await store.arecall("Where is the porcupine?", ANNA)
        with pytest.raises(ConfigError):
            await store.arecall("Where?", ANNA, preset="porcupine")
    done, failed = spans.named("langmemory.recall")
    assert done["outputs"]["results"] == 0
    assert "ConfigError" in failed["error"]
    assert "porcupine" not in failed["error"]


def test_texts_are_in_the_span_where_they_are_wanted(tmp_path: Path) -> None:
    """With `tracing.texts` a recall shows query and documents as LangSmith shows a retriever's."""
    config = Config.model_validate({"tracing": {"texts": True}})
    spans = Spans()
    with MemoryStore(tmp_path / "m.db", config=config) as store:
        say(store)
        with tracing_context(enabled=True, client=spans):
            store.recall("Where is Tofu?", ANNA)
    (recall,) = spans.named("langmemory.recall")
    assert recall["inputs"] == {"query": "Where is Tofu?"}
    assert "porcupine" in recall["outputs"]["documents"][0]["page_content"]


@pytest.mark.thorough
def test_spans_go_to_opentelemetry_where_langsmith_is_told_to(tmp_path: Path) -> None:
    """With LANGSMITH_OTEL_ENABLED the same spans reach an OpenTelemetry exporter."""
    script = f"""
import json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
from langmemory import MemoryStore
with MemoryStore({str(tmp_path / "m.db")!r}) as store:
    store.recall("Where is the porcupine?", ("memories",))
from langsmith.run_trees import get_cached_client
get_cached_client().flush()
print(json.dumps([[span.name, str(dict(span.attributes))] for span in kept.get_finished_spans()]))
"""
    switched_on = {
        "LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true",
        "LANGSMITH_API_KEY": "none", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9",
    }  # fmt: skip
    spans = json.loads(_printed(script, switched_on).splitlines()[-1])
    assert [name for name, _ in spans] == ["langmemory.recall"]
    assert "porcupine" not in str(spans)


def _printed(script: str, environment: dict[str, str]) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
