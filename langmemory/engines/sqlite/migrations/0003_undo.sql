-- What a run did is found by the run: undoing it looks at its rows alone, however large the file is.
CREATE INDEX item_successor ON item (namespace, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX evidence_run ON evidence (run);
CREATE INDEX reflected_run ON reflected (run);
CREATE INDEX entity_run ON entity (run);
CREATE INDEX alias_run ON alias (run);
CREATE INDEX mention_run ON mention (run);
CREATE INDEX edge_run ON edge (run);
CREATE INDEX review_run ON review (run);
CREATE INDEX review_decided ON review (decided_run) WHERE decided_run IS NOT NULL;
