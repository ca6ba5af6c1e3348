"""Whom and what facts speak of: names resolved to entities."""
