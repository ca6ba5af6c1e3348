"""What memory does with the events of sessions: blocks for what waits, and turns from what was said."""

from __future__ import annotations

import json
import logging
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from langmemory.documents.project import Project
from langmemory.errors import LangMemoryError
from langmemory.nodes.recall import QUERY_MESSAGES, RecallNode
from langmemory.parts.coding.events import WAITS, Event, Program
from langmemory.parts.importing.importing import import_conversations
from langmemory.parts.importing.sessions import (
    Outcomes,
    SessionFormat,
    head_of,
    message_id,
    project_of,
    thread_of,
)
from langmemory.stores import MemoryStore
from langmemory.types import Namespace

if TYPE_CHECKING:
    from langmemory.reflection.local import LocalReflectionExecutor

log = logging.getLogger(__name__)

LAST_SAID: Final = 3
"""Messages of a person, of the last session in a folder, about which a session begins to recall."""
LOOKED_AT: Final = 60
"""So many of the newest turns of a folder they are looked for in."""


@dataclass(kw_only=True, slots=True)
class SessionMemory:
    """A store that takes the events of sessions. What waits is answered at once; a thread of its own does the
    rest, in order."""

    store: MemoryStore
    namespace: Namespace
    outcomes: dict[str, Outcomes] = field(default_factory=dict)
    """By thread, of tools whose calls come with events."""
    read: dict[str, int] = field(default_factory=dict)
    """By transcript: how many bytes of it were read."""
    shortened: set[str] = field(default_factory=set)
    """Threads whose context lacks what was said before."""
    executor: LocalReflectionExecutor | None = None
    prompts: dict[str, deque[str]] = field(default_factory=dict)
    """By thread, what was asked last: a short prompt ("and when?") goes on from it."""
    waiting: SimpleQueue[tuple[Program, Event] | None] = field(default_factory=SimpleQueue)
    worker: Thread = field(init=False)

    def __post_init__(self) -> None:
        self.worker = Thread(target=self._work, daemon=True)
        self.worker.start()

    def take(self, program: Program, name: str, payload: bytes, folder: str) -> str:
        """Take in an event, and return what is to be printed for it.

        Args:
            program: Whose event it is.
            name: What the program calls it.
            payload: JSON.
            folder: Where the hook ran.
        """
        if name not in program.events:
            return ""
        found = json.loads(payload)
        event = program.read(name, found if isinstance(found, dict) else {})
        if event is None:
            return ""
        thread = self.thread(program, event, folder)
        text = ""
        if event.kind in WAITS:
            text = program.say(name, self.block(event, thread, event.folder or folder))
        self.waiting.put((program, event))
        return text

    def thread(self, program: Program, event: Event, folder: str) -> str:
        """Return the thread of a session, as an import of its transcript names it."""
        if program.transcripts and Path(event.transcript).is_file():
            with open(event.transcript, "rb") as file:
                return thread_of(program.transcripts, *head_of(file, program.transcripts))
        return thread_of(program.name, event.session or "session", event.folder or folder)

    def block(self, event: Event, thread: str, folder: str) -> str:
        """Return what a session gets. At its start this is the core, what always holds, and what the last one
        here was about; at a prompt it is what answers it, but nothing of the session, which the model has."""
        begins = event.kind == "start"
        if event.shortened:
            self.shortened.add(thread)
        at_hand = self._project(folder)
        asked: list[AnyMessage] = []
        if event.prompt:
            prompts = self.prompts.setdefault(thread, deque(maxlen=QUERY_MESSAGES))
            prompts.append(event.prompt)
            asked = [HumanMessage(one) for one in prompts]
        if begins:
            asked = self._last_said(thread if event.shortened else None, folder)
        node = RecallNode(
            self.namespace,
            store=self.store,
            viewer=None,
            documents=(at_hand.namespace,) if at_hand else None,
            citations="off",
            filter=None if begins or thread in self.shortened else {"thread_id": {"$ne": thread}},
        )
        configured: RunnableConfig = {}
        if at_hand:
            configured = {"configurable": {"project": at_hand.name}}
        found: Mapping[str, Any] = node.invoke({"messages": asked}, configured)
        parts = [found["core_memory"] if begins else "", found["memory_block"]["text"]]
        return "\n\n".join(filter(None, parts))

    def _project(self, folder: str) -> Project | None:
        """Return the project that a folder is in, the innermost one."""
        inside = (
            one for one in self.store.projects.list() if Path(folder).is_relative_to(one.root)
        )
        return max(inside, key=lambda one: len(one.root), default=None)

    def _last_said(self, thread: str | None, folder: str) -> list[AnyMessage]:
        """Return what a person said last in a folder, or in a thread of it."""
        name = project_of(folder)
        here = {"thread_id": {"$gte": f"{name}@", "$lt": f"{name}A"}, "role": "user"}
        found = self.store.search(self.namespace, filter=here, limit=LOOKED_AT)
        found.sort(key=lambda one: str(one.value["at"]))
        last = thread or (found[-1].value["thread_id"] if found else None)
        said = [str(one.value["content"]) for one in found if one.value["thread_id"] == last]
        return [HumanMessage(one) for one in said[-LAST_SAID:]]

    def _work(self) -> None:
        while (one := self.waiting.get()) is not None:
            try:
                self.remember(*one)
            except (LangMemoryError, OSError, ValueError):
                log.exception("hook_failed program=%s kind=%s", one[0].name, one[1].kind)

    def remember(self, program: Program, event: Event) -> None:
        """Store what an event says, or what the transcript has since, which is reflected when it is quiet."""
        if event.kind == "prompt" and program.transcripts:
            return  # a transcript is read by whole turns: a call of a tool stands before its result
        if program.transcripts and Path(event.transcript).is_file():
            threads = self._read(event.transcript, program.transcripts)
        elif event.messages or event.calls:
            threads = {self._say(program, event)}
        else:
            return
        self._reflect(threads)

    def _read(self, path: str, format: SessionFormat) -> set[str]:
        """Store what a transcript has beyond what was read of it; return its threads."""
        threads: set[str] = set()

        def named(thread: str) -> str:
            threads.add(thread)
            return thread

        with open(path, "rb") as file:
            begun = self.read.get(path, 0)
            if begun > os.fstat(file.fileno()).st_size:  # it was written anew
                begun = 0
            file.seek(begun)
            import_conversations(self.store, self.namespace, file, format, named=named)
            file.seek(begun)
            self.read[path] = (
                begun + file.read().rfind(b"\n") + 1
            )  # the last line may be half written
        return threads

    def _say(self, program: Program, event: Event) -> str:
        thread = self.thread(program, event, "")
        outcomes = self.outcomes.setdefault(thread, Outcomes())
        told = ((one, outcomes.note(one)) for one in event.calls)
        said = [
            *event.messages,
            *({"role": "tool", "name": one.tool, "content": text} for one, text in told if text),
        ]
        messages = [
            {**one, "id": message_id(thread, str(one.get("at") or ""), one["role"], one["content"])}
            for one in said
            if one["content"].strip()
        ]
        self.store.remember(self.namespace, messages, thread_id=thread)
        return thread

    def _reflect(self, threads: set[str]) -> None:
        """Put the reflection of threads into the queue of the store; nobody waits for it."""
        from langmemory.graphs.reflection import build_reflection_graph
        from langmemory.reflection.local import LocalReflectionExecutor

        if self.executor is None:
            self.executor = LocalReflectionExecutor(build_reflection_graph(self.store), self.store)
        for thread in threads:
            self.executor.submit(self.namespace, thread_id=thread)

    def close(self) -> None:
        """Do what waits, and end."""
        self.waiting.put(None)
        self.worker.join()
        if self.executor is not None:
            self.executor.shutdown(wait=False)
