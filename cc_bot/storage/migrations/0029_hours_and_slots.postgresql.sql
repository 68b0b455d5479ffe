-- What each turn changes is in no index, and no row is one that all turns of a day would wait for.

-- The hour of `last_active`, as that begins: 2026-11-26T18. A turn leaves it as it is, unless an hour is over.
ALTER TABLE sessions ADD COLUMN active_hour TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE sessions SET active_hour = substr(last_active, 1, 13);

-- Serves: closing what is idle, catching up with the DMs of open sessions.
DROP INDEX sessions_open_by_activity;
CREATE INDEX sessions_open_by_hour ON sessions (active_hour) WHERE closed_at IS NULL;

-- A server's day is the sum of its slots. Which of them a user's turns are counted in, the engine decides: one
-- with a single writer needs no second one.
ALTER TABLE usage_totals ADD COLUMN slot BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_totals DROP CONSTRAINT usage_totals_pkey;
-- Serves: a server's day and month.
ALTER TABLE usage_totals ADD PRIMARY KEY (guild_id, day, model, slot);

-- Serves: the end of a history, whatever is before it. By session alone most have so few messages that reading and
-- sorting all of one seems to be less work than reading them in order; what has a million is then sorted, too.
DROP INDEX messages_by_session;
CREATE INDEX messages_by_session ON messages (session_id, user_id, id) WHERE session_id IS NOT NULL;
