"""`from_conn_string`: a store about to be opened, by ``with`` or ``async with``."""

from __future__ import annotations

import asyncio
from typing import Any, Generic, Protocol, TypeVar


class Openable(Protocol):
    """The settings of the store."""

    def __init__(self, path: str, **options: Any) -> None: ...

    def _refuse_blocking_on(self, loop: asyncio.AbstractEventLoop) -> None: ...

    def close(self) -> None: ...

    async def aclose(self) -> None: ...


StoreT = TypeVar("StoreT", bound=Openable)


class Opening(Generic[StoreT]):
    """Opens the store when entered, closes it when left."""

    def __init__(self, cls: type[StoreT], path: str, **options: Any) -> None:
        self._cls, self._path, self._options = cls, path, options
        self._store: StoreT | None = None

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"This store is not open yet, and has no {name!r}. Write `with "
            f"{self._cls.__name__}.from_conn_string(…) as store:` (or `async with`), or open it by "
            f"{self._cls.__name__}(path)."
        )

    def _open(self) -> StoreT:
        return self._cls(self._path, **self._options)

    def __enter__(self) -> StoreT:
        self._store = self._open()
        return self._store

    def __exit__(self, *error: object) -> None:
        if self._store is not None:
            self._store.close()

    async def __aenter__(self) -> StoreT:
        store = await asyncio.to_thread(self._open)
        store._refuse_blocking_on(asyncio.get_running_loop())
        self._store = store
        return store

    async def __aexit__(self, *error: object) -> None:
        if self._store is not None:
            await self._store.aclose()
