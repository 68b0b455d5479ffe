-- The message that shows the canvas of a key to everyone who reads the channel. A shown_revision of 0 was never
-- brought up to date.
CREATE TABLE canvas_messages (
    user_id        @number NOT NULL,
    channel_id     @number NOT NULL,
    agent          @text NOT NULL,
    message_id     @number NOT NULL,
    shown_revision @number NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, channel_id, agent)  -- serves: a turn's end, the start
) @clustered;

-- Serves: whose canvas a message shows.
CREATE INDEX canvas_messages_by_message ON canvas_messages (message_id);
-- Serves: a channel that gets another agent.
CREATE INDEX canvas_messages_by_channel ON canvas_messages (channel_id);
