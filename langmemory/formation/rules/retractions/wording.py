"""What a statement says once it is no longer so."""

from __future__ import annotations

import re

from langmemory.formation.rules.retractions.held import Held

_SHOWN_TIME = re.compile(r" \(\d{4}[\d –:-]*\)(?=[.。]?$)")
_ENGLISH = re.compile(
    r"(?P<verb>is|was|are|goes|lives|comes|works|plays|pays|charges|reports|studies|speaks|likes|"
    r"dislikes|prefers|has|"
    r"takes|uses|owns|plans|does|sings|decided|switched|graduated|visited|lived|worked|used|had|wants|"
    r"knows|teaches)"
    r"(?P<rest> .*)"
)
_GERMAN = re.compile(r"(?P<verb>\w+t|ist|hat|mag|heißt|war|reist|plant)(?P<rest> .*)")
_BASE = {
    "is": "is",
    "has": "have",
    "goes": "go",
    "does": "do",
    "studies": "study",
    "teaches": "teach",
}
_PAST = {"decided": "decide", "switched": "switch", "graduated": "graduate", "visited": "visit", "lived":
"live",
         "worked": "work", "used": "use", "had": "have"}  # fmt: skip


def no_longer(held: Held, *, never: bool = False) -> str:
    """The statement of a fact that holds no more, or, of what never held, denied."""
    text = _SHOWN_TIME.sub("", held.text)
    match held.language:
        case "de":
            return _german(text)
        case "es":
            return _spanish(text, never=never)
        case "zh":
            return _chinese(held, text, never=never)
        case _:
            return _english(text, never=never)


def _english(text: str, *, never: bool) -> str:
    text = text.replace(" has an appointment: ", " has the appointment: ")
    for found in re.finditer(r"(?<=\s)(?=\w)", text):
        verb = _ENGLISH.match(text, found.start())
        if verb is None:
            continue
        before, word, rest = text[: found.start()], verb["verb"], verb["rest"]
        if rest.startswith(" not eat or drink "):
            return f"{before}eats or drinks{rest.removeprefix(' not eat or drink')}"
        if rest.startswith(" not like "):
            return f"{before}no longer dislikes{rest.removeprefix(' not like')}"
        if word in ("is", "was", "are"):
            return f"{before}{word} {'not' if never else 'no longer'}{rest}"
        if word == "decided":
            return f"{before}changed the decision{rest.replace(' to ', ' to ', 1)}"
        if word in _PAST:
            return f"{before}did not {_PAST[word]}{rest}"
        if never:
            return f"{before}does not {_BASE.get(word, word.removesuffix('s'))}{rest}"
        return f"{before}no longer {word}{rest}"
    return f"It is {'not' if never else 'no longer'} so: {text}"


def _german(text: str) -> str:
    for found in re.finditer(r"(?<=\s)(?=\w)", text):
        verb = _GERMAN.match(text, found.start())
        if verb is not None:
            rest = verb["rest"]
            stop = rest[-1] if rest[-1] in ".!" else ""
            rest = rest.removesuffix(stop)
            if rest.startswith(" ein") and " ein " in f"{rest} ":
                return f"{text[: found.start()]}{verb['verb']}{rest.replace(' ein', ' kein', 1)} mehr{stop}"
            return f"{text[: found.start()]}{verb['verb']} nicht mehr{rest}{stop}"
    return f"Gilt nicht mehr: {text}"


def _spanish(text: str, *, never: bool) -> str:
    no = "no" if never else "ya no"
    if found := re.match(r"A (\S+) le (\w+): (.*)", text):
        return f"A {found[1]} {no} le {found[2]}: {found[3]}"
    if found := re.match(r"((?:El usuario|\S+)) (vive|trabaja|tiene|es|está|habla|usa|estudia|piensa|"
        r"toca|juega|come|toma|viene|"
                         r"cumple|detesta|odia|prefiere|hace|practica|paga|cobra) (.*)", text):  # fmt: skip
        return f"{found[1]} {no} {found[2]} {found[3]}"
    return f"{'No es así' if never else 'Ya no es así'}: {text}"


def _chinese(held: Held, text: str, *, never: bool) -> str:
    subject = held.claim.subject if not held.mine else held.shown
    if text.startswith(subject):
        return f"{subject}{'不' if never else '不再'}{text[len(subject) :].lstrip()}"
    return f"不再如此：{text}"
