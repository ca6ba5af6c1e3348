"""What prompt optimizers take and return, as LangMem has it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Required

from typing_extensions import TypedDict  # typing's has no JSON schema before Python 3.12

Kind = Literal["gradient", "metaprompt", "prompt_memory"]
"""How a prompt is made better. ``gradient``: what is to be changed is found out first, in several steps,
and changed then. ``metaprompt``: both at once, in as many steps as it takes. ``prompt_memory``: by one
call."""


class Prompt(TypedDict, total=False):
    """A prompt to be made better."""

    name: Required[str]
    prompt: Required[str]
    update_instructions: str | None
    """How it may be changed."""
    when_to_update: str | None
    """When it is to be changed; asked where there are several prompts."""


class AnnotatedTrajectory(NamedTuple):
    """A conversation, and what somebody said of it."""

    messages: Sequence[Any]
    """LangChain messages, or dicts with role and content."""
    feedback: dict[str, Any] | str | None = None


class OptimizerInput(TypedDict):
    """What `create_prompt_optimizer` makes a prompt better by."""

    trajectories: Sequence[Any] | str
    """`AnnotatedTrajectory`, pairs of messages and feedback, or lists of messages; or all of it in words."""
    prompt: str | Prompt


class MultiPromptOptimizerInput(TypedDict):
    """What `create_multi_prompt_optimizer` makes prompts better by."""

    trajectories: Sequence[Any] | str
    prompts: list[Prompt]


class MetapromptOptimizerConfig(TypedDict, total=False):
    """Options of the kind ``metaprompt``."""

    metaprompt: str
    """With ``{prompt}``, ``{update_instructions}`` and ``{trajectories}``."""
    max_reflection_steps: int
    min_reflection_steps: int


class GradientOptimizerConfig(TypedDict, total=False):
    """Options of the kind ``gradient``."""

    gradient_prompt: str
    """With ``{prompt}``, ``{update_instructions}``, ``{trajectories}`` and ``{feedback}``."""
    metaprompt: str
    """With ``{current_prompt}``, ``{hypotheses}``, ``{recommendations}`` and ``{update_instructions}``."""
    max_reflection_steps: int
    min_reflection_steps: int
