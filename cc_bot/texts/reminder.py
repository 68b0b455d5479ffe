"""Reminders on Discord: what is said at their time, what is said about them, and what became of those that
could not be said."""

from dataclasses import dataclass

from cc_bot.domain.schedule import Obstacle


@dataclass(frozen=True, slots=True)
class ReminderTexts:
    late: str
    """Below a reminder that comes after its time. Parameter: time."""
    snooze_ten_minutes: str
    snooze_hour: str
    stop_repeating: str
    snoozed: str
    """Below a reminder that will come once more. Parameter: moment."""
    not_yours: str

    once: str
    """Parameters: time, moment (how far away that is), text."""
    again_and_again: str
    """Parameters: repeat, time (the next one), text."""
    cancelled: str
    """Parameter: text."""
    hidden: str
    """In place of a text that only its owner may see."""
    cancel: str
    cancel_one: str
    """Where there are several. Parameter: text."""
    gone: str

    in_channel: str
    """Parameter: channel."""
    by_dm: str
    by_dm_instead: str
    """The bot may not write in the channel by itself, or its user may not."""

    none: str
    list_title: str
    """Parameter: count."""
    dm_place: str
    terminal_place: str
    paused: str
    """In a list, by its owner's own wish."""
    paused_because: str
    """Parameter: reason."""
    channel_gone: str
    bot_removed: str
    left_server: str
    dms_closed: str
    permission_missing: str
    channel_refused: str
    """Each of these: why a reminder is paused, in few words."""
    look_at_paused: str
    """Below a reply. Parameter: count."""
    stopped: str
    """By DM, when a reminder could not be posted. Parameters: text, reason."""
    heartbeat_stopped: str
    """Parameter: reason."""

    resumed: str
    """Parameters: time, moment, text."""
    not_paused: str
    """Parameter: text."""

    missed: str
    """Above the reminders whose time passed while the program was not there."""
    uncertain: str
    """Above those of which nobody knows whether they were sent."""

    def reason(self, obstacle: Obstacle) -> str:
        """Why a schedule is paused; empty when its owner wanted that."""
        reasons: dict[Obstacle, str] = {
            "": "",
            "channel_gone": self.channel_gone,
            "bot_removed": self.bot_removed,
            "left_server": self.left_server,
            "dms_closed": self.dms_closed,
            "permission_missing": self.permission_missing,
            "channel_refused": self.channel_refused,
        }
        return reasons[obstacle]


REMINDER_JA = ReminderTexts(
    late="予定は {time} でした。お知らせが遅れてすみません。",
    snooze_ten_minutes="10分後にもう一度",
    snooze_hour="1時間後にもう一度",
    stop_repeating="繰り返しをやめる",
    snoozed="⏰ {moment}にもう一度お知らせします。",
    not_yours="このボタンは、お知らせを予約した人だけが使えます。ご自分の分は </remind add> で予約できます。",
    once="⏰ {time}（{moment}）にお知らせします: {text}",
    again_and_again="🔁 {repeat}にお知らせします（次は {time}）: {text}",
    cancelled="🔕 お知らせを取り消しました: {text}",
    hidden="（自分だけに見える内容）",
    cancel="お知らせを取り消す",
    cancel_one="取り消す: {text}",
    gone="このお知らせはもうありません。取り消し済みか、もうお知らせしたあとです。今あるものは </remind list> で見られます。",
    in_channel="場所: {channel}",
    by_dm="場所: DM",
    by_dm_instead="場所: DM（ここには書き込めないため）",
    none="予約したお知らせはありません。</remind add> で予約できます。",
    list_title="予約したお知らせ（{count}件）",
    dm_place="DM",
    terminal_place="ターミナル",
    paused="⏸ 停止中",
    paused_because="⏸ {reason}",
    channel_gone="チャンネルがなくなったので止めています",
    bot_removed="このチャンネルを見られなくなったので止めています",
    left_server="そのサーバーのメンバーではなくなったので止めています",
    dms_closed="DM を受け取らない設定なので止めています",
    permission_missing="このチャンネルに書き込む権限がないので止めています",
    channel_refused="このチャンネルに書き込めなかったので止めています",
    look_at_paused="⚠️ 止まっているお知らせが {count} 件あります。理由は </remind list> で見られます。",
    stopped="⚠️ 「{text}」をお知らせできませんでした。{reason}。直したら </remind resume> で再開できます。",
    heartbeat_stopped="⚠️ こちらからの声かけができませんでした。{reason}。</heartbeat on> で始め直せます。",
    resumed="▶️ 再開しました。次は {time}（{moment}）です: {text}",
    not_paused="このお知らせは止まっていません: {text}",
    missed="⏰ ボットが動いていない間に、お知らせの時刻が過ぎていました。",
    uncertain="⏰ ボットが途中で止まったため、届いていないかもしれないお知らせがあります。",
)

