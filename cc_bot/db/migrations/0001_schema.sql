-- The schema of both engines; the tables of features are in their `schema.sql`. `@number`, `@text` and the like are
-- fragments of db/database.py; a line that begins with `@sqlite` or `@postgresql` is there on that engine alone.
--
-- Snowflakes are numbers. Times are UTC: ISO 8601 text of one width in sessions, memories and user_settings (so that
-- text order is time order), Unix milliseconds elsewhere. What is true or false is 0 or 1. `thread_id` is 0 for the
-- channel itself. Comments name what each index serves. On PostgreSQL no index holds a text that people write: an
-- entry of one has room for 2,700 bytes.

-- ---- conversations -------------------------------------------------------------------------------------------------

CREATE TABLE sessions (
    id              @text PRIMARY KEY,  -- a UUID; also serves: commit of a turn
    user_id         @number NOT NULL,
    channel_id      @number NOT NULL,   -- a thread is a channel of its own, and so is a DM
    agent           @text NOT NULL,
    canvas_state    @text NOT NULL DEFAULT '{"elements":[]}',
    canvas_revision @number NOT NULL DEFAULT 0,  -- grows with every change, also from one session of a key to the next
    canvas_change   @number NOT NULL DEFAULT 0,  -- canvas_clock.drawn at the newest change
    created_at      @text NOT NULL,
    last_active     @text NOT NULL,
    active_hour     @text NOT NULL DEFAULT '',   -- its hour, 2026-11-26T18: most turns leave it as it is
    closed_at       @text,              -- by /clear or expiry; NULL while the session is open
    -- Messages up to summarized_to (0: none) are in a summary, or were in one that its user deleted. `summarize` is 1
    -- while later ones may still be summarized: until /clear, or until an expired session's rest was.
    summarize       @number NOT NULL DEFAULT 1 CHECK (summarize IN (0, 1)),
    summarized_to   @number NOT NULL DEFAULT 0
) @strict;

-- At most one open session per key: a second one to open finds the first. Serves: open, clear.
CREATE UNIQUE INDEX sessions_open_by_key ON sessions (user_id, channel_id, agent) WHERE closed_at IS NULL;
-- Serves: closing what is idle, catching up with the DMs of open sessions.
CREATE INDEX sessions_open_by_hour ON sessions (active_hour) WHERE closed_at IS NULL;
-- Serves: pruning, in pages.
CREATE INDEX sessions_by_creation ON sessions (created_at, id);
-- Serves: a user's own, the newest first; their erasure.
CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);
-- Serves: what of a key is in no summary yet, /clear, deleting a summary.
CREATE INDEX sessions_to_summarize ON sessions (user_id, channel_id, agent, closed_at) WHERE summarize = 1;
-- Serves: the sweep, which looks for expired sessions of any key.
CREATE INDEX sessions_to_summarize_by_end ON sessions (closed_at) WHERE summarize = 1 AND closed_at IS NOT NULL;
-- Serves: the canvas of a key without an open session, which the next one takes over; all canvases of a key.
CREATE INDEX sessions_with_canvas ON sessions (user_id, channel_id, agent, closed_at) WHERE canvas_revision > 0;
-- Serves: the canvases that changed since.
CREATE INDEX sessions_by_canvas_change ON sessions (canvas_change) WHERE canvas_change > 0;

-- Pages that show canvases compare this one row with what they have seen, after every change of the database.
CREATE TABLE canvas_clock (
    id    @number PRIMARY KEY CHECK (id = 1),
    drawn @number NOT NULL,  -- grows with every change of any canvas: the number of the newest
    moved @number NOT NULL   -- grows when a key may have got another canvas to show: a choice, a deletion
) @strict;
INSERT INTO canvas_clock (id, drawn, moved) VALUES (1, 0, 0);

