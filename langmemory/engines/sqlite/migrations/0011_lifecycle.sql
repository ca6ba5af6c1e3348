-- Citations of a memory: how well it matched what was asked, and the last one.
CREATE TABLE citation (
    item      INTEGER PRIMARY KEY,
    matched   INTEGER NOT NULL,             -- citations whose relevance is known
    relevance REAL NOT NULL,                -- their sum, 0 to 1 each
    used_at   INTEGER NOT NULL              -- of the last one
) STRICT;

-- Who does what only one process does at a time.
CREATE TABLE lease (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How far a task of maintenance has come in a namespace.
CREATE TABLE progress (
    task      TEXT NOT NULL,
    namespace INTEGER NOT NULL,             -- namespace.id
    seq       INTEGER NOT NULL,             -- newest history.seq that the task has taken into account
    PRIMARY KEY (task, namespace)
) STRICT, WITHOUT ROWID;

-- Memories that were moved to the archive file.
CREATE TABLE archived_item (
    item      INTEGER PRIMARY KEY,          -- its id here and in the archive file
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    key       TEXT NOT NULL,
    run       TEXT NOT NULL,                -- that moved it
    at        INTEGER NOT NULL,
    UNIQUE (namespace, key)
) STRICT;
CREATE INDEX archived_item_run ON archived_item (run);
