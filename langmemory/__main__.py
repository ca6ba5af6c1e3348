"""`python -m langmemory`: the command line without the installed script."""

from langmemory.cli import app

app(prog_name="langmemory")