-- The archive, and the one source of what was said; a session's history is its tail.
-- `user_id` is the owner of the session, NULL where a row belongs to a channel alone. It repeats sessions.user_id so
-- that every statement on messages, by id too, names the owner itself.
CREATE TABLE messages (
    id                @id,                      -- buttons carry it
    discord_id        @number,
    session_id        @text REFERENCES sessions (id),  -- NULL: in no history (channels, heartbeats)
    user_id           @number,
    channel_id        @number NOT NULL,
    thread_id         @number NOT NULL DEFAULT 0,
    parent_channel_id @number NOT NULL,
    author_id         @number NOT NULL,
    author_name       @text NOT NULL DEFAULT '',
    role              @text NOT NULL CHECK (role IN ('user', 'assistant')),
    content           @text NOT NULL,
    heard             @text NOT NULL DEFAULT '',       -- the transcript of its recordings, which ends `content`
    tool_calls        @text NOT NULL DEFAULT '[]',
    visibility        @text NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'private')),
    status            @text NOT NULL DEFAULT 'complete' CHECK (status IN ('complete', 'stopped', 'cut', 'replaced')),
    reply_to          @number,                         -- Discord's id of the message it answers
    pointing          @text NOT NULL DEFAULT 'reply',  -- how: 'reply', or 'menu' and 'since' for commands of its menu
    in_channel        @number NOT NULL DEFAULT 0 CHECK (in_channel IN (0, 1)),  -- a session's, shown to its channel
    memory_user_id    @number,                         -- of one without session: whose memories its calls are about
    tainted           @number NOT NULL DEFAULT 1,      -- holds words of others, or was made from such words
    erased            @number NOT NULL DEFAULT 0 CHECK (erased IN (0, 1)),  -- an edit on Discord brings nothing back
    timestamp         @number NOT NULL,                -- when it was said, ms
    created_at        @number NOT NULL                 -- when it was stored, ms
) @strict;

-- Serves: the history (read backwards from its end), the attachments that leave it, session_history. By session alone,
-- PostgreSQL takes reading and sorting all of one to be less work than reading them in order.
@sqlite CREATE INDEX messages_by_session ON messages (session_id, id) WHERE session_id IS NOT NULL;
@postgresql CREATE INDEX messages_by_session ON messages (session_id, user_id, id) WHERE session_id IS NOT NULL;
-- One row per Discord message. Rows without one (most answers, the terminal) take no room in it.
CREATE UNIQUE INDEX messages_by_discord_id ON messages (discord_id) WHERE discord_id IS NOT NULL;
-- Serves: the context of a channel or thread, its newest message, every place that has messages, deleting all of a
-- channel or thread. The indexes of channels hold no session's rows, so that a channel's queries never pass one.
CREATE INDEX messages_by_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE user_id IS NULL AND discord_id IS NOT NULL;
-- Serves: the newest answer of a channel or thread, and whether there is one.
CREATE INDEX messages_answers_by_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE user_id IS NULL AND role = 'assistant' AND discord_id IS NOT NULL;
-- Serves: the context of a channel or thread. It holds public sessions' rows alone.
CREATE INDEX messages_asked_in_channel ON messages (parent_channel_id, thread_id, discord_id)
    WHERE in_channel = 1 AND discord_id IS NOT NULL;
-- Serves: all that a user said in channels.
CREATE INDEX messages_by_author ON messages (author_id) WHERE user_id IS NULL AND role = 'user';
-- Serves: finding what refers to a memory, when it is to be erased from conversations too.
CREATE INDEX messages_by_memory_user ON messages (memory_user_id, id) WHERE memory_user_id IS NOT NULL;
-- Serves: what was last said to a user without being asked, in one channel.
CREATE INDEX messages_unasked ON messages (user_id, channel_id, id) WHERE session_id IS NULL AND user_id IS NOT NULL;

