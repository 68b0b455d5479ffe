-- Who answers whom: the agent that a user chose in a channel, and the one that a channel has for everybody else.

CREATE TABLE agent_choices (
    user_id    INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,
    agent      TEXT NOT NULL,
    chosen_at  TEXT NOT NULL,
    PRIMARY KEY (user_id, channel_id)  -- serves: each turn
) WITHOUT ROWID;

CREATE TABLE channel_agents (
    channel_id INTEGER PRIMARY KEY,  -- serves: each turn
    guild_id   INTEGER NOT NULL,
    agent      TEXT NOT NULL,
    set_by     INTEGER NOT NULL,
    set_at     TEXT NOT NULL
);
