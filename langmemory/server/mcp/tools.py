"""Tools: six with which a model uses memory, the two that ChatGPT's deep research asks for, and those that
derive from declared operations. Those for agents are in the part `team`, those for projects in
`project_tools`.

A model chooses what to look for and what to say, never whose memory it is: namespace and viewer are those
of the token, or of the command that serves stdio.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from time import time
from typing import Annotated, Any, Final, Literal, TypeAlias, get_type_hints

from langgraph.store.base import Item
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from langmemory.citing import note_id
from langmemory.context.disclosure import DisclosureBudget, disclose
from langmemory.context.marking import one_line, quoted_lines
from langmemory.context.notes import note_of
from langmemory.context.render import full
from langmemory.context.render import timeline as timeline_of
from langmemory.declaring import Operation, operations_of
from langmemory.declaring.fields import Fields, Id
from langmemory.documents.project import namespace_of
from langmemory.documents.projects import ProjectName
from langmemory.errors import InvalidValueError
from langmemory.hooks import parts
from langmemory.messages import turn_key
from langmemory.nodes.access import count_marks, count_shown
from langmemory.nodes.lookup import evidence_of, find, read_memory, said_around
from langmemory.operations.conversing import conversing_of
from langmemory.pluralize import memories as counted_memories
from langmemory.server.access import RANK, Access
from langmemory.server.api.admin import confirmation_of, is_confirmed
from langmemory.server.derived import perform
from langmemory.server.mcp.answers import (
    Answer,
    Document,
    ForgetResult,
    FoundMemories,
    Hits,
    MemoryInFull,
    OpenQuestion,
    Questions,
    SeenMemory,
    SeenTimeline,
    Stored,
    count_more,
    fenced,
    hit_of,
    listed,
)
from langmemory.server.priorities import give
from langmemory.server.problems import Problem
from langmemory.server.projects import reached, reached_projects
from langmemory.stores import MemoryStore
from langmemory.types import Kind, Memory, Namespace, Priority, Recall, TokenScope, Trust
from langmemory.wire import SchemaOfFields, plain

PIECE = 20
"""So many texts are stored at a time, with word to the client after each."""
ASSISTANT: Final = "assistant"
"""Who says what a client remembers that is no agent by name."""
FETCHED_TOKENS = 20_000
REVIEWS = 50
WORDS: Final = {
    "memories": "further memories",
    "history": "records of changes",
    "edges": "connections",
    "entities": "people and things",
    "reviews": "open questions",
    "notes": "notes of runs and jobs",
}
"""What goes with a memory, as `Forgotten` counts it."""
"""So many open questions are shown at a time."""

Progress: TypeAlias = Callable[[float, float, str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What a tool works with."""

    access: Access
    progress: Progress
    forgot: Callable[[], None]
    """To be called when memories were forgotten: kept answers may quote them."""


Reply: TypeAlias = tuple[str, Answer]
"""Text for the model, and the same for programs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One tool."""

    work: Callable[[Turn, Any], Awaitable[Reply]]
    arguments: type[BaseModel]
    answer: type[Answer]
    title: str
    scope: TokenScope
    hints: dict[str, bool]
    for_agents: bool
    """Whether it is there only for a client that is an agent on the bus."""
    for_projects: bool
    """Whether it is there only where there are projects."""

    @property
    def name(self) -> str:
        """By which it is called."""
        return self.work.__name__

    def described(self) -> dict[str, Any]:
        """Return it as ``tools/list`` has it."""
        taken, given = _schemas(self.arguments, self.answer)
        return {
            "name": self.name,
            "title": self.title,
            "description": " ".join((self.work.__doc__ or "").split()),
            "inputSchema": taken,
            "outputSchema": given,
            "annotations": {"title": self.title, "openWorldHint": False, **self.hints},
        }


