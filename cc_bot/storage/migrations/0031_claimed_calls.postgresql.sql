-- Calls of tools that somebody has agreed to, from before they are made until their user knows what came of them: a
-- kill in between leaves none that is made twice, and none that nobody is told of.

CREATE TABLE claimed_calls (
    id             BIGINT PRIMARY KEY,   -- of the proposal that it was
    user_id        BIGINT NOT NULL,
    channel_id     BIGINT NOT NULL,
    agent          TEXT COLLATE "C" NOT NULL,
    message_id     BIGINT NOT NULL,      -- the row of the answer that proposed it
    visibility     TEXT COLLATE "C" NOT NULL CHECK (visibility IN ('public', 'private')),
    change         TEXT COLLATE "C" NOT NULL,        -- JSON, as in proposals
    claimed_at     BIGINT NOT NULL,      -- Unix milliseconds
    claimed_by     TEXT COLLATE "C" NOT NULL,        -- the press, and with it the run of the program
    state          TEXT COLLATE "C" NOT NULL CHECK (state IN ('claimed', 'done', 'failed', 'unknown')),
    place_id       BIGINT,               -- where the message stands that tells of it; NULL outside of Discord
    shown_in       BIGINT,               -- that message, as Discord counts it
    application_id BIGINT,               -- of the bot, for the token
    token          TEXT COLLATE "C",                 -- of the press
    token_until    BIGINT,               -- Unix milliseconds
    ephemeral      BIGINT NOT NULL,      -- whether whoever pressed alone sees it
    locale         TEXT COLLATE "C"      -- of who asked; NULL where it is not known
);

-- Serves: a user's own, when all of theirs is listed or erased.
CREATE INDEX claimed_calls_by_user ON claimed_calls (user_id);

-- See 0029.
ALTER TABLE claimed_calls ALTER COLUMN change SET STATISTICS 0, ALTER COLUMN token SET STATISTICS 0;
