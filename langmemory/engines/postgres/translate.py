"""The portable SQL of the package as PostgreSQL has it, see ``docs/decisions/038-portable-sql.md``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

REPLACED_BY: Final = {"setting": "name", "code_segment": "last_seq", "reembed_done": "item"}
"""What a row replaces another by, in the tables for which the portable SQL says ``OR REPLACE``."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A statement for psycopg."""

    sql: str
    order: tuple[int | str, ...]
    """Which of the given bindings, by place or by name, each ``%s`` takes."""
    takes: int
    """How many bindings by place it takes."""
    leaves: frozenset[int]
    """Those ``%s`` that are compared with values of leaves, or stored as such."""
    returns: bool
    """Whether it returns rows."""


_MARK: Final = re.compile(r"'(?:[^']|'')*'|\?(\d+)?|:([a-z_]\w*)|::|%")
_LEAF_MARK: Final = "\x01"
_WRITES: Final = re.compile(r"INSERT|UPDATE|DELETE|SAVEPOINT|RELEASE", re.IGNORECASE)
_RETURNING: Final = re.compile(r"\bRETURNING\b", re.IGNORECASE)

_SPELLINGS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), spelling)
    for pattern, spelling in (
        (r"\s+NOT INDEXED\b|\s+INDEXED BY \w+", ""),
        (r"(?<=[\s(])\+(?=(?:\w+\.)?[a-z]\w*\b)", ""),  # hints not to use an index
        (r"\bOR FAIL INTO\b", "INTO"),
        (r"\bLIMIT (\?\d*)", r"LIMIT nullif(\1, -1)"),
        (r"\bAS INTEGER\)", "AS bigint)"),
        (r"\bAS REAL\)", "AS double precision)"),
        (r"\bIN ([a-z_]+)\b(?![\w.(])", r"IN (SELECT * FROM \1)"),
        (r"\bIS NOT (?!NULL\b|TRUE\b|FALSE\b|DISTINCT\b)", "IS DISTINCT FROM "),
        (r"\bIS (?!NOT\b|NULL\b|TRUE\b|FALSE\b|DISTINCT\b)", "IS NOT DISTINCT FROM "),
        # Leaves are bytes that sort as SQLite sorts values of any type.
        (r"\btypeof\(l\.value\) = 'blob'", r"l.value >= '\\x03'::bytea"),
        (
            r"\btypeof\(l\.value\) = 'text'",
            r"(l.value >= '\\x02'::bytea AND l.value < '\\x03'::bytea)",
        ),
        (r"\binstr\(l\.value, \?\)", r"position(convert_to(?, 'UTF8') IN l.value)"),
        (r"\bl\.value ([<>]=?) x''", r"l.value \1 '\\x03'::bytea"),
        (r"\bl\.value ([<>]=?) ''", r"l.value \1 '\\x02'::bytea"),
        (r"\bl\.value ([<>=]=?) \?", rf"l.value \1 {_LEAF_MARK}"),
    )
)
_CARRAY: Final = re.compile(
    r"\bcarray\((\?\d*|:\w+)\)(?:\s+(?:AS\s+)?(?!CROSS\b|JOIN\b|ON\b|WHERE\b|ORDER\b|LEFT\b|GROUP\b"
    r"|UNION\b|LIMIT\b|EXCEPT\b|INTERSECT\b)([a-z]\w*))?",
    re.IGNORECASE,
)
_ARRAY_FIRST: Final = re.compile(
    r"SELECT (?!DISTINCT\b)(?:[^()']|'[^']*'|\((?:[^()]|\([^()]*\))*\))*?\bFROM (?=carray\()",
    re.IGNORECASE,
)
_OTHER_ORDER: Final = {
    "ORDER",
    "GROUP",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "COUNT",
    "SUM",
    "MAX",
    "MIN",
}
_JOIN: Final = re.compile(r"\bCROSS JOIN\b", re.IGNORECASE)
_GLOB: Final = re.compile(r"\bGLOB '((?:[^']|'')*)'", re.IGNORECASE)
_IN_LEAVES: Final = re.compile(r"\bl\.value IN \(([?, ]+)\)")
_INTO_LEAVES: Final = re.compile(
    r"\bINTO leaf \(path, value, namespace, item\) VALUES ([?, ()]+)", re.IGNORECASE
)
_OR: Final = re.compile(r"\bINSERT OR (IGNORE|REPLACE) INTO (\w+)(?: \(([^)]*)\))?", re.IGNORECASE)


