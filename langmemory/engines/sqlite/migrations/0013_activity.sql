-- What happened to runs, reviews and jobs, in the order of commits. Triggers write it, so that no
-- writer can leave something out. What happened to memories stands in the history.
CREATE TABLE activity (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    type    TEXT NOT NULL CHECK (type IN ('run', 'review', 'job')),
    subject ANY NOT NULL,                   -- id of the run, review or job; its rows go with it
    action  TEXT NOT NULL
) STRICT;
CREATE INDEX activity_subject ON activity (type, subject);
CREATE TRIGGER run_done AFTER INSERT ON run BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'run', new.id, 'done');
END;
CREATE TRIGGER run_undone AFTER UPDATE OF undone_by ON run
WHEN new.undone_by IS NOT NULL AND new.undone_by IS NOT old.undone_by BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'run', new.id, 'undone');
END;
CREATE TRIGGER run_gone AFTER DELETE ON run BEGIN
    DELETE FROM activity WHERE type = 'run' AND subject = old.id;
END;
CREATE TRIGGER review_opened AFTER INSERT ON review BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'review', new.id, 'opened');
END;
CREATE TRIGGER review_decided AFTER UPDATE OF decision ON review
WHEN new.decision IS NOT old.decision BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (
        CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'review', new.id,
        CASE WHEN new.decision IS NULL THEN 'reopened' ELSE 'decided' END
    );
END;
CREATE TRIGGER review_gone AFTER DELETE ON review BEGIN
    DELETE FROM activity WHERE type = 'review' AND subject = old.id;
END;
CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'job', new.id, new.state);
END;
CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN new.state <> old.state BEGIN
    INSERT INTO activity (at, type, subject, action)
    VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'job', new.id, new.state);
END;
CREATE TRIGGER job_gone AFTER DELETE ON job BEGIN
    DELETE FROM activity WHERE type = 'job' AND subject = old.id;
END;
