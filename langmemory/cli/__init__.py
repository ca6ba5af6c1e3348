"""The command line: `langmemory --help` lists the commands; a module here has those of one subject."""

from langmemory.errors import ConfigError

try:
    from langmemory.cli.app import app
except ConfigError as error:  # commands of a part that is not there
    raise SystemExit(f"langmemory: {error}") from None

__all__ = ["app"]
