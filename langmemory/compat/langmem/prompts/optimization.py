"""create_prompt_optimizer and create_multi_prompt_optimizer, with LangMem's signatures.

A prompt that comes back has the variables of the one that was given, whatever a model wrote: what is
written otherwise is mended, and a prompt that lost or invented one is asked for once more, then refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import BaseModel, Field, ValidationError, create_model

from langmemory.arguments import one_of, whole_number
from langmemory.chat_models import as_chat_model
from langmemory.compat.langmem.prompts import trajectories as conversations
from langmemory.compat.langmem.prompts.types import (
    GradientOptimizerConfig,
    Kind,
    MetapromptOptimizerConfig,
    MultiPromptOptimizerInput,
    OptimizerInput,
    Prompt,
)
from langmemory.compat.langmem.prompts.variables import Variables
from langmemory.compat.langmem.proposals import problems
from langmemory.errors import ConfigError
from langmemory.formation.asking.asker import Asker, Question
from langmemory.formation.asking.json_answers import BadAnswerError, decoded, json_object
from langmemory.formation.prompts import prompt as prompt_text
from langmemory.twins import Steps, aled, led

MAX_REFLECTION_STEPS: Final = 5
MIN_REFLECTION_STEPS: Final = 1
_OPTIONS: Final[Mapping[Kind, frozenset[str]]] = {
    "gradient": frozenset(GradientOptimizerConfig.__annotations__),
    "metaprompt": frozenset(MetapromptOptimizerConfig.__annotations__),
    "prompt_memory": frozenset(),
}

AnswerT = TypeVar("AnswerT", bound=BaseModel)


class Reflection(BaseModel):
    """One step of thinking about what went wrong."""

    thought: str = Field(description="what went well, what went wrong, and why")


class Recommendation(BaseModel):
    """What is to be changed in the prompt; or further thought."""

    thought: str = ""
    warrants_adjustment: bool | None = Field(
        default=None, description="whether the prompt is to be changed; null to go on thinking"
    )
    hypotheses: str = Field(default="", description="why the prompt led to the failures")
    recommendations: str = Field(default="", description="which changes mend them")


class Improvement(BaseModel):
    """The prompt as it is to be; or further thought."""

    analysis: str = ""
    improved_prompt: str | None = Field(
        default=None, description="the whole prompt; null to go on thinking"
    )


class Update(BaseModel):
    """Whether the prompt is changed, and how."""

    logic: str = ""
    update_prompt: bool
    new_prompt: str = ""


class Choice(BaseModel):
    """The prompts to be changed."""

    reasoning: str = ""
    which: list[str]


_ENTRIES: Final[Mapping[type[BaseModel], str]] = {
    Reflection: "thought", Recommendation: "warrants_adjustment", Improvement: "improved_prompt",
    Update: "update_prompt", Choice: "which",
}  # fmt: skip
"""The field by which an answer is known that is written without what wraps it."""


class PromptOptimizer(Runnable[OptimizerInput, str]):
    """``invoke({"trajectories": …, "prompt": …})`` returns the prompt made better. See
    `create_prompt_optimizer`."""

    def __init__(self, model: BaseChatModel, kind: Kind, config: Mapping[str, Any] | None) -> None:
        self.kind: Kind = one_of("kind", kind, Kind)
        self._config = _checked(self.kind, config or {})
        self._model = model

    def invoke(
        self, input: OptimizerInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> str:
        """Return the prompt made better; as it is, where nothing shows that it should be changed.

        Raises:
            ConfigError: The input has no prompt, or no trajectories.
            ModelUnavailableError: The model could not be asked.
            ExtractionError: Its answers could not be used, such as a prompt that lost a variable.
        """
        return led(self.steps(input, config))

    async def ainvoke(
        self, input: OptimizerInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> str:
        """`invoke` without blocking the loop."""
        return await aled(self.steps(input, config))

    async def __call__(self, trajectories: Sequence[Any] | str, prompt: str | Prompt) -> str:
        """LangMem's short form."""
        return await self.ainvoke({"trajectories": trajectories, "prompt": prompt})

    def steps(self, input: OptimizerInput, config: RunnableConfig | None) -> Steps[str]:
        _check_input(input, "prompt")
        given = input["prompt"]
        if not isinstance(given, str | Mapping) or (
            isinstance(given, Mapping) and "prompt" not in given
        ):
            raise ConfigError(
                f"The prompt is {given!r:.80}; pass a text, or a Prompt with name and prompt."
            )
        text = given if isinstance(given, str) else given["prompt"]
        told = conversations.shown(input["trajectories"])
        if not told:
            return text
        rules = "" if isinstance(given, str) else given.get("update_instructions") or ""
        values = {"prompt": text, "current_prompt": text, "update_instructions": rules,
                  "trajectories": told, "feedback": ""}  # fmt: skip
        way = {"gradient": self._gradient, "metaprompt": self._metaprompt,
               "prompt_memory": self._prompt_memory}[self.kind]  # fmt: skip
        return (yield from way(text, values, config))

    def _gradient(
        self, text: str, values: dict[str, str], config: RunnableConfig | None
    ) -> Steps[str]:
        found = yield from self._recommended(values, config)
        if not found.warrants_adjustment:
            return text
        known = {**values, "hypotheses": found.hypotheses, "recommendations": found.recommendations}
        messages = self._messages("metaprompt", "optimizer_update", known, text)
        answer = yield from self._asked(Improvement, messages, config, _improved(text, last=True))
        return answer.improved_prompt or text

    def _recommended(
        self, values: dict[str, str], config: RunnableConfig | None
    ) -> Steps[Recommendation]:
        """Think, and then say what is to be changed, within so many steps."""
        messages = self._messages("gradient_prompt", "optimizer_gradient", values, None)
        for step in range(self._most):
            last = step == self._most - 1
            if step < self._least and not last:
                thought = yield from self._asked(Reflection, messages, config, None)
                messages = _and_then(messages, thought)
                continue

            def decided(answer: Recommendation, last: bool = last) -> Recommendation:
                if last and answer.warrants_adjustment is None:
                    raise BadAnswerError("it does not say whether the prompt is to be changed")
                if answer.warrants_adjustment and not answer.recommendations.strip():
                    raise BadAnswerError("it recommends nothing")
                return answer

            found = yield from self._asked(Recommendation, messages, config, decided)
            if found.warrants_adjustment is not None:
                return found
            messages = _and_then(messages, found)
        raise AssertionError("the last step decides")

    def _metaprompt(
        self, text: str, values: dict[str, str], config: RunnableConfig | None
    ) -> Steps[str]:
        messages = self._messages("metaprompt", "optimizer_metaprompt", values, text)
        for step in range(self._most):
            last = step == self._most - 1
            if step < self._least - 1 and not last:
                thought = yield from self._asked(Reflection, messages, config, None)
                messages = _and_then(messages, thought)
                continue
            found = yield from self._asked(
                Improvement, messages, config, _improved(text, last=last)
            )
            if found.improved_prompt is not None:
                return found.improved_prompt
            messages = _and_then(messages, found)
        raise AssertionError("the last step answers")

    def _prompt_memory(
        self, text: str, values: dict[str, str], config: RunnableConfig | None
    ) -> Steps[str]:
        messages = self._messages("", "optimizer_memory", values, text)

        def checked(answer: Update) -> Update:
            if not answer.update_prompt or not answer.new_prompt.strip():
                return answer.model_copy(update={"new_prompt": text})
            kept = Variables.of(text).kept_in(answer.new_prompt)
            return answer.model_copy(update={"new_prompt": kept})

        return (yield from self._asked(Update, messages, config, checked)).new_prompt

    @property
    def _most(self) -> int:
        return cast("int", self._config.get("max_reflection_steps", MAX_REFLECTION_STEPS))

    @property
    def _least(self) -> int:
        return cast("int", self._config.get("min_reflection_steps", MIN_REFLECTION_STEPS))

    def _messages(
        self, option: str, name: str, values: Mapping[str, str], template: str | None
    ) -> list[BaseMessage]:
        """Return the question; with the variables of the template that are to be kept, if it is one."""
        custom = self._config.get(option)
        try:
            asked = (custom or prompt_text(name)).format(**values)
        except (KeyError, IndexError, ValueError) as error:
            raise ConfigError(
                f"{option} cannot be filled in ({type(error).__name__}: {error}). It may have "
                f"{', '.join(f'{{{one}}}' for one in values)}; double any other brace."
            ) from error
        rules = [prompt_text("optimizer")]
        if template is not None:
            named = Variables.of(template).named
            rules.append(
                f"Keep each of these variables exactly as it is, and add none: {named}."
                if named
                else "The prompt has no variables in braces; add none."
            )
        return [SystemMessage("\n\n".join(rules)), HumanMessage(asked)]

    def _asked(
        self,
        of: type[AnswerT],
        messages: list[BaseMessage],
        config: RunnableConfig | None,
        checked: Callable[[AnswerT], AnswerT] | None,
    ) -> Steps[AnswerT]:
        return asked(self._model, of, messages, config, checked)


