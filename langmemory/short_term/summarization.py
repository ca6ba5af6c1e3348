"""The names of ``langmem.short_term.summarization``."""

from langmemory.hooks import lazy

__all__ = [  # noqa: F822 - found when they are first used
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

__getattr__ = lazy(__name__, {}, exports=True)