@cache
def _schemas(arguments: type[BaseModel], answer: type[Answer]) -> tuple[Any, Any]:
    """Return the schemas of arguments and answers, which take milliseconds to make. They are not changed."""
    taken = arguments.model_json_schema(schema_generator=SchemaOfFields)
    given = answer.model_json_schema(mode="serialization", schema_generator=SchemaOfFields)
    return _untitled(taken), _untitled(given)


def _untitled(schema: Any) -> Any:
    """Return a schema without the titles that pydantic makes of names: a model reads each in its prompt."""
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _untitled(value)
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str))
    }


TOOLS: Final[dict[str, Tool]] = {}
READS: Final = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}


def tool(
    title: str,
    answer: type[Answer],
    *,
    scope: TokenScope = "read",
    for_agents: bool = False,
    for_projects: bool = False,
    **hints: bool,
) -> Callable[[Callable[[Turn, Any], Awaitable[Reply]]], None]:
    """Declare a tool; without hints it only reads."""

    def declare(work: Callable[[Turn, Any], Awaitable[Reply]]) -> None:
        TOOLS[work.__name__] = Tool(
            work=work,
            arguments=get_type_hints(work)["given"],
            answer=answer,
            title=title,
            scope=scope,
            hints={"readOnlyHint": False, **hints} if hints else READS,
            for_agents=for_agents,
            for_projects=for_projects,
        )

    return declare


def all_tools(*, agents: bool = True) -> dict[str, Tool]:
    """Return the tools there are, by name: those made by hand, and those that derive from operations. Without
    ``agents`` those for agents may be missing."""
    for part in parts() if agents else ():
        for module in part.agent_tools:
            import_module(module)  # declares its tools
    return TOOLS | derived_tools()


def tool_named(name: str) -> Tool | None:
    """Return a tool by its name; None where there is none."""
    return all_tools(agents=False).get(name) or all_tools().get(name)


def reachable(access: Access) -> list[Tool]:
    """Return the tools that a token may use, and has a use for."""
    grant = access.grant
    has_projects = grant.viewer is None and bool(reached_projects(access))
    return [
        one
        for one in all_tools(agents=grant.agent is not None).values()
        if RANK[grant.scope] >= RANK[one.scope]
        and (grant.agent is not None or not one.for_agents)
        and (has_projects or not one.for_projects)
    ]


