"""Procedures from talk and from runs of tools: read, planned, and judged by what came of them."""
