"""The reflection graph that ``langgraph dev`` serves: what was said becomes knowledge.

With an empty input (``{}``) it reads whatever is new for the person of the run. It works by rules unless
config/memory.json names a model as ``models.deep``.
"""

from langmemory.graphs import build_reflection_graph

graph = build_reflection_graph(namespace=("memories", "{user_id|local}"), owner="{user_id|local}")
