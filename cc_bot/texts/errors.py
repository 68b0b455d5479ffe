"""What a person reads when something goes wrong: what happened, and what to do next.

A field is named after the class in domain/errors/ that it explains.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorTexts:
    cc_bot_error: str
    input_error: str
    empty_question: str
    question_too_long: str
    empty_memory: str
    memory_too_long: str
    secret_not_stored: str
    memory_paused: str
    memory_not_found: str
    not_asked_for: str
    import_not_understood: str
    too_many_to_import: str
    end_not_understood: str
    unknown_timezone: str
    unknown_agent: str
    empty_reminder: str
    reminder_too_long: str
    too_many_schedules: str
    schedule_not_found: str
    schedule_not_asked_for: str
    when_not_understood: str
    when_passed: str
    when_too_far: str
    repeat_not_understood: str
    repeat_too_often: str
    attachment_too_large: str
    attachment_not_supported: str
    attachment_not_fetched: str
    turn_error: str
    busy: str
    crowded: str
    shutting_down: str
    postponed: str
    not_newest: str
    agent_gone: str
    limit_reached: str
    model_error: str
    model_unavailable: str
    model_said_nothing: str
    model_refused_key: str
    model_refused_request: str
    context_too_long: str
    access_error: str
    not_allowed: str
    owners_only: str
    under_maintenance: str
    storage_error: str
    database_damaged: str
    startup_error: str
    invalid_setting: str
    invalid_agents: str
    invalid_policy: str
    missing_token: str
    refused_token: str
    discord_unreachable: str
    message_content_refused: str
    commands_not_registered: str
    already_running: str
    database_folder_missing: str
    database_missing: str
    database_unusable: str
    database_newer: str
    sqlite_too_old: str
    backup_failed: str
    not_enough_room: str
    restore_refused: str
    erasures_missing: str
    not_confirmed: str
    port_taken: str


_UNEXPECTED_JA = "うまくいきませんでした。もう一度お試しください。"
_UNEXPECTED_EN = "Something went wrong. Please try again."

JA = ErrorTexts(
    cc_bot_error=_UNEXPECTED_JA,
    input_error="入力を確かめて、もう一度お試しください。",
    empty_question="質問が空です。聞きたいことを書いて、もう一度送ってください。",
    question_too_long="質問が長すぎます（{length}文字）。{limit}文字までにするか、テキストファイルで添付してください。",
    empty_memory="覚える内容が空です。覚えてほしいことを書いてください。",
    memory_too_long="1件のメモリは{limit}文字までです（今は{length}文字）。短くするか、分けて登録してください。",
    secret_not_stored="パスワードやカード番号のように見えるため、保存しませんでした。大切な情報は専用の管理アプリでの保管をお勧めします。",
    memory_paused="メモリは一時停止中です。/memory resume で再開できます。",
    memory_not_found="#{id} のメモリは見つかりません。/memory list で番号を確かめてください。",
    not_asked_for="この発言では頼まれていないので、メモリは変更していません。変更してよいか、先に尋ねてください。",
    import_not_understood="このファイルはメモリの一覧として読めませんでした。/memory export の JSON か、1行に1件のテキストを添付してください。",
    too_many_to_import="一度に取り込めるのは{limit}件までです（このファイルは{found}件）。いくつかのファイルに分けてください。",
    end_not_understood="期限の日付が読めませんでした。2026-12-31 のように書いてください。",
    unknown_timezone="そのタイムゾーンは見つかりません。Asia/Tokyo のような名前で指定してください。",
    unknown_agent="その名前のエージェントは、ここでは使えません。/agent list で使えるものを確かめてください。",
    empty_reminder="お知らせする内容が空です。何をお知らせするかを書いてください。",
    reminder_too_long="お知らせの内容は{limit}文字までです（今は{length}文字）。短くしてください。",
    too_many_schedules="お知らせは{limit}件までです。/remind list で見て、要らないものを消してください。",
    schedule_not_found="#{id} のお知らせは見つかりません。/remind list で番号を確かめてください。",
    schedule_not_asked_for="この発言では頼まれていないので、お知らせの予定は変えていません。変えてよいか、先に尋ねてください。",
    when_not_understood="いつなのかが読み取れませんでした。「10分後」「明日9時」「12月3日 18:00」のように書いてください。",
    when_passed="その時刻はもう過ぎています。これからの時刻を書いてください。",
    when_too_far="先すぎます。{limit}年先までの時刻を書いてください。",
    repeat_not_understood="繰り返しが読み取れませんでした。「毎朝8時」「平日9時」「毎週月曜 9:00」のように書いてください。",
    repeat_too_often="繰り返しは1時間に1回までです。間隔をもっと空けてください。",
    attachment_too_large="添付ファイルが大きすぎます。{limit}までのファイルを添付してください。",
    attachment_not_supported="このファイルは読めません。画像（PNG・JPEG・GIF・WebP）かテキストファイルを添付してください。",
    attachment_not_fetched="添付ファイルを受け取れませんでした。もう一度添付して送ってください。",
    turn_error=_UNEXPECTED_JA,
    busy="前の質問に順番に答えています。返事が届いてから、もう一度お聞きください。",
    crowded="ただいまとても混み合っています。しばらくしてから、もう一度お聞きください。",
    shutting_down="ただいま再起動の準備中です。少し待ってから、もう一度お聞きください。",
    postponed="ただいま再起動しています。戻りしだい、ここでお答えします。",
    not_newest="この回答は最新ではなくなりました。続きは /ask でお聞きください。",
    agent_gone="この回答をしたエージェントは、もうここでは使えません。/ask で続けてください。",
    limit_reached="いま使える分を使いきりました。{resets}にまたお聞きください。",
    model_error="AIモデルから返事をもらえませんでした。もう一度お試しください。",
    model_unavailable="AIモデルにつながらないか、混み合っています。しばらくしてから、もう一度お聞きください。",
    model_said_nothing="AIモデルの返事が空でした。もう一度お聞きになるか、言い方を変えてみてください。",
    model_refused_key="AIモデルのAPIキーが受け付けられませんでした。ボットの管理者にお知らせください。",
    model_refused_request="AIモデルがこの質問を受け付けませんでした。言い方を変えるか、ボットの管理者にお知らせください。",
    context_too_long="質問が長すぎて、AIモデルが一度に読みきれません。短くするか、いくつかに分けてお聞きください。",
    access_error="この操作は、ここでは使えません。",
    not_allowed="このボットは、ここではお使いいただけない設定になっています。使いたいときはボットの管理者にお知らせください。",
    owners_only="この操作は、ボットの管理者だけが使えます。",
    under_maintenance="ただいまメンテナンス中です。しばらくしてから、もう一度お試しください。{note}",
    storage_error="保存できませんでした。少し待って、もう一度お試しください。続くときはボットの管理者にお知らせください。",
    database_damaged="保存場所が壊れているため、いまはお答えできません。ボットの管理者にお知らせください。",
    startup_error="起動できませんでした。設定を確かめてください。",
    invalid_setting="設定 {name} の値が正しくありません。たとえば {expected} のように書いてください。",
    invalid_agents="エージェントの設定ファイル {path} を読めません。{detail}",
    invalid_policy="設定ファイル {path} を読めません。{detail}",
    missing_token=(
        "DISCORD_TOKEN が設定されていません。.env に DISCORD_TOKEN=… と書くか、"
        "トークンなしで試すには cc-bot chat を使ってください。"
    ),
    refused_token=(
        "DISCORD_TOKEN が Discord に受け付けられませんでした。"
        "Developer Portal でトークンを確かめて、設定し直してください。"
    ),
    discord_unreachable="Discord につながりませんでした。ネットワークと DISCORD_API_URL を確かめて、もう一度起動してください。",
    message_content_refused=(
        "Discord が、すべてのメッセージを読むことを認めませんでした。"
        "Developer Portal の Bot で Message Content Intent を有効にするか、CC_BOT_CHANNELS=mentions にして、起動し直してください。"
    ),
    commands_not_registered="コマンドを登録できなかったので、起動をやめました（{detail}）。",
    already_running="別の cc-bot が {path} を使っています。そちらを止めてから起動してください。",
    database_folder_missing="データベースのフォルダ {path} がありません。作成するか、CC_BOT_DATABASE_URL を直してください。",
    database_missing="データベース {path} がありません。CC_BOT_DATABASE_URL を確かめてください。",
    database_unusable="データベース {path} を開けません。ファイルの中身と読み書きの権限を確かめてください。",
    database_newer=(
        "データベース {path} は新しい cc-bot のものです（版 {found}、この cc-bot は {known} まで）。"
        "cc-bot を更新してください。"
    ),
    sqlite_too_old="Python に付属の SQLite {found} は古すぎます（{needed} 以上が必要です）。Python を新しくしてください。",
    backup_failed="バックアップを {path} に書き込めませんでした。空き容量と書き込みの権限を確かめてください。",
    not_enough_room="{path} の空き容量が足りません（必要 {needed}、空き {free}）。空きを増やして、もう一度実行してください。",
    restore_refused="{path} は復元できません。{detail}",
    erasures_missing=(
        "消去の記録 {path} がないため、消した人のデータまで戻ってしまうかもしれません。"
        "記録を元の場所に戻すか、それでもよければ --without-erasures を付けてください。"
    ),
    not_confirmed="取り消せない操作なので、実行していません。よければ {command} と入力してください。",
    port_taken="{host}:{port} は別のプログラムが使っています。CC_BOT_METRICS_PORT を変えて、起動し直してください。",
)

EN = ErrorTexts(
    cc_bot_error=_UNEXPECTED_EN,
    input_error="Please check what you entered and try again.",
    empty_question="The question is empty. Write what you would like to know and send it again.",
    question_too_long=(
        "The question is too long ({length} characters). Keep it under {limit}, or attach it as a text file."
    ),
    empty_memory="There is nothing to remember. Write what you would like me to keep.",
    memory_too_long="One memory holds up to {limit} characters (this has {length}). Shorten it or split it.",
    secret_not_stored="That looks like a password, token, card or key number, so I did not store it. A password manager is the place for it.",
    memory_paused="Memory is paused. Resume it with /memory resume.",
    memory_not_found="There is no memory #{id}. See /memory list for the numbers.",
    not_asked_for="The user did not ask for that in this message, so no memory was changed. Ask them first.",
    import_not_understood="I can't read this file as a list of memories. Attach the JSON of /memory export, or a text with one memory a line.",
    too_many_to_import="One import takes up to {limit} memories (this file has {found}). Please split the file.",
    end_not_understood="I can't read the end date. Please write it like 2026-12-31.",
    unknown_timezone="I don't know that time zone. Please give a name like Europe/London.",
    unknown_agent="There is no agent of that name here. See /agent list for those that there are.",
    empty_reminder="There is nothing to remind you of. Write what it is about.",
    reminder_too_long="A reminder holds up to {limit} characters (this has {length}). Please shorten it.",
    too_many_schedules="There can be {limit} reminders at most. See /remind list and delete what you no longer need.",
    schedule_not_found="There is no reminder #{id}. See /remind list for the numbers.",
    schedule_not_asked_for="The user did not ask for that in this message, so no reminder was made or cancelled. Ask them first.",
    when_not_understood="I can't tell when that is. Write it like: in 10 minutes, tomorrow at 9am, Dec 3 18:00.",
    when_passed="That time is over. Please give one that is still to come.",
    when_too_far="That is too far away. Please give a time within {limit} years.",
    repeat_not_understood="I can't tell how that repeats. Write it like: every day at 8am, every weekday at 9, every Monday 9:00.",
    repeat_too_often="A reminder repeats at most once an hour. Please leave more time between.",
    attachment_too_large="The attachment is too large. Please attach a file of up to {limit}.",
    attachment_not_supported=(
        "I can't read this file. Please attach an image (PNG, JPEG, GIF, WebP) or a text file."
    ),
    attachment_not_fetched="I could not get the attachment. Please attach it and send again.",
    turn_error=_UNEXPECTED_EN,
    busy="I'm still answering your earlier questions. Please ask again when they are answered.",
    crowded="Too many people are asking right now. Please ask again in a while.",
    shutting_down="I'm about to restart. Please ask again in a moment.",
    postponed="I'm restarting. I'll answer here as soon as I'm back.",
    not_newest="This is no longer the newest answer. Please go on with /ask.",
    agent_gone="The agent that gave this answer can't be used here any more. Please go on with /ask.",
    limit_reached="What you can use for now is used up. Please ask again {resets}.",
    model_error="The AI model gave no answer. Please try again.",
    model_unavailable="The AI model is busy or can't be reached. Please ask again in a while.",
    model_said_nothing="The AI model's answer was empty. Please ask again, or put it another way.",
    model_refused_key="The AI model did not accept its API key. Please tell whoever runs this bot.",
    model_refused_request=(
        "The AI model did not accept this question. Put it another way, or tell whoever runs this bot."
    ),
    context_too_long=(
        "The question is too long for the AI model to read at once. Please shorten it or ask it in parts."
    ),
    access_error="That can't be done here.",
    not_allowed="This bot is set up not to answer here. If you would like to use it, tell whoever runs it.",
    owners_only="Only the bot's owners can do that.",
    under_maintenance="I'm down for maintenance. Please try again in a while.{note}",
    storage_error="I could not save that. Please try again in a moment; if it goes on, tell whoever runs this bot.",
    database_damaged="The place where I keep things is damaged, so I can't answer now. Please tell whoever runs this bot.",
    startup_error="cc-bot could not start. Please check its settings.",
    invalid_setting="The setting {name} is not valid. Write it like this, for example: {expected}",
    invalid_agents="The file of agents {path} can't be read. {detail}",
    invalid_policy="The file {path} can't be read. {detail}",
    missing_token=(
        "DISCORD_TOKEN is not set. Put DISCORD_TOKEN=… into .env, or try cc-bot without a token: cc-bot chat"
    ),
    refused_token=(
        "Discord did not accept DISCORD_TOKEN. Check the token in the Developer Portal and set it again."
    ),
    discord_unreachable="Discord can't be reached. Check the network and DISCORD_API_URL, then start again.",
    message_content_refused=(
        "Discord does not let this bot read all messages. Switch the Message Content Intent on in the Developer "
        "Portal under Bot, or set CC_BOT_CHANNELS=mentions, then start again."
    ),
    commands_not_registered="The commands could not be registered, so cc-bot did not start ({detail}).",
    already_running="Another cc-bot is using {path}. Stop that one first.",
    database_folder_missing="The database folder {path} does not exist. Create it or correct CC_BOT_DATABASE_URL.",
    database_missing="There is no database at {path}. Check CC_BOT_DATABASE_URL.",
    database_unusable="The database {path} can't be opened. Check the file and the permission to read and write it.",
    database_newer=(
        "The database {path} was written by a newer cc-bot (version {found}; this one knows {known}). "
        "Update cc-bot."
    ),
    sqlite_too_old="The SQLite {found} of this Python is too old ({needed} or newer is needed). Install a newer Python.",
    backup_failed="The backup could not be written to {path}. Check the free space and the permission to write.",
    not_enough_room="There is too little room at {path} ({needed} needed, {free} free). Make room and run it again.",
    restore_refused="{path} can't be restored. {detail}",
    erasures_missing=(
        "The record of erasures {path} is missing, so people who were forgotten might come back. "
        "Put it back, or add --without-erasures if that is all right."
    ),
    not_confirmed="Nothing was done, because it can't be undone. If you mean it, run: {command}",
    port_taken="Another program listens on {host}:{port}. Change CC_BOT_METRICS_PORT, then start again.",
)
