"""Reading conversation files, and what is said when a file is not one."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    messages_to_dict,
)

from langmemory.errors import ImportFormatError
from langmemory.parts.importing import (
    ImportedMessage,
    detect,
    json_stream,
    read_messages,
    read_rows,
)
from langmemory.parts.importing.importing import _batches
from langmemory.parts.importing.json_stream import CHUNK_BYTES, iterate_array

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


@pytest.mark.parametrize("size", [1, 7, 64])
def test_an_array_is_read_in_pieces_of_any_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Where a piece ends, inside a word, an escape or a number, makes no difference."""
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", size)
    written = [{"a": 'x"]}, \\ é 😀', "b": [1.5e3, -12, None]}, {}, {"c": {"d": "\u2028"}}]
    for values in (written, []):
        for indent in (None, 1):
            text = json.dumps(values, indent=indent, ensure_ascii=indent is None)
            file = io.BytesIO(f"{text}\n\n".encode("utf-8-sig"))
            file.name = "list.json"
            assert [value for _, value in iterate_array(file)] == values


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
        (
            '[{"role": "user", "content": "a"}]\n[]',
            "line 2: found '['; expected the end of the file",
        ),
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


@pytest.mark.parametrize(
    ("encoding", "problem"),
    [
        ("latin-1", "line 1: not UTF-8"),
        ("utf-16", "is UTF-16, not UTF-8"),
        ("cp1252", "line 1: not"),
    ],
)
@pytest.mark.parametrize("shape", ["{}", "[{}]"])
def test_a_file_in_another_encoding_is_told_to_be_saved_as_utf8(
    tmp_path: Path, encoding: str, problem: str, shape: str
) -> None:
    """An editor or shell of Windows writes such files; what they hold is not the problem."""
    file = tmp_path / "messages.json"
    file.write_bytes(shape.replace("{}", '{"role": "user", "content": "Köln"}').encode(encoding))
    with file.open("rb") as stream, pytest.raises(ImportFormatError, match=problem) as raised:
        list(read_messages(stream, detect(stream)))
    assert "save the file as UTF-8" in str(raised.value)


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
    monkeypatch.setattr("langmemory.parts.importing.importing.BATCH_CHARACTERS", 100)
    said = ["short", "x" * 100, "y" * 100, "short", "short"]
    file = write(
        tmp_path / "long.jsonl",
        jsonl(*({"role": "user", "content": text, "thread": "t"} for text in said)),
    )
    batches = [[len(one.content) for one in batch] for _, batch in _batches(iter(read(file)))]
    assert batches == [[5, 100], [100], [5, 5]]


DUMPED = [
    HumanMessage("Where is the key?", id="h1", additional_kwargs={"timestamp": 1_767_225_600}),
    AIMessageChunk(content="Under the mat.", id="a1"),
    HumanMessage("A summary.", id="s1", additional_kwargs={"lc_source": "summarization"}),
    RemoveMessage("h0"),
]


@pytest.mark.parametrize(
    "content",
    [
        [message.model_dump() for message in DUMPED],
        messages_to_dict(DUMPED),
        dumpd(DUMPED),
        jsonl(*(message.model_dump() for message in DUMPED[:3])),
        jsonl(*messages_to_dict(DUMPED[:3])),
        jsonl(*dumpd(DUMPED[:3])),
        {"v": 4, "ts": "2026-02-01T00:00:00Z", "channel_values": {"messages": dumpd(DUMPED)}},
        [
            {
                "config": {"configurable": {"thread_id": "dump"}},
                "checkpoint": {"ts": "2026-02-01", "channel_values": {"messages": dumpd(DUMPED)}},
            }
        ],
    ],
)
def test_every_dump_of_a_thread_says_what_was_said(tmp_path: Path, content: Any) -> None:
    """Chunks are answers, orders to remove are nothing, what a program put there nobody said, and
    a time kept in ``additional_kwargs`` is the message's: alike in lists, lines and checkpoints."""
    found = read(write(tmp_path / "dump.json", content))
    assert [(m.role, m.id, m.thread) for m in found if m.spoken] == [
        ("user", "h1", "dump"),
        ("assistant", "a1", "dump"),
    ]
    assert [m.id for m in found if m.injected] == ["s1"]
    assert found[0].at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("name", ["at", "timestamp", "created_at"])
def test_the_time_of_a_line_may_have_another_name(tmp_path: Path, name: str) -> None:
    """The names that exports give it are read."""
    line = {"role": "user", "content": "Hi", name: "2026-01-01T00:00:00Z"}
    [found] = read(write(tmp_path / "talk.jsonl", jsonl(line)))
    assert found.at == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_time_of_somebody_else_in_a_dump_is_no_error(tmp_path: Path) -> None:
    """``additional_kwargs`` belongs to the application: it sets no time and causes no error."""
    message = HumanMessage("Hi", additional_kwargs={"timestamp": "a while ago"}).model_dump()
    [found] = read(write(tmp_path / "dump.json", [message]))
    assert found.at is None


def test_states_whose_messages_have_no_ids_lose_none(tmp_path: Path) -> None:
    """A history of states without message ids has every message once, also when the window moved
    and later states begin with something else."""
    said = [{"role": "user", "content": text} for text in ("one", "two", "three", "two")]
    states = [
        {"values": {"messages": window}, "thread_id": "t"}
        for window in (said[1:], said[:3], said[:1])
    ]
    found = read(write(tmp_path / "history.json", states))
    assert [message.content for message in found] == ["one", "two", "three", "two"]


