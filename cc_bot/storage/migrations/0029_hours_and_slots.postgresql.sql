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

-- ANALYZE keeps samples of each column's values, and leaves those of a table that is empty by then as they are:
-- what was erased would stand there. No plan needs them of texts that people wrote, of secrets, and of what is
-- computed from such texts.
ALTER TABLE sessions ALTER COLUMN canvas_state SET STATISTICS 0;
ALTER TABLE messages ALTER COLUMN author_name SET STATISTICS 0, ALTER COLUMN content SET STATISTICS 0,
    ALTER COLUMN tool_calls SET STATISTICS 0, ALTER COLUMN heard SET STATISTICS 0;
ALTER TABLE attachments ALTER COLUMN name SET STATISTICS 0, ALTER COLUMN data SET STATISTICS 0,
    ALTER COLUMN document SET STATISTICS 0;
ALTER TABLE memories ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN category SET STATISTICS 0,
    ALTER COLUMN tags SET STATISTICS 0, ALTER COLUMN metadata SET STATISTICS 0,
    ALTER COLUMN search_content SET STATISTICS 0, ALTER COLUMN search_tags SET STATISTICS 0,
    ALTER COLUMN source SET STATISTICS 0, ALTER COLUMN keys SET STATISTICS 0;
ALTER TABLE memory_vectors ALTER COLUMN vector SET STATISTICS 0;
ALTER TABLE memory_sketches ALTER COLUMN bits SET STATISTICS 0;
ALTER TABLE memory_segments ALTER COLUMN keys SET STATISTICS 0;
ALTER TABLE memory_postings ALTER COLUMN postings SET STATISTICS 0;
ALTER TABLE summaries ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE schedules ALTER COLUMN text SET STATISTICS 0;
ALTER TABLE heartbeat_marks ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE turns ALTER COLUMN question SET STATISTICS 0, ALTER COLUMN token SET STATISTICS 0,
    ALTER COLUMN pages SET STATISTICS 0, ALTER COLUMN earlier SET STATISTICS 0;
ALTER TABLE turn_calls ALTER COLUMN calls SET STATISTICS 0;
ALTER TABLE proposals ALTER COLUMN change SET STATISTICS 0;
ALTER TABLE receipts ALTER COLUMN button SET STATISTICS 0;
ALTER TABLE web_codes ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE web_sessions ALTER COLUMN hash SET STATISTICS 0;
