"""The words of the owners' console in a browser. What `/admin` says already is taken from there (admin.py)."""

from cc_bot.texts.area import Area, Sentence, by_key


class ConsoleTexts(Area):
    parts = Sentence(ja="管理のページ", en="Parts of the console")
    """What the list of its pages is called for those who hear it."""
    status = Sentence(ja="状態", en="Status")
    limits = Sentence(ja="制限", en="Limits")
    access = Sentence(ja="利用のルール", en="Access")
    models = Sentence(ja="モデル", en="Models")
    log = Sentence(ja="記録", en="Log")
    doctor = Sentence(ja="点検", en="Doctor")
    refresh = Sentence(ja="最新にする", en="Refresh")

    version = Sentence(ja="バージョン", en="Version")
    version_value = Sentence(ja="cc-bot {version}（データベースのバージョン {schema}）", en="cc-bot {version} (database version {schema})")
    since = Sentence(ja="起動", en="Started")
    discord = Sentence(ja="Discord", en="Discord")
    connected = Sentence(ja="つながっています（応答 {milliseconds} ミリ秒）", en="connected ({milliseconds} ms)")
    connected_just_now = Sentence(ja="つながったところです", en="just connected")
    disconnected = Sentence(ja="つながっていません", en="not connected")
    database = Sentence(ja="データベース", en="Database")
    disk = Sentence(ja="ディスクの空き", en="Room on the disk")
    unknown = Sentence(ja="分かりません", en="unknown")
    processes = Sentence(ja="プロセス", en="Process")
    last_backup = Sentence(ja="最後のバックアップ", en="Last backup")
    no_backup = Sentence(ja="見つかりません。cc-bot backup で作れます。", en="none found; cc-bot backup makes one")
    today = Sentence(ja="今日", en="Today")

    turns = Sentence(ja="進行中の質問", en="Questions on their way")
    of_this_process = Sentence(ja="（このプロセス）", en="(in this process)")
    turns_count = Sentence(ja="{running}件に回答中、{waiting}件が順番待ちです。", en="{running} being answered, {waiting} in line.")
    no_turns = Sentence(ja="いまは何もありません。", en="Nothing at the moment.")
    turns_caption = Sentence(ja="番号は、記録の turn と同じものです。だれの何の質問かは、ここには出ません。", en="The number is that of `turn` in the log. Whose question it is, and what about, is not shown here.")
    turn_id = Sentence(ja="番号", en="Number")
    phase = Sentence(ja="段階", en="Phase")
    phases = by_key(
        {
            "queue": Sentence(ja="順番待ち", en="waiting in line"),
            "hearing": Sentence(ja="音声を聞いています", en="hearing"),
            "store": Sentence(ja="読み書き中", en="reading or storing"),
            "model_first_token": Sentence(ja="モデルが回答中", en="the model answers"),
            "model": Sentence(ja="モデルが回答中", en="the model answers"),
            "tools": Sentence(ja="ツールを使用中", en="tools are used"),
            "discord": Sentence(ja="Discord に表示中", en="shown on Discord"),
        }
    )
    seconds = Sentence(ja="経過（秒）", en="Seconds")

    maintenance = Sentence(ja="メンテナンス", en="Maintenance")
    maintenance_off = Sentence(ja="いまは、みんなに答えています。", en="Everybody is answered at the moment.")
    maintenance_on = Sentence(ja="メンテナンス中です。管理者だけに答えています。", en="Maintenance is on: owners alone are answered.")
    note = Sentence(ja="お知らせ（なくてもかまいません）", en="What everybody else is told (may be left empty)")
    begin = Sentence(ja="メンテナンスを始める", en="Begin maintenance")
    end = Sentence(ja="メンテナンスを終える", en="End maintenance")

    limits_caption = Sentence(ja="今の制限", en="Limits that hold")
    subject = Sentence(ja="対象", en="For")
    limit = Sentence(ja="制限", en="Limit")
    value = Sentence(ja="値", en="Value")
    source = Sentence(ja="設定元", en="Set in")
    sources = by_key({"here": Sentence(ja="管理者", en="here"), "file": Sentence(ja="設定ファイル", en="the policy file"), "default": Sentence(ja="既定", en="by default")})
    action = Sentence(ja="操作", en="Action")
    take_back = Sentence(ja="取り消す", en="Take back")
    take_back_of = Sentence(ja="取り消す: {what}", en="Take back: {what}")
    """For those who hear it."""
    set_limit = Sentence(ja="制限を決める", en="Set a limit")
    value_hint = Sentence(ja="1以上の整数です。空のままなら、制限なしになります。", en="A whole number from 1 on; leave it empty for no limit.")
    set = Sentence(ja="決める", en="Set")
    kind = Sentence(ja="区分", en="Kind")
    id = Sentence(ja="ID", en="ID")
    id_hint = Sentence(ja="Discord の「IDをコピー」で分かる数字です。", en="The number that Discord's “Copy ID” gives.")

    access_caption = Sentence(ja="許可と拒否", en="Allowed and denied")
    rule = Sentence(ja="ルール", en="Rule")
    rules = by_key({"allow": Sentence(ja="許可", en="allowed"), "deny": Sentence(ja="拒否", en="denied")})
    add_rule = Sentence(ja="許可・拒否する", en="Allow or deny")
    allow = Sentence(ja="許可する", en="Allow")
    deny = Sentence(ja="拒否する", en="Deny")

    models_caption = Sentence(ja="モデルを決めたチャンネル。決まったモデルがあるエージェントは、それを使い続けます。", en="Channels with models of their own. Agents that have models of their own keep those.")
    channel = Sentence(ja="チャンネル", en="Channel")
    channel_id = Sentence(ja="チャンネルのID", en="ID of the channel")
    chain = Sentence(ja="モデル（聞く順に）", en="Models (in the order they are asked)")
    set_models = Sentence(ja="モデルを決める", en="Set the models of a channel")
    models_hint = Sentence(ja="コンマで区切って、5つまで書けます。", en="Up to five, separated by commas.")

    level = Sentence(ja="レベル", en="Level")
    at_least = Sentence(ja="このレベル以上", en="This level and above")
    levels = by_key({"debug": Sentence(ja="すべて", en="everything"), "info": Sentence(ja="info", en="info"), "warning": Sentence(ja="warning", en="warning"), "error": Sentence(ja="error", en="error"), "critical": Sentence(ja="critical", en="critical")})
    filter = Sentence(ja="絞り込む", en="Filter")
    log_caption = Sentence(ja="新しい順に{count}件（最大{most}件）。人が書いた言葉は入っていません。", en="{count}, the newest first (of {most} at most). Nothing that anybody wrote is in them.")
    log_empty = Sentence(ja="このレベルの記録はありません。", en="There are no records of this level.")
    time = Sentence(ja="時刻", en="Time")
    event = Sentence(ja="出来事", en="Event")
    fields = Sentence(ja="内容", en="Details")
    of_library = Sentence(ja="ライブラリの記録（内容は残しません）", en="a library's record (its words are not kept)")

    doctor_what = Sentence(ja="cc-bot doctor と同じ点検を、動いているまま行います。30秒ほどかかることがあります。", en="The same checks as cc-bot doctor, while the bot goes on. They may take half a minute.")
    run_doctor = Sentence(ja="点検する", en="Run the doctor")
    doctor_at = Sentence(ja="{at} の結果", en="The report of {at}")
    check = Sentence(ja="項目", en="Check")
    verdict = Sentence(ja="結果", en="Verdict")
    detail = Sentence(ja="内容", en="Detail")