REMINDER_EN = ReminderTexts(
    late="It was due at {time}. Sorry for being late.",
    snooze_ten_minutes="Again in 10 minutes",
    snooze_hour="Again in an hour",
    stop_repeating="Stop repeating",
    snoozed="⏰ I’ll remind you again {moment}.",
    not_yours="Only the person who set the reminder can use this button. Set your own with </remind add>.",
    once="⏰ I’ll remind you on {time} ({moment}): {text}",
    again_and_again="🔁 I’ll remind you {repeat} (next: {time}): {text}",
    cancelled="🔕 Reminder cancelled: {text}",
    hidden="(something that only you may see)",
    cancel="Cancel the reminder",
    cancel_one="Cancel: {text}",
    gone="This reminder is gone: it was cancelled, or you have been reminded already. See </remind list> for those that are there.",
    in_channel="Where: {channel}",
    by_dm="Where: DM",
    by_dm_instead="Where: DM (I can’t post here for you)",
    none="You have no reminders. Set one with </remind add>.",
    list_title="Your reminders ({count})",
    dm_place="DM",
    terminal_place="terminal",
    paused="⏸ paused",
    paused_because="⏸ {reason}",
    channel_gone="paused: the channel is gone",
    bot_removed="paused: I can’t see the channel any more",
    left_server="paused: you are no longer a member of that server",
    dms_closed="paused: your DMs are closed",
    permission_missing="paused: I may not write in the channel",
    channel_refused="paused: Discord did not let me write in the channel",
    look_at_paused="⚠️ Paused reminders: {count}. </remind list> says why.",
    stopped="⚠️ I could not remind you of “{text}” ({reason}). When that is mended, </remind resume> lets it go on.",
    heartbeat_stopped="⚠️ I could not check in with you ({reason}). </heartbeat on> starts it anew.",
    resumed="▶️ It goes on, next on {time} ({moment}): {text}",
    not_paused="This reminder is not paused: {text}",
    missed="⏰ While I was not running, the time of these reminders passed.",
    uncertain="⏰ I was cut off while sending these reminders; perhaps they did not reach you.",
)

# ---- heartbeat -------------------------------------------------------------------------------------------
# Heartbeats, as their user reads of them.


@dataclass(frozen=True, slots=True)
class HeartbeatTexts:
    started: str
    """Parameters: rhythm, time (of the first), moment (how far away that is)."""
    stopped: str
    off: str
    """There was nothing to stop, or nothing to show."""
    status: str
    """Parameters: rhythm, time, moment."""
    paused: str
    """Parameter: reason."""
    paused_by_user: str
    rhythm: str
    """Parameters: hours, where, quiet."""
    by_dm: str
    in_channel: str
    """Parameter: channel."""
    quiet: str
    """Parameters: since, until."""
    never_quiet: str
    only_public: str
    """Below: in a channel others read along."""
    by_dm_instead: str
    memory_paused: str
    time_not_understood: str
    """Parameter: given."""


HEARTBEAT_JA = HeartbeatTexts(
    started=(
        "💓 声かけを始めました。{rhythm}\n"
        "近づいた予定や新しいメモを見て、お知らせしたほうがよいことがあるときだけ声をかけます。最初は {time}（{moment}）です。\n"
        "-# やめるときは </heartbeat off>、確かめるときは </heartbeat status> です。"
    ),
    stopped="💓 声かけをやめました。もう一度始めるには </heartbeat on> です。",
    off="声かけはオフです。</heartbeat on> で始められます。",
    status="💓 声かけはオンです。{rhythm}\n次は {time}（{moment}）です。",
    paused="⏸ 声かけ: {reason}。直したら </heartbeat on> で始め直せます。",
    paused_by_user="⏸ 声かけは止まっています。</heartbeat on> で始め直せます。",
    rhythm="{hours}時間ごとに確かめて、{where}。{quiet}",
    by_dm="DM でお知らせします",
    in_channel="{channel} でお知らせします",
    quiet="{since}〜{until} は静かにしています。",
    never_quiet="静かにする時間はありません。",
    only_public="-# チャンネルはほかの人も読むので、ここで公開で頼まれたお知らせと、どこで使ってもよいメモだけを見ます。",
    by_dm_instead="-# ここには書き込めないので、DM にしました。",
    memory_paused="-# メモリを一時停止しているので、お知らせの予定だけを見ます。",
    time_not_understood="時刻「{given}」が分かりませんでした。22:00、7時半、10pm のように書いてください。",
)

