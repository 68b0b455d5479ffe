"""Names and descriptions of `/admin`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AdminCommandTexts:
    admin: str
    admin_description: str
    admin_status: str
    admin_status_description: str
    admin_limits: str
    admin_limits_description: str
    admin_limits_show: str
    admin_limits_show_description: str
    admin_limits_set: str
    admin_limits_set_description: str
    admin_limits_unset: str
    admin_limits_unset_description: str
    admin_limit: str
    admin_limit_description: str
    admin_turns_per_minute_choice: str
    admin_memories_choice: str
    admin_memory_bytes_choice: str
    admin_imports_per_hour_choice: str
    admin_commands_per_minute_choice: str
    admin_tokens_per_day_choice: str
    admin_tokens_per_month_choice: str
    admin_concurrent_choice: str
    admin_value: str
    admin_value_description: str
    admin_for: str
    admin_for_description: str
    admin_access: str
    admin_access_description: str
    admin_access_list: str
    admin_access_list_description: str
    admin_access_allow: str
    admin_access_allow_description: str
    admin_access_deny: str
    admin_access_deny_description: str
    admin_access_remove: str
    admin_access_remove_description: str
    admin_subject: str
    admin_subject_description: str
    admin_kind: str
    admin_kind_description: str
    admin_user_choice: str
    admin_role_choice: str
    admin_channel_choice: str
    admin_guild_choice: str
    admin_model: str
    admin_model_description: str
    admin_model_set: str
    admin_model_set_description: str
    admin_model_unset: str
    admin_model_unset_description: str
    admin_model_list: str
    admin_model_list_description: str
    admin_models: str
    admin_models_description: str
    admin_channel: str
    admin_channel_description: str
    admin_maintenance: str
    admin_maintenance_description: str
    admin_maintenance_on: str
    admin_maintenance_on_description: str
    admin_maintenance_off: str
    admin_maintenance_off_description: str
    admin_note: str
    admin_note_description: str


EN = AdminCommandTexts(
    admin="admin",
    admin_description="Look after the bot (for its owners only)",
    admin_status="status",
    admin_status_description="How the bot is doing",
    admin_limits="limits",
    admin_limits_description="How much may be used",
    admin_limits_show="show",
    admin_limits_show_description="Show all limits that hold",
    admin_limits_set="set",
    admin_limits_set_description="Set a limit; it goes before what the policy file says",
    admin_limits_unset="unset",
    admin_limits_unset_description="Take back a limit that was set here",
    admin_limit="limit",
    admin_limit_description="Which limit",
    admin_turns_per_minute_choice="Questions a minute",
    admin_memories_choice="Memories",
    admin_memory_bytes_choice="Bytes of memories",
    admin_imports_per_hour_choice="Imports an hour",
    admin_commands_per_minute_choice="Commands and buttons a minute",
    admin_tokens_per_day_choice="Tokens a day",
    admin_tokens_per_month_choice="Tokens a month",
    admin_concurrent_choice="Questions at a time",
    admin_value="value",
    admin_value_description="How much (without it: no limit)",
    admin_for="for",
    admin_for_description="@user, @role, or an id with its kind (without it: everyone; kind “server” alone: this one)",
    admin_access="access",
    admin_access_description="Who may use the bot, and where",
    admin_access_list="list",
    admin_access_list_description="List all rules",
    admin_access_allow="allow",
    admin_access_allow_description="Allow; of each kind of which something is allowed, only that may",
    admin_access_deny="deny",
    admin_access_deny_description="Deny; that goes before anything allowed",
    admin_access_remove="remove",
    admin_access_remove_description="Remove a rule that was set here",
    admin_subject="subject",
    admin_subject_description="@user, @role, #channel, or an id with its kind (kind “server” alone: this one)",
    admin_kind="kind",
    admin_kind_description="What an id is of",
    admin_user_choice="User",
    admin_role_choice="Role",
    admin_channel_choice="Channel",
    admin_guild_choice="Server",
    admin_model="model",
    admin_model_description="Which AI model answers in which channel",
    admin_model_set="set",
    admin_model_set_description="Choose models for a channel (an agent's own models go before)",
    admin_model_unset="unset",
    admin_model_unset_description="Go back to the usual models in a channel",
    admin_model_list="list",
    admin_model_list_description="List the channels that have models of their own",
    admin_models="models",
    admin_models_description="Names, separated by commas; the first one is asked, the others are its fallbacks",
    admin_channel="channel",
    admin_channel_description="#channel or its id (without it: this one)",
    admin_maintenance="maintenance",
    admin_maintenance_description="Answer nobody but owners for a while",
    admin_maintenance_on="on",
    admin_maintenance_on_description="Begin; answers on their way are finished",
    admin_maintenance_off="off",
    admin_maintenance_off_description="End, and answer everybody again",
    admin_note="note",
    admin_note_description="What else to tell whoever asks meanwhile",
)

JA = AdminCommandTexts(
    admin="管理",
    admin_description="ボットの管理（ボットの管理者だけ）",
    admin_status="状態",
    admin_status_description="ボットの様子を見ます",
    admin_limits="制限",
    admin_limits_description="使える量を決めます",
    admin_limits_show="表示",
    admin_limits_show_description="今の制限をすべて見ます",
    admin_limits_set="設定",
    admin_limits_set_description="制限を決めます（設定ファイルより先に効きます）",
    admin_limits_unset="取消",
    admin_limits_unset_description="ここで決めた制限を取り消します",
    admin_limit="種類",
    admin_limit_description="どの制限か",
    admin_turns_per_minute_choice="1分あたりの質問",
    admin_memories_choice="メモリの件数",
    admin_memory_bytes_choice="メモリの文字の量（バイト）",
    admin_imports_per_hour_choice="1時間あたりの取り込み",
    admin_commands_per_minute_choice="1分あたりの操作",
    admin_tokens_per_day_choice="1日のトークン",
    admin_tokens_per_month_choice="1か月のトークン",
    admin_concurrent_choice="同時の質問",
    admin_value="値",
    admin_value_description="上限（省略すると制限なし）",
    admin_for="対象",
    admin_for_description="@人、@ロール、またはIDと区分（省略すると全員。区分「サーバー」だけならこのサーバー）",
    admin_access="利用",
    admin_access_description="だれがどこで使えるかを決めます",
    admin_access_list="一覧",
    admin_access_list_description="決まりをすべて見ます",
    admin_access_allow="許可",
    admin_access_allow_description="許可します（許可のある区分では、許可したものだけが使えます）",
    admin_access_deny="拒否",
    admin_access_deny_description="使えないようにします（許可より先に効きます）",
    admin_access_remove="削除",
    admin_access_remove_description="ここで決めたものを取り消します",
    admin_subject="相手",
    admin_subject_description="@人、@ロール、#チャンネル、またはIDと区分（区分「サーバー」だけならこのサーバー）",
    admin_kind="区分",
    admin_kind_description="IDが何のものか",
    admin_user_choice="人",
    admin_role_choice="ロール",
    admin_channel_choice="チャンネル",
    admin_guild_choice="サーバー",
    admin_model="モデル",
    admin_model_description="チャンネルごとに答えるAIモデルを決めます",
    admin_model_set="設定",
    admin_model_set_description="チャンネルのモデルを決めます（エージェントに決まったモデルがあれば、それが先です）",
    admin_model_unset="取消",
    admin_model_unset_description="チャンネルのモデルをいつものものに戻します",
    admin_model_list="一覧",
    admin_model_list_description="モデルを決めたチャンネルを一覧にします",
    admin_models="名前",
    admin_models_description="モデルの名前（コンマ区切り。先頭に聞き、答えられなければ次に聞きます）",
    admin_channel="チャンネル",
    admin_channel_description="#チャンネルかそのID（省略するとこのチャンネル）",
    admin_maintenance="メンテナンス",
    admin_maintenance_description="しばらくのあいだ、管理者だけに答えます",
    admin_maintenance_on="開始",
    admin_maintenance_on_description="始めます（答えている途中のものは最後まで答えます）",
    admin_maintenance_off="終了",
    admin_maintenance_off_description="終えて、またみんなに答えます",
    admin_note="ひとこと",
    admin_note_description="そのあいだに質問した人へ、ほかに伝えること",
)
