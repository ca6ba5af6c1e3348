-- Whose words changed, for those who keep a copy in memory: int64[n] item ids; NULL = everybody's.
CREATE TABLE word_change (
    seq   INTEGER PRIMARY KEY,
    items BLOB
) STRICT;
CREATE INDEX item_class ON item (kind, namespace, status);
CREATE INDEX item_reader ON item (CASE privacy WHEN 'private' THEN coalesce(owner, '') END, namespace);
CREATE INDEX item_created ON item (namespace, created_at, valid_at) WHERE valid_at IS NULL;
