"""What every table stands on: connections, settings, namespaces, threads, and how values are written."""
