-- The tools of the servers that the operator names, so that a request has the same bytes while one is away. They
-- say nothing about anybody.
CREATE TABLE tool_lists (
    server   TEXT PRIMARY KEY,  -- serves: every statement on this table
    entry    TEXT NOT NULL,     -- what the operator's file named it by, as a digest
    seen     TEXT NOT NULL,     -- JSON: those that it had last
    accepted TEXT NOT NULL,     -- JSON: those that its operator agreed to
    vouched  INTEGER NOT NULL,  -- 1: an owner has looked at what they say
    seen_at  TEXT NOT NULL
);
