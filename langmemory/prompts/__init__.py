"""The names of ``langmem.prompts``, which are LangMem's own where that package is installed."""

from langmemory.hooks import lazy

__all__ = [
    "create_multi_prompt_optimizer",
    "create_prompt_optimizer",
]

__getattr__ = lazy(__name__, {}, exports=True)
