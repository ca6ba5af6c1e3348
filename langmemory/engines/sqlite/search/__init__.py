"""Searches: nearest vectors, words, and the few items of a narrow scope."""
