"""What every table stands on: connections, settings, namespaces, and how values are written."""
