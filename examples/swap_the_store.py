"""Swap the store: a LangGraph application gets long-term memory by changing one line.

Run it: python examples/swap_the_store.py
"""

import tempfile

from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore

# Before: from langgraph.store.sqlite import SqliteStore
from langmemory import MemoryStore

LINES = (
    "The spare key hangs behind the blue door.",
    "Aunt Ottilie arrives on the 9:40 train and is allergic to cats.",
    "The wifi is called Möwennest.",
    "Where is the spare key?",
    "Which animals does my aunt not tolerate?",
)


def concierge(state: MessagesState, *, store: BaseStore) -> dict[str, list[tuple[str, str]]]:
    """A node that takes notes and answers from them. It knows nothing of langmemory."""
    text = state["messages"][-1].text
    if not text.endswith("?"):
        store.put(("notes",), text[:40], {"text": text})
        return {"messages": [("ai", "Noted.")]}
    [best] = store.search(("notes",), query=text, limit=1)
    return {"messages": [("ai", f"You told me: {best.value['text']}")]}


with tempfile.TemporaryDirectory() as folder:
    builder = StateGraph(MessagesState).add_node(concierge).add_edge(START, "concierge")
    with MemoryStore.from_conn_string(f"{folder}/memory.db") as store:  # before: SqliteStore
        graph = builder.compile(store=store)
        for line in LINES:
            answer = graph.invoke({"messages": [HumanMessage(line)]})["messages"][-1]
            print(f"> {line}\n  {answer.text}")
