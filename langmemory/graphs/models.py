"""The chat model the configuration names, or its stand-in, and the window of a model."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_ollama import ChatOllama

from langmemory.config import ModelsConfig
from langmemory.context.budget import REFERENCE_WINDOW, ContextBudget
from langmemory.errors import ConfigError
from langmemory.graphs.no_model import NoModel

CONVERSATION_TOKENS = 8_000
"""For the conversation also in a small window, as far as half of it allows."""


def chat_model(models: ModelsConfig) -> BaseChatModel:
    """The model for conversation: ``models.fast``, else ``models.deep``, else `NoModel`.

    Raises:
        ConfigError: the provider needs a package that is not installed.
    """
    name = models.fast or models.deep
    if name is None:
        return NoModel()
    provider, _, model = name.partition(":")
    if provider == "ollama":
        return ChatOllama(
            model=model, base_url=models.ollama_url, num_ctx=models.ollama_context_tokens
        )
    try:
        from langchain.chat_models import init_chat_model

        return init_chat_model(name)
    except ImportError as error:
        raise ConfigError(
            f"chat model {name!r} needs {error.name or 'another package'}: "
            f"pip install 'langgraph-langmemory[agents]' langchain-{provider}"
        ) from error


def budget_for(model: BaseChatModel) -> ContextBudget:
    """The budget of a model's window where that is known to be smaller than the usual 128k.

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
