"""Evaluation: how much of the evidence a memory finds, how early, how fast, and thanks to what."""

from __future__ import annotations

from langmemory.evals.catalogue import ablations, named_systems
from langmemory.evals.corpus import Conversation, Corpus, Question, Session, Turn
from langmemory.evals.evaluation import Progress, evaluate
from langmemory.evals.loaders import SAMPLE, load
from langmemory.evals.report import Group, Outcome, Report, SystemReport
from langmemory.evals.systems import System, SystemFactory, SystemUnavailableError
from langmemory.evals.table import render

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
