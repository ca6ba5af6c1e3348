"""Asking a chat model for JSON, and making the best of what it answers."""
