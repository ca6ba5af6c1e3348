"""Ports: what recall and formation ask of an engine, as protocols and plain values."""
