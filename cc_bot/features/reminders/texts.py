import re
from collections.abc import Sequence
from typing import Final

from cc_bot.domain.when.grammar import SMALL_HOURS
from cc_bot.domain.when.repeats import Interval, split_repeat
from cc_bot.texts.area import Area, Both, Sentence, by_key
from cc_bot.texts.commands import CommandTexts

_WEEKDAY_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_HOURS: Final = re.compile(r"every (\d+)h")
_HOUR_STEPS: Final = re.compile(r"(?:\*|(\d{1,2})-23)/(\d{1,2})")
_LAST_DAY_IN_EVERY_MONTH: Final = 28


class ReminderTexts(Area):
    late = Sentence(ja="予定は {time} でした。お知らせが遅れてすみません。", en="It was due at {time}. Sorry for being late.")
    snooze_ten_minutes = Sentence(ja="10分後にもう一度", en="Again in 10 minutes")
    snooze_hour = Sentence(ja="1時間後にもう一度", en="Again in an hour")
    stop_repeating = Sentence(ja="繰り返しをやめる", en="Stop repeating")
    snoozed = Sentence(ja="⏰ {moment}にもう一度お知らせします。", en="⏰ I’ll remind you again {moment}.")
    not_yours = Sentence(ja="このボタンは、お知らせを予約した人だけが使えます。ご自分の分は </remind add> で予約できます。", en="Only the person who set the reminder can use this button. Set your own with </remind add>.")

    once = Sentence(ja="⏰ {time} にお知らせします: {text}", en="⏰ I’ll remind you on {time}: {text}")
    repeated = Sentence(ja="🔁 {repeat} にお知らせします（{day}）: {text}", en="🔁 I’ll remind you {repeat} ({day}): {text}")
    cancelled = Sentence(ja="🔕 お知らせを取り消しました: {text}", en="🔕 Reminder cancelled: {text}")
    cancel = Sentence(ja="取り消す", en="Cancel")
    resume_listed = Sentence(ja="再開する", en="Resume")
    cancel_one = Sentence(ja="取り消す: {text}", en="Cancel: {text}")
    gone = Sentence(ja="このお知らせはもうありません。取り消し済みか、もうお知らせしたあとです。今あるものは </remind list> で見られます。", en="This reminder no longer exists: it was cancelled, or I have reminded you already. </remind list> shows the ones you have.")

    where = Sentence(ja="{target} に届きます。", en="Sent to {target}.")
    where_terminal = Sentence(ja="時刻になったら、開いているターミナルでお知らせします。", en="When the time comes, the reminder appears in your open terminal.")
    where_if_unnamed = Sentence(ja="とくに書いていないものは {target} に届きます。", en="Sent to {target} unless a line says otherwise.")
    terminal = Sentence(ja="ターミナル", en="the terminal")
    by_dm_instead = Sentence(ja="ここには書き込めないため、DM に届きます。", en="Where: DM (because I can’t post here)")

    none = Sentence(ja="予約したお知らせはありません。</remind add> で予約できます。", en="You have no reminders. Set one with </remind add>.")
    list_title = Sentence(ja="予約したお知らせ（{count}件）", en="Your reminders ({count})")
    reasons = by_key(
        {
            "": Sentence(ja="ご自分で止めました", en="you stopped it"),
            "channel_gone": Sentence(ja="チャンネルがなくなりました。別の場所で設定し直してください", en="the channel is gone: set it up in another one"),
            "bot_removed": Sentence(ja="ボットがチャンネルを見られません。見られるようにしてから再開してください", en="I can’t see the channel: let me in, then resume"),
            "left_server": Sentence(ja="そのサーバーのメンバーではなくなりました。入り直してから再開してください", en="you left that server: join it again, then resume"),
            "dms_closed": Sentence(ja="DM を受け取らない設定です。受け取れるようにしてから再開してください", en="your DMs are closed: open them, then resume"),
            "permission_missing": Sentence(ja="ボットに書き込む権限がありません。権限を付けてから再開してください", en="I’m not allowed to write in the channel: allow it, then resume"),
            "channel_refused": Sentence(ja="このチャンネルに書き込めませんでした。少し待ってから再開してください", en="Discord did not let me write in the channel: wait a little, then resume"),
        }
    )
    look_at_paused = Sentence(ja="⚠️ 停止中のお知らせが {count} 件あります。理由は </remind list> で見られます。", en="⚠️ Paused reminders: {count}. </remind list> shows why.")
    paused = Sentence(ja="⚠️ 「{text}」をお知らせできませんでした。{reason}。再開するコマンドは </remind resume> です。", en="⚠️ I could not remind you of “{text}”: {reason}. The command to resume is </remind resume>.")

    resumed = Sentence(ja="▶️ 再開しました。次は {time} です: {text}", en="▶️ Resumed. Next: {time}: {text}")
    not_paused = Sentence(ja="このお知らせは停止中ではありません: {text}", en="This reminder is not paused: {text}")

    missed = Sentence(ja="⏰ ボットが動いていない間に、お知らせの時刻が過ぎていました。", en="⏰ These reminders came due while I was not running.")
    uncertain = Sentence(ja="⏰ ボットが途中で止まったため、届いていないかもしれないお知らせがあります。", en="⏰ I stopped while sending these reminders, so they may not have reached you.")


