-- Who is about to tell an owner that a reminder was missed or may not have come: a process that dies before it has, leaves
-- it to be told by another.

ALTER TABLE firings ADD COLUMN told_by TEXT COLLATE "C";  -- NULL once it is told, or for a terminal

CREATE INDEX firings_being_told ON firings (told_by) WHERE told_by IS NOT NULL;
