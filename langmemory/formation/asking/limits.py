"""Limits of the schemas that models are held to: an answer without end has no use."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field


def at_most(**limits: int) -> Any:
    """Return limits of a JSON schema (``maxLength``, ``maxItems``); what is longer is read all the
    same."""
    return Field(json_schema_extra=dict(limits))


ShortText = Annotated[str, at_most(maxLength=120)]
Text = Annotated[str, at_most(maxLength=300)]
Texts = Annotated[list[Text], at_most(maxItems=10)]
