"""Prints the bill of materials (CycloneDX 1.6) of the Python environment that runs it, for one distribution.

``make dist`` runs it in the clean environment that has the wheel. It reads what is installed alone, and the
same packages give the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distributions
from typing import Any


def bill(name: str) -> dict[str, Any]:
    """Return the bill of a distribution: itself, and what is installed beside it."""
    installed = {_normal(one.metadata["Name"]): one for one in distributions()}
    subject = installed.pop(_normal(name))
    beside = [one for key, one in sorted(installed.items()) if key not in ("pip", "setuptools")]
    known = {_normal(one.metadata["Name"]): one for one in (subject, *beside)}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component(subject)},
        "components": [_component(one) for one in beside],
        "dependencies": [
            {"ref": _reference(one), "dependsOn": sorted(_needs(one, known))}
            for one in (subject, *beside)
        ],
    }


def _component(one: Distribution) -> dict[str, Any]:
    component = {
        "type": "library", "bom-ref": _reference(one), "name": one.metadata["Name"],
        "version": one.version, "purl": _reference(one),
    }  # fmt: skip
    if expression := one.metadata.get("License-Expression"):
        component["licenses"] = [{"expression": expression}]
    elif text := (one.metadata.get("License") or "").strip():
        component["licenses"] = [{"license": {"name": text.splitlines()[0][:100]}}]
    return component


def _needs(one: Distribution, known: dict[str, Distribution]) -> set[str]:
    """Return what a distribution requires and is installed; extras are not told apart."""
    names = {_normal(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in one.requires or ()}
    return {_reference(known[name]) for name in names if name in known}


def _reference(one: Distribution) -> str:
    return f"pkg:pypi/{_normal(one.metadata['Name'])}@{one.version}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    print(json.dumps(bill(sys.argv[1]), indent=2))
