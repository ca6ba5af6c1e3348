"""Errors as a person at a terminal wants them: one line, the next step, an exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from langmemory.cli.terminal import printable
from langmemory.errors import LangMemoryError

P = ParamSpec("P")
R = TypeVar("R")

DEBUG_VARIABLE = "LANGMEMORY_DEBUG"
"""Set to 1 to see the traceback of any error."""


def one_line_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Wrap a command so that whatever it raises ends as one line on stderr and exit code 1.

    This is the outermost boundary of a process, so it catches everything.
    """

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except BrokenPipeError:
            # `langmemory export | head`: the reader has seen enough. Python would complain again
            # when it flushes stdout at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except SystemExit as end:
            # The same, where rich was printing: it has closed stdout, and would have failed.
            if isinstance(end.__context__, BrokenPipeError):
                raise typer.Exit(0) from None
            raise
        except KeyboardInterrupt:
            typer.echo("langmemory: stopped", err=True)
            raise typer.Exit(130) from None
        except Exception as error:
            if os.environ.get(DEBUG_VARIABLE) == "1":
                raise
            typer.echo(f"langmemory: {line_of(error)}", err=True)
            raise typer.Exit(1) from None

    return wrapped


def line_of(error: Exception) -> str:
    """What an error says to a person, on one line."""
    if isinstance(error, LangMemoryError):
        return printable(" ".join(str(error).split()))
    if isinstance(error, OSError) and error.filename:
        return printable(f"{error.filename}: {error.strerror}")
    text = printable(" ".join(str(error).split()))
    return f"{type(error).__name__}: {text} (set {DEBUG_VARIABLE}=1 to see where)"
