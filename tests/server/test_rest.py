"""The REST API: memories, core, working, context, graph, changes, export, and the rules of HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.server.client import API, problem, serving, token_of

from langmemory.changes import AddEdge, AddEntity, AddMemory, ChangeSet, RemoveMemory  # isort: skip
from langmemory.recall_options import BlockOptions, RecallOptions  # isort: skip
from langmemory.stores import MemoryStore  # isort: skip
from langmemory.types import Recall  # isort: skip
from langmemory.wire import adapter  # isort: skip

PLACE = ("memories", "maria")
AT = {"namespace": "memories/maria"}


async def test_a_fact_is_written_read_changed_and_taken_back(store: MemoryStore) -> None:
    """POST, GET, PUT and DELETE of one memory; the history tells of all, undo brings it back."""
    async with serving(store) as client:
        value = {"text": "Tofu is a cat", "importance": 0.9}
        made = await client.post(f"{API}/semantic", json={"namespace": PLACE, "value": value})
        assert made.status_code == 201
        key = made.json()["key"]
        assert (made.json()["importance"], made.json()["kind"]) == (0.9, "semantic")
        got = await client.get(f"{API}/semantic/{key}", params=AT)
        assert got.json() == made.json()
        put = await client.put(
            f"{API}/semantic/{key}", params=AT, json={"value": {"text": "Tofu is a tomcat"}}
        )
        assert put.json()["text"] == "Tofu is a tomcat"
        gone = await client.delete(f"{API}/semantic/{key}", params={**AT, "reason": "a test"})
        assert gone.json()["removed"] == [key]
        assert problem(await client.get(f"{API}/semantic/{key}", params=AT)) == "not-found"
        history = await client.get(f"{API}/history", params={**AT, "key": key})
        assert [one["action"] for one in history.json()["items"]] == ["add", "update", "delete"]
        undone = await client.post(f"{API}/undo", json={"run_id": gone.json()["run_id"]})
        assert undone.status_code == 200
        back = await client.get(f"{API}/semantic/{key}", params=AT)
        assert back.json()["text"] == "Tofu is a tomcat"


@pytest.mark.parametrize("key", ["a/b", "a b", "ä?#%2F", "line\nbreak", ".."])
async def test_a_key_may_hold_anything(store: MemoryStore, key: str) -> None:
    """Slashes, spaces, line breaks and what means something in a URL are part of a key."""
    url = f"{API}/semantic/{quote(key, safe='')}".replace("..", "%2E%2E")
    async with serving(store) as client:
        put = await client.put(url, params=AT, json={"value": {"text": "Tofu"}})
        assert (put.status_code, put.json().get("key")) == (200, key), put.text
        assert (await client.get(url, params=AT)).json() == put.json()


async def test_a_write_that_has_not_seen_the_last_one_is_refused(store: MemoryStore) -> None:
    """If-Match is compared in the transaction of the write; uses of a memory change no tag."""
    async with serving(store) as client:
        url, body = f"{API}/semantic/k", {"value": {"text": "Tofu is a cat"}}
        first = (await client.put(url, params=AT, json=body)).headers["etag"]
        same = await client.get(url, params=AT, headers={"If-None-Match": first})
        assert (same.status_code, same.content) == (304, b"")
        store.recall("cat", PLACE)
        store.put(PLACE, "k", {"text": "Tofu is a tomcat"})
        late = {"If-Match": first}
        assert (
            problem(await client.put(url, params=AT, json=body, headers=late))
            == "changed-meanwhile"
        )
        assert problem(await client.delete(url, params=AT, headers=late)) == "changed-meanwhile"
        assert store.get(PLACE, "k").value["text"] == "Tofu is a tomcat"  # type: ignore[union-attr]
        now = (await client.get(url, params=AT)).headers["etag"]
        seen = {"If-Match": f'"other", {now}'}
        assert (await client.put(url, params=AT, json=body, headers=seen)).status_code == 200
        nothing = await client.put(
            f"{API}/semantic/new", params=AT, json=body, headers={"If-Match": "*"}
        )
        assert nothing.status_code == 412
        assert (
            problem(await client.put(url, params=AT, json=body, headers={"If-Match": "no quotes"}))
            == "malformed"
        )


async def test_a_request_that_is_sent_again_is_done_once(store: MemoryStore) -> None:
    """The same Idempotency-Key gives the first answer; with another request it is refused; after a restart
    the memory is still there once."""
    body = {"namespace": PLACE, "value": {"text": "Tofu is a cat"}}
    key = {"Idempotency-Key": "one"}
    async with serving(store) as client:
        first = await client.post(f"{API}/semantic", json=body, headers=key)
        again = await client.post(f"{API}/semantic", json=body, headers=key)
        assert (again.status_code, again.json()) == (201, first.json())
        assert again.headers["idempotent-replayed"] == "true"
        other = {"namespace": PLACE, "value": {"text": "Rex is a dog"}}
        assert (
            problem(await client.post(f"{API}/semantic", json=other, headers=key)) == "key-reused"
        )
    async with serving(store) as client:
        restarted = await client.post(f"{API}/semantic", json=body, headers=key)
        assert (restarted.status_code, restarted.json()["key"]) == (201, first.json()["key"])
        taken = {**body, "key": first.json()["key"]}
        assert problem(await client.post(f"{API}/semantic", json=taken)) == "conflict"
    assert len(store.search(PLACE)) == 1


async def test_an_event_that_is_sent_again_after_a_restart_is_returned(store: MemoryStore) -> None:
    """An event whose Idempotency-Key the server no longer knows is stored once, and returned as it is."""
    body = {"namespace": PLACE, "text": "I moved to Lisbon.", "thread_id": "t"}
    answers = []
    for _ in range(2):
        async with serving(store) as client:
            sent = await client.post(
                f"{API}/episodic", json=body, headers={"Idempotency-Key": "one"}
            )
            answers.append((sent.status_code, sent.json()["key"]))
    assert answers[0] == answers[1]
    assert answers[0][0] == 201
    assert len(store.search(PLACE)) == 1


async def test_pages_show_everything_once(store: MemoryStore) -> None:
    """A list is walked by its cursors, while memories come and go; a wrong cursor is refused."""
    for number in range(25):
        store.put(PLACE, f"k{number:02}", {"text": f"fact {number}"})
    seen: list[str] = []
    async with serving(store) as client:
        asked: dict[str, Any] = {**AT, "limit": 10}
        while True:
            found = (await client.get(f"{API}/semantic", params=asked)).json()
            seen += [one["key"] for one in found["items"]]
            if found["next"] is None:
                break
            asked["cursor"] = found["next"]
            store.put(PLACE, f"late{len(seen)}", {"text": "a later one"})
            store.delete(PLACE, seen[-1])
        assert seen == [f"k{number:02}" for number in reversed(range(25))]
        for wrong in ("x", "W10", "bm8", "WyJhIl0"):
            refused = await client.get(f"{API}/semantic", params={**AT, "cursor": wrong})
            assert refused.status_code in (200, 422), wrong
            assert refused.status_code == 422 or refused.json()["items"] == []


async def test_what_was_said_is_stored_word_for_word(store: MemoryStore) -> None:
    """An event is episodic, has its time and speaker, and cannot be changed."""
    event = {
        "namespace": PLACE,
        "text": "Tofu sleeps on the piano",
        "thread_id": "t",
        "speaker": "Maria",
        "at": "2026-03-01T10:00:00Z",
    }
    async with serving(store) as client:
        made = (await client.post(f"{API}/episodic", json=event)).json()
        assert (made["kind"], made["speaker"]) == ("episodic", "Maria")
        assert made["valid_at"] == "2026-03-01T10:00:00Z"
        found = await client.post(f"{API}/episodic/search", json={"query": "Where is Tofu?"})
        assert [one["memory"]["key"] for one in found.json()["results"]] == [made["key"]]
        nothing = await client.post(f"{API}/semantic/search", json={"query": "Where is Tofu?"})
        assert nothing.json()["results"] == []
        changed = await client.put(f"{API}/episodic/{made['key']}", params=AT, json={"value": {}})
        assert changed.status_code == 405


async def test_a_recall_reads_back_as_it_was(store: MemoryStore) -> None:
    """The JSON of a recall is that of its type: a client makes the same value of it."""
    store.put(PLACE, "k", {"text": "Tofu is a cat"})
    async with serving(store) as client:
        asked = {"query": "cat?", "namespace": PLACE, "explain": True}
        found = await client.post(f"{API}/recall", json=asked)
    read: Recall = adapter(Recall).validate_json(found.content)
    assert read.results[0].memory == store.recall("cat?", PLACE).results[0].memory


async def test_working_memory_is_of_one_session(store: MemoryStore) -> None:
    """Scratch has a time to live, is listed for its session alone, and goes with it."""
    async with serving(store) as client:
        body = {"value": {"text": "look for the keys"}, "ttl_minutes": 5}
        made = await client.post(f"{API}/working/s.1", params=AT, json=body)
        assert (made.status_code, made.json()["kind"]) == (201, "working")
        for session, keys in (("s.1", [made.json()["key"]]), ("s2", [])):
            found = (await client.get(f"{API}/working/{session}", params=AT)).json()["items"]
            assert [one["key"] for one in found] == keys
        expires = store.conn.execute("SELECT ttl_minutes FROM item").fetchone()
        assert tuple(expires) == (5,)
        gone = await client.delete(f"{API}/working/s.1", params=AT)
        assert gone.json() == {"deleted": 1}
    assert store.search(PLACE) == []


async def test_core_memory_is_read_and_written(store: MemoryStore) -> None:
    """PATCH writes some blocks, PUT all; a write that has not seen the last one is refused."""
    async with serving(store) as client:
        url = f"{API}/core/maria"
        patched = await client.patch(url, json={"blocks": {"persona": "A friendly helper"}})
        texts = {one["label"]: one["content"] for one in patched.json()["blocks"]}
        assert texts == {"persona": "A friendly helper", "human": "", "task": ""}
        put = await client.put(
            url,
            json={"blocks": {"human": "Maria", "plans": "Lisbon"}},
            headers={"If-Match": patched.headers["etag"]},
        )
        texts = {one["label"]: one["content"] for one in put.json()["blocks"]}
        assert texts == {"persona": "", "human": "Maria", "task": "", "plans": "Lisbon"}
        late = {"If-Match": patched.headers["etag"]}
        refused = await client.patch(url, json={"blocks": {"human": "Ben"}}, headers=late)
        assert problem(refused) == "changed-meanwhile"
        long = await client.patch(url, json={"blocks": {"human": "x" * 3_000}})
        assert problem(long) == "invalid"
        assert (await client.get(url)).headers["etag"] == put.headers["etag"]


async def test_a_bound_block_tells_its_file_and_an_assistant_proposes(
    store: MemoryStore, tmp_path: Path
) -> None:
    """The view says to which file a block is bound; what an assistant writes is a review, what a person
    writes is in the file at once."""
    file = tmp_path / "AGENTS.md"
    file.write_text("Be kind.\n", "utf-8")
    store.core_files.bind(file, PLACE)
    async with serving(store) as client:
        url = f"{API}/core/{PLACE[-1]}"
        blocks = {one["label"]: one for one in (await client.get(url)).json()["blocks"]}
        assert (blocks["agents"]["file"], blocks["agents"]["file_state"]) == (str(file), "agrees")
        assert blocks["human"]["file"] is None
        body = {"blocks": {"agents": "Be brief."}}
        answer = (await client.patch(url, json={**body, "by": "assistant"})).json()
        [proposed] = [one for one in answer["blocks"] if one["proposed"]]
        assert proposed["content"] == "Be kind."
        review = (await client.get(f"{API}/reviews/{proposed['proposed']}")).json()
        assert "-Be kind.\n+Be brief." in review["question"]
        assert file.read_text("utf-8") == "Be kind.\n"
        await client.patch(url, json=body)
        assert file.read_text("utf-8") == "Be brief.\n"


async def test_context_for_a_prompt(store: MemoryStore) -> None:
    """`inject` is the block a graph would put into a prompt, within its budget; `compress` makes a
    conversation shorter and says nothing that was not said."""
    store.put(PLACE, "rule", {"text": "Always answer in French", "priority": "mandate"})
    store.put(PLACE, "k", {"text": "Tofu the cat sleeps on the piano"})
    messages = [
        {"role": "user", "content": f"My cat Tofu slept on piano number {n} today, in the hall."}
        for n in range(12)
    ]
    async with serving(store) as client:
        body = {"namespace": PLACE, "query": "Where does Tofu sleep?", "budget_tokens": 120}
        block = (await client.post(f"{API}/context/inject", json=body)).json()
        assert "Always answer in French" in block["text"]
        assert "piano" in block["text"]
        assert block["tokens"] <= 120
        assert [one["key"] for one in block["entries"]] == ["rule", "k"]
        short = await client.post(
            f"{API}/context/compress", json={"messages": messages, "ratio": 0.3}
        )
        found = short.json()
        assert 0 < found["tokens_after"] <= 0.3 * found["tokens_before"]
        for line, place in zip(found["summary"].split("\n"), found["kept"], strict=True):
            assert line == f"user: {messages[place]['content']}"
        stats = (await client.get(f"{API}/context/stats", params=AT)).json()["items"]
        assert sorted((one["key"], one["loaded"]) for one in stats) == [("k", 1), ("rule", 1)]


async def test_a_block_takes_the_options_of_a_block(store: MemoryStore) -> None:
    """`inject` takes what `RecallNode` does: the lowest score, kinds, a filter, a preset; by default the gate
    decides. The description of the API has them with the words of `BlockOptions`."""
    store.put(PLACE, "cat", {"text": "Tofu the cat sleeps on the piano", "of": "cat"})
    store.put(PLACE, "ida", {"text": "Ida tuned the piano in the hall", "kind": "semantic"})
    async with serving(store) as client:

        async def shown(query: str, **options: Any) -> set[str]:
            body = {"namespace": PLACE, "query": query, **options}
            found = await client.post(f"{API}/context/inject", json=body)
            assert found.status_code == 200, found.text
            return {one["key"] for one in found.json()["entries"]}

        asked = "Where does Tofu sleep?"
        assert "cat" in await shown(asked)
        assert await shown("and when") == set()
        assert "cat" in await shown("and when", earlier=["Hello!", asked])
        assert await shown(asked, min_score=0) == {"cat", "ida"}
        assert await shown(asked, min_score=0.999) == set()
        assert await shown("Thanks!") == set()
        assert await shown("Thanks!", min_score=None) == {"cat", "ida"}
        assert await shown(asked, min_score=0, filter={"of": "cat"}) == {"cat"}
        assert await shown(asked, min_score=0, kinds=["procedural"]) == set()
        assert await shown(asked, min_score=0, preset="fast", limit=1) == {"cat"}
        described = (await client.get(f"{API}/openapi.json")).json()["components"]["schemas"]
    fields = described["InjectRequest"]["properties"]
    assert BlockOptions.__annotations__.keys() <= fields.keys()
    assert RecallOptions.__annotations__.keys() - {"thread_id"} <= (
        described["RecallRequest"]["properties"].keys()
    )
    for name in BlockOptions.__annotations__:
        assert fields[name]["description"]


def _graph(store: MemoryStore) -> None:
    changes: list[Any] = [
        AddEntity(key="lena", name="Lena", kind="person", aliases=("Leni",)),
        AddEntity(key="paul", name="Paul", kind="person"),
        AddEntity(key="initech", name="Initech", kind="organisation"),
    ]
    for who in ("lena", "paul"):
        changes.append(
            AddMemory(
                key=f"f-{who}", value={"text": f"{who} works at Initech"}, mentions=(who, "initech")
            )
        )
        changes.append(AddEdge(fact=f"f-{who}", subject=who, relation="works_at", object="initech"))
    changes.append(AddMemory(key="f-age", value={"text": "Lena is 40"}, mentions=("lena",)))
    changes.append(AddEdge(fact="f-age", subject="lena", relation="age", literal="40"))
    store.changes.apply(
        ChangeSet(
            namespace=PLACE, run_id="r1", kind="reflection", reason="a test", changes=tuple(changes)
        )
    )


@pytest.mark.parametrize(
    ("pattern", "values", "found"),
    [
        ("(a)-[works_at]->(b)", {}, [("lena", "initech"), ("paul", "initech")]),
        ("(a:person)-[works_at]->(b {name: $where})", {"where": "initech"},
         [("lena", "initech"), ("paul", "initech")]),
        ("({name: $who})-[works_at]->()<-[works_at]-(b)", {"who": "Leni"}, [("paul",)]),
        ("(b)<-[works_at]-(a {name: $who})", {"who": "Paul"}, [("initech", "paul")]),
        ("(a)-[]-(b:organisation)", {}, [("lena", "initech"), ("paul", "initech")]),
        ("(a)-[age]->(years)", {}, [("lena", "40")]),
        ("(a)-[age]->({name: $years})", {"years": "40"}, [("lena",)]),
        ("(a:organisation)", {}, [("initech",)]),
        ("(a)-[works_at]->(b:person)", {}, []),
        ("(a)-[works_at]->(b)-[works_at]-(a)", {}, []),
    ],
)  # fmt: skip
async def test_a_pattern_finds_what_meets_it(
    store: MemoryStore, pattern: str, values: dict[str, str], found: list[tuple[str, ...]]
) -> None:
    """Nodes with kinds and bound names, edges with relations and directions; no edge stands twice."""
    _graph(store)
    async with serving(store) as client:
        body = {"namespace": PLACE, "pattern": pattern, "values": values}
        answer = (await client.post(f"{API}/graph/query", json=body)).json()
    got = [
        (*(one["key"] for one in item["entities"].values()), *item["literals"].values())
        for item in answer["items"]
    ]
    assert sorted(got) == sorted(found)
    assert answer["more"] is False


@pytest.mark.parametrize(
    "pattern",
    [
        "a",
        "(a",
        "(a)-(b",
        "(a)<-[x]->(b)",
        "(a {name: $nobody})",
        "(a)" + "-[]-(b)" * 5,
        "(a)->(b)x",
    ],
)
async def test_what_is_no_pattern_is_refused(store: MemoryStore, pattern: str) -> None:
    """The error says where the pattern ends to be one."""
    async with serving(store) as client:
        body = {"namespace": PLACE, "pattern": pattern}
        assert problem(await client.post(f"{API}/graph/query", json=body)) == "invalid"


async def test_a_refusal_names_all_that_is_wrong(store: MemoryStore) -> None:
    """Every field that is wrong stands in the one sentence, an unknown one by its name, no value; an unknown
    path or method says what there is."""
    async with serving(store) as client:
        given = {"question": "whose secret?", "limit": -1}
        said = (await client.post(f"{API}/recall", json=given)).json()
        assert said["detail"] == (
            "body/query: Field required; body/limit: Input should be greater than or equal to 0; "
            "body/question: There is no field of that name here."
        )
        assert len(said["errors"]) == 3
        many = {f"field_{number}": 1 for number in range(30)}
        said = (await client.post(f"{API}/recall", json={"query": "x", **many})).json()
        assert said["detail"].endswith(
            "body/field_4: There is no field of that name here (and 25 more)."
        )
        said = (await client.post(f"{API}/recall", json=[])).json()
        assert said["detail"] == "body: It is to be a JSON object."
        named = {"query": "x", "namespace": "memories/me"}
        said = (await client.post(f"{API}/recall", json=named)).json()
        assert said["detail"] == 'body/namespace: It is to be a list, such as ["a", "b"].'
        assert f"{API}/docs" in (await client.get(f"{API}/nothing")).json()["detail"]
        assert (await client.patch(f"{API}/recall")).json()["detail"].endswith("it takes POST.")


async def test_runs_reviews_jobs_and_health_are_shown(store: MemoryStore) -> None:
    """What changed memory on its own is listed, can be rehearsed backwards, and is counted."""
    _graph(store)
    async with serving(store) as client:
        [run] = (await client.get(f"{API}/runs", params=AT)).json()["items"]
        assert run["id"] == "r1"
        assert (await client.get(f"{API}/runs/r1")).json() == run
        rehearsed = await client.post(f"{API}/undo", json={"run_id": "r1", "dry_run": True})
        assert rehearsed.json()["dry_run"] is True
        assert problem(await client.get(f"{API}/runs/other")) == "not-found"
        assert problem(await client.post(f"{API}/undo", json={"run_id": "other"})) == "not-found"
        assert (await client.get(f"{API}/reviews")).json() == {"items": [], "next": None}
        assert problem(await client.get(f"{API}/reviews/other")) == "not-found"
        assert (await client.get(f"{API}/jobs")).json() == {"items": [], "next": None}
        assert (await client.post(f"{API}/jobs/retry", json={"ids": [7]})).json() == {"items": []}
        health = (await client.get(f"{API}/health", params=AT)).json()
        assert health["figures"]["entities"] == 3
        assert (await client.get(f"{API}/stats")).json()["items"] == 3


async def test_forgetting_is_shown_first_and_then_proven(store: MemoryStore) -> None:
    """Without the confirmation of its dry run nothing is forgotten; afterwards it is gone, also from
    answers that were kept for repeated requests."""
    store.put(PLACE, "k", {"text": "Maria keeps a xylophone", "owner": "maria"})
    async with serving(store) as client:
        kept = {"Idempotency-Key": "a"}
        asked = {"query": "xylophone"}
        found = await client.post(f"{API}/recall", json=asked, headers=kept)
        assert "xylophone" in found.text
        body: dict[str, Any] = {"owner": "maria"}
        shown = (await client.post(f"{API}/forget", json=body)).json()
        assert shown["forgotten"]["kinds"] == {"semantic": 1}
        assert store.get(PLACE, "k") is not None
        for wrong in ("x", f"{shown['confirmation']}0", f"1-{shown['confirmation']}"):
            refused = await client.post(f"{API}/forget", json={**body, "confirmation": wrong})
            assert problem(refused) == "not-confirmed"
        other = {"owner": "ben", "confirmation": shown["confirmation"]}
        assert problem(await client.post(f"{API}/forget", json=other)) == "not-confirmed"
        body["confirmation"] = shown["confirmation"]
        done = (await client.post(f"{API}/forget", json=body)).json()
        assert (done["forgotten"]["purged"], done["confirmation"]) == (True, None)
        again = await client.post(f"{API}/recall", json=asked, headers=kept)
        assert "keeps a" not in again.text
        assert "idempotent-replayed" not in again.headers
    assert store.get(PLACE, "k") is None


async def test_a_file_is_taken_along(store: MemoryStore) -> None:
    """What `export` gives, `import` takes; a broken file is refused with its line."""
    store.put(PLACE, "k", {"text": "Tofu is a cat"})
    async with serving(store) as client:
        exported = await client.get(f"{API}/export")
        assert exported.headers["content-type"] == "application/x-ndjson"
        rows = [json.loads(line) for line in exported.text.splitlines()]
        assert any(row.get("key") == "k" for row in rows)
        store.delete(PLACE, "k")
        lines = {"Content-Type": "application/x-ndjson"}
        with MemoryStore(":memory:") as other:
            async with serving(other) as second:
                done = await second.post(f"{API}/import", content=exported.content, headers=lines)
                assert done.json()["changed"] == 1
                assert other.get(PLACE, "k") is not None
                broken = await second.post(f"{API}/import", content=b"{}\n{", headers=lines)
                assert problem(broken) == "import-format"


async def test_langgraphs_operations_in_one_call(store: MemoryStore) -> None:
    """A batch is answered in order, reads before writes; namespaces are those the token reaches."""
    store.put(("memories", "ben"), "k", {"text": "Rex is a dog"})
    ops: list[dict[str, Any]] = [
        {"op": "put", "namespace": PLACE, "key": "k", "value": {"text": "Tofu is a cat"}, "ttl": 5},
        {"op": "get", "namespace": PLACE, "key": "k"},
    ]
    reads: list[dict[str, Any]] = [
        {"op": "get", "namespace": PLACE, "key": "k"},
        {"op": "search", "namespace_prefix": ["memories", "maria"], "query": "cat"},
        {"op": "search", "namespace_prefix": PLACE, "filter": {"text": {"$eq": "no"}}},
        {"op": "list_namespaces"},
        {"op": "list_namespaces", "match_conditions": [{"match_type": "suffix", "path": ["ben"]}]},
        {"op": "list_namespaces", "offset": 1},
    ]
    async with serving(store, token=token_of(store, None, PLACE)) as client:
        url = f"{API}/store/batch"
        assert (await client.post(url, json={"ops": ops})).json()["results"] == [None, None]
        answer = (await client.post(url, json={"ops": reads})).json()["results"]
        assert answer[0]["value"] == {"text": "Tofu is a cat"}
        assert answer[1][0]["score"] > 0.2
        assert answer[2:] == [[], [list(PLACE)], [], []]
        elsewhere = [{"op": "get", "namespace": ["memories", "ben"], "key": "k"}]
        assert problem(await client.post(url, json={"ops": elsewhere})) == "namespace"
        wrong = [{"op": "search", "filter": {"a": {"$no": 1}}}]
        assert problem(await client.post(url, json={"ops": wrong})) == "invalid"
    async with serving(store, token=token_of(store, None, PLACE, scope="read")) as client:
        assert problem(await client.post(f"{API}/store/batch", json={"ops": ops})) == "scope"


OTHERS_ALONE = (
    ("GET", "/runs", None),
    ("GET", "/runs/r", None),
    ("POST", "/undo", {"run_id": "r"}),
    ("POST", "/reviews/r", {"option": "yes"}),
    ("GET", "/jobs", None),
    ("POST", "/jobs/retry", {"ids": [1]}),
    ("POST", "/jobs/drop", {"ids": [1]}),
    ("POST", "/forget", {"owner": "maria"}),
    ("POST", "/forget", {"entities": ["Maria"]}),
    ("POST", "/forget", {"keys": ["k"], "namespace": PLACE}),
    ("POST", "/forget", {"everything": True, "namespace": PLACE}),
    ("GET", "/health", None),
    ("GET", "/stats", None),
)


@pytest.mark.parametrize(("method", "path", "body"), OTHERS_ALONE)
async def test_what_acts_on_everybody_is_not_for_a_viewer(
    store: MemoryStore, method: str, path: str, body: Any
) -> None:
    """A token that is bound to a viewer undoes, decides, counts and forgets nothing of others."""
    async with serving(store, token=token_of(store, "ben", scope="admin")) as client:
        assert problem(await client.request(method, f"{API}{path}", json=body)) == "viewer"


async def test_memory_viewer_only_narrows(store: MemoryStore) -> None:
    """With a token of the application a request may see as one person; what it was shown as one person
    confirms nothing for everybody, and a header that is no JSON string is refused."""
    for who in ("maria", "paul"):
        store.for_viewer(who).put(("home",), who, {"text": f"{who}'s key", "privacy": "private"})
    asked: dict[str, Any] = {"namespace": ["home"]}
    async with serving(store) as client:
        maria = {"Memory-Viewer": '"maria"'}
        path = f"{API}/memories/paul?namespace=home"
        assert (await client.get(path)).status_code == 200
        assert (await client.get(path, headers=maria)).status_code == 404
        for bad in ("maria", "1", '"a\\nb"'):
            refused = await client.get(path, headers={"Memory-Viewer": bad})
            assert (refused.status_code, problem(refused)) == (400, "malformed")
        shown = (await client.post(f"{API}/forget", json=asked, headers=maria)).json()
        assert sum(shown["forgotten"]["kinds"].values()) == 1
        confirmed = {**asked, "confirmation": shown["confirmation"]}
        refused = await client.post(f"{API}/forget", json=confirmed)
        assert problem(refused) == "not-confirmed"


async def test_an_idempotency_key_counts_for_one_path(store: MemoryStore) -> None:
    """The same body under the same key, sent to another session, is another request."""
    async with serving(store) as client:
        sent = {"json": {"value": {"text": "x"}}, "headers": {"Idempotency-Key": "k"}}
        first = await client.post(f"{API}/working/a?namespace=home", **sent)
        assert first.status_code == 201
        other = await client.post(f"{API}/working/b?namespace=home", **sent)
        assert problem(other) == "key-reused"


async def test_none_match_creates_and_never_replaces(store: MemoryStore) -> None:
    """With `If-None-Match: *` a write is done where there is nothing, and refused where there is something;
    with a version, where there is another one."""
    only_new = {"If-None-Match": "*"}
    async with serving(store) as client:
        at, body = f"{API}/semantic/k?namespace=a", {"value": {"text": "one"}}
        first = await client.put(at, json=body, headers=only_new)
        assert first.status_code == 200
        again = await client.put(at, json={"value": {"text": "two"}}, headers=only_new)
        assert (again.status_code, problem(again)) == (412, "exists")
        same = await client.put(at, json=body, headers={"If-None-Match": first.headers["ETag"]})
        assert same.status_code == 412
        core = f"{API}/core/maria"
        blocks = {"blocks": {"persona": "brief"}}
        assert (await client.put(core, json=blocks, headers=only_new)).status_code == 200
        assert (await client.patch(core, json=blocks, headers=only_new)).status_code == 412
    found = store.get(("a",), "k")
    assert found is not None
    assert found.value == {"text": "one"}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_core_blocks_are_compared_where_they_are_written(
    store: MemoryStore, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block that another process writes between the comparison and the write is not replaced, and then no
    other block is written; without a condition the write is done over it, with the next version."""
    place = ("memories", "maria", "core")
    put_all_if = type(store).put_all_if
    others = iter(range(10))

    def meanwhile(self: MemoryStore, puts: Any, *, expected: Any) -> None:
        if (number := next(others)) in (0, 1):
            written = {"kind": "core", "content": f"other {number}", "version": number + 1}
            store.put(place, "human", written, index=False)
        put_all_if(self, puts, expected=expected)

    monkeypatch.setattr(type(store), "put_all_if", meanwhile)
    async with serving(store) as client:
        at, body = f"{API}/core/maria", {"blocks": {"persona": "brief", "human": "Maria"}}
        seen = (await client.get(at)).headers["ETag"]
        stale = await client.request(method, at, json=body, headers={"If-Match": seen})
        assert (stale.status_code, problem(stale)) == (412, "changed-meanwhile")
        assert store.get(place, "persona") is None
        done = await client.request(method, at, json=body)
        assert done.status_code == 200
        blocks = {one["label"]: one for one in done.json()["blocks"]}
        assert (blocks["human"]["content"], blocks["human"]["version"]) == ("Maria", 3)
        assert (await client.get(at)).headers["ETag"] == done.headers["ETag"]


