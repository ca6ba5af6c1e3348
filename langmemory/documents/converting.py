"""Files of several formats as text with marks: which page, cell or line a place of the text is from.

Of the libraries, these were compared on 2026-11-26: pypdf (pure Python, limits what a stream may unpack
to) and pypdfium2 (faster, native, without such a limit) for PDF; mammoth (knows styles, so headings stay) and
python-docx (paragraphs alone) for DOCX; markdownify and html2text (GPL) for HTML; and markitdown for all,
whose base needs onnxruntime. The first of each was chosen.
"""

from __future__ import annotations

import io
import json
import logging
import re
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from langmemory.documents.html_text import markdown_of
from langmemory.documents.splitting import Layout, open_fence
from langmemory.errors import ImportFormatError, with_extra
from langmemory.values import whole_characters

MOST_CHARACTERS: Final = 50_000_000
"""Of the text of one document. What is longer would unpack to more than a person wrote."""
MOST_PAGES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page or cell begins in the text."""

    start: int
    number: int


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of a document."""

    text: str
    layout: Layout
    unit: str | None = "L"
    """What a citation counts: lines of the file (``L``), pages (``page=``), cells (``cell=``); None where the
    text has no places that a person could look up."""
    places: Sequence[Place] = ()
    """Of pages or cells, ascending."""

    def cited(self, start: int, first_line: int, end: int, last_line: int) -> str:
        """Return how a part of the text is cited: ``L10-L24``, ``page=3``, or nothing."""
        if self.unit is None:
            return ""
        if self.unit == "L":
            return f"L{first_line}" if first_line == last_line else f"L{first_line}-L{last_line}"
        starts = [place.start for place in self.places]
        first, last = (
            self.places[max(bisect_right(starts, at) - 1, 0)].number for at in (start, end - 1)
        )
        return f"{self.unit}{first}" if first == last else f"{self.unit}{first}-{last}"


LAYOUTS: Final[Mapping[str, Layout]] = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mdc", ".qmd"), "markdown"),
    **dict.fromkeys((".rst", ".txt", ".text", ".adoc", ".org", ".tex", ".log", ""), "rst"),
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((
        ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".go", ".rs", ".java", ".kt", ".scala", ".swift", ".js",
        ".jsx", ".mjs", ".ts", ".tsx", ".vue", ".svelte", ".rb", ".php", ".pl", ".lua", ".sh", ".bash",
        ".zsh", ".ps1", ".sql", ".r", ".jl", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".dart",
        ".proto", ".graphql", ".tf", ".css", ".scss", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".json",
        ".xml", ".dockerfile", ".make", ".mk", ".cmake", ".gradle", ".bat",
    ), "code"),
}  # fmt: skip
"""By the end of the name, in lower case. ``""`` is a file without one, such as LICENSE."""


FEW_BYTES: Final = 8
"""That are no ASCII, and tell nothing about an encoding."""
_BESIDE: Final = re.compile(rb"[\x80-\xff]{2,}")
_TICKS: Final = re.compile("`+")
_ASCII: Final = bytes(range(128))


def readable(name: str) -> bool:
    """Return whether a file of this name is of a format that is read."""
    suffix = PurePath(name).suffix.lower()
    return suffix in LAYOUTS or suffix in _CONVERTERS


def convert(data: bytes, name: str) -> Converted:
    """Return the text of a file.

    Args:
        data: All of it.
        name: Its name, whose end says the format. A name with an unknown end is read as plain text.

    Raises:
        ImportFormatError: It is no text, or damaged, or unpacks to too much; the message says which.
    """
    suffix = PurePath(name).suffix.lower()
    if (converter := _CONVERTERS.get(suffix)) is not None:
        try:
            found = converter(data)
        except ImportError as error:
            raise ImportFormatError(
                f"{name} needs {error.name}: {with_extra('documents')}"
            ) from error
        except ImportFormatError as error:
            raise ImportFormatError(f"{name}: {error}") from error
        except (RecursionError, MemoryError) as error:
            raise ImportFormatError(f"{name} nests deeper than can be read.") from error
        except Exception as error:  # of many kinds, and all mean that the file is damaged
            raise ImportFormatError(
                f"{name} cannot be read as {suffix[1:].upper()} ({type(error).__name__}): it is damaged, or "
                "is something else."
            ) from error
    else:
        found = Converted(decoded(data, name), LAYOUTS.get(suffix, "plain"))
    if len(found.text) > MOST_CHARACTERS:
        raise ImportFormatError(
            f"{name} has {len(found.text):,} characters of text, more than {MOST_CHARACTERS:,}. Divide it."
        )
    return found


