"""Lets memory age: promotes, puts away, merges and summarises.

Run it in Studio, or leave it to `langmemory worker --maintain 03:00`.
"""

from langmemory.graphs import build_maintenance_graph

graph = build_maintenance_graph()
