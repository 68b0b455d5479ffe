-- Who may use the bot, and what an owner has decided by /admin.

CREATE TABLE access_rules (
    subject    TEXT NOT NULL CHECK (subject IN ('user', 'role', 'channel', 'guild')),
    subject_id INTEGER NOT NULL,
    rule       TEXT NOT NULL CHECK (rule IN ('allow', 'deny')),
    set_by     INTEGER NOT NULL,
    set_at     TEXT NOT NULL,
    PRIMARY KEY (subject, subject_id)   -- serves: each interaction
) WITHOUT ROWID;

CREATE TABLE channel_models (
    channel_id INTEGER PRIMARY KEY,     -- serves: each turn
    models     TEXT NOT NULL,           -- JSON: a chain
    set_by     INTEGER NOT NULL,
    set_at     TEXT NOT NULL
);

-- While there is a row, nobody but owners is answered. One row.
CREATE TABLE maintenance (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    note    TEXT NOT NULL,
    set_by  INTEGER NOT NULL,
    set_at  TEXT NOT NULL
);
