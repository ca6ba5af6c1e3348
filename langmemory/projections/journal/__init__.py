"""The journal: what was said on one day came to, as pages of Markdown that follow the memory file."""

from langmemory.projections.journal.journal import Journal, JournalFiles, distilled_through
from langmemory.projections.journal.pages import Page, render

__all__ = ["Journal", "JournalFiles", "Page", "distilled_through", "render"]
