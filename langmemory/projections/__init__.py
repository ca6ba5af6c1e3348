"""Projections: what follows the memory file and can be rebuilt from it."""
