-- What a change left to be planned after its commit. A row goes in the transaction that applies the plan.
CREATE TABLE follow_up (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,                -- path
    kind      TEXT NOT NULL,                -- restored, reworded
    detail    TEXT NOT NULL                 -- JSON: what was there before the change
) STRICT;