-- The bytes of files, as long as their message is in a history. Owner and session are repeated so that what leaves a
-- history is found without reading the session's whole archive.
CREATE TABLE attachments (
    message_id   @number NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    position     @number NOT NULL,
    session_id   @text NOT NULL REFERENCES sessions (id),
    user_id      @number NOT NULL,
    name         @text NOT NULL,
    content_type @text NOT NULL,
    data         @blob NOT NULL,
    document     @text,    -- JSON: the text of a document's parts; NULL for images and text files
    source_id    @number,  -- Discord's id of the forward it came with: deleted with that; NULL: came with the question
    bytes        @number,  -- its size, text included; NULL once let go for the quota: the row stays to tell its user
    PRIMARY KEY (message_id, position)
) @strict;

-- Serves: the history, deleting what left it, and everything when the session is closed.
CREATE INDEX attachments_by_session ON attachments (session_id, message_id, position);
-- Serves: what goes with a forward.
CREATE INDEX attachments_by_source ON attachments (source_id) WHERE source_id IS NOT NULL;
-- Serves: how much each user holds, and which of it is oldest.
CREATE INDEX attachments_by_user ON attachments (user_id, message_id, position, bytes) WHERE bytes IS NOT NULL;

-- For people who read the database with other tools: every session with its history in one column.
CREATE VIEW session_history AS
SELECT
    s.id,
    s.user_id,
    s.channel_id,
    (
@sqlite        SELECT json_group_array(json_object('role', ordered.role, 'content', ordered.content))
@postgresql        SELECT CAST(coalesce(
@postgresql            json_agg(json_build_object('role', ordered.role, 'content', ordered.content)), '[]'
@postgresql        ) AS TEXT)
        FROM (
            SELECT tail.role, tail.content
            FROM (
                SELECT m.id, m.role, m.content
                FROM messages AS m
                WHERE m.session_id = s.id AND m.status <> 'replaced'
                ORDER BY m.id DESC
                LIMIT 20
            ) AS tail
            ORDER BY tail.id
        ) AS ordered
    ) AS history,
    s.created_at,
    s.last_active
FROM sessions AS s;

-- The newest summary of each key, which outlives its session. Public and private words are two texts, so that no
-- request that others can see is made from the second.
CREATE TABLE summaries (
    id               @id,
    user_id          @number NOT NULL,
    channel_id       @number NOT NULL,
    agent            @text NOT NULL,
    visibility       @text NOT NULL CHECK (visibility IN ('public', 'private')),
    session_id       @text NOT NULL REFERENCES sessions (id),  -- the last one that went into it
    content          @text NOT NULL,
    tainted          @number NOT NULL DEFAULT 1,
    first_message_id @number NOT NULL,
    last_message_id  @number NOT NULL,
    created_at       @number NOT NULL
) @strict;

-- Serves: every statement on this table.
CREATE UNIQUE INDEX summaries_by_key ON summaries (user_id, channel_id, agent, visibility);
-- Serves: deleting a session, which summaries refer to.
CREATE INDEX summaries_by_session ON summaries (session_id);

-- How a model's own count of tokens relates to the estimate; learned from its answers, and about no user.
CREATE TABLE token_factors (
    model      @text PRIMARY KEY,  -- serves: every statement on this table
    factor     @real NOT NULL,     -- tokens counted by the server / tokens estimated
    responses  @number NOT NULL,   -- from how many answers it was learned
    updated_at @text NOT NULL
) @strict;

