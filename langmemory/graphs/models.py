"""The chat model the configuration names, or its stand-in."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_ollama import ChatOllama

from langmemory.config import ModelsConfig
from langmemory.errors import ConfigError
from langmemory.graphs.no_model import NoModel

OLLAMA_CONTEXT_TOKENS = 16_384
"""Window asked of Ollama, whose own default (about 4k) would silently cut off the memory block."""


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
        return ChatOllama(model=model, base_url=models.ollama_url, num_ctx=OLLAMA_CONTEXT_TOKENS)
    try:
        from langchain.chat_models import init_chat_model

        return init_chat_model(name)
    except ImportError as error:
        raise ConfigError(
            f"chat model {name!r} needs {error.name or 'another package'}: "
            f"pip install 'langgraph-langmemory[agents]' langchain-{provider}"
        ) from error
