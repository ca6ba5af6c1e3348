"""Examples: one body for each operation that takes one, as the documentation shows it."""

from __future__ import annotations

from typing import Any, Final

_PLACE: Final = ["memories", "maria"]
_TEAM: Final = ["team", "shop"]
_TALK: Final = [
    {"role": "user", "content": "My sister Anna lives in Lisbon.", "id": "m1"},
    {"role": "assistant", "content": "Shall I look for flights to Lisbon?", "id": "m2"},
]
_QUESTION: Final = {"query": "Where does my sister live?", "namespace": _PLACE, "limit": 5}

BODIES: Final[dict[str, dict[str, Any]]] = {
    "procedures_add": {
        "namespace": _PLACE, "task": "deploy the website", "steps": ["run the tests", "push"],
    },
    "procedures_record_outcome": {
        "namespace": _PLACE, "key": "procedure/fe3b932f2940448b", "outcome": "succeeded",
    },
    "recall": {**_QUESTION, "explain": True},
    "remember": {"namespace": _PLACE, "thread_id": "t1", "messages": _TALK},
    "why_not": {"recall": _QUESTION, "key": "sister"},
    "search_episodic": _QUESTION,
    "search_semantic": _QUESTION,
    "add_episodic": {"namespace": _PLACE, "thread_id": "calendar", "text": "Lunch with Anna."},
    "add_semantic": {
        "namespace": _PLACE, "key": "sister",
        "value": {"text": "Maria's sister Anna lives in Lisbon.", "importance": 0.8},
    },
    "put_semantic": {"value": {"text": "Maria's sister Anna lives in Porto."}},
    "add_working": {"value": {"text": "Comparing flights to Lisbon."}, "ttl_minutes": 30},
    "correct_memory": {
        "namespace": _PLACE, "key": "sister", "text": "Maria's sister Anna lives in Porto.",
        "reason": "She moved.",
    },
    "archive_memory": {"namespace": _PLACE, "key": "sister", "reason": "No longer of interest."},
    "restore_memory": {"namespace": _PLACE, "key": "sister", "reason": "Of interest again."},
    "put_core": {"blocks": {"persona": "You are brief.", "human": "Maria, in Berlin."}},
    "patch_core": {"blocks": {"persona": "You are brief and kind."}},
    "take_memory_page": {"namespace": _PLACE, "text": "# Memory\n\n<!-- written … -->", "dry_run": True},
    "inject_context": {"query": "Where does my sister live?", "namespace": _PLACE, "budget_tokens": 300},
    "projects_add": {"root": "/home/lena/heron", "owner": "Lena"},
    "projects_update": {"description": "Tells birds apart."},
    "projects_discover": {"folder": "/home/lena"},
    "projects_refresh": {"name": "heron"},
    "projects_later": {"name": "heron"},
    "refresh_documents": {"namespace": ["documents"], "dry_run": True},
    "compress_context": {"messages": _TALK, "ratio": 0.7},
    "query_graph": {
        "pattern": "(a:person)-[lives_in]->(city {name: $where})",
        "values": {"where": "Lisbon"}, "namespace": _PLACE,
    },
    "graph_link": {
        "namespace": _TEAM, "source": "Ship the checkout", "relation": "requires",
        "target": "docs/prices.md", "reason": "Prices stand on every page of it.",
    },
    "graph_unlink": {
        "namespace": _TEAM, "source": "agent:writer", "relation": "works_on", "target": "Ship the checkout",
    },
    "changes_undo": {"run_id": "remove/0123456789abcdef", "dry_run": True},
    "changes_decide": {"option": "keep", "by": "maria"},
    "jobs_retry": {"ids": [17]},
    "jobs_drop": {"ids": [17]},
    "maintain": {"namespace": _PLACE, "dry_run": True},
    "undo_night": {"night": "2026-11-26", "dry_run": True},
    "bus_share": {
        "namespace": _TEAM, "summary": "Prices are in euros only.", "type": "decision", "topic": "prices",
        "priority": "high", "artifacts": ["shop/prices.py"], "confidence": 0.9,
    },
    "bus_request": {
        "namespace": _TEAM, "question": "Which tables hold prices?", "to": "researcher",
    },
    "bus_reply": {"namespace": _TEAM, "message_id": "1a2b3c4d5e6f7a8b", "answer": "In shop/prices.py."},
    "bus_handoff": {
        "namespace": _TEAM, "to": "writer", "done": "The schema is drawn.",
        "next_steps": ["Write the migration.", "Test it."],
    },
    "bus_acknowledge": {"namespace": _TEAM, "message_ids": ["1a2b3c4d5e6f7a8b"]},
    "bus_invalidate": {
        "namespace": _TEAM, "message_id": "1a2b3c4d5e6f7a8b", "reason": "Prices are in dollars, too.",
    },
    "bus_subscribe": {"namespace": _TEAM, "query": "failing tests and broken builds"},
    "swarm_add_task": {
        "namespace": _TEAM, "title": "Ship the checkout", "agent": "writer",
        "requires": ["artifact:payment API"],
    },
    "swarm_update_task": {
        "namespace": _TEAM, "task": "Ship the checkout", "blockers": ["a word from legal"],
    },
    "swarm_record_decision": {
        "namespace": _TEAM, "what": "Prices are in euros only.", "alternatives": ["euros and dollars"],
        "why": "Nine of ten customers pay in euros.", "affects": ["shop/prices.py"],
    },
    "swarm_end_session": {
        "namespace": _TEAM, "session_id": "2026-11-27-writer", "started_at": "2026-11-27T09:00:00Z",
        "work_done": ["The prices page is written."], "next_steps": ["Show it to legal."],
    },
    "unlock_secret": {"namespace": _PLACE, "label": "GitHub token", "reason": "Deploy of 2 May"},
    "forget": {"namespace": _PLACE, "keys": ["sister"]},
    "store_batch": {
        "ops": [
            {"op": "put", "namespace": _PLACE, "key": "tea", "value": {"text": "Maria drinks green tea."}},
            {"op": "search", "namespace_prefix": _PLACE, "query": "tea", "limit": 3},
        ]
    },
}  # fmt: skip
"""By the id of the operation."""
