"""The names of ``langmem.short_term.summarization``, for code that imports from there."""

from langmemory.context.summarization import (
    DEFAULT_EXISTING_SUMMARY_PROMPT,
    DEFAULT_FINAL_SUMMARY_PROMPT,
    DEFAULT_INITIAL_SUMMARY_PROMPT,
    RunningSummary,
    SummarizationResult,
)
from langmemory.context.tokens import TokenCounter
from langmemory.nodes.summarize import (
    SummarizationNode,
    asummarize_messages,
    summarize_messages,
)

__all__ = [
    "DEFAULT_EXISTING_SUMMARY_PROMPT",
    "DEFAULT_FINAL_SUMMARY_PROMPT",
    "DEFAULT_INITIAL_SUMMARY_PROMPT",
    "RunningSummary",
    "SummarizationNode",
    "SummarizationResult",
    "TokenCounter",
    "asummarize_messages",
    "summarize_messages",
]