class MultiPromptOptimizer(Runnable[MultiPromptOptimizerInput, list[Prompt]]):
    """``invoke({"trajectories": …, "prompts": […]})`` returns all prompts, of which those that are to blame
    were made better. See `create_multi_prompt_optimizer`."""

    def __init__(self, model: BaseChatModel, kind: Kind, config: Mapping[str, Any] | None) -> None:
        self._model = model
        self._optimizer = PromptOptimizer(model, kind, config)
        self.kind = self._optimizer.kind

    def invoke(
        self, input: MultiPromptOptimizerInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Prompt]:
        """Return the prompts in their order.

        Raises:
            ConfigError: The input has no prompts or trajectories, or two prompts have one name.
            ModelUnavailableError: The model could not be asked.
            ExtractionError: Its answers could not be used.
        """
        return led(self._steps(input, config))

    async def ainvoke(
        self, input: MultiPromptOptimizerInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Prompt]:
        """`invoke` without blocking the loop."""
        return await aled(self._steps(input, config))

    async def __call__(
        self, trajectories: Sequence[Any] | str, prompts: list[Prompt]
    ) -> list[Prompt]:
        """LangMem's short form."""
        return await self.ainvoke({"trajectories": trajectories, "prompts": prompts})

    def _steps(
        self, input: MultiPromptOptimizerInput, config: RunnableConfig | None
    ) -> Steps[list[Prompt]]:
        _check_input(input, "prompts")
        prompts = input["prompts"]
        if isinstance(prompts, str | Mapping) or not all(
            isinstance(one, Mapping) and {"name", "prompt"} <= one.keys() for one in prompts
        ):
            raise ConfigError("The prompts are to be a list of Prompt, each with name and prompt.")
        names = [one["name"] for one in prompts]
        if twice := next((one for one in names if names.count(one) > 1), None):
            raise ConfigError(f"Two prompts are called {twice!r}; give each a name of its own.")
        told = conversations.shown(input["trajectories"])
        if not prompts or not told:
            return list(prompts)
        chosen = names
        if len(prompts) > 1 or prompts[0].get("when_to_update") is not None:
            chosen = yield from self._chosen(prompts, told, config)
        found: list[Prompt] = []
        for one in prompts:
            if one["name"] not in chosen:
                found.append(one)
                continue
            given: OptimizerInput = {"trajectories": input["trajectories"], "prompt": one}
            better = yield from self._optimizer.steps(given, config)
            found.append(cast("Prompt", {**one, "prompt": better}))
        return found

    def _chosen(
        self, prompts: Sequence[Prompt], told: str, config: RunnableConfig | None
    ) -> Steps[list[str]]:
        """Return the names of the prompts that are to be changed."""
        names = [one["name"] for one in prompts]
        parts = []
        for one in prompts:
            when = one.get("when_to_update")
            rule = f"\nTo be changed only when: {when}" if when else ""
            parts.append(f"## {one['name']}{rule}\n\n{one['prompt']}")
        text = prompt_text("optimizer_choice").format(prompts="\n\n".join(parts), trajectories=told)
        messages: list[BaseMessage] = [SystemMessage(prompt_text("optimizer")), HumanMessage(text)]

        def checked(answer: Choice) -> Choice:
            if unknown := [one for one in answer.which if one not in names]:
                raise BadAnswerError(
                    f"there is no prompt {unknown[0]!r:.60}; there are {', '.join(names)}"
                )
            return answer

        return (yield from asked(self._model, Choice, messages, config, checked)).which


