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
from langmemory.languages.tables import TOPICS, folders, table
from tests.source import GROUP, modules, source

from scripts import languages_page  # isort: skip

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
    for topic in TOPICS:
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


OTHER_MEANINGS = frozenset(
    {
        "alta", "alter", "animal", "arabic", "armenian", "auto", "chats", "con", "dia", "examples", "github",
        "greek", "han", "hindi", "llama", "neue", "russian",
    }
)  # fmt: skip
"""Words of a language that the code has as something else: a command of SQL, a font, rules for stems."""
PROTOCOLS = frozenset(
    {
        "formation/asking/json_answers.py", "formation/extraction/answers.py",
        "parts/importing/seeding/git_history.py",
    }
)  # fmt: skip
"""Modules that read what our own English prompts ask for, and what git writes."""
_ESCAPES = re.compile(
    r"\\(?:u[0-9a-f]{4}|U[0-9a-f]{8}|x[0-9a-f]{2}|.)|[{][^{}]*[}]|\(\?P?[<=]\w+[>)]", re.DOTALL
)
"""Of a literal: escapes, fields of an f-string, names of groups."""
_LETTERS = re.compile(r"[^\W\d_]+")
_CHINESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


def letters(literal: str) -> set[str]:
    """The words of a string as it is written."""
    return {*_LETTERS.findall(_ESCAPES.sub(" ", literal))}


def plain_words(value: object) -> Iterator[str]:
    """The words of TOML data that are no regular expressions."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from plain_words(key)
            yield from plain_words(one)
    elif isinstance(value, list):
        for one in value:
            yield from plain_words(one)
    elif isinstance(value, str) and re.fullmatch(r"[\w\s'-]*", value):
        yield from _LETTERS.findall(value.casefold())


def words_of(code: str) -> frozenset[str]:
    """The plain words of the files of a language."""
    files = folders()[code].glob("*.toml")
    return frozenset(word for path in files for word in plain_words(table(path)))


@pytest.mark.xdist_group(GROUP)
def test_words_of_a_language_are_in_its_folder() -> None:
    """No module has a word of another language than English: in no list, set, pattern or string alone."""
    names = {part for path in modules() for one in source(path).names for part in one.split("_")}
    others = set(folders()) - {"en"}
    codes = others - {"es", "it"}  # an English ending, and a word
    foreign = frozenset().union(*map(words_of, others)) - words_of("en") - names - OTHER_MEANINGS

    def is_foreign(literal: str) -> bool:
        if "</" in literal:
            return False  # a page
        words = foreign & letters(literal)
        words |= {w for w in foreign & letters(literal.casefold()) if len(w) > 3}
        long, several = any(len(word) > 3 for word in words), sum(len(w) > 1 for w in words) > 1
        code = literal.strip("\"'") in codes
        return code or long or several or _CHINESE.search(literal) is not None

    found = [
        (path, text) for path in modules() for text in source(path).literals if is_foreign(text)
    ]
    assert [f"{path.relative_to(ROOT)}: {text}" for path, text in found] == []


@pytest.mark.xdist_group(GROUP)
def test_no_pattern_has_words_of_english() -> None:
    """English is a folder like any other: no regular expression in a module has common words of it."""
    english = LANGUAGES["en"].stop_words
    parts = {"context", "formation", "languages", "recall", "redaction.py"}
    found = [
        (path, text)
        for path in modules()
        if path.relative_to(ROOT).parts[0] in parts
        and path.relative_to(ROOT).as_posix() not in PROTOCOLS
        for text in source(path).literals
        if re.search(r"\(\?|\|", text)
        and sum(len(word) > 1 for word in english & letters(text.casefold())) > 1
    ]
    assert [f"{path.relative_to(ROOT)}: {text}" for path, text in found] == []


def test_the_page_lists_what_a_folder_holds() -> None:
    """`docs/languages.md` is made from the dataclasses that read the files, and Italian has each of them."""
    assert languages_page.PAGE.read_text("utf-8") == languages_page.page(), (
        "run `python -m scripts.languages_page`"
    )
    files = {path.stem for path in (ROOT / "languages" / "it").glob("*.toml")}
    assert files == {topic.name for topic in languages_page.topics()}


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
