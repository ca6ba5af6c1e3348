"""Extraction by a model: the prompt, its answer read with care, and what is left out of it."""

from langmemory.formation.extraction.extractor import Extractor, ModelExtractor

__all__ = ["Extractor", "ModelExtractor"]