-- Turns from the question to the seen answer; at a start, those left here are finished. Of a session, the row is
-- deleted when its user has seen the outcome, so no token of an interaction outlives its turn. Of a channel, each
-- question has a row, written with its message and answered with its answer, and keeps it: so the answer is found by
-- its question, and a message that is delivered again does not ask again.
CREATE TABLE turns (
    id             @text PRIMARY KEY,  -- random; nonces and buttons are made of it. A channel's: 'q' and question_id
    user_id        @number NOT NULL,   -- who asks
    channel_id     @number NOT NULL,
    thread_id      @number NOT NULL DEFAULT 0,  -- of a mention; otherwise the channel is the thread
    agent          @text NOT NULL,
    guild_id       @number,
    -- accepted: it waits for its answer; answered: that is stored; edited: a mention's, after it was answered; shown: a
    -- mention's, and so is one that was given up; interrupted: it failed, and may be asked again
    state          @text NOT NULL CHECK (state IN ('accepted', 'answered', 'edited', 'shown', 'interrupted')),
    kind           @text NOT NULL CHECK (kind IN ('ask', 'again', 'continue', 'message', 'mention')),
    visibility     @text NOT NULL CHECK (visibility IN ('public', 'private')),
    temporary      @number NOT NULL DEFAULT 0 CHECK (temporary IN (0, 1)),
    locale         @text,              -- NULL: not known
    question       @text,              -- JSON: text, author, files by their URLs; NULL where nothing may be kept
    question_id    @number,            -- Discord's, of a question that is a message
    replaces       @number,            -- the row of messages that the answer takes the place of
    interaction_id @number,            -- Discord's; its follow-ups name it
    token          @text,              -- of the interaction; NULL for a message, and past the token's life
    token_until    @number,            -- Unix milliseconds
    ephemeral      @number NOT NULL DEFAULT 0 CHECK (ephemeral IN (0, 1)),
    below          @number NOT NULL DEFAULT 0 CHECK (below IN (0, 1)),  -- the answer is follow-ups alone
    shown_in       @number,            -- the interaction's own message, or the first of an answer to a message
    begun_as       @number,            -- the mention whose nonce that message was, or was to be, posted under
    place_id       @number,            -- where the bot writes by itself: answers to messages, and late ones
    pages          @text NOT NULL DEFAULT '[]',  -- JSON: the follow-ups; of a late answer, all its messages
    earlier        @text NOT NULL DEFAULT '[]',  -- JSON: the messages of the replaced answer above `shown_in`
    answer_id      @number,            -- the row of messages, once it is stored
    former         @text,              -- the id of the interrupted turn that this one asks again
    -- JSON, as in messages: what its tools have changed for good, until it is answered. A kill in between leaves no
    -- change unreported, and asking again does not make it twice. One without a result may have been done or not.
    calls          @text NOT NULL DEFAULT '[]',
    process        @text NOT NULL DEFAULT '',  -- that makes it; if no longer in `processes`, others finish the turn
    accepted_at    @number NOT NULL    -- Unix milliseconds
) @strict;

-- Serves: a user's own, when all of theirs is listed or erased.
CREATE INDEX turns_by_user ON turns (user_id);
-- Serves: what of sessions is unfinished, or was interrupted.
CREATE INDEX turns_of_sessions ON turns (process) WHERE kind <> 'mention';
-- Serves: the edit or the deletion of a question.
CREATE INDEX turns_by_question ON turns (question_id) WHERE question_id IS NOT NULL;
-- Serves: who waits for an answer, or for its end, in one channel or in all.
CREATE INDEX turns_due ON turns (channel_id, thread_id, state, question_id) WHERE kind = 'mention' AND state <> 'shown';
-- Serves: which questions an answer belongs to.
CREATE INDEX turns_by_answer ON turns (shown_in, question_id) WHERE kind = 'mention';

-- ---- conversations of channels -------------------------------------------------------------------------------------
-- Their messages are in `messages`, with session_id and user_id NULL. All ids of messages here are Discord's, and times
-- are Unix milliseconds.

-- The further messages of a long answer, whose row carries the id of the first.
CREATE TABLE answer_pages (
    discord_id @number PRIMARY KEY,
    answer_id  @number NOT NULL
) @strict;

-- Serves: deleting an answer with all its pages.
CREATE INDEX answer_pages_by_answer ON answer_pages (answer_id);

-- The frozen parts of a channel's context.
CREATE TABLE block_boundaries (
    id               @id,
    channel_id       @number NOT NULL,
    thread_id        @number NOT NULL DEFAULT 0,
    first_message_id @number NOT NULL,
    last_message_id  @number NOT NULL,
    token_count      @number NOT NULL,  -- as its model counted when it was frozen
    created_at       @number NOT NULL,
    UNIQUE (channel_id, thread_id, first_message_id)
) @strict;

