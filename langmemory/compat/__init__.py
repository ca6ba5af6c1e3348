"""Names of other libraries, so that a change to langmemory is an import line."""
