"""Properties of dataclasses that stand in their JSON form beside the fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

T = TypeVar("T")


def derived(*names: str) -> Callable[[type[T]], type[T]]:
    """Return a decorator of a dataclass: its JSON form has these properties, too, and its JSON schema
    describes them. Reading the form derives them anew."""

    def decorate(cls: type[T]) -> type[T]:
        def schema(source: Any, handler: Any) -> Any:
            from pydantic_core import core_schema  # types are imported where nothing becomes JSON

            whole = handler(source)
            found = handler.resolve_ref_schema(whole)
            for name in names:
                getter = getattr(cls, name).fget
                answer = handler.generate_schema(get_type_hints(getter)["return"])
                described = {"pydantic_js_updates": {"description": getter.__doc__}}
                found["schema"].setdefault("computed_fields", []).append(
                    core_schema.computed_field(name, answer, metadata=described)
                )
            return whole

        cls.__get_pydantic_core_schema__ = staticmethod(schema)  # type: ignore[attr-defined]
        return cls

    return decorate