def asked(
    model: BaseChatModel,
    of: type[AnswerT],
    messages: Sequence[BaseMessage],
    config: RunnableConfig | None,
    checked: Callable[[AnswerT], AnswerT] | None,
) -> Steps[AnswerT]:
    """Ask a model for an object of a class, and once more where it cannot be used."""
    answer: Any = create_model("Answer", answer=(of, ...))
    form = ", ".join(f'"{name}": …' for name in of.model_fields)
    described = f'Answer with one JSON object: {{"answer": {{{form}}}}}. ' + " ".join(
        f"{name}: {field.description}."
        for name, field in of.model_fields.items()
        if field.description
    )
    entry = _ENTRIES[of]

    def read(raw: str) -> AnswerT:
        found = json_object(raw, field="answer", entry=entry)
        if found.cut or not found.value["answer"]:
            raise BadAnswerError("it breaks off" if found.cut else "it is empty")
        try:
            value = of.model_validate(decoded(found.value["answer"][-1]))
        except ValidationError as error:
            raise BadAnswerError(problems(error)) from error
        return value if checked is None else checked(value)

    question = Question(
        messages=[*messages[:-1], HumanMessage(f"{messages[-1].text}\n\n{described}")], read=read
    )
    return (yield from Asker(model, answer.model_json_schema()).asked(question, config)).value


