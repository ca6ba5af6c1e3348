-- What a run changed of an item besides its value (facets, times) stands with the change, so that
-- the run can be undone. A column cannot be added with the same text, so the table is made anew.
ALTER TABLE history RENAME TO history_1;
DROP INDEX history_item;
DROP INDEX history_gone;
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
INSERT INTO history (seq, at, action, item, namespace, key, before, run, reason)
SELECT seq, at, action, item, namespace, key, before, run, reason FROM history_1;
DROP TABLE history_1;
CREATE INDEX history_run ON history (run) WHERE run IS NOT NULL;

-- A run: one reflection, correction, maintenance, forgetting or undo. Its changes of items stand in
-- the history; rows of the tables below carry the run that made them.
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

-- What a memory was derived from. Ids are never used twice, so a source that is gone stays nameless.
CREATE TABLE evidence (
    item   INTEGER NOT NULL,
    source INTEGER NOT NULL,
    run    TEXT NOT NULL,
    PRIMARY KEY (item, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_source ON evidence (source);

-- Turns that reflection has seen.
CREATE TABLE reflected (
    item INTEGER PRIMARY KEY,
    run  TEXT NOT NULL
) STRICT;

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
CREATE TABLE alias (
    namespace INTEGER NOT NULL,
    norm      TEXT NOT NULL,                -- formation.entities.spelling.normalised
    entity    INTEGER NOT NULL,
    name      TEXT NOT NULL,
    run       TEXT NOT NULL,
    PRIMARY KEY (norm, namespace, entity)  -- a name is looked up in many namespaces at once
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_entity ON alias (entity);

-- Which memories speak of an entity: who may read one of them may know of the entity.
CREATE TABLE mention (
    entity INTEGER NOT NULL,
    item   INTEGER NOT NULL,
    run    TEXT NOT NULL,
    PRIMARY KEY (entity, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_item ON mention (item);

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
CREATE INDEX job_due ON job (due_at) WHERE state = 'pending';
CREATE INDEX job_running ON job (lease_until) WHERE state = 'running';
CREATE INDEX job_thread ON job (lane, thread) WHERE state = 'pending';
