"""Copies of the vectors and of the words of a database in memory, which follow its writers."""
