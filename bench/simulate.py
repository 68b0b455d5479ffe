import sys
from dataclasses import dataclass

# ---- measured ------------------------------------------------------------------------------------------

ASK_CPU_S = 19e-3
READ_CPU_S, UNREAD_CPU_S = 0.65e-3, 0.07e-3
"""For a message that is read, and one that is not."""
SERVER_CPU_S = 3.5e-3
READ_SERVER_CPU_S = 0.4e-3
LOG_BYTES = 5.4e3
MESSAGE_BYTES = 820
PROCESS_MB = 120
MENTION_REQUESTS = 4
"""For a mention's answer of six seconds."""
DISCORD_A_SECOND = 50
PEAK = 4.0
"""The busiest minute beside the day's mean: an assumption, as is all of `Use`."""
DAY_S, YEAR_DAYS = 86_400, 365


@dataclass(frozen=True, slots=True)
class Use:
    """The use that is made of the bot in a day."""

    name: str
    users: int
    active: float
    """The share of users who ask anything."""
    asks: float
    mentions: float
    """The share of questions that are mentions."""
    messages: float
    """That all users write in channels of the bot's servers."""


LIGHT = Use("light", 1_000_000, 0.02, 3, 0.05, 5_000_000)
HEAVY = Use("heavy", 1_000_000, 0.10, 8, 0.20, 30_000_000)


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a use in its busiest minute, and over a year."""

    asks_a_second: float
    cores: float
    server_cores: float
    discord_a_second: float
    reading_all_server_cores: float
    """With CC_BOT_CHANNELS=all."""
    memory_mb: float
    stored_gb_a_year: float
    log_gb_a_day: float

    @property
    def first_to_break(self) -> str:
        parts = {
            "mentions at Discord's limit": self.discord_a_second / DISCORD_A_SECOND,
            "CC_BOT_CHANNELS=all: a write for every message": self.reading_all_server_cores / 4,
            "the database's cores (4)": self.server_cores / 4,
        }
        name = max(parts, key=lambda each: parts[each])
        return f"{name} ({parts[name]:.0%} of what there is)"


def load_of(use: Use, processes: int) -> Load:
    asks = use.users * use.active * use.asks
    peak = asks / DAY_S * PEAK
    messages = use.messages / DAY_S * PEAK
    return Load(
        asks_a_second=peak,
        cores=peak * ASK_CPU_S + messages * UNREAD_CPU_S,
        server_cores=peak * SERVER_CPU_S,
        discord_a_second=peak * use.mentions * MENTION_REQUESTS,
        reading_all_server_cores=peak * SERVER_CPU_S + messages * READ_SERVER_CPU_S,
        memory_mb=processes * PROCESS_MB,
        stored_gb_a_year=asks * 2 * MESSAGE_BYTES * YEAR_DAYS / 1e9,
        log_gb_a_day=asks * LOG_BYTES / 1e9,
    )


def main(processes: int) -> None:
    loads = [load_of(use, processes) for use in (LIGHT, HEAVY)]
    rows = {
        "questions a second, at the peak": [f"{each.asks_a_second:.1f}" for each in loads],
        "cores of all processes": [f"{each.cores:.2f}" for each in loads],
        "cores of PostgreSQL": [f"{each.server_cores:.2f}" for each in loads],
        "the same with CC_BOT_CHANNELS=all": [f"{each.reading_all_server_cores:.2f}" for each in loads],
        "requests to Discord a second (50)": [f"{each.discord_a_second:.1f}" for each in loads],
        f"memory of {processes} processes": [f"{each.memory_mb / 1000:.1f} GB" for each in loads],
        "stored in a year": [f"{each.stored_gb_a_year:.0f} GB" for each in loads],
        "log of PostgreSQL in a day": [f"{each.log_gb_a_day:.1f} GB" for each in loads],
        "breaks first": [each.first_to_break for each in loads],
    }
    for name, values in rows.items():
        print(f"| {name} | " + " | ".join(values) + " |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 16)
