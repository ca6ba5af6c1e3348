"""The ground under every table: the connection, settings, namespaces, threads, and how values are written."""
