-- The message that shows the canvas of a session key in its channel. message_id is 0 without one, shown_revision is
-- 0 if the message is outdated.
CREATE TABLE canvas_messages (
    user_id        @number NOT NULL,
    channel_id     @number NOT NULL,
    agent          @text NOT NULL,
    message_id     @number NOT NULL,
    shown_revision @number NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, channel_id, agent)  -- serves: the canvas of a session
) @clustered;

-- Serves: the session of a message.
CREATE INDEX canvas_messages_by_message ON canvas_messages (message_id);
-- Serves: a channel whose agent changes.
CREATE INDEX canvas_messages_by_channel ON canvas_messages (channel_id);
