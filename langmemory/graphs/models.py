"""The configured chat model or its stand-in, and the window of a model."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from langmemory.chat_models import named_chat_model
from langmemory.config import ModelsConfig
from langmemory.context.budget import REFERENCE_WINDOW, ContextBudget
from langmemory.graphs.no_model import NoModel

CONVERSATION_TOKENS = 8_000
"""For the conversation also in a small window, as far as half of it allows."""


def chat_model(models: ModelsConfig) -> BaseChatModel:
    """Return the model for conversation: ``models.fast``, else ``models.deep``, else `NoModel`.

    Raises:
        ConfigError: the provider needs a package that is not installed.
    """
    name = models.fast or models.deep
    if name is None:
        return NoModel()
    return named_chat_model(name, models)


def budget_for(model: BaseChatModel) -> ContextBudget:
    """Return the budget of a model's window if it is known to be smaller than the usual 128k.

    Known are ``num_ctx`` of `ChatOllama`, and ``max_input_tokens`` of LangChain's model profiles.

    Raises:
        ConfigError: The window is below the budget's hard minimum.
    """
    profile = getattr(model, "profile", None) or {}
    window = getattr(model, "num_ctx", None) or profile.get("max_input_tokens")
    if not isinstance(window, int) or window >= REFERENCE_WINDOW:
        return ContextBudget()
    return ContextBudget(
        window_tokens=window, conversation_share=min(0.5, CONVERSATION_TOKENS / window)
    )