class Arguments(Fields):
    """The base of arguments. Their description in the schema is the tool's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _with_zone(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _several(given: Any) -> Any:
    """Return a list where one was meant: some models send one item, or the list as text."""
    if not isinstance(given, str):
        return given
    try:
        read = json.loads(given)
    except ValueError:
        read = None
    return read if isinstance(read, list) else [given]


Time = Annotated[datetime | None, AfterValidator(lambda at: at and _with_zone(at))]
Query = Annotated[str, Field(min_length=1, max_length=20_000)]


class RecallArguments(Arguments):
    query: Query
    """A question, or what you want to know about, in any language."""
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    since: Time = None
    """Only what was said, or became true, from this day or time on, such as 2026-03-31."""
    until: Time = None
    """Only what was said, or became true, before it."""
    as_of: Time = None
    """Only what was true in the world at this time."""
    kinds: Annotated[list[Kind] | None, BeforeValidator(_several)] = None
    """Only these, such as episodic (what was said) or semantic (facts); all without it."""
    trust: Trust | None = None
    """Only what comes from this source or one that is trusted more: person, agent, import, document, tool."""
    project: ProjectName | None = None
    """Also the documents of this project; without it, those of the projects at hand."""
    min_score: Annotated[float, Field(ge=0, le=1)] | Literal["auto"] = "auto"
    """Only what is at least so likely part of the answer, such as 0.2; 0 shows whatever is found, "auto" what
    probably answers the query."""


@tool("Search memory", FoundMemories)
async def recall(turn: Turn, given: RecallArguments) -> Reply:
    """Search long-term memory for what people said, decided and prefer, in earlier conversations too. Use it
    when a task begins, and before you ask a person for something they may have told already."""
    asked = given.model_dump(exclude={"query", "project"}, exclude_unset=True)
    asked["min_score"] = given.min_score
    asked["documents"] = await run_in_threadpool(documents_of, turn.access, given.project)
    found = await turn.access.store.arecall(given.query, turn.access.place(), **asked)
    always = await run_in_threadpool(mandates_beside, turn.access, found)
    text, seen = (
        listed([*always, *found.results], given.query) if always or found.results else ("", [])
    )
    count_shown(turn.access.store, [*found.results, *always])
    if not found.results:
        nothing = "Nothing is remembered about that. Try other words, fewer limits, or min_score 0."
        text = f"{text}\n{nothing}".strip()
    return text, FoundMemories(memories=seen)


def mandates_beside(access: Access, found: Recall) -> list[Memory]:
    """Return the mandates of a place that a recall did not find, as many as a memory block has room for: for
    many a client the answers of this tool are all that it reads of memory."""
    conversing = conversing_of(access.store)
    mandates = [] if conversing is None else conversing.mandates(access.place())
    block = disclose(mandates, budget=DisclosureBudget(guardrails=0, references=0))
    known = {(one.memory.namespace, one.memory.key) for one in found}
    fitting = {(one.namespace, one.key) for one in block.entries} - known
    return [one for one in mandates if (one.namespace, one.key) in fitting]


def documents_of(access: Access, project: str | None = None) -> list[Namespace] | None:
    """Return where the documents of a project are, or of those at hand; None where there is none."""
    names = access.grant.projects if project is None else (project,)
    return [reached(access, one, lists="list_projects").namespace for one in names] or None


class RememberArguments(Arguments):
    texts: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=20_000)]],
        Field(min_length=1, max_length=200),
        BeforeValidator(_several),
    ]
    """Statements, each to be understood by itself: names instead of "he", days instead of "tomorrow"."""
    speaker: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Who said it, as a name, where you quote somebody; without it, you say so."""
    private: bool = False
    """Keep it from everybody else who shares this memory."""
    at: Time = None
    """When it was said; now without it."""
    priority: Priority | None = None
    """How it is shown: "guardrail" where it applies, "archive" only to a search, "mandate" in every prompt,
    of which a person may be asked first."""


@tool(
    "Remember", Stored, scope="write", destructiveHint=False, idempotentHint=True
)  # the same text on one day is stored once
async def remember(turn: Turn, given: RememberArguments) -> Reply:
    """Store in long-term memory, word for word, what will matter in later conversations: preferences,
    decisions and their reasons, facts about people and work, whatever somebody asks you to remember. What is
    known already is not stored twice. No passwords or keys."""
    access = turn.access
    place, at = access.place(exact=True), given.at or datetime.now(UTC)
    thread = f"mcp-{_conversing(access)}-{at:%Y-%m-%d}"
    speaker = given.speaker or access.grant.agent or ASSISTANT
    keys: list[str] = []
    redacted: dict[str, int] = {}
    asked = 0
    for first in range(0, len(given.texts), PIECE):
        texts = given.texts[first : first + PIECE]
        await turn.progress(first, len(given.texts), "Storing")
        messages = {
            hashlib.sha256(
                "\0".join((thread, given.speaker or "", str(given.private), text)).encode()
            ).hexdigest()[:32]: text
            for text in texts
        }
        done = await access.store.aremember(
            place,
            [
                {"role": "user", "content": text, "name": speaker, "id": id, "trust": "agent"}
                for id, text in messages.items()
            ],
            thread_id=thread,
            at=at,
            privacy="private" if given.private else "shared",
        )
        keys += done
        if given.priority is not None:  # also of what is known already
            for id in messages:
                asked += await give(access, place, turn_key(thread, id), given.priority)
        for kind, count in done.redacted.items():
            redacted[kind] = redacted.get(kind, 0) + count
    await turn.progress(len(given.texts), len(given.texts), "Stored")
    ids = [f"R:{note_id(place, key)}" for key in keys]
    said = f"Remembered {counted_memories(len(ids))}: {', '.join(ids)}." if ids else ""
    if len(ids) < len(given.texts):
        missing = len(given.texts) - len(ids)
        said += f" {missing} not stored: known already, forgotten for good today, or empty."
    if redacted:
        said += f" Credentials were replaced before storing: {count_more(redacted)}."
    if asked:
        said += f" A person is asked whether {counted_memories(asked)} may stand in every prompt."
    return said.strip(), Stored(ids=ids, redacted=redacted)


