-- The channels and threads of servers that the bot has met: none of them ever moves to another.

CREATE TABLE places (
    place_id   INTEGER PRIMARY KEY,  -- a channel, or a thread
    channel_id INTEGER NOT NULL,     -- the channel; of a thread, the channel that it belongs to
    guild_id   INTEGER NOT NULL
);

-- All threads of a channel that is gone.
CREATE INDEX places_by_channel ON places (channel_id);
