-- Turns of sessions on their way: accepted, answered, delivered. What is left here at a start is finished then.
--
-- A row is deleted when its user has seen how the turn ended, so the table holds only what is on its way, and
-- no token of an interaction outlives its turn. It takes the place of personal_answers.

CREATE TABLE turns (
    id           TEXT PRIMARY KEY,      -- random; nonces and buttons are made of it
    user_id      INTEGER NOT NULL,
    channel_id   INTEGER NOT NULL,
    agent        TEXT NOT NULL,
    guild_id     INTEGER,
    state        TEXT NOT NULL CHECK (state IN ('accepted', 'answered', 'interrupted')),
    kind         TEXT NOT NULL CHECK (kind IN ('ask', 'again', 'continue', 'message')),
    visibility   TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
    temporary    INTEGER NOT NULL DEFAULT 0 CHECK (temporary IN (0, 1)),
    locale       TEXT,                  -- NULL where it is not known
    question     TEXT,                  -- JSON: text, author, files by their URLs; NULL where nothing may be kept
    question_id  INTEGER,               -- Discord's, of a question that is a message
    replaces     INTEGER,               -- the row of messages that the answer takes the place of
    interaction_id INTEGER,             -- Discord's; its follow-ups name it
    token        TEXT,                  -- of the interaction; NULL for a message, and past the token's life
    token_until  INTEGER,               -- Unix milliseconds
    ephemeral    INTEGER NOT NULL DEFAULT 0 CHECK (ephemeral IN (0, 1)),    -- a message for its user's eyes only
    below        INTEGER NOT NULL DEFAULT 0 CHECK (below IN (0, 1)),        -- the answer is follow-ups alone
    shown_in     INTEGER,               -- the interaction's own message, or the first of an answer to a message
    place_id     INTEGER,               -- where the bot writes by itself: answers to messages, and late ones
    pages        TEXT NOT NULL DEFAULT '[]',    -- JSON: the follow-ups; of a late answer, all its messages
    earlier      TEXT NOT NULL DEFAULT '[]',    -- JSON: the messages of the replaced answer above `shown_in`
    answer_id    INTEGER,               -- the row of messages, once it is stored
    former       TEXT,                  -- the id of the interrupted turn that this one asks again
    accepted_at  INTEGER NOT NULL       -- Unix milliseconds
);

-- Serves: a user's own, when all of theirs is listed or erased.
CREATE INDEX turns_by_user ON turns (user_id);

-- Under whose nonce the message of an answer to these questions was posted, or was to be: other questions may
-- wait as well by the time that a killed program looks for that message.
ALTER TABLE mentions ADD COLUMN begun_as INTEGER;

INSERT INTO turns (
    id, user_id, channel_id, agent, state, kind, visibility, shown_in, place_id, answer_id, accepted_at
)
SELECT
    'p' || p.answer_id, p.user_id, p.channel_id, COALESCE(s.agent, 'default'),
    CASE WHEN m.id IS NULL THEN 'accepted' ELSE 'answered' END, 'message',
    COALESCE(m.visibility, 'private'), p.answer_id, p.channel_id, m.id, p.created_at
FROM personal_answers AS p
LEFT JOIN messages AS m ON m.user_id = p.user_id AND m.discord_id = p.answer_id AND m.role = 'assistant'
LEFT JOIN sessions AS s ON s.id = m.session_id;

DROP TABLE personal_answers;