def _conversing(access: Access) -> str:
    """Return who stores, as it stands in the id of a conversation: a token of the application acts on behalf
    of several, and what one of them says in private is not to be known already where another says it."""
    grant = access.grant
    if grant.viewer is None:
        return grant.id
    return f"{grant.id}-{hashlib.sha256(grant.viewer.encode()).hexdigest()[:8]}"


MemoryId = Annotated[str, Field(min_length=1, max_length=1_000)]


class IdArguments(Arguments):
    id: MemoryId
    """As it was shown, such as R:1a2b3c4d."""


@tool("Read a memory", MemoryInFull)
async def get_memory(turn: Turn, given: IdArguments) -> Reply:
    """Read one memory in full, with the messages it rests on. `recall` cuts long ones short."""

    def read() -> Reply:
        item = found(turn.access, given.id)
        store, viewer = turn.access.store, turn.access.grant.viewer
        memory = read_memory(store, item)
        count_marks(store, [memory], "referenced")
        evidence = [read_memory(store, one) for one in evidence_of(store, item, viewer)]
        answer = MemoryInFull(
            memory=SeenMemory.of(note_of(memory)),
            evidence=[SeenMemory.of(note_of(one)) for one in evidence],
        )
        return fenced([full(memory, evidence).text]), answer

    return await run_in_threadpool(read)


class TimelineArguments(IdArguments):
    around: Annotated[int, Field(ge=1, le=50)] = 5
    """Messages before it, and after it."""


@tool("See what was said around a memory", SeenTimeline)
async def timeline(turn: Turn, given: TimelineArguments) -> Reply:
    """See what was said right before and after a memory, oldest first, such as what a "yes" answered."""

    def look() -> Reply:
        store, viewer = turn.access.store, turn.access.grant.viewer
        item = found(turn.access, given.id)
        turns, place = said_around(store, item, given.id, viewer, given.around)
        _, seen = listed([{**one, "kind": "episodic"} for one in turns])
        text = fenced([timeline_of(turns[place], turns).text])
        return text, SeenTimeline(id=note_of(turns[place]).label, memories=seen)

    return await run_in_threadpool(look)


class ForgetArguments(Arguments):
    ids: Annotated[list[MemoryId], Field(min_length=1, max_length=100), BeforeValidator(_several)]
    """As they were shown, such as R:1a2b3c4d."""
    confirmation: Annotated[str, Field(max_length=200)] | None = None
    """What the dry run answered, once the person has agreed. Without it, this is the dry run."""


