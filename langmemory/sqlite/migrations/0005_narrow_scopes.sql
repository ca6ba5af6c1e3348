CREATE INDEX item_class ON item (kind, namespace, status);
CREATE INDEX item_reader ON item (CASE privacy WHEN 'private' THEN coalesce(owner, '') END, namespace);
CREATE INDEX item_created ON item (namespace, created_at, valid_at) WHERE valid_at IS NULL;
