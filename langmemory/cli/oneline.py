"""CommandLine: whatever ends a command, a person at a terminal sees one line and what to do next."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from langmemory.cli.terminal import forgive_terminal, printable, say
from langmemory.errors import LangMemoryError

DEBUG_VARIABLE = "LANGMEMORY_DEBUG"
"""Set to 1 to see the traceback of any error."""

USAGE_ERROR: type[Any] = typer.BadParameter.__mro__[1]
"""The error of typer for wrong usage; newer versions bring a click of their own to take it from."""


class Command(TyperCommand):
    """A command whose switches have no type in its help: newer typers write ``<bool>``, as if a value
    had to follow."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _switches_without_type(super().get_params(ctx))

    def make_parser(self, ctx: Any) -> Any:
        return _refusing_twice(super().make_parser(ctx), ctx)


class CommandLine(TyperGroup):
    """A group of commands. As the outermost, it ends the process: with one line on stderr where
    something was wrong, and the exit code 1, or 2 where the command was misused."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _switches_without_type(super().get_params(ctx))

    def make_parser(self, ctx: Any) -> Any:
        return _refusing_twice(super().make_parser(ctx), ctx)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        run = partial(
            super().main, args, prog_name, complete_var, False, windows_expand_args, **extra
        )
        if not standalone_mode:
            return run()
        forgive_terminal()
        with _one_line_errors():
            code = run()
        if code == 130:  # Ctrl-C
            say("langmemory: stopped", err=True)
        sys.exit(code)


def _switches_without_type(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def _refusing_twice(parser: Any, ctx: Any) -> Any:
    """Return the parser, which refuses an option that takes one value and is given two: the first
    would be left unheeded."""
    parse = parser.parse_args

    def parse_args(args: list[str]) -> Any:
        options, rest, order = parse(args)
        given = [param for param in order if not (param.multiple or getattr(param, "is_flag", 0))]
        for param in given:
            if param.param_type_name == "option" and given.count(param) > 1:
                raise USAGE_ERROR(f"{param.opts[0]} is given twice; it takes one value.", ctx)
        return options, rest, order

    parser.parse_args = parse_args
    return parser


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """End whatever is raised as one line on stderr and an exit code.

    This is the outermost boundary of a process, so it catches everything.
    """
    try:
        yield
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        # `langmemory export | head`: the reader has seen enough. Python would complain again when
        # it flushes stdout at exit.
        if not sys.stdout.closed:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except typer.Abort:
        say("\nlangmemory: stopped", err=True)
        sys.exit(1)
    except Exception as error:
        if isinstance(error, USAGE_ERROR):
            if line := _usage(error):
                say(f"langmemory: {line}", err=True)
            sys.exit(2)
        if os.environ.get(DEBUG_VARIABLE) == "1":
            raise
        say(f"langmemory: {line_of(error)}", err=True)
        sys.exit(1)


def line_of(error: Exception) -> str:
    """Return an error as one line for a person."""
    text = printable(" ".join(str(error).split()))
    if isinstance(error, LangMemoryError):
        return text
    if isinstance(error, OSError) and error.strerror:
        return printable(": ".join(map(str, filter(None, (error.filename, error.strerror)))))
    return f"{type(error).__name__}: {text} (set {DEBUG_VARIABLE}=1 to see where)"


def _usage(error: Any) -> str:
    """Return a line on a wrong command and where its help is; nothing where that was shown
    because there were no words."""
    of_one = getattr(error, "param", None) or getattr(error, "param_hint", None)
    bad = isinstance(error, typer.BadParameter) and not of_one  # then typer says no more than that
    text = " ".join((error.message if bad else error.format_message()).split())
    if not text:
        return ""
    command = error.ctx.command_path if error.ctx is not None else "langmemory"
    return printable(f"{text}{'' if text[-1] in '.?' else '.'} See `{command} --help`.")
