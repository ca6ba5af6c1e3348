"""The chat graph: recall, summarize, answer (with tools), remember."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Unpack

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool
from langgraph.cache.base import BaseCache
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallWithContext
from langgraph.store.base import BaseStore
from langgraph.types import All, Checkpointer, Command, Send

from langmemory.chat_models import as_chat_model, unheard
from langmemory.context.budget import ContextBudget
from langmemory.context.citations import Citations
from langmemory.context.disclosure import DisclosureBudget
from langmemory.context.tokens import DEFAULT_COUNTER, TokenCounter
from langmemory.context.turns import Placement
from langmemory.errors import ConfigError
from langmemory.graphs.models import ChatContext, ChatState, NoModel, budget_for
from langmemory.nodes.core_memory import BLOCKS, CondenseNode
from langmemory.nodes.model import DEFAULT_PROMPT, ModelNode
from langmemory.nodes.recall import NodeOptions, RecallNode
from langmemory.nodes.remember import ReflectionQueue, RememberNode
from langmemory.nodes.summarize import (
    GROUNDED_EXISTING_SUMMARY_PROMPT,
    GROUNDED_INITIAL_SUMMARY_PROMPT,
    RECALL_FINAL_SUMMARY_PROMPT,
    SummarizationNode,
)
from langmemory.tools import create_memory_tools
from langmemory.types import Privacy


class ChatOptions(NodeOptions, total=False):
    """Options of recall, and those of ``StateGraph.compile``."""

    checkpointer: Checkpointer
    cache: BaseCache[Any] | None
    store: BaseStore | None
    interrupt_before: All | list[str] | None
    interrupt_after: All | list[str] | None
    debug: bool


def build_chat_graph(
    model: str | BaseChatModel,
    *,
    tools: Sequence[BaseTool | Callable[..., Any] | str] = (),
    namespace: str | tuple[str, ...] = ("memories", "{user_id}"),
    viewer: str | None = "{user_id|}",
    privacy: Privacy = "shared",
    prompt: str = DEFAULT_PROMPT,
    budget: ContextBudget | None = None,
    memory_budget: DisclosureBudget | int | None = None,
    core: Mapping[str, str] = BLOCKS,
    summary_model: str | BaseChatModel | None = None,
    citations: Citations = "strip",
    placement: Placement = "system",
    reflection: ReflectionQueue | None = None,
    token_counter: TokenCounter = DEFAULT_COUNTER,
    context_schema: type[Any] = ChatContext,
    name: str = "chat",
    **options: Unpack[ChatOptions],
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a chat graph that remembers across threads and keeps its window small.

    It is compiled without a store or checkpointer, so that LangGraph's server accepts it. Elsewhere
    pass ``store=…`` and ``checkpointer=…`` for ``compile``.

    Args:
        model: any LangChain chat model, or its name ("ollama:qwen3:8b").
        tools: tools of the model; a name of `langmemory.tools.TOOLS` is a memory tool
            (``tools=["search_memory", my_tool]``). The result of a tool with ``return_direct`` is the
            answer.
        namespace: template of the person's memories; variables come from the run, see
            `langmemory.nodes.NamespaceTemplate`.
        viewer: whose private memories may be shown, see `langmemory.nodes.RecallNode`.
        privacy: who may recall the messages if several people share a namespace: with ``private`` only
            the person whom `viewer` names.
        prompt: the system prompt; the memories follow it.
        budget: division of the model's window; None is 128k, or a smaller known window.
        memory_budget: tokens of the memory block, in all or by tier; None is 400 in all.
        core: labels of the core blocks and what belongs in each; empty for none.
        summary_model: summarizes old messages and shortens core blocks that are nearly full; None is
            `model`.
        citations: whether the ids of memories are removed from answers, stay in them, or are left out
            of the prompt, see `langmemory.context.Citations`.
        placement: the position of the memory block: at the end of the ``system`` prompt, or in a
            ``message`` of its own before the person's last one, outside of privileged instructions.
        reflection: the queue for new turns: a `ReflectionExecutor` or `TurnQueue`.
        token_counter: counts prompts; the default is an approximation.
        context_schema: schema of a run's context; it must have the variables of `namespace`.
        name: the graph's name in traces.
        options: ``documents`` and the others of `langmemory.nodes.RecallNode`, see `BlockOptions`; the rest
            is passed to ``StateGraph.compile``.

    Raises:
        ConfigError: there is no model of that name, or an argument is invalid.
    """
    compiled: dict[str, Any] = {**options}
    recalled = {one: compiled.pop(one) for one in NodeOptions.__annotations__ if one in compiled}
    model = as_chat_model(model)
    budget = budget_for(model) if budget is None else budget
    if not isinstance(budget, ContextBudget):
        raise ConfigError(
            f"budget is {budget!r:.80}; pass ContextBudget(window_tokens=…), or memory_budget=… for "
            f"the tokens of the memory block."
        )
    if summary_model is not None:
        summary_model = as_chat_model(summary_model)
    elif not isinstance(model, NoModel):
        summary_model = model

    tools = _with_memory_tools(tools, namespace=namespace, viewer=viewer, core=core)
    graph = StateGraph(ChatState, context_schema=context_schema, input_schema=MessagesState)
    graph.add_node(
        "recall",
        RecallNode(
            namespace,
            viewer=viewer,
            budget=memory_budget,
            core=core,
            visible_key="summarized_messages" if summary_model else None,
            citations=citations,
            token_counter=token_counter,
            **recalled,
        ),
    )
    graph.add_node(
        "model",
        ModelNode(
            model,
            tools=tools,
            prompt=prompt,
            budget=budget,
            citations=citations,
            placement=placement,
            token_counter=token_counter,
        ),
    )
    graph.add_node(
        "remember", RememberNode(namespace, owner=viewer, privacy=privacy, reflection=reflection)
    )

    graph.add_edge(START, "recall")
    before_model = "model"
    after_remember = END
    if summary_model is not None:
        # The person is talking to the model, and must not see it write summaries.
        writer = unheard(summary_model)
        summarize = SummarizationNode(
            model=writer,
            initial_summary_prompt=GROUNDED_INITIAL_SUMMARY_PROMPT,
            existing_summary_prompt=GROUNDED_EXISTING_SUMMARY_PROMPT,
            final_prompt=RECALL_FINAL_SUMMARY_PROMPT,
            token_counter=token_counter,
            name="summarize",
            grounded=True,
            **budget.summarization,
        )
        graph.add_node("summarize", summarize | RunnableLambda(_unstreamed))
        graph.add_edge("summarize", "model")
        before_model = "summarize"
        if core:
            graph.add_node("condense", CondenseNode(writer, namespace, core=core))
            graph.add_edge("condense", END)
            after_remember = "condense"
    graph.add_edge("recall", before_model)
    if tools:
        graph.add_node("tools", ToolNode(list(tools)))
        graph.add_conditional_edges("model", _after_model, ["tools", "remember"])
        direct = {one.name for one in tools if isinstance(one, BaseTool) and one.return_direct}
        if direct:
            after_tools = _after_tools(direct, before_model)
            graph.add_conditional_edges("tools", after_tools, [before_model, "remember"])
        else:
            graph.add_edge("tools", before_model)
    else:
        graph.add_edge("model", "remember")
    graph.add_edge("remember", after_remember)
    return graph.compile(name=name, **compiled)


