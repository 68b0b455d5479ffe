"""What `/admin` answers its owners."""

from collections.abc import Mapping
from dataclasses import dataclass

from cc_bot.domain.member import Subject


@dataclass(frozen=True, slots=True)
class AdminTexts:
    status: str
    """Parameters: version, schema."""
    since: str
    """Parameters: time."""
    connected: str
    """Parameters: milliseconds."""
    connected_just_now: str
    database: str
    """Parameters: size (such as `12.3 MB`)."""
    turns: str
    """Parameters: running, waiting."""
    today: str
    """Parameters: turns, tokens, cost (empty, or such as `, 1.20 USD`)."""
    cost: str
    """Parameters: cost (such as `1.20 USD`)."""
    last_backup: str
    """Parameters: time."""
    no_backup: str
    under_maintenance: str
    """Parameters: note."""
    limits_title: str
    limit_line: str
    """Parameters: subject, limit, value, source."""
    limit_set: str
    """Parameters: subject, limit, value."""
    limit_unset: str
    limit_was_not_set: str
    everyone: str
    no_limit: str
    by_default: str
    from_file: str
    turns_per_minute: str
    memories: str
    memory_bytes: str
    imports_per_hour: str
    commands_per_minute: str
    tokens_per_day: str
    tokens_per_month: str
    concurrent: str
    access_title: str
    access_open: str
    access_owners: str
    """Parameters: owners."""
    allowed: str
    """Parameters: subjects."""
    denied: str
    """Parameters: subjects."""
    only_those: str
    access_allowed: Mapping[Subject, str]
    access_denied: Mapping[Subject, str]
    """Each by what is allowed or denied. Parameters: subject."""
    access_removed: str
    """Parameters: subject."""
    access_had_no_rule: str
    """Parameters: subject."""
    access_also_in_file: str
    owners_stay: str
    guild: str
    """Parameters: id."""
    person: str
    """Where a sentence is about one. Parameters: mention."""
    model_set: str
    """Parameters: channel, models (one)."""
    models_set: str
    """Parameters: channel, models (in order)."""
    models_unknown: str
    """Below, of those that the server does not have. Parameters: models."""
    models_unset: str
    """Parameters: channel."""
    models_were_not_set: str
    """Parameters: channel."""
    models_none: str
    model_line: str
    """Parameters: channel, models."""
    maintenance_begun: str
    maintenance_ended: str
    maintenance_was_off: str
    file_name: str


JA = AdminTexts(
    status="**cc-bot {version}**（データベースの版 {schema}）",
    since="⏱️ 起動: {time}",
    connected="📡 Discord: つながっています（応答 {milliseconds} ミリ秒）",
    connected_just_now="📡 Discord: つながったところです",
    database="💾 データベース: {size}",
    turns="💬 質問: {running}件に回答中、{waiting}件が順番待ち",
    today="📊 今日: {tokens} トークン、質問 {turns}件{cost}",
    cost="、{cost}",
    last_backup="🗄️ 最後のバックアップ: {time}",
    no_backup="🗄️ バックアップが見つかりません。cc-bot backup で作れます。",
    under_maintenance="🚧 メンテナンス中です。</admin maintenance off> で終わります。{note}",
    limits_title="**今の制限**",
    limit_line="- {subject}の{limit}: **{value}**{source}",
    limit_set="決めました。{subject}の{limit}: **{value}**（次の質問から）",
    limit_unset="取り消しました。設定ファイルにあれば、それが効きます。",
    limit_was_not_set="ここで決めた制限の中に、それはありません。</admin limits show> で確かめてください。",
    everyone="全員",
    no_limit="制限なし",
    by_default="（既定）",
    from_file="（設定ファイル）",
    turns_per_minute="1分あたりの質問",
    memories="メモリの件数",
    memory_bytes="メモリの文字の量（バイト）",
    imports_per_hour="1時間あたりの取り込み",
    commands_per_minute="1分あたりの操作",
    tokens_per_day="1日のトークン",
    tokens_per_month="1か月のトークン",
    concurrent="同時の質問",
    access_title="**利用の決まり**",
    access_open="だれでも、どこでも使えます。",
    access_owners="- 👑 管理者: {owners}",
    allowed="- ✅ 許可: {subjects}",
    denied="- ⛔ 拒否: {subjects}",
    only_those="許可のある区分（人・ロール・チャンネル・サーバー）では、そこにあるものだけが使えます。",
    access_allowed={
        "user": "✅ {subject}を、cc-bot を使える人に加えました。これからは、加えた人だけが使えます。",
        "role": "✅ {subject} を、cc-bot を使えるロールに加えました。これからは、加えたロールの人だけが使えます。",
        "channel": "✅ {subject} を、cc-bot を使えるチャンネルに加えました。これからは、加えたチャンネルだけで使えます。",
        "guild": "✅ {subject} を、cc-bot を使えるサーバーに加えました。これからは、加えたサーバーだけで使えます。",
    },
    access_denied={
        "user": "⛔ {subject}は、cc-bot を使えなくなりました。",
        "role": "⛔ {subject} の人は、cc-bot を使えなくなりました。",
        "channel": "⛔ {subject} では、cc-bot を使えなくなりました。",
        "guild": "⛔ {subject} では、cc-bot を使えなくなりました。",
    },
    access_removed="{subject} の決まりを取り消しました。",
    access_had_no_rule="{subject} には、ここで決めたものがありません。</admin access list> で確かめてください。",
    access_also_in_file="設定ファイルにも決まりがあり、そちらは効いたままです。",
    owners_stay="管理者は、決まりにかかわらずいつでも使えます。",
    guild="サーバー {id}",
    person="{mention} さん",
    model_set="{channel} では、これから {models} に聞きます。決まったモデルがあるエージェントは、これまでどおりです。",
    models_set="{channel} では、これから {models} の順に聞きます。決まったモデルがあるエージェントは、これまでどおりです。",
    models_unknown="⚠️ {models} というモデルは、サーバーにありません。名前を確かめてください。",
    models_unset="{channel} では、いつものモデルに戻しました。",
    models_were_not_set="{channel} には、決めたモデルがありません。",
    models_none="モデルを決めたチャンネルはありません。",
    model_line="- {channel}: {models}",
    maintenance_begun="🚧 メンテナンスを始めました。管理者だけに答えます。</admin maintenance off> で終わります。",
    maintenance_ended="✅ メンテナンスを終えました。またみんなに答えます。",
    maintenance_was_off="メンテナンス中ではありません。",
    file_name="一覧.txt",
)

