"""A hook of the documentation's build: links from a page to the rest of the repository, which the
site does not hold, become plain text."""

from __future__ import annotations

import re
from typing import Any


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by MkDocs for each page."""
    out_of_docs = re.escape("../" * (page.file.src_path.count("/") + 1))
    return re.sub(rf"\[([^\]]+)\]\({out_of_docs}[^)]*\)", r"\1", markdown)
