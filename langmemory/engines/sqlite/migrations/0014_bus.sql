-- The bus: messages between agents, whoever runs them, until they expire. Its events go into `activity`,
-- whose types are widened: the table is made anew, and goes on counting where it was, as cursors expect.
CREATE TABLE kept_activity AS SELECT seq, at, type, subject, action FROM activity;
CREATE TABLE kept_sequence AS SELECT seq FROM sqlite_sequence WHERE name = 'activity';
DROP TABLE activity;
CREATE TABLE activity (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    type    TEXT NOT NULL CHECK (type IN ('run', 'review', 'job', 'message')),
    subject ANY NOT NULL,                   -- id of the run, review, job or message; its rows go with it
    action  TEXT NOT NULL
) STRICT;
CREATE INDEX activity_subject ON activity (type, subject);
INSERT INTO activity (seq, at, type, subject, action)
SELECT seq, at, type, subject, action FROM kept_activity ORDER BY seq;
DELETE FROM sqlite_sequence WHERE name = 'activity';
INSERT INTO sqlite_sequence (name, seq) SELECT 'activity', seq FROM kept_sequence;
DROP TABLE kept_activity;
DROP TABLE kept_sequence;

CREATE TABLE kept_token AS SELECT id, hash, viewer, namespaces, scope, created_at, expires_at FROM token;
DROP TABLE token;
CREATE TABLE token (
    id         TEXT PRIMARY KEY,            -- the part of the token that is no secret
    hash       BLOB NOT NULL,               -- SHA-256 of the secret
    viewer     TEXT,                        -- on whose behalf; NULL = the application
    namespaces TEXT NOT NULL,               -- JSON: lists of labels; none = the whole file
    scope      TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,                     -- NULL = never
    agent      TEXT                         -- whose messages it sends and receives on the bus
) STRICT, WITHOUT ROWID;
INSERT INTO token (id, hash, viewer, namespaces, scope, created_at, expires_at)
SELECT id, hash, viewer, namespaces, scope, created_at, expires_at FROM kept_token;
DROP TABLE kept_token;

CREATE TABLE message (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,  -- in the order of commits
    id             TEXT NOT NULL UNIQUE,    -- by which agents know it
    namespace      INTEGER NOT NULL REFERENCES namespace (id),
    sender         TEXT NOT NULL,           -- name of an agent
    recipient      TEXT,                    -- NULL = all agents of the namespace
    type           TEXT NOT NULL CHECK (type IN ('finding', 'decision', 'progress', 'warning',
                   'request', 'reply', 'handoff', 'invalidation')),
    priority       TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high')),
    topic          TEXT,
    summary        TEXT NOT NULL,
    details        TEXT NOT NULL,
    artifacts      TEXT NOT NULL,           -- JSON: list of texts
    memories       TEXT NOT NULL,           -- JSON: keys of items in the same namespace
    next_steps     TEXT NOT NULL,           -- JSON: list of texts
    confidence     REAL CHECK (confidence BETWEEN 0 AND 1),
    reply_to       TEXT,                    -- message.id
    owner          TEXT,
    privacy        TEXT NOT NULL CHECK (privacy IN ('public', 'shared', 'private')),
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    invalidated_at INTEGER
) STRICT;
CREATE INDEX message_place ON message (namespace, seq);
CREATE INDEX message_expires ON message (expires_at);
CREATE INDEX message_reply ON message (reply_to) WHERE reply_to IS NOT NULL;

-- Which agent has seen a message, and is done with it.
CREATE TABLE receipt (
    message         INTEGER NOT NULL,       -- message.seq
    agent           TEXT NOT NULL,
    seen_at         INTEGER NOT NULL,
    acknowledged_at INTEGER,
    PRIMARY KEY (message, agent)
) STRICT, WITHOUT ROWID;

-- What an agent wants of the messages to all; without any, it gets all of them.
CREATE TABLE subscription (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace  INTEGER NOT NULL REFERENCES namespace (id),
    agent      TEXT NOT NULL,
    viewer     TEXT,                        -- on whose behalf; NULL = the application
    topic      TEXT,                        -- exactly one of topic, sender and query
    sender     TEXT,
    query      TEXT,
    min_similarity REAL NOT NULL,           -- of a query: cosine from which on a message fits
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX subscription_agent ON subscription (namespace, agent);

-- Messages that fit the query of a subscription.
CREATE TABLE fit (
    subscription INTEGER NOT NULL,          -- subscription.id
    message      INTEGER NOT NULL,          -- message.seq
    PRIMARY KEY (subscription, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX fit_message ON fit (message);

CREATE TRIGGER message_sent AFTER INSERT ON message BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'message', new.id, 'sent');
END;
CREATE TRIGGER message_invalidated AFTER UPDATE OF invalidated_at ON message
WHEN new.invalidated_at IS NOT NULL AND old.invalidated_at IS NULL BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'message', new.id, 'invalidated');
END;
CREATE TRIGGER message_gone AFTER DELETE ON message BEGIN
    DELETE FROM activity WHERE type = 'message' AND subject = old.id;
    DELETE FROM receipt WHERE message = old.seq;
    DELETE FROM fit WHERE message = old.seq;
END;
CREATE TRIGGER message_acknowledged AFTER UPDATE OF acknowledged_at ON receipt
WHEN new.acknowledged_at IS NOT NULL AND old.acknowledged_at IS NULL BEGIN
    INSERT INTO activity (at, type, subject, action)
    SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'message', id, 'acknowledged'
    FROM message WHERE seq = new.message;
END;
CREATE TRIGGER subscription_gone AFTER DELETE ON subscription BEGIN
    DELETE FROM fit WHERE subscription = old.id;
END;
