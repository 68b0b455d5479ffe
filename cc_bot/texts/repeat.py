"""What comes again and again, in words: the pieces that `repeats` puts together."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RepeatTexts:
    at: str
    """Parameters: days, times."""
    small_hour: str
    """An hour before 5 in the morning, as it is read. Parameter: hour (a number)."""
    daily: str
    workdays: str
    weekends: str
    weekly: str
    """Parameter: days (names of weekdays, joined)."""
    nth_day: str
    """Parameters: nth, day (the name of a weekday)."""
    last_day: str
    """Parameter: day (the name of a weekday)."""
    by_nth_day: str
    """Every month. Parameter: days (`nth_day` and `last_day`, joined)."""
    monthly: str
    """Parameter: days (numbers, as they are counted, joined)."""
    month_end: str
    yearly: str
    """Parameters: month, day."""
    yearly_by_nth_day: str
    """Parameters: month, days."""
    some_months: str
    """Behind days that not every month has."""
    leap_years: str
    """Behind 29 February."""
    days_apart: str
    """Parameter: count, as in all that follow."""
    weeks_apart: str
    """Parameter: days (names of weekdays, joined)."""
    weeks_apart_workdays: str
    months_apart: str
    """Parameter: days."""
    months_apart_by_nth_day: str
    """Parameter: days."""
    months_apart_end: str
    years_apart: str
    """Parameters: month, day."""
    years_apart_by_nth_day: str
    """Parameters: month, days."""
    hourly: str
    hourly_at: str
    """Parameter: minute."""
    hours_apart: str
    """Parameter: hours."""
    hours_apart_from: str
    """Parameters: hours, time (the first of a day)."""
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
    small_hour="{hour}",
    daily="毎日",
    workdays="平日",
    weekends="毎週土・日曜",
    weekly="毎週{days}曜",
    nth_day="第{nth}{day}曜",
    last_day="最後の{day}曜",
    by_nth_day="毎月{days}",
    monthly="毎月{days}",
    month_end="毎月末日",
    yearly="毎年{month}{day}",
    yearly_by_nth_day="毎年{month}の{days}",
    some_months="（ない月はお休み）",
    leap_years="（うるう年だけ）",
    days_apart="{count}日ごと",
    weeks_apart="{count}週間ごとの{days}曜",
    weeks_apart_workdays="{count}週間ごとの平日",
    months_apart="{count}か月ごとの{days}",
    months_apart_by_nth_day="{count}か月ごとの{days}",
    months_apart_end="{count}か月ごとの末日",
    years_apart="{count}年ごとの{month}{day}",
    years_apart_by_nth_day="{count}年ごとの{month}の{days}",
    hourly="1時間ごと",
    hourly_at="毎時{minute}分",
    hours_apart="{hours}時間ごと",
    hours_apart_from="{hours}時間ごと（{time}から）",
    by_cron="cron「{cron}」の時刻",
    weekdays=tuple("日月火水木金土"),
    months=tuple(f"{month}月" for month in range(1, 13)),
    counted=tuple(f"{day}日" for day in range(1, 32)),
    comma="・",
    last_comma="・",
)

EN = RepeatTexts(
    at="{days} at {times}",
    small_hour="{hour:02}",
    daily="every day",
    workdays="every weekday",
    weekends="every Saturday and Sunday",
    weekly="every {days}",
    nth_day="{nth} {day}",
    last_day="last {day}",
    by_nth_day="every {days} of the month",
    monthly="on the {days} of every month",
    month_end="on the last day of every month",
    yearly="every year on {month} {day}",
    yearly_by_nth_day="every year on the {days} of {month}",
    some_months=" (when there is one)",
    leap_years=" (leap years only)",
    days_apart="every {count} days",
    weeks_apart="every {count} weeks on {days}",
    weeks_apart_workdays="every {count} weeks on weekdays",
    months_apart="every {count} months on the {days}",
    months_apart_by_nth_day="every {count} months on the {days}",
    months_apart_end="every {count} months on the last day",
    years_apart="every {count} years on {month} {day}",
    years_apart_by_nth_day="every {count} years on the {days} of {month}",
    hourly="every hour",
    hourly_at="every hour, {minute} minutes past",
    hours_apart="every {hours} hours",
    hours_apart_from="every {hours} hours from {time}",
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
