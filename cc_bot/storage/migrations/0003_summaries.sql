-- What the model wrote down of conversations, so that what leaves the history is not forgotten.

-- A session's messages up to summarized_to are in a summary, or were in one that its user deleted. `summarize`
-- is 1 as long as what comes after them may still go into one: until /clear, or until an expired session's rest
-- was folded. Sessions that had ended before this migration stay as they are.
ALTER TABLE sessions ADD COLUMN summarize INTEGER NOT NULL DEFAULT 1 CHECK (summarize IN (0, 1));
ALTER TABLE sessions ADD COLUMN summarized_to INTEGER NOT NULL DEFAULT 0;  -- an id of messages; 0: none yet
UPDATE sessions SET summarize = 0 WHERE closed_at IS NOT NULL;

-- Serves: what of a key is in no summary yet, /clear, deleting a summary.
CREATE INDEX sessions_to_summarize ON sessions (user_id, channel_id, agent, closed_at) WHERE summarize = 1;

-- Serves: the sweep, which looks for expired sessions of any key.
CREATE INDEX sessions_to_summarize_by_end ON sessions (closed_at) WHERE summarize = 1 AND closed_at IS NOT NULL;

-- The newest summary of each key, which outlives its session. What was said in public and what was said in
-- private are two texts, so that no request that others can see is ever made from the second.
CREATE TABLE summaries (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id          INTEGER NOT NULL,
    channel_id       INTEGER NOT NULL,
    agent            TEXT NOT NULL,
    visibility       TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
    session_id       TEXT NOT NULL REFERENCES sessions (id),  -- the last one that went into it
    content          TEXT NOT NULL,
    first_message_id INTEGER NOT NULL,
    last_message_id  INTEGER NOT NULL,
    created_at       INTEGER NOT NULL                         -- when it was written, ms
);

-- Serves: every statement on this table.
CREATE UNIQUE INDEX summaries_by_key ON summaries (user_id, channel_id, agent, visibility);
