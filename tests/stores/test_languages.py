"""Memories and prompts in different languages, and files from before the table read other languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from langmemory import MemoryStore, reembed
from langmemory.embeddings import StaticEmbedder, adapter
from langmemory.embeddings.static import CURRENT, ENGLISH

MARA = ("memories", "mara")
SAID = (
    "The washing machine broke again, the repair costs two hundred euros.",
    "I am allergic to walnuts.",
    "Our cat hides under the bed whenever there is thunder.",
    "I start my new job at the library in September.",
)
ASKED = {
    "Wie teuer ist die Reparatur der Waschmaschine?": 0,
    "¿Qué alimento no puedo comer por alergia?": 1,
    "Où travaillerai-je à partir de septembre, à la bibliothèque ?": 3,
    "雷が鳴ると猫はどうしますか。": 2,
}


def _filled(path: Path | str) -> MemoryStore:
    store = MemoryStore(path)
    store.remember(MARA, [HumanMessage(one) for one in SAID], thread_id="1")
    return store


@pytest.mark.parametrize(("asked", "answer"), ASKED.items())
def test_a_question_finds_what_was_said_in_another_language(asked: str, answer: int) -> None:
    """The first memory is the one that answers, and the gate, which compares words, does not hide it."""
    with _filled(":memory:") as store:
        recalled = store.recall(asked, MARA, min_score="auto")
    assert recalled.results[0].text == SAID[answer]


def test_the_gate_says_where_words_cannot_be_compared() -> None:
    """There meaning decides. What is in the language of the prompt is judged as ever."""
    with _filled(":memory:") as store:
        foreign = store.recall("Wie teuer ist die Reparatur der Maschine?", MARA, min_score="auto")
        general = store.recall("Wie viele Monde hat der Planet Saturn?", MARA, min_score="auto")
        english = store.recall("How many moons does Saturn have?", MARA, min_score="auto")
    assert any("another language" in one for one in foreign.trace.degraded)
    assert foreign.results[0].text == SAID[0]
    assert not general.results
    assert not english.results
    assert not english.trace.degraded


def test_the_gate_does_not_judge_by_words_that_have_no_vectors() -> None:
    """In Chinese only equal words meet. A question in other words than the answer gets it where it means
    something near, and one that nothing is near gets nothing."""
    said = (
        "我九月开始在图书馆上班。",
        "洗衣机又坏了，修理要两百块。",
        "我们家的猫一打雷就躲到床底下。",
    )
    with MemoryStore(":memory:") as store:
        store.remember(MARA, [HumanMessage(one) for one in said], thread_id="1")
        near = store.recall("宠物害怕什么天气？", MARA, min_score="auto")
        general = store.recall("澳大利亚的首都是哪里？", MARA, min_score="auto")
    assert near.results[0].text == said[2]
    assert any("cannot compare words" in one for one in near.trace.degraded)
    assert not general.results


def test_what_was_said_later_does_not_pass_what_a_foreign_question_means() -> None:
    """Where no memory has a word of the question, nothing tells that two of them answer it as well."""
    said = (
        "опять забыла очки в такси",
        "сантехник взял триста за десять минут",
        "паркуюсь всегда за кинотеатром",
    )
    with MemoryStore(":memory:") as store:
        store.remember(MARA, [HumanMessage(one) for one in said], thread_id="1")
        assert store.recall("where are my glasses", MARA).results[0].text == said[0]


def test_a_file_of_the_table_before_serves_and_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file from before is read and written with the vectors that it has, and `reembed` moves it."""
    path, asked = tmp_path / "memory.db", next(iter(ASKED))
    with monkeypatch.context() as before:
        before.setattr(adapter, "StaticEmbedder", lambda: StaticEmbedder(ENGLISH))
        _filled(path).close()
    with MemoryStore(path) as store:
        assert store.search(MARA, query="a pet that fears storms")
        store.remember(MARA, [HumanMessage("We fly to Iceland.")], thread_id="2")
        assert not store.recall("Iceland", MARA).trace.degraded
    assert reembed(str(path)).model == CURRENT
    with MemoryStore(path) as store:
        assert store.recall(asked, MARA).results[0].text == SAID[0]
