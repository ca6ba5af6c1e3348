"""Chat models by name, as the configuration gives them: ``"provider:model"``."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast, get_args

from langmemory.answers import UnusableAnswerError, answer_text
from langmemory.config import DEFAULT_FILE, ModelsConfig, load_config
from langmemory.errors import ConfigError, with_extra

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Form = Literal["full", "small", "none"]
"""How a model is asked for notes: for facts with claims, a summary and lines for core memory; for short
sentences, one exchange at a time; not at all, so that rules alone read."""
Model = TypeVar("Model")

BRIEF_SECONDS: Final = 30.0
"""For a whole answer that somebody waits for; the time limit of a model's client is for each piece of it."""
BRIEF_TOKENS: Final = 2_000
"""Most of one answer, thoughts included, of a model that would go on without end."""


def named_chat_model(name: str, models: ModelsConfig) -> BaseChatModel:
    """The chat model of this name; Ollama's with the configured address, window and time limit.

    Raises:
        ConfigError: The provider is unknown, or needs a package that is not installed.
    """
    provider, _, model = name.partition(":")
    if provider == "ollama":
        from langchain_ollama import ChatOllama

        return ChatOllama(
            model=model,
            num_ctx=models.ollama_context_tokens,
            **models.ollama_options(models.chat_timeout_seconds),
        )
    keys = [f"models.{key}" for key, value in models if value == name]
    where = f" ({' and '.join(keys)} in the configuration)" if keys else ""
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        package = (
            f"langchain-{provider}" if model else 'the package of its provider: "provider:model"'
        )
        raise ConfigError(
            f"chat model {name!r}{where} needs langchain: {with_extra('agents')}, and {package}"
        ) from error
    try:
        return init_chat_model(name)
    except ImportError as error:
        raise ConfigError(
            f"chat model {name!r}{where} needs a package that is not installed, such as "
            f"langchain-{provider}: {_first(error)}"
        ) from error
    except ValueError as error:
        raise ConfigError(
            f'chat model {name!r}{where} cannot be made: {_first(error)} Allowed is "provider:model" '
            'with "ollama" or a provider that langchain.chat_models.init_chat_model knows, such as '
            '"anthropic" or "openai".'
        ) from error


def as_chat_model(model: str | BaseChatModel, models: ModelsConfig | None = None) -> BaseChatModel:
    """The model, also by its name; Ollama's as `models` say, which is as configured if not given.

    Raises:
        ConfigError: It is no model; or see `named_chat_model`.
    """
    if isinstance(model, str) and model.strip():
        return named_chat_model(model, models or load_config().models)
    check_model(model)
    return cast("BaseChatModel", model)


def check_model(model: object) -> None:
    """Raises ConfigError for what cannot be asked, such as None or a class of models."""
    from langchain_core.runnables import Runnable

    if isinstance(model, Runnable):
        return
    given = f"the class {model.__name__}" if isinstance(model, type) else repr(model)
    raise ConfigError(
        f"model is {given:.80}; pass a LangChain chat model, or the name of one such as "
        '"ollama:qwen3:8b". Without any, langmemory.graphs.NoModel() answers with what memory knows.'
    )


def window_of(model: BaseChatModel) -> int | None:
    """Return the tokens of a model's window, if they are known: ``num_ctx`` of `ChatOllama`, or
    ``max_input_tokens`` of LangChain's model profiles."""
    profile = getattr(model, "profile", None) or {}
    window = getattr(model, "num_ctx", None) or profile.get("max_input_tokens")
    return window if isinstance(window, int) and window > 0 else None


FEWEST_AT_ONCE: Final = 2
SHARE_OF_WINDOW: Final = 0.5
"""For the memories that a question shows; the rest is for instructions, schema and answer."""


