"""Prompt optimizers, under LangMem's names: they are LangMem's own, where that package is installed.

``from langmem.prompts import …`` becomes ``from langmemory.prompts import …``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langmem.prompts.optimization import create_multi_prompt_optimizer, create_prompt_optimizer
    from langmem.prompts.types import (
        AnnotatedTrajectory,
        MultiPromptOptimizerInput,
        OptimizerInput,
        Prompt,
    )

__all__ = [
    "AnnotatedTrajectory",
    "MultiPromptOptimizerInput",
    "OptimizerInput",
    "Prompt",
    "create_multi_prompt_optimizer",
    "create_prompt_optimizer",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Return what LangMem has under a name; it is imported when it is first used.

        Raises:
            ImportError: It is not installed.
        """
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            from langmem.prompts import optimization, types
        except ImportError:
            raise ImportError(f"{name} is LangMem's own: pip install langmem") from None
        return getattr(optimization, name, None) or getattr(types, name)
