-- What each turn changes is in no index, and no row is one that all turns of a day would wait for.

-- The hour of `last_active`, as that begins: 2026-11-26T18. A turn leaves it as it is, unless an hour is over.
ALTER TABLE sessions ADD COLUMN active_hour TEXT NOT NULL DEFAULT '';
UPDATE sessions SET active_hour = substr(last_active, 1, 13);

-- Serves: closing what is idle, catching up with the DMs of open sessions.
DROP INDEX sessions_open_by_activity;
CREATE INDEX sessions_open_by_hour ON sessions (active_hour) WHERE closed_at IS NULL;

-- A server's day is the sum of its slots. Which of them a user's turns are counted in, the engine decides: one
-- with a single writer needs no second one.
CREATE TABLE usage_totals_in_slots (
    guild_id          INTEGER NOT NULL,  -- 0: all DMs together, and what is outside of Discord
    day               TEXT NOT NULL,
    model             TEXT NOT NULL,
    turns             INTEGER NOT NULL DEFAULT 0,
    prompt_tokens     INTEGER NOT NULL DEFAULT 0,
    cached_tokens     INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros       INTEGER NOT NULL DEFAULT 0,
    seconds           INTEGER NOT NULL DEFAULT 0,
    slot              INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (guild_id, day, model, slot)  -- serves: a server's day and month
) WITHOUT ROWID;

INSERT INTO usage_totals_in_slots (guild_id, day, model, turns, prompt_tokens, cached_tokens, completion_tokens,
    cost_micros, seconds)
SELECT guild_id, day, model, turns, prompt_tokens, cached_tokens, completion_tokens, cost_micros, seconds
FROM usage_totals;

DROP TABLE usage_totals;
ALTER TABLE usage_totals_in_slots RENAME TO usage_totals;
CREATE INDEX usage_totals_by_day ON usage_totals (day);
