"""`langmemory stats`: what is in the file."""

from __future__ import annotations

from langmemory.addresses import is_server
from langmemory.cli.target import JsonOption, OnFile
from langmemory.cli.terminal import json_text, plain, say
from langmemory.pluralize import counted, memories


def stats(target: OnFile, as_json: JsonOption = False) -> None:
    """Count what is in the file."""
    from langmemory.cli.screen import FOLD, Screen, facts_table

    with target.open(vectors=False) as store:
        found, jobs, reviews = store.stats(), store.jobs.counts(), len(store.changes.reviews())
        path = store.path
    if as_json:
        say(json_text(plain(found) | {"jobs": jobs, "reviews": reviews}))
        return
    table = facts_table({"style": "dim"}, FOLD)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(found.by_kind.items()))
    model = f"{found.model}, {found.dims} dimensions" if found.model else "none: keywords only"
    waiting, dead = jobs.get("pending", 0), jobs.get("dead", 0)
    for name, value in {
        "server" if is_server(path) else "file": f"{path}, {found.file_bytes / 1e6:,.1f} MB",
        "memories": f"{found.items:,}" + (f" ({kinds})" if kinds else ""),
        "archive file": (
            f"{memories(found.archived)}, {found.archive_bytes / 1e6:,.1f} MB"
            if found.archive_bytes
            else ""
        ),
        "namespaces": f"{found.namespaces:,}",
        "vectors": f"{found.vectors:,}",
        "model": model,
        "keyword rows": f"{found.keywords:,}",
        "history": counted(found.history, "change"),
        "reflection": f"{waiting:,} waiting, {dead:,} given up" if waiting or dead else "",
        "reviews": f"{reviews:,} open" if reviews else "",
    }.items():
        if value:
            table.add_row(name, value)
    Screen().print(table)
