"""The options of a recall on the command line, made from `RecallOptions`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, get_type_hints

import typer

from langmemory.cli.target import (
    KEYWORD,
    AsOfOption,
    KindOption,
    KnownAtOption,
    LimitOption,
    SinceOption,
    UntilOption,
    check_span,
)
from langmemory.cli.values import count, score
from langmemory.docstrings import docstrings_of
from langmemory.recall_options import BlockOptions, RecallOptions
from langmemory.types import MinScore

WRITTEN: Final[Mapping[str, Any]] = {
    "limit": LimitOption,
    "kinds": KindOption,
    "as_of": AsOfOption,
    "known_at": KnownAtOption,
    "since": SinceOption,
    "until": UntilOption,
    "include_archive": Annotated[
        bool | None, typer.Option("--archive", help="Search what is archived, too.")
    ],
}
"""Those that other commands have as well, or that have a name of their own here."""

READ: Final[Mapping[Any, tuple[Callable[[str], Any], str]]] = {
    int | None: (count, "N"),
    str | None: (str, "NAME"),
    MinScore: (score, "P"),
}
"""How a value of a type is read, and what it is called. An option of another type is for programs."""


def with_recall_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of a recall, which it takes as ``options``, its last argument."""
    signature = inspect.signature(command, eval_str=True)
    *own, last = signature.parameters.values()
    texts = docstrings_of(RecallOptions.__module__)
    about = {**texts[BlockOptions.__name__], **texts[RecallOptions.__name__]}
    made = []
    for name, hint in get_type_hints(RecallOptions).items():
        option = WRITTEN.get(name)
        if option is None and hint in READ and name != "thread_id":
            parser, called = READ[hint]
            text = re.split(r"[.;] |\.$", " ".join(about[name].split()))[0].replace("``", "")
            flag = f"--{name.replace('_', '-')}"
            option = Annotated[
                Any, typer.Option(flag, parser=parser, metavar=called, help=f"{text}.")
            ]
        if option is not None:
            default = last.default.get(name)
            made.append(inspect.Parameter(name, KEYWORD, default=default, annotation=option))

    def run(*target: Any, **given: Any) -> None:
        options = {one.name: given.pop(one.name, one.default) for one in made}
        check_span(options["since"], options["until"])
        known = {name: value for name, value in options.items() if value is not None}
        command(*target, **given, options=known)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    every = [*own[:2], *made, *own[2:]]
    run.__signature__ = signature.replace(parameters=every)  # type: ignore[attr-defined]
    return run
