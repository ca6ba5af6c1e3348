"""Memories of an application's own schemas, in LangMem's shape."""
