"""A hook of the documentation's build: links from a page to the repository, which the site does not
hold, become what they point at, as code."""

from __future__ import annotations

import re
from typing import Any



def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by MkDocs for each page."""
    depth = page.file.src_path.count("/")
    outside = re.compile(r"\[([^\]]+)\]\((?:\.\./){%d}[^)]*\)" % (depth + 1))
    return outside.sub(r"\1", markdown)
