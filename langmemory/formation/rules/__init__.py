"""Extraction without a model: the engine, and one module of rules a language.

`extractor` reads a batch with `reader`, which knows clauses and grammar, and the patterns of a
language, which are data; `requests` has how somebody wants to be answered from now on, `questions`
what the next turn answers in a word, `game` where nobody speaks for himself. Modest and precise: what
is not said plainly is left to a model.
"""

from __future__ import annotations

from langmemory.formation.rules.extractor import RuleExtractor, comparing

__all__ = ["RuleExtractor", "comparing"]
