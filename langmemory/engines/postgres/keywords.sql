-- The highest id that an item ever had: no id is used twice.
CREATE SEQUENCE last_item MINVALUE 0 START 0;
CREATE FUNCTION item_added() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    highest bigint := (SELECT max(id) FROM added);
BEGIN
    IF highest > (SELECT last_value FROM last_item) THEN
        PERFORM setval('last_item', highest);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER item_added AFTER INSERT ON item REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION item_added();

-- Words: one row for each indexed item. words: its distinct tokens, and "@7" for namespace 7 and each
-- of its ancestors. places: int32[n], the hash of each token of the body, then of the context.
CREATE TABLE keyword (
    item   bigint PRIMARY KEY,
    words  tsvector NOT NULL,
    body   integer NOT NULL,                -- tokens of the body
    length integer NOT NULL,                -- tokens in all
    places bytea NOT NULL
);
CREATE INDEX keyword_words ON keyword USING gin (words) WITH (fastupdate = off);
CREATE TABLE keyword_total (
    rows   bigint NOT NULL,
    tokens bigint NOT NULL
);
INSERT INTO keyword_total (rows, tokens) VALUES (0, 0);

-- Rows that hold each word, namespaces among them: what BM25 weighs words by.
CREATE TABLE word_count (
    word text COLLATE "C" PRIMARY KEY,
    rows bigint NOT NULL
) WITH (fillfactor = 50);                   -- room for new versions beside the old ones
