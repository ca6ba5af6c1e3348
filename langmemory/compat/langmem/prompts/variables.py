"""The variables of a prompt template: a prompt that was made better has the same ones, for sure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Formatter
from typing import Final

from langmemory.formation.asking.json_answers import BadAnswerError

_NAME: Final = r"(?:[^\W\d]\w*|\d*)(?:\.\w+|\[[^\[\]{}]*\])*(?:![rsa])?(?::[^{}\n]*)?"
_SINGLE: Final = re.compile(rf"(?<!\{{)\{{({_NAME})\}}(?!\}})")
"""A variable of `str.format` and of f-strings."""
_DOUBLE: Final = re.compile(r"(?<!\{)\{\{(\s*[#^/>&]?\s*[^\W\d][\w.]*\s*)\}\}(?!\})")
"""A variable of mustache and jinja; for `str.format` a literal in braces."""
_LOOSE: Final = re.compile(r"\{+\s*([^{}\n]+?)\s*\}+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Variables:
    """The variables of a template."""

    single: frozenset[str]
    double: frozenset[str]
    formats: bool
    """Whether `str.format` can fill it in: any other brace is doubled."""

    @classmethod
    def of(cls, template: str) -> Variables:
        """Read a template."""
        return cls(
            single=frozenset(_SINGLE.findall(template)),
            double=frozenset(_DOUBLE.findall(template)),
            formats=_formats(template),
        )

    @property
    def named(self) -> str:
        """The variables as the model is told of them; empty where there are none."""
        return ", ".join([f"{{{one}}}" for one in sorted(self.single)]
                         + [f"{{{{{one}}}}}" for one in sorted(self.double)])  # fmt: skip

    def kept_in(self, changed: str) -> str:
        """Return a changed template with exactly these variables: what is only written otherwise is mended,
        and other braces are doubled where `str.format` is to fill it in.

        Raises:
            BadAnswerError: It lost one of them, or has another one.
        """
        mended = self._mended(changed)
        found = Variables.of(mended)
        invented = found.single - self.single
        # Of a template that is filled in, a brace that names no variable is text.
        if self.formats and self.single and invented:
            raise BadAnswerError(
                f"its prompt has variables that there are not: {_listed(invented)}"
            )
        if self.formats:
            mended = self._escaped(mended)
            found = Variables.of(mended)
        if lost := self.single - found.single:
            raise BadAnswerError(
                f"its prompt lost the variables {_listed(lost)}: keep each as it is"
            )
        if lost := self.double - found.double:
            raise BadAnswerError(
                f"its prompt lost {_listed({f'{{{one}}}' for one in lost})}: keep it as it is"
            )
        if not self.formats and (invented := found.single - self.single):
            raise BadAnswerError(
                f"its prompt has variables that there are not: {_listed(invented)}"
            )
        if self.formats and (not _formats(mended) or _fields(mended) != self.single):
            raise BadAnswerError("its prompt has braces that cannot be filled in")
        return mended

    def _mended(self, text: str) -> str:
        """Write variables as the template has them, where a model wrote them with blanks, other capitals or
        further braces."""
        known = {one.casefold(): one for one in self.single}

        def written(found: re.Match[str]) -> str:
            whole, name = found[0], found[1]
            if whole in {f"{{{one}}}" for one in self.single}:
                return whole
            if any(whole == f"{{{{{one}}}}}" for one in self.double):
                return whole
            name = known.get(name.casefold(), "")
            return f"{{{name}}}" if name else whole

        return _LOOSE.sub(written, text)

    def _escaped(self, text: str) -> str:
        """Double the braces that belong to no variable, unless they are doubled already."""
        if _formats(text) and _fields(text) == self.single:
            return text
        parts = re.split(
            r"(\{\{|\}\}|" + "|".join(re.escape(f"{{{one}}}") for one in self.single or "\0") + ")",
            text,
        )
        kept = {"{{", "}}", *(f"{{{one}}}" for one in self.single)}
        return "".join(
            one if one in kept else one.replace("{", "{{").replace("}", "}}") for one in parts
        )


def _fields(template: str) -> frozenset[str]:
    """Return the variables that `str.format` finds."""
    found = set()
    for _, name, spec, conversion in Formatter().parse(template):
        if name is not None:
            found.add(
                name + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
            )
    return frozenset(found)


def _formats(template: str) -> bool:
    try:
        return all(re.fullmatch(_NAME, one) for one in _fields(template))
    except ValueError:
        return False


def _listed(names: set[str] | frozenset[str]) -> str:
    return ", ".join(f"{{{one}}}" for one in sorted(names))
