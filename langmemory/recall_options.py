"""The options of a recall. Each is declared once; signatures, requests and commands derive from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypedDict, get_args

from langmemory.arguments import check_time, one_of, whole_number
from langmemory.errors import ConfigError, VaultError
from langmemory.types import Granularity, Kind, MinScore, Namespace, Trust


class BlockOptions(TypedDict, total=False):
    """Options of a recall that also apply to the block of a prompt."""

    limit: int
    """Most results: 10 (default; more in a large store where the preset has ``limit_growth``), or with
    ``budget_tokens`` as many as the preset has ``depth`` (40), so that the budget decides. Of a block it is
    16 and grows likewise, mandates and the viewer's requests aside."""
    # A tuple by itself: mypy takes ("core",) for no Collection of Kind.
    kinds: tuple[Kind, ...] | Collection[Kind] | None
    """Only these kinds of memory; None (default) is every kind, of a block every kind but core and working
    memory."""
    trust: Trust | None
    """Only memories from this source, or from one that is trusted more; None (default) is every one."""
    filter: Mapping[str, Any] | None
    """LangGraph filter over the values."""
    min_score: MinScore
    """Leave out results with a lower score, 0..1: the probability that they are evidence. ``"auto"`` is
    `recall.min_score` of the configuration, which is the gate unless it is set: an idle message
    ("Thanks!") finds nothing, nor does a prompt that no memory is likely to answer. ``"auto"`` is the
    default of a block; None, the default of a recall, leaves out nothing."""
    preset: str | None
    """``fast``, ``balanced``, ``thorough`` or one of the configuration; None is the configured one."""
    counted: bool
    """Count the recall as an access of its results (default). False is for a person who inspects
    memory."""


class RecallOptions(BlockOptions, total=False):
    """Options of `MemoryStore.recall` and `arecall`."""

    as_of: datetime | None
    """Only memories that were true in the world at this time; superseded facts included."""
    known_at: datetime | None
    """Only memories that the system believed at this time, with their texts and facets of that time:
    superseded, changed and deleted memories included, forgotten ones not."""
    since: datetime | None
    """Only memories that were said, or became true, at or after this time."""
    until: datetime | None
    """Only memories that were said, or became true, before this time."""
    thread_id: str | None
    """The thread that gets the results: this store object does not return a memory to it twice. Other
    stores, workers and processes, and this one after a restart, do not know of it: pass ``exclude``
    there."""
    exclude: Collection[str]
    """Keys to leave out, in any number."""
    budget_tokens: int | None
    """Return the best results whose texts fit into so many tokens (LangChain's approximate count)."""
    include_archive: bool
    """Include archived memories, in the memory file and in the archive file, ranked with the others.
    With ``known_at`` also memories that have moved there since."""
    of_block: bool
    """Take the limit that a block has where none is given (default False)."""
    include_demoted: bool
    """Include memories with the priority ``archive`` (default). False is for prompts; recall then finds
    the evidence of a demoted fact instead."""
    granularity: Granularity
    """``"turn"`` (default), or ``"session"``: the best turn of each session (one thread on one day)."""
    explain: bool
    """Fill the explanation of every result and the whole trace."""
    documents: Namespace | Sequence[Namespace] | None
    """Also search the documents of exactly this namespace, such as ``("documents",)``, or of several.
    The query is split into questions. Each is looked up in messages and in documents; the layer that is
    more likely to answer it gets more of the results. The other options apply to both. None (default)
    searches no documents."""
    now: datetime | None
    """The time to which "last week" refers, in the timezone in which days begin; by default the clock,
    in UTC. Times without a timezone are UTC."""


DEFAULTS: Final[Mapping[str, Any]] = {
    "limit": 10,
    "exclude": (),
    "counted": True,
    "include_archive": False,
    "of_block": False,
    "include_demoted": True,
    "granularity": "turn",
    "explain": False,
}
"""What holds for an option that is left out, where it is not None."""

OF_A_BLOCK: Final[BlockOptions] = {"limit": 16, "min_score": "auto"}
"""What holds for a block instead. A store that has presets is told ``of_block``, so that they have its limit
grow."""

_TIMES: Final = ("as_of", "known_at", "since", "until", "now")
_VAULT: Final = "vault"


def check_options(options: Mapping[str, Any], known: Any = RecallOptions) -> Any:
    """Return options with lists as tuples, since a generator can be read but once.

    Args:
        options: What was given.
        known: `RecallOptions`, or those of them that there are here.

    Raises:
        ConfigError: There is no such option, or it may not have such a value.
    """
    if unknown := options.keys() - known.__annotations__.keys():
        raise ConfigError(
            f"Unknown recall option {', '.join(sorted(unknown))}. "
            f"Known: {', '.join(known.__annotations__)}."
        )
    found = dict(options)
    if "limit" in found:
        found["limit"] = whole_number("limit", found["limit"])
    if found.get("budget_tokens") is not None:
        found["budget_tokens"] = whole_number("budget_tokens", found["budget_tokens"])
    if "kinds" in found:
        found["kinds"] = check_kinds(found["kinds"])
    if "exclude" in found:
        found["exclude"] = _as_tuple("exclude", found["exclude"] or ())
    for key in found.get("exclude", ()):
        if not isinstance(key, str):
            raise ConfigError(f"exclude holds {key!r}; keys are strings.")
    for name in _TIMES:
        check_time(name, found.get(name))
    if found.get("trust") is not None:
        one_of("trust", found["trust"], Trust)
    one_of("granularity", found.get("granularity", "turn"), Granularity)
    score = found.get("min_score")
    number = isinstance(score, int | float) and not isinstance(score, bool)
    if score not in ("auto", None) and (not number or score != score):  # no score is above NaN
        raise ConfigError(f'min_score is {score!r}; it must be a number, 0 to 1, "auto", or None.')
    return found


def check_kinds(kinds: Iterable[Kind] | None) -> tuple[Kind, ...] | None:
    """Return the kinds.

    Raises:
        ConfigError: One of them is no kind of memory, or they are no list.
    """
    if kinds is None:
        return None
    listed = _as_tuple("kinds", kinds)
    if _VAULT in listed:
        raise VaultError(
            "Secrets are not recalled: store.vault.list and store.vault.get find them."
        )
    if unknown := sorted(map(str, set(listed) - set(get_args(Kind)))):
        raise ConfigError(f"kinds holds {unknown[0]!r}; allowed are {', '.join(get_args(Kind))}.")
    return listed


def _as_tuple(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ConfigError(f"{name} is {values!r}; it must be a list of strings: [{str(values)!r}].")
    return tuple(values)
