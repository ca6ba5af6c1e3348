"""The indexed parts of an item, and the writes that carry it: texts, vectors, tokens, keyword bodies, and
the names of those who speak.

A turn without a name is its owner's, and is stored under the owner's id. Once somebody says what they are
called, that name is indexed with their turns.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypedDict, cast

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import get_text_at_path
from langgraph.store.base.embed import AEmbeddingsFunc, EmbeddingsFunc

from langmemory.config import Config
from langmemory.context.notes import MONTHS
from langmemory.embeddings import Embedder, StaticEmbedder, resolve_embedder
from langmemory.embeddings.static import ENGLISH, TokenIds
from langmemory.errors import (
    ConfigError,
    EmbeddingModelMismatchError,
    InvalidValueError,
    VaultError,
)
from langmemory.formation.entities.roles import person_words
from langmemory.languages import index_text, passages
from langmemory.languages.spelling import name_key
from langmemory.ledger import standing
from langmemory.ledger.connection import MAX_VECTORS, Connection
from langmemory.ledger.engine import Engine
from langmemory.ledger.items import NO_VECTORS, IndexFields, Write
from langmemory.ledger.namespaces import from_path
from langmemory.ledger.settings import ModelSetting
from langmemory.ledger.sparse import SparseSetting
from langmemory.ledger.tables.schema import ITEM
from langmemory.ledger.tables.table import Column
from langmemory.ledger.values import by_clock, leaves, to_us
from langmemory.links import is_link
from langmemory.messages import ANONYMOUS, is_own
from langmemory.ports.candidates import Floats
from langmemory.ports.facts import fingerprint
from langmemory.ports.sparse import Pairs
from langmemory.recall import vocabulary
from langmemory.recall.contentless import doing
from langmemory.recall.sparse_encoders import CheckedEncoder, merge_vectors
from langmemory.resources import is_chunk, searched_text
from langmemory.timestamps import moment
from langmemory.trust import TELLS_TRUST, capped, trust_of
from langmemory.types import Memory, Namespace, SearchMode
from langmemory.values import check_keys, from_json, readable_text, to_json

ANONYMOUS_MODEL: Final = "custom"
"""Model id of functions without a name; only their dims can be compared."""

_static = StaticEmbedder()


class IndexConfig(TypedDict, total=False):
    """LangGraph's index config, and how to rank."""

    dims: int
    embed: Embeddings | EmbeddingsFunc | AEmbeddingsFunc | str
    fields: list[str] | None
    """Paths to embed. Without a config: the readable text of the value; with one: ``["$"]``."""
    text_fields: list[str] | None
    """The same under the name LangGraph's SqliteStore reads."""
    search: SearchMode
    """The arms that rank a search: ``hybrid`` (default), ``semantic`` or ``keyword``."""
    exact: bool
    """Let no sign bits choose which vectors a search compares; see the configuration."""
    model: str
    """Name to remember the vectors by, where the embedder has none of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Indexing:
    """How a store indexes: its embedder, its fields, its ranking."""

    embedder: Embedder | None
    mode: SearchMode
    fields: tuple[str, ...] | None
    """None: the readable text of the value."""
    passage_characters: int | None = None
    """Length of the passages in which long texts are embedded too; None: whole texts only."""
    sparse: CheckedEncoder | None = None
    """Makes sparse vectors of the same texts."""
    config: IndexConfig | None = field(default=None)
    """As LangGraph shows it (``store.index_config``); None with ``index=False``."""

    @property
    def semantic(self) -> bool:
        """Whether searches look at vectors."""
        return self.embedder is not None and self.mode != "keyword"

    @property
    def _embeds(self) -> bool:
        """Whether vectors of any kind are made of texts."""
        return self.embedder is not None or self.sparse is not None

    def draft(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any],
        *,
        index: IndexFields = None,
        ttl_minutes: float | None = None,
        body_of: Callable[[str], str] | None = None,
        new: bool = True,
    ) -> Write:
        """Check an item and find its texts.

        With ``body_of`` its readable text is embedded whatever the fields are, and that of it is the
        keyword body. What is not ``new`` may hold infinite numbers, as values of earlier versions do.

        Raises:
            InvalidValueError: The value has no JSON form; nothing is written.
        """
        if not isinstance(value, Mapping):
            raise ConfigError(
                f"The value of {key!r} is a {type(value).__name__}; pass a dict, of a pydantic model "
                "its model_dump()."
            )
        if index is not None and index is not False and not isinstance(index, list | tuple):
            raise ConfigError(
                f"index is {index!r:.80}; pass a list of paths, False for no index, or None."
            )
        as_it_is = check_keys(value)
        json_text = to_json(value, finite=new)
        plain = cast("dict[str, Any]", value)
        if not as_it_is:
            plain = from_json(json_text)
            check_keys(plain)  # what an object became may nest deeper
        text = readable_text(plain)
        fact = is_fact(plain)
        if index is None and (is_node(key, plain) or is_link(key, plain)):
            index = False
        if body_of is not None:
            texts = self._parts((text,)) if self._embeds else ()
            body: str | None = body_of(text)
        elif index is None and is_chunk(plain):  # found also by the headings above it
            texts = self._parts((searched_text(plain),)) if self._embeds else ()
            body = index_text(f"{plain.get('path', '')} {searched_text(plain)}")
        elif fact and index is None:  # embedded as it is said, findable also by who and when
            texts = self._texts(plain, text, ["text"])
            body = fact_body(plain)
        else:
            found = self._texts(plain, text, index)
            texts = self._parts(found)
            body = None if index is False else index_text(self._body(plain, text, found, index))
        return Write(
            namespace=tuple(namespace), key=key, value=json_text, leaves=leaves(plain), text=text,
            texts=texts, index_fields=index, body=body, ttl_minutes=ttl_minutes,
            fingerprint=fingerprint(plain["text"]) if fact else None, facets=facets_of(plain),
        )  # fmt: skip

    def draft_turn(
        self,
        namespace: Namespace,
        key: str,
        value: dict[str, Any],
        *,
        speaker: str,
        at: datetime,
        new: bool = True,
    ) -> Write:
        """Return a turn as an item: embedded as it was said, findable also by who and when."""
        made = self.draft(
            namespace, key, value, body_of=lambda text: turn_body(speaker, at, text), new=new
        )
        made.facets = {
            "kind": "episodic", "speaker": speaker, "valid_at": to_us(at), "trust": trust_of(value)
        }  # fmt: skip
        return made

    def redraft(
        self, namespace: Namespace, key: str, value: dict[str, Any], columns: Mapping[str, Any]
    ) -> Write:
        """Return a stored item as it would be drafted today: a turn as a turn, anything else as a put.

        ``columns`` are those of its row, as they are or were: ``index_fields`` as JSON, ``speaker``,
        ``valid_at``, and ``thread_id``, the name of its thread.
        """
        index, said_us = columns["index_fields"], columns["valid_at"]
        if columns["thread_id"] is not None and said_us is not None and index is None:
            at = by_clock(said_us, value.get("at"))
            speaker = columns["speaker"] or ""
            return self.draft_turn(namespace, key, value, speaker=speaker, at=at, new=False)
        fields = None if index is None else json.loads(index)
        return self.draft(namespace, key, value, index=fields, new=False)

    def _texts(self, value: dict[str, Any], text: str, index: IndexFields) -> tuple[str, ...]:
        if index is False or not self._embeds:
            return ()
        fields = self.fields if index is None else index
        if fields is None:
            return (text,) if text.strip() else ()
        return tuple(found for found in _texts_at(value, fields) if found.strip())

    def _parts(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Return the embedded parts of some texts: each whole, and a long one in passages as well, which one
        vector for all of it would hide."""
        size = self.passage_characters
        if size is None or not any(len(text) > size for text in texts):
            return texts
        found: list[str] = []
        for text in texts:
            parts = passages(text, size)
            found += [text, *parts] if len(parts) > 1 else [text]
        return tuple(found) if len(found) <= MAX_VECTORS else texts

    def _body(
        self, value: dict[str, Any], text: str, texts: tuple[str, ...], index: IndexFields
    ) -> str:
        fields = self.fields if index is None else index
        if fields is None or fields is False or "$" in fields:
            return text
        if self._embeds:
            return "\n".join(texts)
        return "\n".join(_texts_at(value, fields))

    def pending(self, writes: Sequence[Write], engine: Engine | None = None) -> Pending:
        """Return the texts of these writes that have to be embedded; those of which ``engine`` has the
        vectors are looked up."""
        texts = [text for write in writes for text in write.texts]
        embedder = self.embedder
        # Without a name another function's vectors would do.
        if embedder is None or embedder.cheap or embedder.model_id == ANONYMOUS_MODEL:
            unnamed = [None] * len(texts)
            cheap = embedder is None or embedder.cheap
            return Pending(texts, unnamed, texts if cheap else list(dict.fromkeys(texts)), {})
        named = (f"{embedder.model_id}\0{text}".encode() for text in texts)
        hashes = [hashlib.blake2b(one, digest_size=16).digest() for one in named]
        known: dict[bytes, Floats] = {}
        if engine is not None and hashes:
            with engine.glance() as snapshot:
                known = snapshot.cached_vectors(list(dict.fromkeys(hashes)))
        missing = (text for text, key in zip(texts, hashes, strict=True) if key not in known)
        return Pending(texts, hashes, list(dict.fromkeys(missing)), known)

    def embed(self, writes: Sequence[Write], pending: Pending, *, tokens: bool) -> list[Write]:
        """Embed what is pending, in this thread, and lay it into the writes.

        Args:
            tokens: Keep the token ids of the readable texts, for late interaction; with the embedded
                model they are kept anyway.
        """
        if isinstance(self.embedder, StaticEmbedder):  # split once, for tokens and vectors
            split = _split(writes, pending.texts)
            tokens_of_each = [split[text] for text in pending.texts]
            vectors = self.embedder.embed_split(pending.texts, tokens_of_each)
            stored = _tokens([split[write.text] for write in writes], writes)
            return _laid(writes, vectors, pending.hashes, stored)
        return self.finish(writes, pending, self.embed_missing(pending), tokens=tokens)

    def embed_missing(self, pending: Pending) -> Floats | None:
        """Return the model's vectors for what is missing; None where nothing is."""
        if self.embedder is None or not pending.missing:
            return None
        return self.embedder.embed_documents(pending.missing)

    async def aembed_missing(self, pending: Pending) -> Floats | None:
        """`embed_missing`, awaiting the model."""
        if self.embedder is None or not pending.missing:
            return None
        return await self.embedder.aembed_documents(pending.missing)

    def encode(self, writes: Sequence[Write]) -> None:
        """Lay the sparse vectors of their texts into the writes, where there is an encoder."""
        if self.sparse is not None and (texts := _texts_of(writes)):
            _lay_sparse(writes, self.sparse.encode_documents(texts))

    async def aencode(self, writes: Sequence[Write]) -> None:
        """`encode`, awaiting the encoder."""
        if self.sparse is not None and (texts := _texts_of(writes)):
            _lay_sparse(writes, await self.sparse.aencode_documents(texts))

    def finish(
        self, writes: Sequence[Write], pending: Pending, fresh: Floats | None, *, tokens: bool
    ) -> list[Write]:
        """Lay the vectors of all texts into the writes: the fresh ones, and those that the file had. For
        ``tokens`` see `embed`."""
        vectors = NO_VECTORS
        if fresh is not None and len(fresh) == len(pending.texts):  # all new, none twice
            vectors = fresh
        elif pending.texts and self.embedder is not None:
            new = dict(zip(pending.missing, fresh if fresh is not None else (), strict=True))
            vectors = np.stack(
                [
                    new[text] if text in new else pending.known[key or b""]
                    for text, key in zip(pending.texts, pending.hashes, strict=True)
                ]
            )
        tokens = tokens or isinstance(self.embedder, StaticEmbedder)
        return _laid(writes, vectors, pending.hashes, tokens_of(writes) if tokens else None)

    def of_file(self, found: ModelSetting) -> Indexing:
        """Return this indexing, where the file has vectors of the embedded model before with that one."""
        if found.model == ENGLISH and isinstance(self.embedder, StaticEmbedder):
            return replace(self, embedder=StaticEmbedder(ENGLISH))
        return self

    def check_model(self, found: ModelSetting, path: str) -> None:
        """Raise unless the file's vectors come from this embedder.

        Raises:
            EmbeddingModelMismatchError: Names both models and the way out.
        """
        if self.embedder is None or found.model is None or self.serves(found):
            return
        raise EmbeddingModelMismatchError(
            f"The vectors in {path} come from {found.model} ({found.dims} dims), but the store was "
            f"opened with {self.embedder.model_id}"
            + (f" ({self.embedder.dims} dims)" if self.embedder.dims else "")
            + ". Open it with that model, or run `langmemory reembed` to move the file to this one."
        )

    def check_encoder(self, found: SparseSetting, path: str) -> None:
        """Raise unless the sparse vectors of the file come from this encoder.

        Raises:
            EmbeddingModelMismatchError: Names both encoders and the way out.
        """
        if self.sparse is None or found.encoder in (None, self.sparse.name):
            return
        raise EmbeddingModelMismatchError(
            f"The sparse vectors in {path} come from {found.encoder}, but the store was opened with "
            f"{self.sparse.name}. Open it with that encoder, or move the file to this one with "
            "langmemory.reencode."
        )

    def serves(self, found: ModelSetting) -> bool:
        """Return whether this embedder's query vectors can be compared with the file's."""
        return (
            self.embedder is not None
            and self.names(found)
            and self.embedder.dims in (None, found.dims)
        )

    def names(self, found: ModelSetting) -> bool:
        """Return whether this embedder is, by its name, the one that the file's vectors come from."""
        if self.embedder is None or found.model is None:
            return False
        names = {found.model, self.embedder.model_id}
        return len(names) == 1 or ANONYMOUS_MODEL in names


