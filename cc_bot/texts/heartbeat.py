"""Heartbeats, as their user reads of them."""

from dataclasses import dataclass


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


JA = HeartbeatTexts(
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

EN = HeartbeatTexts(
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
