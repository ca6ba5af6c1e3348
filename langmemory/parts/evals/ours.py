"""langmemory as an evaluated system: `remember`, and `recall` or `search`, as applications do.

With facts, conversations are reflected as well. Where the data set has the notes a real model took of each
session, a scripted model answers with them.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.store.base import PutOp
from typing_extensions import Unpack

from langmemory.config import Config, EngineConfig, RecallConfig, SearchConfig
from langmemory.context import is_injected
from langmemory.errors import LangMemoryError
from langmemory.formation.extraction.extractor import ModelExtractor
from langmemory.formation.judging import StructuralJudge
from langmemory.formation.rules import RuleExtractor
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.nodes import RecallNode
from langmemory.operations.gathering import Gathering
from langmemory.parts.evals.corpus import Conversation, CorpusKind, Question, Session, Turn
from langmemory.parts.evals.systems import Block, SearchHit, TurnKeys, with_speaker
from langmemory.recall.presets import PRESETS, Preset
from langmemory.recall_options import RecallOptions
from langmemory.stores import MemoryStore
from langmemory.types import Granularity, Namespace, Recall, RecallResult, SearchMode

DAY = timedelta(days=1)


class MemorySystem:
    """A `MemoryStore` on a file that is thrown away.

    Dialogues are remembered session by session, each session a thread; documents are put.

    Args:
        kind: what the corpus is made of.
        preset: the recall preset, or the name of one that is built in.
        overrides: preset options to change, by name.
        door: `recall` (default), or `search` as any LangGraph store has it, which takes no preset.
        granularity: what `recall` ranks; sessions are represented by their best turn.
        mode: both arms, or one of them; without vectors nothing is embedded.
        embed: anything an index config may name as `embed`; None takes the embedded model.
    """

    def __init__(
        self,
        *,
        kind: CorpusKind = "dialogue",
        preset: str | Preset = "balanced",
        overrides: Mapping[str, Any] | None = None,
        door: Literal["recall", "search"] = "recall",
        granularity: Granularity = "turn",
        mode: SearchMode = "hybrid",
        embed: Any = None,
    ) -> None:
        self._kind = kind
        whole = PRESETS[preset] if isinstance(preset, str) else preset
        whole = Preset.from_mapping(overrides or {}, base=whole)
        self._preset = whole.name
        self._door = door
        self._granularity = granularity
        self._keys = TurnKeys()
        self._now: dict[str, datetime] = {}
        self._resources = ExitStack()
        folder = self._resources.enter_context(
            tempfile.TemporaryDirectory(prefix="langmemory-eval-")
        )
        config = Config(
            # When a copy in memory is ready is a matter of time, and an evaluation is not.
            database=EngineConfig(vector_copy_bytes=0, word_copy_bytes=0),
            search=SearchConfig(mode=mode),
            recall=RecallConfig(presets={whole.name: whole.model_dump(exclude={"name"})}),
        )
        self._store = _StoreWithDefaults(
            Path(folder) / "memory.db", index=_index(mode, embed), config=config
        )
        self._resources.callback(self._store.close)

    def ingest(self, conversation: Conversation) -> None:
        namespace = self._keys.namespace(conversation.id)
        if self._kind == "documents":
            self._store.batch(
                [
                    PutOp(namespace, self._keys.new(namespace, turn), {"text": turn.text})
                    for turn in conversation.turns
                ]
            )
            return
        for number, session in enumerate(conversation.sessions):
            self._remember(conversation, session, f"thread{number}")
        if times := [session.at for session in conversation.sessions if session.at]:
            # Asked the day after the last session, not on the day this is run.
            self._now[conversation.id] = max(times) + DAY

    def _remember(self, conversation: Conversation, session: Session, thread_id: str) -> None:
        namespace = self._keys.namespace(conversation.id)
        turns = remembered_turns(session)
        keys = self._store.remember(
            namespace, map(_message, turns), thread_id=thread_id, at=session.at
        )
        for key, turn in zip(keys, turns, strict=True):
            self._keys.bind(namespace, key, turn)

    def search(self, question: Question, k: int) -> list[SearchHit]:
        namespace = self._keys.namespace(question.conversation)
        if self._door == "search":
            items = self._store.search(namespace, query=question.text, limit=k)
            return [
                self._keys.found(namespace, [item.key], self._text(item.value)) for item in items
            ]
        return [
            self._keys.found(
                namespace, [one.memory.key], with_speaker(one.speaker, one.text), one.score
            )
            for one in self._recalled(question, k)
        ]

    @property
    def makes_blocks(self) -> bool:
        """Whether it recalls turns of talk."""
        return self._door == "recall" and self._kind == "dialogue" and self._granularity == "turn"

    def block(self, question: Question) -> Block:
        """Return the block that `RecallNode` makes by default for a thread that begins with the question."""
        namespace = self._keys.namespace(question.conversation)
        self._store.defaults = {"now": self._asked_at(question), "preset": self._preset}
        node = RecallNode(namespace, store=self._store, viewer=None, core={})
        messages = [*map(_message, question.before), HumanMessage(question.text)]
        state = node.invoke({"messages": messages})["memory_block"]
        keys = [entry["key"] for entry in state["entries"]]
        return Block(self._turns_of(namespace, keys), state["tokens"])

    def _turns_of(self, namespace: Namespace, keys: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Ids of the turns that each of these memories speaks of."""
        return tuple(self._keys.turns(namespace, [key]) for key in keys)

    def _text(self, value: Mapping[str, Any]) -> str:
        if self._kind == "documents":
            return str(value["text"])
        return with_speaker(value["speaker"], value["content"])

    def _recalled(self, question: Question, k: int) -> Sequence[RecallResult]:
        return self._store.recall(
            question.text,
            self._keys.namespace(question.conversation),
            limit=k,
            preset=self._preset,
            granularity=self._granularity,
            now=self._asked_at(question),
        ).results

    def _asked_at(self, question: Question) -> datetime | None:
        """When the data says, but not before everything was said; else the day after that."""
        after = self._now.get(question.conversation)
        if question.at is None or after is None:
            return question.at or after
        return max(question.at, after - DAY)

    def close(self) -> None:
        self._resources.close()


