"""Turns what was said into facts. Run it in Studio, or leave it to `langmemory worker`."""

from langmemory.graphs import build_reflection_graph

USER = "{user_id|local}"

graph = build_reflection_graph(namespace=("memories", USER), owner=USER)
