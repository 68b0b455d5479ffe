-- How a model's own count of tokens relates to the estimate; learned from its answers, and about no user.

CREATE TABLE token_factors (
    model      TEXT PRIMARY KEY,    -- serves: every statement on this table
    factor     REAL NOT NULL,       -- tokens counted by the server / tokens estimated
    responses  INTEGER NOT NULL,    -- from how many answers it was learned
    updated_at TEXT NOT NULL
);
