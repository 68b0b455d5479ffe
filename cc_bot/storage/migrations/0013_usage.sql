-- What was used: tokens and money, by day, user, server, model and purpose; what is reserved meanwhile; and how
-- much an owner lets anybody use.

CREATE TABLE usage (
    user_id           INTEGER NOT NULL,
    day               TEXT NOT NULL,     -- YYYY-MM-DD, in the operator's time zone
    guild_id          INTEGER NOT NULL,  -- 0: a DM, or outside of Discord
    model             TEXT NOT NULL,     -- '': the model that comes along, which counts no tokens
    purpose           TEXT NOT NULL,     -- turn, summary, heartbeat, schedule
    turns             INTEGER NOT NULL DEFAULT 0,
    prompt_tokens     INTEGER NOT NULL DEFAULT 0,
    cached_tokens     INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros       INTEGER NOT NULL DEFAULT 0,  -- millionths of the currency of the prices
    PRIMARY KEY (user_id, day, guild_id, model, purpose)  -- serves: a user's day and month
) WITHOUT ROWID;

-- Serves: how many use it in a server.
CREATE INDEX usage_by_guild ON usage (guild_id, day, user_id);

-- Serves: deleting what is older than it is kept.
CREATE INDEX usage_by_day ON usage (day);

-- The same by server alone, and nobody's. Whoever has their own usage erased takes nothing from it, and a
-- server's limit is looked up without a row for each member.
CREATE TABLE usage_totals (
    guild_id          INTEGER NOT NULL,  -- 0: all DMs together, and what is outside of Discord
    day               TEXT NOT NULL,
    model             TEXT NOT NULL,
    turns             INTEGER NOT NULL DEFAULT 0,
    prompt_tokens     INTEGER NOT NULL DEFAULT 0,
    cached_tokens     INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (guild_id, day, model)   -- serves: a server's day and month
) WITHOUT ROWID;

-- Serves: what was used today, and deleting what is older than it is kept.
CREATE INDEX usage_totals_by_day ON usage_totals (day);

-- What somebody had used of limits that have not reset yet when they had all of theirs erased: so many tokens,
-- and nothing else. Gone when the month is over.
CREATE TABLE erased_usage (
    user_id    INTEGER NOT NULL,
    day        TEXT NOT NULL,           -- that of the erasing; the first of its month for what was before it
    tokens     INTEGER NOT NULL,
    PRIMARY KEY (user_id, day)          -- serves: a user's day and month
) WITHOUT ROWID;

-- One row for whatever was admitted: its tokens count as used until they are settled, and a turn counts for the
-- turns of its minute. What a killed program leaves unsettled counts as what was reserved.
CREATE TABLE reservations (
    id         INTEGER PRIMARY KEY,     -- random
    user_id    INTEGER NOT NULL,
    guild_id   INTEGER NOT NULL,
    front_end  TEXT NOT NULL CHECK (front_end IN ('discord', 'terminal')),
    purpose    TEXT NOT NULL,
    model      TEXT NOT NULL,           -- that is asked first
    tokens     INTEGER NOT NULL,        -- 0 once settled
    at         INTEGER NOT NULL         -- Unix milliseconds
);

-- Serves: the turns of a minute, and what is reserved.
CREATE INDEX reservations_by_user ON reservations (user_id, at);
CREATE INDEX reservations_by_guild ON reservations (guild_id, at);

-- What an owner changed by /admin; it goes before what the operator's file says.
CREATE TABLE limits (
    scope      TEXT NOT NULL CHECK (scope IN ('everyone', 'user', 'role', 'guild')),
    scope_id   INTEGER NOT NULL,        -- 0: everyone
    name       TEXT NOT NULL,
    value      INTEGER,                 -- NULL: no limit
    set_by     INTEGER NOT NULL,
    set_at     TEXT NOT NULL,
    PRIMARY KEY (scope, scope_id, name) -- serves: each turn
) WITHOUT ROWID;
