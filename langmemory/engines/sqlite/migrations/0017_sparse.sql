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
