"""The reflection graph: derive facts from stored turns, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from langmemory.chat_models import as_chat_model, form_of, named_chat_model, window_of
from langmemory.config import Config, load_config
from langmemory.events import Event
from langmemory.formation.entities.identity import ModelNameJudge
from langmemory.formation.extraction.completed import CompletedExtractor
from langmemory.formation.extraction.extractor import Extractor, ModelExtractor
from langmemory.formation.extraction.small import SmallExtractor
from langmemory.formation.judging import Judge, ModelJudge, StructuralJudge
from langmemory.formation.rules import RuleExtractor
from langmemory.graphs.models import ChatContext
from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.projections.journal import JournalFiles
from langmemory.reflection.events import CONTRADICT, EXTRACT, IDENTIFY
from langmemory.reflection.queue import REFLECTION
from langmemory.reflection.steps import (
    ReflectionInput,
    ReflectionOutput,
    ReflectionState,
    ReflectionSteps,
    is_stale,
    more_to_read,
)
from langmemory.steps import Steps, awaiting, blocking
from langmemory.types import Namespace, Privacy

MOST_STEPS = 10_000_000
"""LangGraph's recursion limit for one run, with about ten steps a batch; no conversation should reach
it."""


def build_reflection_graph(
    store: BaseStore | None = None,
    *,
    model: str | BaseChatModel | None = None,
    judge_model: str | BaseChatModel | None = None,
    name_model: str | BaseChatModel | None = None,
    extractor: Extractor | None = None,
    judge: Judge | None = None,
    namespace: str | tuple[str, ...] = ("memories", "{user_id}"),
    owner: str | None = "{user_id|}",
    privacy: Privacy = "shared",
    batch_tokens: int | None = None,
    journal: str | Path | Literal[False] | None = None,
    now: Callable[[], datetime] | None = None,
    config: Config | None = None,
    context_schema: type[Any] = ChatContext,
    dry_run: bool = False,
    **compile_options: Any,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a graph that reads unread turns and writes the facts that follow from them.

    The input is ``{"namespace": […], "thread_id": …}``, as the queue submits it, or without a thread
    for all of a namespace; ``{"messages": […]}`` stores a conversation first. The output is
    `ReflectionOutput`. Without a model, rules extract and compare facts; with one, they still do, and the
    model adds what it read beside them. What it alone read waits until a rule, or another conversation,
    says the same; what no person said is left out, and the run's note says why.

    If a step fails, the run ends, nothing of its batch is written, and the caller gets the error; an
    executor tries again. If a model's answer is unusable twice, the rules' facts are all there are, and
    the run's note says ``extraction failed``.

    Args:
        store: a `MemoryStore`; None takes the one the graph runs with.
        model: extracts facts; None is ``models.deep`` of the configuration, else rules.
        judge_model: decides which facts contradict each other; None is `model`.
        name_model: decides whether a name means a similar known one. None is
            `judge_model` or `model`, else ``models.fast`` or ``models.deep`` of the configuration.
            Without any, or with `judge` alone, a review asks a person.
        extractor: extracts instead of `model`. A `ModelExtractor` is completed by rules all the same, any
            other is believed.
        judge: decides instead of `judge_model`.
        namespace: template for runs whose input has no namespace, see `langmemory.nodes.NamespaceTemplate`.
        owner: template of the owner of a conversation that comes as ``messages``.
        privacy: who may recall such a conversation.
        batch_tokens: tokens of conversation in a batch; None is the configured number, or a quarter of the
            model's window where that is less.
        journal: folder of the daily pages; None is the configured one, False writes none.
        now: the time, for the record.
        config: None is the store's, else what `load_config` finds.
        context_schema: schema of a run's context; it must have the variables of `namespace`.
        dry_run: plan one batch, write nothing of it, and end. (``messages`` are remembered.)
        compile_options: passed to ``StateGraph.compile``.
    """
    config = config or getattr(store, "config", None) or load_config()
    model, judge_model, name_model = (
        None if one is None else as_chat_model(one, config.models)
        for one in (model, judge_model, name_model)
    )
    given = judge_model or model
    if model is None and extractor is None and config.models.deep is not None:
        model = named_chat_model(config.models.deep, config.models)
    judge_model = judge_model or model
    if name_model is None and judge is None:
        name_model = given or _fast_model(config) or judge_model
    if extractor is None:
        extractor = _reader(model)
    if isinstance(extractor, ModelExtractor | SmallExtractor):
        extractor = CompletedExtractor(extractor)
    if judge is None:
        judge = ModelJudge(judge_model) if judge_model is not None else StructuralJudge()
    folder = config.journal.path if journal is None else journal
    step = ReflectionSteps(
        extractor=extractor,
        judge=judge,
        names=ModelNameJudge(name_model) if name_model is not None else None,
        namespace=NamespaceTemplate(namespace),
        owner=owner,
        privacy=privacy,
        batch_tokens=batch_tokens or _batch_tokens(config, model),
        files=JournalFiles(folder) if folder else None,
        now=now or (lambda: datetime.now(UTC)),
        dry_run=dry_run,
    )

    graph = StateGraph(
        ReflectionState,
        context_schema=context_schema,
        input_schema=ReflectionInput,
        output_schema=ReflectionOutput,
    )
    graph.add_node("receive", _Waiting(step.receive))
    graph.add_node("gather", step.gather)
    graph.add_node("extract", _Waiting(step.extract, EXTRACT))
    graph.add_node("resolve_time", step.resolve_time)
    graph.add_node("resolve_entities", step.resolve_entities)
    graph.add_node("deduplicate", step.deduplicate)
    graph.add_node("contradict", _Waiting(step.contradict, CONTRADICT))
    graph.add_node("plan", step.plan)
    graph.add_node("apply", _Waiting(step.apply))

    graph.add_edge(START, "receive")
    graph.add_edge("receive", "gather")
    graph.add_conditional_edges("gather", more_to_read, {True: "extract", False: END})
    graph.add_edge("extract", "resolve_time")
    graph.add_edge("resolve_time", "resolve_entities")
    if step.names is None:
        graph.add_edge("resolve_entities", "deduplicate")
    else:
        graph.add_node("identify", _Waiting(step.identify, IDENTIFY))
        graph.add_edge("resolve_entities", "identify")
        graph.add_edge("identify", "deduplicate")
    graph.add_edge("deduplicate", "contradict")
    graph.add_edge("contradict", "plan")
    graph.add_edge("plan", "apply")
    then = "gather"
    if step.files is not None and not dry_run:
        then = "journal"
        graph.add_node("journal", step.journal)
        graph.add_edge("journal", "gather")
    graph.add_conditional_edges(
        "apply", is_stale, {True: "resolve_entities", False: END if dry_run else then}
    )

    compile_options = {"name": REFLECTION, "store": store, **compile_options}
    compiled = graph.compile(**compile_options)
    return compiled.with_config(recursion_limit=MOST_STEPS)


