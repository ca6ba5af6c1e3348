"""Reader of the correctness suite's cases, which are text: a line a turn, a line a fact.

    # A comment.
    [name of the case] what it is about
    2023-05-01 (who=Ben, owner=ben): Mum lives in Kiel and sings.
      Ben's mother lives in Kiel | Mum | lives_in | Kiel {confidence=0.4}
      + Mum | has_hobby | =singing
    2023-06-01 (heard): The rules read this turn.
    2023-07-01: The words before => the words of the edited turn.
    2023-08-01 * decide entity => same
    active: one fact / another one
    as of 2023-05-02: one fact

A turn has the options of `Say`, a fact those of `Fact`; one without a value is true. The lines after the
steps are the fields of `Case`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.formation.correctness import Case, Do, Say, Told

FOLDER = Path(__file__).parent / "cases"
TURN = re.compile(r"(?P<on>\d\S+?)(?: \((?P<options>.*?)\))?: (?:(?P<instead>.*) => )?(?P<text>.*)")
DEED = re.compile(r"(?P<on>\d\S+) \* (?P<what>\w+)(?: (?P<of>.*?))?(?: => (?P<option>.*))?")
FACT = re.compile(r"(?P<text>.*?)(?: \| (?P<claim>.*?))?(?: \{(?P<more>.*)\})?")


def cases(name: str) -> tuple[Case, ...]:
    """Return the cases of a file in `cases/`.

    Raises:
        ValueError: A line is none of a case; names file and line.
    """
    file = FOLDER / f"{name}.txt"
    blocks: list[list[tuple[int, str]]] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if line.startswith("["):
            blocks.append([])
        if line and not line.startswith("#"):
            blocks[-1].append((number, line))
    return tuple(_case(block, file.name) for block in blocks)


def _case(lines: list[tuple[int, str]], file: str) -> Case:
    name, about = lines[0][1][1:].split("] ")
    steps: list[Say | Do] = []
    expected: dict[str, Any] = {}
    for number, line in lines[1:]:
        try:
            if line.startswith("  "):
                assert isinstance(steps[-1], Say)
                steps[-1] = _with_fact(steps[-1], line.strip())
            elif deed := DEED.fullmatch(line):
                steps.append(Do(**{key: one or "" for key, one in deed.groupdict().items()}))
            elif turn := TURN.fullmatch(line):
                steps.append(_turn(turn))
            else:
                _expect(expected, line)
        except (AssertionError, TypeError, ValueError) as error:
            raise ValueError(f"{file}:{number} is no line of a case: {line!r}") from error
    return Case(name=name, about=about, steps=tuple(steps), **expected)


def _turn(turn: re.Match[str]) -> Say:
    options = _options(turn["options"])
    told = None if options.pop("heard", False) else ()
    return Say(
        on=turn["on"], text=turn["text"], told=told, instead=turn["instead"] or "", **options
    )


def _with_fact(turn: Say, line: str) -> Say:
    facts = turn.told or ()
    if line.startswith("+ "):
        last = facts[-1]
        more = Told(text=last.text, claim=last.claim, also=(*last.also, line[2:]), more=last.more)
        return _replaced(turn, (*facts[:-1], more))
    fact = FACT.fullmatch(line)
    assert fact
    one = Told(text=fact["text"], claim=fact["claim"], more=_options(fact["more"]))
    return _replaced(turn, (*facts, one))


def _replaced(turn: Say, facts: tuple[Told, ...]) -> Say:
    return Say(**{**vars(turn), "told": facts})


def _options(text: str | None) -> dict[str, Any]:
    return dict(_option(one) for one in (text or "").split(", ") if one)


def _option(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    return name, float(value) if name == "confidence" else value or True


def _expect(expected: dict[str, Any], line: str) -> None:
    head, _, rest = f"{line} ".partition(": ")
    name, _, key = head.partition(" ")
    values = tuple(one for one in rest.strip().split(" / ") if one)
    match name:
        case "as" | "known":  # "as of DAY", "known at DAY"
            word, day = key.split()
            days = expected.setdefault(f"{name}_{word}", {})
            days[day] = (*days.get(day, ()), *values)
        case "reviews" | "evidence":  # "NAME NUMBER: what it is the number of"
            expected.setdefault(name, {}).update(dict.fromkeys(values, int(key)))
        case "verdict":  # "verdict VERDICT: new / old"
            expected.setdefault("verdicts", {})[values] = key
        case "one" | "two":
            expected[name] = (*expected.get(name, ()), values)
        case _:
            expected[name] = (*expected.get(name, ()), *values)
