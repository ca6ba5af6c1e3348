"""Checks of namespaces that public methods share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from langgraph.store.base import GetOp, InvalidNamespaceError, validate_op_namespace

from langmemory.labels import label_of
from langmemory.types import Namespace

RESERVED_ROOT: Final = "langgraph"
"""The first label under which `BaseStore.put` refuses to write; what writes otherwise does, too."""


def check_labels(namespace: object) -> None:
    """Refuse a namespace that LangGraph would misread: a string is one of single letters.

    Raises:
        InvalidNamespaceError: It is a string, or a label has a period.
    """
    if isinstance(namespace, str):
        raise InvalidNamespaceError(
            f"The namespace {namespace!r} is a string; pass a tuple: ({namespace!r},)."
        )
    for label in namespace if isinstance(namespace, tuple | list) else ():
        if isinstance(label, str) and "." in label:
            raise InvalidNamespaceError(
                f"The namespace {namespace!r} has a period in the label {label!r}, which LangGraph "
                f"does not allow. Pass langmemory.labels.label_of({label!r}), which is "
                f"{label_of(label)!r}; graphs do so by themselves."
            )


def check_namespaces(given: Namespace | Sequence[Namespace]) -> tuple[Namespace, ...]:
    """Return one namespace, or each of several once, as tuples.

    Raises:
        InvalidNamespaceError: One is none.
    """
    return tuple(dict.fromkeys(map(check_namespace, several(given))))


def several(given: Namespace | Sequence[Namespace]) -> Sequence[Namespace]:
    """Return namespaces that are given as one or several, unchecked."""
    one = isinstance(given, str) or not given or all(isinstance(label, str) for label in given)
    return [given] if one else given  # type: ignore[list-item, return-value]


def check_namespace(
    namespace: Namespace, *, may_be_empty: bool = False, written: bool = False
) -> Namespace:
    """Return a namespace as a tuple.

    Args:
        namespace: Labels.
        may_be_empty: Allow ``()``, the whole store.
        written: Refuse the root that LangGraph keeps for itself.

    Raises:
        InvalidNamespaceError: It is none.
    """
    check_labels(namespace)
    if not namespace and not may_be_empty:
        raise InvalidNamespaceError("Namespace cannot be empty.")
    validate_op_namespace(GetOp(tuple(namespace), ""))
    if written and namespace[0] == RESERVED_ROOT:
        raise InvalidNamespaceError(
            f"The namespace {tuple(namespace)} begins with {RESERVED_ROOT!r}, which LangGraph "
            "keeps for itself. Choose another first label."
        )
    return tuple(namespace)
