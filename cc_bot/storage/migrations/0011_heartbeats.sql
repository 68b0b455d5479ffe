-- What each user's heartbeats have looked at, so that nothing is raised twice.

CREATE TABLE heartbeat_marks (
    user_id     INTEGER NOT NULL,
    name        TEXT NOT NULL,      -- numbers and dates of a reminder or memory, and nothing of its text
    until       INTEGER NOT NULL,   -- Unix milliseconds: from then on it can't come up again
    PRIMARY KEY (user_id, name)     -- serves: what a user's heartbeats know
) WITHOUT ROWID;
