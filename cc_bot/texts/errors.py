"""What a person reads when something goes wrong: what happened, and what to do next.

Which errors have one is told by the fields of `ErrorTexts`.
"""

from dataclasses import dataclass

# ---- error names -----------------------------------------------------------------------------------------
# Which errors have a sentence: a field is named after the class in domain/errors.py that it explains.


@dataclass(frozen=True, slots=True)
class ErrorTexts:
    cc_bot_error: str
    input_error: str
    empty_question: str
    question_too_long: str
    empty_memory: str
    memory_too_long: str
    too_many_memories: str
    memory_full: str
    too_many_pinned: str
    too_many_imports: str
    files_in_line: str
    too_many_commands: str
    secret_not_stored: str
    memory_paused: str
    memory_not_found: str
    import_not_understood: str
    too_many_to_import: str
    end_not_understood: str
    end_passed: str
    unknown_timezone: str
    unknown_agent: str
    empty_reminder: str
    reminder_too_long: str
    too_many_schedules: str
    schedule_not_found: str
    proposal_gone: str
    proposal_outdated: str
    when_not_understood: str
    no_such_time: str
    several_times: str
    when_passed: str
    when_too_far: str
    repeat_not_understood: str
    repeat_too_often: str
    subject_not_understood: str
    models_not_understood: str
    limit_not_for_channels: str
    limit_not_for_servers: str
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
    being_erased: str
    limit_reached: str
    server_limit_reached: str
    too_many_at_once: str
    model_error: str
    model_unavailable: str
    model_said_nothing: str
    model_went_in_circles: str
    """Also in the place of an answer that has changed something."""
    model_refused_key: str
    model_refused_request: str
    model_not_found: str
    """Without its name: that is for whoever runs the bot."""
    context_too_long: str
    access_error: str
    not_allowed: str
    owners_only: str
    under_maintenance: str
    storage_error: str
    conversation_gone: str
    erasure_not_noted: str
    database_locked: str
    database_full: str
    database_read_only: str
    database_damaged: str
    startup_error: str
    invalid_setting: str
    settings_unreadable: str
    invalid_agents: str
    invalid_policy: str
    missing_token: str
    refused_token: str
    discord_unreachable: str
    message_content_refused: str
    commands_not_registered: str
    already_running: str
    database_folder_missing: str
    database_in_use: str
    database_missing: str
    database_unusable: str
    database_newer: str
    database_not_ours: str
    schema_changed: str
    upgrade_failed: str
    sqlite_too_old: str
    backup_failed: str
    not_enough_room: str
    old_backups_kept: str
    backup_missing: str
    backup_damaged: str
    backup_foreign: str
    backup_changed: str
    restore_failed: str
    erasures_missing: str
    erasures_unreadable: str
    erasures_cut: str
    erasures_thinned: str
    not_confirmed: str
    port_taken: str


# ---- errors ----------------------------------------------------------------------------------------------

_UNEXPECTED_JA = "うまくいきませんでした。もう一度お試しください。"
_UNEXPECTED_EN = "Something went wrong. Please try again."

