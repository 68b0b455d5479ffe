from typing import Final

from cc_bot.db.personal import PersonalTable

TABLES: Final = (
    PersonalTable("schedules", "schedules", "created_at"),
    PersonalTable("firings", "deliveries", "due_at"),
)
