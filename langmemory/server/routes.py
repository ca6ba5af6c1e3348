"""Routes: each is declared once, as a function with types; routing, checks and the OpenAPI document follow.

```python
@routes("GET", "/memories/{key:path}", scope="read")
def get_memory(access: Access, *, path: KeyPath, query: PlaceQuery) -> Memory:
    \"\"\"Return one memory.\"\"\"
```

``path``, ``query`` and ``body`` are pydantic models; a handler takes those it needs. What it returns is
written as the type it is annotated with. A sync handler runs in a thread, an async one on the event loop.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from langmemory.types import TokenScope

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

PREFIX: Final = "/api/v1/memory"
_CONVERTER: Final = re.compile(r":\w+(?=\})")


class Upload:
    """Marks a handler whose ``body`` is the path of a temporary file with what was sent, as JSON lines."""


class UploadedFile:
    """Marks a handler whose ``body`` is the path of a temporary file with what was sent, of any format."""


class Rows(Iterator[Any]):
    """Marks a handler that returns JSON lines, as they come."""


UPLOADS: Final = (Upload, UploadedFile)


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """One operation of the API."""

    method: Method
    path: str
    """Below `PREFIX`, with its variables as Starlette has them."""
    scope: TokenScope
    handler: Callable[..., Any]
    models: dict[str, type[BaseModel]]
    """``path``, ``query``, ``body``, as far as the handler takes them."""
    uploads: type[Upload | UploadedFile] | None
    answer: Any
    """The type of the answer; None for none."""
    conditional: bool
    """Whether it has an entity tag, and `If-Match` or `If-None-Match` count."""
    status: int

    @property
    def template(self) -> str:
        """The path as OpenAPI, logs and metrics have it."""
        return PREFIX + _CONVERTER.sub("", self.path)

    @property
    def name(self) -> str:
        """The id of the operation."""
        return self.handler.__name__

    @property
    def streams(self) -> bool:
        """Whether the answer is JSON lines."""
        return self.answer is Rows


class Routes:
    """Routes of one part of the API. Called, it declares one."""

    def __init__(self, tag: str) -> None:
        """``tag`` is the heading under which the documentation lists them."""
        self.tag = tag
        self.declared: list[Route] = []

    def __call__(
        self,
        method: Method,
        path: str,
        *,
        scope: TokenScope,
        status: int = 200,
        conditional: bool = False,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that declares a handler."""

        def declare(handler: Callable[..., Any]) -> Callable[..., Any]:
            hints = get_type_hints(handler, include_extras=True)
            taken = inspect.signature(handler).parameters
            body = hints.get("body")
            self.declared.append(
                Route(
                    method=method,
                    path=path,
                    scope=scope,
                    handler=handler,
                    models={
                        name: hints[name]
                        for name in ("path", "query", "body")
                        if name in taken and hints[name] not in UPLOADS
                    },
                    uploads=body if body in UPLOADS else None,
                    answer=None if hints["return"] is type(None) else hints["return"],
                    conditional=conditional,
                    status=204 if hints["return"] is type(None) else status,
                )
            )
            return handler

        return declare


def takes_several(model: type[BaseModel], name: str) -> bool:
    """Return whether a field of a query takes a list, so that it may be repeated."""
    kinds = [model.model_fields[name].annotation]
    while kinds:
        kind = kinds.pop()
        if get_origin(kind) in (list, tuple, set, frozenset):
            return True
        kinds.extend(get_args(kind))
    return False
