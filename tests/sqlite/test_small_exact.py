"""Exactness of searches with vectors that sign bits tell apart badly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from langmemory.ports.candidates import Floats
from langmemory.search import binary
from langmemory.search.chunks import fetch
from langmemory.types import Scope
from tests.sqlite.test_nearest import File


@pytest.mark.parametrize("whole", [True, False])
def test_a_small_set_is_searched_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    """The ten nearest of 2,000 vectors, or of a namespace of 500 beside them, are the exact ten, the
    first time a process searches and once it has the copy of a larger file."""
    if not whole:
        monkeypatch.setattr(binary, "WHOLE_UP_TO", 0)
    rng = np.random.default_rng(3)
    file = File(tmp_path / "m.db", 64)
    spread = np.geomspace(1, 0.05, 64).astype(np.float32)

    def some(n: int) -> Floats:
        found: Floats = rng.standard_normal((n, 64), dtype=np.float32) * spread + spread
        unit: Floats = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit

    for n in range(5):
        file.put(("few",) if n == 4 else ("many",), f"k{n}", some(500), n)
    if not whole:
        file.copy_vectors()
    truth = {
        namespace: np.concatenate(
            [v for (place, _), (v, _) in file.live.items() if place == namespace]
        )
        for namespace in (("few",), ("many",))
    }
    with file.engine.read() as snapshot:
        _, index = file.engine.up_to_date_index(snapshot.connection)
        assert index is not None
        for query in some(20):
            for namespace, vectors in truth.items():
                near = index.candidates(snapshot.connection, query, 14, namespace)
                best = np.sort(vectors @ query)[-10:]
                cosines = np.sort(fetch(snapshot.connection, near.ids)[1] @ query)[-10:]
                assert cosines.tolist() == pytest.approx(best.tolist(), abs=1e-5)
    file.verify(some(1)[0], Scope(namespace=("few",)), 1)
    file.engine.close()
