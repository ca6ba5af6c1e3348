"""A model's proposals of changes to an application's memories: the question and its answer."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any, Literal

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, ValidationError, create_model

from langmemory.context.marking import quoted_lines
from langmemory.formation.asking.asker import Question
from langmemory.formation.asking.json_answers import BadAnswerError, decode_nested, json_object
from langmemory.formation.prompts import prompt
from langmemory.parts.langmem.schemas import ExistingMemory, Schema
from langmemory.values import whole_characters

Action = Literal["insert", "update", "delete"]
_ACTIONS: Mapping[str, Action] = {
    "insert": "insert", "create": "insert", "add": "insert", "update": "update",
    "patch": "update", "replace": "update", "delete": "delete", "remove": "delete",
}  # fmt: skip
_EXPLAINED: Mapping[Action, str] = {
    "insert": "- insert: a new memory, with its kind and content.",
    "update": "- update: a memory whose id is given gets this content; fields left out or null stay. A "
    "list replaces the one before, so it repeats what stays in it.",
    "delete": "- delete: a memory whose id is given is wrong or outdated and is removed.",
}
_FORMS: Mapping[Action, str] = {
    "insert": '{"action": "insert", "kind": "…", "content": {…}}',
    "update": '{"action": "update", "id": "m1", "kind": "…", "content": {…}}',
    "delete": '{"action": "delete", "id": "m1"}',
}
_FIELDS = frozenset({"action", "id", "kind", "content", "clear"})
"""Of a change."""
# Where a field may be empty:
_CLEARING = _EXPLAINED["update"] + " A field that is no longer so is named in clear."
_CLEARING_FORM = '{"action": "update", "id": "m1", "kind": "…", "content": {…}, "clear": []}'


@dataclass(frozen=True, kw_only=True, slots=True)
class Permits:
    """The actions a model may take."""

    insert: bool = True
    update: bool = True
    delete: bool = False

    def actions(self, known: Sequence[ExistingMemory]) -> tuple[Action, ...]:
        """The actions that make sense. The first memory may always be made: a profile that is only
        ever updated has to begin."""
        if not known:
            return ("insert",)
        wanted: tuple[tuple[Action, bool], ...] = (
            ("insert", self.insert), ("update", self.update), ("delete", self.delete),
        )  # fmt: skip
        return tuple(action for action, permitted in wanted if permitted)


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """The changes that a model wants."""

    written: Mapping[str, BaseModel] = field(default_factory=dict)
    """By id; those with an id that is not known are new."""
    removed: tuple[str, ...] = ()


class Proposals:
    """Asks for changes to memories of these schemas, and reads them."""

    __slots__ = ("_clears", "_instructions", "_permits", "_schemas")

    def __init__(
        self, schemas: Mapping[str, Schema], *, instructions: str, permits: Permits
    ) -> None:
        self._schemas = schemas
        self._instructions = instructions
        self._permits = permits
        fields = (one for each in schemas.values() for one in each.model_fields.values())
        self._clears = not all(one.is_required() for one in fields)

    def question(self, talk: str, known: Sequence[ExistingMemory]) -> Question[Changes] | None:
        """Return the question about a conversation; None where nothing may be changed."""
        actions = self._permits.actions(known)
        if not actions:
            return None
        ids = {f"m{number}": one for number, one in enumerate(known, 1)}
        explained, forms = dict(_EXPLAINED), dict(_FORMS)
        if self._clears:
            explained["update"], forms["update"] = _CLEARING, _CLEARING_FORM
        system = Template(prompt("manage")).substitute(
            instructions=self._instructions,
            actions="\n".join(explained[action] for action in actions),
            kinds="\n".join(_described(schema) for schema in self._schemas.values()),
            forms=", ".join(forms[action] for action in actions),
        )
        shown = "\n\n".join(_shown(id, one) for id, one in ids.items())
        human = f"# Memories\n\n{shown or '(none yet)'}\n\n# Conversation\n\n{talk or '(none)'}"
        return Question(
            messages=(SystemMessage(system), HumanMessage(human)),
            read=lambda raw: self._read(raw, ids, actions),
        )

    def schema(self, known: Sequence[ExistingMemory]) -> dict[str, Any]:
        """JSON schema of the answer."""
        actions = self._permits.actions(known)
        forms: list[Any] = []
        for action in actions:
            fields: dict[str, Any] = {"action": (Literal[action], ...)}
            if action != "insert":
                fields["id"] = (str, ...)
            if action == "delete":
                forms.append(create_model("Delete", **fields))
                continue
            for name, schema in self._schemas.items():
                typed = {**fields, "kind": (Literal[name], ...), "content": (schema, ...)}
                if action == "update" and self._clears:
                    typed["clear"] = (list[str], [])
                forms.append(create_model(f"{action.title()}{name}", **typed))
        union: Any = forms[0] if forms else BaseModel
        for form in forms[1:]:
            union = union | form
        changes: Any = create_model("Changes", changes=(list[union], ...))
        schema_of_all: dict[str, Any] = changes.model_json_schema()
        return schema_of_all

    def _read(
        self, raw: str, ids: Mapping[str, ExistingMemory], actions: Sequence[Action]
    ) -> Changes:
        """Raises `BadAnswerError` if a change cannot be made: half a plan is not carried out."""
        written: dict[str, BaseModel] = {}
        removed: dict[str, None] = {}
        found = json_object(raw, field="changes", entry="action")
        if found.cut:
            raise BadAnswerError("it breaks off. Write fewer or shorter changes")
        for entry in found.value["changes"]:
            if not isinstance(entry, Mapping):
                raise BadAnswerError("a change is not an object")
            old = ids.get(_id(entry.get("id")))
            word = str(entry.get("action") or ("insert" if old is None else "update"))
            action = _ACTIONS.get(word.strip().lower())
            if action not in actions:
                raise BadAnswerError(f"only these actions are possible: {', '.join(actions)}")
            if action != "insert" and old is None:
                raise BadAnswerError(f"{action} needs the id of a memory: {', '.join(ids)}")
            if action == "delete" and old is not None:
                removed[old.id] = None
                continue
            if old is not None and action == "update" and old.id in written:  # twice in one answer
                so_far = written[old.id]
                old = ExistingMemory(id=old.id, kind=type(so_far).__name__, content=so_far)
            content = self._content(entry, old if action == "update" else None)
            if action == "insert" or old is None:
                if content in written.values():
                    continue
                alone = not self._permits.insert
                if alone and any(type(each) is type(content) for each in written.values()):
                    raise BadAnswerError("there is to be one memory of each kind")
                written[str(uuid.uuid4())] = content
            elif content.model_dump(mode="json") != old.plain:
                written[old.id] = content
        if not removed.keys().isdisjoint(written):
            raise BadAnswerError("one memory is both updated and deleted")
        return Changes(written=written, removed=tuple(removed))

    def _content(self, entry: Mapping[str, Any], old: ExistingMemory | None) -> BaseModel:
        """The memory of an entry, over what was there before."""
        default = old.kind if old is not None else next(iter(self._schemas))
        kind = str(entry.get("kind") or default)
        named = {name.casefold(): each for name, each in self._schemas.items()}
        schema = self._schemas.get(kind) or named.get(kind.strip().casefold())
        if schema is None:
            raise BadAnswerError(f"the kinds are: {', '.join(self._schemas)}")
        content = _content_of(entry, schema)
        if isinstance(content, str) and list(schema.model_fields) == ["content"]:
            content = {"content": content}
        if not isinstance(content, Mapping):
            raise BadAnswerError("the content of a change is not an object")
        before = old.plain if old is not None and old.kind == schema.__name__ else None
        whole = _completed(before if isinstance(before, Mapping) else None, _as_written(content))
        cleared = entry.get("clear")
        for name in cleared if isinstance(cleared, list) and before is not None else ():
            whole.pop(str(name), None)
        try:
            return schema.model_validate(whole)
        except ValidationError as error:
            raise BadAnswerError(problems(error, kind)) from error


def problems(error: ValidationError, *path: str) -> str:
    """Return the errors of content, as a model is told."""
    return "; ".join(
        f"{'.'.join((*path, *map(str, each['loc'])))}: {each['msg']}"
        for each in error.errors(include_input=False, include_url=False)
    )[:500]


def _content_of(entry: Mapping[str, Any], schema: Schema) -> Any:
    """The content of an entry, also where it is JSON in a string, or its fields stand beside the action."""
    content = entry.get("content")
    if content is None:
        fields = schema.model_fields.keys() - _FIELDS
        return {name: entry[name] for name in fields & entry.keys()} or None
    inner = decode_nested(content)
    fits = isinstance(inner, Mapping) and not schema.model_fields.keys().isdisjoint(inner)
    return inner if fits else content


def _completed(before: Mapping[str, Any] | None, content: Mapping[str, Any]) -> dict[str, Any]:
    """Content over what was there. Null takes nothing away: models fill in what they do not know."""
    if before is None:
        return dict(content)
    return {**before, **{name: value for name, value in content.items() if value is not None}}


def _shown(id: str, one: ExistingMemory) -> str:
    content = json.dumps(one.plain, ensure_ascii=False)
    # A word in front: a line that begins with a name and a colon would be escaped as a role.
    return "\n".join([f"[{id}] {one.kind}", *quoted_lines(f"content {content}")])


def _described(schema: Schema) -> str:
    return f"Kind {schema.__name__}: {json.dumps(schema.model_json_schema(), ensure_ascii=False)}"


def _id(value: Any) -> str:
    """``m1`` of "m1", "[m1]", 1."""
    number = re.search(r"(?<!\d)\d{1,6}(?!\d)", str(value if value is not None else ""))
    return f"m{int(number[0])}" if number else ""


def _as_written(value: Any) -> Any:
    """Content without the escapes of the prompt it was copied from, and without half surrogate pairs,
    as small models write for an emoji: no store keeps them."""
    if isinstance(value, str):
        return whole_characters(value).replace("&lt;", "<")
    if isinstance(value, Mapping):
        return {key: _as_written(each) for key, each in value.items()}
    return [_as_written(each) for each in value] if isinstance(value, list) else value
