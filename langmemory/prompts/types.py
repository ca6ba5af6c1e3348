"""The names of ``langmem.prompts.types``."""

from langmemory.hooks import lazy

__all__ = [  # noqa: F822 - found when they are first used
    "AnnotatedTrajectory",
    "MultiPromptOptimizerInput",
    "OptimizerInput",
    "Prompt",
]

__getattr__ = lazy(__name__, {}, exports=True)
