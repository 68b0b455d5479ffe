"""What `cc-bot doctor` finds out, and how each of it is mended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DoctorTexts:
    doctor: str
    as_json: str
    offline_option: str
    label_program: str
    label_token: str
    label_intents: str
    label_commands: str
    label_clock: str
    label_timezone: str
    label_database: str
    label_migrations: str
    label_schema: str
    label_disk: str
    label_backups: str
    label_erasures: str
    label_files: str
    label_agents: str
    label_policy: str
    label_model: str
    label_embedder: str
    label_font: str
    verdict_ok: str
    verdict_warning: str
    verdict_failed: str
    all_well: str
    summary: str
    """Parameters: failed, warnings (counts)."""
    offline: str
    broke: str
    """Parameter: error (its type)."""
    broke_mend: str
    took_too_long: str
    """Parameter: seconds."""
    took_too_long_mend: str
    unfinished: str
    unfinished_mend: str
    program: str
    """Parameters: version, python, sqlite."""
    token_ok: str
    """Parameter: name (the bot's)."""
    token_missing: str
    token_missing_mend: str
    token_refused: str
    token_refused_mend: str
    discord_unreachable: str
    """Parameter: problem."""
    discord_unreachable_mend: str
    intents_ok: str
    """Parameter: reading."""
    intents_missing: str
    intents_missing_mend: str
    commands_ok: str
    """Parameter: count."""
    commands_missing: str
    """Parameter: names."""
    commands_missing_mend: str
    commands_strange: str
    """Parameter: names."""
    clock_ok: str
    """Parameter: seconds."""
    clock_off: str
    """Parameter: seconds."""
    clock_off_mend: str
    clock_unknown: str
    clock_set: str
    """Parameter: seconds."""
    clock_set_mend: str
    timezone_ok: str
    """Parameters: zone, time."""
    model_ok: str
    """Parameters: model, seconds."""
    model_offline: str
    model_refused_key: str
    """Parameter: model."""
    model_refused_key_mend: str
    model_refused_request: str
    """Parameter: model."""
    model_refused_request_mend: str
    model_unavailable: str
    """Parameter: model."""
    model_unavailable_mend: str
    embedder_ok: str
    """Parameter: name."""
    embedder_off: str
    embedder_none: str
    embedder_failed: str
    """Parameter: name."""
    embedder_failed_mend: str
    font_ok: str
    font_none: str
    font_failed: str
    font_failed_mend: str


JA = DoctorTexts(
    doctor="設定と環境を調べ、直し方を伝えます（動作中でも使えます）",
    as_json="結果を JSON で出します",
    offline_option="ネットワークを使う確認を省きます",
    label_program="プログラム",
    label_token="トークン",
    label_intents="インテント",
    label_commands="コマンド",
    label_clock="時計",
    label_timezone="タイムゾーン",
    label_database="データベース",
    label_migrations="データベースの形式",
    label_schema="表とトリガー",
    label_disk="ディスク",
    label_backups="バックアップ",
    label_erasures="消去の記録",
    label_files="ファイルの権限",
    label_agents="エージェント",
    label_policy="制限とアクセス",
    label_model="モデル",
    label_embedder="意味での検索",
    label_font="グラフの文字",
    verdict_ok="良好",
    verdict_warning="注意",
    verdict_failed="失敗",
    all_well="問題は見つかりませんでした。",
    summary="失敗が {failed} 件、注意が {warnings} 件あります。",
    offline="ネットワークを使う確認（Discord とモデル）は省きました。",
    broke="確認の途中で思わぬエラーが起きました（{error}）。",
    broke_mend="もう一度試しても同じなら、開発者にお知らせください。",
    took_too_long="{seconds} 秒待っても終わりませんでした。",
    took_too_long_mend="少し待ってから、もう一度試してください。",
    unfinished="--json の時間のうちには調べ終わりませんでした。",
    unfinished_mend="--json を付けない cc-bot doctor は、最後まで調べます。",
    program="cc-bot {version} を Python {python}、SQLite {sqlite} で動かしています。",
    token_ok="{name} としてログインできます。",
    token_missing="DISCORD_TOKEN がありません。cc-bot chat だけが使えます。",
    token_missing_mend="Discord で使うなら、Developer Portal の Bot で発行し、.env に書いてください。",
    token_refused="Discord が DISCORD_TOKEN を受け付けません。",
    token_refused_mend="Developer Portal の Bot でトークンを発行し直し、.env を書き換えてください。",
    discord_unreachable="Discord から返事がありません（{problem}）。",
    discord_unreachable_mend="ネットワークとプロキシ、status.discord.com を確かめてください。",
    intents_ok="CC_BOT_CHANNELS={reading} に必要なものは揃っています。",
    intents_missing="CC_BOT_CHANNELS=all ですが、Message Content Intent がオフなので、ボット宛てのものだけを読みます。",
    intents_missing_mend="Developer Portal の Bot でオンにして、起動し直してください。",
    commands_ok="{count} 個が Discord に登録されています。",
    commands_missing="Discord に未登録です: {names}",
    commands_missing_mend="cc-bot run を起動し直すと登録されます。",
    commands_strange="この cc-bot にないコマンドが登録されています: {names}",
    clock_ok="Discord の時計との差は {seconds} 秒です。",
    clock_off="Discord の時計と {seconds} 秒ずれています。",
    clock_off_mend="このマシンの時刻を合わせてください（NTP を有効にします）。リマインダーの時刻が狂います。",
    clock_unknown="Discord が時刻を返さなかったので、比べられませんでした。",
    clock_set="試験用の設定で、時計を {seconds} 秒進めています。",
    clock_set_mend="CC_BOT_TEST_CLOCK_OFFSET を消してください。",
    timezone_ok="{zone} は今 {time} です。",
    model_ok="{model} が答えました（{seconds} 秒）。",
    model_offline="内蔵のオフラインモデルが答えます。AI モデルを使うには OPENAI_API_KEY か OPENAI_BASE_URL を書いてください。",
    model_refused_key="{model} のサーバーが OPENAI_API_KEY を受け付けません。",
    model_refused_key_mend="キーと、その残高や権限を確かめてください。",
    model_refused_request="サーバーは {model} への質問を受け付けません。",
    model_refused_request_mend="CC_BOT_MODEL の名前を確かめてください。",
    model_unavailable="{model} から答えがありません。",
    model_unavailable_mend="OPENAI_BASE_URL とサーバーの状態を確かめてください。",
    embedder_ok="{name} が使えます。",
    embedder_off="使わない設定です（言葉で探します）。",
    embedder_none="エンコーダーは入っていません（言葉で探します）。入れるには make semantic。",
    embedder_failed="{name} が使えません。メモリは言葉だけで探します。",
    embedder_failed_mend="CC_BOT_EMBEDDING_MODEL とサーバーを確かめるか、make semantic で入れ直してください。",
    font_ok="日本語のグラフを画像にできます。",
    font_none="グラフは文字の表で出します。画像にするには make charts。",
    font_failed="グラフを画像にできません。",
    font_failed_mend="make charts で入れ直してください。それまでは文字の表で出します。",
)


EN = DoctorTexts(
    doctor="look for what is wrong and tell how to mend it, also while the bot runs",
    as_json="write the report as JSON",
    offline_option="leave out what needs the network",
    label_program="Program",
    label_token="Token",
    label_intents="Intents",
    label_commands="Commands",
    label_clock="Clock",
    label_timezone="Time zone",
    label_database="Database",
    label_migrations="Schema",
    label_schema="Tables and triggers",
    label_disk="Disk",
    label_backups="Backups",
    label_erasures="Record of erasures",
    label_files="File modes",
    label_agents="Agents",
    label_policy="Limits and access",
    label_model="Model",
    label_embedder="Search by meaning",
    label_font="Letters in charts",
    verdict_ok="ok",
    verdict_warning="warning",
    verdict_failed="failed",
    all_well="Nothing is wrong.",
    summary="Failed: {failed}. Warnings: {warnings}.",
    offline="Left out: what needs the network (Discord and the model).",
    broke="The check itself broke ({error}).",
    broke_mend="If it does so again, please report it.",
    took_too_long="It was not over after {seconds} seconds.",
    took_too_long_mend="Wait a little, then try again.",
    unfinished="It was not over in the time that --json takes.",
    unfinished_mend="Without --json, cc-bot doctor takes the time that it needs.",
    program="cc-bot {version}, Python {python}, SQLite {sqlite}",
    token_ok="It logs in as {name}.",
    token_missing="DISCORD_TOKEN is not set. Only `cc-bot chat` works.",
    token_missing_mend="For Discord, create one in the Developer Portal under Bot and write it into .env.",
    token_refused="Discord does not accept DISCORD_TOKEN.",
    token_refused_mend="Reset the token in the Developer Portal under Bot, and change .env.",
    discord_unreachable="Discord does not answer ({problem}).",
    discord_unreachable_mend="Check the network, the proxy and status.discord.com.",
    intents_ok="Everything that CC_BOT_CHANNELS={reading} needs is granted.",
    intents_missing="CC_BOT_CHANNELS=all, but the Message Content Intent is off: only what is addressed to the bot is read.",
    intents_missing_mend="Switch it on in the Developer Portal under Bot, then start again.",
    commands_ok="Discord has all {count}.",
    commands_missing="Discord does not have: {names}",
    commands_missing_mend="Start `cc-bot run` again: it registers them.",
    commands_strange="Discord has commands that this cc-bot does not know: {names}",
    clock_ok="It differs from Discord's by {seconds} s.",
    clock_off="It differs from Discord's by {seconds} s.",
    clock_off_mend="Set this machine's clock (switch NTP on). Reminders come at the wrong time.",
    clock_unknown="Discord did not tell the time, so there is nothing to compare with.",
    clock_set="A setting for tests puts the clock {seconds} s ahead.",
    clock_set_mend="Remove CC_BOT_TEST_CLOCK_OFFSET.",
    timezone_ok="In {zone} it is {time}.",
    model_ok="{model} answered in {seconds} s.",
    model_offline="The built-in offline model answers. For another one set OPENAI_API_KEY or OPENAI_BASE_URL.",
    model_refused_key="The server of {model} does not accept OPENAI_API_KEY.",
    model_refused_key_mend="Check the key, its credit and its rights.",
    model_refused_request="The server does not take questions to {model}.",
    model_refused_request_mend="Check the name in CC_BOT_MODEL.",
    model_unavailable="{model} gives no answer.",
    model_unavailable_mend="Check OPENAI_BASE_URL and the server.",
    embedder_ok="{name} works.",
    embedder_off="Switched off; memories are found by words.",
    embedder_none="No encoder is installed; memories are found by words. `make semantic` installs one.",
    embedder_failed="{name} does not work. Memories are found by words alone.",
    embedder_failed_mend="Check CC_BOT_EMBEDDING_MODEL and its server, or install it again with `make semantic`.",
    font_ok="Charts with Japanese can be drawn.",
    font_none="Charts come as text tables. `make charts` makes them pictures.",
    font_failed="Charts can't be drawn.",
    font_failed_mend="Install the extra again with `make charts`. Until then they come as text tables.",
)
