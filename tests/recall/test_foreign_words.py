"""Whether a prompt is in another language than the memories."""

from __future__ import annotations

import pytest

from langmemory.embeddings import StaticEmbedder
from langmemory.recall.foreign_words import is_foreign
from langmemory.stores import MemoryStore

HOME = ("memories", "kim")

ENGLISH = ("I left my glasses in the taxi again.", "We named the puppy Biscuit.")
GERMAN = ("hab meine brille wieder im taxi liegen lassen", "der welpe heisst jetzt keks")
SPANISH = ("deje las gafas en el taxi otra vez", "no puedo comer gambas me sale sarpullido")
TURKISH = ("gozlugumu yine takside unuttum", "yavru kopegin adini biskuvi koyduk")
JAPANESE = ("またタクシーにめがね忘れた", "子犬の名前はビスケットにした")
CHINESE = ("眼镜又落出租车上了", "小狗取名叫饼干")
RUSSIAN = ("опять забыла очки в такси", "щенка назвали печенька")


def _is_foreign(prompt: str, memories: tuple[str, ...]) -> bool:
    return is_foreign(prompt, memories, StaticEmbedder().is_english)


@pytest.mark.parametrize(
    ("prompt", "memories"),
    [
        ("wo hab ich meine brille liegen lassen", ENGLISH),
        ("Was kostet es, die Waschmaschine zu reparieren?", ENGLISH),
        ("Was darf Emil nicht essen?", (*ENGLISH, "Emil was at the dentist")),
        ("¿Dónde dejé las gafas?", ENGLISH),
        ("Qu'est-ce qu'on m'a dérobé dans le train ?", ENGLISH),
        ("gozlugumu nerede unuttum", ENGLISH),
        ("mera chashma kahan reh gaya", ENGLISH),
        ("wo xiang qu nali lvxing", ENGLISH),
        ("めがねどこに忘れたっけ", ENGLISH),
        ("где я очки забыла", ENGLISH),
        ("where did i leave my glasses", GERMAN),
        ("where did i leave my glasses", SPANISH),
        ("where did i leave my glasses", TURKISH),
        ("where did i leave my glasses", JAPANESE),
        ("where did i leave my glasses", RUSSIAN),
        ("wo hab ich meine brille liegen lassen", SPANISH),
        ("watashi wa nani ga taberarenai", JAPANESE),
        ("小狗叫什么", JAPANESE),
    ],
)
def test_another_language_is_told_however_it_is_typed(
    prompt: str, memories: tuple[str, ...]
) -> None:
    """Without accents, in lower case, in Latin letters, and in languages that nothing is known of."""
    assert _is_foreign(prompt, memories)


@pytest.mark.parametrize(
    ("prompt", "memories"),
    [
        ("what is the capital of australia", ENGLISH),
        ("Translate", ENGLISH),
        ("raft vs paxos in three sentences", ENGLISH),
        ("Convert 72 Fahrenheit to Celsius", ENGLISH),
        ("Wie viele Monde hat der Saturn?", GERMAN),
        ("como se llama mi dentista", SPANISH),
        ("kan grubum ne", TURKISH),
        ("歯医者の名前なんだっけ", JAPANESE),
        ("澳大利亚首都是哪", CHINESE),
        ("какая столица австралии", RUSSIAN),
        ("where did i leave my glasses", (*GERMAN, *ENGLISH)),
        ("2024?", ENGLISH),
        ("", ENGLISH),
    ],
)
def test_a_prompt_in_the_language_of_the_memories_is_not_foreign(
    prompt: str, memories: tuple[str, ...]
) -> None:
    """Although two memories have few of its words, and where a person speaks several languages."""
    assert not _is_foreign(prompt, memories)


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("Was isst mein Neffe nicht?", True),
        ("Was darf Emil nicht essen?", True),
        ("cómo se llaman mis gatos", True),
        ("Wie kehrt man eine verkettete Liste um?", False),
    ],
)
def test_few_memories_are_not_too_far_for_who_asks_about_themselves(
    store: MemoryStore, prompt: str, shown: bool
) -> None:
    """Over eight memories in another language even the best vector may be far: a question about the person
    gets them, another one does not, and the trace says which it was."""
    told = [
        "My nephew Emil is allergic to hazelnuts", "We moved the meeting to Thursday",
        "My brother lives in Leeds", "I have two cats, Tofu and Miso", "The boiler was repaired in May",
        "My sister bakes bread on Sundays", "My car is a blue Fiat", "I work at a bakery in Hull",
    ]  # fmt: skip
    store.remember(HOME, [{"role": "user", "content": one} for one in told], thread_id="t")
    found = store.recall(prompt, HOME, min_score="auto", explain=True)
    assert bool(found.results) == shown
    assert found.trace is not None
    [why] = found.trace.degraded
    assert ("shown unjudged" in why) == shown


def test_questions_in_a_language_make_it_none_of_the_memories(store: MemoryStore) -> None:
    """Who asks in German, again and again, is answered out of English memories each time."""
    told = [
        "My nephew Emil is allergic to hazelnuts",
        "My brother lives in Leeds",
        "We sold the van",
    ]
    asked = [
        "Guten Morgen, wie geht es dir heute?",
        "Wo wohnt mein Bruder?",
        "Danke, das hilft mir sehr!",
    ]
    said = [
        {"role": "user", "content": one} for one in (*told, *asked, "Was darf mein Neffe essen?")
    ]
    store.remember(HOME, said, thread_id="t")
    found = store.recall("Was isst mein Neffe nicht?", HOME, min_score="auto")
    assert told[0] in [one.memory.text for one in found.results]
