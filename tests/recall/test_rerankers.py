"""Rerankers by name: a cross-encoder, BGE's and ColBERT, with tiny models that are made here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langmemory import MemoryStore
from langmemory.config import Config
from langmemory.errors import ConfigError
from langmemory.ports.candidates import Floats
from langmemory.recall.rerankers import TEXT_MARK, is_reranker, named_reranker, scoring_reranker

NS = ("home",)
SAID = ["The heron is grey.", "A heron stood in the pond.", "Franklin the turtle eats lettuce."]
ASKED = "what does the turtle eat"


def test_scores_decide_the_order(tmp_path: Path) -> None:
    """What scores best for the question stands first, and what scores alike keeps its order."""

    def scoring(query: str, texts: Sequence[str]) -> Floats:
        return np.array([float("pond" in text) for text in texts], np.float32)

    with MemoryStore(tmp_path / "memory.db", reranker=scoring_reranker(scoring)) as store:
        store.remember(NS, [("user", text) for text in SAID], thread_id="t")
        found = [one.text for one in store.recall("What is the heron like?", NS).results]
    assert found[0] == SAID[1]


def test_a_name_that_is_none_and_a_missing_package_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error names what is known, or the extra to install; the configuration takes the same names."""
    for name in ("sentence_transformers", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ConfigError, match=r"no reranker 'best'\. Known: mmr, cross-encoder, bge, colbert"
    ):
        MemoryStore(tmp_path / "memory.db", reranker="best")
    for name in ("bge", "cross-encoder:some/model", "colbert"):
        with pytest.raises(ConfigError, match=r'The reranker .* needs .*the extra "rerank"'):
            MemoryStore(tmp_path / "memory.db", reranker=name)
    config = Config.model_validate({"models": {"rerank": "bge:some/model"}})
    with pytest.raises(ConfigError, match="'bge:some/model' needs sentence_transformers"):
        MemoryStore(tmp_path / "memory.db", config=config)
    assert not is_reranker("ollama:qwen3:8b")


def test_mmr_by_name_moves_what_says_the_same_behind_others() -> None:
    """It needs no model; a smaller lambda weighs the difference more, and 1 keeps the order."""
    said = ["The heron is grey.", "That heron is grey too.", "Franklin the turtle eats lettuce."]
    shown = {}
    for name in ("mmr:1", "mmr", "mmr:0.3"):
        with MemoryStore(":memory:", reranker=name) as store:
            store.remember(NS, [("user", text) for text in said], thread_id="t")
            found = store.recall("what colour is the heron", NS)
            shown[name] = [said.index(one.text) for one in found.results]
            assert found.trace.degraded == ()
    assert shown["mmr:1"][2] == 2
    assert shown["mmr:0.3"][1] == 2
    for wrong in ("mmr:2", "mmr:-1", "mmr:much"):
        with pytest.raises(ConfigError, match="must be a number from 0 to 1"):
            named_reranker(wrong)


def tiny(folder: Path, *, heads: bool) -> str:
    """A BERT of 16 numbers with a vocabulary of the words here; ``heads``: with one output."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    words = sorted({word.strip(".").lower() for text in (*SAID, ASKED) for word in text.split()})
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", TEXT_MARK, "."]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join([*marks, *words]))
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    made = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=512, num_labels=1,
    )  # fmt: skip
    cls = transformers.BertForSequenceClassification if heads else transformers.BertModel
    cls(made).save_pretrained(folder)
    return str(folder)


def with_projection(folder: str) -> None:
    """Add ColBERT's last layer to the weights."""
    from safetensors.torch import load_file, save_file

    torch: Any = pytest.importorskip("torch")
    path = f"{folder}/model.safetensors"
    weights = {f"bert.{name}": one for name, one in load_file(path).items()}
    save_file({**weights, "linear.weight": torch.eye(8, 16)}, path, {"format": "pt"})


@pytest.mark.parametrize("family", ["cross-encoder", "bge"])
def test_a_cross_encoder_orders_results(tmp_path: Path, family: str) -> None:
    """The order is that of the model's own scores for the pairs."""
    folder = tiny(tmp_path / "model", heads=True)
    from sentence_transformers import CrossEncoder

    with MemoryStore(tmp_path / "memory.db", reranker=f"{family}:{folder}") as store:
        store.remember(NS, [("user", text) for text in SAID], thread_id="t")
        found = store.recall(ASKED, NS)
    texts = [one.text for one in found.results]
    scores = CrossEncoder(folder).predict([(ASKED, text) for text in texts])
    assert list(scores) == sorted(scores, reverse=True)
    assert not found.trace.degraded


def test_colbert_finds_the_words_of_the_question(tmp_path: Path) -> None:
    """A text with words of the question comes before one without; padding and punctuation count nothing."""
    folder = tiny(tmp_path / "model", heads=False)
    with pytest.raises(ConfigError, match=r"has no linear.weight: it is no ColBERT"):
        named_reranker(f"colbert:{folder}")
    with_projection(folder)
    with MemoryStore(tmp_path / "memory.db", reranker=f"colbert:{folder}") as store:
        store.remember(NS, [("user", text) for text in SAID], thread_id="t")
        found = store.recall(ASKED, NS)
    assert not found.trace.degraded
    rerank = named_reranker(f"colbert:{folder}")
    assert found.results[0].text == SAID[2]
    by_two = [rerank(ASKED, found.results[n : n + 2])[0] for n in range(2)]
    assert by_two == [0, 0]  # alone or in a batch with longer texts, the order is the same


def test_a_folder_that_is_no_model_is_told(tmp_path: Path) -> None:
    """The error names the reranker and the next step."""
    pytest.importorskip("sentence_transformers")
    for family in ("bge", "colbert"):
        with pytest.raises(ConfigError, match=r"cannot be loaded: .* Name a model of Hugging Face"):
            named_reranker(f"{family}:{tmp_path}")
