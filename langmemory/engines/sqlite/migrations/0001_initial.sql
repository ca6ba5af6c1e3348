-- The truth about a langmemory file. Migrations must lead to exactly this (tests/sqlite/test_schema.py).
-- Times are microseconds since 1970-01-01 UTC; JSON is UTF-8 text; vectors are sqlite-vec float32 blobs.

CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

-- A namespace and each of its ancestors has a row: prefixes are ids, compared as whole labels.
CREATE TABLE namespace (
    id     INTEGER PRIMARY KEY,
    path   TEXT NOT NULL UNIQUE,            -- labels joined by '.', which no label may contain
    parent INTEGER REFERENCES namespace (id)
) STRICT;

CREATE TABLE item (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace     INTEGER NOT NULL REFERENCES namespace (id),
    key           TEXT NOT NULL,
    value         TEXT NOT NULL,            -- JSON object
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    ttl_minutes   REAL,
    expires_at    INTEGER,
    index_fields  TEXT,                     -- JSON: null = the store's fields, false = none, or a list of paths
    tokens        BLOB,                     -- uint16 token ids of the text, for late interaction
    kind          TEXT NOT NULL DEFAULT 'semantic'
                  CHECK (kind IN ('core', 'working', 'episodic', 'semantic', 'procedural', 'archival', 'resource')),
    speaker       TEXT,
    owner         TEXT,
    privacy       TEXT NOT NULL DEFAULT 'shared' CHECK (privacy IN ('public', 'shared', 'private')),
    status        TEXT NOT NULL DEFAULT 'active'
                  CHECK (status IN ('pending', 'approved', 'active', 'superseded', 'archived')),
    priority      TEXT NOT NULL DEFAULT 'reference'
                  CHECK (priority IN ('mandate', 'guardrail', 'reference', 'archive')),
    importance    REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    confidence    REAL NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0 AND 1),
    pinned        INTEGER NOT NULL DEFAULT 0,
    verified      INTEGER NOT NULL DEFAULT 0,
    valid_at      INTEGER,                  -- true in the world from (a message: said at)
    invalid_at    INTEGER,                  -- true in the world until
    expired_at    INTEGER,                  -- believed by the system until
    superseded_by TEXT,                     -- key in the same namespace
    thread        INTEGER REFERENCES thread (id),
    position      INTEGER,                  -- 0-based place in the thread
    access_count  INTEGER NOT NULL DEFAULT 0,
    accessed_at   INTEGER,
    UNIQUE (namespace, key)
) STRICT;
CREATE INDEX item_expires ON item (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX item_thread ON item (thread, position) WHERE thread IS NOT NULL;
CREATE INDEX item_inactive ON item (status) WHERE status <> 'active';
CREATE INDEX item_valid ON item (namespace, valid_at) WHERE valid_at IS NOT NULL;

-- A thread of messages within a namespace.
CREATE TABLE thread (
    id        INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    name      TEXT NOT NULL,                -- LangGraph's thread_id
    UNIQUE (namespace, name)
) STRICT;

-- Words: contentless, so the text stands once. ns: one token for the namespace and one per ancestor.
CREATE VIRTUAL TABLE keyword USING fts5 (
    ns, body, context,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Embeddings, L2-normalised. id = item << 16 | n, the n-th vector of the item. hash is set for models
-- that are worth a cache: the same text under the same model is looked up here before it is embedded.
CREATE TABLE vector (
    id   INTEGER PRIMARY KEY,
    hash BLOB,
    e    BLOB NOT NULL
) STRICT;
CREATE INDEX vector_hash ON vector (hash) WHERE hash IS NOT NULL;

-- Sign bits of the vectors as an append-only log: what it is read from, and what tells other
-- processes of changes. bits NULL = the vector is gone. Long tails are packed into segments.
CREATE TABLE code (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    vector    INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    bits      BLOB
) STRICT;
CREATE TABLE code_segment (
    last_seq   INTEGER PRIMARY KEY,
    count      INTEGER NOT NULL,
    vectors    BLOB NOT NULL,               -- int64[count]
    namespaces BLOB NOT NULL,               -- int32[count]
    bits       BLOB NOT NULL                -- uint64[words, count], word-transposed
) STRICT;

-- Scalar leaves of the values, for filters. Lists and objects stand as a 16-byte digest, the
-- elements of a list under "path.".
CREATE TABLE path (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE leaf (
    path      INTEGER NOT NULL,
    value     ANY NOT NULL,
    namespace INTEGER NOT NULL,
    item      INTEGER NOT NULL,
    PRIMARY KEY (path, value, namespace, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX leaf_item ON leaf (item, path);

-- Every change of every item. Additions need no more than the fact; namespace, key and the value
-- before stand with the later changes.
CREATE TABLE history (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    action    TEXT NOT NULL,
    item      INTEGER NOT NULL,
    namespace INTEGER,                      -- set when the item is gone
    key       TEXT,                         -- set when the item is gone
    before    TEXT,                         -- JSON: the value before the change
    run       TEXT,
    reason    TEXT
) STRICT;
CREATE INDEX history_item ON history (item);
CREATE INDEX history_gone ON history (namespace, key) WHERE key IS NOT NULL;
