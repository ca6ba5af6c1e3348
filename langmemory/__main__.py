"""The command line as a process: what the script ``langmemory`` and `python -m langmemory` run."""

import gc

from langmemory.errors import ConfigError


def main() -> None:
    """Run the command line, and end the process."""
    gc.set_threshold(50_000)  # nothing of what is imported is garbage: to look for it took long
    try:
        from langmemory.cli.app import app
    except ConfigError as error:  # the parts whose commands it lists are configured wrongly
        raise SystemExit(f"langmemory: {error}") from None
    app(prog_name="langmemory")


if __name__ == "__main__":
    main()
