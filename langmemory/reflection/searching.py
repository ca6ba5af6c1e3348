"""The part that both executors share: searching what reflection has made, and ending with a ``with``."""

from __future__ import annotations

from typing import Any, Self

from langmemory.steps import Steps, awaiting, blocking


class SearchingExecutor:
    """An executor whose namespace can be searched."""

    def search_steps(
        self,
        query: str | None = None,
        *,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        namespace: str | tuple[str, ...] | None = None,
    ) -> Steps[list[dict[str, Any]]]:
        """Return items of the reflector's namespace, as dicts, best first."""
        return self._searched(namespace, query=query, filter=filter, limit=limit, offset=offset)

    search, asearch = blocking(search_steps), awaiting(search_steps)

    def _searched(
        self, namespace: str | tuple[str, ...] | None, **options: Any
    ) -> Steps[list[dict[str, Any]]]:
        raise NotImplementedError

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop working."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.shutdown(wait=True)
