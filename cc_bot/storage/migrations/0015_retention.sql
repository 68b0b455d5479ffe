-- What is deleted by its age, and what is erased for a user, found without reading everything.

-- Serves: all that a user said in channels. It holds no session's rows, so that their turns don't pay for it.
CREATE INDEX messages_by_author ON messages (author_id) WHERE user_id IS NULL AND role = 'user';

-- Serves: all of a user's own.
CREATE INDEX firings_by_user ON firings (user_id);

-- Serves: deleting a session, which summaries refer to.
CREATE INDEX summaries_by_session ON summaries (session_id);

-- What was written in a place up to this message is not read from Discord again: it is deleted here. The newest
-- message that is left tells that elsewhere.
CREATE TABLE read_to (
    channel_id INTEGER NOT NULL,
    thread_id  INTEGER NOT NULL,
    discord_id INTEGER NOT NULL,
    PRIMARY KEY (channel_id, thread_id)  -- serves: catching up
) WITHOUT ROWID;

-- Users whose data is being erased. What is left here at a start is gone on with then.
CREATE TABLE erasing (
    user_id INTEGER PRIMARY KEY,
    since   INTEGER NOT NULL  -- Unix milliseconds
);
