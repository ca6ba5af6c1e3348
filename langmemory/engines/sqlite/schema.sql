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
CREATE INDEX item_successor ON item (namespace, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX item_mandate ON item (namespace) WHERE priority = 'mandate';
CREATE INDEX item_guardrail ON item (namespace) WHERE priority = 'guardrail';
-- Where a search starts whose scope leaves little (kinds and statuses, readers, times), and a page of a
-- list: by when a memory became true or was said, else stored.
CREATE INDEX item_class ON item (kind, namespace, status, coalesce(valid_at, CASE WHEN value ->> '$.said_at' GLOB '[0-9][0-9][0-9][0-9]-*' THEN
    CAST(round(unixepoch(value ->> '$.said_at', 'subsec') * 1000000) AS INTEGER) END, created_at));
CREATE INDEX item_told ON item (coalesce(valid_at, CASE WHEN value ->> '$.said_at' GLOB '[0-9][0-9][0-9][0-9]-*' THEN
    CAST(round(unixepoch(value ->> '$.said_at', 'subsec') * 1000000) AS INTEGER) END, created_at),
    id, namespace, kind, status);
CREATE INDEX item_reader ON item (CASE privacy WHEN 'private' THEN coalesce(owner, '') END, namespace);
CREATE INDEX item_created ON item (namespace, created_at, valid_at) WHERE valid_at IS NULL;

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

-- Whose words changed, for those who keep a copy in memory: int64[n] item ids; NULL = everybody's.
CREATE TABLE word_change (
    seq   INTEGER PRIMARY KEY,
    items BLOB
) STRICT;

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
    facets    TEXT,                         -- JSON: columns of the item that a run changed, as before
    run       TEXT,
    reason    TEXT
) STRICT;
CREATE INDEX history_item ON history (item);
CREATE INDEX history_gone ON history (namespace, key) WHERE key IS NOT NULL;
CREATE INDEX history_run ON history (run) WHERE run IS NOT NULL;

-- A run: one reflection, correction, maintenance, forgetting or undo. Its changes of items stand in
-- the history; rows of the tables below carry the run that made them: by it they are undone.
CREATE TABLE run (
    id        TEXT PRIMARY KEY,
    kind      TEXT NOT NULL,
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    at        INTEGER NOT NULL,
    reason    TEXT NOT NULL,
    note      TEXT NOT NULL DEFAULT '{}',   -- JSON: counts, model calls, what the journal tells
    links     TEXT NOT NULL DEFAULT '{}',   -- JSON: {entity: [same_as, link_run]} as before the run
    undone_by TEXT                          -- the run that undid it
) STRICT, WITHOUT ROWID;
CREATE INDEX run_namespace ON run (namespace, at);
CREATE INDEX run_at ON run (at);

