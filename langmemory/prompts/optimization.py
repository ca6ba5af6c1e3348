"""The names of ``langmem.prompts.optimization``."""

from langmemory.hooks import lazy

__all__ = [  # noqa: F822 - found when they are first used
    "create_multi_prompt_optimizer",
    "create_prompt_optimizer",
]

__getattr__ = lazy(__name__, {}, exports=True)
