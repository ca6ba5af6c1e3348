"""Files of each format as text, and what is none."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from typing import Any

import pytest

from langmemory.documents.converting import MOST_CHARACTERS, Converted, convert
from langmemory.documents.html_text import text_of
from langmemory.documents.splitting import split
from langmemory.errors import ImportFormatError
from tests.tables import tables

ODD = tables(__file__)


def cited(found: Converted) -> list[tuple[str, tuple[str, ...]]]:
    """How the chunks of a document are cited, and the headings above them."""
    return [
        (found.cited(one.start, one.first_line, one.end, one.last_line), one.heading)
        for one in split(found.text, found.layout)
    ]


def test_text_is_read_as_it_is() -> None:
    """In UTF-8 with and without a mark, in UTF-16, and in a legacy encoding."""
    for data in (
        "Grüße".encode(), "Grüße".encode("utf-8-sig"), "Grüße".encode("utf-16"), "Grüße".encode("cp1252"),
    ):  # fmt: skip
        assert convert(data, "a.txt").text == "Grüße"
    mixed = "Größe, Öl, Ärger und Übermut: ".encode() + b"\xe4"
    assert convert(mixed, "a.txt").text == "Größe, Öl, Ärger und Übermut: \ufffd"


def test_html_is_read_as_markdown_without_scripts() -> None:
    """Headings, lists and links stay; it is cited by its heading."""
    page = (
        b"<html><head><title>T</title><style>p{}</style></head><body><h1>Guide</h1><script>evil()</script>"
        b"<p>Hi.</p><h2>Install</h2><p>Run <code>pip</code>.</p><ul><li>one</li></ul></body></html>"
    )
    found = convert(page, "page.html")
    assert "evil" not in found.text
    assert "p{}" not in found.text
    assert "Run `pip`." in found.text
    assert cited(found) == [("", ("Guide",)), ("", ("Guide", "Install"))]


def test_pdf_is_cited_by_its_pages() -> None:
    """Each page is found where it is."""
    from fpdf import FPDF

    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    for number in (1, 2, 3):
        pdf.add_page()
        pdf.multi_cell(0, 8, f"Page {number} speaks of topic {number}. " * 40)
    found = convert(bytes(pdf.output()), "paper.pdf")
    places = [place for place, _ in cited(found)]
    assert places[0].startswith("page=1")
    assert places[-1].endswith("3")
    assert "topic 2" in found.text


def test_docx_keeps_its_headings() -> None:
    """Styles are headings; it is cited by them."""
    from docx import Document

    made = Document()
    made.add_heading("Plan", 1)
    made.add_paragraph("We ship in May.")
    made.add_heading("Risks", 2)
    made.add_paragraph("The server may be late.")
    buffer = io.BytesIO()
    made.save(buffer)
    found = convert(buffer.getvalue(), "plan.docx")
    assert cited(found) == [("", ("Plan",)), ("", ("Plan", "Risks"))]
    assert "We ship in May." in found.text


def test_notebooks_are_cited_by_their_cells() -> None:
    """Code stands in fences; outputs are not read."""
    cells = [
        {"cell_type": "markdown", "source": ["# Analysis\n", "Why."]},
        {"cell_type": "code", "source": "x = 1", "outputs": [{"text": "secret output"}]},
        {"cell_type": "markdown", "source": "## Result\n\n42."},
    ]
    found = convert(json.dumps({"cells": cells}).encode(), "n.ipynb")
    assert [place for place, _ in cited(found)] == ["cell=1-2", "cell=3"]
    assert "secret output" not in found.text


@pytest.mark.parametrize(("page", "markdown", "shown"), ODD["pages"])
def test_of_an_odd_page_nothing_is_lost(page: str, markdown: str, shown: str) -> None:
    """Heads and elements that nobody ended, cells and blocks beside each other: what a page shows is read,
    and words that stand apart stay apart, in a document as in a mail. A page that shows nothing is
    refused."""
    if markdown.startswith("refused: "):
        with pytest.raises(ImportFormatError, match=markdown.removeprefix("refused: ")):
            convert(page.encode(), "a.html")
    else:
        assert convert(page.encode(), "a.html").text == markdown
    assert re.sub(r"\n{2,}", "\n", text_of(page).strip()) == shown


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_page_of_an_unknown_charset_is_read_by_its_bytes(encoding: str) -> None:
    """What a page says of its charset may be wrong."""
    page = "<meta charset=x-none><p>Straße, café</p>".encode(encoding)
    assert convert(page, "a.html").text == "Straße, café"


@pytest.mark.parametrize(("cells", "text"), ODD["notebooks"])
def test_a_cell_ends_where_it_ends(cells: list[tuple[str, Any]], text: str) -> None:
    """Marks of code within a cell neither end its code nor take the next cells in."""
    found = [{"cell_type": kind, "source": source} for kind, source in cells]
    assert convert(json.dumps({"cells": found}).encode(), "n.ipynb").text == text


def test_an_old_notebook_is_read_and_a_cell_without_text_left_out() -> None:
    """Notebooks of nbformat 3 have their cells in worksheets and call the source of code its input."""
    old = {"cells": [{"cell_type": "code", "input": "x = 1"}, {"cell_type": "markdown"}]}
    for book in (
        {"worksheets": [old]},
        old,
        {"cells": [{"cell_type": "code", "source": None}, *old["cells"]]},
    ):
        assert convert(json.dumps(book).encode(), "n.ipynb").text.strip() == "```\nx = 1\n```"


def test_half_characters_of_a_notebook_are_replaced() -> None:
    """No store keeps half of an emoji, or U+0000."""
    cells = (
        b'{"cells": [{"cell_type": "markdown", "source": ["a\\ud83d", "\\udca9 \\ud83d \\u0000"]}]}'
    )
    assert convert(cells, "n.ipynb").text.strip() == "a\U0001f4a9 \ufffd \ufffd"


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"\x00\x01\x02", "a.txt", "is no text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a.md", "is no text"),
        ("渡轮每天早上七点从汉堡出发".encode("gb18030"), "a.txt", "Save it as UTF-8"),
        ("Паром отходит в семь утра".encode("cp1251"), "a.md", "Save it as UTF-8"),
        (b"no pdf", "a.pdf", "is damaged, or"),
        (b"no zip", "a.docx", "is damaged, or"),
        (b"{}", "a.ipynb", "is damaged, or"),
        (b'{"cells": {}}', "a.ipynb", "its cells are no list"),
        (b"[" * 100_000, "a.ipynb", "nests deeper|is damaged"),
        (b"<div>" * 100_000 + b"x", "a.html", "nests deeper"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_name(data: bytes, name: str, why: str) -> None:
    """The error names the file and says why."""
    with pytest.raises(ImportFormatError, match=f"^{name}.*({why})"):
        convert(data, name)


@pytest.mark.thorough
def test_bombs_are_refused() -> None:
    """A file that unpacks to more than a person wrote does not fill the memory."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
        with archive.open("word/document.xml", "w", force_zip64=True) as inner:
            for _ in range(5 * MOST_CHARACTERS // 1_000_000):
                inner.write(b" " * 1_000_000)
    with pytest.raises(ImportFormatError, match="unpacks to more"):
        convert(packed.getvalue(), "bomb.docx")
    stream = zlib.compress(b"BT /F1 12 Tf (x) Tj ET " * 20_000_000, 9)
    parts = [
        b"%PDF-1.4\n", b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n",
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n",
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n",
        b"4 0 obj<</Length %d/Filter/FlateDecode>>stream\n" % len(stream), stream, b"\nendstream endobj\n",
        b"trailer<</Root 1 0 R>>\n",
    ]  # fmt: skip
    with pytest.raises(ImportFormatError, match=r"^bomb\.pdf"):
        convert(b"".join(parts), "bomb.pdf")
