"""What searches of SQL engines share: snapshots, plans of scopes, the nearest vectors, the copied words."""
