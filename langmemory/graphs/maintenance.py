"""The maintenance graph: a night of a store, with a node for each task."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.channels import EphemeralValue
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.chat_models import as_chat_model, named_chat_model
from langmemory.config import Config, load_config
from langmemory.errors import ConfigError, MaintenanceBusyError
from langmemory.formation.asking.asker import asking_within
from langmemory.lifecycle.policies import PolicyOptions
from langmemory.maintenance.night import BudgetSpentError, Night
from langmemory.maintenance.report import TaskReport
from langmemory.maintenance.tasks import TASKS
from langmemory.namespaces import check_labels, check_namespace
from langmemory.nodes.node import run_of
from langmemory.reflection.events import reason
from langmemory.reflection.tokens import counting
from langmemory.stores import MemoryStore

logger = logging.getLogger("langmemory.maintenance")

MAINTENANCE: Final = "maintenance"
RESUME_HOURS: Final = 12
"""Hours after which an interrupted night is not resumed, but a new one begins."""
PAGES: Final = "pages"
"""Name of the report on the pages that a night writes at its end."""
DONE_EARLIER: Final = "done before the night was interrupted"
LAST: Final = "graduate"
"""The task that is skipped if another failed."""


class MaintenanceInput(TypedDict, total=False):
    """The input of a night; every key is optional. It applies to one night, and not to the next one of
    the same thread."""

    namespace: Annotated[list[str], EphemeralValue]
    """Limit the night to namespaces with this prefix of whole labels."""
    dry_run: Annotated[bool, EphemeralValue]
    """Report what would change, and change nothing."""


class MaintenanceOutput(TypedDict):
    """The result of a night."""

    night: str
    """The id: a new one, or that of a night of the same namespaces that was interrupted less than
    `RESUME_HOURS` ago. Its finished tasks are not repeated."""
    reports: list[dict[str, Any]]
    """A `TaskReport` for each task, as plain JSON."""


def _reported(known: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the report of a task; none at all begins a new night."""
    return [*known, *new] if new else []


class MaintenanceState(MaintenanceInput, total=False):
    night: str
    within: list[str]
    """The namespace of the input."""
    dry: bool
    """Whether the night only tells what would change."""
    reports: Annotated[list[dict[str, Any]], _reported]
    done: list[str]
    """Tasks that were done before the night was interrupted."""


NightOf = Callable[[MaintenanceState, RunnableConfig], Night]