EN = AdminTexts(
    status="**cc-bot {version}** (database version {schema})",
    since="⏱️ Started: {time}",
    connected="📡 Discord: connected ({milliseconds} ms)",
    connected_just_now="📡 Discord: just connected",
    database="💾 Database: {size}",
    turns="💬 Questions: {running} being answered, {waiting} waiting in line",
    today="📊 Today: {tokens} tokens, questions: {turns}{cost}",
    cost=", {cost}",
    last_backup="🗄️ Last backup: {time}",
    no_backup="🗄️ I found no backup. cc-bot backup makes one.",
    under_maintenance="🚧 Maintenance is on. </admin maintenance off> ends it.{note}",
    limits_title="**Limits that hold**",
    limit_line="- {subject}: {limit} **{value}**{source}",
    limit_set="Set for {subject}: {limit} **{value}**, from the next question on.",
    limit_unset="Taken back. If the policy file has one, that holds.",
    limit_was_not_set="No such limit was set here. See </admin limits show>.",
    everyone="everyone",
    no_limit="no limit",
    by_default=" (default)",
    from_file=" (policy file)",
    turns_per_minute="questions a minute",
    memories="memories",
    memory_bytes="bytes of memories",
    imports_per_hour="imports an hour",
    commands_per_minute="commands and buttons a minute",
    tokens_per_day="tokens a day",
    tokens_per_month="tokens a month",
    concurrent="questions at a time",
    access_title="**Who may use the bot**",
    access_open="Anybody may, everywhere.",
    access_owners="- 👑 Owners: {owners}",
    allowed="- ✅ Allowed: {subjects}",
    denied="- ⛔ Denied: {subjects}",
    only_those="Of each kind (users, roles, channels, servers) of which something is allowed, only that may.",
    access_allowed={
        "user": "✅ {subject} is among the users who may use the bot. From now on, only those may.",
        "role": "✅ {subject} is among the roles that may use the bot. From now on, only their members may.",
        "channel": "✅ {subject} is among the channels where the bot may be used. From now on, only there.",
        "guild": "✅ {subject} is among the servers where the bot may be used. From now on, only there.",
    },
    access_denied={
        "user": "⛔ {subject} may not use the bot any more.",
        "role": "⛔ Members with {subject} may not use the bot any more.",
        "channel": "⛔ The bot may not be used in {subject} any more.",
        "guild": "⛔ The bot may not be used in {subject} any more.",
    },
    access_removed="The rule for {subject} is gone.",
    access_had_no_rule="{subject} has no rule that was set here. See </admin access list>.",
    access_also_in_file="The policy file has a rule as well, and that still holds.",
    owners_stay="Owners may always use the bot, whatever the rules say.",
    guild="server {id}",
    person="{mention}",
    model_set="In {channel} I now ask {models}. Agents that have models of their own keep those.",
    models_set="In {channel} I now ask, in this order: {models}. Agents that have models of their own keep those.",
    models_unknown="⚠️ The server has no model named {models}. Please check the name.",
    models_unset="The usual models answer in {channel} again.",
    models_were_not_set="{channel} has no models of its own.",
    models_none="No channel has models of its own.",
    model_line="- {channel}: {models}",
    maintenance_begun="🚧 Maintenance has begun: I answer owners alone. </admin maintenance off> ends it.",
    maintenance_ended="✅ Maintenance is over. I answer everybody again.",
    maintenance_was_off="There is no maintenance.",
    file_name="list.txt",
)
