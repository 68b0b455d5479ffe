-- Several processes that are one bot: who lives, and who does what for all.

CREATE TABLE processes (
    name        TEXT PRIMARY KEY,
    host        TEXT NOT NULL,
    version     TEXT NOT NULL,
    shards      TEXT,                   -- JSON: numbers; NULL: all
    shard_count INTEGER NOT NULL,       -- of the whole bot; 0 where one process has all, or none
    agents_hash TEXT NOT NULL,
    policy_hash TEXT NOT NULL,
    mcp_hash    TEXT NOT NULL,
    started_at  INTEGER NOT NULL,       -- Unix milliseconds, as the database counts them; so below
    until       INTEGER NOT NULL        -- it may be taken for dead from then on
);

CREATE TABLE duties (
    name    TEXT PRIMARY KEY,
    process TEXT,                       -- NULL: nobody; nor has one that is not in `processes` any more
    term    INTEGER NOT NULL            -- grows with each change of hands
);
