from typing import Final

from cc_bot.db.personal import PersonalTable

TABLES: Final = (PersonalTable("canvas_messages", "choices", with_sessions=True),)
