-- What a message answers: Discord's id of the message that it replies to, and nothing of what that says. A request
-- shows that from its own row, or from Discord, and no more once it is deleted.

ALTER TABLE messages ADD COLUMN reply_to INTEGER;

-- When its user was last told how a message that the bot is not shown can be asked about.
ALTER TABLE user_settings ADD COLUMN told_of_menu_at TEXT;