-- Serves: the blocks of a context, the last one, and those that an edit thaws.
CREATE INDEX block_boundaries_by_last ON block_boundaries (channel_id, thread_id, last_message_id);

-- The oldest message that requests still show. It moves by whole blocks, so that requests between two moves begin
-- alike.
CREATE TABLE channel_windows (
    channel_id       @number NOT NULL,
    thread_id        @number NOT NULL DEFAULT 0,
    first_message_id @number NOT NULL,
    PRIMARY KEY (channel_id, thread_id)
) @strict;

-- Where /reset was said: nothing up to there is read again. bot_id 0 holds for all bots of this database.
CREATE TABLE thread_metadata (
    thread_id                     @number NOT NULL,  -- a thread or a channel
    bot_id                        @number NOT NULL,
    channel_id                    @number NOT NULL,  -- of a thread, the channel that it belongs to
    last_reset_row_id             @number NOT NULL,
    last_reset_discord_message_id @number NOT NULL,
    last_reset_at                 @number NOT NULL,
    PRIMARY KEY (thread_id, bot_id)
) @strict;

-- Serves: deleting all of a channel.
CREATE INDEX thread_metadata_by_channel ON thread_metadata (channel_id);

-- Which messages the bot reads, and since when: what was written before that was not said to it. One row.
CREATE TABLE reading (
    id    @number PRIMARY KEY CHECK (id = 1),
    mode  @text NOT NULL,
    since @number NOT NULL  -- a moment as Discord's ids have it: all ids from then on are greater
) @strict;

-- What was written up to this message is not read from Discord again: it is deleted here. Elsewhere the newest stored
-- message says where to go on.
CREATE TABLE read_to (
    channel_id @number NOT NULL,
    thread_id  @number NOT NULL,
    discord_id @number NOT NULL,
    PRIMARY KEY (channel_id, thread_id)  -- serves: catching up
) @clustered;

-- The channels and threads of servers that the bot has met: none of them ever moves to another.
CREATE TABLE places (
    place_id   @number PRIMARY KEY,  -- a channel, or a thread
    channel_id @number NOT NULL,     -- the channel; of a thread, the channel that it belongs to
    guild_id   @number NOT NULL
) @strict;

-- Serves: all threads of a channel that is gone.
CREATE INDEX places_by_channel ON places (channel_id);

-- ---- numbers -------------------------------------------------------------------------------------------------------

-- The last number given to a user, of each noun. Users see these numbers; rows keep their ids, which buttons and the
-- erasure log go by. None is given twice, even when its row is erased.
CREATE TABLE numbers (
    user_id @number NOT NULL,
    noun    @text NOT NULL CHECK (noun IN ('memory', 'schedule', 'proposal')),
    last    @number NOT NULL,
    PRIMARY KEY (user_id, noun)  -- serves: giving the next one
) @clustered;

-- ---- what a user decides -------------------------------------------------------------------------------------------

CREATE TABLE user_settings (
    user_id         @number PRIMARY KEY,  -- serves: every statement on this table
    locale          @text,
    timezone        @text,
    welcomed        @number NOT NULL DEFAULT 0 CHECK (welcomed IN (0, 1)),
    memory_paused   @number NOT NULL DEFAULT 0 CHECK (memory_paused IN (0, 1)),  -- nothing is stored or recalled
    told_of_menu_at @text,                -- when the user last learned of the menu for messages the bot can't read
    spoken          @number NOT NULL DEFAULT 0 CHECK (spoken IN (0, 1)),         -- short answers are read aloud too
    updated_at      @text NOT NULL
) @strict;