def build_maintenance_graph(
    store: BaseStore | None = None,
    *,
    tasks: Iterable[str] | None = None,
    model: str | BaseChatModel | None = None,
    now: Callable[[], datetime] | None = None,
    policies: PolicyOptions | None = None,
    config: Config | None = None,
    **compile_options: Any,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a graph that maintains a store: one node a task, each with budgets and runs of its own.

    A task that fails is reported; the others run, and no fact becomes active that night. The runs of a night
    are undone together by ``store.lifecycle.undo(night)``.

    Args:
        store: A `MemoryStore`; None takes the one the graph runs with.
        tasks: Names of `langmemory.maintenance.tasks.TASKS`; None is all. Their order is that of `TASKS`.
        model: The model of tasks that consolidate and summarise; None is ``models.deep`` of the
            configuration, else rules.
        now: The time by which memories age; None is the clock.
        policies: The numbers of the rules; None takes those of the store's configuration.
        config: None is the store's, else what `load_config` finds.
        compile_options: Passed to ``StateGraph.compile``.

    Raises:
        ConfigError: There is no such task.
    """
    wanted = set(TASKS) if tasks is None else set(tasks)
    if unknown := sorted(wanted - set(TASKS)):
        raise ConfigError(f"There is no task {unknown[0]!r}. Known: {', '.join(TASKS)}.")
    config = config or getattr(store, "config", None) or load_config()
    chat: BaseChatModel | None = None
    if model is not None:
        chat = as_chat_model(model, config.models)
    elif config.models.deep is not None:
        chat = named_chat_model(config.models.deep, config.models)

    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        MaintenanceState, input_schema=MaintenanceInput, output_schema=MaintenanceOutput
    )
    night = partial(_night, model=chat, now=now, policies=policies)
    graph.add_node("begin", RunnableLambda(partial(_begin, night_of=night)))
    graph.add_edge(START, "begin")
    before = "begin"
    for name in TASKS:
        if name in wanted:
            graph.add_node(name, RunnableLambda(partial(_task, name=name, night_of=night)))
            graph.add_edge(before, name)
            before = name
    graph.add_node("finish", RunnableLambda(partial(_finish, night_of=night)))
    graph.add_edge(before, "finish")
    graph.add_edge("finish", END)
    return graph.compile(**{"name": MAINTENANCE, "store": store, **compile_options})


def _begin(
    state: MaintenanceState,
    config: RunnableConfig,
    *,
    night_of: NightOf,
) -> dict[str, Any]:
    """Take the lease, and give the night its id."""
    given = state.get("namespace") or []
    check_labels(given)
    within = list(check_namespace(tuple(given), may_be_empty=True))
    begun: MaintenanceState = {
        "within": within, "dry": bool(state.get("dry_run")), "reports": [], "done": [],
    }  # fmt: skip
    night = night_of(begun, config)
    if night.dry_run:
        return {**begun, "night": night.id}
    night.take_lease()
    noted = night.room.last_night() or {"finished": True}
    resumed = (
        not noted["finished"]
        and noted["prefix"] == within
        and night.now_us - noted["at"] < RESUME_HOURS * 3_600_000_000
    )
    if not resumed:
        noted = {"id": night.id, "prefix": within, "at": night.now_us, "done": []}
        night.room.note_night({**noted, "finished": False})
    return {**begun, "night": noted["id"], "done": noted["done"]}


def _task(
    state: MaintenanceState,
    config: RunnableConfig,
    *,
    name: str,
    night_of: NightOf,
) -> dict[str, Any]:
    """Do one task; whatever happens, the report says so."""
    night = night_of(state, config)
    report = night.begin(name)
    if name in state["done"]:
        report.refused.append(DONE_EARLIER)
        return {"reports": [asdict(report)]}
    failed = [one["task"] for one in state["reports"] if one["error"]]
    if name == LAST and failed:
        report.refused.append(f"nothing graduates: {', '.join(failed)} failed")
        return {"reports": [asdict(report)]}
    began = time.monotonic()
    try:
        with counting() as night.counter, asking_within(night.config.task_seconds):
            TASKS[name](night, report)
    except BudgetSpentError as error:
        report.refused.append(str(error))
    except MaintenanceBusyError:
        raise
    except Exception as error:  # the boundary of a task: the others go on
        report.error = reason(error)
        logger.warning("Night %s: the task %s failed: %s", night.id, name, report.error)
    report.seconds = round(time.monotonic() - began, 3)
    report.tokens = max(report.tokens, night.counter.total)
    if not night.dry_run and report.error is None:
        noted = night.room.last_night()
        if noted is not None and noted["id"] == night.id:
            night.room.note_night({**noted, "done": [*noted["done"], name]})
    return {"reports": [asdict(report)]}


def _finish(
    state: MaintenanceState,
    config: RunnableConfig,
    *,
    night_of: NightOf,
) -> dict[str, Any]:
    """Note that the night is over, and give the lease back."""
    night = night_of(state, config)
    if not night.dry_run:
        noted = night.room.last_night()
        if noted is not None and noted["id"] == night.id:
            night.room.note_night({**noted, "finished": True})
        try:
            return _written(night)
        finally:
            night.room.give_back_lease(night.holder)
    return {}


def _written(night: Night) -> dict[str, Any]:
    """Write `MEMORY.md` and `DREAMS.md`, where there is a journal; a page that somebody edited meanwhile is
    left for the next night."""
    folder = night.store.config.journal.path
    if folder is None:
        return {}
    report = TaskReport(task=PAGES)
    try:
        changed, edited = night.store.journal.memory_files(folder).write(
            night.prefix,
            budget_tokens=night.config.memory_page_tokens,
            now_us=night.now_us,
        )
        report.figures["changed"] = changed
        report.refused += [f"{file} was edited and is left as it is" for file in edited]
    except OSError as error:  # the night's changes stand; the pages can be written at any time
        report.error = f"{type(error).__name__}: {error.strerror}"
    return {"reports": [asdict(report)]}


def _night(
    state: MaintenanceState,
    config: RunnableConfig,
    *,
    model: BaseChatModel | None,
    now: Callable[[], datetime] | None,
    policies: PolicyOptions | None,
) -> Night:
    store, _ = run_of(config, None, MAINTENANCE)
    if not isinstance(store, MemoryStore):
        raise ConfigError(
            f"Maintenance needs a MemoryStore, and runs with a {type(store).__name__}. Pass "
            "store=MemoryStore(…) to build_maintenance_graph, or compile the graph with one."
        )
    options: dict[str, Any] = {"prefix": tuple(state["within"])}
    if night := state.get("night"):
        options["id"] = night
    return Night(
        store=store,
        model=model,
        now=now or (lambda: datetime.now(UTC)),
        dry_run=state["dry"],
        given_policies=policies,
        **options,
    )
