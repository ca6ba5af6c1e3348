"""Making stored text harmless in a prompt.

Anybody's words may be in memory. Shown to a model they must stay what they are, quoted data: unable
to close their block, to open a line of their own, to look like a citation id, a role or a special
token, or to hide anything in invisible characters. Escaping is for the prompt only, never for what
is stored, and applying it twice changes nothing further.
"""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    # Zero-width space, word joiner, BOM, soft hyphen; bidirectional controls (text that reads
    # otherwise than it is); tag characters and further variation selectors (ASCII smuggling). ZWJ,
    # ZWNJ and the first variation selectors stay: scripts and emoji need them.
    "[\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_LINE_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_ROLE = re.compile(
    r"^(\W*(?:system|developer|assistant|user|human|ai|tool|function|model)[^\w:：]*)[:：][\s:：]*",
    re.IGNORECASE,
)
_ANGLE = re.compile("[<＜﹤]")
_BRACKET = re.compile(
    # One that begins an id of ours ("[M:", "[ g :") or a chat template's marker ("[INST]").
    r"[\[［〔【]\s*(?=[A-Za-zＡ-Ｚａ-ｚ]\s*[:：]"
    r"|/?(?:INST|SYS|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])",
    re.IGNORECASE,
)
_CITATION = re.compile(r"\b([A-Za-zＡ-Ｚａ-ｚ])\s*[:：]\s*(?=[0-9a-fA-F]{8})")


_SUSPECT = re.compile(
    # All that the patterns above begin with or need: most texts have none of it.
    "[\x00-\x1f\x7f-\x9f\u2028\u2029:：<＜﹤\\[［〔【"
    "\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)


def one_line(text: str) -> str:
    """`text` on a single line, unable to pose as anything but text."""
    if _SUSPECT.search(text) is None:
        return " ".join(text.split())
    lines = " ".join(part for part in map(_harmless, _LINE_BREAK.split(text)) if part)
    return _harmless(lines)  # "M:" and the digits of an id may have stood on two lines


def quoted_lines(text: str) -> list[str]:
    """`text` with its line breaks kept, each line behind a quotation bar."""
    return [f"| {_harmless(line)}".rstrip() for line in _LINE_BREAK.split(text)]


def _harmless(line: str) -> str:
    line = _CONTROL.sub(" ", _INVISIBLE.sub("", line))
    line = _ROLE.sub(lambda role: f"{role[1].rstrip()} - ", line)
    line = _ANGLE.sub("&lt;", line)
    line = _BRACKET.sub("(", line)
    line = _CITATION.sub(r"\1 ", line)
    return " ".join(line.split())
