"""Searches: nearest vectors, words, and the plan of a scope."""
