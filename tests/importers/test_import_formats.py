"""Reading conversation files, and what is said when a file is not one."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, messages_to_dict

from langmemory.cli.import_file import _batches
from langmemory.errors import ImportFormatError
from langmemory.importers import ImportedMessage, detect, read_messages, read_rows
from langmemory.importers.json_stream import CHUNK_BYTES, iterate_array

TALK = [
    SystemMessage("Be kind."),
    HumanMessage("Where is the key?", id="h1", name="Ada"),
    AIMessage([{"type": "text", "text": "Under the mat."}, {"type": "image_url"}], id="a1"),
]


def write(path: Path, content: Any) -> Path:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> list[ImportedMessage]:
    with path.open("rb") as file:
        return list(read_messages(file, detect(file)))


def jsonl(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_jsonl_messages_keep_everything_they_say(tmp_path: Path) -> None:
    """A JSONL line's role, text, time with its zone, thread, name and id all arrive."""
    row = {
        "id": "m1",
        "thread": "t1",
        "at": "2026-03-22T11:05:00+01:00",
        "role": "user",
        "name": "Ada",
        "content": "Guten Morgen",
    }
    [message] = read(write(tmp_path / "talk.jsonl", "\ufeff" + jsonl(row) + "\n\n"))
    assert message == ImportedMessage(
        id="m1",
        thread="t1",
        at=datetime(2026, 3, 22, 10, 5, tzinfo=UTC),
        role="user",
        name="Ada",
        content="Guten Morgen",
    )
    assert message.spoken


def test_messages_without_ids_get_stable_distinct_ones(tmp_path: Path) -> None:
    """Without an id, a message has the same one at every reading, also if its text repeats."""
    rows = [{"role": "user", "content": "yes"}] * 2 + [
        {"role": "user", "content": "yes", "thread": "other", "at": 1_767_225_600}
    ]
    path = write(tmp_path / "talk.jsonl", jsonl(*rows))
    first, second = read(path), read(path)
    assert first == second
    assert len({message.id for message in first}) == 3
    assert [message.thread for message in first] == ["talk", "talk", "other"]
    assert first[2].at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "content",
    [
        [message.model_dump() for message in TALK],
        messages_to_dict(TALK),
        [dumpd(message) for message in TALK],
        {"messages": [message.model_dump() for message in TALK]},
        {"values": {"messages": [message.model_dump() for message in TALK]}, "next": []},
    ],
    ids=["model_dump", "messages_to_dict", "dumpd", "object", "state"],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_langchain_serialisations_read_alike(
    tmp_path: Path, content: Any, indent: int | None
) -> None:
    """However LangChain writes messages, role, text, id and name come out the same."""
    path = write(tmp_path / "talk.json", json.dumps(content, indent=indent))
    found = [(m.role, m.content, m.name) for m in read(path)]
    assert found == [
        ("system", "Be kind.", None),
        ("user", "Where is the key?", "Ada"),
        ("assistant", "Under the mat.", None),
    ]
    assert [m.id for m in read(path)][1:] == ["h1", "a1"]


def test_langgraph_history_dates_each_message_once(tmp_path: Path) -> None:
    """In a thread's history, newest state first, a message has the time of its first state."""
    dumped = [message.model_dump() for message in TALK]

    def state(count: int, hour: int) -> dict[str, Any]:
        return {
            "values": {"messages": dumped[:count]},
            "created_at": f"2026-05-01T{hour:02}:00:00+00:00",
            "checkpoint": {"thread_id": "thread-7"},
        }

    found = read(write(tmp_path / "history.json", [state(3, 12), state(2, 9)]))
    assert [(m.id, m.thread, m.at and m.at.hour) for m in found[1:]] == [
        ("h1", "thread-7", 9),
        ("a1", "thread-7", 12),
    ]
    assert len(found) == 3


def node(
    id: str, parent: str | None, role: str, text: str, time: float, **more: Any
) -> dict[str, Any]:
    message = {
        "id": id,
        "author": {"role": role},
        "create_time": time,
        "content": {"content_type": "text", "parts": [text]},
        **more,
    }
    return {"id": id, "message": message, "parent": parent, "children": []}


def conversation(**more: Any) -> dict[str, Any]:
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["q"]},
        node("q", "root", "user", "Which tea?", 100.0),
        node("old", "q", "assistant", "Black tea.", 101.0),
        node(
            "hidden",
            "q",
            "user",
            "profile",
            102.0,
            metadata={"is_visually_hidden_from_conversation": True},
        ),
        node("call", "hidden", "assistant", "search()", 103.0, recipient="browser"),
        node("new", "call", "assistant", "Rooibos.", 104.0),
    ]
    mapping = {n["id"]: n for n in nodes}
    for n in nodes:
        if n["parent"]:
            mapping[n["parent"]]["children"].append(n["id"])
    return {"id": "c1", "title": "Tea", "create_time": 99.0, "mapping": mapping, **more}


