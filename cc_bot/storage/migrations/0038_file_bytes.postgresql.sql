-- The bytes that a file takes, its text included; NULL once they were let go because all files together took too
-- much: the row stays until its user is told.

ALTER TABLE attachments ADD COLUMN bytes BIGINT;
UPDATE attachments SET bytes = length(data) + coalesce(length(document), 0);

-- Serves: how much each user holds, and which of it is oldest.
CREATE INDEX attachments_by_user ON attachments (user_id, message_id, position, bytes) WHERE bytes IS NOT NULL;