async def test_what_is_sent_again_after_a_restart_is_done_once(tmp_path: Path) -> None:
    """What a client sends again after the server was started anew, and forgot its answers, adds nothing:
    messages that tell neither an id nor a time, a memory and scratch without a key, an undo."""
    sent = (
        ("remember", {"thread_id": "t", "messages": [{"role": "user", "content": "I live in Porto."}]}),
        ("semantic", {"value": {"text": "Anna lives in Lisbon."}}),
        ("working/s", {"value": {"text": "Comparing flights."}}),
        ("undo", {"run_id": "remove/1"}),
    )  # fmt: skip
    counts = []
    for _ in range(2):
        with MemoryStore(tmp_path / "memory.db") as store:
            if not counts:
                store.put(PLACE, "gone", {"text": "gone"})
                change = RemoveMemory(key="gone")
                store.changes.apply(
                    ChangeSet(namespace=PLACE, run_id="remove/1", kind="correction", reason="test",
                              changes=(change,))
                )  # fmt: skip
            async with serving(store) as client:
                for path, body in sent:
                    place = {} if path == "undo" else {"namespace": list(PLACE)}
                    query = {"namespace": "memories/maria"} if path == "working/s" else {}
                    whole = body if query else {**place, **body}
                    headers = {"Idempotency-Key": path}
                    done = await client.post(
                        f"{API}/{path}", params=query, json=whole, headers=headers
                    )
                    assert done.status_code in (200, 201), done.text
            counts.append((len(store.admin.memories(PLACE, limit=100)), len(store.changes.runs())))
    assert counts[0] == counts[1] == (4, 2)


