"""Change sets as rows: applying them in one transaction, and undoing the run again."""
