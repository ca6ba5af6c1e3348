"""Links over REST and `RemoteMemoryStore`: those of the file behind the server."""

from __future__ import annotations

import pytest

from tests.server.client import token_of

from langmemory import RemoteMemoryStore  # isort: skip
from langmemory.errors import ConfigError, EntityNameError, InvalidValueError  # isort: skip
from langmemory.server.app import create_app  # isort: skip
from langmemory.server.serving import serving as served  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip

TEAM = ("team", "shop")


def test_links_over_a_server_are_those_of_the_file(store: MemoryStore) -> None:
    """Linking, unlinking and contexts do over a server what they do on a file, with the same errors, and a
    viewer's token is told of nothing that is private to another."""
    store.put(TEAM, "ship", {"record": "task", "title": "Ship it", "text": "Ship it"})
    store.put(TEAM, "vat", {"text": "VAT is 21 percent"})
    store.put(TEAM, "raise", {"text": "A raise", "privacy": "private", "owner": "mia"})
    here = store.graph(TEAM)
    with served(create_app(store)) as address:
        with RemoteMemoryStore(address) as remote:
            there = remote.graph(TEAM)
            for graph in (here, there):
                assert not graph.subgraph("item:vat").entities
                with pytest.raises(EntityNameError, match="item:no"):
                    graph.subgraph("item:no")
            made = there.link("Ship it", "requires", "vat", reason="tax")
            assert here.edges() == (made,)
            here.link("ship", "requires", "raise")
            assert there.context_for("Ship it") == here.context_for("Ship it")
            assert len(there.edges("ship")) == 2
            ended = there.unlink("ship", "requires", "vat")
            assert here.edges("vat", past=True) == (ended,)
            for call, error in (
                (lambda: there.link("ship", "requires", "no"), EntityNameError),
                (lambda: there.context_for("no"), EntityNameError),
                (lambda: there.link("ship", "wants", "vat"), InvalidValueError),  # type: ignore[arg-type]
                (lambda: there.unlink("ship", "affects", "vat"), InvalidValueError),
                (
                    lambda: remote.graph(TEAM, as_of=made.created_at).link(
                        "ship", "affects", "vat"
                    ),
                    ConfigError,
                ),
            ):
                with pytest.raises(error):
                    call()
        token = token_of(store, "joe", TEAM)
        with RemoteMemoryStore(address, token=token) as joe:
            assert [one.name for one in joe.graph(TEAM).context_for("ship").entries] == ["Ship it"]
            assert joe.graph(TEAM).edges() == ()
            with pytest.raises(EntityNameError, match="item:raise"):
                joe.graph(TEAM).subgraph("item:raise")
