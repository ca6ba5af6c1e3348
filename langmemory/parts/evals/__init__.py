"""Evaluation: how much of the evidence a memory finds, how early, how fast, and thanks to what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langmemory.hooks import lazy

if TYPE_CHECKING:
    from langmemory.parts.evals.catalogue import ablations, named_systems
    from langmemory.parts.evals.corpus import Conversation, Corpus, Question, Session, Turn
    from langmemory.parts.evals.evaluation import Progress, evaluate
    from langmemory.parts.evals.loaders import SAMPLE, load
    from langmemory.parts.evals.report import Group, Outcome, Report, SystemReport
    from langmemory.parts.evals.systems import System, SystemFactory, SystemUnavailableError
    from langmemory.parts.evals.table import render

__all__ = [
    "SAMPLE",
    "Conversation",
    "Corpus",
    "Group",
    "Outcome",
    "Progress",
    "Question",
    "Report",
    "Session",
    "System",
    "SystemFactory",
    "SystemReport",
    "SystemUnavailableError",
    "Turn",
    "ablations",
    "evaluate",
    "load",
    "named_systems",
    "render",
]

__getattr__ = lazy(
    __name__,
    {
        "catalogue": (
            "ablations",
            "named_systems",
        ),
        "corpus": (
            "Conversation",
            "Corpus",
            "Question",
            "Session",
            "Turn",
        ),
        "evaluation": (
            "Progress",
            "evaluate",
        ),
        "loaders": (
            "SAMPLE",
            "load",
        ),
        "report": (
            "Group",
            "Outcome",
            "Report",
            "SystemReport",
        ),
        "systems": (
            "System",
            "SystemFactory",
            "SystemUnavailableError",
        ),
        "table": ("render",),
    },
)
"""`langmemory --help` names the command, and needs none of it."""
