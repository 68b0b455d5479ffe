from cc_bot.texts.area import Area, Both, Sentence
from cc_bot.texts.commands import CommandTexts


class HeartbeatTexts(Area):
    started = Sentence(
        ja="💓 声かけを始めました。{rhythm}\n近づいた予定や新しいメモリを見て、お知らせしたほうがよいことがあるときだけ声をかけます。最初は {time} です。", en="💓 I’ll check in with you. {rhythm}\nI look at what is coming up and at new memories, and speak only when something is worth telling you. The first time is {time}."
    )
    how_to_stop = Sentence(ja="やめるときは </heartbeat off>、確かめるときは </heartbeat status> です。", en="</heartbeat off> stops it, </heartbeat status> shows it.")
    stopped = Sentence(ja="💓 声かけをやめました。もう一度始めるには </heartbeat on> です。", en="💓 I won’t check in any more. </heartbeat on> starts it again.")
    could_not_speak = Sentence(ja="⚠️ こちらからの声かけができませんでした。{reason}。再開するコマンドは </heartbeat on> です。", en="⚠️ I could not check in with you: {reason}. The command to resume is </heartbeat on>.")
    status = Sentence(ja="💓 声かけはオンです。{rhythm}\n次は {time} です。", en="💓 Checking in is on. {rhythm}\nNext: {time}.")
    paused = Sentence(ja="⏸ 声かけは停止中です。{reason}。再開するコマンドは </heartbeat on> です。", en="⏸ Checking in is paused: {reason}. The command to resume is </heartbeat on>.")
    rhythm = Sentence(ja="{repeat}に確かめて、{where}。{quiet}", en="I look {repeat} and tell you {where}. {quiet}")
    by_dm = Sentence(ja="DM でお知らせします", en="by DM")
    in_channel = Sentence(ja="{channel} でお知らせします", en="in {channel}")
    quiet = Sentence(ja="{since}〜{until} は静かにしています。", en="I keep quiet from {since} to {until}.")
    never_quiet = Sentence(ja="静かにする時間はありません。", en="There are no quiet hours.")
    only_public = Sentence(ja="チャンネルはほかの人も読むので、ここで公開で頼まれたお知らせと、どこで使ってもよいメモリだけを見ます。", en="Others can read the channel, so I look only at reminders set here in public, and at memories that may be used anywhere.")
    by_dm_instead = Sentence(ja="ここには書き込めないので、DM にしました。", en="I can’t post here for you, so I’ll use your DMs.")
    memory_paused = Sentence(ja="メモリを一時停止しているので、お知らせの予定だけを見ます。", en="Memory is paused, so I look only at your reminders.")


class WebHeartbeatTexts(Area):
    title = Sentence(ja="声かけ", en="Checking in")
    on = Sentence(ja="オン", en="On")
    off = Sentence(ja="オフ", en="Off")
    hint = Sentence(ja="近づいた予定や新しいメモリを見て、お知らせしたほうがよいことがあるときだけ、ボットから声をかけます。", en="The bot looks at what is coming up and at new memories, and speaks to you only when something is worth telling you.")
    every = Sentence(ja="間隔（時間）", en="Hours between checks")
    quiet_from = Sentence(ja="静かにする（から）", en="Quiet from")
    quiet_to = Sentence(ja="静かにする（まで）", en="Quiet until")
    start = Sentence(ja="DM での声かけを始める", en="Start, by DM")
    again = Sentence(ja="この内容で始め直す（DM）", en="Restart with these settings, by DM")
    stop = Sentence(ja="声かけをやめる", en="Stop")


class HeartbeatCommandTexts(CommandTexts):
    heartbeat = Both(ja=("声かけ", "お知らせしたほうがよいことがあるとき、こちらから声をかけます"), en=("heartbeat", "Have me check in with you when something is worth telling you"))
    heartbeat_on = Both(ja=("オン", "声かけを始めます（近づいた予定や新しいメモリを見ます）"), en=("on", "Start: I look at what is coming up and at new memories"))
    heartbeat_every = Both(ja=("間隔", "何時間ごとに見るか（1〜168）"), en=("every", "Hours between checks (1-168)"))
    heartbeat_where = Both(ja=("場所", "声をかける場所（省略すると DM）"), en=("where", "Where to speak to you (default: DM)"))
    heartbeat_dm_choice = Sentence(ja="DM（自分だけに見えます）", en="DM (only you see it)")
    heartbeat_channel_choice = Sentence(ja="このチャンネル", en="This channel")
    heartbeat_quiet_from = Both(ja=("静かな時間の始め", "この時刻から静かにします（省略すると 22:00）"), en=("quiet_from", "Keep quiet from this time on (default: 22:00)"))
    heartbeat_quiet_to = Both(ja=("静かな時間の終わり", "この時刻まで静かにします（省略すると 7:00、始めと同じなら静かな時間なし）"), en=("quiet_to", "Keep quiet until this time (default: 7:00; the same time: never quiet)"))
    heartbeat_off = Both(ja=("オフ", "声かけをやめます"), en=("off", "Stop"))
    heartbeat_status = Both(ja=("状態", "声かけの今の設定と、次の時刻を見ます"), en=("status", "Show the settings and the time of the next check"))
