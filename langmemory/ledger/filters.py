"""LangGraph filters: what they mean (`matches`), and the same as bound SQL (`compile_filter`).

The SQL reads the ``leaf`` table and is exact, or, where SQLite cannot compare what Python can
(integers beyond 64 bits, long strings by order, substrings), a superset marked ``residual`` that
`matches` then decides. A property test holds the two together.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from langmemory.errors import InvalidFilterError, InvalidValueError
from langmemory.ledger.values import ELEMENT, LONG, exact, leaf_value
from langmemory.values import MAX_DEPTH, SCALARS, as_json

COMPARISONS: Final = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_COMPARE: Final = {
    "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le,
}  # fmt: skip
OPERATORS: Final = ("$eq", "$ne", *COMPARISONS, "$in", "$contains")
COMBINERS: Final = ("$and", "$or")

MOST_OPTIONS: Final = 10_000
"""Values of one ``$in``; SQLite binds 32,766 in a statement, and a search may state it twice."""

_PATH = "(SELECT id FROM path WHERE name = ?)"


class Start(NamedTuple):
    """Items that an index gives at once, so that a search can start from them."""

    item: str
    """Column with their ids."""
    source: str
    """Table, and the index that has what is asked of it."""
    where: str
    namespace: str
    """Column with their namespaces."""
    bindings: tuple[Any, ...]
    direct: bool = True
    """Whether the index goes to those of one namespace; else it passes those of all others."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A boolean SQL expression over ``item AS i`` with its bindings."""

    sql: str
    bindings: tuple[Any, ...] = ()
    residual: bool = False
    """The SQL lets too much through; `matches` must decide."""
    starts: tuple[Start, ...] = ()
    """Together exactly the items that the SQL lets through; empty if no index gives them."""
    selective: bool = False
    """Tells by itself what is sought, and may well leave little: counted before a search."""
    told_by: Literal["all", "sql", "nothing"] = "all"
    """The part of it that tells how much it leaves, as far as is remembered: of times only the SQL, as other
    ones are asked for at every search; of keys that are left out nothing."""


TRUE: Final = Condition("TRUE")
FALSE: Final = Condition("FALSE")


def compile_filter(filter: Mapping[str, Any]) -> list[Condition]:
    """Return the filter as conditions that must all hold.

    Raises:
        InvalidFilterError: An unknown operator, a bad key, an operand of the wrong type, or it nests
            deeper than a value may.
    """
    check_depth(filter)
    return _compile(filter)


def check_depth(filter: Any, where: str = "", depth: int = 1) -> None:
    """Refuse what nests deeper than a value may, or holds itself, before Python's stack ends.

    Raises:
        InvalidFilterError: It does.
    """
    if depth > MAX_DEPTH:
        raise InvalidFilterError(
            f"The filter nests deeper than {MAX_DEPTH} levels, at {where:.80}… No value nests deeper; "
            "write it flatter: one $and or $or takes any number of filters."
        )
    if isinstance(filter, Mapping):
        for key, inner in filter.items():
            if type(inner) not in SCALARS:
                check_depth(inner, f"{where}.{key}" if where else str(key), depth + 1)
    elif isinstance(filter, list | tuple | set | frozenset):
        for inner in filter:
            if type(inner) not in SCALARS:
                check_depth(inner, f"{where}[]", depth + 1)


def _compile(filter: Mapping[str, Any]) -> list[Condition]:
    conditions: list[Condition] = []
    for key, operand in _entries(filter):
        if key in COMBINERS:
            branches = [_all(_compile(one)) for one in _branches(key, operand)]
            conditions.append(_join(" AND " if key == "$and" else " OR ", branches))
        else:
            conditions.extend(_compile_place(key, operand))
    return conditions


