"""From the answer of a server to the error that the same call raises of a file on this machine."""

from __future__ import annotations

import json
from typing import Any, Final

import httpx
from langgraph.store.base import InvalidNamespaceError

from langmemory import errors
from langmemory.errors import AccessError, LangMemoryError, ServerError

BY_KIND: Final[dict[str, type[LangMemoryError]]] = {
    "changed-meanwhile": errors.ChangedMeanwhileError,
    "conflict": errors.ChangeError,
    "import-format": errors.ImportFormatError,
    "invalid": errors.InvalidValueError,
    "model-unavailable": errors.ModelUnavailableError,
    "namespace-needed": errors.ConfigError,
    "ownership": errors.OwnershipError,
}
"""For problems that do not name the error they stand for."""


def kind_of(response: httpx.Response) -> str:
    """Return the word for programs of a refusal; empty where something else than langmemory refused."""
    return str(_problem(response).get("type", "")).rpartition(":")[2]


def error_of(response: httpx.Response, address: str) -> Exception:
    """Return the error that a refusal stands for, with what the server says is the next step."""
    status, problem = response.status_code, _problem(response)
    if not problem:
        return ServerError(_strange(response, address), status=status)
    kind, detail = kind_of(response), str(problem.get("detail", ""))
    named = problem.get("error")
    if named == InvalidNamespaceError.__name__:
        return InvalidNamespaceError(detail)
    cls = getattr(errors, str(named), None) or BY_KIND.get(kind)
    if isinstance(cls, type) and issubclass(cls, LangMemoryError):
        if issubclass(cls, errors.DamagedFileError):
            return cls(detail, ())
        if not issubclass(cls, ServerError):
            return cls(detail)
    refused = AccessError if status in (401, 403) else ServerError
    return refused(f"{detail} ({address} answered {status}.)", status=status, kind=kind)


def _strange(response: httpx.Response, address: str) -> str:
    status = response.status_code
    if response.is_redirect:
        return (
            f"{address} answers with a redirect to {response.headers.get('location', '')!r:.200}. Pass "
            "that address, if it is yours."
        )
    return (
        f"{address} answers {status}, and not as langmemory's server does. Is it its address, without "
        "/api/v1/memory? If a proxy stands before it, look into the log of the proxy."
    )


def _problem(response: httpx.Response) -> dict[str, Any]:
    if not response.headers.get("content-type", "").startswith("application/problem+json"):
        return {}
    try:
        found = json.loads(response.content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
