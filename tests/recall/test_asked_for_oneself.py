"""Questions for everything that is known of who asks: "What do you know about me?"."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from langmemory import MemoryStore, build_reflection_graph
from langmemory.recall.contentless import is_idle
from langmemory.recall.intent import read_intent

ADA = ("memories", "ada")
NOW = datetime(2026, 5, 1, tzinfo=UTC)

FOR_ONESELF = [
    "Who am I?", "Do you remember me?", "Do you still know who I am?", "Describe me",
    "What do you know about me?", "So what have you learned about me so far?",
    "Tell me everything you know about me.", "Tell me about myself", "What do you have on me?",
    "Wer bin ich?", "Was weißt du über mich?", "Was hast du dir über mich gemerkt?",
    "Sag mir alles, was du über mich weißt.", "Erzähl mir etwas über mich",
    "¿Quién soy?", "¿Qué sabes de mí?", "Cuéntame todo lo que sabes sobre mí.", "¿Te acuerdas de mí?",
    "我是谁？", "你知道我什么？", "你还记得我吗？", "關於我，你知道什麼？",
]  # fmt: skip
FOR_OTHERS = [
    "Who am I meeting tomorrow?", "What do you know about my sister?", "Do you remember my dog?",
    "Do you remember me telling you about Bo?", "What do you know about Heron?", "Who is Ada?",
    "Wer ist Bo?", "Was weißt du über meinen Hund?", "¿Qué sabes de mi hermana?", "¿Quién es Bo?",
    "我妹妹是谁？", "你知道他什么？",
]  # fmt: skip


def told(
    store: MemoryStore, *texts: str, name: str | None = None, owner: str | None = None
) -> None:
    said = [{"role": "user", "content": text, **({"name": name} if name else {})} for text in texts]
    store.remember(ADA, said, thread_id=f"t-{name}", at=NOW, owner=owner)
    build_reflection_graph(store).invoke({"namespace": ADA})


@pytest.mark.parametrize("asked", FOR_ONESELF)
def test_it_is_recognised(asked: str) -> None:
    """Each language tells such a question, which is no small talk although it has no word of its own."""
    assert "self" in read_intent(asked, NOW).asks
    assert not is_idle(asked)


@pytest.mark.parametrize("asked", FOR_OTHERS)
def test_other_questions_are_not(asked: str) -> None:
    """What asks for somebody or something else is not taken for it."""
    assert "self" not in read_intent(asked, NOW).asks


@pytest.mark.parametrize("name", [None, "Ada"])
@pytest.mark.parametrize("asked", ["Who am I?", "Do you remember me?", "Was weißt du über mich?"])
def test_every_fact_of_who_asks_answers(asked: str, name: str | None) -> None:
    """Whether the messages bear a name or not, what holds of the person comes, and not what they asked."""
    with MemoryStore(":memory:") as store:
        told(
            store, "Hi, my name is Ada. I live in Porto and I'm allergic to peanuts.",
            "What am I allergic to?", "My brother Bo lives in Kiel.", name=name,
        )  # fmt: skip
        found = store.recall(asked, ADA, min_score="auto", now=NOW)
        texts = "\n".join(one.text for one in found.results)
        assert "Porto" in texts
        assert "peanuts" in texts
        assert "What am I" not in texts
        assert all(one.memory.kind == "semantic" for one in found.results)


def test_what_is_over_gives_way() -> None:
    """Of what can be but one at a time the last holds."""
    with MemoryStore(":memory:") as store:
        told(store, "I live in Porto.", name="Ada")
        told(store, "I moved to Lisbon.", name="Ada")
        found = store.recall("What do you know about me?", ADA, min_score="auto", now=NOW)
        assert "Lisbon" in found.results[0].text
        assert not any("lives in Porto" in one.text for one in found.results)


def test_of_several_people_the_viewer_is_meant() -> None:
    """Where two share a memory, each is told of themselves."""
    with MemoryStore(":memory:") as store:
        told(store, "I live in Porto.", name="Ada", owner="ada")
        told(store, "I live in Ulm and I play the cello.", name="Ben", owner="ben")
        for viewer, town in (("ada", "Porto"), ("ben", "Ulm")):
            asked = store.for_viewer(viewer)
            found = asked.recall("What do you know about me?", ADA, min_score="auto", now=NOW)
            assert town in "".join(one.text for one in found.results)
            assert {one.memory.owner for one in found.results} == {viewer}
