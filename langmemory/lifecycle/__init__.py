"""Lifecycle: memory that ages. A view of a namespace and a time in, change sets with reasons out."""
