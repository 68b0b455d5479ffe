-- Sessions are listed and pruned in the order in which they began, which no engine but SQLite keeps by itself.
-- A turn changes none of these columns.

-- Serves: pruning, in pages.
CREATE INDEX sessions_by_creation ON sessions (created_at, id);

-- Serves: a user's own, the newest first; their erasure.
DROP INDEX sessions_by_user;
CREATE INDEX sessions_by_user ON sessions (user_id, created_at, id);