def batches(
    store: BaseStore,
    namespace: Namespace,
    thread: str | None = None,
    turns: list[str] | None = None,
    *,
    graph: CompiledStateGraph[Any, Any, Any, Any] | None = None,
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Reflect a namespace, one conversation in it, or some turns of one; yield each batch with its
    outcome. To reflect many conversations, build the ``graph`` of the store once."""
    graph = graph or build_reflection_graph(store)
    batch: dict[str, Any] = {}
    plan: dict[str, Any] = {}
    asked = {"namespace": [*namespace], "thread_id": thread, "turns": turns}
    for update in graph.stream(asked):
        batch = (update.get("gather") or {}).get("batch") or batch
        plan = (update.get("plan") or {}).get("plan") or plan
        applied = (update.get("apply") or {}).get("applied")
        if applied is not None:
            yield batch, {**plan["note"], **applied}


class _Waiting(Runnable[Any, Any]):
    """The node of a step that waits, each run of it an event. (RunnableLambda looks at the signature of its
    function in each run.)"""

    def __init__(self, work: Callable[..., Steps[Any]], event: Event | None = None) -> None:
        run, arun = blocking(work), awaiting(work)
        self._run, self._arun = (event(run), event(arun)) if event else (run, arun)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self._run(input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._arun(input)


def _batch_tokens(config: Config, model: BaseChatModel | None) -> int:
    window = None if model is None else window_of(model)
    usual = config.reflection.batch_tokens
    return usual if window is None else min(usual, max(1, window // 4))


def _reader(model: BaseChatModel | None) -> Extractor:
    """Return what reads conversations: a model in the form it can follow, or the rules alone."""
    form = "none" if model is None else form_of(model)
    if model is None or form == "none":
        return RuleExtractor()
    return SmallExtractor(model) if form == "small" else ModelExtractor(model)


def _fast_model(config: Config) -> BaseChatModel | None:
    name = config.models.fast
    return None if name is None else named_chat_model(name, config.models)
