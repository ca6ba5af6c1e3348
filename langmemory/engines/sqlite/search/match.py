"""FTS5 expressions that no query can hijack."""

from __future__ import annotations

from collections.abc import Iterable

from langmemory.languages.writing import as_indexed, is_single, split_words


def match_expression(terms: Iterable[str], phrases: Iterable[str] = ()) -> str:
    """FTS5 expression that matches any of the terms or phrases; empty when there are none.

    Every term is a quoted string, so that no character of it is syntax; a single character of an
    unspaced script becomes a prefix query (see `index_text`). The caller puts the expression in
    parentheses behind its own column filter.
    """
    parts = []
    for term in terms:
        quoted = _quote(term)
        if quoted:
            parts.append(quoted + "*" if is_single(term) else quoted)
    # As the words stand in the index: runs without spaces as pairs.
    parts.extend(filter(None, (_quote(" ".join(split_words(phrase))) for phrase in phrases)))
    return " OR ".join(parts)


def _quote(text: str) -> str:
    """As an FTS5 string; empty when it holds nothing the tokenizer would keep. Lone surrogates,
    which are no text, are left out."""
    if not any(character.isalnum() for character in text):
        return ""
    clean = text.replace("\0", " ").replace('"', '""').encode("utf-8", "ignore").decode()
    return f'"{as_indexed(clean)}"'
