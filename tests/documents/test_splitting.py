"""Texts in chunks: nothing is lost, changed or cited wrongly."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langmemory.documents.front_matter import links_in
from langmemory.documents.splitting import Layout, split

LAYOUTS: tuple[Layout, ...] = ("markdown", "rst", "python", "code", "plain")
LINES = st.sampled_from(
    [
        "# One", "## Two", "Three", "=====", "-----", "", "  ", "def f():", "    return 1", "class A:", "```",
        "---", "Ein längerer Satz. Und noch einer! 日本語の文。次の文。", "word " * 60, "x" * 400, "\t- item",
        "a\u2028b\x0cc", "50 %\r60 %",
    ]
)  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(lines=st.lists(LINES, max_size=30), newline=st.sampled_from(["\n", "\r\n", "\r"]))
def test_chunks_are_the_text_itself(layout: Layout, lines: list[str], newline: str) -> None:
    """Chunks are parts of the text in order, only blanks lie between them, and their lines are right."""
    text, ends = newline.join(lines), re.compile(r"\r\n|\r(?!\n)|\n")
    chunks = split(text, layout, characters=200)
    end = 0
    for chunk in chunks:
        assert chunk.start >= end
        assert not text[end : chunk.start].strip()
        assert text[chunk.start : chunk.end].strip()
        assert chunk.first_line == len(ends.findall(text, 0, chunk.start)) + 1
        assert chunk.last_line == len(ends.findall(text, 0, chunk.end - 1)) + 1
        end = chunk.end
    assert not text[end:].strip()


def test_sections_of_markdown_carry_the_headings_above_them() -> None:
    """A heading within a fence is none, and front matter is no section."""
    text = (
        "---\ntitle: x\n---\n\n# Guide\n\nIntro.\n\n"
        "## Install\n\n```sh\n# not a heading\npip install x\n```\n\n"
        "Linux\n-----\n\nWorks.\n\n# Other\n\nEnd.\n"
    )
    found = [(chunk.heading, text[chunk.start : chunk.end]) for chunk in split(text, "markdown")]
    assert found == [
        ((), "---\ntitle: x\n---"),
        (("Guide",), "# Guide\n\nIntro."),
        (("Guide", "Install"), "## Install\n\n```sh\n# not a heading\npip install x\n```"),
        (("Guide", "Linux"), "Linux\n-----\n\nWorks."),
        (("Other",), "# Other\n\nEnd."),
    ]


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_the_ends_of_lines_of_other_systems_change_nothing(newline: str) -> None:
    """Front matter, headings and functions are seen, and cited by the lines that an editor shows."""
    texts: dict[Layout, str] = {
        "markdown": "---\nrequires: b.md\n---\n\n# One\n\nIntro.\n\n## Two\n\n" + "A line.\n\n" * 9,
        "python": "def one():\n    return '\\d'\n\n\ndef two():\n    return 2\n",
    }
    for layout, text in texts.items():
        there = text.replace("\n", newline)
        found = [(one.heading, one.first_line, one.last_line) for one in split(there, layout)]
        assert found == [
            (one.heading, one.first_line, one.last_line) for one in split(text, layout)
        ]
        assert links_in(there) == links_in(text)


def test_sections_of_restructured_text_carry_the_headings_above_them() -> None:
    """The marks count in the order in which they first appear; a table is no heading."""
    text = (
        "=====\nTitle\n=====\n\nA.\n\nPart\n----\n\n====  ====\na     b\n====  ====\n\n"
        "Sub\n~~~\n\nC.\n\nNext\n----\n\nD.\n"
    )
    found = [(chunk.heading, text[chunk.start : chunk.end][-2:]) for chunk in split(text, "rst")]
    assert found == [
        (("Title",), "A."),
        (("Title", "Part"), "=="),
        (("Title", "Part", "Sub"), "C."),
        (("Title", "Next"), "D."),
    ]


def test_python_is_cut_at_functions_and_classes() -> None:
    """Each is found by the name that it is reached by, decorators with it."""
    text = (
        '"""Doc."""\nimport os\n\n\n@cached\ndef f():\n    pass\n\n\n'
        'class A:\n    """Doc."""\n\n    def g(self):\n        pass\n'
    )
    found = [
        (".".join(one.heading), one.first_line, one.last_line) for one in split(text, "python")
    ]
    assert found == [("", 1, 2), ("f", 5, 7), ("A", 10, 11), ("A.g", 13, 14)]


@pytest.mark.parametrize(
    ("layout", "text", "chunks"),
    [
        (
            "markdown",
            "# Oven\n\n## Warranty\n\nTwo years.\n\n## Parts\n",
            [
                (("Oven", "Warranty"), "# Oven\n\n## Warranty\n\nTwo years."),
                (("Oven", "Parts"), "## Parts"),
            ],
        ),
        (
            "markdown",
            "# Buy\n\n## Milk\n\n## Bread\n",
            [(("Buy",), "# Buy\n\n## Milk\n\n## Bread")],
        ),
        (
            "markdown",
            "# One\n\nA.\n\n## Later\n\n# Two\n\nB.\n",
            [(("One",), "# One\n\nA."), ((), "## Later\n\n# Two\n\nB.")],
        ),
        (
            "rst",
            "====\nOven\n====\n\nParts\n-----\n\nOne.\n",
            [(("Oven", "Parts"), "====\nOven\n====\n\nParts\n-----\n\nOne.")],
        ),
        (
            "python",
            "class A:\n    @cached\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n",
            [
                (("A", "f"), "class A:\n    @cached\n    def f(self):\n        pass"),
                (("A", "g"), "    def g(self):\n        pass"),
            ],
        ),
    ],
)
def test_a_heading_alone_stands_with_what_follows(
    layout: Layout, text: str, chunks: list[tuple[tuple[str, ...], str]]
) -> None:
    """A chunk says something: a title, or the first line of a class, is no answer to a question."""
    found = [(chunk.heading, text[chunk.start : chunk.end]) for chunk in split(text, layout)]
    assert found == chunks


def test_what_is_no_python_is_cut_all_the_same() -> None:
    """A file of another version of Python is code without names."""
    [chunk] = split("print 'hello'\n", "python")
    assert chunk.heading == ()


def test_long_sections_are_cut_between_paragraphs_else_sentences_else_words() -> None:
    """No chunk is more than half as long again as asked for."""
    paragraphs = "\n\n".join(f"Paragraph {number}. " + "Some words. " * 10 for number in range(20))
    for text in (paragraphs, "A sentence is here. " * 200, "word " * 1_000, "x" * 5_000):
        chunks = split(text, "plain", characters=300)
        assert len(chunks) > 5
        assert max(chunk.end - chunk.start for chunk in chunks) <= 450
    for chunk in split(paragraphs, "plain", characters=300):
        assert re.match(r"Paragraph \d+\.", paragraphs[chunk.start : chunk.end])
