"""The context budget: how a model's window is divided, and how full it is.

Defaults are the source design's for a window of 128k: system prompt and core memory 4k, recalled
memories 20k, conversation 8k, the rest for thinking and answering. They are kept as fractions, so
that the same division holds for any window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

from langmemory.errors import ConfigError

Level = Literal["peak", "good", "degrading", "poor"]
"""How well a model works with its window this full: below 30 %, 50 %, 70 %, and above."""

LEVELS: tuple[tuple[float, Level], ...] = ((0.3, "peak"), (0.5, "good"), (0.7, "degrading"))

Pressure = Literal["none", "soft", "hard"]
"""``soft``: save to memory and summarise soon; ``hard``: summarise before the next model call."""

REFERENCE_WINDOW = 128_000
"""Tokens. `reserve_tokens` and `soft_threshold_tokens` hold from this window size on, and shrink in
proportion below it (a reserve of 20k would leave nothing of a window of 16k)."""

SUMMARY_SHARE = 0.125
"""Of the conversation's tokens, for its summary: 1,000 of 8,000."""


class PartReport(TypedDict):
    used: int
    limit: int


class BudgetReport(TypedDict):
    """How full the window is. Plain JSON, made to be read in LangGraph Studio."""

    level: Level
    fill: float
    """Used share of the window, 0..1 (more than 1 when it overflows)."""
    used_tokens: int
    window_tokens: int
    free_tokens: int
    """Until the reserve begins; negative when it is being used up."""
    pressure: Pressure
    parts: dict[str, PartReport]
    """``core``, ``retrieved`` and ``conversation``: used tokens against what was set aside."""
    over: list[str]
    """Names of the parts that exceed what was set aside for them."""
    notices: list[str]


class SummarizationLimits(TypedDict):
    """Arguments of `SummarizationNode`: ``SummarizationNode(model=…, **budget.summarization)``."""

    max_tokens: int
    max_summary_tokens: int
    keep_turns: int
    summarised_turns: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextBudget:
    """How one model's window is divided. All ``*_share`` are fractions of the window, 0..1.

    Raises:
        ConfigError: a window below the hard minimum, shares of 1 or more in all, a negative value.
    """

    window_tokens: int = REFERENCE_WINDOW
    core_share: float = 4 / 128
    """System prompt and core memory blocks."""
    retrieved_share: float = 20 / 128
    """Recalled memories, the memory block and what tools read included."""
    conversation_share: float = 8 / 128
    """Messages of the thread, the summary of the older ones included."""
    verbatim_turns: int = 10
    """The newest turns, kept word for word as far as the conversation's tokens allow."""
    summarised_turns: int = 30
    """Turns up to this age live on in the summary; older ones are reached by recall only."""
    hard_minimum_tokens: int = 16_000
    """A smaller window is refused: too little would remain for an answer."""
    warn_below_tokens: int = 32_000
    """A smaller window is reported as tight."""
    reserve_tokens: int = 20_000
    """Kept free for the answer and for tools; see `REFERENCE_WINDOW` for smaller windows."""
    soft_threshold_tokens: int = 4_000
    """So long before the reserve begins, memory should be saved and the conversation summarised."""

    def __post_init__(self) -> None:
        if self.window_tokens < self.hard_minimum_tokens:
            raise ConfigError(
                f"window_tokens={self.window_tokens} is below hard_minimum_tokens="
                f"{self.hard_minimum_tokens}: use a model with a larger window, raise its context "
                f"length (num_ctx in Ollama), or lower hard_minimum_tokens"
            )
        shares = (self.core_share, self.retrieved_share, self.conversation_share)
        if min(shares) < 0 or sum(shares) >= 1:
            raise ConfigError(
                f"core_share, retrieved_share and conversation_share are {shares}: each must be at "
                f"least 0 and their sum below 1, the rest being the answer's"
            )
        if not 0 < self.verbatim_turns <= self.summarised_turns:
            raise ConfigError(
                f"verbatim_turns={self.verbatim_turns} and summarised_turns="
                f"{self.summarised_turns}: need 0 < verbatim_turns <= summarised_turns"
            )
        if self.reserve_tokens < 0 or self.soft_threshold_tokens < 0:
            raise ConfigError(
                f"reserve_tokens={self.reserve_tokens} and soft_threshold_tokens="
                f"{self.soft_threshold_tokens} must not be negative"
            )
        if self.soft_limit_tokens <= 0:
            raise ConfigError(
                f"reserve_tokens={self.reserve_tokens} and soft_threshold_tokens="
                f"{self.soft_threshold_tokens} leave nothing of a window of {self.window_tokens}: "
                f"lower them"
            )

    @property
    def core_tokens(self) -> int:
        return int(self.window_tokens * self.core_share)

    @property
    def retrieved_tokens(self) -> int:
        return int(self.window_tokens * self.retrieved_share)

    @property
    def conversation_tokens(self) -> int:
        return int(self.window_tokens * self.conversation_share)

    @property
    def answer_tokens(self) -> int:
        """Tokens that the three parts leave."""
        return (
            self.window_tokens - self.core_tokens - self.retrieved_tokens - self.conversation_tokens
        )

    @property
    def hard_limit_tokens(self) -> int:
        """Where the reserve begins: a prompt should not be longer."""
        return self.window_tokens - self._scaled(self.reserve_tokens)

    @property
    def soft_limit_tokens(self) -> int:
        return self.hard_limit_tokens - self._scaled(self.soft_threshold_tokens)

    @property
    def summarization(self) -> SummarizationLimits:
        """Arguments of a `SummarizationNode` that keep the conversation within its share."""
        return {
            "max_tokens": self.conversation_tokens,
            "max_summary_tokens": int(self.conversation_tokens * SUMMARY_SHARE),
            "keep_turns": self.verbatim_turns,
            "summarised_turns": (
                self.summarised_turns if self.summarised_turns > self.verbatim_turns else None
            ),
        }

    def report(
        self, *, core_tokens: int, retrieved_tokens: int, conversation_tokens: int
    ) -> BudgetReport:
        """How full the window is with these tokens in use."""
        parts: dict[str, PartReport] = {
            "core": {"used": core_tokens, "limit": self.core_tokens},
            "retrieved": {"used": retrieved_tokens, "limit": self.retrieved_tokens},
            "conversation": {"used": conversation_tokens, "limit": self.conversation_tokens},
        }
        used = core_tokens + retrieved_tokens + conversation_tokens
        tight = self.window_tokens < self.warn_below_tokens
        return {
            "level": level(used / self.window_tokens),
            "fill": round(used / self.window_tokens, 4),
            "used_tokens": used,
            "window_tokens": self.window_tokens,
            "free_tokens": self.hard_limit_tokens - used,
            "pressure": (
                "hard"
                if used > self.hard_limit_tokens
                else "soft"
                if used > self.soft_limit_tokens
                else "none"
            ),
            "parts": parts,
            "over": [name for name, part in parts.items() if part["used"] > part["limit"]],
            "notices": [
                f"a window of {self.window_tokens} tokens is tight: from "
                f"{self.warn_below_tokens} on memory and answer have room"
            ]
            if tight
            else [],
        }

    def _scaled(self, tokens: int) -> int:
        return int(tokens * min(1.0, self.window_tokens / REFERENCE_WINDOW))


def level(fill: float) -> Level:
    """The level for a used share of the window; a bound belongs to the level above it."""
    return next((name for bound, name in LEVELS if fill < bound), "poor")
