"""StaticEmbedder: the embedded default model."""

from __future__ import annotations

import hashlib
import multiprocessing
import random
import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from langmemory.embeddings import StaticEmbedder, TokenTable, foreign, static

TEXTS = [
    "We adopted a puppy last weekend.",
    "Our new dog came home on Saturday.",
    "The stock market fell by three percent.",
    "Wir haben am Wochenende einen Hund adoptiert.",
    "私は犬を飼っています",
    "Мы взяли щенка",
    "mixed 😀 emoji and café",
]
WITHOUT_CONTENT = ["", "   ", "\x00", "😀🎉", "[PAD] [UNK]", "x" * 200]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def test_letters_of_full_width_mean_what_plain_ones_do() -> None:
    """A text in letters and digits of full width has the vector of the plain text."""
    wide, plain = "Ｒｏｏｍ １２ in ＯＳＡＫＡ、大阪", "Room 12 in OSAKA、大阪"
    vectors = StaticEmbedder().embed_documents((wide, plain))
    assert (vectors[0] == vectors[1]).all()


def test_every_text_is_a_unit_row_and_no_content_is_zero(embedder: StaticEmbedder) -> None:
    """float32[n, 256], length 1; a text without a known word is the zero vector, not an error."""
    vectors = embedder.embed_documents(TEXTS + WITHOUT_CONTENT)
    assert vectors.shape == (len(TEXTS) + len(WITHOUT_CONTENT), embedder.dims)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(lengths[: len(TEXTS)], 1.0, atol=1e-6)
    assert (lengths[len(TEXTS) :] == 0).all()
    assert embedder.embed_documents([]).shape == (0, embedder.dims)


def test_a_text_has_the_same_bits_alone_in_a_batch_and_from_its_tokens(
    embedder: StaticEmbedder,
) -> None:
    """A vector depends on its text only, so re-embedding in other batches changes nothing."""
    together = embedder.embed_documents(TEXTS)
    from_tokens = embedder.embed_split(TEXTS, embedder.tokenize(TEXTS))
    for row, text in zip(together, TEXTS, strict=True):
        assert (row == embedder.embed_query(text)).all()
    assert (together == from_tokens).all()


def test_meaning_is_nearer_than_another_subject(embedder: StaticEmbedder) -> None:
    """Two texts about a new dog that share no content word are nearer than one about stocks."""
    puppy, dog, stocks = embedder.embed_documents(TEXTS[:3])
    assert puppy @ dog > puppy @ stocks + 0.2


def test_long_texts_are_read_to_their_end(embedder: StaticEmbedder) -> None:
    """Fifty thousand characters are one vector, and the last of them count."""
    start = "weather report " * 3000
    vectors = embedder.embed_documents([start, start + "birthday cake " * 400])
    assert len(start) + 14 * 400 > 50_000
    assert not np.allclose(vectors[0], vectors[1], atol=0.01)


