-- Embeddings, L2-normalised. id = item << 16 | n, the n-th vector of the item.
CREATE TABLE embedding (
    id        bigint PRIMARY KEY,
    item      bigint NOT NULL,
    namespace bigint NOT NULL,
    hash      bytea,
    e         vector NOT NULL
);
CREATE INDEX embedding_item ON embedding (item);
CREATE INDEX embedding_namespace ON embedding (namespace);
CREATE INDEX embedding_hash ON embedding (hash) WHERE hash IS NOT NULL;
