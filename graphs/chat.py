"""The chat graph that ``langgraph dev`` serves. It runs without any model, and says so.

What is said waits in the memory file until `langmemory worker`, or a run of the reflection graph,
reads it.
"""

from langmemory.config import load_config
from langmemory.graphs import build_chat_graph, chat_model
from langmemory.reflection import TurnQueue
from langmemory.tools import create_memory_tools

USER = "{user_id|local}"  # a run that names no user_id is the person at this machine
NAMESPACE = ("memories", USER)

graph = build_chat_graph(
    chat_model(load_config().models),
    tools=create_memory_tools(NAMESPACE, viewer=USER),
    namespace=NAMESPACE,
    viewer=USER,
    reflection=TurnQueue(),
)
