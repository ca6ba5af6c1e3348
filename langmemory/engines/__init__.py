"""Engines: where memories are kept. SQLite is the one there is."""
