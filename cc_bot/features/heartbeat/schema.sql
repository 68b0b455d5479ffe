-- What each user's heartbeats have looked at, so that nothing is raised twice.
CREATE TABLE heartbeat_marks (
    user_id @number NOT NULL,
    name    @text NOT NULL,       -- numbers and dates of a reminder or memory, and nothing of its text
    until   @number NOT NULL,     -- Unix milliseconds: from then on it can't come up again
    PRIMARY KEY (user_id, name)   -- serves: what a user's heartbeats know
) @clustered;
-- See the end of db/migrations/0001_schema.sql.
@postgresql ALTER TABLE heartbeat_marks ALTER COLUMN name SET STATISTICS 0;