@pytest.mark.parametrize("start", [b"\n", b"\xef\xbb\xbf\r\n \t\r\n"])
def test_blank_lines_at_the_beginning_are_skipped(tmp_path: Path, start: bytes) -> None:
    """JSONL may begin with blank lines, whatever words are in its first message."""
    path = tmp_path / "talk.jsonl"
    path.write_bytes(start + b'{"role": "user", "content": "my \\"messages\\" app"}\r\n')
    assert [message.content for message in read(path)] == ['my "messages" app']


def test_half_an_emoji_does_not_stop_an_import(tmp_path: Path) -> None:
    """A character some client cut in two becomes U+FFFD; the rest of the message stays."""
    path = write(tmp_path / "talk.jsonl", '{"role": "user", "content": "Hi \\ud83d", "id": "1"}')
    assert [message.content for message in read(path)] == ["Hi \ufffd"]


def test_states_as_lines_are_refused_with_the_way_out(tmp_path: Path) -> None:
    """Two states one below the other are no JSON; the error says what is."""
    path = write(tmp_path / "states.jsonl", jsonl({"messages": []}, {"messages": []}))
    with pytest.raises(ImportFormatError, match=r"line 2: more after .* into one JSON array"):
        read(path)


def tree_node(
    name: str, parent: str | None, *children: str, at: float | None = None
) -> dict[str, Any]:
    """A node of a ChatGPT conversation, whose text is its name."""
    message = {
        "id": name,
        "author": {"role": "user"},
        "create_time": at,
        "content": {"content_type": "text", "parts": [name]},
    }
    return {"message": message, "parent": parent, "children": list(children)}


@pytest.mark.parametrize(
    ("mapping", "current", "said"),
    [
        ({"a": tree_node("a", None, "b"), "b": tree_node("b", "a")}, "deleted", ["a", "b"]),
        ({"a": tree_node("a", None, "deleted")}, None, ["a"]),
        ({"a": tree_node("a", None, "b"), "b": None, "c": tree_node("c", "b")}, "c", ["a", "c"]),
    ],
)
def test_deleted_nodes_of_a_chatgpt_tree_take_nothing_with_them(
    tmp_path: Path, mapping: dict[str, Any], current: str | None, said: list[str]
) -> None:
    """Where the last node, a leaf or one in the middle is gone, all the others are still read."""
    conversation = {"id": "c", "mapping": mapping, "current_node": current}
    found = read(write(tmp_path / "conversations.json", [conversation]))
    assert [message.content for message in found] == said


def test_a_chatgpt_message_without_a_time_was_said_after_the_one_before(tmp_path: Path) -> None:
    """It takes the time of the message before it, not of a conversation begun months ago."""
    mapping = {"a": tree_node("a", None, "b", at=1_767_225_600), "b": tree_node("b", "a")}
    conversation = {"id": "c", "create_time": 0.5, "mapping": mapping, "current_node": "b"}
    found = read(write(tmp_path / "conversations.json", [conversation]))
    assert [message.at for message in found] == [datetime(2026, 1, 1, tzinfo=UTC)] * 2


@pytest.mark.parametrize(
    "damage",
    [
        {"author": None},
        {"author": {}},
        {"author": {"role": "critic"}},
        {"author": "assistant"},
        {"content": None},
        {"content": "text"},
        None,
        "text",
    ],
)
def test_one_odd_message_of_a_chatgpt_export_does_not_keep_out_the_others(
    tmp_path: Path, damage: dict[str, Any] | str | None
) -> None:
    """A message without an author, of an unknown role or without content was said by nobody, as a
    system prompt; the rest of the conversations is read."""
    odd = tree_node("odd", "a", "b")
    odd["message"] = {**odd["message"], **damage} if isinstance(damage, dict) else damage
    mapping = {"a": tree_node("a", None, "odd"), "odd": odd, "b": tree_node("b", "odd")}
    conversations = [
        {"id": "c", "mapping": mapping, "current_node": "b"},
        {"id": "empty", "mapping": None},
        {"id": "d", "mapping": {"c": tree_node("c", None)}, "current_node": "c"},
    ]
    found = read(write(tmp_path / "conversations.json", conversations))
    assert [message.content for message in found if message.spoken] == ["a", "b", "c"]


@pytest.mark.parametrize("value", ["[" * 100_000 + "]" * 100_000, "9" * 5_000])
@pytest.mark.parametrize("form", ["[%s]", "%s\n%s", '{"messages": %s}'])
def test_json_that_python_does_not_read_is_an_error_of_the_file(
    tmp_path: Path, value: str, form: str
) -> None:
    """Nested too deeply, or a number of too many digits: the file is named, as for any other."""
    row = json.dumps({"role": "user", "content": "Hi.", "at": 0})
    bad = row.replace('"at": 0', f'"at": {value}')
    file = write(tmp_path / "bomb.json", form % ((row, bad) if form.count("%s") == 2 else bad))
    with pytest.raises(ImportFormatError, match=r"bomb\.json"):
        read(file)


@pytest.mark.parametrize("start", ["", "["])
def test_a_line_or_element_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    """An import refuses a line, or an element of an array, above the stated size, and names it."""
    monkeypatch.setattr(json_stream, "MAX_BYTES", 1 << 20)
    message = {"role": "user", "content": "x" * (3 << 20)}
    text = json.dumps([message] if start else message)
    with pytest.raises(
        ImportFormatError, match=r"line 1: this (line|element) is longer than 1 MiB"
    ):
        read(write(tmp_path / "long.json", text))


def test_whatever_was_exported_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row of an export is too long for an import, however long a memory is."""
    monkeypatch.setattr("langmemory.parts.importing.json_stream.MAX_BYTES", 1 << 10)
    export = tmp_path / "export.jsonl"
    row = {"type": "item", "value": {"text": "x" * (1 << 12)}}
    export.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with export.open("rb") as file:
        assert list(read_rows(file)) == [row]
