"""Writing: what of an item is indexed, and turns of a conversation on their way into the file."""
