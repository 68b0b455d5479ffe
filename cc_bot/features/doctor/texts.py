"""Findings of `cc-bot doctor`; "→" introduces what to do."""

from cc_bot.texts.area import Area, Both, Sentence, by_key


class DoctorTexts(Area):
    doctor = Sentence(ja="設定と環境を調べ、直し方を伝えます（動作中でも使えます）", en="check the setup and say how to fix it; the bot may be running")
    as_json = Sentence(ja="結果を JSON で出します", en="write the report as JSON")
    offline_option = Sentence(ja="ネットワークを使う確認を省きます", en="skip checks that need the network")
    labels = by_key(
        {
            "program": Sentence(ja="プログラム", en="Program"),
            "token": Sentence(ja="トークン", en="Token"),
            "intents": Sentence(ja="インテント", en="Intents"),
            "commands": Sentence(ja="コマンド", en="Commands"),
            "clock": Sentence(ja="時計", en="Clock"),
            "timezone": Sentence(ja="タイムゾーン", en="Time zone"),
            "database": Sentence(ja="データベース", en="Database"),
            "migrations": Sentence(ja="データベースの形式", en="Schema"),
            "schema": Sentence(ja="表とトリガー", en="Tables and triggers"),
            "disk": Sentence(ja="ディスク", en="Disk"),
            "backups": Sentence(ja="バックアップ", en="Backups"),
            "erasures": Sentence(ja="消去の記録", en="Record of erasures"),
            "files": Sentence(ja="ファイルの権限", en="File permissions"),
            "policy": Sentence(ja="制限とアクセス", en="Limits and access"),
            "model": Sentence(ja="モデル", en="Model"),
            "font": Sentence(ja="グラフのフォント", en="Chart font"),
            "pages": Sentence(ja="ブラウザのページ", en="Pages in a browser"),
        }
    )
    verdicts = by_key({"ok": Sentence(ja="良好", en="OK"), "off": Sentence(ja="オフ", en="Off"), "warning": Sentence(ja="注意", en="Warning"), "failed": Sentence(ja="失敗", en="Failed")})
    all_well = Sentence(ja="問題は見つかりませんでした。", en="No problems found.")
    summary = Sentence(ja="失敗が {failed} 件、注意が {warnings} 件あります。", en="Failed: {failed}. Warnings: {warnings}.")
    offline = Sentence(ja="ネットワークを使う確認（Discord とモデル）は省きました。", en="Skipped: checks that need the network (Discord and the model).")
    broke = Sentence(ja="確認の途中で思わぬエラーが起きました（{error}）。\n→ もう一度試しても同じなら、開発者にお知らせください。", en="The check itself failed ({error}).\n→ If that happens again, please report it.")
    took_too_long = Sentence(ja="{seconds} 秒待っても終わりませんでした。\n→ 少し待ってから、もう一度試してください。", en="It did not finish within {seconds} seconds.\n→ Wait a little, then try again.")
    program = Sentence(ja="cc-bot {version} を Python {python}、SQLite {sqlite} で動かしています。", en="cc-bot {version}, Python {python}, SQLite {sqlite}")
    token_ok = Sentence(ja="{name} としてログインできます。", en="It logs in as {name}.")
    token_malformed = Sentence(ja="Discord のトークンの形ではありません。\n→ トークンは、ピリオド（.）で区切られた3つの部分からできています。全体を貼り付けたか確かめてください。", en="That does not look like a Discord token.\n→ A token has three parts, separated by dots. Check that you pasted all of it.")
    token_missing = Sentence(ja="DISCORD_TOKEN がありません。cc-bot chat だけが使えます。\n→ Discord で使うなら、Developer Portal の Bot で発行し、.env に書いてください。", en="DISCORD_TOKEN is not set. Only `cc-bot chat` works.\n→ For Discord, create one in the Developer Portal under Bot and write it into .env.")
    discord_unreachable = Sentence(ja="Discord から返事がありません（{problem}）。\n→ ネットワークとプロキシ、status.discord.com を確かめてください。", en="Discord does not answer ({problem}).\n→ Check the network, the proxy and status.discord.com.")
    not_connected = Sentence(ja="接続できません", en="no connection")
    answer_unreadable = Sentence(ja="思わぬ内容の返事です", en="unexpected answer")
    intents_ok = Sentence(ja="CC_BOT_CHANNELS={reading} に必要なものは揃っています。", en="Everything that CC_BOT_CHANNELS={reading} needs is granted.")
    intents_missing = Sentence(ja="Message Content Intent がオフなので、ボット宛てのものだけを読みます。\n→ Developer Portal の Bot でオンにし、起動し直してください。", en="The Message Content Intent is off: only what is addressed to the bot is read.\n→ Switch it on in the Developer Portal (Bot), then start again.")
    commands_ok = Sentence(ja="{count} 個が Discord に登録されています。", en="All {count} are registered on Discord.")
    commands_missing = Sentence(ja="Discord に未登録です: {names}\n→ cc-bot run を起動し直すと登録されます。", en="Not registered on Discord: {names}\n→ Restart `cc-bot run`, which registers them.")
    clock_ok = Sentence(ja="Discord の時計との差は {seconds} 秒です。", en="It differs from Discord's clock by {seconds} s.")
    clock_off = Sentence(ja="Discord の時計と {seconds} 秒ずれています。\n→ このマシンの時刻を合わせてください（NTP を有効にします）。お知らせの時刻が狂います。", en="It differs from Discord's clock by {seconds} s, so reminders come at the wrong time.\n→ Set this machine's clock (switch NTP on).")
    clock_unknown = Sentence(ja="Discord が時刻を返さなかったので、比べられませんでした。", en="Discord sent no time to compare with.")
    clock_set = Sentence(ja="試験用の設定で、時計を {seconds} 秒進めています。\n→ CC_BOT_TEST_CLOCK_OFFSET を消してください。", en="A setting for tests puts the clock {seconds} s ahead.\n→ Remove CC_BOT_TEST_CLOCK_OFFSET.")
    timezone_ok = Sentence(ja="{zone} は今 {time} です。", en="In {zone} it is {time}.")
    model_ok = Sentence(ja="{model}: 返事 {seconds} 秒、ツール {tools}、画像 {pictures}{changes}", en="{model}: answers in {seconds} s, tools {tools}, pictures {pictures}{changes}")
    model_yes = Sentence(ja="○", en="yes")
    model_no = Sentence(ja="×", en="no")
    model_not_called = Sentence(ja="△（呼ばれませんでした）", en="offered, but not called")
    model_changed = Sentence(ja="（このサーバーに合わせた変更: {changes}）", en=" (request adapted: {changes})")
    model_no_tools_fix = Sentence(
        ja="このモデルでは、覚えること・お知らせ・検索ができません。ツールを使えるモデルにするか、サーバーのツール機能（vLLM なら --enable-auto-tool-choice、llama.cpp なら --jinja）を有効にしてください。",
        en="With this model the bot can't remember, remind or look things up. Choose a model with tools, or switch tools on in its server (vLLM: --enable-auto-tool-choice; llama.cpp: --jinja).",
    )
    model_no_path = Sentence(ja="サーバーは {model} への質問を受け付けません。\n→ モデルの名前と、アドレス（OPENAI_BASE_URL か base_url）の終わりが /v1 かを確かめてください。", en="The server refuses requests for {model}.\n→ Check its name, and that the address (OPENAI_BASE_URL or base_url) ends in /v1.")
    model_offline = Sentence(ja="内蔵のオフラインモデルが答えます。AI モデルを使うには OPENAI_API_KEY か OPENAI_BASE_URL を書いてください。", en="The built-in offline model answers. To use an AI model, set OPENAI_API_KEY or OPENAI_BASE_URL.")
    model_refused_key = Sentence(ja="{model} のサーバーが API キーを受け付けません（OPENAI_API_KEY か、models.toml の api_key）。\n→ キーと、その残高や権限を確かめてください。", en="The server of {model} does not accept the key (OPENAI_API_KEY, or api_key in models.toml).\n→ Check the key, its credit and its rights.")
    model_refused_request = Sentence(ja="サーバーは {model} への質問を受け付けません。\n→ モデルの名前を確かめてください（CC_BOT_MODEL、agents.toml の model）。", en="The server refuses requests for {model}.\n→ Check the model's name (CC_BOT_MODEL, or model in agents.toml).")
    model_unreachable = Sentence(
        ja="{model} のサーバー {host} につながりません（名前が見つからないか、接続できません）。\n→ サーバーが動いているか、アドレス（OPENAI_BASE_URL か、models.toml の base_url）の名前とポートが正しいかを確かめてください。コンテナの中の localhost は、そのコンテナ自身です。",
        en="The server of {model}, {host}, can't be reached: unknown name, or nothing answers there.\n→ Check that the server runs, and the name and port in OPENAI_BASE_URL (or base_url in models.toml). Inside a container, localhost is the container itself.",
    )
    model_unavailable = Sentence(ja="{model} から答えがありません。\n→ アドレス（OPENAI_BASE_URL か、models.toml の base_url）とサーバーの状態を確かめてください。", en="{model} does not answer.\n→ Check the address (OPENAI_BASE_URL, or base_url in models.toml) and the server.")
    font_ok = Sentence(ja="日本語のグラフを画像にできます。", en="Charts with Japanese text can be drawn.")
    font_none = Sentence(ja="グラフは文字の表で出します。画像にするには make charts。", en="Charts are shown as text tables. `make charts` turns them into pictures.")
    font_failed = Sentence(ja="グラフを画像にできません。\n→ make charts で入れ直してください。それまでは文字の表で出します。", en="Charts can't be drawn.\n→ Install the extra again with `make charts`. Until then they are shown as text tables.")
    pages_off = Sentence(ja="ブラウザのページは使っていません（CC_BOT_WEB_PORT で使えます）。", en="Pages in a browser are off (set CC_BOT_WEB_PORT to use them).")
    pages_free = Sentence(ja="{where} は空いています。cc-bot run がここでページを出します。", en="{where} is free; cc-bot run serves the pages there.")
    pages_served = Sentence(ja="{where} で動いています。", en="Served at {where}.")
    pages_taken = Sentence(ja="{where} では、ほかのプログラムが動いています。\n→ そのプログラムを止めるか、CC_BOT_WEB_PORT を変えてください。", en="Another program listens at {where}.\n→ Stop that program, or set another CC_BOT_WEB_PORT.")
    pages_reached = Sentence(ja="{url} で届きます。", en="Reachable at {url}.")
    pages_unreached = Sentence(ja="{url} ではページに届きません。\n→ cc-bot run が動いているか、リバースプロキシの設定を確かめてください。", en="The pages can't be reached at {url}.\n→ Check that `cc-bot run` is running, and the settings of the reverse proxy.")
    pages_uncertified = Sentence(ja="{url} の証明書を確かめられません。\n→ リバースプロキシの証明書を更新してください。", en="The certificate of {url} can't be verified.\n→ Renew the certificate of the reverse proxy.")
    database_ok = Sentence(ja="{path}（{size}）は壊れておらず、書き込めます。", en="{path} ({size}) is intact and writable.")
    database_new = Sentence(ja="{path} はまだありません。最初の起動で作られます。", en="{path} does not exist yet. The first start creates it.")
    database_folder = Sentence(ja="フォルダ {folder} がありません。\n→ 作成するか、CC_BOT_DATABASE_URL を直してください。", en="The folder {folder} does not exist.\n→ Create it or correct CC_BOT_DATABASE_URL.")
    database_foreign = Sentence(ja="{path} は cc-bot のデータベースではないか、読めません。\n→ CC_BOT_DATABASE_URL とファイルの権限を確かめてください。", en="{path} is not a cc-bot database, or can't be read.\n→ Check CC_BOT_DATABASE_URL and the file's permissions.")
    migrations_ok = Sentence(ja="最新です（版 {version}）。", en="Up to date (version {version}).")
    migrations_pending = Sentence(ja="版 {version} です（最新は {newest}）。\n→ 次の起動で更新されます。先に行うなら cc-bot migrate。", en="Version {version}; the newest is {newest}.\n→ The next start updates it; `cc-bot migrate` does so now.")
    migrations_newer = Sentence(ja="新しい cc-bot のものです（版 {version}、この cc-bot は {newest} まで）。\n→ cc-bot を更新してください。", en="A newer cc-bot wrote it (version {version}; this one knows versions up to {newest}).\n→ Update cc-bot.")
    schema_changed = Sentence(
        ja="足りないか、cc-bot が作る形と違うものがあります: {names}\n→ ボットはこのままでは起動しません。ご自分で加えたトリガーや索引なら sqlite3 の DROP で取り除き、そうでなければ cc-bot restore でバックアップから戻してください。cc-bot の表は、中身も消えるため DROP しないでください。",
        en="Missing, or different from what cc-bot creates: {names}\n→ The bot does not start like this. A trigger or index that you added yourself can be removed with DROP in sqlite3; otherwise go back to a backup with `cc-bot restore`. Never drop a table of cc-bot: that deletes its rows.",
    )
    disk_ok = Sentence(ja="{free} の空きがあります。", en="{free} free.")
    disk_low = Sentence(ja="空きが {free} しかありません（目安は {wanted}）。\n→ 不要なファイルを消すか、広いディスクへ移してください。", en="Only {free} free; at least {wanted} is recommended.\n→ Delete files that you do not need, or move to a larger disk.")
    disk_unknown = Sentence(ja="空きを調べられませんでした。\n→ データベースのフォルダがあるディスクを確かめてください。", en="The free space could not be read.\n→ Check the disk that holds the database's folder.")
    backups_ok = Sentence(ja="最新は {name}（{days} 日前）です。", en="The newest is {name}, {days} days old.")
    backups_none = Sentence(ja="{folder} にはまだありません。\n→ cc-bot backup を、cron などで毎日動かしてください。", en="There are no backups in {folder}.\n→ Have cron run `cc-bot backup` every day.")
    backups_old = Sentence(ja="最新の {name} は {days} 日前のものです。\n→ cc-bot backup を、cron などで毎日動かしてください。", en="The newest, {name}, is {days} days old.\n→ Have cron run `cc-bot backup` every day.")
    backups_unreadable = Sentence(ja="{folder} を読めません。\n→ CC_BOT_BACKUP_FOLDER とフォルダの権限を確かめてください。", en="{folder} can't be read.\n→ Check CC_BOT_BACKUP_FOLDER and the folder's permissions.")
    erasures_ok = Sentence(ja="読み書きできます。", en="It can be read and written.")
    erasures_none = Sentence(ja="ありません。データベースと一緒に作られます。前にあったなら、バックアップのフォルダの erasures.jsonl から戻してください。", en="There is none; it is created with the database. If there was one, put erasures.jsonl from the backup folder in its place.")
    erasures_unusable = Sentence(
        ja="読み書きできません: {names}\n→ 権限を確かめ、中身が壊れていればバックアップのフォルダにある erasures.jsonl から戻してください。それまでは、消去かバックアップからの復元ができません。",
        en="Can't be read or can't be written: {names}\n→ Check the permissions. If the content is damaged, replace the file with erasures.jsonl from the backup folder. Until then erasing data or restoring a backup fails.",
    )
    files_ok = Sentence(ja="ほかの利用者からは読めません。", en="Other users of this machine can't read them.")
    files_open = Sentence(ja="ほかの利用者からも読めます: {names}\n→ chmod 600 {names}", en="Others on this machine can read: {names}\n→ chmod 600 {names}")
    policy_ok = Sentence(ja="ファイルを読めました。", en="The file can be read.")
    policy_none = Sentence(ja="ファイルはありません（既定の制限だけです）。", en="There is no file, so only the default limits apply.")
    file_fix = Sentence(ja="ファイルを直してください。動作中のボットは、直るまで前の内容を使います。", en="Fix the file. A running bot uses its last valid content.")
    server_answers = Sentence(ja="{where} の PostgreSQL {version} につながります（{size}）。", en="PostgreSQL {version} at {where} answers ({size}).")
    server_unreachable_fix = Sentence(ja="直してから、もう一度 cc-bot doctor を実行してください。", en="Fix that, then run cc-bot doctor again.")
    server_pending = Sentence(ja="データベースの更新が{count}件残っています。\n→ cc-bot migrate を実行するか、ボットを起動してください。", en="The schema is {count} updates behind.\n→ Run `cc-bot migrate`, or start the bot.")