def _texts_of(writes: Sequence[Write]) -> list[str]:
    return [text for write in writes for text in write.texts]


def _lay_sparse(writes: Sequence[Write], vectors: Sequence[Pairs]) -> None:
    start = 0
    for write in writes:
        end = start + len(write.texts)
        if end > start:
            write.sparse = merge_vectors(vectors[start:end])
        start = end


class Pending(NamedTuple):
    """Texts to embed, and vectors the file already has for some of them."""

    texts: list[str]
    hashes: Sequence[bytes | None]
    """The key of each text among the vectors of the file, where the model has a name."""
    missing: list[str]
    known: dict[bytes, Floats]


def _laid(
    writes: Sequence[Write],
    vectors: Floats,
    hashes: Sequence[bytes | None],
    tokens: Sequence[bytes] | None,
) -> list[Write]:
    """Lay vectors, one for each text in order, and tokens, some for each write, into the writes."""
    start = 0
    for n, write in enumerate(writes):
        end = start + len(write.texts)
        if tokens is not None:
            write.tokens = tokens[n]
        if end > start:
            write.embedded, write.hashes = vectors[start:end], hashes[start:end]
        start = end
    return list(writes)


def _allows(column: Column) -> Callable[[Any], bool]:
    """Return whether a value may say this of a memory."""
    if column.one_of:
        return lambda said: isinstance(said, str) and said in column.one_of
    if column.type == "flag":
        return lambda said: isinstance(said, bool)
    if column.type == "real":
        return lambda said: (
            isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said <= 1
        )
    return lambda said: isinstance(said, str)


