"""Facts that cannot be true together: statements compared by structure, grouped for a judge."""
