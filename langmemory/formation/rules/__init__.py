"""Extraction without a model: the engine, and one module of rules a language."""

from __future__ import annotations

from langmemory.formation.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
