"""The options of a command, from its signature and its docstring.

```python
def restore(target: Target, key: str, *, limit: Count = 20, everything: bool = False) -> None:
    \"\"\"Make memories active again.

    Args:
        key: As `list` shows it.
        limit: At most so many.
        everything (--all, -a): Also what nobody used.
    \"\"\"
```

A parameter before ``*`` is an argument, one after it an option, ``--limit``. Help calls a value by the last
word of the parameter's name. Its type may say otherwise (`values`), or the parentheses in the docstring,
which may also name other flags.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import typer

from langmemory.cli.values import Reads
from langmemory.docstrings import SECTION

KEYWORD: Final = inspect.Parameter.POSITIONAL_OR_KEYWORD
_DESCRIPTION: Final = re.compile(r"^ {4}(\w+)(?: \((.+?)\))?: (.*(?:\n {8,}.*)*)", re.MULTILINE)


def parameters_of(command: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command as typer takes them."""
    described = {one[1]: one for one in _DESCRIPTION.finditer(inspect.getdoc(command) or "")}
    plain = get_type_hints(command)
    for one in inspect.signature(command, eval_str=True).parameters.values():
        if one.name not in described:
            yield one.replace(kind=KEYWORD)
            continue
        _, named, text = described[one.name].groups()
        words = [] if named is None else named.split(", ")
        flags = [word for word in words if word.startswith("-")]
        called = next((word for word in words if not word.startswith("-")), None)
        if (
            called is None
            and plain[one.name] is not bool
            and get_origin(plain[one.name]) is not Literal
        ):
            called = one.name.rpartition("_")[2].upper()
        traits: dict[str, Any] = {"help": " ".join(text.split()), "metavar": called}
        for reads in _readers(one.annotation):
            traits |= {"metavar": called if words else reads.metavar, "parser": reads.parser}
        if one.kind is one.KEYWORD_ONLY:
            of_name = f"--{one.name.replace('_', '-')}"
            declared = typer.Option(*flags or [of_name], **traits)
        else:
            declared = typer.Argument(**traits)
        yield one.replace(annotation=Annotated[plain[one.name], declared], kind=KEYWORD)


def summary_of(command: Callable[..., Any]) -> str:
    """Return what help says of a command: its docstring without its parameters."""
    return SECTION.split(inspect.getdoc(command) or "")[0]


def _readers(kind: Any) -> Iterator[Reads]:
    """Yield how values of a type are read, also those of a list or of one that may be missing."""
    yield from (one for one in getattr(kind, "__metadata__", ()) if isinstance(one, Reads))
    for one in get_args(kind):
        yield from _readers(one)
