"""The data exports of ChatGPT and Claude, `conversations.json`: a list of conversations.

ChatGPT's is a tree of messages: editing or regenerating makes branches. The person sees the path from
`current_node` to the root, and only that path is imported. Claude's is a list of messages, which may say what
each answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from langmemory.parts.importing.json_stream import iterate_array
from langmemory.parts.importing.message import ROLES, ImportedMessage, MessageReader, text_of
from langmemory.timestamps import moment

CONTENT_TYPES = ("text", "multimodal_text", "code")
"""The content types of what was said. Reasoning, browsing and profile entries have types of their own."""


PARENT = "parent_message_uuid"
"""Names what a message of Claude's answers."""


def read_chatgpt(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the messages; the conversation's id is the thread.

    A message without a time has that of the one before it, the first that of the conversation.
    """
    reader = MessageReader(file=file.name)
    for number, (line, conversation) in enumerate(iterate_array(file), start=1):
        where = f"line {line}, conversation {number}"
        found = conversation.get("mapping", 0) if isinstance(conversation, dict) else 0
        if not isinstance(found, dict | None):
            raise reader.error(where, "no mapping; expected a conversation of a ChatGPT export")
        _check(reader, where, conversation)
        thread = conversation.get("conversation_id") or conversation.get("id")
        at = conversation.get("create_time")
        for message in _branch(conversation):
            author = _object(message.get("author"))
            role = author.get("role")
            known = isinstance(role, str) and role in ROLES
            at = message.get("create_time") or at
            yield reader.message(
                where=where,
                role=role if known else "system",  # nobody's, where no author stands
                content=_content(message),
                thread=str(thread or f"conversation-{number}"),
                id=message.get("id"),
                at=at,
                name="ChatGPT" if role == "assistant" else author.get("name"),
            )


def _check(reader: MessageReader, where: str, conversation: dict[str, Any]) -> None:
    """Raise `ImportFormatError` where the links between the nodes cannot be followed."""
    current = conversation.get("current_node")
    reader.check(where, "current_node", current, str, "the id of a node")
    for name, node in _object(conversation["mapping"]).items():
        here, links = f"{where}, node {name!r:.80}", _object(node)
        reader.check(here, "parent", links.get("parent"), str, "the id of a node")
        reader.check(here, "children", links.get("children"), list, "a list of ids")
        for child in links.get("children") or ():
            reader.check(here, "a child", child, str, "the id of a node")


def _branch(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """The visible messages from the root to `current_node`, oldest first.

    Nodes may be missing: a deleted `current_node` leaves the newest leaf, and what was said above a
    deleted node is found by the node that has it as a child.
    """
    mapping = _object(conversation["mapping"])
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    above = {child: name for name, node in nodes.items() for child in node.get("children") or ()}
    current = conversation.get("current_node")
    node_id: str | None = current if current in nodes else _last_leaf(nodes)
    messages: list[dict[str, Any]] = []
    seen: set[str] = set()
    while node_id is not None and node_id in nodes and node_id not in seen:
        seen.add(node_id)
        node = nodes[node_id]
        if _visible(node.get("message")):
            messages.append(node["message"])
        parent = node.get("parent")
        node_id = parent if parent in nodes else above.get(parent)
    return messages[::-1]


def _last_leaf(nodes: dict[str, dict[str, Any]]) -> str | None:
    """The newest message without an answer: where a conversation without `current_node` ended."""

    def said_at(node_id: str) -> float:
        at = moment(_object(nodes[node_id].get("message")).get("create_time"), or_seconds=True)
        return at.timestamp() if at else 0.0

    leaves = [
        name for name, node in nodes.items() if nodes.keys().isdisjoint(node.get("children") or ())
    ]
    return max(leaves, default=None, key=said_at)


def _visible(message: Any) -> bool:
    if not message or not isinstance(message, dict):
        return False
    metadata = _object(message.get("metadata"))
    addressed_to_a_tool = message.get("recipient", "all") not in ("all", None)
    return not addressed_to_a_tool and not metadata.get("is_visually_hidden_from_conversation")


def _object(found: Any) -> dict[str, Any]:
    """Return an object; an empty one where it is missing, null or something else."""
    return found if isinstance(found, dict) else {}


def _content(message: dict[str, Any]) -> Any:
    content = _object(message.get("content"))
    if content.get("content_type") not in CONTENT_TYPES:
        return ""
    return content.get("parts") or content.get("text")


def read_claude(file: BinaryIO) -> Iterator[ImportedMessage]:
    """Stream the messages; the conversation's id is the thread, and what was said on another branch a thread
    of its own.

    Of a message only what was said counts: not its tool calls, its reasoning, and attached files.
    """
    reader = MessageReader(file=file.name)
    for number, (line, conversation) in enumerate(iterate_array(file), start=1):
        where = f"line {line}, conversation {number}"
        found = conversation.get("chat_messages") if isinstance(conversation, dict) else None
        if not isinstance(found, list):
            raise reader.error(
                where, "no chat_messages; expected a conversation of a Claude export"
            )
        thread = str(conversation.get("uuid") or f"conversation-{number}")
        for position, message in enumerate(found, start=1):
            if not isinstance(message, dict):
                place = f"{where}, message {position}"
                raise reader.error(place, f"{type(message).__name__}; expected a message object")
        shown = True
        for branch in _branches(found, conversation.get("current_leaf_message_uuid")):
            begun = found[branch[0]].get("uuid") or branch[0] + 1
            name, shown = thread if shown else f"{thread}/{begun}", False
            for at in branch:
                place = f"{where}, message {at + 1}"
                yield _message(reader, place, found[at], name, conversation.get("created_at"))


def _branches(messages: Sequence[Mapping[str, Any]], shown: object) -> Iterator[list[int]]:
    """Yield the branches of a conversation as places of messages: the one that is shown whole, then each
    other one from where it leaves those before. A message that does not say what it answers follows the one
    above.

    Args:
        messages: All of them.
        shown: The id of the last message of the branch that is shown; else that is the last message.
    """
    places = {str(one["uuid"]): place for place, one in enumerate(messages) if one.get("uuid")}
    above = [
        places.get(str(one[PARENT])) if PARENT in one else place - 1
        for place, one in enumerate(messages)
    ]
    answered = set(above)
    ends = [place for place in range(len(messages)) if place not in answered]
    left = set(range(len(messages)))
    # In a circle no message is the last one.
    first = places.get(str(shown))
    begin = ends[-1:] if first is None else [first]
    for last in (*begin, *ends, *range(len(messages))):
        place: int | None = last
        branch: list[int] = []
        while place is not None and place in left:
            left.discard(place)
            branch.append(place)
            place = above[place]
        if branch:
            yield branch[::-1]


def _message(
    reader: MessageReader, where: str, message: dict[str, Any], thread: str, at: object
) -> ImportedMessage:
    sender, content = message.get("sender"), message.get("content")
    return reader.message(
        where=where,
        role=sender,
        content=message.get("text") if text_of(content) == "" else content,
        thread=thread,
        id=message.get("uuid"),
        at=message.get("created_at") or at,
        name="Claude" if sender == "assistant" else None,
    )
