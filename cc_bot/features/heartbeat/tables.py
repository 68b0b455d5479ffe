from typing import Final

from cc_bot.db.personal import PersonalTable

TABLES: Final = (PersonalTable("heartbeat_marks", "deliveries"),)
