-- Embeddings, L2-normalised. id = item << 16 | n, the n-th vector of the item.
CREATE TABLE embedding (
    id        bigint PRIMARY KEY,
    item      bigint NOT NULL,
    namespace bigint NOT NULL,
    hash      bytea,
    e         vector NOT NULL
) WITH (toast_tuple_target = 8160);         -- beside the other columns, as far as a page holds it
CREATE INDEX embedding_item ON embedding (item);
CREATE INDEX embedding_namespace ON embedding (namespace);
CREATE INDEX embedding_hash ON embedding (hash) WHERE hash IS NOT NULL;
ALTER TABLE code_segment ALTER vectors SET STORAGE EXTERNAL, ALTER namespaces SET STORAGE EXTERNAL,
    ALTER bits SET STORAGE EXTERNAL;
