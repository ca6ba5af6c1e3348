"""Chat models by name, as the configuration gives them: ``"provider:model"``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langmemory.config import ModelsConfig
from langmemory.errors import ConfigError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def named_chat_model(name: str, models: ModelsConfig) -> BaseChatModel:
    """The chat model of this name; Ollama's with the configured address, window and time limit.

    Raises:
        ConfigError: The provider needs a package that is not installed.
    """
    provider, _, model = name.partition(":")
    if provider == "ollama":
        from langchain_ollama import ChatOllama

        return ChatOllama(
            model=model,
            base_url=models.ollama_url,
            num_ctx=models.ollama_context_tokens,
            client_kwargs={"timeout": models.chat_timeout_seconds},
        )
    try:
        from langchain.chat_models import init_chat_model

        return init_chat_model(name)
    except ImportError as error:
        raise ConfigError(
            f"chat model {name!r} needs {error.name or 'another package'}: "
            f"pip install 'langgraph-langmemory[agents]' langchain-{provider}"
        ) from error
