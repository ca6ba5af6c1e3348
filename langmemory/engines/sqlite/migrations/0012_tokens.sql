-- Tokens of those who reach the file through the server. The secret itself is nowhere.
CREATE TABLE token (
    id         TEXT PRIMARY KEY,            -- the part of the token that is no secret
    hash       BLOB NOT NULL,               -- SHA-256 of the secret
    viewer     TEXT,                        -- on whose behalf; NULL = the application
    namespaces TEXT NOT NULL,               -- JSON: lists of labels; none = the whole file
    scope      TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER                      -- NULL = never
) STRICT, WITHOUT ROWID;
