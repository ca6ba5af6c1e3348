"""The command line: `langmemory --help` lists the commands, each is a module here."""

from langmemory.cli.app import app

__all__ = ["app"]
