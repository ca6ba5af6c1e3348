"""The maintenance graph that ``langgraph dev`` serves: a night over the store, one node a task.

With an empty input (``{}``) it maintains the whole file; ``{"dry_run": true}`` changes nothing.
"""

from langmemory.graphs import build_maintenance_graph

graph = build_maintenance_graph()
