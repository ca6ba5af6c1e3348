"""Entities, their names, and the edges between them; steps of recall along these."""