_SUBQUERY: Final = re.compile(r"\b(?:FROM|JOIN)\s*\((?=\s*(?:SELECT|WITH|VALUES)\b)", re.IGNORECASE)
_UNNAMED: Final = re.compile(
    r"\s*(?:$|[;),]|(?:WHERE|ORDER|GROUP|HAVING|LIMIT|UNION|EXCEPT|INTERSECT|CROSS|LEFT|JOIN|ON)\b)",
    re.IGNORECASE,
)
"""What follows a subquery that has no name."""


@lru_cache(maxsize=4096)
def translated(statement: str) -> Translated:
    """Return a statement as PostgreSQL has it."""
    sql = statement.strip().rstrip(";")
    for pattern, spelling in _SPELLINGS:
        sql = pattern.sub(spelling, sql)
    sql = with_like(sql)
    sql = _CARRAY.sub(_unnested, _in_order(sql))
    sql = _joins(sql)
    sql = _of_several(sql)
    sql = _IN_LEAVES.sub(lambda m: f"l.value IN ({m[1].replace('?', _LEAF_MARK)})", sql)
    sql = _INTO_LEAVES.sub(lambda m: m[0].replace("(?, ?, ?, ?)", f"(?, {_LEAF_MARK}, ?, ?)"), sql)
    if found := _OR.search(sql):
        sql = _on_conflict(sql, found)
    return _marked(_named(sql))


def _named(sql: str) -> str:
    """Name the subqueries of FROM clauses that have no name: PostgreSQL 15 insists on one."""
    parts = []
    for number, found in enumerate(_SUBQUERY.finditer(sql)):
        end, depth = found.end(), 1
        while depth and end < len(sql):
            if sql[end] == "'":  # a text, which may hold brackets
                end = sql.index("'", end + 1)
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        if _UNNAMED.match(sql, end):
            parts.append((end, f" AS subquery_{number}"))
    for end, name in sorted(parts, reverse=True):
        sql = sql[:end] + name + sql[end:]
    return sql


def _like(found: re.Match[str]) -> str:
    if "[" in found[1]:  # classes of characters are spelled alike in a regular expression
        ends = "" if found[1].endswith("*") else "$"
        classes = re.sub(r"([.+^$(){}|\\])", r"\\\1", found[1].rstrip("*"))
        return f"~ '^{classes.replace('*', '.*').replace('?', '.')}{ends}'"
    text = re.sub(r"([\\%_])", r"\\\1", found[1]).replace("*", "%").replace("?", "_")
    return f"LIKE '{text}'"


def with_like(sql: str) -> str:
    """Return SQL with ``LIKE`` or a regular expression in place of ``GLOB``."""
    return _GLOB.sub(_like, sql)


def _unnested(found: re.Match[str]) -> str:
    return f"unnest({found[1]}) AS {found[2] or 'carray'}(value)"


def _in_order(sql: str) -> str:
    """A join that begins with an array has the order of the array, as in SQLite, where it says no other."""
    first = _ARRAY_FIRST.match(sql)
    array = first and _CARRAY.match(sql, first.end())
    if not array:
        return sql
    depth, end = 0, len(sql)
    for token in re.finditer(r"'(?:[^']|'')*'|[()]|\b[a-z]+\b", sql, re.IGNORECASE):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0 and token[0].upper() == "LIMIT":
            end = token.start()
        elif depth == 0 and token[0].upper() in _OTHER_ORDER:
            return sql
    name = array[2] or "carray"
    return (
        f"{sql[: array.start()]}unnest({array[1]}) WITH ORDINALITY AS {name}(value, nth)"
        f"{sql[array.end() : end].rstrip()} ORDER BY {name}.nth {sql[end:]}".rstrip()
    )


