"""Where the repository and its sample are, and what the `run` fixture is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "data" / "lena.jsonl"

CLOSED_PORT = "http://127.0.0.1:9"
"""Nothing listens at the discard port."""

Run = Callable[..., Result]
"""Runs a command on `memory.db` in tmp_path."""

Configure = Callable[..., None]
"""Writes config/memory.json with the models given by name."""
