"""The options that say which file and namespace every command works on."""

from __future__ import annotations

from typing import Annotated

import typer

DbOption = Annotated[
    str | None,  # a Path would take a slash out of postgresql://
    typer.Option(
        "--db",
        metavar="FILE",
        help="The memory file, or the postgresql:// address of a server; else the configured one.",
        show_default=False,
    ),
]
NamespaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="A/B",
        help="Namespace as a/b, or one whole label at a time: -n a -n b; else LANGMEMORY_NAMESPACE.",
        show_default=False,
    ),
]
