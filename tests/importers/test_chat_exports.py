"""Exports of Claude, Slack, WhatsApp and mail become messages; what a program wrote among them does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from langmemory.errors import ImportFormatError
from langmemory.parts.importing import ImportedMessage, detect, read_messages
from langmemory.parts.importing.importing import import_conversations
from langmemory.stores import MemoryStore
from tests.tables import tables

ODD = tables(__file__)


def read(path: Path, expected: str) -> list[ImportedMessage]:
    """Return what somebody said in a file, whose format is found."""
    with path.open("rb") as file:
        format = detect(file)
        assert format == expected
        return [one for one in read_messages(file, format) if one.spoken]


def test_claude(tmp_path: Path) -> None:
    """What both said, with its ids and times; not tool calls."""
    said = [
        {"uuid": "m1", "sender": "human", "text": "Wo wohnt Ana?", "created_at": "2026-03-01T10:00:00Z"},
        {
            "uuid": "m2", "sender": "assistant", "text": "", "created_at": "2026-03-01T10:00:05Z",
            "content": [{"type": "tool_use", "name": "search"}, {"type": "text", "text": "In Graz."}],
        },
    ]  # fmt: skip
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"uuid": "c1", "name": "", "chat_messages": said}]), "utf-8")
    question, answer = read(path, "claude")
    assert (question.thread, question.id, question.role) == ("c1", "m1", "user")
    assert (answer.content, answer.name) == ("In Graz.", "Claude")
    assert answer.at == datetime(2026, 3, 1, 10, 0, 5, tzinfo=UTC)


def test_slack(tmp_path: Path) -> None:
    """People have their names, answers the thread of their question; joins and programs are left out."""
    users = [
        {"id": "U1", "name": "ana", "profile": {"real_name": "Ana Ruiz"}},
        {"id": "U2", "name": "bo"},
    ]
    (tmp_path / "users.json").write_text(json.dumps(users), "utf-8")
    day = tmp_path / "general" / "2026-03-01.json"
    day.parent.mkdir()
    said = [
        {"type": "message", "user": "U1", "ts": "17.1", "text": "Ask <@U2> &amp; <https://a.b|the page>"},
        {"type": "message", "user": "U2", "ts": "18.1", "thread_ts": "17.1", "text": "Done"},
        {"type": "message", "user": "U2", "ts": "19.1", "subtype": "channel_join", "text": "joined"},
        {"type": "message", "bot_id": "B1", "ts": "20.1", "text": "build failed"},
    ]  # fmt: skip
    day.write_text(json.dumps(said), "utf-8")
    first, answer = read(day, "slack")
    assert (first.content, first.name) == ("Ask @bo & the page", "Ana Ruiz")
    assert (first.thread, answer.thread) == ("general", "general/17.1")
    assert first.id == "general/17.1"


@pytest.mark.parametrize(
    ("lines", "at", "texts"),
    [
        (  # Android, English of the United States
            "1/3/26, 9:41 PM - Messages and calls are end-to-end encrypted.\n"
            "1/3/26, 9:42 PM - Ana: Hi\nsecond line\n1/14/26, 12:05 AM - Bo: <Media omitted>\n",
            datetime(2026, 1, 3, 21, 42, tzinfo=UTC),
            [("Ana", "Hi\nsecond line")],
        ),
        (  # Android, German
            "03.01.26, 21:42 - Ana: Grüße aus Köln\n04.01.26, 08:00 - Bo: <Medien ausgeschlossen>\n"
            "04.01.26, 08:01 - Bo: Fein <Diese Nachricht wurde bearbeitet.>\n",
            datetime(2026, 1, 3, 21, 42, tzinfo=UTC),
            [("Ana", "Grüße aus Köln"), ("Bo", "Fein")],
        ),
        (  # iPhone, Spanish
            "[3/1/26, 9:42:10\u202fp.\u00a0m.] Ana: Hola: ¿qué tal?\n"
            "\u200e[13/1/26, 9:43:10\u202fp.\u00a0m.] Bo: \u200eimagen omitida\n",
            datetime(2026, 1, 3, 21, 42, 10, tzinfo=UTC),
            [("Ana", "Hola: ¿qué tal?")],
        ),
        (  # Android, Chinese
            "2026/1/3 下午9:42 - 王伟: 你好\n2026/1/3 下午9:43 - 李娜: <省略多媒体文件>\n"
            '2026/1/3 下午9:44 - 王伟 将主题更改为"旅行: 罗马"\n',
            datetime(2026, 1, 3, 21, 42, tzinfo=UTC),
            [("王伟", "你好")],
        ),
        (  # no day above 12: the order of the messages tells
            "02/01/2026, 10:00 - Ana: eins\n01/02/2026, 10:00 - Ana: zwei\n",
            datetime(2026, 1, 2, 10, 0, tzinfo=UTC),
            [("Ana", "eins"), ("Ana", "zwei")],
        ),
        (
            "15/01/2026 à 10:12 - Léa: À midi <3\n15/01/2026 à 10:13 - Léa: <Médias omis>\n",
            datetime(2026, 1, 15, 10, 12, tzinfo=UTC),
            [("Léa", "À midi <3")],
        ),
    ],
    ids=["en", "de", "es", "zh", "by order", "a language without a list"],
)
def test_whatsapp(tmp_path: Path, lines: str, at: datetime, texts: list[tuple[str, str]]) -> None:
    """Dates of several languages are read; what the application writes itself is left out."""
    path = tmp_path / "Trip.txt"
    path.write_text(lines, "utf-8")
    found = read(path, "whatsapp")
    assert [(one.name, one.content) for one in found] == texts
    assert (found[0].at, found[0].thread) == (at, "Trip")


def test_mail(tmp_path: Path) -> None:
    """A mail is what its writer says: not what it quotes, its signature, or an attached file."""
    path = tmp_path / "archive.mbox"
    path.write_bytes(
        b"From ana@x Sun Mar  1 10:00:00 2026\nFrom: =?utf-8?q?Ana_R=C3=ADos?= <ana@x>\n"
        b"Subject: Lunch\nMessage-ID: <1@x>\nDate: Sun, 01 Mar 2026 10:00:00 +0100\n\n"
        b">From now on we eat at noon.\n-- \nAna\n\n"
        b"From bo@x Sun Mar  1 11:00:00 2026\nFrom: bo@x\nSubject: Re: Lunch\nMessage-ID: <2@x>\n"
        b"References: <1@x>\nContent-Type: text/html; charset=utf-8\nDate: nonsense\n\n"
        b"<style>p{}</style><p>Fine &amp; good</p><blockquote>From now on</blockquote>\n"
    )
    first, answer = read(path, "mbox")
    assert (first.name, first.content) == ("Ana Ríos", "Lunch\n\nFrom now on we eat at noon.")
    assert first.at == datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
    assert (answer.name, answer.content, answer.thread) == ("bo@x", "Fine & good", first.thread)
    assert (answer.id, answer.at) == ("2@x", None)


@pytest.mark.parametrize(("text", "said"), [one[1:] for one in ODD["whatsapp"]])
def test_odd_chats(tmp_path: Path, text: str, said: list[tuple[str, str]]) -> None:
    """Captions stay without their pictures, words that only look like the application's stay, names may have
    quotation marks, and a letter that grows as it is folded moves nothing."""
    path = tmp_path / "Trip.txt"
    path.write_bytes(text.encode())
    assert [(one.name, one.content) for one in read(path, "whatsapp")] == list(said)


@pytest.mark.parametrize(("text", "said", "unread"), [one[1:] for one in ODD["mail"]])
def test_odd_mails(
    tmp_path: Path, text: str, said: list[tuple[str, str]], unread: list[str]
) -> None:
    """Charsets that are missing, wrong or unknown, blank parts, "From" within a text, doubled separators:
    each mail is read, and what of it cannot be is told."""
    fields = "From: Ann <ann@x.org>\nMessage-ID: <1@x>\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nSubject: Trip\n"
    for name, stands_for in (
        ("from", "From a@x Mon Jan  1 00:00:00 2024\n"), ("fields", fields),
        ("more", fields.replace("1@x", "2@x")),
    ):  # fmt: skip
        text = text.replace(f"{{{name}}}", stands_for)
    path = tmp_path / "odd.mbox"
    path.write_bytes(text.encode("latin-1"))
    with path.open("rb") as file:
        if unread == ("refused",):
            with pytest.raises(ImportFormatError, match="odd"):
                detect(file)
            return
        found = list(read_messages(file, detect(file)))
    assert [(one.name or "", one.content) for one in found if one.spoken] == list(said)
    assert [one.unread for one in found if one.unread] == list(unread)


def test_a_mail_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """An import tells what it could not read, and keeps the rest."""
    path = tmp_path / "odd.mbox"
    head = b"From a@x Mon Jan  1 00:00:00 2024\nFrom: a@x\n"
    text = "Паром отходит в семь утра".encode("cp1251")
    path.write_bytes(head + b"\n" + text + b"\n\n" + head + b"\nHello\n")
    with MemoryStore(tmp_path / "memory.db", index=False) as store, path.open("rb") as file:
        report = import_conversations(store, ("memories",), file, "mbox")
    assert (report.read, report.added, len(report.unread)) == (2, 1, 1)
    assert report.unread[0].startswith("line 1: its text is in no known charset")


@pytest.mark.parametrize(("written", "shown", "said"), [one[1:] for one in ODD["claude"]])
def test_branches_of_a_claude_export(
    tmp_path: Path, written: str, shown: str, said: list[str]
) -> None:
    """The branch that is shown is the thread, each other one a thread of its own from where it leaves; no
    message is lost, or there twice."""
    messages = []
    for one in written.split():
        id, answers, above = one.partition("<")
        parent = {"parent_message_uuid": above or None} if answers else {}
        messages.append({"uuid": id, "sender": "human", "text": id, **parent})
    path = tmp_path / "conversations.json"
    conversation = {"uuid": "T", "chat_messages": messages, "current_leaf_message_uuid": shown}
    path.write_text(json.dumps([conversation]), "utf-8")
    assert [f"{one.thread}: {one.content}" for one in read(path, "claude")] == list(said)


@pytest.mark.parametrize(
    "copied",
    [
        "On Mon, Jan 5, 2026 at 10:00 AM Bo Berg, the accountant <bo@example.org>\nwrote:\n\n> I refuse.\n",
        "-----Original Message-----\nFrom: Bo Berg\nSent: Monday, January 5, 2026\nTo: Ana\n\nI refuse.\n",
        "________________________________\nVon: Bo Berg <bo@x>\nGesendet: Montag, 5. Januar\n\nNein.\n",
        "---------- Forwarded message ---------\nFrom: Bo <bo@x>\nDate: Mon, 5 Jan 2026\n\nI refuse.\n",
        "*De:* Bo Berg\n*Enviado el:* lunes\n\nNo.\n",
        "发件人: 王伟\n发送时间: 2026年1月5日\n\n不行。\n",
    ],
)
def test_what_a_mail_copies_is_not_its_writers(tmp_path: Path, copied: str) -> None:
    """Nobody is taken to say what stands in a mail that theirs answers or passes on."""
    path = tmp_path / "a.mbox"
    own = "I agree with this:\n- from: Graz\n- date: in May\n\nI sign."
    head = "From a@x Mon\nFrom: Ana <a@x>\nContent-Type: text/plain; charset=utf-8\n\n"
    path.write_text(f"{head}{own}\n\n{copied}", "utf-8")
    [mail] = read(path, "mbox")
    assert mail.content == own


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", '[{"uuid": "c", "chat_messages": [1]}]', "message 1: int"),
        ("b.json", '[{"type": "message", "ts": "soon", "user": "U"}]', "ts is 'soon'"),
        ("c.txt", "31.02.26, 10:00 - Ana: hi\n", "line 1: the time is"),
    ],
)
def test_a_damaged_export_is_told(tmp_path: Path, name: str, text: str, said: str) -> None:
    """The error names the file, the place, and what was found."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with path.open("rb") as file, pytest.raises(ImportFormatError, match=said) as raised:
        list(read_messages(file, detect(file)))
    assert name in str(raised.value)
