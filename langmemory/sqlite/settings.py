"""What the file says about itself: embedding model, dimensions, generation of the vectors."""

from __future__ import annotations

from dataclasses import dataclass

from langmemory.sqlite.connection import Connection


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSetting:
    """Which model the vectors of a file come from."""

    model: str | None = None
    """None: nothing was ever embedded here."""
    dims: int | None = None
    generation: int = 0
    """Starts at random, so that no two files are taken for one another; grows when re-embedded."""

    @property
    def words(self) -> int:
        """64-bit words of sign bits a vector."""
        return -(-(self.dims or 0) // 64)


def initialise(connection: Connection) -> None:
    """Settings of a new file."""
    connection.execute(
        "INSERT INTO setting (name, value) VALUES ('generation', abs(random() >> 1))"
    )


def read_model(connection: Connection) -> ModelSetting:
    rows = connection.execute(
        "SELECT name, value FROM setting WHERE name IN ('model', 'dims', 'generation')"
    )
    return ModelSetting(**{str(name): value for name, value in rows})


def write_model(connection: Connection, setting: ModelSetting) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)",
        [
            ("model", setting.model),
            ("dims", setting.dims),
            ("generation", setting.generation),
        ],
    )