@tool("Forget", ForgetResult, scope="write", destructiveHint=True, idempotentHint=False)
async def forget(turn: Turn, given: ForgetArguments) -> Reply:
    """Forget memories that a person wants to be forgotten. The first call is a dry run: it shows what would
    go, and changes nothing. Show it to the person; with their consent call again with the confirmation."""
    access, done = turn.access, given.confirmation is not None
    if given.confirmation is not None and not is_confirmed(access, given, given.confirmation):
        raise Problem(
            "not-confirmed",
            "This confirmation is of other ids, or older than ten minutes. Call forget without it, and look "
            "at what would go.",
        )
    await turn.progress(0, 2, "Looking up")
    items = await run_in_threadpool(lambda: [own(access, id) for id in given.ids])
    text, seen = listed(
        await run_in_threadpool(lambda: [read_memory(access.store, one) for one in items])
    )
    await turn.progress(1, 2, "Forgetting" if done else "Counting")
    for_good, run_ids, also = await run_in_threadpool(_forgotten, access, items, dry_run=not done)
    if done:
        turn.forgot()
    await turn.progress(2, 2, "Done")
    answer = ForgetResult(
        done=done,
        for_good=for_good,
        memories=seen,
        also=also,
        confirmation=None if done else confirmation_of(access, given, int(time())),
        run_ids=run_ids,
    )
    counts = {WORDS[word]: number for word, number in also.items()}
    more = f" With them: {count_more(counts)}." if any(counts.values()) else ""
    how = "It cannot be undone." if for_good else "The application can undo it."
    count = counted_memories(len(items))
    if done:
        return f"Forgotten: {count} (run {', '.join(run_ids)}).{more} {how}", answer
    return (
        f"Nothing was changed yet. This would be forgotten: {count}.{more} {how}\n{text}\nIf the person "
        f"agrees, call forget with the same ids and confirmation {answer.confirmation}",
        answer,
    )


def _forgotten(
    access: Access, items: list[Item], *, dry_run: bool
) -> tuple[bool, list[str], dict[str, int]]:
    """Forget for good, where the token may do that; else take the memories out, in runs that can be undone.
    Return which it was, the runs, and what else went."""
    store = access.store
    runs: list[str] = []
    also: dict[str, int] = {}
    if not (isinstance(store, MemoryStore) and access.grant.scope == "admin"):
        if not dry_run:
            runs = [
                store.changes.remove(one.namespace, one.key, reason="forgotten over MCP").run_id
                for one in items
            ]
        return False, runs, also
    keys: dict[tuple[str, ...], list[str]] = {}
    for one in items:
        keys.setdefault(tuple(one.namespace), []).append(one.key)
    for namespace, of_it in keys.items():
        gone = store.forget(namespace, keys=of_it, dry_run=dry_run)
        if not dry_run:
            runs.append(gone.run_id)
        for word in WORDS:
            count = len(set(of_it)) if word == "memories" else 0
            also[word] = also.get(word, 0) + getattr(gone, word) - count
    return True, runs, also


class ReviewArguments(Arguments):
    id: Id | None = None
    """Of the question; without it, the open ones are listed."""
    option: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    """The option that the person chose; without it, the question is only shown."""


@tool("Answer what memory asks", Questions, scope="write", destructiveHint=False)
async def review(turn: Turn, given: ReviewArguments) -> Reply:
    """List the questions that memory has for a person, such as which of two contradicting facts is true;
    or, with an id and an option, decide one as the person said."""

    def work() -> Reply:
        access = turn.access
        if given.option is not None:
            if given.id is None:
                raise Problem("invalid", "An option decides one question: give its id, too.")
            done = perform(
                access, "changes", "decide", review_id=given.id, option=given.option, by="mcp"
            )
            text = f"Decided {given.id}: {given.option} (run {done.run_id})."
            return text, Questions(open=[], decided=given.id, run_id=done.run_id)
        place = access.place()
        found = sorted(access.store.changes.reviews(place), key=lambda one: one.opened_at)
        if given.id is not None:
            found = [one for one in found if one.id == given.id]
            if not found:
                raise Problem("not-found", f"There is no open question {given.id!r}.")
        if not found:
            return "There are no open questions.", Questions(open=[])
        shown = [OpenQuestion.of(one) for one in found[:REVIEWS]]
        lines = [
            f"{one.id} ({one.about}, {one.opened_at:%Y-%m-%d}): {one.question} "
            f"Options: {', '.join(one.options)}."
            for one in shown
        ]
        if len(found) > len(shown):
            lines.append(f"{len(found) - len(shown)} more")
        return fenced(lines), Questions(open=shown)

    return await run_in_threadpool(work)


class SearchArguments(Arguments):
    query: Query
    """What to look for."""


