"""langmemory with facts: conversations are remembered and reflected, then turns and facts recalled.

Where the data set has what a real model noted down of each session, a scripted model answers with
that, so that everything behind the model runs as it does with one; elsewhere the rules extract.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from langmemory.errors import LangMemoryError
from langmemory.formation.judging import StructuralJudge
from langmemory.graphs.reflection import build_reflection_graph
from langmemory.operations.gathering import Gathering
from langmemory.parts.evals.corpus import Conversation, Question, Session
from langmemory.parts.evals.ours import MemorySystem, remembered_turns
from langmemory.parts.evals.systems import SearchHit, with_speaker
from langmemory.types import Namespace, RecallResult

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
            model=model if noted else None,
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
