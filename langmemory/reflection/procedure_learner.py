"""create_procedure_learner: procedures from runs of tools and from corrections, kept in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.store.base import BaseStore

from langmemory.chat_models import as_chat_model
from langmemory.context.marking import is_injected
from langmemory.errors import ConfigError
from langmemory.formation.procedures.learning import Learned, ProcedureReader
from langmemory.messages import as_list
from langmemory.nodes.access import seen_by
from langmemory.nodes.namespaces import NamespaceTemplate, viewer_of
from langmemory.nodes.node import run_of
from langmemory.procedures import Draft, Procedure
from langmemory.reflection.reflector import check_claim
from langmemory.steps import Steps, arun_steps, call, run_steps
from langmemory.stores.face import StoreFace
from langmemory.types import Namespace, Privacy

KNOWN_SHOWN = 5
"""Known procedures that the model is shown."""


class ProcedureLearner(Runnable[Any, list[Procedure]]):
    """``invoke({"messages": […]})`` returns the procedures that a conversation taught, as they are kept.

    See `create_procedure_learner`.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        namespace: NamespaceTemplate,
        store: BaseStore | None,
        owner: str | None,
        privacy: Privacy,
        instructions: str,
    ) -> None:
        self.namespace, self.owner, self.privacy = namespace, owner, privacy
        self._store = store
        self._reader = ProcedureReader(model, instructions=instructions)

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Procedure]:
        """Read a conversation and keep what it teaches.

        Raises:
            ConfigError: The input has no messages, or the store keeps no procedures.
            ModelUnavailableError: The model could not be asked.
            ExtractionError: Its answers could not be used.
        """
        return run_steps(self._steps(input, ensure_config(config)))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Procedure]:
        """`invoke` without blocking the loop."""
        return await arun_steps(self._steps(input, ensure_config(config)))

    def _steps(self, input: Any, config: RunnableConfig) -> Steps[list[Procedure]]:
        if not isinstance(input, Mapping):
            raise ConfigError(
                f'The input is a {type(input).__name__}; pass {{"messages": […]}}, with the calls of tools.'
            )
        messages = convert_to_messages(as_list(input.get("messages") or ()))  # type: ignore[arg-type]
        store, scope = run_of(config, self._store, "procedure learner")
        owner = viewer_of(self.owner, scope) or None
        seen = seen_by(store, owner)
        if not isinstance(seen, StoreFace):
            raise ConfigError(
                f"Procedures are kept in a MemoryStore, and the store is a {type(store).__name__}."
            )
        given = input.get("namespace")
        namespace = tuple(given) if given else self.namespace.resolve(scope)
        room = seen.procedures
        asked = _asked(messages)
        found = (yield call(room, "recall", asked, namespace, limit=KNOWN_SHOWN)) if asked else ()
        known = [one.procedure for one in found if one.procedure.namespace == namespace]
        learned: Learned = yield from self._reader.read(messages, known, config)
        if not learned.drafts:
            return []
        check_claim()
        drafts = [self._owned(draft, owner) for draft in learned.drafts]
        note = {"model_calls": learned.model_calls, "dropped": len(learned.dropped)}
        kept: list[Procedure] = yield call(
            room,
            "keep",
            namespace,
            drafts,
            reason="learned from a run",
            kind="reflection",
            note=note,
        )
        return kept

    def _owned(self, draft: Draft, owner: str | None) -> Draft:
        return replace(draft, owner=owner, privacy=self.privacy)


def _asked(messages: Sequence[BaseMessage]) -> str:
    said = [one.text for one in messages if isinstance(one, HumanMessage) and not is_injected(one)]
    return " ".join(map(str, said))[:2_000]


def create_procedure_learner(
    model: str | BaseChatModel,
    /,
    *,
    namespace: str | Namespace = ("memories", "{user_id}"),
    store: BaseStore | None = None,
    owner: str | None = "{user_id|}",
    privacy: Privacy = "shared",
    instructions: str = "",
) -> ProcedureLearner:
    """Return a runnable that learns procedures from a conversation with calls of tools.

    Give it to a `ReflectionExecutor` to learn in the background. Without a model, people's corrections
    are learned by the reflection all the same, by rules.

    Args:
        model: A chat model, or its name as ``langchain`` knows it ("ollama:qwen3:8b").
        namespace: Where procedures are kept; variables in braces come from the run.
        store: Used instead of the graph's store, or outside a graph.
        owner: Template of the person whose run it is; None is nobody's.
        privacy: Who may recall what is learned.
        instructions: What the application wants besides.

    Raises:
        ConfigError: The model's package is missing, or a private procedure has nobody to own it.
    """
    if privacy == "private" and owner is None:
        raise ConfigError("Private procedures need an owner; pass owner=….")
    return ProcedureLearner(
        as_chat_model(model),
        namespace=namespace if isinstance(namespace, NamespaceTemplate) else NamespaceTemplate(namespace),
        store=store, owner=owner, privacy=privacy, instructions=instructions,
    )  # fmt: skip