HEARTBEAT_EN = HeartbeatTexts(
    started=(
        "💓 I’ll check in with you. {rhythm}\n"
        "I look at what is coming up and at new memories, and speak only when something is worth telling. "
        "The first time is {time} ({moment}).\n"
        "-# </heartbeat off> stops it, </heartbeat status> shows it."
    ),
    stopped="💓 I won’t check in any more. </heartbeat on> starts it again.",
    off="Heartbeats are off. </heartbeat on> starts them.",
    status="💓 Heartbeats are on. {rhythm}\nNext: {time} ({moment}).",
    paused="⏸ Heartbeats {reason}. When that is mended, </heartbeat on> starts them anew.",
    paused_by_user="⏸ Heartbeats are paused. </heartbeat on> starts them anew.",
    rhythm="I look every {hours} h and tell you {where}. {quiet}",
    by_dm="by DM",
    in_channel="in {channel}",
    quiet="I keep quiet from {since} to {until}.",
    never_quiet="No hours are quiet.",
    only_public="-# Others read a channel, so I look only at reminders set here in public, and at memories that may be used anywhere.",
    by_dm_instead="-# I can’t post here for you, so I’ll use your DMs.",
    memory_paused="-# Memory is paused, so I look only at your reminders.",
    time_not_understood="I don’t understand the time “{given}”. Write it like 22:00, 7:30 or 10pm.",
)

# ---- remind here -----------------------------------------------------------------------------------------
# Reminders in the terminal, which says them while it is open.


@dataclass(frozen=True, slots=True)
class RemindHereTexts:
    moment: str
    """A day and a time of this year. Parameters: m (month), d (day), w (weekday), t (time)."""
    moment_of_year: str
    """Of another year, likewise, and y (year)."""
    weekdays: tuple[str, ...]
    """Monday first."""
    months: tuple[str, ...]
    once: str
    """Parameters: time, text, id."""
    again_and_again: str
    """Parameters: repeat, time (the next one), text, id."""
    cancelled: str
    """Parameter: text."""
    elsewhere: str
    """After a line of the list. Reminders that were asked for on Discord."""
    said: str
    """Parameter: text."""
    said_late: str
    """Parameters: text, time (when it was due)."""
    missed: str
    """Parameters: text, time."""
    uncertain: str
    """Parameters: text, time."""
    none: str
    title: str
    line: str
    """Parameters: id, time, text."""
    repeated: str
    """In place of the time. Parameters: time, repeat."""
    paused: str
    id_needed: str
    what: str
    """There is a time, and nothing to remind of."""


REMIND_HERE_JA = RemindHereTexts(
    moment="{m}月{d}日({w}) {t}",
    moment_of_year="{y}年{m}月{d}日({w}) {t}",
    weekdays=tuple("月火水木金土日"),
    months=tuple(str(month) for month in range(1, 13)),
    once="⏰ {time} にお知らせします: {text}（取り消すには /remind delete {id}）",
    again_and_again="🔁 {repeat}にお知らせします（次は {time}）: {text}（取り消すには /remind delete {id}）",
    cancelled="🔕 お知らせを取り消しました: {text}",
    elsewhere="（Discord でお知らせします）",
    said="⏰ {text}",
    said_late="⏰ {text}（予定は {time} でした）",
    missed="⏰ お知らせの時刻（{time}）が、動いていない間に過ぎていました: {text}",
    uncertain="⏰ {time} のお知らせは、届いていないかもしれません: {text}",
    none="予約したお知らせはありません。/remind add 明日9時 薬を飲む のように予約できます。",
    title="予約したお知らせ",
    line="  #{id}  {time}  {text}",
    repeated="{time}（{repeat}）",
    paused="（停止中）",
    id_needed="どのお知らせかを番号で書いてください。番号は /remind list で見られます。",
    what="何をお知らせするかも書いてください。たとえば /remind add 明日9時 薬を飲む",
)

REMIND_HERE_EN = RemindHereTexts(
    moment="{w}, {m} {d}, {t}",
    moment_of_year="{w}, {m} {d} {y}, {t}",
    weekdays=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    months=("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    once="⏰ I'll remind you on {time}: {text} (cancel it with /remind delete {id})",
    again_and_again="🔁 I'll remind you {repeat} (next: {time}): {text} (cancel it with /remind delete {id})",
    cancelled="🔕 Reminder cancelled: {text}",
    elsewhere=" (on Discord)",
    said="⏰ {text}",
    said_late="⏰ {text} (it was due on {time})",
    missed="⏰ While I was not running, the time of a reminder passed ({time}): {text}",
    uncertain="⏰ The reminder of {time} perhaps did not reach you: {text}",
    none="You have no reminders. Set one like this: /remind add tomorrow at 9 take the pills",
    title="Your reminders",
    line="  #{id}  {time}  {text}",
    repeated="{time} ({repeat})",
    paused=" (paused)",
    id_needed="Give the number of the reminder. /remind list shows the numbers.",
    what="Write what to remind you of as well, for example: /remind add tomorrow at 9 take the pills",
)

# ---- repeat ----------------------------------------------------------------------------------------------
# What comes again and again, in words: the pieces that `repeats` puts together.


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


REPEAT_JA = RepeatTexts(
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

REPEAT_EN = RepeatTexts(
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