@pytest.mark.parametrize(
    ("current", "said"),
    [("new", ["Which tea?", "Rooibos."]), ("old", ["Which tea?", "Black tea."]), (None, None)],
)
def test_chatgpt_export_follows_the_branch_last_seen(
    tmp_path: Path, current: str | None, said: list[str] | None
) -> None:
    """Only the branch that ends in current_node (else the newest leaf) is read, without tool calls
    and hidden messages."""
    found = read(write(tmp_path / "conversations.json", [conversation(current_node=current)]))
    assert [m.content for m in found] == (said or ["Which tea?", "Rooibos."])
    assert {m.thread for m in found} == {"c1"}
    assert found[0].at == datetime.fromtimestamp(100, UTC)
    assert [m.name for m in found] == [None, "ChatGPT"]


def test_chatgpt_tree_with_a_loop_ends(tmp_path: Path) -> None:
    """A damaged tree whose parents form a circle is read once around, not for ever."""
    broken = conversation(current_node="new")
    broken["mapping"]["q"]["parent"] = "new"
    assert [m.content for m in read(write(tmp_path / "c.json", [broken]))][-1] == "Rooibos."


def test_big_arrays_are_read_element_by_element() -> None:
    """Elements that straddle or outgrow the read window, numbers included, come out whole, each
    with the line it begins on, and the first is there before the file is read to its end."""
    values = [{"n": n, "text": "ü" * (n % 7) * CHUNK_BYTES} for n in range(20)] + [12345678]
    file = io.BytesIO(json.dumps(values, indent=1, ensure_ascii=False).encode())
    file.name = "big.json"
    elements = iterate_array(file)
    assert next(elements) == (2, values[0])
    assert file.tell() <= 2 * CHUNK_BYTES
    rest = list(elements)
    assert [value for _, value in rest] == values[1:]
    assert rest[0][0] == 6


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty; expected JSONL of messages"),
        ("Dear diary", "line 1: found 'Dear diary'; expected JSONL"),
        ("PK\x03\x04rest", "zip archive: unpack it"),
        ('{"a": 1}\n', "line 1: found keys a; expected JSONL"),
        ("[1, 2]", "line 1: found 1; expected"),
        ('[{"role": "user", "content": "a"},\n oops]', "line 2: not JSON"),
        ('[{"role": "user", "content": "a"}', "line 1: found the end of the file; expected ','"),
        ('{"role": "user"\n', "line 1: not a JSON object"),
        ('{"role": "user", "content": "a"}\n\n{"role": }\n', "line 3: not JSON"),
        ('{"role": "user", "content": "a"}\n[1]\n', "line 2: list; expected a JSON object"),
        ('{"role": "boss", "content": "a"}\n', "line 1: role is 'boss'; expected one of user"),
        ('{"role": "user", "content": 7}\n', "line 1: content is int; expected text"),
        ('{"role": "user", "content": "a", "at": "soon"}\n', "the time is 'soon'; expected ISO"),
        ('{"messages": [{"role": "user"}, 3]}', "line 1, message 2: int; expected a message"),
        ('[{"mapping": {}}, {"mapping": 3}]', "conversation 2: no mapping"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, content: str, says: str) -> None:
    """An unreadable file is one error naming the file, the line and what was expected."""
    path = write(tmp_path / "strange.json", content)
    with pytest.raises(ImportFormatError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)


def test_bytes_that_are_not_utf8_are_an_error_with_a_line(tmp_path: Path) -> None:
    """A Latin-1 file is refused, naming the line, rather than read as garbage."""
    path = tmp_path / "latin.jsonl"
    path.write_bytes(
        jsonl({"role": "user", "content": "a"}).encode() + '{"role": "ü"}'.encode("latin-1")
    )
    with pytest.raises(ImportFormatError, match="line 2: not UTF-8"):
        read(path)


def test_an_export_is_recognised_and_its_rows_are_checked(tmp_path: Path) -> None:
    """Our own export is told apart from messages, and a foreign row in it is named by line."""
    path = write(
        tmp_path / "export.jsonl", jsonl({"type": "meta"}, {"type": "item"}, {"type": "x"})
    )
    with path.open("rb") as file:
        assert detect(file) == "export"
        rows = read_rows(file)
        assert [next(rows)["type"], next(rows)["type"]] == ["meta", "item"]
        with pytest.raises(ImportFormatError, match="line 3: type is 'x'"):
            next(rows)


def test_long_messages_are_stored_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages of a thread are taken together as far as they are not too long together."""
    monkeypatch.setattr("langmemory.cli.import_file.BATCH_CHARACTERS", 100)
    said = ["short", "x" * 100, "y" * 100, "short", "short"]
    file = write(
        tmp_path / "long.jsonl",
        jsonl(*({"role": "user", "content": text, "thread": "t"} for text in said)),
    )
    batches = [[len(one.content) for one in batch] for _, batch in _batches(iter(read(file)))]
    assert batches == [[5, 100], [100], [5, 5]]