-- What a memory was derived from. Ids are never used twice, so a source that is gone stays nameless.
CREATE TABLE evidence (
    item   INTEGER NOT NULL,
    source INTEGER NOT NULL,
    run    TEXT NOT NULL,
    PRIMARY KEY (item, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_source ON evidence (source);
CREATE INDEX evidence_run ON evidence (run);

-- Turns that reflection has seen.
CREATE TABLE reflected (
    item INTEGER PRIMARY KEY,
    run  TEXT NOT NULL
) STRICT;
CREATE INDEX reflected_run ON reflected (run);

-- SHA-256 of the normalised text of derived memories: what is known is not stored twice.
CREATE TABLE fingerprint (
    namespace INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    item      INTEGER NOT NULL,
    PRIMARY KEY (namespace, hash, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX fingerprint_item ON fingerprint (item);

-- People and things. A merge is a link that can be taken back, never a rewrite.
CREATE TABLE entity (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    key       TEXT NOT NULL,
    name      TEXT NOT NULL,
    kind      TEXT NOT NULL,
    same_as   INTEGER REFERENCES entity (id),
    run       TEXT NOT NULL,                -- that added it
    link_run  TEXT,                         -- that set same_as last, also to NULL
    UNIQUE (namespace, key)
) STRICT;
CREATE INDEX entity_same ON entity (same_as) WHERE same_as IS NOT NULL;
CREATE INDEX entity_run ON entity (run);
CREATE TABLE alias (
    namespace INTEGER NOT NULL,
    norm      TEXT NOT NULL,                -- formation.entities.spelling.normalised
    entity    INTEGER NOT NULL,
    name      TEXT NOT NULL,
    run       TEXT NOT NULL,
    PRIMARY KEY (norm, namespace, entity)  -- a name is looked up in many namespaces at once
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_entity ON alias (entity);
CREATE INDEX alias_run ON alias (run);

-- Which memories speak of an entity: who may read one of them may know of the entity.
CREATE TABLE mention (
    entity INTEGER NOT NULL,
    item   INTEGER NOT NULL,
    run    TEXT NOT NULL,
    PRIMARY KEY (entity, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_item ON mention (item);
CREATE INDEX mention_run ON mention (run);

-- What memories claim: (subject) -relation-> (object, or a literal). Validity, belief, privacy and
-- status of an edge are those of its fact.
CREATE TABLE edge (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    fact     INTEGER NOT NULL,              -- item
    subject  INTEGER NOT NULL,              -- entity
    relation TEXT NOT NULL,
    object   INTEGER,                       -- entity
    literal  TEXT,
    run      TEXT NOT NULL,
    CHECK ((object IS NULL) <> (literal IS NULL))
) STRICT;
CREATE INDEX edge_fact ON edge (fact);
CREATE INDEX edge_subject ON edge (subject, relation);
CREATE INDEX edge_object ON edge (object) WHERE object IS NOT NULL;
CREATE INDEX edge_run ON edge (run);

-- Open questions for a person or a deep model.
CREATE TABLE review (
    id          TEXT PRIMARY KEY,
    namespace   INTEGER NOT NULL REFERENCES namespace (id),
    about       TEXT NOT NULL,              -- contradiction, duplicate, dependant, approval, core, …
    question    TEXT NOT NULL,
    items       TEXT NOT NULL,              -- JSON: keys of the memories it is about
    options     TEXT NOT NULL,              -- JSON: {option: [changes]}
    run         TEXT NOT NULL,              -- that opened it
    opened_at   INTEGER NOT NULL,
    decision    TEXT,
    decided_run TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX review_open ON review (namespace) WHERE decision IS NULL;
CREATE INDEX review_run ON review (run);
CREATE INDEX review_opened ON review (opened_at);
CREATE INDEX review_decided ON review (decided_run) WHERE decided_run IS NOT NULL;

-- Work for later: the queue of reflections.
CREATE TABLE job (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    lane        TEXT NOT NULL,              -- jobs of one lane run one after the other
    thread      TEXT,                       -- a later job of the same lane and thread replaces a pending one
    payload     TEXT NOT NULL,              -- JSON
    config      TEXT NOT NULL DEFAULT '{}', -- JSON: LangGraph's RunnableConfig
    state       TEXT NOT NULL DEFAULT 'pending'
                CHECK (state IN ('pending', 'running', 'done', 'dead', 'replaced')),
    created_at  INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    worker      TEXT,
    lease_until INTEGER,
    finished_at INTEGER,
    error       TEXT,                       -- of the last attempt
    result      TEXT                        -- JSON
) STRICT;
CREATE INDEX job_due ON job (kind, due_at) WHERE state = 'pending';
CREATE INDEX job_running ON job (lease_until) WHERE state = 'running';
CREATE INDEX job_thread ON job (lane, thread) WHERE state = 'pending';
CREATE INDEX job_dead ON job (lane, thread) WHERE state = 'dead';
CREATE INDEX job_over ON job (finished_at) WHERE state IN ('done', 'replaced');

-- What showing a memory to a model came to, over all threads.
CREATE TABLE usage (
    item             INTEGER PRIMARY KEY,
    loaded           INTEGER NOT NULL,      -- times it stood in a prompt
    referenced       INTEGER NOT NULL,      -- times an answer cited it
    succeeded        INTEGER NOT NULL,      -- times such an answer was not corrected
    read_tokens      INTEGER NOT NULL,      -- what showing it cost in all
    discovery_tokens INTEGER NOT NULL       -- what it stands for
) STRICT;
CREATE INDEX usage_rank ON usage (succeeded, referenced, loaded);

-- Short ids of items, as a model is shown them; filled up when one is looked for.
CREATE TABLE label (
    item INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL                   -- first 32 bits of SHA-256 over namespace and key
) STRICT;
CREATE INDEX label_hash ON label (hash);

-- What a change left to be planned after its commit. A row goes in the transaction that applies the plan.
CREATE TABLE follow_up (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,                -- path
    kind      TEXT NOT NULL,                -- restored, reworded
    detail    TEXT NOT NULL                 -- JSON: what was there before the change
) STRICT;

-- Pages of the journal that do not say yet what the file says. A row goes once its files follow.
CREATE TABLE stale_page (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace INTEGER NOT NULL,             -- namespace.id; a forgotten one leaves no name here
    day       TEXT NOT NULL                 -- YYYY-MM-DD
) STRICT;

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

-- Tokens of those who reach the file through the server. The secret itself is nowhere.
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

-- What happened to runs, reviews, jobs and messages of the bus, in the order of commits. Triggers write it, so that no
-- writer can leave something out. What happened to memories stands in the history.
CREATE TABLE activity (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    type    TEXT NOT NULL CHECK (type IN ('run', 'review', 'job', 'message')),
    subject ANY NOT NULL,                   -- id of the run, review, job or message; its rows go with it
    action  TEXT NOT NULL
) STRICT;
CREATE INDEX activity_subject ON activity (type, subject);
CREATE TRIGGER run_done AFTER INSERT ON run BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'run', new.id, 'done');
END;
CREATE TRIGGER run_undone AFTER UPDATE OF undone_by ON run
WHEN new.undone_by IS NOT NULL AND new.undone_by IS NOT old.undone_by BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'run', new.id, 'undone');
END;
CREATE TRIGGER run_gone AFTER DELETE ON run BEGIN
    DELETE FROM activity WHERE type = 'run' AND subject = old.id;
END;
CREATE TRIGGER review_opened AFTER INSERT ON review BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'review', new.id, 'opened');
END;
CREATE TRIGGER review_decided AFTER UPDATE OF decision ON review
WHEN new.decision IS NOT old.decision BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (
        CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'review', new.id,
        CASE WHEN new.decision IS NULL THEN 'reopened' ELSE 'decided' END
    );
END;
CREATE TRIGGER review_gone AFTER DELETE ON review BEGIN
    DELETE FROM activity WHERE type = 'review' AND subject = old.id;
END;
CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'job', new.id, new.state);
END;
CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN new.state <> old.state BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'job', new.id, new.state);
END;
CREATE TRIGGER job_gone AFTER DELETE ON job BEGIN
    DELETE FROM activity WHERE type = 'job' AND subject = old.id;
END;

-- The bus: messages between agents, whoever runs them, until they expire.
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

-- Sparse vectors by the encoder that the application brought (setting "sparse"). A vector is pairs of a dimension
-- (uint32) and a weight (float32), by ascending dimension. A number is never used twice, and never changes what it
-- stands for: copies in memory follow by it.
CREATE TABLE sparse (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    item   INTEGER NOT NULL UNIQUE,
    vector BLOB NOT NULL
) STRICT;
CREATE TRIGGER sparse_outdated AFTER UPDATE OF value ON item
WHEN new.value <> old.value OR new.index_fields IS NOT old.index_fields BEGIN
    DELETE FROM sparse WHERE item = new.id;
END;
CREATE TRIGGER sparse_gone AFTER DELETE ON item BEGIN
    DELETE FROM sparse WHERE item = old.id;
END;
