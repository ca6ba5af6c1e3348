"""Consolidation: what changed is gathered, themes are found in it, and checked operations follow."""
