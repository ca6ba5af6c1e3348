"""Write ``llms.txt``, which tells models which pages there are: those of ``mkdocs.yml``.

Run it with ``python -m scripts.llms_page``; a test compares. Format: https://llmstxt.org
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "llms.txt"
_ENTRY = re.compile(r"^(?P<space> +)- (?:(?P<title>[^:\n]+): ?)?(?P<page>\S+\.md)?$", re.MULTILINE)


def written() -> str:
    """Return the page."""
    readme = (ROOT / "README.md").read_text("utf-8")
    about = " ".join(readme.split("\n\n")[1].split())
    install = (
        "Install it from a checkout (`pip install .`) or from a wheel that `make dist` built. The package "
        "`langmemory` on the package index is somebody else's, with the same import name."
    )
    return "\n".join(["# langmemory", "", f"> {_plain(about)}", "", install, *_lines(), ""])


def _lines() -> Iterator[str]:
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    yield from ("", "## Start", "")
    for entry in _ENTRY.finditer(nav):
        if entry["page"] is None:
            yield from ("", f"## {entry['title']}", "")
            continue
        text = (ROOT / "docs" / entry["page"]).read_text("utf-8")
        title, _, rest = text.removeprefix("# ").partition("\n")
        first = next(
            (one for one in rest.split("\n\n") if re.match(r"\s*(?!```)[\w`*\[]", one)), ""
        )
        sentence = re.split(r"(?<=[.:])\s", _plain(" ".join(first.split())))[0]
        yield f"- [{title}](docs/{entry['page']}): {sentence.rstrip(':.')}."


def _plain(text: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8")
