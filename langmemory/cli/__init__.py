"""The command line: `langmemory --help` lists the commands; a module here has those of one subject."""

from langmemory.cli.oneline import one_line_errors

with (
    one_line_errors()
):  # a part that is not there ends the process as every other wrong setting does
    from langmemory.cli.app import app

__all__ = ["app"]
