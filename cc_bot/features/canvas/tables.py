from typing import Final

from cc_bot.db.personal import PersonalTable

TABLES: Final = (PersonalTable("canvas_messages", "choices", deleted_with_last_session=True),)
