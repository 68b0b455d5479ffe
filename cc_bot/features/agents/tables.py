from typing import Final

from cc_bot.db.personal import PersonalTable

TABLES: Final = (
    PersonalTable("agent_choices", "choices", "chosen_at"),
    PersonalTable(
        *("channel_agents", "decisions", "set_at"), name="decided_agents", column="set_by", erasing="unsign"
    ),
)
