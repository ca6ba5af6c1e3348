"""Taking citation ids out of an answer, as a whole or while it streams in pieces of any size.

An id in brackets goes with its brackets and the space before it, so that the sentence reads as if it
had never been there. The streamed text is the same as the whole one: what may turn out to be part of
an id is held back until the next piece tells.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from langchain_core.messages import BaseMessage

from langmemory.context.notes import ID_CHARS
from langmemory.languages import LANGUAGES

LONGEST_GROUP: Final = 600
"""Characters within which a bracket full of ids must close. A longer one is shown as it is."""

_HEX = rf"[0-9a-f]{{{ID_CHARS},64}}"
_LABEL = rf"(?:[MGR]\s{{0,3}}[:：]\s{{0,3}}(?:{_HEX}|id(?![0-9a-z])))"
_LEAD = rf"(?:{'|'.join(LANGUAGES.everywhere.cites)})"
_AND = rf"(?:{'|'.join(LANGUAGES.everywhere.ands)})\b"
_JOINT = rf"(?:\s{{0,3}}[,;&/|]\s{{0,3}}(?:{_AND})?|\s{{1,3}}{_AND}|\s)\s{{0,3}}"
_INSIDE = r"[\s0-9a-fmgruniy:：,;&/|*_`^~\[\]()【】{}<>]"
"""Characters of a group of ids, those between two ids included."""
_BRACKETS = (r"\[", r"\]"), (r"\(", r"\)"), ("【", "】"), (r"\{", r"\}"), ("<", ">")

_BEGUN = re.compile(
    r"\s*[*_`^~]{0,3}"
    rf"(?:[\[(【{{<]\s*(?:[^\W\d_.]{{0,9}}\.?\s*[:：]?)?{_INSIDE}{{0,{LONGEST_GROUP}}}"
    rf"|(?<![0-9a-z])(?:[mgr](?:[:：][0-9a-f]{{0,64}})?|[0-9a-f]{{1,64}}){_INSIDE}{{0,{LONGEST_GROUP}}})?$",
    re.IGNORECASE,
)
"""The end of a text that may be the beginning of a citation."""

_DIGITS = re.compile(_HEX)
_SHOWN = re.compile(rf"(?<![0-9a-z])[MGR]:({_HEX})(?![0-9a-z])")


def _with_space(one: str, more: str = "") -> re.Pattern[str]:
    """Return the pattern of what is taken out, with the marks and the white space around it."""
    marked = rf"(?:(?P<mark>[*_`^~]{{1,3}}){one}(?P=mark)|{one})"
    before = r"(?:(?<![ \t])(?P<before>[ \t]*))?"
    whole = rf"{before}{marked}{more}(?P<after>[ \t]*)(?P<line>\n?)"
    return re.compile(whole, re.IGNORECASE)


@functools.cache
def _labels() -> re.Pattern[str]:
    """Return the pattern of labels; compiled when first needed, for it takes milliseconds."""
    item = rf"[\[(【{{<]?\s{{0,3}}{_LABEL}\s{{0,3}}[\])】}}>]?"
    items = rf"(?:{_LEAD}\s{{0,3}}[:：]?\s{{0,3}})?{item}(?:{_JOINT}(?:{item}|{_HEX}))*"
    groups = "|".join(rf"{a}\s{{0,3}}{items}\s{{0,3}}{b}" for a, b in _BRACKETS)
    # Outside of brackets "M: 12345678" is somebody's mobile number.
    bare = rf"(?<![0-9a-z])(?-i:[MGR]):(?=[0-9]{{0,7}}[a-f]){_HEX}(?![0-9a-z])"
    one = rf"(?:{groups}|{bare})"
    return _with_space(one, rf"(?:(?:{_JOINT})?{one})*")


@functools.cache
def _unlettered() -> re.Pattern[str]:
    """Return the pattern of what may be ids without their letter: only those that were shown are."""
    id = rf"(?<![0-9a-z])(?:[MGR]\s?[:：]\s?)?{_HEX}(?![0-9a-z])"
    inner = rf"(?:{_LEAD}[:：]?\s)?{id}(?:{_JOINT}{id})*"
    return _with_space(rf"(?:\[{inner}\]|\({inner}\)|{id})")


class CitationFilter:
    """Takes citation ids out of a text that arrives in pieces.

    Args:
        ids: those the model was shown, hexadecimal digits in lower case: they are known without their letter.
    """

    def __init__(self, ids: AbstractSet[str] = frozenset()) -> None:
        self._passes = [_Pass(_labels())]
        if ids:
            self._passes.append(_Pass(_unlettered(), ids))

    def feed(self, piece: str) -> str:
        """Return what can be shown now that `piece` has arrived."""
        for each in self._passes:
            piece = each.feed(piece)
        return piece

    def rest(self) -> str:
        """Return what was held back, at the end of the text."""
        piece = ""
        for each in self._passes:
            piece = each.feed(piece) + each.rest()
        return piece


class _Pass:
    """Takes what a pattern finds out of a text that arrives in pieces."""

    def __init__(self, pattern: re.Pattern[str], ids: AbstractSet[str] | None = None) -> None:
        self._pattern = pattern
        self._ids = ids
        """A group is taken out only if it has no other ids than these; None takes out every group."""
        self._text = "\n"
        """The last character let through, then what is held back."""

    def feed(self, piece: str) -> str:
        self._text += piece
        # Searched from where a group could begin at the earliest, or a long text costs its square.
        begun = _BEGUN.search(self._text, max(1, len(self._text) - 2 * LONGEST_GROUP))
        end = len(self._text) if begun is None else begun.start()
        for found in self._found(end):
            if found.end() == end:  # the space after it may be still to come
                end = found.start()
        return self._let_through(end, last=False)

    def rest(self) -> str:
        return self._let_through(len(self._text), last=True)

    def _found(self, end: int) -> Iterator[re.Match[str]]:
        for found in self._pattern.finditer(self._text, 1, end):
            if self._ids is None or self._ids >= set(_DIGITS.findall(found[0].lower())):
                yield found

    def _let_through(self, end: int, *, last: bool) -> str:
        text, shown, at = self._text, "", 1
        for found in self._found(end):
            shown += text[at : found.start()]
            following = text[found.end() : min(found.end() + 1, end)]
            shown += _gap(found, (text[0] + shown)[-1], following, last=last)
            at = found.end()
        shown += text[at:end]
        self._text = (text[0] + shown)[-1] + text[end:]
        return shown


def _gap(found: re.Match[str], before: str, following: str, *, last: bool) -> str:
    """Return what stands where a citation stood, between these two characters."""
    if found["line"]:
        return "" if before == "\n" else "\n"
    if before == "\n":
        return (found["before"] or "") if following else ""
    spaced = found["before"] or found["after"]
    ends = last and not following
    return " " if spaced and not ends and following not in _NO_SPACE_BEFORE else ""


_NO_SPACE_BEFORE: Final = frozenset(".,;:!?)]}…。，、；：！？»”’\n")


def without_citations(answer: str, ids: AbstractSet[str] = frozenset()) -> str:
    """Return `answer` as a person should read it and memory should store it: without the ids.

    Args:
        ids: those the model was shown, see `CitationFilter`.
    """
    if not _may_cite(answer, ids):
        return answer
    citations = CitationFilter(ids)
    return citations.feed(answer) + citations.rest()


def cleaned(message: BaseMessage, ids: AbstractSet[str]) -> BaseMessage:
    """Return the message without citation ids in its text; what it calls and thinks stays."""
    content = message.content
    if isinstance(content, str):
        shown: Any = without_citations(content, ids)
    else:
        shown = [with_text(one, without_citations(block_text(one), ids)) for one in content]
    return message if shown == content else message.model_copy(update={"content": shown})


def block_text(block: Any) -> str:
    """Return the text of a content block; empty for one of another type."""
    if isinstance(block, str):
        return block
    text = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else ""


def with_text(block: Any, text: str) -> Any:
    """Return a content block with another text; one of another type as it is."""
    if isinstance(block, str):
        return text
    return {**block, "text": text} if block_text(block) else block


def ids_in(text: str) -> frozenset[str]:
    """Return the ids of the labels in a text, such as a prompt, in lower case."""
    return frozenset(_SHOWN.findall(text))


def _may_cite(answer: str, ids: AbstractSet[str]) -> bool:
    return _HINT.search(answer) is not None or any(id in answer.lower() for id in ids)


_HINT = re.compile(rf"[MGR]\s*[:：]\s*(?:{_HEX}|id)", re.IGNORECASE)
