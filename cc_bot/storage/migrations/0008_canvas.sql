-- What a session has put up, and the message of Discord in which it is shown.

-- Grows with every change of the canvas, also from one session of a key to the next.
ALTER TABLE sessions ADD COLUMN canvas_revision INTEGER NOT NULL DEFAULT 0;

-- Serves: the canvas of a key without an open session, which the next one takes over; all canvases of a key.
-- Sessions from before the first drawing are not in it.
CREATE INDEX sessions_with_canvas ON sessions (user_id, channel_id, agent, closed_at) WHERE canvas_revision > 0;

-- Whoever changes a canvas: a turn, a heartbeat, /canvas clear, the erasure of a memory.
CREATE TRIGGER sessions_canvas_changed AFTER UPDATE OF canvas_state ON sessions
WHEN new.canvas_state <> old.canvas_state BEGIN
    UPDATE sessions SET canvas_revision = old.canvas_revision + 1 WHERE id = new.id;
END;

-- The message that shows the canvas of a key to everyone who reads the channel. What a revision of 0 shows was
-- never brought up to date.
CREATE TABLE canvas_messages (
    user_id        INTEGER NOT NULL,
    channel_id     INTEGER NOT NULL,
    agent          TEXT NOT NULL,
    message_id     INTEGER NOT NULL,
    shown_revision INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, channel_id, agent)  -- serves: a turn's end, the start
) WITHOUT ROWID;

-- Serves: whose canvas a message shows.
CREATE INDEX canvas_messages_by_message ON canvas_messages (message_id);

-- Serves: a channel that gets another agent.
CREATE INDEX canvas_messages_by_channel ON canvas_messages (channel_id);
