"""The ground of every table: connections, settings, namespaces, threads, and how values are written."""
