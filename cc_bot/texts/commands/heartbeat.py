"""Names and descriptions of `/heartbeat`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeartbeatCommandTexts:
    heartbeat: str
    heartbeat_description: str
    heartbeat_on: str
    heartbeat_on_description: str
    heartbeat_every: str
    heartbeat_every_description: str
    heartbeat_where: str
    heartbeat_where_description: str
    heartbeat_dm_choice: str
    heartbeat_channel_choice: str
    heartbeat_quiet_from: str
    heartbeat_quiet_from_description: str
    heartbeat_quiet_to: str
    heartbeat_quiet_to_description: str
    heartbeat_off: str
    heartbeat_off_description: str
    heartbeat_status: str
    heartbeat_status_description: str


JA = HeartbeatCommandTexts(
    heartbeat="声かけ",
    heartbeat_description="お知らせしたほうがよいことがあるとき、こちらから声をかけます",
    heartbeat_on="オン",
    heartbeat_on_description="声かけを始めます（近づいた予定や新しいメモを見ます）",
    heartbeat_every="間隔",
    heartbeat_every_description="何時間ごとに見るか（1〜168）",
    heartbeat_where="場所",
    heartbeat_where_description="声をかける場所（省略すると DM）",
    heartbeat_dm_choice="DM（自分だけに見えます）",
    heartbeat_channel_choice="このチャンネル",
    heartbeat_quiet_from="静かな時間の始め",
    heartbeat_quiet_from_description="この時刻から静かにします（省略すると 22:00）",
    heartbeat_quiet_to="静かな時間の終わり",
    heartbeat_quiet_to_description="この時刻まで静かにします（省略すると 7:00、始めと同じなら静かな時間なし）",
    heartbeat_off="オフ",
    heartbeat_off_description="声かけをやめます",
    heartbeat_status="状態",
    heartbeat_status_description="声かけの今の設定と、次の時刻を見ます",
)

EN = HeartbeatCommandTexts(
    heartbeat="heartbeat",
    heartbeat_description="Have me check in with you when there is something worth telling",
    heartbeat_on="on",
    heartbeat_on_description="Start: I look at what is coming up and at new memories",
    heartbeat_every="every",
    heartbeat_every_description="Hours between two looks (1-168)",
    heartbeat_where="where",
    heartbeat_where_description="Where to speak to you (DM unless you choose)",
    heartbeat_dm_choice="DM (only you see it)",
    heartbeat_channel_choice="This channel",
    heartbeat_quiet_from="quiet_from",
    heartbeat_quiet_from_description="Keep quiet from this time on (22:00 unless you choose)",
    heartbeat_quiet_to="quiet_to",
    heartbeat_quiet_to_description="Keep quiet until this time (7:00 unless you choose; the same time: never quiet)",
    heartbeat_off="off",
    heartbeat_off_description="Stop",
    heartbeat_status="status",
    heartbeat_status_description="Show how I check in with you, and when next",
)
