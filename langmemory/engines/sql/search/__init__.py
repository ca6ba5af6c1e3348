"""What the searches of SQL engines share: the items of a scope, and the nearest vectors."""