-- Tool calls that a model proposed, from its answer until their user knows the outcome. A row goes when it is declined
-- or its answer goes. An approved one is claimed before its calls are made: a kill in between makes none twice and
-- leaves none unreported. No id is given twice: a button must not come to mean something else.
CREATE TABLE proposals (
    id             @id,
    user_id        @number NOT NULL,
    number         @number,
    channel_id     @number NOT NULL,
    agent          @text NOT NULL,
    message_id     @number NOT NULL REFERENCES messages (id) ON DELETE CASCADE,  -- the answer it is shown below
    visibility     @text NOT NULL CHECK (visibility IN ('public', 'private')),
    memory_id      @number,         -- the memory that it changes or deletes; NULL for none
    content        @text NOT NULL,  -- JSON: the calls, what they depend on, and what the user is shown
    made_at        @number NOT NULL,  -- Unix milliseconds
    state          @text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'claimed', 'done', 'failed', 'unknown')),
    claimed_by     @text NOT NULL DEFAULT '',  -- the press, and with it the run of the program
    process        @text NOT NULL DEFAULT '',  -- that makes the calls, as in turns
    place_id       @number,         -- the channel of the message that reports the outcome; NULL outside of Discord
    shown_in       @number,         -- that message, as Discord counts it
    token          @text,           -- of the press
    token_until    @number,         -- Unix milliseconds
    ephemeral      @number NOT NULL DEFAULT 0
) @strict;

-- Serves: those of an answer.
CREATE INDEX proposals_by_message ON proposals (message_id);
-- Serves: a user's own, when all of theirs is listed or erased, or one of their memories is.
CREATE INDEX proposals_by_user ON proposals (user_id, made_at);
-- Serves: approved ones whose outcome is to be reported.
CREATE INDEX proposals_approved ON proposals (process) WHERE state <> 'open';

-- Receipts: the lines below an answer on Discord that report a change of a memory or reminder and offer to undo it. A
-- change of it makes them stale, and the message is edited. No text is in here.
CREATE TABLE receipts (
    message_id @number NOT NULL,   -- as Discord counts it: the last of an answer
    line       @number NOT NULL,   -- among the message's receipts, from 0
    user_id    @number NOT NULL,
    channel_id @number,            -- NULL: ephemeral, edited only by a press below it
    visibility @text NOT NULL CHECK (visibility IN ('public', 'private')),
    what       @text NOT NULL CHECK (what IN ('memory', 'schedule')),
    kind       @text NOT NULL DEFAULT 'added' CHECK (kind IN ('added', 'updated', 'unchanged', 'deleted', 'cancelled')),
    named_id   @number NOT NULL,
    former_id  @number,            -- the version before the change
    number     @number NOT NULL DEFAULT 0,  -- what its user calls it by
    stale      @number NOT NULL DEFAULT 0,  -- how often the named one has changed since the message was shown
    PRIMARY KEY (message_id, line) -- serves: those of one message
) @clustered;

-- Serves: the receipts of a memory or reminder.
CREATE INDEX receipts_by_named ON receipts (user_id, what, named_id);
-- Serves: messages to show again at a start, since the last run ended before it could.
CREATE INDEX receipts_stale ON receipts (user_id, message_id) WHERE stale > 0;

-- ---- usage, limits, access -----------------------------------------------------------------------------------------

CREATE TABLE usage (
    user_id           @number NOT NULL,
    day               @text NOT NULL,    -- YYYY-MM-DD, in the operator's time zone
    guild_id          @number NOT NULL,  -- 0: a DM, or outside of Discord
    model             @text NOT NULL,    -- '': the offline model, which counts no tokens
    purpose           @text NOT NULL,    -- turn, summary, heartbeat, schedule
    turns             @number NOT NULL DEFAULT 0,
    prompt_tokens     @number NOT NULL DEFAULT 0,
    cached_tokens     @number NOT NULL DEFAULT 0,
    completion_tokens @number NOT NULL DEFAULT 0,
    cost_micros       @number NOT NULL DEFAULT 0,  -- millionths of the currency of the prices
    seconds           @number NOT NULL DEFAULT 0,  -- of recordings transcribed, and of answers read aloud
    PRIMARY KEY (user_id, day, guild_id, model, purpose)  -- serves: a user's day and month
) @clustered;