def test_a_text_is_split_the_same_in_parts(
    embedder: StaticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts too long for the tokenizer's memory are split in parts, between words; a run without
    spaces is cut anywhere, and no character is lost."""
    texts = ["The heron left the reeds. " * 100, "我住在上海" * 300, "x" * 3000, "short", ""]
    whole = embedder.tokenize(texts)
    monkeypatch.setattr(static, "MOST_CHARACTERS", 500)
    parts = embedder.tokenize(texts)
    for number in (0, 1, 3, 4):
        assert parts[number].tolist() == whole[number].tolist()


def test_words_known_by_now_are_split_as_the_tokenizer_splits_them(
    embedder: StaticEmbedder,
) -> None:
    """Runs between spaces and marks are looked up once they were split, whatever they are of: the tokens of
    a text are those that the tokenizer has for it as a whole."""
    chosen = random.Random(3)
    parts = [
        range(0x80),
        range(0x20, 0x7F),
        range(0xA0, 0x3000),
        range(0x4E00, 0x4F00),
        (0xFFFD, 0x200D),
    ]
    texts = ["The heron, it [PAD] stood. [unk] [UNK", *TEXTS, *WITHOUT_CONTENT]
    for _ in range(600):
        places = (chosen.choice(chosen.choice(parts)) for _ in range(chosen.randrange(40)))
        texts.append("".join(map(chr, places)))
    tokenizer = Tokenizer.from_str(
        (Path(static.__file__).parent / "data" / "tokenizer.json").read_text(encoding="utf-8")
    )
    for text, ids in zip(texts, embedder.tokenize(texts), strict=True):
        found = tokenizer.encode(text, add_special_tokens=False).ids
        assert ids.tolist() == [one for one in found if one != static.UNKNOWN_TOKEN], repr(text)


def test_invalid_unicode_is_embedded_like_the_rest_of_its_text(embedder: StaticEmbedder) -> None:
    """A lone surrogate, which JSON can carry, does not make a text unstorable."""
    assert embedder.embed_query("birthday \ud83d") @ embedder.embed_query("birthday") > 0.99


def test_tokens_index_the_table_and_leave_out_what_is_unknown(embedder: StaticEmbedder) -> None:
    """Late interaction needs no second tokenisation: ids are rows of `token_vectors`."""
    ids = embedder.tokenize(["adoption 😀 the ?"])[0]
    table = embedder.token_vectors()
    assert ids.dtype == np.uint16
    assert len(ids) == 3
    adoption, the, mark = table.weights[ids]
    assert adoption > 2 * the > 0
    assert adoption > 2 * mark > 0
    mean = table.vectors[ids].astype(np.float32).mean(axis=0)
    np.testing.assert_allclose(
        mean / np.linalg.norm(mean), embedder.embed_query("adoption the ?"), atol=1e-6
    )
    lengths = np.linalg.norm(table.vectors[ids].astype(np.float32), axis=1)
    np.testing.assert_allclose(lengths, table.weights[ids], rtol=1e-6)


def test_the_shared_table_cannot_be_written(embedder: StaticEmbedder) -> None:
    """No caller can spoil the vectors of every store in the process."""
    table = embedder.token_vectors()
    with pytest.raises(ValueError, match="read-only"):
        table.vectors[2, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.weights[2] = 1


def test_threads_that_start_together_read_the_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """First use from eight threads at once loads once and gives all the same answer."""
    monkeypatch.setattr(static, "_loaded", None)
    reads: list[int] = []
    read = static._read

    def counting_read() -> tuple[Tokenizer, TokenTable]:
        reads.append(1)
        return read()

    monkeypatch.setattr(static, "_read", counting_read)
    barrier = threading.Barrier(8)

    def embed(_: int) -> bytes:
        barrier.wait()
        return StaticEmbedder().embed_documents(TEXTS * 20).tobytes()

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(embed, range(8)))
    assert len(reads) == 1
    assert len(answers) == 1


def _embed_in_child(expected: bytes, answer: multiprocessing.Queue[bool]) -> None:
    answer.put(StaticEmbedder().embed_documents(TEXTS * 20).tobytes() == expected)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_embeds_as_its_parent_does(embedder: StaticEmbedder) -> None:
    """A web server that forks workers after a warm-up does not hang in the tokenizer."""
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    expected = embedder.embed_documents(TEXTS * 20).tobytes()
    child = context.Process(target=_embed_in_child, args=(expected, answer))
    child.start()
    try:
        assert answer.get(timeout=30)
    finally:
        child.kill()
        child.join()


def test_no_network_and_no_heavy_library() -> None:
    """The default embedder opens no socket and imports no torch, transformers or hub client."""
    program = """
import socket, sys
def refuse(*args, **kwargs): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = refuse
from langmemory.embeddings import StaticEmbedder
assert StaticEmbedder().embed_query("hello").any()
heavy = {"torch", "transformers", "huggingface_hub", "model2vec", "ollama", "langchain_ollama"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_packaged_table_is_the_one_the_model_id_names() -> None:
    """Other bytes are another model: whoever changes the table must raise `model_id` and this."""
    data = Path(static.__file__).parent / "data"
    digests = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        for file in map(
            data.joinpath, ("vectors.npy", "tokenizer.json", "pieces.npy", "pieces.txt")
        )
    }
    assert StaticEmbedder.model_id == "langmemory/static-256@3"
    assert digests == {
        "vectors.npy": "ac1349dd66c4a3eb",
        "tokenizer.json": "f151cfac775f6587",
        "pieces.npy": "6df33a120cfc89e2",
        "pieces.txt": "543cbd51628227aa",
    }
    assert sum(file.stat().st_size for file in data.iterdir()) <= 16_000_000


def test_a_long_text_is_embedded_in_parts() -> None:
    """A text of two million characters takes less memory than a hundred bytes a character, and has the
    vector of all its tokens."""
    text = "heron fox owl lynx " * 110_000
    embedder = StaticEmbedder()
    (short,) = embedder.embed_documents(["heron fox owl lynx"])
    tracemalloc.start()
    try:
        (vector,) = embedder.embed_documents([text])
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
    assert np.allclose(vector, short, atol=1e-6)


def test_words_of_other_languages_mean_what_english_ones_do(embedder: StaticEmbedder) -> None:
    """The same said in six languages and five scripts is nearer than something else in English."""
    puppy, _, stocks = embedder.embed_documents(TEXTS[:3])
    said = (
        "Wir haben einen Welpen adoptiert.", "Adoptamos un cachorro.", "Nous avons adopté un chiot.",
        "子犬を飼い始めました。", "Мы взяли щенка из приюта.", "우리는 강아지를 입양했어요.",
    )  # fmt: skip
    for one in embedder.embed_documents(said):
        assert one @ puppy > one @ stocks + 0.1


def test_english_is_read_as_before(embedder: StaticEmbedder) -> None:
    """A text of English words has the vector that the model before gave it, with a name or a word of another
    language in it, too."""
    before = StaticEmbedder(static.ENGLISH)
    texts = [
        *TEXTS[:3],
        "What did Nadja buy in Zürich?",
        "My naïve plan, “no sugar”, didn’t work 😀",
    ]
    assert (embedder.embed_documents(texts) == before.embed_documents(texts)).all()
    assert (embedder.embed_documents(TEXTS) != before.embed_documents(TEXTS)).any()


def test_a_vector_is_packed_in_two_bits_a_number() -> None:
    """What was packed has nearly the direction that it had."""
    vectors = np.random.default_rng(1).normal(0, 20, (50, 256)).astype(np.float32)
    read = foreign.unpacked(foreign.packed(vectors)).astype(np.float32)
    lengths = np.linalg.norm(read, axis=1) * np.linalg.norm(vectors, axis=1)
    assert ((read * vectors).sum(axis=1) / lengths).min() > 0.9
