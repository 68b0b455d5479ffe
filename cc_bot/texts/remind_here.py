"""Reminders in the terminal, which says them while it is open."""

from dataclasses import dataclass


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


JA = RemindHereTexts(
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

EN = RemindHereTexts(
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
