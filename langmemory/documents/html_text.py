"""What an HTML page shows, as Markdown for documents and as plain text for mail, by the elements of the
standard: https://html.spec.whatwg.org/multipage/syntax.html#optional-tags
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, Final

UNSHOWN: Final = frozenset({"script", "style", "template", "noscript", "title"})
"""Elements that a page does not show. Its head is none of them: many a page does not say where that ends."""
HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
CELLS: Final = frozenset({"td", "th"})
BLOCKS: Final = frozenset({
    "address", "article", "aside", "button", "caption", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup",
    *HEADINGS, "hr", "legend", "li", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre",
    "search", "section", "select", "summary", "table", "tbody", "textarea", "tfoot", "thead", "tr",
    "ul", "blockquote",
})  # fmt: skip
"""Elements with lines of their own."""
_VOID: Final = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
})  # fmt: skip
_ROW: Final = frozenset({"p", *CELLS})
_GROUP: Final = _ROW | {"tr"}
ENDED_BY: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(BLOCKS, frozenset({"p"})),
    **dict.fromkeys(HEADINGS, frozenset({"p", *HEADINGS})),
    "li": frozenset({"p", "li"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"p", "dt", "dd"})),
    **dict.fromkeys(CELLS, _ROW),
    "tr": _GROUP,
    **dict.fromkeys(("thead", "tbody", "tfoot"), _GROUP | {"caption", "thead", "tbody", "tfoot"}),
    "option": frozenset({"option"}),
    "optgroup": frozenset({"option", "optgroup"}),
    **dict.fromkeys(("rt", "rp"), frozenset({"rt", "rp"})),
}
"""Element → those that end where it begins, without saying so."""
_PLAIN: Final = BLOCKS - {
    "blockquote", "caption", "dd", "dl", "dt", "figcaption", *HEADINGS, "hr", "li", "ol", "p", "pre",
    "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
"""Blocks of which Markdown has no form."""


def markdown_of(data: bytes) -> str:
    """Return a page as Markdown.

    Raises:
        ImportError: What the extra ``documents`` brings is not installed.
    """
    from bs4 import BeautifulSoup
    from bs4.element import Declaration, ProcessingInstruction
    from markdownify import MarkdownConverter

    class Page(BeautifulSoup):
        def handle_starttag(self, name: str, *others: Any, **named: Any) -> Any:
            self.endData()
            while self.currentTag is not None and self.currentTag.name in ENDED_BY.get(name, ()):
                self.popTag()
            return super().handle_starttag(name, *others, **named)

    with warnings.catch_warnings():  # of XHTML, which is read as HTML
        warnings.simplefilter("ignore")
        page = Page(data, "html.parser")
    for unread in page([*UNSHOWN, "svg"]):
        unread.decompose()
    for told in page(string=lambda one: isinstance(one, Declaration | ProcessingInstruction)):
        told.extract()
    for block in page(list(_PLAIN)):
        block.name = "div"
    for image in page("img"):
        image.replace_with(str(image.get("alt") or ""))
    return str(MarkdownConverter(heading_style="ATX").convert_soup(page))


class _Shown(HTMLParser):
    """Collects the text of a page."""

    def __init__(self, unread: frozenset[str]) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._left_out, self._unread = unread, UNSHOWN | unread
        self._open: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._separate(tag)
        if tag not in _VOID:
            if tag in self._left_out and not self._hidden:
                self.parts.append("\n>\n")
            self._open.append(tag)
            self._hidden += tag in self._unread
        elif tag == "img" and (shown := dict(attrs).get("alt")):
            self.handle_data(shown)

    def handle_endtag(self, tag: str) -> None:
        self._separate(tag)
        while tag in self._open:
            ended = self._open.pop()
            self._hidden -= ended in self._unread
            if ended == tag:
                break

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if "pre" not in self._open:
            data = " ".join(f"<{data}>".split())[1:-1]
            if self.parts and self.parts[-1][-1:].isspace():
                data = data.lstrip()
        if data:
            self.parts.append(data)

    def unknown_decl(self, data: str) -> None:
        if data.startswith("CDATA["):
            self.handle_data(data.removeprefix("CDATA["))

    def _separate(self, tag: str) -> None:
        if tag in CELLS:
            self.handle_data(" ")
        elif tag in BLOCKS or tag == "br":
            self.parts.append("\n")


def text_of(page: str, unread: frozenset[str] = frozenset()) -> str:
    """Return the text that a page shows, line by line.

    Args:
        page: Its HTML.
        unread: Elements that are left out, too; a line ``>`` stands for each.
    """
    shown = _Shown(unread)
    shown.feed(page)
    shown.close()
    return "\n".join(line.rstrip() for line in "".join(shown.parts).splitlines())
