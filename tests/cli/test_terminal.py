"""Terminal output neutralises texts that contain control sequences."""

from __future__ import annotations

import json

import pytest

from langmemory.cli.results import REASONS
from langmemory.cli.terminal import json_text, printable
from langmemory.recall.presets import SignalWeights

ORDERS = [
    "\x1b",
    "\x07",
    "\x7f",
    "\x9b",
    "\x85",
    "\u2028",
    "\u061c",
    "\u200e",
    "\u202e",
    "\u2066",
    "\u2069",
]


@pytest.mark.parametrize("order", ORDERS, ids=ascii)
def test_no_order_in_a_memory_reaches_a_terminal(order: str) -> None:
    """Control characters and those that turn the direction of text are left out of what is printed, and
    escaped in JSON, which reads the same afterwards."""
    said = f"Maria {order}31m was here"
    assert order not in printable(said)
    assert printable("Zoë 花 مريم\n\t") == "Zoë 花 مريم\n\t"
    written = json_text({order: [said]})
    assert order not in written
    assert json.loads(written) == {order: [said]}


def test_what_speaks_for_a_result_is_named_as_recall_names_it() -> None:
    """A signal that is called otherwise by now would never be shown."""
    assert {*REASONS, "dense"} <= SignalWeights.model_fields.keys()
