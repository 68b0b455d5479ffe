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


JA = ReminderTexts(
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

EN = ReminderTexts(
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
