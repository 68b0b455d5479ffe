"""What the buttons about reminders need to know, in their custom ids: see custom_ids.py."""

from dataclasses import dataclass

from cc_bot.discord.pages.custom_ids import base36


@dataclass(frozen=True, slots=True)
class UnscheduleButton:
    """Have a reminder not come, or not come again."""

    user_id: int
    schedule_id: int

    def custom_id(self) -> str:
        return f"unschedule:{base36(self.user_id)}:{base36(self.schedule_id)}"


@dataclass(frozen=True, slots=True)
class SnoozeButton:
    """Be reminded of the same once more, a little later."""

    user_id: int
    schedule_id: int
    minutes: int
    """From the moment of the press."""

    def custom_id(self) -> str:
        numbers = (self.user_id, self.schedule_id, self.minutes)
        return ":".join(("snooze", *map(base36, numbers)))


@dataclass(frozen=True, slots=True)
class RemindersButton:
    """Another page of /remind list."""

    user_id: int
    page: int
    """From 1."""

    def custom_id(self) -> str:
        return f"reminders:{base36(self.user_id)}:{base36(self.page)}"


ScheduleControl = UnscheduleButton | SnoozeButton | RemindersButton


def parse_schedule_id(custom_id: str) -> ScheduleControl | None:
    """What a custom id stands for; None for anything that is not about reminders."""
    kind, *parts = custom_id.split(":")
    try:
        numbers = [int(part, 36) for part in parts]
    except ValueError:
        return None
    match kind, numbers:
        case "unschedule", [user_id, schedule_id]:
            return UnscheduleButton(user_id, schedule_id)
        case "snooze", [user_id, schedule_id, minutes]:
            return SnoozeButton(user_id, schedule_id, minutes)
        case "reminders", [user_id, page]:
            return RemindersButton(user_id, page)
        case _:
            return None