class _StoreWithDefaults(MemoryStore):
    """A store whose recalls have other defaults than `MemoryStore`'s, for a node that sets none."""

    defaults: RecallOptions = RecallOptions()

    def recall(self, query: str, namespace: Namespace, **options: Unpack[RecallOptions]) -> Recall:
        merged: RecallOptions = {**self.defaults, **options}
        return super().recall(query, namespace, **merged)


def remembered_turns(session: Session) -> list[Turn]:
    """The turns that are remembered: what says nothing, or looks injected, is not."""
    return [one for one in session.turns if one.text.strip() and not is_injected(_message(one))]


def _message(turn: Turn) -> AIMessage | HumanMessage:
    of_role = AIMessage if turn.speaker == "assistant" else HumanMessage
    return of_role(content=turn.text, name=turn.speaker)


def _index(mode: SearchMode, embed: Any) -> dict[str, Any] | Literal[False] | None:
    if mode == "keyword":
        return False
    return {"embed": embed, "fields": ["text"]} if embed else None


WHOLE_SESSION = 1_000_000
"""Tokens of a batch: each session is read at once, as the notes were taken."""


class ReplayModel(BaseChatModel):
    """Answers every question with the notes on one session."""

    answer: str = ""
    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "replay"

    def turn_to(self, session: Session) -> None:
        """From now on it reads this session."""
        number = {
            turn.id: f"t{place}" for place, turn in enumerate(remembered_turns(session), start=1)
        }
        facts = [
            {
                "kind": "fact",
                "claims": [],
                **note.more,
                "text": note.text,
                "evidence": [number[turn] for turn in note.evidence if turn in number],
            }
            for note in session.observations
        ]
        # Notes without a turn they rest on are dropped by whoever reads the answer.
        self.answer = json.dumps({"facts": facts, "summary": {"text": ""}, "core": []})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.calls += 1
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.answer))])


class Notes:
    """People's notes, read as a model's answers are; they need no rules beside them, and are believed."""

    def __init__(self, read: ModelExtractor) -> None:
        self.extract, self.aextract = read.extract, read.aextract


class FactsSystem(MemorySystem):
    """`MemorySystem`, reflecting on each session after remembering it.

    A fact that is found counts as the turns it rests on, in their order, each at a rank of its own:
    a fact with much evidence gains nothing by it.
    """

    def ingest(self, conversation: Conversation) -> None:
        super().ingest(conversation)
        self.reflect(conversation)

    def reflect(self, conversation: Conversation) -> None:
        """Read what has not been read yet.

        Raises:
            LangMemoryError: The model was asked more than once for a session.
        """
        read = self.reader(conversation)
        for number, session in enumerate(conversation.sessions):
            read(number, session)

    def reader(self, conversation: Conversation) -> Callable[[int, Session], None]:
        """Return what reads one remembered session, given its place in the conversation."""
        namespace = self._keys.namespace(conversation.id)
        model = ReplayModel()
        noted = any(session.observations for session in conversation.sessions)
        graph = build_reflection_graph(
            self._store,
            extractor=Notes(ModelExtractor(model)) if noted else RuleExtractor(),
            judge=StructuralJudge(),
            batch_tokens=WHOLE_SESSION,
            journal=False,
        )

        def read(number: int, session: Session) -> None:
            model.turn_to(session)
            before = model.calls
            graph.invoke({"namespace": list(namespace), "thread_id": f"thread{number}"})
            if model.calls > before + 1:
                raise LangMemoryError(
                    f"{model.calls - before} model calls for a session: at most one is allowed."
                )

        return read

    def search(self, question: Question, k: int) -> list[SearchHit]:
        namespace = self._keys.namespace(question.conversation)
        return self._found(namespace, self._recalled(question, k))

    def _found(self, namespace: Namespace, results: Sequence[RecallResult]) -> list[SearchHit]:
        found = []
        with Gathering(self._store).knowledge(namespace) as known:
            for one in results:
                fact = known.by_key(one.memory.key)
                keys = (one.memory.key,) if fact is None else fact.evidence
                text = with_speaker(one.speaker, one.text) if fact is None else one.text
                found.append(self._keys.found(namespace, keys, text, one.score))
        return found

    def _turns_of(self, namespace: Namespace, keys: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        with Gathering(self._store).knowledge(namespace) as known:
            facts = [known.by_key(key) for key in keys]
        return tuple(
            self._keys.turns(namespace, [key] if fact is None else fact.evidence)
            for key, fact in zip(keys, facts, strict=True)
        )
