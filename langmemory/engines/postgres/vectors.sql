-- Embeddings, L2-normalised. id = item << 16 | n, the n-th vector of the item.
CREATE TABLE vector (
    id        bigint PRIMARY KEY,
    item      bigint NOT NULL,
    namespace bigint NOT NULL,
    hash      bytea,
    e         halfvec NOT NULL
);
CREATE INDEX vector_item ON vector (item);
CREATE INDEX vector_namespace ON vector (namespace);
CREATE INDEX vector_hash ON vector (hash) WHERE hash IS NOT NULL;