-- Serves: how many use it in a server.
CREATE INDEX usage_by_guild ON usage (guild_id, day, user_id);
-- Serves: deleting what is older than it is kept.
CREATE INDEX usage_by_day ON usage (day);

-- The same by server alone: erasing a user's usage takes nothing from it, and a server's limit is looked up without a
-- row for each member. A server's day is the sum of its slots, so that several writers wait for each other less.
CREATE TABLE usage_totals (
    guild_id          @number NOT NULL,  -- 0: all DMs together, and what is outside of Discord
    day               @text NOT NULL,
    model             @text NOT NULL,
    slot              @number NOT NULL DEFAULT 0,
    turns             @number NOT NULL DEFAULT 0,
    prompt_tokens     @number NOT NULL DEFAULT 0,
    cached_tokens     @number NOT NULL DEFAULT 0,
    completion_tokens @number NOT NULL DEFAULT 0,
    cost_micros       @number NOT NULL DEFAULT 0,
    seconds           @number NOT NULL DEFAULT 0,
    PRIMARY KEY (guild_id, day, model, slot)  -- serves: a server's day and month
) @clustered;

-- Serves: what was used today, and deleting what is older than it is kept.
CREATE INDEX usage_totals_by_day ON usage_totals (day);

-- The tokens that a user had used of limits not yet reset when they had all of theirs erased. Gone with the month.
CREATE TABLE erased_usage (
    user_id @number NOT NULL,
    day     @text NOT NULL,       -- that of the erasing; the first of its month for what was before it
    tokens  @number NOT NULL,
    PRIMARY KEY (user_id, day)    -- serves: a user's day and month
) @clustered;

-- What was admitted: its tokens count as used until they are settled, and a turn counts for the turns of its minute.
-- What a killed program leaves unsettled counts as what was reserved.
CREATE TABLE reservations (
    id        @number PRIMARY KEY,  -- random
    user_id   @number NOT NULL,
    guild_id  @number NOT NULL,
    front_end @text NOT NULL CHECK (front_end IN ('discord', 'terminal')),
    purpose   @text NOT NULL,
    model     @text NOT NULL,       -- that is asked first
    tokens    @number NOT NULL,     -- 0 once settled
    at        @number NOT NULL,     -- Unix milliseconds
    process   @text NOT NULL DEFAULT ''
) @strict;

-- Serves: the turns of a minute, and what is reserved.
CREATE INDEX reservations_by_user ON reservations (user_id, at);
CREATE INDEX reservations_by_guild ON reservations (guild_id, at);

-- What an owner changed by /admin; it goes before what the operator's file says.
CREATE TABLE limits (
    scope    @text NOT NULL CHECK (scope IN ('everyone', 'user', 'role', 'guild')),
    scope_id @number NOT NULL,  -- 0: everyone
    name     @text NOT NULL,
    value    @number,           -- NULL: no limit
    set_by   @number NOT NULL,
    set_at   @text NOT NULL,
    PRIMARY KEY (scope, scope_id, name)  -- serves: each turn
) @clustered;

CREATE TABLE access_rules (
    subject    @text NOT NULL CHECK (subject IN ('user', 'role', 'channel', 'guild')),
    subject_id @number NOT NULL,
    rule       @text NOT NULL CHECK (rule IN ('allow', 'deny')),
    set_by     @number NOT NULL,
    set_at     @text NOT NULL,
    PRIMARY KEY (subject, subject_id)  -- serves: each interaction
) @clustered;

CREATE TABLE channel_models (
    channel_id @number PRIMARY KEY,  -- serves: each turn
    models     @text NOT NULL,       -- JSON: a chain
    set_by     @number NOT NULL,
    set_at     @text NOT NULL
) @strict;

-- While there is a row, only owners are answered. One row.
CREATE TABLE maintenance (
    id     @number PRIMARY KEY CHECK (id = 1),
    note   @text NOT NULL,
    set_by @number NOT NULL,
    set_at @text NOT NULL
) @strict;

