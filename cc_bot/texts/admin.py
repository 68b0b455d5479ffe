"""The answers of `/admin` to its owners."""

from collections.abc import Mapping

from cc_bot.domain.access import Subject
from cc_bot.texts.area import Area, Both, Sentence, by_key


class AdminTexts(Area):
    under_maintenance = Sentence(ja="🚧 メンテナンス中です。</admin maintenance off> で終わります。", en="🚧 Maintenance is on. </admin maintenance off> ends it.")
    limits_title = Sentence(ja="今の制限", en="Limits that hold")
    limit_line = Sentence(ja="- {subject}の{limit}: **{value}**{source}", en="- {subject}: {limit} **{value}**{source}")
    limit_set = Sentence(ja="決めました。{subject}の{limit}: **{value}**（次の質問から）", en="Set for {subject}: {limit} **{value}**, from the next question on.")
    limit_unset = Sentence(ja="取り消しました。設定ファイルにあれば、それが効きます。", en="Taken back. If the policy file has one, that holds.")
    limit_was_not_set = Sentence(ja="ここで決めた制限の中に、それはありません。</admin limits show> で確かめてください。", en="No such limit was set here. See </admin limits show>.")
    everyone = Sentence(ja="全員（1人あたり）", en="everyone (each user)")
    no_limit = Sentence(ja="制限なし", en="no limit")
    by_default = Sentence(ja="（既定）", en=" (default)")
    from_file = Sentence(ja="（設定ファイル）", en=" (policy file)")
    limits = by_key(
        {
            "turns_per_minute": Sentence(ja="1分あたりの質問", en="questions a minute"),
            "memories": Sentence(ja="メモリの件数", en="memories"),
            "memory_bytes": Sentence(ja="メモリの文字の量（バイト）", en="bytes of memories"),
            "imports_per_hour": Sentence(ja="1時間あたりの取り込み", en="imports an hour"),
            "commands_per_minute": Sentence(ja="1分あたりの操作", en="commands and buttons a minute"),
            "tokens_per_day": Sentence(ja="1日のトークン", en="tokens a day"),
            "tokens_per_month": Sentence(ja="1か月のトークン", en="tokens a month"),
            "concurrent": Sentence(ja="同時の質問", en="questions at a time"),
        }
    )
    kinds: Both[Mapping[Subject, str]] = by_key({"user": Sentence(ja="ユーザー", en="user"), "role": Sentence(ja="ロール", en="role"), "channel": Sentence(ja="チャンネル", en="channel"), "guild": Sentence(ja="サーバー", en="server")})
    access_title = Sentence(ja="利用のルール", en="Who may use the bot")
    access_open = Sentence(ja="だれでも、どこでも使えます。", en="Anybody may, everywhere.")
    access_owners = Sentence(ja="- 👑 管理者: {owners}", en="- 👑 Owners: {owners}")
    allowed = Sentence(ja="- ✅ 許可: {subjects}", en="- ✅ Allowed: {subjects}")
    denied = Sentence(ja="- ⛔ 拒否: {subjects}", en="- ⛔ Denied: {subjects}")
    only_those = Sentence(ja="許可のある区分（ユーザー・ロール・チャンネル・サーバー）では、そこにあるものだけが使えます。", en="Of each kind (users, roles, channels, servers) of which something is allowed, only that may.")
    access_allowed: Both[Mapping[Subject, str]] = by_key(
        {
            "user": Sentence(ja="✅ {subject}を、cc-bot を使える人に加えました。これからは、加えた人だけが使えます。", en="✅ {subject} is among the users who may use the bot. From now on, only those may."),
            "role": Sentence(ja="✅ {subject} を、cc-bot を使えるロールに加えました。これからは、加えたロールの人だけが使えます。", en="✅ {subject} is among the roles that may use the bot. From now on, only their members may."),
            "channel": Sentence(ja="✅ {subject} を、cc-bot を使えるチャンネルに加えました。これからは、加えたチャンネルだけで使えます。", en="✅ {subject} is among the channels where the bot may be used. From now on, only there."),
            "guild": Sentence(ja="✅ {subject} を、cc-bot を使えるサーバーに加えました。これからは、加えたサーバーだけで使えます。", en="✅ {subject} is among the servers where the bot may be used. From now on, only there."),
        }
    )
    access_denied: Both[Mapping[Subject, str]] = by_key(
        {
            "user": Sentence(ja="⛔ {subject}は、cc-bot を使えなくなりました。", en="⛔ {subject} may not use the bot any more."),
            "role": Sentence(ja="⛔ {subject} の人は、cc-bot を使えなくなりました。", en="⛔ Members with {subject} may not use the bot any more."),
            "channel": Sentence(ja="⛔ {subject} では、cc-bot を使えなくなりました。", en="⛔ The bot may not be used in {subject} any more."),
            "guild": Sentence(ja="⛔ {subject} では、cc-bot を使えなくなりました。", en="⛔ The bot may not be used in {subject} any more."),
        }
    )
    access_removed = Sentence(ja="{subject} のルールを取り消しました。", en="The rule for {subject} is gone.")
    access_had_no_rule = Sentence(ja="{subject} には、ここで決めたものがありません。</admin access list> で確かめてください。", en="{subject} has no rule that was set here. See </admin access list>.")
    access_also_in_file = Sentence(ja="設定ファイルにもルールがあり、そちらは効いたままです。", en="The policy file has a rule as well, and that still holds.")
    owners_stay = Sentence(ja="管理者は、ルールにかかわらずいつでも使えます。", en="Owners may always use the bot, whatever the rules say.")
    model_set = Sentence(ja="{channel} では、これから {models} に聞きます。決まったモデルがあるエージェントは、これまでどおりです。", en="In {channel} I now ask {models}. Agents that have models of their own keep those.")
    models_set = Sentence(ja="{channel} では、これから {models} の順に聞きます。決まったモデルがあるエージェントは、これまでどおりです。", en="In {channel} I now ask, in this order: {models}. Agents that have models of their own keep those.")
    models_unknown = Sentence(ja="⚠️ {models} というモデルは、サーバーにありません。名前を確かめてください。", en="⚠️ The server has no model named {models}. Please check the name.")
    """Below, of those that the server does not have."""
    models_unset = Sentence(ja="{channel} では、いつものモデルに戻しました。", en="The usual models answer in {channel} again.")
    models_were_not_set = Sentence(ja="{channel} には、決めたモデルがありません。", en="{channel} has no models of its own.")
    models_none = Sentence(ja="モデルを決めたチャンネルはありません。", en="No channel has models of its own.")
    model_line = Sentence(ja="- {channel}: {models}", en="- {channel}: {models}")
    maintenance_begun = Sentence(ja="🚧 メンテナンスを始めました。管理者だけに答えます。</admin maintenance off> で終わります。", en="🚧 Maintenance has begun: I answer owners alone. </admin maintenance off> ends it.")
    maintenance_ended = Sentence(ja="✅ メンテナンスを終えました。またみんなに答えます。", en="✅ Maintenance is over. I answer everybody again.")
    maintenance_was_off = Sentence(ja="メンテナンス中ではありません。", en="There is no maintenance.")
    file_name = Sentence(ja="一覧.txt", en="list.txt")
