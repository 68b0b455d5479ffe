-- Pages in a browser: who is signed in, and how a canvas that is looked at learns of its changes.

-- A code that signs somebody in, once. Only its hash is here: whoever reads the file can't use it.
CREATE TABLE web_codes (
    hash       TEXT PRIMARY KEY,
    user_id    INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,  -- where it was asked for; 0: not on Discord
    guild_id   INTEGER,
    made_at    TEXT NOT NULL,
    ends_at    TEXT NOT NULL
) WITHOUT ROWID;

-- Serves: a user's own, and their erasure.
CREATE INDEX web_codes_of_user ON web_codes (user_id);

-- A browser that is signed in. The hash is that of its cookie.
CREATE TABLE web_sessions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,  -- no number comes back: a list that is open may name one
    hash       TEXT NOT NULL UNIQUE,               -- serves: every request
    user_id    INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,
    guild_id   INTEGER,
    made_at    TEXT NOT NULL,
    used_at    TEXT NOT NULL,
    ends_at    TEXT NOT NULL
);

-- Serves: the list of a user's own, and their erasure.
CREATE INDEX web_sessions_of_user ON web_sessions (user_id);

-- What a page that shows canvases has seen, it compares with this one row after every change of the database.
CREATE TABLE canvas_clock (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    drawn INTEGER NOT NULL,  -- grows with every change of any canvas: the number of the newest
    moved INTEGER NOT NULL   -- grows when a key may have got another canvas to show: a choice, a deletion
);
INSERT INTO canvas_clock (id, drawn, moved) VALUES (1, 0, 0);

-- The number of the newest change of this session's canvas.
ALTER TABLE sessions ADD COLUMN canvas_change INTEGER NOT NULL DEFAULT 0;

-- Serves: the canvases that changed since.
CREATE INDEX sessions_by_canvas_change ON sessions (canvas_change) WHERE canvas_change > 0;

DROP TRIGGER sessions_canvas_changed;
CREATE TRIGGER sessions_canvas_changed AFTER UPDATE OF canvas_state ON sessions
WHEN new.canvas_state <> old.canvas_state BEGIN
    UPDATE canvas_clock SET drawn = drawn + 1 WHERE id = 1;
    UPDATE sessions
    SET canvas_revision = old.canvas_revision + 1, canvas_change = (SELECT drawn FROM canvas_clock WHERE id = 1)
    WHERE id = new.id;
END;

CREATE TRIGGER sessions_canvas_deleted AFTER DELETE ON sessions WHEN old.canvas_revision > 0 BEGIN
    UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1;
END;

CREATE TRIGGER agent_choices_made AFTER INSERT ON agent_choices BEGIN
    UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1;
END;
CREATE TRIGGER agent_choices_changed AFTER UPDATE ON agent_choices BEGIN
    UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1;
END;
CREATE TRIGGER agent_choices_taken_back AFTER DELETE ON agent_choices BEGIN
    UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1;
END;
CREATE TRIGGER channel_agents_made AFTER INSERT ON channel_agents BEGIN
    UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1;
END;
CREATE TRIGGER channel_agents_changed AFTER UPDATE ON channel_agents BEGIN
    UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1;
END;
CREATE TRIGGER channel_agents_taken_back AFTER DELETE ON channel_agents BEGIN
    UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1;
END;