-- ---- pages in a browser --------------------------------------------------------------------------------------------

-- A code that signs in once. Only its hash is here: reading the file is not enough to use it.
CREATE TABLE web_codes (
    hash       @text PRIMARY KEY,
    user_id    @number NOT NULL,
    channel_id @number NOT NULL,  -- where it was asked for; 0: not on Discord
    guild_id   @number,
    made_at    @text NOT NULL,
    ends_at    @text NOT NULL
) @clustered;

-- Serves: a user's own, and their erasure.
CREATE INDEX web_codes_of_user ON web_codes (user_id);

-- A browser that is signed in. The hash is that of its cookie.
CREATE TABLE web_sessions (
    id         @id,                   -- a list that is open may name one
    hash       @text NOT NULL UNIQUE, -- serves: every request
    user_id    @number NOT NULL,
    channel_id @number NOT NULL,
    guild_id   @number,
    made_at    @text NOT NULL,
    used_at    @text NOT NULL,
    ends_at    @text NOT NULL
) @strict;

-- Serves: the list of a user's own, and their erasure.
CREATE INDEX web_sessions_of_user ON web_sessions (user_id);

-- ---- processes, erasures -------------------------------------------------------------------------------------------

-- The processes that are one bot.
CREATE TABLE processes (
    name         @text PRIMARY KEY,
    host         @text NOT NULL,
    version      @text NOT NULL,
    shards       @text,             -- JSON: numbers; NULL: all
    shard_count  @number NOT NULL,  -- of the whole bot; 0 where one process has all, or none
    file_hashes  @text NOT NULL,    -- JSON: of the operator's files, by name
    started_at   @number NOT NULL,  -- Unix milliseconds, as the database counts them; so below
    until        @number NOT NULL,  -- it counts as dead from then on
    connected_at @number NOT NULL DEFAULT 0  -- last connected to Discord with all of its shards; 0: never yet
) @strict;

-- Which of them does what for all.
CREATE TABLE duties (
    name    @text PRIMARY KEY,
    process @text              -- NULL, or one that is no longer in `processes`: none
) @strict;

-- Users whose data is being erased. What is left here at a start is continued then.
CREATE TABLE erasing (
    user_id @number PRIMARY KEY,
    since   @number NOT NULL  -- Unix milliseconds
) @strict;

-- ---- PostgreSQL's statistics ---------------------------------------------------------------------------------------
-- ANALYZE keeps samples of each column's values, and leaves those of a table that is empty by then as they are: what
-- was erased would stay there. No plan needs them of texts that people wrote, of secrets, and of what is computed from
-- such texts.
@postgresql ALTER TABLE sessions ALTER COLUMN canvas_state SET STATISTICS 0;
@postgresql ALTER TABLE messages ALTER COLUMN author_name SET STATISTICS 0, ALTER COLUMN content SET STATISTICS 0,
@postgresql    ALTER COLUMN tool_calls SET STATISTICS 0, ALTER COLUMN heard SET STATISTICS 0;
@postgresql ALTER TABLE attachments ALTER COLUMN name SET STATISTICS 0, ALTER COLUMN data SET STATISTICS 0,
@postgresql    ALTER COLUMN document SET STATISTICS 0;
@postgresql ALTER TABLE summaries ALTER COLUMN content SET STATISTICS 0;
@postgresql ALTER TABLE turns ALTER COLUMN question SET STATISTICS 0, ALTER COLUMN token SET STATISTICS 0,
@postgresql    ALTER COLUMN pages SET STATISTICS 0, ALTER COLUMN earlier SET STATISTICS 0, ALTER COLUMN calls SET STATISTICS 0;
@postgresql ALTER TABLE proposals ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN token SET STATISTICS 0;
@postgresql ALTER TABLE web_codes ALTER COLUMN hash SET STATISTICS 0;
@postgresql ALTER TABLE web_sessions ALTER COLUMN hash SET STATISTICS 0;