class SetupTexts(Area):
    """The questions of `cc-bot` without a command."""

    token_wanted = Sentence(
        ja="cc-bot をはじめます。\n\n1/{steps}  Discord ボットのトークンを貼り付けてください（画面には出ません）。\n"
        "     https://discord.com/developers/applications の Bot で発行します。",
        en="Welcome to cc-bot.\n\n1/{steps}  Paste the token of your Discord bot (it is not shown).\n"
        "     You get one at https://discord.com/developers/applications under Bot.",
    )
    token_keys = Both(ja=(("Enter", "トークンなしで、このターミナルで試す"), ("Ctrl-C", "やめる")), en=(("Enter", "Try it without a token, in this terminal"), ("Ctrl-C", "Quit")))
    token = Sentence(ja="トークン: ", en="Token: ")
    checking = Sentence(ja="確かめています…", en="Checking…")
    invite = Sentence(ja="{steps}/{steps}  次のリンクで、ボットをサーバーに招待してください。\n{url}", en="{steps}/{steps}  Invite the bot to your server with this link:\n{url}")
    model_wanted = Sentence(
        ja="2/3  次に、答える AI モデルを決めます。\n     あとで決めるなら、Enter を2回押してください。それまでは内蔵の簡易モデルが答えます。",
        en="2/3  Now choose the AI model that answers.\n     To decide later, press Enter twice: until then the small built-in model answers.",
    )
    server = Sentence(ja="サーバーの URL（例: http://localhost:11434/v1。Enter だけなら OpenAI）: ", en="URL of its server (such as http://localhost:11434/v1; Enter for OpenAI): ")
    key = Sentence(ja="API キー（画面には出ません。要らなければ Enter）: ", en="API key (not shown; Enter for none): ")
    model = Sentence(ja="モデルの名前（Enter だけなら {default}）: ", en="Name of the model (Enter for {default}): ")
    add_to_file = Sentence(ja="{path} はもうあります。この設定を書き加えますか？ [y/N] ", en="{path} exists. Add these settings to it? [y/N] ")
    saved = Sentence(ja="設定を {path} に保存しました。変えるときは、このファイルを書き換えてください。", en="Saved to {path}. Edit that file to change a setting.")
    not_saved = Sentence(ja="{path} に書き込めないので、設定を保存せずに始めます。フォルダの書き込みの権限を確かめてください。", en="{path} can't be written, so cc-bot starts without saving. Check the folder's write permission.")
