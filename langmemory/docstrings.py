"""What docstrings say: those of fields, which Python does not keep, and the sections of a function's."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Final

SECTION: Final = re.compile(r"\n\n(?:Args|Returns|Raises|Yields)(?:\b.*)?:?\n|\n\nArgs and errors")
"""Begins the sections of a function's docstring, behind what it does."""


@cache
def docstrings_of(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of fields in a module, by class and field."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):  # built in, or without its source
        return {}
    return {
        cls.name: {
            field.target.id: inspect.cleandoc(text.value.value)
            for field, text in pairwise(cls.body)
            if isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        }
        for cls in tree.body
        if isinstance(cls, ast.ClassDef)
    }
