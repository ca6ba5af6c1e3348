"""Reading: the file as recall, formation and the graph see it."""
