-- The logs of erasures of all processes of a bot, line by line, so that each machine has those of the others.

CREATE TABLE erasure_lines (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    log    TEXT NOT NULL,  -- the name that its salt gives it
    line   TEXT NOT NULL,  -- as it stands in the file: a salted hash, or what the file says of itself
    at     INTEGER NOT NULL,  -- of an erasure, in Unix milliseconds; 0 for what the file says of itself
    UNIQUE (log, line)
);

-- Those that no copy of the database is old enough for any more.
CREATE INDEX erasure_lines_by_time ON erasure_lines (at);
