"""The prompt of a model: the window's budget, the memory block in layers, and the marks on both."""

from langmemory.citing import note_id
from langmemory.context.budget import BudgetReport, ContextBudget, SummarizationLimits, level
from langmemory.context.citations import (
    CitationFilter,
    Citations,
    Usage,
    cited,
    successes,
    tally,
    usage,
    without_citations,
)
from langmemory.context.disclosure import Disclosed, DisclosureBudget, MemoryBlock, disclose
from langmemory.context.marking import is_injected, mark_injected
from langmemory.context.notes import Note, note_of, notes_of
from langmemory.context.render import full, timeline
from langmemory.context.tokens import TokenCounter, count_text
from langmemory.context.turns import fit_tool_outputs

__all__ = [
    "BudgetReport",
    "CitationFilter",
    "Citations",
    "ContextBudget",
    "Disclosed",
    "DisclosureBudget",
    "MemoryBlock",
    "Note",
    "SummarizationLimits",
    "TokenCounter",
    "Usage",
    "cited",
    "count_text",
    "disclose",
    "fit_tool_outputs",
    "full",
    "is_injected",
    "level",
    "mark_injected",
    "note_id",
    "note_of",
    "notes_of",
    "successes",
    "tally",
    "timeline",
    "usage",
    "without_citations",
]