def _improved(text: str, *, last: bool) -> Callable[[Improvement], Improvement]:
    """Return what checks the prompt of an answer, for variables above all."""

    def checked(answer: Improvement) -> Improvement:
        better = answer.improved_prompt
        if better is None or not better.strip():
            if last:
                raise BadAnswerError("it has no improved_prompt")
            return answer.model_copy(update={"improved_prompt": None})
        return answer.model_copy(update={"improved_prompt": Variables.of(text).kept_in(better)})

    return checked


def _and_then(messages: Sequence[BaseMessage], thought: BaseModel) -> list[BaseMessage]:
    """Return the question with what was thought, to be gone on with."""
    return [*messages, AIMessage(thought.model_dump_json()), HumanMessage("Go on.")]


def _check_input(input: Any, name: str) -> None:
    if not isinstance(input, Mapping) or not {name, "trajectories"} <= input.keys():
        raise ConfigError(f'The input is {input!r:.60}; pass {{"trajectories": …, "{name}": …}}.')


def _checked(kind: Kind, config: Mapping[str, Any]) -> Mapping[str, Any]:
    known = _OPTIONS[kind]
    if unknown := sorted(config.keys() - known):
        raise ConfigError(
            f"The kind {kind!r} has no option {unknown[0]!r}; it has {', '.join(sorted(known)) or 'none'}."
        )
    for name in ("max_reflection_steps", "min_reflection_steps"):
        if name in config:
            whole_number(name, config[name], least=1 if name.startswith("max") else 0)
    return config


def create_prompt_optimizer(
    model: str | BaseChatModel,
    /,
    *,
    kind: Kind = "gradient",
    config: GradientOptimizerConfig | MetapromptOptimizerConfig | None = None,
) -> PromptOptimizer:
    """A runnable that makes a prompt better by conversations that it led to; LangMem's signature.

    Args:
        model: A chat model, or its name as ``langchain`` knows it ("ollama:qwen3:8b").
        kind: ``gradient`` asks what is to be changed, in up to ``max_reflection_steps`` calls, and then for
            the change; ``metaprompt`` does both in up to as many calls; ``prompt_memory`` is one call.
        config: Options of the kind: own prompts, and how many steps. None: 1 to 5.

    Raises:
        ConfigError: There is no such kind or option, or the model's package is missing.
    """
    return PromptOptimizer(as_chat_model(model), kind, config)


def create_multi_prompt_optimizer(
    model: str | BaseChatModel,
    /,
    *,
    kind: Kind = "gradient",
    config: Mapping[str, Any] | None = None,
) -> MultiPromptOptimizer:
    """A runnable that makes those of several prompts better that are to blame; LangMem's signature.

    Which ones they are is asked first, with what each prompt's ``when_to_update`` says; a single prompt
    without it is made better at once.

    Args:
        model: A chat model, or its name as ``langchain`` knows it.
        kind: As of `create_prompt_optimizer`, for each prompt.
        config: Options of the kind.

    Raises:
        ConfigError: As of `create_prompt_optimizer`.
    """
    return MultiPromptOptimizer(as_chat_model(model), kind, config)
