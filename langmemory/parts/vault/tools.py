"""fill_secrets: let a tool use secrets of the vault that the calling model never sees."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langchain_core.tools import StructuredTool, ToolException
from langgraph.errors import GraphBubbleUp
from langgraph.store.base import BaseStore

from langmemory.errors import ConfigError, SecretNotFoundError
from langmemory.nodes.namespaces import NamespaceTemplate
from langmemory.nodes.node import run_of
from langmemory.parts.vault import Secret
from langmemory.parts.vault.placeholders import (
    HiddenSecretError,
    filled,
    labels_in,
    placeholder,
    scrubbed,
)
from langmemory.steps import Steps, Wait, awaiting, blocking, call, thread_call
from langmemory.tools.answering import refuse


def fill_secrets(
    tool: Any,
    labels: Iterable[str],
    *,
    namespace: tuple[str, ...] | str,
    viewer: str | None = None,
    store: BaseStore | None = None,
) -> StructuredTool:
    """Return a tool that fills in ``{{vault:LABEL}}`` in its arguments, and removes the secrets from
    its answer.

    The model writes the placeholder. It is filled in within the run of the tool, so messages,
    checkpoints, callbacks and traces have only the placeholder. In answers and errors of the tool the
    placeholder replaces the secret. The vault's audit log has each use.

    A manipulated model can pass a placeholder to any argument of the tool: name only the labels that
    the tool needs, and wrap no tool that sends texts to addresses of the model's choice.

    Args:
        tool: Made by ``@tool`` or `StructuredTool`.
        labels: Labels of the secrets that it may use.
        namespace: Template of the namespace that they are in, see `langmemory.nodes.NamespaceTemplate`.
        viewer: Template of the person whose secrets they are, such as ``"{user_id}"``; None: the application.
        store: Used instead of the graph's store, or outside a graph.

    Raises:
        ConfigError: It is another kind of tool, or no label is named.
    """
    allowed = (labels,) if isinstance(labels, str) else tuple(labels)
    if not isinstance(tool, StructuredTool) or not allowed:
        raise ConfigError(
            "fill_secrets takes a tool made by @tool and the labels that it may use, not "
            f"{type(tool).__name__} and {allowed!r:.80}."
        )
    if wrong := [label for label in allowed if labels_in(placeholder(label)) != {label}]:
        raise ConfigError(
            f"No placeholder can name the secret {wrong[0]!r:.80}: it has braces, or blanks around it. Store "
            "it under another label."
        )
    template, given = NamespaceTemplate(namespace), frozenset(tool.args)

    def steps(*args: Any, **kwargs: Any) -> Steps[Any]:
        chosen = {name: value for name, value in kwargs.items() if name in given}
        if wrong := labels_in(chosen) - set(allowed):
            raise refuse(
                f"{tool.name} may not use the secret {sorted(wrong)[0]!r}; it may use "
                f"{', '.join(map(placeholder, allowed))}."
            )
        secrets: dict[str, Secret] = {}
        for label in sorted(labels_in(chosen)):
            source, scope = run_of(None, store, tool.name, viewer)
            vault = getattr(source, "vault", None)
            if vault is None:
                raise ConfigError(f"{type(source).__name__} has no vault. Use a MemoryStore.")
            try:
                secrets[label] = yield call(
                    vault, "get", template.resolve(scope), label, reason=f"the tool {tool.name}"
                )
            except SecretNotFoundError as error:
                raise refuse(str(error)) from None
        run = functools.partial(_run, tool.func, secrets, given, args, kwargs)
        if tool.coroutine is None:
            outcome = yield thread_call(run)
        else:
            outcome = yield Wait(
                run, functools.partial(_arun, tool.coroutine, secrets, given, args, kwargs)
            )
        if isinstance(outcome, _Failed):
            raise ToolException(outcome.text)
        if isinstance(outcome, _Left):
            raise outcome.by
        return outcome

    known = ", ".join(map(placeholder, allowed))
    note = f"Where a secret is needed write its placeholder ({known}); it is filled in, and you never see it."
    like = tool.func or tool.coroutine
    assert like is not None  # a StructuredTool has one
    changed = {
        "func": None if tool.func is None else functools.wraps(like)(blocking(steps)),
        "coroutine": functools.wraps(like)(awaiting(steps)),
        "description": f"{tool.description}\n\n{note}",
    }
    return tool.model_copy(update=changed)


class _Failed:
    """How a tool failed, without the frames that have its arguments."""

    def __init__(self, text: str) -> None:
        self.text = text


class _Left:
    """How a tool left its run to the graph: by an interrupt, or by a command to a graph above."""

    def __init__(self, by: GraphBubbleUp) -> None:
        self.by = by


def _run(
    function: Callable[..., Any] | None,
    secrets: Mapping[str, Secret],
    given: frozenset[str],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    """Call a tool; only this frame and those below it have the secrets."""
    if function is None:
        return _Failed("This tool can only be awaited.")
    try:
        return _cleared(function(*args, **_with(secrets, given, kwargs)), secrets)
    except GraphBubbleUp as error:
        return _left(error, secrets)
    except Exception as error:
        if not secrets:
            raise
        return _failed(error, secrets)


async def _arun(
    function: Callable[..., Any],
    secrets: Mapping[str, Secret],
    given: frozenset[str],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    try:
        return _cleared(await function(*args, **_with(secrets, given, kwargs)), secrets)
    except GraphBubbleUp as error:
        return _left(error, secrets)
    except Exception as error:
        if not secrets:
            raise
        return _failed(error, secrets)


def _with(
    secrets: Mapping[str, Secret], given: frozenset[str], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments, those that the model gave with the secrets."""
    if not secrets:
        return dict(kwargs)
    return {
        name: filled(value, secrets) if name in given else value for name, value in kwargs.items()
    }


def _cleared(answer: Any, secrets: Mapping[str, Secret]) -> Any:
    return scrubbed(answer, secrets) if secrets else answer


def _left(error: GraphBubbleUp, secrets: Mapping[str, Secret]) -> _Left | _Failed:
    """Return how a tool left its run. What it hands to the graph is written into checkpoints, and shown to
    people and traces."""
    if secrets:
        try:
            error.args = scrubbed(error.args, secrets)
        except HiddenSecretError as hidden:
            return _Failed(str(hidden))
        error.__traceback__ = error.__cause__ = error.__context__ = None
    return _Left(error)


def _failed(error: Exception, secrets: Mapping[str, Secret]) -> _Failed:
    if isinstance(error, HiddenSecretError | ToolException):
        return _Failed(scrubbed(str(error), secrets))
    return _Failed(scrubbed(f"{type(error).__name__}: {error}", secrets))
