"""The command line: `langmemory --help` lists the commands; a module here has those of one subject."""
