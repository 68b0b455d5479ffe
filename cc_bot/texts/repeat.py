"""What comes again and again, in words: the pieces that `repeats` puts together."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RepeatTexts:
    at: str
    """Parameters: days, times."""
    daily: str
    workdays: str
    weekends: str
    weekly: str
    """Parameter: days (names of weekdays, joined)."""
    nth_of_month: str
    """Parameters: nth, day (the name of a weekday)."""
    last_of_month: str
    """Parameter: day (the name of a weekday)."""
    monthly: str
    """Parameter: day (a number, as it is counted)."""
    month_end: str
    yearly: str
    """Parameters: month, day."""
    hourly: str
    hourly_at: str
    """Parameter: minute."""
    hours_apart: str
    """Parameter: hours."""
    by_cron: str
    """Parameter: cron."""
    weekdays: tuple[str, ...]
    """From Sunday on."""
    months: tuple[str, ...]
    counted: tuple[str, ...]
    """The days of a month, as they are counted."""
    comma: str
    last_comma: str


JA = RepeatTexts(
    at="{days} {times}",
    daily="毎日",
    workdays="平日",
    weekends="毎週土・日曜",
    weekly="毎週{days}曜",
    nth_of_month="毎月第{nth}{day}曜",
    last_of_month="毎月最後の{day}曜",
    monthly="毎月{day}",
    month_end="毎月末日",
    yearly="毎年{month}{day}",
    hourly="1時間ごと",
    hourly_at="毎時{minute}分",
    hours_apart="{hours}時間ごと",
    by_cron="cron「{cron}」の時刻",
    weekdays=tuple("日月火水木金土"),
    months=tuple(f"{month}月" for month in range(1, 13)),
    counted=tuple(f"{day}日" for day in range(1, 32)),
    comma="・",
    last_comma="・",
)

EN = RepeatTexts(
    at="{days} at {times}",
    daily="every day",
    workdays="every weekday",
    weekends="every Saturday and Sunday",
    weekly="every {days}",
    nth_of_month="every {nth} {day} of the month",
    last_of_month="every last {day} of the month",
    monthly="on the {day} of every month",
    month_end="on the last day of every month",
    yearly="every year on {month} {day}",
    hourly="every hour",
    hourly_at="every hour, {minute} minutes past",
    hours_apart="every {hours} hours",
    by_cron="at the times of cron “{cron}”",
    weekdays=("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
    months=(
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
    counted=tuple(
        f"{day}{ ({1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th') if day not in (11, 12, 13) else 'th') }"
        for day in range(1, 32)
    ),
    comma=", ",
    last_comma=" and ",
)