async def test_a_label_may_have_a_slash(store: MemoryStore) -> None:
    """A slash in a label is written %2F in the text of a namespace, and a percent sign %25."""
    store.put(("a/b", "50%"), "k", {"text": "one"})
    store.put(("a/b",), "k", {"text": "two"})
    store.put(("a", "b"), "k", {"text": "three"})
    said = {}
    async with serving(store) as client:
        for place in ("a%2Fb/50%25", "a%2Fb", "a/b"):
            found = await client.get(f"{API}/memories/k", params={"namespace": place})
            said[place] = found.json()["text"]
        several = await client.get(f"{API}/memories/k", params={"namespace": ["a/b", "50%"]})
    assert said == {"a%2Fb/50%25": "one", "a%2Fb": "two", "a/b": "three"}
    assert several.json()["text"] == "one"


async def test_documents_are_asked_where_the_token_reaches_them(store: MemoryStore) -> None:
    """Recall and the block take documents of a namespace; a token that is bound elsewhere is refused, and
    shows none by default."""
    store.put(PLACE, "k", {"text": "Tofu the cat sleeps on the piano"})
    store.documents.add(text="# Kennel\n\nThe kennel opens at seven.\n", name="kennel.md")
    body = {"namespace": PLACE, "query": "When does the kennel open?"}
    asked = {**body, "documents": ["documents"]}
    async with serving(store) as client:
        found = (await client.post(f"{API}/recall", json=asked)).json()
        assert "seven" in found["results"][0]["memory"]["text"]
        assert found["trace"]["questions"][body["query"]] > 0.5
        block = (await client.post(f"{API}/context/inject", json=asked)).json()
        assert "kennel.md#L1-L3" in block["text"]
    async with serving(store, token=token_of(store, None, PLACE)) as client:
        for path in ("recall", "context/inject"):
            assert problem(await client.post(f"{API}/{path}", json=asked)) == "namespace"
            plain = await client.post(f"{API}/{path}", json=body)
            assert plain.status_code == 200
            assert "seven" not in plain.text
