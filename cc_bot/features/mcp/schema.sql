-- The tools of the servers that the operator names, so that a request has the same bytes while one is away. They say
-- nothing about users.
CREATE TABLE tool_lists (
    server   @text PRIMARY KEY,  -- serves: every statement on this table
    seen     @text NOT NULL,     -- JSON: those that it had last
    accepted @text NOT NULL      -- JSON: those that an owner accepted; empty: none yet
) @strict;
