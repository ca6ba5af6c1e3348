"""A model's notes as they are, for tests of what becomes of facts: beside no rules, and believed."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel

from langmemory.formation.extraction.extractor import Extractor, ModelExtractor
from langmemory.graphs.reflection import build_reflection_graph


class Believed:
    """An extractor of an application, which answers for it."""

    def __init__(self, extractor: Extractor) -> None:
        self.extract = extractor.extract
        self.aextract = extractor.aextract


def believing_graph(*stores: Any, model: BaseChatModel | None, **options: Any) -> Any:
    """`build_reflection_graph` that believes what the model notes; by rules without one."""
    if model is None:
        return build_reflection_graph(*stores, **options)
    if "judge" not in options:
        options.setdefault("judge_model", model)
    return build_reflection_graph(*stores, extractor=Believed(ModelExtractor(model)), **options)
