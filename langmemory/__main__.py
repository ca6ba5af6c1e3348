"""`python -m langmemory`: the command line without the installed script."""

from langmemory.cli.app import app

app(prog_name="langmemory")
