"""Maintenance: nights over a store. Each task plans from a view (`langmemory.lifecycle`) and applies change sets."""
