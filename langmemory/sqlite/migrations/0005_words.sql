-- Whose words changed, for those who keep a copy in memory: int64[n] item ids; NULL = everybody's.
CREATE TABLE word_change (
    seq   INTEGER PRIMARY KEY,
    items BLOB
) STRICT;
