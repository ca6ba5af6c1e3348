"""A chat that remembers across threads. Change the prompt, add tools: this file is yours."""

from langmemory.config import load_config
from langmemory.graphs import build_chat_graph, chat_model
from langmemory.reflection import TurnQueue
from langmemory.tools import create_memory_tools

USER = "{user_id|local}"  # a run that names no user_id is the person at this machine
NAMESPACE = ("memories", USER)

PROMPT = """\
You are a helpful assistant. Notes about the person you talk to may stand below. \
Use them when they help."""

graph = build_chat_graph(
    chat_model(load_config().models),
    tools=create_memory_tools(NAMESPACE, viewer=USER),
    namespace=NAMESPACE,
    viewer=USER,
    prompt=PROMPT,
    reflection=TurnQueue(),  # what was said waits for `langmemory worker`, or the graph beside this
)
