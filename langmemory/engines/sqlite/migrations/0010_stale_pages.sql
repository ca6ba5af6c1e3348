-- Pages of the journal that do not say yet what the file says. A row goes once its files follow.
CREATE TABLE stale_page (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace INTEGER NOT NULL,             -- namespace.id; a forgotten one leaves no name here
    day       TEXT NOT NULL                 -- YYYY-MM-DD
) STRICT;