_OWN_FACETS: Final = {column.name: _allows(column) for column in ITEM.parts("facet")}
"""Facets that a value may name itself."""
_OWN_TIMES: Final = ("valid_at", "invalid_at")
"""Times that a value may name itself: since when and until when it is true."""
_TELLING: Final = frozenset((*_OWN_FACETS, *_OWN_TIMES, *TELLS_TRUST))


VAULT: Final = "vault"
"""What an item cannot be: its value would be stored in clear."""


def facets_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facets that a value names itself: ``{"text": …, "priority": "mandate"}`` is a mandate.

    Only entries with a facet's name and a facet's value count; LangMem's ``kind``, the name of a
    schema, is none of ours and changes nothing. What comes from no person has the priority that it may have
    by itself.

    Raises:
        InvalidValueError: ``valid_at`` or ``invalid_at`` is no time.
    """
    if _TELLING.isdisjoint(value):  # as nearly always
        return {}
    if value.get("kind") == VAULT:
        raise VaultError(
            "The kind 'vault' is for secrets, and an item stands in clear in the file, in recall and in "
            "prompts. Store the secret by store.vault.put(namespace, label, secret). Nothing was written."
        )
    own = {
        name: value[name]
        for name, allows in _OWN_FACETS.items()
        if name in value and allows(value[name])
    }
    if (trust := trust_of(value)) != "person":
        own["trust"] = trust
        if "priority" in own:
            own["priority"] = capped(trust, own["priority"])
    return own | {name: _time(name, value[name]) for name in _OWN_TIMES if name in value}


def _time(name: str, said: Any) -> int | None:
    """Return microseconds since 1970 UTC; None where no time is named."""
    if said is None:
        return None
    at = moment(said)
    if at is None:
        raise InvalidValueError(
            f"{name} is {said!r:.80}; pass a time as ISO 8601 has it, such as 2026-03-01 or "
            "2026-03-01T09:30:00+01:00, or give the entry another name. Nothing was written."
        )
    return to_us(at)


def _texts_at(value: dict[str, Any], fields: Sequence[str]) -> Iterator[str]:
    """Yield the texts at LangGraph paths."""
    for path in fields:
        found = value.get(path)
        if isinstance(found, str):  # a plain name, as nearly always
            yield found
        else:
            yield from get_text_at_path(value, path)


def tokens_of(writes: Sequence[Write]) -> list[bytes]:
    """Return the token ids of the readable texts, uint16 each, for late interaction."""
    return _tokens(_static.tokenize([write.text for write in writes]), writes)


def _split(writes: Sequence[Write], texts: Sequence[str]) -> dict[str, TokenIds]:
    """Return the token ids of the readable texts of writes and of those to be embedded. A text that is cut
    into passages between words has theirs."""
    cut: dict[str, list[str]] = {}
    for write in writes:
        whole, *parts = write.texts or ("",)
        between = all(part[-1] in " \n" for part in parts[:-1])
        if len(parts) > 1 and between and "".join(parts) == whole:
            cut[whole] = parts
    distinct = [
        text
        for text in dict.fromkeys([*(write.text for write in writes), *texts])
        if text not in cut
    ]
    split = dict(zip(distinct, _static.tokenize(distinct), strict=True))
    for whole, parts in cut.items():
        split[whole] = np.concatenate([split[part] for part in parts])
    return split


def _tokens(split: Sequence[TokenIds], writes: Sequence[Write]) -> list[bytes]:
    return [
        vocabulary.encode_item_tokens(ids, write.text, _marks(write))
        for ids, write in zip(split, writes, strict=True)
    ]


def _marks(write: Write) -> list[int]:
    """Return the marks of a turn of a conversation; nothing else has any."""
    roles = [leaf for path, leaf in write.leaves if path == "role"]
    if not roles:
        return []
    by_assistant = "assistant" in roles
    marks = [vocabulary.ASSISTANT] if by_assistant else []
    match doing(write.text, by_assistant=by_assistant):
        case "asks":
            marks.append(vocabulary.QUESTION)
        case "idle":
            marks.append(vocabulary.EMPTY)
        case "unknowing":
            marks += [vocabulary.QUESTION, vocabulary.EMPTY]
    return marks


def resolve_indexing(
    index: IndexConfig | Mapping[str, Any] | Literal[False] | None, config: Config
) -> Indexing:
    """Return how a store indexes, from its ``index`` argument.

    Raises:
        ConfigError: An unknown key or value.
        EmbeddingError: The embedder cannot be built.
    """
    if index is False:
        return Indexing(embedder=None, mode="keyword", fields=None)
    given = dict(index or {})
    known = {*IndexConfig.__annotations__, "distance_type"}  # SqliteStore's; cosine is the only one
    for name in given:
        if name not in known:
            raise ConfigError(
                f"Unknown key {name!r} in the index config. Known: {', '.join(sorted(known))}."
            )
    mode = given.get("search", config.search.mode)
    if mode not in ("hybrid", "semantic", "keyword"):
        raise ConfigError(
            f"index['search'] is {mode!r}; allowed are 'hybrid', 'semantic' and 'keyword'."
        )
    fields = given.get("fields") or given.get("text_fields")
    if isinstance(fields, str):
        raise ConfigError(f"index['fields'] is the string {fields!r}; pass a list of paths.")
    if fields is None and "embed" in given:
        fields = ["$"]
    embedder = resolve_embedder(
        given.get("embed"), given.get("dims"), model_id=given.get("model"), config=config
    )
    shown = cast("IndexConfig", {**given, "dims": embedder.dims, "search": mode})
    shown.setdefault("embed", embedder.embeddings)
    return Indexing(
        embedder=embedder,
        mode=mode,
        fields=None if fields is None else tuple(fields),
        passage_characters=config.search.passage_characters,
        config=shown,
    )


def turn_body(speaker: str, at: datetime, text: str) -> str:
    """Return the words that the keyword index reads of a turn: who, when, what."""
    return index_text(f"{speaker} {at.day} {MONTHS[at.month - 1]} {at.year} {text}")


def is_fact(value: Mapping[str, Any]) -> bool:
    """Return whether a value is what reflection derived: one sentence under ``text``, whatever else."""
    return isinstance(value.get("fact_kind"), str) and isinstance(value.get("text"), str)


def is_node(key: str, value: Mapping[str, Any]) -> bool:
    """Return whether a value is a summary of the tree, which is found by what it retells alone: its words and
    vectors would stand beside theirs in every search."""
    begins = key.startswith(("summary/", "theme/"))
    return begins and "digest" in value and isinstance(value.get("sentences"), list)


def fact_body(value: Mapping[str, Any]) -> str:
    """As `turn_body`, with the time the fact speaks of, else that of its source, as exactly as it
    is known. It depends on nothing but the value, so that it can be made anew from it."""
    when = value.get("when")
    start = when.get("start") if isinstance(when, Mapping) else None
    precision = when.get("precision") if isinstance(when, Mapping) else None
    words = [str(value.get("speaker") or "")]
    with suppress(KeyError, TypeError, ValueError):  # a value without a readable time has no date
        at = datetime.fromisoformat(start or value["said_at"])
        if precision not in ("season", "year", "decade"):
            words.append(MONTHS[at.month - 1])
            if precision not in ("week", "month"):
                words.insert(-1, str(at.day))
        words.append(str(at.year))
    return index_text(" ".join([*words, value["text"]]).strip())


COLUMNS: Final = "i.id, n.path, i.key, i.value, i.index_fields, t.name, i.speaker, i.valid_at"
TABLES: Final = (
    "item i JOIN namespace n ON n.id = i.namespace LEFT JOIN thread t ON t.id = i.thread"
)


def redraft_row(
    indexing: Indexing, row: Sequence[Any], value: dict[str, Any] | None = None
) -> Write:
    """Return the item of a row of `COLUMNS` as it would be drafted today, or another value of it."""
    names = ("index_fields", "thread_id", "speaker", "valid_at")
    columns = dict(zip(names, row[4:8], strict=True))
    said = from_json(row[3]) if value is None else value
    return indexing.redraft(from_path(row[1]), row[2], said, columns)


def redraft_item(
    indexing: Indexing, connection: Connection, item: int, value: dict[str, Any]
) -> Write:
    """Return another value of an item that exists, indexed as the item is."""
    row = connection.execute(f"SELECT {COLUMNS} FROM {TABLES} WHERE i.id = ?", (item,)).fetchone()
    return redraft_row(indexing, row, value)


_SUMMARY: Final = "archival"
_DIGITS: Final = re.compile(r"\d+")
_IN_WORD: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff]"
"""A character that goes on a word; Chinese and Japanese are written without spaces between words."""


def without_numbers(memory: Memory) -> Memory:
    """Return the memory without the numbers whose gaps tell a viewer how much others keep private."""
    return replace(memory, id=0, position=None)


class Names:
    """The names of people in memories, as one viewer may know it. Reads each name once.

    Args:
        viewer: Who reads; None is the application. A name that somebody told in private is theirs.
    """

    def __init__(self, connection: Connection, viewer: str | None) -> None:
        self._connection = connection
        self._viewer = viewer
        self._found: dict[tuple[Namespace, str | None], str | None] = {}

    def of(self, namespace: Namespace, owner: str | None) -> str | None:
        """Return what somebody said they are called; None where they did not, or it is not clear.

        Args:
            namespace: Exactly this one.
            owner: Their id; None is whoever speaks where no run says who it is.
        """
        place = (namespace, owner)
        if place not in self._found:
            connection, viewer = self._connection, self._viewer
            norm = name_key(owner or "user")
            name = standing.self_named(connection, namespace, owner, norm, viewer)
            if (
                name is not None
                and owner is not None
                and standing.named_by_others(connection, namespace, owner, name, viewer)
            ):
                name = f"{name} ({owner})"
            self._found[place] = name
        return self._found[place]

    def shown(self, memory: Memory) -> Memory:
        """Return the memory with the names of those it speaks of."""
        speaker = memory.speaker
        if speaker is None and memory.kind != _SUMMARY:
            return memory
        anonymous = speaker is None or speaker.casefold() in ANONYMOUS
        if not anonymous and (memory.owner is None or speaker != memory.owner):
            return memory
        name = self._name(memory.namespace, memory.owner, anonymous=anonymous)
        if name is None:
            return memory
        text = memory.text
        # What was said stays as it was said, and "u-17's name is Priya" says who is who.
        if memory.kind != "episodic" and memory.value.get("relation") not in standing.NAMING:
            text = self.written(memory.namespace, memory.owner, text, anonymous=anonymous)
        return replace(memory, text=text, speaker=None if speaker is None else name)

    def written(
        self, namespace: Namespace, owner: str | None, text: str, *, anonymous: bool
    ) -> str:
        """Return the text of a fact with the name of whoever it calls the user, or by their id."""
        name = self._name(namespace, owner, anonymous=anonymous)
        if name is None:
            return text
        if not anonymous:
            assert owner is not None
            return _replace_id_by_name(text, owner, name)
        genitive = f"{name}’" if name[-1] in "sßxz" else f"{name}s"
        for pattern, written in person_words().the_user:
            by = written.format(name=_literal(name), genitive=_literal(genitive))
            text = re.sub(pattern, by, text)
        return text

    def _name(self, namespace: Namespace, owner: str | None, *, anonymous: bool) -> str | None:
        name = self.of(namespace, owner)
        if name is None and anonymous and owner and not is_own(namespace, owner):
            return owner
        return name

    def told(
        self, namespace: Namespace, owner: str | None, value: Mapping[str, Any], text: str
    ) -> str:
        """Return a text of a stored value, as `shown` gives it."""
        speaker = value.get("speaker")
        if value.get("relation") in standing.NAMING:
            return text
        anonymous = speaker is None or str(speaker).casefold() in ANONYMOUS
        if not anonymous and (owner is None or speaker != owner):
            return text
        return self.written(namespace, owner, text, anonymous=anonymous)

    def of_entity(self, namespace: Namespace, entity: str) -> str | None:
        """Return what an entity is called that bears an id, or is somebody's by it ("u-17's sister")."""
        owner, of, role = entity.partition("'s ")
        name = self.of(namespace, None if owner.casefold() in ANONYMOUS else owner)
        return None if name is None else f"{name}{of}{role}"


def _replace_id_by_name(text: str, owner: str, name: str) -> str:
    """Return the text with a name for an id. Where the name stands already, it stays; a number is an id
    only where the text begins with it."""
    if _DIGITS.fullmatch(owner):
        return re.sub(rf"^{owner}(?!{_IN_WORD})", _literal(name), text)
    begun, ends = re.escape(owner[0].upper() + owner[1:]), rf"(?!{_IN_WORD})"
    begins = rf"(?<!{_IN_WORD})(?<!@)"
    return re.sub(
        rf"{begins}{re.escape(name)}{ends}|^{begun}{ends}|{begins}{re.escape(owner)}{ends}",
        _literal(name),
        text,
    )


def _literal(name: str) -> str:
    return name.replace("\\", r"\\")
