CREATE INDEX item_mandate ON item (namespace) WHERE priority = 'mandate';

-- What showing a memory to a model came to, over all threads.
CREATE TABLE usage (
    item             INTEGER PRIMARY KEY,
    loaded           INTEGER NOT NULL,      -- times it stood in a prompt
    referenced       INTEGER NOT NULL,      -- times an answer cited it
    succeeded        INTEGER NOT NULL,      -- times such an answer was not corrected
    read_tokens      INTEGER NOT NULL,      -- what showing it cost in all
    discovery_tokens INTEGER NOT NULL       -- what it stands for
) STRICT;

-- Short ids of items, as a model is shown them; filled up when one is looked for.
CREATE TABLE label (
    item INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL                   -- first 32 bits of SHA-256 over namespace and key
) STRICT;
CREATE INDEX label_hash ON label (hash);