@tool("Search memory (deep research)", Hits)
async def search(turn: Turn, given: SearchArguments) -> Reply:
    """Search memory and return ids, titles and addresses, for `fetch`; made for deep research. Others use
    `recall`, which shows the memories themselves."""
    documents = await run_in_threadpool(documents_of, turn.access)
    place = turn.access.place()
    found = await turn.access.store.arecall(given.query, place, documents=documents)
    count_shown(turn.access.store, found.results)
    hits = Hits(results=[hit_of(one) for one in found.results])
    return hits.model_dump_json(), hits


@tool("Fetch a memory (deep research)", Document)
async def fetch(turn: Turn, given: IdArguments) -> Reply:
    """Return one memory in full, by an id that `search` returned; made for deep research."""

    def read() -> Reply:
        document = document_of(turn.access, given.id)
        return document.model_dump_json(), document

    return await run_in_threadpool(read)


def document_of(access: Access, id: str) -> Document:
    """Return one memory in full, escaped, with its evidence."""
    item = found(access, id)
    memory = read_memory(access.store, item)
    count_marks(access.store, [memory], "referenced")
    evidence = evidence_of(access.store, item, access.grant.viewer)
    note = note_of(memory)
    seen = SeenMemory.of(note)
    return Document(
        **hit_of(item).model_dump(),
        text=full(memory, evidence, max_tokens=FETCHED_TOKENS).text,
        metadata={
            name: str(value)
            for name, value in {
                "id": seen.id,
                "kind": seen.kind,
                "who": seen.who,
                "at": seen.at and seen.at.isoformat(),
                "validity": seen.validity,
            }.items()
            if value
        },
    )


def found(access: Access, id: str) -> Item:
    """Return the memory that a model means by an id, or the part of a document of the projects at hand."""
    try:
        return own(access, id)
    except InvalidValueError:
        for name in access.grant.projects:
            place = namespace_of(name)
            with suppress(InvalidValueError):
                return find(access.store, place, id, access.grant.viewer, None)
        raise


def own(access: Access, id: str) -> Item:
    """Return the memory that a model means by an id, where the client works."""
    return find(access.store, access.place(), id, access.grant.viewer, None)


class OperationAnswer(Answer):
    """What an operation returned, with all texts escaped."""

    answer: Any


def derived_tools() -> dict[str, Tool]:
    """Return the tools by name."""
    return {one.id: _tool(one) for one in operations_of() if one.declared.for_models}


@cache
def _tool(operation: Operation) -> Tool:
    model = operation.parameters_model

    async def work(turn: Turn, given: Any) -> Reply:
        arguments = {name: getattr(given, name) for name in given.model_fields_set}
        found = await run_in_threadpool(
            perform, turn.access, operation.room.name, operation.name, **arguments
        )
        value = _escaped(plain(list(found) if isinstance(found, tuple) else found))
        text = "\n".join(quoted_lines(_lines(value)))
        return text, OperationAnswer(answer=value)

    work.__name__, work.__doc__ = operation.id, operation.description
    reads = operation.declared.scope == "read"
    return Tool(
        work=work, arguments=model, answer=OperationAnswer, title=operation.description.partition(".")[0],
        scope=operation.declared.scope, for_agents=operation.room.agent is not None, for_projects=False,
        hints=READS if reads else {"readOnlyHint": False, "destructiveHint": False},
    )  # fmt: skip


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, list):
        return [_escaped(one) for one in value]
    return (
        {name: _escaped(one) for name, one in value.items()} if isinstance(value, dict) else value
    )


def _lines(value: Any) -> str:
    """Return a value as lines of names and values, one line for each item of a list."""
    if isinstance(value, dict):
        return "; ".join(
            f"{name}: {_lines(one)}" for name, one in value.items() if one not in (None, "", [])
        )
    if isinstance(value, list):
        return "\n".join(map(_lines, value)) or "nothing"
    return str(value)
