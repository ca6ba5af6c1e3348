"""Counting and cutting text in the tokens of the model in use.

Every function takes LangChain's kind of counter: messages in, tokens out. Default is the
approximate one of langchain-core (four characters a token, three a message); pass
``model.get_num_tokens_from_messages`` for exact counts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TypeAlias

from langchain_core.messages import MessageLikeRepresentation, SystemMessage
from langchain_core.messages.utils import count_tokens_approximately

TokenCounter: TypeAlias = Callable[[Iterable[MessageLikeRepresentation]], int]
"""Tokens a sequence of messages takes in the prompt, its overhead per message included."""

ELLIPSIS = " …"
"""Ends a text that was cut, so that the model does not take a half for the whole."""
CUT_BEFORE = "… "
"""Begins a text that is the later part of another."""

DEFAULT_COUNTER: TokenCounter = count_tokens_approximately


def count_text(text: str, token_counter: TokenCounter = DEFAULT_COUNTER) -> int:
    """Tokens of `text` as the message it will be sent as."""
    if token_counter is DEFAULT_COUNTER:
        return _by_length(len(text))
    return token_counter([SystemMessage(content=text)])


@functools.lru_cache(maxsize=4096)
def _by_length(characters: int) -> int:
    """The default counter looks at nothing but the length, and a memory block asks it for dozens of
    texts a turn."""
    return DEFAULT_COUNTER([SystemMessage(content="x" * characters)])


def longest(text: str, fits: Callable[[str], bool], *, minimum_chars: int = 1) -> str | None:
    """Longest beginning of `text` (with an ellipsis when cut) that `fits`; None if not even a short
    one does.

    What is returned was itself tried, so the promise holds for counters that are not monotone too;
    only "longest" then becomes "long".
    """
    if fits(text):
        return text

    def cut(chars: int) -> str:
        return text[:chars].rstrip() + ELLIPSIS

    low, high = minimum_chars, len(text) - 1
    if low > high or not fits(best := cut(low)):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if fits(attempt := cut(middle)):
            best, low = attempt, middle
        else:
            high = middle - 1
    return best