JA = ErrorTexts(
    cc_bot_error=_UNEXPECTED_JA,
    input_error="入力を確かめて、もう一度お試しください。",
    empty_question="質問が空です。聞きたいことを書いて、もう一度送ってください。",
    question_too_long="質問が長すぎます（{length}文字）。{limit}文字までにするか、テキストファイルで添付してください。",
    empty_memory="覚える内容が空です。覚えてほしいことを書いてください。",
    memory_too_long="1件のメモリは{limit}文字までです（今は{length}文字）。短くするか、分けて登録してください。",
    too_many_memories="メモリは{limit}件までです。</memory list> で見て、要らないものを削除してください。",
    memory_full="メモリに使える容量（{limit}）がいっぱいです。</memory list> で見て、要らないものを削除してください。",
    too_many_pinned="ピン留めできるのは{limit}件までです。</memory list> で 📌 の付いたものを見て、どれかのピンを外してください。",
    too_many_imports="取り込みが続いています。次に取り込めるのは{resets}です。",
    files_in_line="前のファイルをまだ処理しています。終わってから、もう一度お試しください。",
    too_many_commands="操作が続いています。次に使えるのは{resets}です。少し待ってから、もう一度お試しください。",
    secret_not_stored="パスワードやカード番号のように見えるため、保存しませんでした。大切な情報は専用の管理アプリでの保管をお勧めします。",
    memory_paused="メモリは一時停止中です。</memory resume> で再開できます。",
    memory_not_found="#{id} のメモリは見つかりません。</memory list> で番号を確かめてください。",
    import_not_understood="このファイルはメモリの一覧として読めませんでした。</memory export> の JSON か、1行に1件のテキストを添付してください。",
    too_many_to_import="一度に取り込めるのは{limit}件までです。いくつかのファイルに分けてください。",
    end_not_understood="期限が読み取れませんでした。「12月31日」「来週の金曜」「3日後」「2026-12-31」のように書いてください。",
    end_passed="その期限はもう過ぎています。これからの日付を書いてください。",
    unknown_timezone="そのタイムゾーンは見つかりません。東京 や Asia/Tokyo のような名前で指定してください。",
    unknown_agent="その名前のエージェントは、ここでは使えません。</agent list> で使えるものを確かめてください。",
    empty_reminder="お知らせする内容が空です。何をお知らせするかを書いてください。",
    reminder_too_long="お知らせの内容は{limit}文字までです（今は{length}文字）。短くしてください。",
    too_many_schedules="お知らせは{limit}件までです。</remind list> で見て、要らないものを消してください。",
    schedule_not_found="#{id} のお知らせは見つかりません。</remind list> で番号を確かめてください。",
    proposal_gone="この提案はもう決まっているか、取り下げられたか、期限（7日）が過ぎています。必要なら、もう一度お聞きください。",
    proposal_outdated="提案のあとに元の内容が変わったので、何もしていません。必要なら、もう一度お聞きください。",
    when_not_understood="いつなのかが読み取れませんでした。「10分後」「明日9時」「12月3日 18:00」のように書いてください。",
    no_such_time="その日付や時刻はありません。日にち、曜日、時刻を確かめてください。",
    several_times="時刻がいくつもあります。お知らせ1件につき時刻は1つなので、分けて予約してください。毎日なら「毎日9時と18時」のように書けます。",
    when_passed="その時刻はもう過ぎています。これからの時刻を書いてください。",
    when_too_far="先すぎます。{limit}年先までの時刻を書いてください。",
    repeat_not_understood="繰り返しが読み取れませんでした。「毎日9時と18時」「月水金 7:30」「隔週の火曜 10時」「3日ごとに8時」「毎月第2水曜」「毎月末」のように書いてください。",
    repeat_too_often="繰り返しは1時間に1回までです。間隔をもっと空けてください。",
    subject_not_understood="相手が読み取れませんでした。@人、@ロール、#チャンネル、またはIDと「区分」で指定してください。",
    models_not_understood="モデルの名前が読み取れませんでした。名前をコンマで区切って、5つまで書いてください。",
    limit_not_for_channels="制限は、全員・人・ロール・サーバーごとに決められます。チャンネルごとには決められません。",
    limit_not_for_servers="この制限は、全員・人・ロールごとに決められます。サーバー全体では決められません。",
    attachment_too_large="添付ファイルが大きすぎます。{limit}までのファイルを添付してください。",
    attachment_not_supported="このファイルは読めません。画像（PNG・JPEG・GIF・WebP）かテキストファイルを添付してください。",
    attachment_not_fetched="添付ファイルを受け取れませんでした。もう一度添付して送ってください。",
    turn_error=_UNEXPECTED_JA,
    busy="前の質問に順番に答えています。返事が届いてから、もう一度お聞きください。",
    crowded="ただいまとても混み合っています。しばらくしてから、もう一度お聞きください。",
    shutting_down="ただいま再起動の準備中です。少し待ってから、もう一度お聞きください。",
    postponed="ただいま再起動しています。戻りしだい、ここでお答えします。",
    not_newest="この回答は最新ではなくなりました。続きは </ask> でお聞きください。",
    agent_gone="この回答をしたエージェントは、もうここでは使えません。</ask> で続けてください。",
    being_erased="データの消去が始まったので、この回答は取りやめました。消去が終わってから、もう一度お聞きください。",
    limit_reached="いま使える分を使いきりました。次に使えるのは{resets}です。</usage> で使った分が見られます。",
    server_limit_reached="このサーバーで使える分を使いきりました。次に使えるのは{resets}です。",
    too_many_at_once="同時にお答えできる数に達しています。前の返事が届いてから、もう一度お聞きください。",
    model_error="AIモデルから返事をもらえませんでした。もう一度お試しください。",
    model_unavailable="AIモデルにつながらないか、混み合っています。しばらくしてから、もう一度お聞きください。",
    model_said_nothing="AIモデルの返事が空でした。もう一度お聞きになるか、言い方を変えてみてください。",
    model_went_in_circles="ツールを繰り返し使いましたが堂々めぐりになり、答えを出せませんでした。変えたものがあれば下に出ています。小さく分けて、もう一度お聞きください。",
    model_refused_key="AIモデルのAPIキーが受け付けられませんでした。ボットの管理者にお知らせください。",
    model_refused_request="AIモデルがこの質問を受け付けませんでした。言い方を変えるか、ボットの管理者にお知らせください。",
    model_not_found="設定されているAIモデルが見つかりません。ボットの管理者にお知らせください。",
    context_too_long="質問が長すぎて、AIモデルが一度に読みきれません。短くするか、いくつかに分けてお聞きください。",
    access_error="この操作は、ここでは使えません。",
    not_allowed="このボットは、ここではお使いいただけない設定になっています。使いたいときはボットの管理者にお知らせください。",
    owners_only="この操作は、ボットの管理者だけが使えます。",
    under_maintenance="ただいまメンテナンス中です。しばらくしてから、もう一度お試しください。{note}",
    storage_error="保存できませんでした。少し待って、もう一度お試しください。続くときはボットの管理者にお知らせください。",
    conversation_gone="この回答は残りません。お答えしているあいだに、質問か会話が消されました。",
    erasure_not_noted="消去の記録を書けないため、消去を終えられませんでした。ボットの管理者にお知らせください。",
    database_locked="保存場所がほかの処理でふさがっていて、保存できませんでした。少し待って、もう一度お試しください。",
    database_full="保存場所がいっぱいで、保存できませんでした。ボットの管理者にお知らせください。",
    database_read_only="保存場所に書き込めないため、保存できませんでした。ボットの管理者にお知らせください。",
    database_damaged="保存場所が壊れているため、いまはお答えできません。ボットの管理者にお知らせください。",
    startup_error="起動できませんでした。設定を確かめてください。",
    invalid_setting="設定 {name} の値が正しくありません。たとえば {expected} のように書いてください。",
    settings_unreadable="設定ファイル {path} を読めません。読み取りの権限を確かめるか、別のフォルダで実行してください。",
    invalid_agents="エージェントの設定ファイル {path} を読めません。{detail}",
    invalid_policy="設定ファイル {path} を読めません。{detail}",
    missing_token="DISCORD_TOKEN が設定されていません。.env に DISCORD_TOKEN=… と書くか、トークンなしで試すには cc-bot chat を使ってください。",
    refused_token="DISCORD_TOKEN が Discord に受け付けられませんでした。Developer Portal でトークンを確かめて、設定し直してください。",
    discord_unreachable="Discord につながりませんでした。ネットワークと DISCORD_API_URL を確かめて、もう一度起動してください。",
    message_content_refused="Discord が、すべてのメッセージを読むことを認めませんでした。Developer Portal の Bot で Message Content Intent を有効にするか、CC_BOT_CHANNELS=mentions にして、起動し直してください。",
    commands_not_registered="コマンドを登録できなかったので、起動をやめました（{detail}）。",
    already_running="別の cc-bot が {path} を使っています。そちらを止めてから起動してください。",
    database_in_use="{path} を開いているプログラムがあります（cc-bot chat や Litestream など）。すべて止めてから、もう一度実行してください。",
    database_folder_missing="データベースのフォルダ {path} がありません。作成するか、CC_BOT_DATABASE_URL を直してください。",
    database_missing="データベース {path} がありません。CC_BOT_DATABASE_URL を確かめてください。",
    database_unusable="データベース {path} を開けません。ファイルの中身と読み書きの権限を確かめてください。壊れているときは cc-bot restore でバックアップから戻せます。",
    database_newer="データベース {path} は新しい cc-bot のものです（版 {found}、この cc-bot は {known} まで）。cc-bot を更新してください。",
    database_not_ours="{path} は cc-bot のデータベースに見えないので、手を付けませんでした。CC_BOT_DATABASE_URL を確かめてください。壊れているだけで消してよければ、{command} を実行してください。",
    schema_changed="データベース {path} の {name} がないか、cc-bot の作る形と違うため、起動をやめました。ご自分で加えたものなら取り除くか名前を変え、覚えがなければ cc-bot restore でバックアップから戻してください。",
    upgrade_failed="データベース {path} を版 {version} に更新できませんでした。cc-bot が書いたものではない値があるようです。データベースは元のままです。cc-bot restore でバックアップから戻すか、開発者にお知らせください。",
    sqlite_too_old="Python に付属の SQLite {found} は古すぎます（{needed} 以上が必要です）。Python を新しくしてください。",
    backup_failed="バックアップを {path} に書き込めませんでした。空き容量と書き込みの権限を確かめてください。",
    not_enough_room="{path} の空き容量が足りません（必要 {needed}、空き {free}）。空きを増やして、もう一度実行してください。",
    old_backups_kept="{made} にバックアップしましたが、{path} の古いバックアップを消せませんでした。書き込みの権限を確かめてください。",
    backup_missing="バックアップ {path} がありません。ファイルの名前を確かめてください。",
    backup_damaged="バックアップ {path} は壊れているか、cc-bot のデータベースではありません。別のバックアップを選んでください。",
    backup_foreign="バックアップ {path} の {name} は、足りないか、cc-bot が作る形と違います。ファイルの出どころが確かなら、{command} で中のデータだけを戻せます。",
    backup_changed="バックアップ {path} の {name} は、足りないか、cc-bot が作る形と違います。別のバックアップを選んでください。",
    restore_failed="{path} に復元できませんでした。データベースは元のままです。空き容量と、バックアップを読む権限、書き込む権限を確かめてください。",
    erasures_missing="消去の記録 {path} がないため、消した人のデータまで戻ってしまうかもしれません。記録を元の場所に戻すか、それでもよければ --without-erasures を付けてください。",
    erasures_unreadable="消去の記録 {path} を読めないため、消した人のデータまで戻ってしまうかもしれません。読める記録に置きかえるか、それでもよければ --without-erasures を付けてください。",
    erasures_cut="消去の記録が足りません。{path} かそのあとのバックアップを作ったときより少なく、消した人のデータが戻るおそれがあります。{name} をバックアップの隣に戻すか、それでもよければ --without-erasures を付けてください。",
    erasures_thinned="バックアップ {path} は、消去の記録がさかのぼれる {since} より古いものです。消した人のデータまで戻ってしまうかもしれません。それでもよければ --without-erasures を付けてください。",
    not_confirmed="取り消せない操作なので、実行していません。よければ {command} と入力してください。",
    port_taken="{host}:{port} は別のプログラムが使っています。CC_BOT_METRICS_PORT を変えて、起動し直してください。",
)