def decoded(data: bytes, name: str) -> str:
    """Return the text of bytes: UTF-8, also where some bytes of it are none; UTF-16 where it begins with its
    mark; else the encoding of Western Europe.

    Raises:
        ImportFormatError: It is no text, or in another encoding, such as one of Chinese or Russian.
    """
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if b"\0" in data:
            raise ImportFormatError(f"{name} is no text.") from None
        text = data.decode(encoding, errors="replace")
        broken = text.count("\ufffd")
        if sum(one > "\x7f" for one in text) < 3 * broken:
            # Letters of Western Europe stand alone among others, those of other scripts beside each other.
            beside = sum(len(found[0]) for found in _BESIDE.finditer(data))
            if beside > max(len(data.translate(None, _ASCII)) / 2, FEW_BYTES):
                raise ImportFormatError(
                    f"{name} is in an encoding that is not known. Save it as UTF-8: "
                    "`iconv -f GB18030 -t UTF-8`, or whatever it is in."
                ) from None
            text = data.decode("cp1252", errors="replace")
    if "\0" in text:
        raise ImportFormatError(f"{name} is no text.")
    return text


def _html(data: bytes) -> Converted:
    text = _tidied(markdown_of(data))
    if data.strip() and not text:
        raise ImportFormatError(
            "it shows no text: what it has is made by a program, or is pictures."
        )
    return Converted(text, "markdown", unit=None)


def _docx(data: bytes) -> Converted:
    import mammoth

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if (
            sum(one.file_size for one in archive.infolist() if one.filename.endswith(".xml"))
            > 4 * MOST_CHARACTERS
        ):
            raise ImportFormatError("it unpacks to more than a person wrote.")
    html = mammoth.convert_to_html(
        io.BytesIO(data), convert_image=mammoth.images.img_element(lambda _: {})
    )
    return _html(html.value.encode())


def _pdf(data: bytes) -> Converted:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns of each small fault of a file
    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ImportFormatError("it is encrypted. Save it without a password.")
    if len(reader.pages) > MOST_PAGES:
        raise ImportFormatError(f"it has {len(reader.pages):,} pages, more than {MOST_PAGES:,}.")
    parts, places, length = [], [], 0
    for number, page in enumerate(reader.pages, 1):
        text = whole_characters(page.extract_text().strip().replace("\0", ""))
        if not text:
            continue
        places.append(Place(length, number))
        parts.append(f"{text}\n\n")
        length += len(parts[-1])
        if length > MOST_CHARACTERS:
            break
    if not parts:
        raise ImportFormatError("it has no text: its pages are images. Run it through OCR first.")
    return Converted("".join(parts), "plain", unit="page=", places=places)


def _notebook(data: bytes) -> Converted:
    parts, places, length = [], [], 0
    book = json.loads(data)
    cells = book.get("cells")
    if cells is None:  # as nbformat 3 has them
        cells = [one for sheet in book["worksheets"] for one in sheet["cells"]]
    if not isinstance(cells, list):
        raise ImportFormatError("its cells are no list.")
    for number, cell in enumerate(cells, 1):
        source = cell.get("source", cell.get("input")) or ""
        text = source if isinstance(source, str) else "".join(source)
        text = whole_characters(text.replace("\0", "\ufffd"))
        if not text.strip():
            continue
        if cell.get("cell_type") not in ("markdown", "heading"):
            fence = max(_TICKS.findall(text), key=len, default="") + "`"
            text = f"{fence:`<3}\n{text}\n{fence:`<3}"
        elif opened := open_fence(text):
            text = f"{text}\n{opened}"
        places.append(Place(length, number))
        parts.append(f"{text}\n\n")
        length += len(parts[-1])
    return Converted("".join(parts), "markdown", unit="cell=", places=places)


def _tidied(text: str) -> str:
    return re.sub(r"\n[ \t]*(?:\n[ \t]*)+\n", "\n\n", text).strip()


_CONVERTERS: Final[Mapping[str, Callable[[bytes], Converted]]] = {
    ".html": _html, ".htm": _html, ".xhtml": _html, ".docx": _docx, ".pdf": _pdf, ".ipynb": _notebook,
}  # fmt: skip
