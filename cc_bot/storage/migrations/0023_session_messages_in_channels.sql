-- What was asked and answered in sessions before everybody's eyes stands in its channel's context, in its place: that
-- of its message, or of the moment when a command was given (its interaction's id). What was stored before
-- has no such place and stays out of it.
ALTER TABLE messages ADD COLUMN in_channel INTEGER NOT NULL DEFAULT 0 CHECK (in_channel IN (0, 1));

-- Serves: the context of a channel or thread, beside messages_by_channel. It holds sessions' rows alone, and none that
-- only its user may read.
CREATE INDEX messages_asked_in_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE in_channel = 1 AND discord_id IS NOT NULL;
