-- Who is about to tell an owner that a reminder was missed or may not have come (NULL once it is told, and for a
-- terminal): a process that dies before it has, leaves it to be told by another.

ALTER TABLE firings ADD COLUMN told_by TEXT COLLATE "C";

CREATE INDEX firings_being_told ON firings (told_by) WHERE told_by IS NOT NULL;