class TerminalReminderTexts(Area):
    late = Sentence(ja="⏰ {text}（予定は {time} でした）", en="⏰ {text} (it was due on {time})")
    stored = Sentence(ja="お知らせ {count}件", en="{count:reminder|reminders}")
    missed = Sentence(ja="⏰ お知らせの時刻（{time}）が、動いていない間に過ぎていました: {text}", en="⏰ A reminder came due while I was not running ({time}): {text}")
    uncertain = Sentence(ja="⏰ {time} のお知らせは、届いていないかもしれません: {text}", en="⏰ The reminder of {time} may not have reached you: {text}")
    id_needed = Sentence(ja="どのお知らせかを番号で書いてください。番号は /remind list で見られます。", en="Give the number of the reminder. /remind list shows the numbers.")
    text_needed = Sentence(ja="何をお知らせするかも書いてください。たとえば /remind add 明日9時 薬を飲む", en="Also write what to remind you of, for example: /remind add tomorrow at 9 take the pills")


class RepeatTexts(Area):
    at = Sentence(ja="{days} {times}", en="{days} at {times}")
    small_hour = Sentence(ja="{hour}", en="{hour:02}")  # an hour before 5 in the morning
    daily = Sentence(ja="毎日", en="every day")
    workdays = Sentence(ja="平日", en="every weekday")
    weekends = Sentence(ja="毎週土・日曜", en="every Saturday and Sunday")
    weekly = Sentence(ja="毎週{days}曜", en="every {days}")
    nth_weekday = Sentence(ja="第{nth}{day}曜", en="{nth} {day}")
    last_weekday = Sentence(ja="最後の{day}曜", en="last {day}")
    month_end = Sentence(ja="末日", en="last day")
    monthly = Sentence(ja="毎月{days}", en="on the {days} of every month")
    yearly = Sentence(ja="毎年{date}", en="every year on {date}")
    day_of_month = Sentence(ja="{month}{day}", en="{month} {day}")
    nth_of_month = Sentence(ja="{month}の{days}", en="the {days} of {month}")
    if_month_has_it = Sentence(ja="（ない月はお休み）", en=" (when there is one)")
    leap_years = Sentence(ja="（うるう年だけ）", en=" (leap years only)")
    days_apart = Sentence(ja="{count}日ごと", en="every {count} days")
    weeks_apart = Sentence(ja="{count}週間ごとの{days}曜", en="every {count} weeks on {days}")
    months_apart = Sentence(ja="{count}か月ごとの{days}", en="every {count} months on the {days}")
    years_apart = Sentence(ja="{count}年ごとの{date}", en="every {count} years on {date}")
    hourly = Sentence(ja="1時間ごと", en="every hour")
    hourly_at = Sentence(ja="毎時{minute}分", en="every hour, {minute} minutes past")
    hours_apart = Sentence(ja="{hours}時間ごと", en="every {hours} hours")
    hours_apart_from = Sentence(ja="{hours}時間ごと（{time}から）", en="every {hours} hours from {time}")
    by_cron = Sentence(ja="cron「{cron}」の時刻", en="at the times of cron “{cron}”")
    weekdays = Both(ja=tuple("日月火水木金土"), en=("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"))  # from Sunday on
    months = Both(ja=tuple(f"{month}月" for month in range(1, 13)), en=(*("January", "February", "March", "April", "May", "June"), *("July", "August", "September", "October", "November", "December")))
    ordinal_days = Both(ja=tuple(f"{day}日" for day in range(1, 32)), en=tuple(f"{day}{ ({1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th') if day not in (11, 12, 13) else 'th') }" for day in range(1, 32)))
    comma = Sentence(ja="・", en=", ")
    last_comma = Sentence(ja="・", en=" and ")

    def describe(self, repeat: str) -> str:
        """Return words such as `every weekday at 9:00`; for other repeats the cron expression."""
        if match := _HOURS.fullmatch(repeat):
            return _describe_hours(self, int(match[1]))
        try:
            cron, interval = split_repeat(repeat)
            minute, hour, *days = cron.split()
            steps = _HOUR_STEPS.fullmatch(hour)
            if interval is None and days == ["*"] * 3 and (steps or hour == "*"):
                if steps:
                    return _describe_hours(self, int(steps[2]), first=int(steps[1] or 0), minute=int(minute))
                return self.hourly_at.format(minute=minute) if int(minute) else self.hourly
            times = [_describe_time(self, each, int(minute)) for each in _parse_numbers(hour)]
            return self.at.format(days=_describe_days(self, interval, *days), times=_join(self, times))
        except (ValueError, IndexError, TypeError):
            return self.by_cron.format(cron=repeat)


