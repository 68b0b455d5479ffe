-- How a message points at the one that it answers: 'reply', or 'menu' and 'since' for what was asked in that one's
-- menu, about it or about all that was said from it on. So it can be asked once more in the same way.

ALTER TABLE messages ADD COLUMN pointing TEXT NOT NULL DEFAULT 'reply';
