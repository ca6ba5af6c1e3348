"""Asking Ollama whether it is there and which models it has."""

from __future__ import annotations

TIMEOUT_SECONDS = 2.0


def installed_models(url: str | None) -> list[str] | None:
    """Names of the models Ollama has, such as `llama3.1:8b`; None if it does not answer, or something
    else does.

    Args:
        url: Where it listens; None for its client's own default (`OLLAMA_HOST`, else port 11434).
    """
    import httpx
    from ollama import Client, ResponseError

    try:
        with Client(host=url, timeout=TIMEOUT_SECONDS) as client:
            listed = client.list()
    except (ConnectionError, httpx.HTTPError, httpx.InvalidURL, ResponseError):
        return None
    except (ValueError, TypeError):  # no address, no JSON, or JSON of another kind
        return None
    return sorted(model.model for model in listed.models if model.model)


def has_model(models: list[str], name: str) -> bool:
    """Whether `name` is among them; without a tag it means `:latest`, as Ollama reads it."""
    return name in models or f"{name}:latest" in models