def _with_memory_tools(
    tools: Sequence[BaseTool | Callable[..., Any] | str], **options: Any
) -> list[BaseTool | Callable[..., Any]]:
    """The tools, those for memory made by their names."""
    if isinstance(tools, str):
        raise ConfigError(f"tools is {tools!r}; pass a list, such as [{tools!r}]")
    names = [one for one in tools if isinstance(one, str)]
    made = {one.name: one for one in create_memory_tools(tools=names, **options)} if names else {}
    return [
        one if not isinstance(one, str) else made[one]
        for one in tools
        if not isinstance(one, str) or one in made
    ]


def _unstreamed(update: dict[str, Any]) -> Command[Any]:
    """The update in a form in which LangGraph does not look for messages to stream: the summary among
    them is for the model (``StreamMessagesHandler.on_chain_end``)."""
    return Command(update=list(update.items()))


def _after_model(state: ChatState) -> list[Send] | str:
    """Each of several tool calls is a task of its own, as in `create_agent`: where one is interrupted
    and resumed, the others are not made again. (Each carries the state, one alone reads it.)"""
    calls = getattr(state["messages"][-1], "tool_calls", None)
    if not calls:
        return "remember"
    if len(calls) == 1:
        return "tools"
    return [
        Send(
            "tools",
            ToolCallWithContext(__type="tool_call_with_context", tool_call=call, state=state),
        )
        for call in calls
    ]


def _after_tools(direct: Container[str], before_model: str) -> Callable[[ChatState], str]:
    """Results of tools that return directly are the answer, where no other tool was called with them.
    (The calls tell: of several, each is a task that has but its own result.)"""

    def after_tools(state: ChatState) -> str:
        caller = next(one for one in reversed(state["messages"]) if isinstance(one, AIMessage))
        done = all(call["name"] in direct for call in caller.tool_calls)
        return "remember" if done else before_model

    return after_tools
