"""`langmemory graph` with links."""

from __future__ import annotations

import json
from pathlib import Path

from langmemory.stores import MemoryStore
from tests.cli.place import Run

TEAM = ("team", "shop")


def test_links_at_a_terminal(run: Run, tmp_path: Path) -> None:
    """`langmemory graph` links, ends links and shows a context; doctor names a circle."""
    with MemoryStore(tmp_path / "memory.db", index=False) as store:
        store.put(TEAM, "ship", {"record": "task", "title": "Ship it", "text": "Ship it"})
        store.put(TEAM, "vat", {"text": "VAT is 21 percent"})
    place = ("-n", "team/shop", "graph")
    assert run(*place, "Ship it", "--link", "requires", "--to", "vat").stdout == (
        "item:ship -requires-> item:vat\n"
    )
    assert "| VAT is 21 percent" in run(*place, "ship", "--context").stdout
    found = json.loads(run(*place, "ship", "--context", "--budget", "1", "--json").stdout)
    assert [one["why"] for one in found["left_out"]] == ["budget"]
    run(*place, "vat", "--link", "requires", "--to", "ship")
    assert "item:ship requires item:vat requires item:ship" in run("doctor").stdout
    assert "until" in run(*place, "vat", "--unlink", "requires", "--to", "ship").stdout
    assert "in a circle" not in run("doctor").stdout
    assert run(*place, "ship", "--link", "requires").exit_code == 2