def matches(value: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    """Return whether a JSON value passes the filter. The meaning of a filter, in Python.

    Equality is Python's (``1 == 1.0 == True``); a missing place equals ``None``; ordering holds only
    between numbers or between strings; an object as operand asks for its entries, not for identity,
    also where it is an element of a list. ``{"a": {"b": 1}}`` and ``{"a.b": 1}`` are one place.
    """
    for key, operand in _entries(filter):
        if key in COMBINERS:
            decide = all if key == "$and" else any
            if not decide([matches(value, one) for one in _branches(key, operand)]):
                return False
        elif not _place_matches(value, key, operand):
            return False
    return True


def _entries(filter: Any) -> list[tuple[str, Any]]:
    if not isinstance(filter, Mapping):
        raise InvalidFilterError(f"A filter must be a dict, not {filter!r:.80}.")
    for key in filter:
        if not isinstance(key, str) or not all(key.split(".")):
            raise InvalidFilterError(
                f"Invalid filter key {key!r}: keys are names, or names joined by dots for nested values."
            )
        if key.startswith("$") and key not in COMBINERS:
            raise InvalidFilterError(
                f"Invalid filter key {key!r}: at this place only {', '.join(COMBINERS)} or a name "
                f"may stand; {', '.join(OPERATORS)} go inside a name."
            )
    return [
        (key, operand if key in COMBINERS else _plain(key, operand))
        for key, operand in filter.items()
    ]


def _branches(key: str, operand: Any) -> list[Mapping[str, Any]]:
    if not isinstance(operand, list | tuple) or not operand:
        raise InvalidFilterError(f"{key} takes a non-empty list of filters, not {operand!r:.80}.")
    return list(operand)


def _is_operators(operand: Any) -> bool:
    return isinstance(operand, Mapping) and any(
        isinstance(key, str) and key.startswith("$") for key in operand
    )


def _operators(key: str, operand: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, argument in operand.items():
        if name not in OPERATORS:
            raise InvalidFilterError(
                f"Unsupported operator {name!r} on {key!r}. Use one of {', '.join(OPERATORS)}."
            )
        if name == "$in" and not isinstance(argument, list | tuple | set | frozenset):
            raise InvalidFilterError(f"$in on {key!r} takes a list, not {argument!r:.80}.")
        plain = _plain(key, list(argument) if name == "$in" else argument)
        if name in COMPARISONS and not isinstance(plain, int | float | str):
            raise InvalidFilterError(
                f"{name} on {key!r} takes a number or a string, not {argument!r:.80}."
            )
        yield name, plain


def _plain(key: str, operand: Any) -> Any:
    """Return the operand as JSON has it, in which values are stored: tuples as lists, datetimes as
    text."""
    if isinstance(operand, list | tuple):
        return [_plain(key, one) for one in operand]
    if operand is None or isinstance(operand, str | int | float | Mapping):
        return operand
    try:
        return as_json(operand)
    except InvalidValueError as error:
        raise InvalidFilterError(f"The filter on {key!r} cannot be asked. {error}") from error


# In Python.


def _reach(value: Any, labels: list[str]) -> Iterator[Any]:
    """Yield every value at a dotted path; a key that itself contains dots counts as well."""
    if not labels:
        yield value
        return
    if isinstance(value, Mapping):
        for end in range(1, len(labels) + 1):
            name = ".".join(labels[:end])
            if name in value:
                yield from _reach(value[name], labels[end:])


def _place_matches(value: Mapping[str, Any], path: str, operand: Any) -> bool:
    present = [one for one in _reach(value, path.split(".")) if one is not None]
    if _is_operators(operand):
        return all(
            _operator_matches(present, name, argument)
            for name, argument in _operators(path, operand)
        )
    if isinstance(operand, Mapping):
        return any(isinstance(one, Mapping) for one in present) and all(
            _place_matches(value, f"{path}.{key}", sub) for key, sub in _entries(operand)
        )
    if isinstance(operand, list | tuple):
        return any(_list_matches(one, operand) for one in present)
    return _operator_matches(present, "$eq", operand)


def _list_matches(one: Any, operand: Sequence[Any]) -> bool:
    """Compare element by element, as InMemoryStore does."""
    return (
        isinstance(one, list)
        and len(one) == len(operand)
        and all(
            _place_matches({"element": inner}, "element", wanted)
            for inner, wanted in zip(one, operand, strict=True)
        )
    )


def _operator_matches(present: list[Any], name: str, argument: Any) -> bool:
    if name == "$eq":
        return any(one == argument for one in present) if argument is not None else not present
    if name == "$ne":
        return not _operator_matches(present, "$eq", argument)
    if name == "$in":
        return any(_operator_matches(present, "$eq", one) for one in argument)
    if name == "$contains":
        return any(
            (isinstance(one, list) and argument is not None and argument in one)
            or (isinstance(one, str) and isinstance(argument, str) and argument in one)
            for one in present
        )
    return any(_compare_ordered(one, name, argument) for one in present)


def _compare_ordered(one: Any, name: str, argument: Any) -> bool:
    numbers = isinstance(one, int | float) and isinstance(argument, int | float)
    if not numbers and not (isinstance(one, str) and isinstance(argument, str)):
        return False
    return bool(_COMPARE[name](one, argument))


# As SQL.


def _lookup(
    path: str, predicate: str, *bindings: Any, residual: bool = False, direct: bool = True
) -> Condition:
    """Return items with a leaf at a path. ``direct``: its value is one of some that are given, see
    `Start`."""
    where = f"l.path = {_PATH} AND {predicate}"
    leaf = Start("l.item", "leaf l", where, "l.namespace", (path, *bindings), direct=direct)
    return Condition(
        f"EXISTS (SELECT 1 FROM leaf l WHERE {leaf.where} AND l.namespace = i.namespace AND l.item = i.id)",
        leaf.bindings,
        residual,
        (leaf,),
        selective=True,
    )


def _join(word: str, parts: list[Condition]) -> Condition:
    if len(parts) == 1:
        return parts[0]
    return Condition(
        "(" + word.join(part.sql for part in parts) + ")",
        tuple(binding for part in parts for binding in part.bindings),
        any(part.residual for part in parts),
    )


def _all(parts: list[Condition]) -> Condition:
    return _join(" AND ", parts) if parts else TRUE


def _negate(part: Condition) -> Condition:
    if part.residual:  # "not a superset" is a subset: let everything through, Python decides
        return Condition("TRUE", residual=True)
    return Condition(f"NOT {part.sql}", part.bindings)


def _compile_place(path: str, operand: Any) -> list[Condition]:
    if _is_operators(operand):
        return [_compile_operator(path, name, arg) for name, arg in _operators(path, operand)]
    if isinstance(operand, Mapping):
        inner = [
            condition
            for key, sub in _entries(operand)
            for condition in _compile_place(f"{path}.{key}", sub)
        ]
        return [_lookup(path, "l.value = ?", b"{}"), *inner]
    if isinstance(operand, list | tuple) and not exact(operand):
        return [_lookup(path, "typeof(l.value) = 'blob'", residual=True, direct=False)]
    return [_compile_operator(path, "$eq", operand)]


def _compile_operator(path: str, name: str, argument: Any) -> Condition:
    if name == "$eq":
        return _compile_equal(path, argument)
    if name == "$ne":
        return _negate(_compile_equal(path, argument))
    if name == "$in":
        return _compile_in(path, argument)
    if name == "$contains":
        return _compile_contains(path, argument)
    return _compile_comparison(path, name, argument)


def _compile_equal(path: str, argument: Any) -> Condition:
    if argument is None:
        return Condition(
            f"NOT EXISTS (SELECT 1 FROM leaf l WHERE l.path = {_PATH} "
            "AND l.namespace = i.namespace AND l.item = i.id)",
            (path,),
        )
    if isinstance(argument, float) and math.isnan(argument):
        return FALSE
    if isinstance(argument, Mapping):
        return _lookup(path, "l.value = ?", b"{}", residual=True)
    return _lookup(path, "l.value = ?", leaf_value(argument), residual=not exact(argument))


def _compile_in(path: str, argument: Sequence[Any]) -> Condition:
    """Compile one look-up for all of them: SQLite nests only a thousand ORs."""
    nothing = any(one is None for one in argument)
    some = [
        one for one in argument if one is not None and not (isinstance(one, float) and one != one)
    ]
    options = list(dict.fromkeys(leaf_value(one) for one in some))
    if len(options) > MOST_OPTIONS:
        raise InvalidFilterError(
            f"$in on {path!r} has {len(options)} values; {MOST_OPTIONS} is the most. Ask in parts."
        )
    parts = [_compile_equal(path, None)] if nothing else []
    if options:
        residual = any(isinstance(one, Mapping) or not exact(one) for one in some)
        marks = ", ".join("?" * len(options))
        parts.append(_lookup(path, f"l.value IN ({marks})", *options, residual=residual))
    return _join(" OR ", parts) if parts else FALSE


def _compile_contains(path: str, argument: Any) -> Condition:
    if argument is None:
        return FALSE
    element = _compile_equal(path + ELEMENT, argument)
    if not isinstance(argument, str):
        return element
    text = _lookup(
        path,
        "(typeof(l.value) = 'text' AND instr(l.value, ?) > 0 OR l.value = ?)",
        argument,
        LONG,
        residual=True,
        direct=False,
    )
    return _join(" OR ", [element, text])


def _compile_comparison(path: str, name: str, argument: Any) -> Condition:
    """Compile bounds for each kind: SQLite orders numbers before text before blobs."""
    symbol = COMPARISONS[name]
    if isinstance(argument, str):
        return _lookup(
            path,
            f"(l.value {symbol} ? AND l.value >= '' AND l.value < x'' OR l.value = ?)",
            argument,
            LONG,
            residual=True,
            direct=False,
        )
    if isinstance(argument, float) and math.isnan(argument):
        return FALSE
    inexact = not exact(argument)
    # Integers beyond 64 bits are stored rounded: keep the edge and let Python decide.
    symbol = symbol[0] + "=" if inexact else symbol
    bounds = f"l.value {symbol} ? AND l.value < ''"
    return _lookup(path, bounds, leaf_value(argument), residual=inexact, direct=False)
