-- What a message answers: Discord's id of the message that it replies to, and nothing of what that says. A request
-- shows that from its own row, or from Discord, and no more once it is deleted.

ALTER TABLE messages ADD COLUMN reply_to INTEGER;

-- When its user was last told how a message that the bot is not shown can be asked about.
ALTER TABLE user_settings ADD COLUMN told_of_menu_at TEXT;

-- A forward in a DM is asked about in the next message, and what it shows is kept with that question, as files are.
-- Discord's id of the forward: when that is deleted, so is this. NULL for files that came with the question itself.
ALTER TABLE attachments ADD COLUMN source_id INTEGER;

-- Serves: what goes with a forward.
CREATE INDEX attachments_by_source ON attachments (source_id) WHERE source_id IS NOT NULL;
