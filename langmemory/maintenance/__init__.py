"""Maintenance: nights over a store, whose tasks plan by `langmemory.lifecycle` and apply change sets."""