EN = ErrorTexts(
    cc_bot_error=_UNEXPECTED_EN,
    input_error="Please check what you entered and try again.",
    empty_question="The question is empty. Write what you would like to know and send it again.",
    question_too_long="The question is too long ({length} characters). Keep it under {limit}, or attach it as a text file.",
    empty_memory="There is nothing to remember. Write what you would like me to keep.",
    memory_too_long="One memory holds up to {limit} characters (this has {length}). Shorten it or split it.",
    too_many_memories="There can be {limit} memories at most. See </memory list> and delete those you no longer need.",
    memory_full="Your memories fill all the room there is ({limit}). See </memory list> and delete those you no longer need.",
    too_many_pinned="You can pin up to {limit} memories. See </memory list> for those with 📌, and unpin one.",
    too_many_imports="You have imported as often as is possible for now. Please try again {resets}.",
    files_in_line="I'm still at work on your earlier files. Please try again when they are done.",
    too_many_commands="That was a lot at once. Please try again {resets}.",
    secret_not_stored="That looks like a password, token, card or key number, so I did not store it. A password manager is the place for it.",
    memory_paused="Memory is paused. Resume it with </memory resume>.",
    memory_not_found="There is no memory #{id}. See </memory list> for the numbers.",
    import_not_understood="I can't read this file as a list of memories. Attach the JSON of </memory export>, or a text with one memory a line.",
    too_many_to_import="One import takes up to {limit} memories. Please split the file.",
    end_not_understood="I can't read that end. Write it like: Dec 31, next Friday, in 3 days, 2026-12-31.",
    end_passed="That end is over. Please give a date that is still to come.",
    unknown_timezone="I don't know that time zone. Please give a city like London, or a name like Europe/London.",
    unknown_agent="There is no agent of that name here. See </agent list> for those that there are.",
    empty_reminder="There is nothing to remind you of. Write what it is about.",
    reminder_too_long="A reminder holds up to {limit} characters (this has {length}). Please shorten it.",
    too_many_schedules="There can be {limit} reminders at most. See </remind list> and delete what you no longer need.",
    schedule_not_found="There is no reminder #{id}. See </remind list> for the numbers.",
    proposal_gone="This was decided already, withdrawn, or its 7 days are over. Ask again if you still want it.",
    proposal_outdated="What this would change has changed since, so nothing was done. Ask again if you still want it.",
    when_not_understood="I can't tell when that is. Write it like: in 10 minutes, tomorrow at 9am, Dec 3 18:00.",
    no_such_time="There is no such date or time. Please check the day, the weekday and the time.",
    several_times="Those are several times. A reminder has one, so please set them one by one. What comes every day may have more: every day at 9 and 18:00.",
    when_passed="That time is over. Please give one that is still to come.",
    when_too_far="That is too far away. Please give a time within {limit} years.",
    repeat_not_understood="I can't tell how that repeats. Write it like: every day at 8am and 6pm, mon/wed/fri 7:30, every other Tuesday at 10, every 3 days at 8, every 2nd Wednesday of the month, on the last day of every month.",
    repeat_too_often="A reminder repeats at most once an hour. Please leave more time between.",
    subject_not_understood="I can't tell whom that means. Give @user, @role, #channel, or an id with its kind.",
    models_not_understood="I can't read those names. Give up to five models, separated by commas.",
    limit_not_for_channels="Limits are for everyone, a user, a role or a server. A channel can't have one.",
    limit_not_for_servers="This limit is for everyone, a user or a role. A server can't have one.",
    attachment_too_large="The attachment is too large. Please attach a file of up to {limit}.",
    attachment_not_supported="I can't read this file. Please attach an image (PNG, JPEG, GIF, WebP) or a text file.",
    attachment_not_fetched="I could not get the attachment. Please attach it and send again.",
    turn_error=_UNEXPECTED_EN,
    busy="I'm still answering your earlier questions. Please ask again when they are answered.",
    crowded="Too many people are asking right now. Please ask again in a while.",
    shutting_down="I'm about to restart. Please ask again in a moment.",
    postponed="I'm restarting. I'll answer here as soon as I'm back.",
    not_newest="This is no longer the newest answer. Please go on with </ask>.",
    agent_gone="The agent that gave this answer can't be used here any more. Please go on with </ask>.",
    being_erased="Your data is being erased, so this answer was dropped. Please ask again once that is done.",
    limit_reached="You have used up what there is for now. Please ask again {resets}; </usage> shows what you used.",
    server_limit_reached="This server has used up what there is for now. Please ask again {resets}.",
    too_many_at_once="As many questions as may be are being answered. Please ask again when one of them is.",
    model_error="The AI model gave no answer. Please try again.",
    model_unavailable="The AI model is busy or can't be reached. Please ask again in a while.",
    model_said_nothing="The AI model's answer was empty. Please ask again, or put it another way.",
    model_went_in_circles="I went round in circles with my tools and found no answer. Whatever I changed is shown below. Please ask again in smaller steps.",
    model_refused_key="The AI model did not accept its API key. Please tell whoever runs this bot.",
    model_refused_request="The AI model did not accept this question. Put it another way, or tell whoever runs this bot.",
    model_not_found="The AI model that is set here can't be found. Please tell whoever runs this bot.",
    context_too_long="The question is too long for the AI model to read at once. Please shorten it or ask it in parts.",
    access_error="That can't be done here.",
    not_allowed="This bot is set up not to answer here. If you would like to use it, tell whoever runs it.",
    owners_only="Only the bot's owners can do that.",
    under_maintenance="I'm down for maintenance. Please try again in a while.{note}",
    storage_error="I could not save that. Please try again in a moment; if it goes on, tell whoever runs this bot.",
    conversation_gone="This answer is not kept: the question or its conversation was erased meanwhile.",
    erasure_not_noted="The record of erasures can't be written, so the erasing was not finished. Please tell whoever runs this bot.",
    database_locked="Where I keep things is busy with something else, so I could not save that. Please try again in a moment.",
    database_full="There is no room left where I keep things, so I could not save that. Please tell whoever runs this bot.",
    database_read_only="I can't write to where I keep things, so I could not save that. Please tell whoever runs this bot.",
    database_damaged="The place where I keep things is damaged, so I can't answer now. Please tell whoever runs this bot.",
    startup_error="cc-bot could not start. Please check its settings.",
    invalid_setting="The setting {name} is not valid. Write it like this, for example: {expected}",
    settings_unreadable="The settings in {path} can't be read. Check the permission, or run this in another folder.",
    invalid_agents="The file of agents {path} can't be read. {detail}",
    invalid_policy="The file {path} can't be read. {detail}",
    missing_token="DISCORD_TOKEN is not set. Put DISCORD_TOKEN=… into .env, or try cc-bot without a token: cc-bot chat",
    refused_token="Discord did not accept DISCORD_TOKEN. Check the token in the Developer Portal and set it again.",
    discord_unreachable="Discord can't be reached. Check the network and DISCORD_API_URL, then start again.",
    message_content_refused="Discord does not let this bot read all messages. Switch the Message Content Intent on in the Developer Portal under Bot, or set CC_BOT_CHANNELS=mentions, then start again.",
    commands_not_registered="The commands could not be registered, so cc-bot did not start ({detail}).",
    already_running="Another cc-bot is using {path}. Stop that one first.",
    database_in_use="Some program has {path} open (cc-bot chat, or Litestream). Stop all of them, then run this again.",
    database_folder_missing="The database folder {path} does not exist. Create it or correct CC_BOT_DATABASE_URL.",
    database_missing="There is no database at {path}. Check CC_BOT_DATABASE_URL.",
    database_unusable="The database {path} can't be opened. Check the file and the permission to read and write it. If it is damaged, cc-bot restore puts a backup in its place.",
    database_newer="The database {path} was written by a newer cc-bot (version {found}; this one knows {known}). Update cc-bot.",
    database_not_ours="{path} does not look like a database of cc-bot, so it was left alone. Check CC_BOT_DATABASE_URL; if it is only damaged and may go, run: {command}",
    schema_changed="In the database {path} the {name} is missing or not as cc-bot makes it, so cc-bot did not start. Remove or rename it if you added it; if you did not, put a backup in its place with cc-bot restore.",
    upgrade_failed="The database {path} can't be brought to version {version}: something in it was not written by cc-bot. It is as it was. Put a backup in its place with cc-bot restore, or report this.",
    sqlite_too_old="The SQLite {found} of this Python is too old ({needed} or newer is needed). Install a newer Python.",
    backup_failed="The backup could not be written to {path}. Check the free space and the permission to write.",
    not_enough_room="There is too little room at {path} ({needed} needed, {free} free). Make room and run it again.",
    old_backups_kept="Backed up to {made}, but old backups in {path} could not be deleted. Check the permission to write.",
    backup_missing="There is no backup {path}. Check the name of the file.",
    backup_damaged="The backup {path} is damaged, or no database of cc-bot. Choose another one.",
    backup_foreign="In the backup {path}, {name} is missing or not as cc-bot makes it. If you know where the file comes from, restore its rows alone: {command}",
    backup_changed="In the backup {path}, {name} is missing or not as cc-bot makes it. Choose another one.",
    restore_failed="Nothing could be restored to {path}; the database is as it was. Check the free space, and the permissions to read the backup and to write.",
    erasures_missing="The record of erasures {path} is missing, so people who were forgotten might come back. Put it back, or add --without-erasures if that is all right.",
    erasures_unreadable="The record of erasures {path} can't be read, so people who were forgotten might come back. Put a good copy in its place, or add --without-erasures if that is all right.",
    erasures_cut="The record of erasures is not whole: it has less than was known when {path} or a later backup was made, so people who were forgotten might come back. Put {name} back beside the backup, or add --without-erasures if that is all right.",
    erasures_thinned="The backup {path} is older than the record of erasures goes back ({since}), so people who were forgotten might come back. Add --without-erasures if that is all right.",
    not_confirmed="Nothing was done, because it can't be undone. If you mean it, run: {command}",
    port_taken="Another program listens on {host}:{port}. Change CC_BOT_METRICS_PORT, then start again.",
)
