"""The rooms of a store over SQL: each call of a store as its transactions and snapshots."""
