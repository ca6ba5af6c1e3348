"""The names of ``langmem.short_term``: swapping is an import line.

>>> from langmemory.short_term import SummarizationNode  # was: langmem.short_term
"""

from typing import TYPE_CHECKING

from langmemory.hooks import lazy

if TYPE_CHECKING:
    from langmemory.context.summarization import RunningSummary, SummarizationResult
    from langmemory.nodes.summarize import (
        SummarizationNode,
        asummarize_messages,
        summarize_messages,
    )

__all__ = [
    "RunningSummary",
    "SummarizationNode",
    "SummarizationResult",
    "asummarize_messages",
    "summarize_messages",
]

__getattr__ = lazy(__name__, {}, exports=True)
