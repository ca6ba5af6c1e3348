-- What is due is looked for by kind; jobs that are over, or given up, without reading all of them.
DROP INDEX job_due;
CREATE INDEX job_due ON job (kind, due_at) WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS job_dead ON job (lane, thread) WHERE state = 'dead';
CREATE INDEX IF NOT EXISTS job_over ON job (finished_at) WHERE state IN ('done', 'replaced');
