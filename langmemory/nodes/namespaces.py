"""Namespace templates: ``("memories", "{user_id}")``, filled in from the current run.

A variable is looked up in ``runtime.context`` first (attribute or key), then in
``config["configurable"]``; ``{user_id|local}`` falls back to ``local`` instead of failing. The caller
of the run decides whose memories it may read and write, never the model. For the authenticated user of
a LangGraph server use ``{langgraph_auth_user_id}``, which the server sets. An id with a period, such as
an e-mail address, becomes a label by
`langmemory.labels.label_of`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.runnables import RunnableConfig, ensure_config

from langmemory.errors import ConfigError
from langmemory.labels import label_of
from langmemory.types import Namespace

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

AUTHENTICATED: Final = "langgraph_auth_user_id"
"""Set by a LangGraph server that knows who is calling."""

_CHECKPOINTER: Final = "__pregel_checkpointer"
"""Where LangGraph tells the nodes of a graph, each with this key, what keeps its state."""

_PERSONS: Final = frozenset(("user_id", "langgraph_user_id", AUTHENTICATED))
"""Variables that say whose run it is."""
_VARIABLE = re.compile(r"\{(?P<name>[^{}|]+)(?:\|(?P<default>[^{}]*))?\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunScope:
    """The context of a run, its ``configurable`` and its thread."""

    context: Any = None
    configurable: Mapping[str, Any]
    thread_id: str | None = None
    """None where the caller named no thread."""
    config_first: bool = False
    """Whether ``configurable`` wins over the context: it was passed by hand."""
    from_checkpoint: bool = False
    """Whether the caller named the checkpoint to go on from, as for an edited message."""

    @classmethod
    def of(cls, runtime: Any, config: RunnableConfig | None) -> RunScope:
        """Read it from LangGraph's `Runtime` and the config; either may be None."""
        config = config or {}
        configurable = config.get("configurable") or {}
        thread = None if _is_stateless(runtime, configurable) else configurable.get("thread_id")
        # Of the run's configurable LangGraph has taken it out; the metadata keep what was passed.
        named = (config.get("metadata") or {}).get("checkpoint_id")
        return cls(
            context=getattr(runtime, "context", None),
            configurable=configurable,
            thread_id=None if thread is None else str(thread),
            from_checkpoint=bool(named),
        )

    def value(self, name: str) -> Any:
        """A variable of the run, None if it is missing or empty: ``context`` first."""
        context = self.context
        told = context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
        places = (told, self.configurable.get(name))
        found = (one for one in (places[::-1] if self.config_first else places))
        return next((one for one in found if one is not None and one != ""), None)


def _is_stateless(runtime: Any, configurable: Mapping[str, Any]) -> bool:
    """Whether it is a stateless run of a LangGraph server, which gives each a thread of its own that
    nobody will name again."""
    on_server = getattr(runtime, "server_info", None) is not None
    return on_server and configurable.get(_CHECKPOINTER, runtime) is None


class NamespaceTemplate:
    """A namespace whose labels may hold variables in braces.

    Args:
        template: one label or a tuple of labels; ``"{user_id}"``, ``"team-{team}"`` and
            ``"{user_id|local}"`` all work.

    Raises:
        ConfigError: a label is empty or not a string, or has a brace that begins or ends no variable;
            or it is no tuple at all.
    """

    __slots__ = ("labels",)

    def __init__(self, template: str | tuple[str, ...] | NamespaceTemplate) -> None:
        if isinstance(template, NamespaceTemplate):
            self.labels: Namespace = template.labels
            return
        if not isinstance(template, str | tuple | list):
            raise ConfigError(
                f"the namespace is a {type(template).__name__}; pass a tuple of labels, such as "
                f'("memories", "{{user_id}}"). A store is passed as store=…'
            )
        self.labels = (template,) if isinstance(template, str) else tuple(template)
        for label in self.labels:
            if not isinstance(label, str) or not label:
                raise ConfigError(
                    f"namespace template {self.labels!r}: {label!r} must be a non-empty string"
                )
            _check(label)

    def __repr__(self) -> str:
        return f"NamespaceTemplate({self.labels!r})"

    def __call__(self, config: RunnableConfig | None = None) -> Namespace:
        """Return the namespace of a run, as LangMem's template does: of the run with this config, or of
        the run under way.

        Raises:
            ConfigError: a variable is missing, or its value cannot be a namespace label.
        """
        scope = RunScope.of(current_runtime(), ensure_config(config))
        return self.resolve(replace(scope, config_first=config is not None))

    @property
    def template(self) -> Namespace:
        """The labels, under the name that LangMem gives them."""
        return self.labels

    @property
    def varies(self) -> bool:
        """Whether runs may have different namespaces by it."""
        return any(_VARIABLE.search(label) for label in self.labels)

    @property
    def fixed(self) -> Namespace:
        """The labels before the first variable: where the namespaces of all runs are."""
        return tuple(takewhile(lambda label: not _VARIABLE.search(label), self.labels))

    def fits(self, namespace: Namespace) -> bool:
        """Whether it may be the namespace of some run."""
        return len(namespace) == len(self.labels) and all(
            label == template or _VARIABLE.search(template)
            for label, template in zip(namespace, self.labels, strict=True)
        )

    def resolve(self, scope: RunScope) -> Namespace:
        """The namespace of this run.

        Raises:
            ConfigError: a variable is missing, or the template itself has a period.
        """
        return tuple(_label(template, scope) for template in self.labels)


def _label(template: str, scope: RunScope) -> str:
    """A label of the run; a period in an id is escaped."""
    label = fill(template, scope, escape=label_of)
    if "." in label:
        raise ConfigError(
            f"{template!r} became {label!r}, which cannot be a namespace label: LangGraph allows no "
            f"period there. Write {label_of(label)!r}."
        )
    return label


def _check(template: str) -> None:
    """Refuse a brace that is part of no variable: everybody would be at home under that very text."""
    if re.search("[{}]", _VARIABLE.sub("", template)):
        raise ConfigError(
            f"{template!r} has a brace that belongs to no variable: write a variable as "
            f"{{user_id}} or {{user_id|default}}."
        )


def fill(template: str, scope: RunScope, *, escape: Callable[[str], str] = str) -> str:
    """Replace every ``{variable}`` and ``{variable|default}`` by the run's value for it, escaped.

    Raises:
        ConfigError: a variable is missing, or has no name.
    """
    _check(template)

    def value(match: re.Match[str]) -> str:
        name, default = match["name"], match["default"]
        found = scope.value(name)
        if found is None:
            if default is not None:
                return escape(default)
            raise ConfigError(
                f"{name!r} is missing for {template!r}: pass context={{{name!r}: …}} or "
                f"config={{'configurable': {{{name!r}: …}}}} to the run"
            )
        return escape(str(found))

    return _VARIABLE.sub(value, template)


def viewer_of(template: str | None, scope: RunScope) -> str | None:
    """Who reads in this run; None is the application, which may read everything.

    Raises:
        ConfigError: a variable is missing, or has no braces.
    """
    if template in _PERSONS:
        raise ConfigError(
            f"{template!r} would be one person by that name for every run, who may read what is "
            f'private to any of them: write the variable as "{{{template}}}".'
        )
    return None if template is None else fill(template, scope)


def current_runtime() -> Runtime[Any] | None:
    """LangGraph's runtime of the run under way, or None outside a graph."""
    try:
        from langgraph.runtime import get_runtime  # and with it a client of LangGraph's server

        return cast("Runtime[Any] | None", get_runtime())
    except RuntimeError:
        return None
