-- Several processes that are one bot: who lives, and who does what for all.

CREATE TABLE processes (
    name        TEXT COLLATE "C" PRIMARY KEY,
    host        TEXT COLLATE "C" NOT NULL,
    version     TEXT COLLATE "C" NOT NULL,
    shards      TEXT COLLATE "C",                   -- JSON: numbers; NULL: all
    shard_count BIGINT NOT NULL,       -- of the whole bot; 0 where one process has all, or none
    agents_hash TEXT COLLATE "C" NOT NULL,
    policy_hash TEXT COLLATE "C" NOT NULL,
    mcp_hash    TEXT COLLATE "C" NOT NULL,
    started_at  BIGINT NOT NULL,       -- Unix milliseconds, as the database counts them; so below
    until       BIGINT NOT NULL        -- it may be taken for dead from then on
);

CREATE TABLE duties (
    name    TEXT COLLATE "C" PRIMARY KEY,
    process TEXT COLLATE "C",                       -- NULL: nobody; nor has one that is not in `processes` any more
    term    BIGINT NOT NULL            -- grows with each change of hands
);
