-- Pages of lists start where the one before ended.
DROP INDEX item_class;
CREATE INDEX item_class ON item (kind, namespace, status, coalesce(valid_at, CASE WHEN value ->> '$.said_at' GLOB '[0-9][0-9][0-9][0-9]-*' THEN
    CAST(round(unixepoch(value ->> '$.said_at', 'subsec') * 1000000) AS INTEGER) END, created_at));
CREATE INDEX item_told ON item (coalesce(valid_at, CASE WHEN value ->> '$.said_at' GLOB '[0-9][0-9][0-9][0-9]-*' THEN
    CAST(round(unixepoch(value ->> '$.said_at', 'subsec') * 1000000) AS INTEGER) END, created_at),
    id, namespace, kind, status);
CREATE INDEX run_at ON run (at);
CREATE INDEX review_opened ON review (opened_at);
CREATE INDEX usage_rank ON usage (succeeded, referenced, loaded);
UPDATE setting SET name = 'cursor secret' WHERE name = 'feed secret';
