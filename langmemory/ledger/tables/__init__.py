"""Tables, each declared once, and the ground under them: connection, settings, namespaces, values."""
