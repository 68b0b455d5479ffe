-- Calls of tools that somebody has agreed to, from before they are made until their user knows what came of them: a
-- kill in between leaves none that is made twice, and none that nobody is told of.

CREATE TABLE claimed_calls (
    id             INTEGER PRIMARY KEY,  -- of the proposal that it was
    user_id        INTEGER NOT NULL,
    channel_id     INTEGER NOT NULL,
    agent          TEXT NOT NULL,
    message_id     INTEGER NOT NULL,     -- the row of the answer that proposed it
    visibility     TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
    change         TEXT NOT NULL,        -- JSON, as in proposals
    claimed_at     INTEGER NOT NULL,     -- Unix milliseconds
    claimed_by     TEXT NOT NULL,        -- the press, and with it the run of the program
    state          TEXT NOT NULL CHECK (state IN ('claimed', 'done', 'failed', 'unknown')),
    place_id       INTEGER,              -- where the message stands that tells of it; NULL outside of Discord
    shown_in       INTEGER,              -- that message, as Discord counts it
    application_id INTEGER,              -- of the bot, for the token
    token          TEXT,                 -- of the press
    token_until    INTEGER,              -- Unix milliseconds
    ephemeral      INTEGER NOT NULL,     -- whether whoever pressed alone sees it
    locale         TEXT                  -- of who asked; NULL where it is not known
);

-- Serves: a user's own, when all of theirs is listed or erased.
CREATE INDEX claimed_calls_by_user ON claimed_calls (user_id);
