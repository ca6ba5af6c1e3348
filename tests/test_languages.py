"""A language is one folder of data; nothing else has to change for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import langmemory
from langmemory import MemoryStore, build_reflection_graph
from langmemory.formation.confidences import confidence_of
from langmemory.formation.entities.roles import Role, role_in
from langmemory.formation.relations.vocabulary import BY_NAME, WORDS
from langmemory.formation.statements import cues
from langmemory.languages import LANGUAGES, add_language, detect_language, keyword_terms
from langmemory.languages.tables import _TOPICS, folders
from tests.source import GROUP, modules, source

ROOT = Path(langmemory.__file__).parent
TOY = {  # Spanish words to those of a language that nobody speaks
    " el ": " zel ", " la ": " zla ", "ayer": "zayer", "vivo": "zivo", "vivimos": "zivimos",
    "nuera": "zuera", "secreto": "zecreto", "dejó de": "zejó de",
    "respond": "zespond", "inglés": "zinglés", "dónde": "zónde", "desde ahora": "zesde zahora",
}  # fmt: skip
"""Enough of them that a sentence of these words is no Spanish."""


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[str]:
    """A language made of one folder, with a file for each topic."""
    folder = tmp_path / "qx"
    folder.mkdir()
    for file in (ROOT / "languages" / "es").glob("*.toml"):
        text = file.read_text(encoding="utf-8")
        for spanish, word in TOY.items():
            text = text.replace(spanish, word)
        (folder / file.name).write_text(text, encoding="utf-8")
    words = folder / "words.toml"
    stops = "stop_words = 'zzz en zel zla zivo zayer'"
    lines = words.read_text(encoding="utf-8").split("\n")
    start = next(n for n, line in enumerate(lines) if line.startswith("stop_words"))
    end = next(n for n in range(start + 1, len(lines)) if lines[n].endswith("'''"))
    words.write_text("\n".join([*lines[:start], stops, *lines[end + 1 :]]), encoding="utf-8")
    add_language(folder)
    yield "qx"
    del folders()["qx"]
    for topic in _TOPICS:
        topic.forget("qx")


def test_a_toy_language_is_one_folder(toy: str, tmp_path: Path) -> None:
    """A folder gives stop words, a time in a query, rules, requests and dated facts."""
    assert detect_language("zivo en zla zzz").code == toy
    assert keyword_terms("zzz en zla Berlin") == ("berlin",)
    store = MemoryStore(tmp_path / "memory.db")
    said = "Zayer zzz zel zla. Zivo en Berlin."
    store.remember(
        ("memories", "lu"),
        [{"role": "user", "name": "Lu", "content": said, "at": "2026-05-02T10:00:00+00:00"}],
        thread_id="t",
    )
    done = build_reflection_graph(store).invoke({"namespace": ("memories", "lu")})
    values = [store.get(("memories", "lu"), key).value for key in done["added"]]  # type: ignore[union-attr]
    assert [(one["relation"], one["object"], one["language"]) for one in values] == [
        ("lives_in", "Berlin", toy)
    ]
    found = store.recall(
        "zayer zzz zel zla", ("memories", "lu"), now=datetime(2026, 5, 3, tzinfo=UTC), explain=True
    )
    assert found.results
    assert role_in("mi zuera", "Lu", known=lambda _: False) == Role("Lu", "daughter in law")
    assert confidence_of("Es un zecreto.") == "request"
    assert cues().over.search("Lu zejó de vivir en Berlin.")


WORDS_LEFT = frozenset(
    {
        "context/notes.py", "formation/asking/json_answers.py", "formation/entities/relationships.py",
        "formation/extraction/claims.py", "formation/extraction/junk.py",
        "formation/extraction/requests.py", "formation/rules/clauses.py",
        "formation/rules/questions.py", "formation/rules/retractions/marking.py",
        "languages/temporal/query.py", "languages/temporal/scanning.py", "languages/writing.py",
    }
)  # fmt: skip
"""Modules that still have a few words of other languages; the list may only become shorter."""


@pytest.mark.xdist_group(GROUP)
def test_words_of_a_language_are_in_its_folder() -> None:
    """No module has a list of German, Spanish or Chinese words, but for those that are known to."""
    english = LANGUAGES["en"].stop_words
    foreign = [LANGUAGES[code].stop_words - english for code in ("de", "es")]
    found = set()
    for path in modules():
        for text in map(str.casefold, source(path).strings):
            words = {*re.findall(r"[^\W\d_]+", text)}
            chinese = re.findall("[\u4e00-\u9fff]+", text)
            if len(chinese) > 1 or any(len(words & known) > 2 for known in foreign):
                found.add(path.relative_to(ROOT).as_posix())
    assert found <= WORDS_LEFT


def test_no_module_is_a_language() -> None:
    """Language knowledge is data in the language's folder: no module is named after a language."""
    names = {"english", "german", "spanish", "chinese", *LANGUAGES}
    assert [path for path in ROOT.rglob("*.py") if path.stem.split("_")[0] in names] == []


def test_words_for_relations_are_of_relations_there_are() -> None:
    """The words of each language for relations are those of relations that formation knows."""
    for words in WORDS.values():
        assert (words.asked.keys() | words.phrases.keys()) <= BY_NAME.keys()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stop_words = 'a'\nstop_word = 'b'\n", "unknown key 'stop_word'"),
        ("stop_words = 'a\n", "is no TOML"),
    ],
)
def test_a_broken_file_names_itself(tmp_path: Path, text: str, says: str) -> None:
    """A file that cannot be read gives an error with its path and the reason."""
    folder = tmp_path / "qy"
    folder.mkdir()
    (folder / "words.toml").write_text(text, encoding="utf-8")
    add_language(folder)
    try:
        with pytest.raises(ValueError, match=says):
            LANGUAGES["qy"]
    finally:
        del folders()["qy"]


def test_a_folder_without_words_is_refused(tmp_path: Path) -> None:
    """A folder without ``words.toml`` is no language, and the error says what to write."""
    with pytest.raises(ValueError, match=r"has no words\.toml"):
        add_language(tmp_path)
