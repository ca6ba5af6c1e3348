"""A swarm: an orchestrator and two workers, each with a conversation of its own, on one memory.

The models are scripted, so that it runs as it is, without a server. Put your own in their place: each agent
is a graph of its own, and nothing of what one was told reaches another but through the memory file.

Run it: python examples/swarm.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langmemory import MemoryStore
from langmemory.parts.team import SessionEndNode, SessionStartNode, create_swarm_tools

TEAM = ("team", "shop")
AGENTS = {
    "orchestrator": "sets tasks and says what is decided",
    "researcher": "finds things out",
    "writer": "writes pages",
}


class Scripted(BaseChatModel):
    """A chat model that says what it was given, one answer after the other."""

    answers: list[Any]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Scripted:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        answer = self.answers.pop(0)
        if not isinstance(answer, str):
            calls = [
                {"name": name, "args": arguments, "id": f"call-{number}"}
                for number, (name, arguments) in enumerate(answer)
            ]
            message = AIMessage("", tool_calls=calls)
        else:
            message = AIMessage(answer)
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent(name: str, model: BaseChatModel, store: MemoryStore) -> Any:
    """Return the graph of one agent: its session begins, it works with its tools, its session ends."""
    others = {other: what for other, what in AGENTS.items() if other != name}
    tools = create_swarm_tools(TEAM, agent=name, agents=others)
    bound = model.bind_tools(tools)
    graph = StateGraph(MessagesState)
    graph.add_node("begin", SessionStartNode(TEAM, agent=name, identity=AGENTS[name]))
    graph.add_node("think", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools))
    graph.add_node("end", SessionEndNode(TEAM, agent=name))
    graph.add_edge(START, "begin")
    graph.add_edge("begin", "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "tools", END: "end"})
    graph.add_edge("tools", "think")
    graph.add_edge("end", END)
    return graph.compile(store=store)


def run(store: MemoryStore) -> None:
    """Let the three work, one after the other."""
    orchestrator = Scripted(
        answers=[
            [
                ("update_task", {"title": "Publish the prices page"}),
                ("update_task", {"title": "Find out the currency", "assign_to": "researcher"}),
                ("context_share", {"summary": "The shop opens on 1 May", "topic": "plan"}),
            ],
            "The researcher begins.",
        ]
    )
    researcher = Scripted(
        answers=[
            [
                (
                    "record_decision",
                    {
                        "what": "Prices are in euros only",
                        "why": "nine of ten customers pay in euros",
                        "alternatives": ["euros and dollars"],
                        "affects": ["shop/prices.py"],
                        "task": "Publish the prices page",
                    },
                ),
                (
                    "update_task",
                    {"task": "Find out the currency", "status": "done", "note": "euros"},
                ),
                (
                    "handoff",
                    {
                        "to": "writer",
                        "done": "The currency is known",
                        "next_steps": ["Write the page", "Show it to legal"],
                        "task": "Publish the prices page",
                    },
                ),
            ],
            "Handed on.",
        ]
    )
    writer = Scripted(
        answers=[
            [
                (
                    "update_task",
                    {"task": "Publish the prices page", "blockers": ["a word from legal"]},
                )
            ],
            "The page is written and waits for legal.",
        ]
    )
    for name, model in (
        ("orchestrator", orchestrator),
        ("researcher", researcher),
        ("writer", writer),
    ):
        said = agent(name, model, store).invoke({"messages": []})["messages"]
        print(f"{name}: {said[-1].text}")
    show(store)


def show(store: MemoryStore) -> None:
    """Print what the team is doing."""
    team = store.swarm(TEAM)
    for task in team.tasks():
        waits = f", waits for {', '.join(task.blockers)}" if task.blockers else ""
        print(f"[{task.status}] {task.title} ({task.agent or 'nobody'}{waits})")
    for decision in team.decisions():
        print(f"decided: {decision.what}, because {decision.why}")
    for session in reversed(team.sessions()):
        done = "; ".join(session.work_done) or "nothing finished"
        print(
            f"session of {session.agent}: {done}. Next: {'; '.join(session.next_steps) or 'nothing'}"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, MemoryStore(f"{folder}/memory.db") as memory:
        run(memory)
