"""Problems: every refusal as RFC 9457 has it, with what was wrong and the next step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from langgraph.store.base import InvalidNamespaceError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from langmemory import errors

MEDIA_TYPE: Final = "application/problem+json"


class FieldProblem(BaseModel):
    """One field that is wrong."""

    pointer: str = Field(description="Where in the request: `body/messages/0`, `query/limit`.")
    detail: str


class ProblemDetails(BaseModel):
    """Why a request was refused (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="`urn:langmemory:problem:` and a word for programs.")
    title: str
    status: int
    detail: str = Field(description="What happened, and the next step.")
    error: str | None = Field(None, description="Name of the error that the Python library raises.")
    errors: list[FieldProblem] = Field(default_factory=list)


STATUSES: Final = {
    word: status
    for status, words in {
        400: "malformed", 401: "unauthorized",
        403: "agent event-type folder locked namespace origin ownership scope unprotected viewer",
        404: "not-found", 405: "method", 408: "too-slow", 409: "conflict not-confirmed under-way verbatim",
        412: "changed-meanwhile exists", 413: "too-large", 415: "media-type", 421: "host",
        422: "agent-needed import-format invalid key-reused namespace-needed", 429: "too-many-requests",
        500: "forgetting-incomplete internal", 503: "issuer-unreachable model-unavailable unavailable",
    }.items()
    for word in words.split()
}  # fmt: skip
"""By the word for programs that says what kind of refusal it is."""


class Problem(Exception):
    """A refusal. Handlers raise it; the server answers with it."""

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        errors: list[dict[str, str]] | None = None,
        error: str | None = None,
    ) -> None:
        """``kind`` is one of `STATUSES`; ``error`` the class it stands for."""
        super().__init__(detail)
        self.error = error
        self.status, self.kind, self.detail = STATUSES[kind], kind, detail
        self.headers, self.errors = dict(headers or {}), errors

    def response(self) -> Response:
        """Return the answer."""
        content: dict[str, Any] = {
            "type": f"urn:langmemory:problem:{self.kind}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            content["errors"] = self.errors
        if self.error:
            content["error"] = self.error
        return Response(
            json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"),
            self.status,
            self.headers,
            MEDIA_TYPE,
        )


KINDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (errors.OwnershipError, "ownership"),
    (errors.SecretNotFoundError, "not-found"),
    (errors.VaultKeyError, "conflict"),
    (errors.SecretDamagedError, "conflict"),
    (errors.EntityNameError, "not-found"),
    (errors.MessageNotFoundError, "not-found"),
    (errors.ChangedMeanwhileError, "changed-meanwhile"),
    (errors.StalePlanError, "changed-meanwhile"),
    (errors.ImportFormatError, "import-format"),
    (errors.ChangeError, "conflict"),
    (errors.MaintenanceBusyError, "conflict"),
    (errors.InvalidFilterError, "invalid"),
    (errors.InvalidValueError, "invalid"),
    (errors.ConfigError, "invalid"),
    (InvalidNamespaceError, "invalid"),
    (errors.EmbeddingError, "model-unavailable"),
    (errors.ModelUnavailableError, "model-unavailable"),
    (errors.ExtractionError, "model-unavailable"),
    (errors.ClosedStoreError, "unavailable"),
    (errors.ForgettingError, "forgetting-incomplete"),
    (errors.DatabaseError, "unavailable"),
)
"""The first that an error is an instance of counts."""


def problem_of(error: Exception) -> Problem | None:
    """Return the refusal that an error stands for; None for one that nobody foresaw."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):  # of Starlette's router
        headers = error.headers or {}
        if error.status_code == 404:
            said = "There is nothing at this path; /api/v1/memory/docs lists those there are."
            return Problem("not-found", said, headers=headers)
        allowed = headers.get("Allow", "another")
        said = f"This path does not take that method; it takes {allowed}."
        return Problem("method", said, headers=headers)
    for known, word in KINDS:
        if isinstance(error, known):
            headers = {"Retry-After": "1"} if STATUSES[word] == 503 else {}
            return Problem(word, str(error), headers=headers, error=type(error).__name__)
    if isinstance(error, errors.LangMemoryError) and isinstance(error, ValueError):
        return Problem("invalid", str(error), error=type(error).__name__)
    return None


IN_OUR_WORDS: Final[Mapping[str, str]] = {
    "extra_forbidden": "There is no field of that name here",
    **dict.fromkeys(
        ("model_type", "model_attributes_type", "dict_type", "mapping_type"),
        "It is to be a JSON object",
    ),
    **dict.fromkeys(
        ("tuple_type", "list_type", "set_type", "frozen_set_type"),
        'It is to be a list, such as ["a", "b"]',
    ),
}
"""For what pydantic says in words of Python."""


def invalid(part: str, error: ValidationError) -> Problem:
    """Return the refusal of a part of a request (``body``, ``query``, ``path``) that is not as the API
    describes it: all fields that are wrong, five of them in its one sentence. It repeats no value, which may
    be somebody's memory."""
    found = [
        {
            "pointer": "/".join([part, *map(str, one["loc"])]),
            "detail": IN_OUR_WORDS.get(one["type"]) or one["msg"].removeprefix("Value error, "),
        }
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    said = "; ".join(f"{one['pointer']}: {one['detail']}" for one in found[:5])
    more = f" (and {len(found) - 5} more)" if len(found) > 5 else ""
    return Problem("invalid", f"{said[:1_000]}{more}.", errors=found[:20])