def shown_at_once(model: BaseChatModel | None, usual: int, tokens_each: int) -> int:
    """Return how many memories a question may show a model: as many as fit into half of its window, twice the
    usual number at most, because the answer grows with them; the usual number where the window is unknown.

    Args:
        model: None shows nothing.
        usual: The number for a window that is not known.
        tokens_each: So many the longest one takes.
    """
    window = None if model is None else window_of(model)
    if window is None:
        return usual
    fitting = int(window * SHARE_OF_WINDOW) // tokens_each
    return max(FEWEST_AT_ONCE, min(fitting, 2 * usual))


FULL_FORM_PARAMETERS = 4e9
"""Below it a model that nobody has measured is taken for a small one."""
_PARAMETERS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([bm])(?![a-z])", re.IGNORECASE)


def forms_file() -> Path:
    """Where measured forms stand: beside the configuration."""
    named = os.environ.get("LANGMEMORY_CONFIG")
    return (Path(os.path.expanduser(named)) if named else DEFAULT_FILE).with_name("models.json")


def measured_forms() -> dict[str, Form]:
    """The form in which each measured model is asked for notes, by the model's name.

    Raises:
        ConfigError: The file is not as `langmemory doctor --model` writes it.
    """
    file = forms_file()
    if not file.is_file():
        return {}
    try:
        forms = json.loads(file.read_text(encoding="utf-8-sig"))
    except ValueError:
        forms = None
    if not isinstance(forms, dict) or not set(forms.values()) <= set(get_args(Form)):
        raise ConfigError(
            f"{file} is no object of model names and forms ({', '.join(get_args(Form))}). Delete it, and "
            "measure your models with `langmemory doctor --model NAME`."
        )
    return forms


def form_of(model: BaseChatModel) -> Form:
    """How a model is asked for notes: as measured under its name, with or without its provider; else by
    the number of parameters that its name tells ("qwen3:0.6b", "smollm2-135m")."""
    name = str(getattr(model, "model", None) or getattr(model, "model_name", None) or "")
    for known, form in measured_forms().items():
        if name and name in (known, known.partition(":")[2]):
            return form
    sizes = [
        float(number) * (1e9 if unit in "bB" else 1e6) for number, unit in _PARAMETERS.findall(name)
    ]
    return "small" if sizes and max(sizes) < FULL_FORM_PARAMETERS else "full"


def unheard(model: Runnable[Asked, Answer]) -> Runnable[Asked, Answer]:
    """The model, or what is made of it, for what nobody is to read along: a graph that it is asked in
    does not stream it."""
    from langgraph.constants import TAG_NOSTREAM  # 10 MB that a store by itself has no use for

    return model.with_config(tags=[TAG_NOSTREAM])


def bounded(model: Model, tokens: int = BRIEF_TOKENS, *, temperature: float | None = 0.0) -> Model:
    """The model, where it is Ollama's and its own settings leave that open, with an end to its answers, which
    else may go on for hours, and a temperature; None leaves that as it is."""
    open_settings = {
        name: value
        for name, value in (("num_predict", tokens), ("temperature", temperature))
        if value is not None and getattr(model, name, value) is None
    }
    copy: Any = getattr(model, "model_copy", None)
    if copy is None or not hasattr(model, "num_predict") or not open_settings:
        return model
    return copy(update=open_settings)  # type: ignore[no-any-return]


def ask_briefly(model: BaseChatModel, prompt: str, *, seconds: float = BRIEF_SECONDS) -> str:
    """Ask a model once, where an answer is worth a short wait only; a graph does not stream it. Return what
    the model wrote, without its thoughts.

    Raises:
        UnusableAnswerError: It was not done in time.
    """
    deadline = time.monotonic() + seconds
    pieces: list[str] = []
    for piece in unheard(bounded(model)).stream(prompt):
        pieces.append(piece.text)
        if time.monotonic() > deadline:
            raise UnusableAnswerError(f"no whole answer within {seconds:.3g} s")
    return answer_text("".join(pieces))


def _first(error: Exception) -> str:
    """The first paragraph of an error; of LangChain's, what was wrong."""
    return " ".join(str(error).partition("\n\n")[0].split())
