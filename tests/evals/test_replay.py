"""The evaluation with facts: what a model noted down is replayed through reflection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from langmemory.operations.gathering import Gathering
from langmemory.parts.evals import evaluate, load
from langmemory.parts.evals.ours import FactsSystem

SESSIONS: list[dict[str, Any]] = [
    {
        "session": 1,
        "date_time": "2:00 pm on 3 March, 2024",
        "turns": [
            {"id": "D1:1", "speaker": "Ida", "text": "How was the weekend?"},
            {"id": "D1:2", "speaker": "Ole", "text": "We finally did it, she is a tabby!"},
            {"id": "D1:3", "speaker": "Ida", "text": "Congratulations to you both."},
        ],
        "observations": {"Ole": [["Ole adopted a tabby cat with his wife.", "D1:2"]], "Ida": []},
    },
    {
        "session": 2,
        "date_time": "9:15 am on 9 April, 2024",
        "turns": [
            {"id": "D2:1", "speaker": "Ole", "text": "The kiln is on its way."},
            {"id": "D2:2", "speaker": "Ida", "text": "   "},
            {"id": "D2:3", "speaker": "Ida", "text": "Then the vase will be yours."},
        ],
        "observations": {
            "Ole": [["Ole ordered a kiln for his pottery.", "D2:1; D2:3"]],
            "Ida": [["Ida promised something.", "D9:9"]],
        },
    },
]
QUESTIONS = [
    {"question": "Which pet did Ole adopt?", "evidence": ["D1:2"], "category": 4},
    {"question": "What does Ole need for his pottery?", "evidence": ["D2:1"], "category": 4},
]


def corpus(tmp_path: Path) -> Any:
    path = tmp_path / "talk.json"
    sample = {"conversation": "talk", "sessions": SESSIONS, "questions": QUESTIONS}
    path.write_text(json.dumps([sample]))
    return load(path)


def test_notes_become_facts_with_their_evidence(tmp_path: Path) -> None:
    """Each note of a session is a fact resting on the turns it names, by one model call a session;
    what names no turn is left out; a fact that is found counts as its turns."""
    talk = corpus(tmp_path)
    system = FactsSystem()
    (conversation,) = talk.conversations
    system.ingest(conversation)
    namespace = system._keys.namespace("talk")
    with Gathering(system._store).knowledge(namespace) as known:
        facts = [known.by_key(item.key) for item in system._store.search(namespace, limit=50)]
    evidence = {
        fact.memory.text: list(system._keys.found(namespace, fact.evidence, "").turns)
        for fact in facts
        if fact is not None
    }
    assert evidence == {
        "Ole adopted a tabby cat with his wife.": ["D1:2"],
        "Ole ordered a kiln for his pottery.": ["D2:1", "D2:3"],
    }
    assert system.search(talk.questions[0], 3)[0].turns == ("D1:2",)
    system.close()
    report = evaluate(talk, {"with facts": FactsSystem})
    assert report.systems[0].groups[0].metrics["recall@10"].value == 1.0


def test_ten_times_is_once(tmp_path: Path) -> None:
    """Ingesting and reflecting everything ten times adds nothing after the first time."""
    talk = corpus(tmp_path)
    system = FactsSystem()
    (conversation,) = talk.conversations
    system.ingest(conversation)
    namespace = system._keys.namespace("talk")
    before = list(system._store.admin.export(namespace))[1:]
    for _ in range(9):
        for number, session in enumerate(conversation.sessions):
            assert (
                system._store.remember(
                    namespace,
                    [
                        {"role": "user", "content": turn.text, "name": turn.speaker}
                        for turn in session.turns
                    ],
                    thread_id=f"thread{number}",
                    at=session.at,
                )
                == []
            )
        system.reflect(conversation)
    assert list(system._store.admin.export(namespace))[1:] == before
    system.close()
