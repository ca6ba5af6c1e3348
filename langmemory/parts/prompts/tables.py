"""The table of the log of prompts."""

from __future__ import annotations

from langmemory.ledger.tables import schema
from langmemory.ledger.tables.table import (
    PERSON,
    Index,
    Table,
    counter,
    integer,
    real,
    text,
    time,
    where,
)

PROMPT = Table(
    name="prompt",
    doc="A memory block that a model was given. Its texts are kept where the configuration says so.",
    columns=(
        counter("seq"),
        time("at"),
        integer("namespace", of="namespace"),
        text("owner", "for whom it was made; NULL = the application", null=True, of=PERSON),
        text("query", null=True, says="aside"),
        text("block", null=True, says="aside"),
        integer("memories", "how many stood in it"),
        integer("tokens"),
        real("milliseconds", "from the question to the block"),
    ),
    indexes=(Index("prompt_place", "namespace, seq"), Index("prompt_at", "at")),
    exported=False,
    readers=where("prompt.owner = {viewer}"),
)

schema.register(PROMPT)