def _describe_days(phrases: RepeatTexts, interval: Interval | None, day: str, month: str, weekday: str) -> str:
    count, unit = (interval.count, interval.unit) if interval else (1, "")
    match (unit, day, month, weekday):
        case ("" | "days", "*", "*", "*"):
            return phrases.days_apart.format(count=count) if unit else phrases.daily
        case ("" | "weeks", "*", "*", _) if not _has_nth_weekday(weekday):
            return _describe_week(phrases, _parse_numbers(weekday.replace("7", "0")), count)
        case ("" | "months", _, "*", _):
            template = phrases.months_apart if unit else phrases.monthly
            return template.format(count=count, days=_describe_month(phrases, day, weekday))
        case ("" | "months", _, _, _) if not unit or count % 12 == 0:
            template = phrases.years_apart if unit else phrases.yearly
            return template.format(count=count // 12, date=_describe_date(phrases, month, day, weekday))
        case _:
            raise ValueError(interval)


def _has_nth_weekday(weekday: str) -> bool:
    return "#" in weekday or "L" in weekday


def _describe_week(phrases: RepeatTexts, numbers: Sequence[int], count: int) -> str:
    if count == 1 and numbers in ([1, 2, 3, 4, 5], [0, 6]):
        return phrases.workdays if len(numbers) == 5 else phrases.weekends
    from_monday = sorted(numbers, key=lambda number: number or 7)
    days = _join(phrases, [phrases.weekdays[number] for number in from_monday])
    return phrases.weekly.format(days=days) if count == 1 else phrases.weeks_apart.format(count=count, days=days)


def _describe_month(phrases: RepeatTexts, day: str, weekday: str) -> str:
    if day == "*" and _has_nth_weekday(weekday):
        return _join(phrases, [_describe_nth_weekday(phrases, each) for each in weekday.split(",")])
    if weekday != "*":
        raise ValueError(weekday)
    if day == "L":
        return phrases.month_end
    numbers = _parse_numbers(day)
    words = _join(phrases, [phrases.ordinal_days[number - 1] for number in numbers])
    return words + (phrases.if_month_has_it if numbers[-1] > _LAST_DAY_IN_EVERY_MONTH else "")


def _describe_date(phrases: RepeatTexts, month: str, day: str, weekday: str) -> str:
    name = phrases.months[int(month) - 1]
    if weekday != "*":
        return phrases.nth_of_month.format(month=name, days=_describe_month(phrases, day, weekday))
    leap = phrases.leap_years if (int(day), int(month)) == (29, 2) else ""
    return phrases.day_of_month.format(month=name, day=phrases.ordinal_days[int(day) - 1]) + leap


def _describe_nth_weekday(phrases: RepeatTexts, field: str) -> str:
    if field.endswith("L"):
        return phrases.last_weekday.format(day=phrases.weekdays[int(field[:-1])])
    day, _, nth = field.partition("#")
    count = phrases.ordinal_days[int(nth) - 1].removesuffix("日")  # 第2月曜, the 2nd Monday
    return phrases.nth_weekday.format(nth=count, day=phrases.weekdays[_parse_number(day)])


def _describe_time(phrases: RepeatTexts, hour: int, minute: int) -> str:
    """Write 3 o'clock at night as 03, since users mean the afternoon by `at 3:05` (see domain/when)."""
    hours = phrases.small_hour.format(hour=hour) if 1 <= hour < SMALL_HOURS // 60 else str(hour)
    return f"{hours}:{minute:02}"


def _describe_hours(phrases: RepeatTexts, hours: int, *, first: int = 0, minute: int = 0) -> str:
    if first or minute:
        return phrases.hours_apart_from.format(hours=hours, time=_describe_time(phrases, first, minute))
    return phrases.hourly if hours == 1 else phrases.hours_apart.format(hours=hours)


def _parse_numbers(field: str) -> list[int]:
    """Expand a list with ranges, such as `1-3,5` or `MON-WED,FRI`."""
    found = set[int]()
    for part in field.split(","):
        first, _, last = part.partition("-")
        found.update(range(_parse_number(first), _parse_number(last or first) + 1))
    return sorted(found)


def _parse_number(text: str) -> int:
    return _WEEKDAY_NAMES.index(text) if text in _WEEKDAY_NAMES else int(text)


def _join(phrases: RepeatTexts, parts: list[str]) -> str:
    *others, last = parts
    return f"{phrases.comma.join(others)}{phrases.last_comma}{last}" if others else last


class WebReminderTexts(Area):
    fold = Sentence(ja="お知らせを予約", en="New reminder")
    paused = Sentence(ja="停止中（{count}件）", en="Paused ({count})")
    change_title = Sentence(ja="お知らせを変える", en="Change the reminder")
    text = Sentence(ja="お知らせする内容", en="What to remind you of")
    when = Sentence(ja="いつ", en="When")
    when_example = Sentence(ja="明日9時", en="tomorrow at 9")
    once = Sentence(ja="1回だけ", en="once")
    none = Sentence(ja="予約したお知らせはありません。", en="You have no reminders.")
    more_of = Sentence(ja="「{text}」のほかの操作", en="More actions for “{text}”")
    when_hint = Sentence(ja="「30分後」「毎朝7時」のようにも書けます。", en="You can also write: in 30 minutes, every morning at 7.")
    repeat = Sentence(ja="繰り返し", en="Repeat")
    where = Sentence(ja="届け先", en="Where")
    next_time = Sentence(ja="次はいつ", en="Next time")
    next_hint = Sentence(ja="「次はいつ」を変えても、そのあとは繰り返しのとおりです。繰り返しを空にすると、1回だけお知らせします。", en="A change of “Next time” moves only the next reminder. Leave Repeat empty to be reminded once.")
    repeat_hint = Sentence(ja="繰り返すときは「毎日」「毎週月曜」のように書きます。", en="To repeat, write for example: every day, every Monday.")
    add = Sentence(ja="予約する", en="Set the reminder")


class RemindCommandTexts(CommandTexts):
    remind = Both(ja=("リマインド", "決めた時刻にお知らせします"), en=("remind", "Get reminded at the times you choose"))
    remind_add = Both(ja=("追加", "お知らせを予約します"), en=("add", "Set a reminder"))
    remind_when = Both(ja=("いつ", "例: 10分後、明日9時と18時、来週の金曜の夕方、元日、月水金の7時、隔週の火曜 10時、12月3日の正午、2030-12-03 09:00"), en=("when", "Such as: in 10 minutes, tomorrow at 9 and 18, dec 3 noon, mon/wed/fri 7:00, 2030-12-03 09:00"))
    remind_text = Both(ja=("内容", "お知らせする内容（1000文字まで）"), en=("text", "What to remind you of (up to 1000 characters)"))
    remind_repeat = Both(ja=("繰り返し", "例: 毎朝8時、平日9時、隔週、3日ごと、毎月第2水曜、毎月末、毎年、なし、0 9 * * 1-5"), en=("repeat", "Such as: every weekday at 9, every other week, every 3 days, monthly, none, 0 9 * * 1-5"))
    remind_where = Both(ja=("場所", "お知らせする場所（省略するとこのチャンネル）"), en=("where", "Where to remind you (the default is this channel)"))
    remind_here_choice = Sentence(ja="このチャンネル", en="This channel")
    remind_dm_choice = Sentence(ja="DM（自分だけに見えます）", en="DM (only you see it)")
    remind_list = Both(ja=("一覧", "予約したお知らせを一覧で表示します"), en=("list", "Show your reminders"))
    remind_delete = Both(ja=("削除", "お知らせを取り消します"), en=("delete", "Cancel a reminder"))
    remind_resume = Both(ja=("再開", "停止中のお知らせを再開します"), en=("resume", "Resume a paused reminder"))
    remind_id = Both(ja=("番号", "お知らせの番号（内容を入力すると候補が出ます）"), en=("id", "The reminder's number (type its text for suggestions)"))