def _joins(sql: str) -> str:
    """Joins in a fixed order, which PostgreSQL spells without ``CROSS`` where they have a condition."""
    parts, at = [], 0
    for found in _JOIN.finditer(sql):
        parts.append(sql[at : found.start()])
        parts.append("JOIN" if _has_condition(sql, found.end()) else "CROSS JOIN")
        at = found.end()
    return "".join((*parts, sql[at:]))


def _has_condition(sql: str, at: int) -> bool:
    """Return whether the next thing behind the joined table is its ON."""
    depth = 0
    for token in re.finditer(
        r"'(?:[^']|'')*'|[()]|\b(?:ON|JOIN|LEFT|WHERE|ORDER|GROUP|UNION|LIMIT)\b|,", sql[at:], re.I
    ):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
            if depth < 0:
                return False
        elif not depth and not token[0].startswith("'"):
            return token[0].upper() == "ON"
    return False


def _of_several(sql: str) -> str:
    """``min`` and ``max`` of several values, which are ``least`` and ``greatest``."""
    for name, other in (("min", "least"), ("max", "greatest")):
        for found in reversed([*re.finditer(rf"\b{name}(?=\()", sql)]):
            depth, several = 0, False
            for token in re.finditer(r"'(?:[^']|'')*'|[(),]", sql[found.end() :]):
                if token[0] == "(":
                    depth += 1
                elif token[0] == ")":
                    depth -= 1
                    if not depth:
                        break
                elif token[0] == "," and depth == 1:
                    several = True
            if several:
                sql = sql[: found.start()] + other + sql[found.end() :]
    return sql


def _on_conflict(sql: str, found: re.Match[str]) -> str:
    what, table, columns = found[1].upper(), found[2].lower(), found[3]
    into = f"INSERT INTO {table}" + (f" ({columns})" if columns else "")
    sql = sql[: found.start()] + into + sql[found.end() :]
    returning = re.search(r"\sRETURNING\b", sql, re.IGNORECASE)
    cut = returning.start() if returning else len(sql)
    if what == "IGNORE":
        clause = " ON CONFLICT DO NOTHING"
    else:
        key = REPLACED_BY[table]
        others = (one for one in columns.split(", ") if one != key)
        changes = ", ".join(f"{one} = excluded.{one}" for one in others)
        clause = f" ON CONFLICT ({key}) DO UPDATE SET {changes}"
    return sql[:cut] + clause + sql[cut:]


def _marked(sql: str) -> Translated:
    order: list[int | str] = []
    leaves: set[int] = set()
    next_place = 0

    def mark(found: re.Match[str]) -> str:
        nonlocal next_place
        text = found[0]
        if text.startswith("'"):
            return text.replace("%", "%%")
        if text == "%":
            return "%%"
        if text == "::":
            return text
        if found[2]:
            order.append(found[2])
        elif found[1]:
            order.append(int(found[1]) - 1)
            next_place = max(next_place, int(found[1]))
        else:
            order.append(next_place)
            next_place += 1
        return "%s"

    pieces = sql.split(_LEAF_MARK)
    out = []
    for n, piece in enumerate(pieces):
        if n:
            leaves.add(len(order))
            order.append(next_place)
            next_place += 1
            out.append("%s")
        out.append(_MARK.sub(mark, piece))
    whole = "".join(out)
    returns = not _WRITES.match(whole) or _RETURNING.search(whole) is not None
    return Translated(whole, tuple(order), next_place, frozenset(leaves), returns)
