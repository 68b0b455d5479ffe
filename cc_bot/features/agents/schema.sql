-- The agent that a user chose in a channel.
CREATE TABLE agent_choices (
    user_id    @number NOT NULL,
    channel_id @number NOT NULL,
    agent      @text NOT NULL,
    chosen_at  @text NOT NULL,
    PRIMARY KEY (user_id, channel_id)  -- serves: each turn
) @clustered;

-- The agent of a channel, for all others.
CREATE TABLE channel_agents (
    channel_id @number PRIMARY KEY,  -- serves: each turn
    guild_id   @number NOT NULL,
    agent      @text NOT NULL,
    set_by     @number NOT NULL,
    set_at     @text NOT NULL
) @strict;
