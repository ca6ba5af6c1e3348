-- The vault, and tokens that may unlock it.
CREATE TABLE kept_token AS SELECT * FROM token;
DROP TABLE token;
CREATE TABLE token (
    id         TEXT PRIMARY KEY,            -- the part of the token that is no secret
    hash       BLOB NOT NULL,               -- SHA-256 of the secret
    viewer     TEXT,                        -- on whose behalf; NULL = the application
    namespaces TEXT NOT NULL,               -- JSON: lists of labels; none = the whole file
    scope      TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,                     -- NULL = never
    agent      TEXT,                        -- whose messages it sends and receives on the bus
    unlocks    INTEGER NOT NULL DEFAULT 0 CHECK (unlocks IN (0, 1))  -- secrets of the vault
) STRICT, WITHOUT ROWID;
INSERT INTO token (id, hash, viewer, namespaces, scope, created_at, expires_at, agent)
SELECT id, hash, viewer, namespaces, scope, created_at, expires_at, agent FROM kept_token;
DROP TABLE kept_token;

-- The vault. Secrets, encrypted (AES-256-GCM); a row is a version, and the highest one counts.
CREATE TABLE secret (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace  INTEGER NOT NULL REFERENCES namespace (id),
    owner      TEXT NOT NULL,               -- '' = the application
    label      TEXT NOT NULL,
    version    INTEGER NOT NULL,            -- from 1
    key        TEXT NOT NULL,               -- vault_key.id
    nonce      BLOB NOT NULL,               -- 12 bytes, new with each encryption
    sealed     BLOB NOT NULL,               -- ciphertext and tag; bound to the columns above but for id
    stored_at  INTEGER NOT NULL,
    deleted_at INTEGER,
    UNIQUE (namespace, owner, label, version)
) STRICT;
CREATE INDEX secret_key ON secret (key);

-- Keys of the vault by their fingerprints. The keys themselves are nowhere.
CREATE TABLE vault_key (
    id         TEXT PRIMARY KEY,
    kdf        TEXT,                        -- JSON: salt and costs, where it is derived from a passphrase
    state      TEXT NOT NULL CHECK (state IN ('current', 'old', 'retired')),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who did what with a secret. Its text is nowhere.
CREATE TABLE vault_event (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,
    action    TEXT NOT NULL,
    namespace INTEGER,                      -- namespace.id; NULL = of the whole vault, or forgotten
    owner     TEXT,
    label     TEXT,                         -- sealed, once it is forgotten
    version   INTEGER,
    viewer    TEXT,                         -- on whose behalf; NULL = the application
    by        TEXT NOT NULL,                -- by which way: library, cli, a token, a tool
    reason    TEXT NOT NULL
) STRICT;
CREATE INDEX vault_event_place ON vault_event (namespace, owner, label);
