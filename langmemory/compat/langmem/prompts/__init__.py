"""Prompt optimizers, under LangMem's names: prompts made better by what went wrong with them.

``from langmem.prompts import …`` becomes ``from langmemory.compat.langmem.prompts import …``.
"""

from langmemory.compat.langmem.prompts.optimization import (
    create_multi_prompt_optimizer,
    create_prompt_optimizer,
)
from langmemory.compat.langmem.prompts.types import AnnotatedTrajectory, Prompt

__all__ = [
    "AnnotatedTrajectory",
    "Prompt",
    "create_multi_prompt_optimizer",
    "create_prompt_optimizer",
]
