"""`/clear`, `/help`, `/settings`, `/agent` and `/usage`."""

from collections.abc import Callable
from datetime import datetime

from cc_bot.domain.usage import MAX_MODELS_NAMED, MICROS, Total, UsageReport
from cc_bot.texts.area import Area, Sentence
from cc_bot.texts.commands import CommandTexts


class SessionTexts(Area):
    cleared = Sentence(ja="🧹 会話をまっさらにし、キャンバスも空にしました。メモリは残っています。", en="🧹 Started afresh, and your canvas is empty too. Your memories are still there.")
    reset = Sentence(
        ja="🧹 ここまでの会話を区切りました。ここにこれより前に書かれたことは、もう読みません。</ask> での会話は人ごとに別です。それぞれ </clear> で区切れます。", en="🧹 A fresh start: I no longer read what was written here before. What you each have going with </ask> is your own; </clear> starts that afresh."
    )
    reset_refused = Sentence(ja="区切れるのは、「メッセージの管理」の権限がある人と、このスレッドを作った人だけです。", en="Only members who may manage messages, and whoever started this thread, can do that.")
    reset_unsure = Sentence(ja="あなたがこのスレッドを作ったかどうか、Discord に確かめられませんでした。少し待って、もう一度お試しください。", en="Discord did not tell me whether you started this thread. Please try again in a moment.")
    settings_title = Sentence(ja="あなたの設定", en="Your settings")
    settings_language = Sentence(ja="言語", en="Language")
    settings_timezone = Sentence(ja="タイムゾーン", en="Time zone")
    settings_default = Sentence(ja="{value}（既定）", en="{value} (default)")
    settings_saved = Sentence(ja="⚙️ 設定を保存しました。", en="⚙️ Saved.")
    settings_voice = Sentence(ja="読み上げ", en="Read aloud")
    voice_on = Sentence(ja="オン", en="on")
    voice_off = Sentence(ja="オフ", en="off")
    voice_unset = Sentence(ja="🔈 このボットには読み上げる声がないので、回答は文字だけになります。", en="🔈 This bot has no voice to read answers aloud: they come in writing alone.")
    language_ja = Sentence(ja="日本語", en="Japanese")
    language_en = Sentence(ja="英語 (English)", en="English")
    help = Sentence(
        ja=(
            "**できること**\n"
            "- `</ask>` 質問に答えます。このチャンネルでの前の会話も踏まえます。画像・テキスト・文書（PDFなど）・音声も5つまで添付できます。"
            "`自分だけ` は回答を自分だけに表示し、`保存しない` は何も保存しません。\n"
            "{mention}"
            "- `</memory add>` 覚えてほしいことを保存します。「〜を覚えておいて」と話しかけても大丈夫です。\n"
            "- `</memory list>`・`</memory search>` メモリを見る、探す。選ぶと、なぜ知っているのかも分かります。\n"
            "- `</memory show>`・`</memory edit>`・`</memory pin>`・`</memory delete>` 1件をくわしく見る、書き直す、目印を付ける、消す。消しても10分以内なら元に戻せます。\n"
            "- `</memory export>`・`</memory import>`・`</memory pause>`・`</memory resume>`・`</memory stats>`・`</memory delete-all>` メモリをまとめて扱います。\n"
            "- `</clear>` このチャンネルでのあなたとの会話をまっさらにします（メモリは残ります）。\n"
            "- `</summary>` このチャンネルでの会話の要約を見ます。消すこともできます。\n"
            "- `</reset>` みんなとの会話をここで区切り、これより前に書かれたことをもう読みません。「メッセージの管理」の権限がある人と、スレッドを作った人が使えます。\n"
            "- `</remind add>`・`</remind list>`・`</remind delete>`・`</remind resume>` 決めた時刻にお知らせします。「明日9時に知らせて」と話しかけても大丈夫です。\n"
            "- `</heartbeat on>`・`</heartbeat off>`・`</heartbeat status>` お知らせしたほうがよいことがあるとき、こちらから声をかけます（ふだんはオフです）。\n"
            "- `</canvas show>`・`</canvas clear>` 出してあるカードや文章、グラフを見る、片付ける。\n"
            "- `</web>` キャンバスやメモリ、会話、使った量を、ブラウザの自分のページで見ます。\n"
            "- `</agent list>`・`</agent use>`・`</agent default>` 答える相手を選びます。`</agent default>` はサーバーを管理する人が使えます。\n"
            "- `</settings>` 自分の言語とタイムゾーン、回答の読み上げを決めます。\n"
            "- `</usage>` 使ったトークンと、残りを見ます。\n"
            "- `</privacy show>`・`</privacy export>`・`</privacy erase>` あなたについて保存しているものを見る、受け取る、すべて消す。\n"
            "- メッセージを長押し（右クリック）→ アプリ →"
            f"「{CommandTexts.ask_about_this.ja}」「{CommandTexts.translate_this.ja}」「{CommandTexts.summarise_from_here.ja}」「{CommandTexts.remember_this.ja}」"
            "も使えます。\n"
            "{admin}"
            "\n"
            "**保存されるもの**\n"
            "会話とメモリは、このボットを動かしている人のサーバーに保存されます。ほかの利用者には、あなたのメモリは見えません。"
            "{stored}"
        ),
        en=(
            "**What I can do**\n"
            "- `</ask>` answers a question, with what was said before in this channel. Attach up to five images, text files, documents or recordings if you like. "
            "`private` shows the answer to you alone, `temporary` stores nothing.\n"
            "{mention}"
            "- `</memory add>` keeps something for you. Saying “remember that …” works too.\n"
            "- `</memory list>`, `</memory search>` show and find memories. Choose one to see why I know it.\n"
            "- `</memory show>`, `</memory edit>`, `</memory pin>`, `</memory delete>` are for one of them. A deletion can be undone for ten minutes.\n"
            "- `</memory export>`, `</memory import>`, `</memory pause>`, `</memory resume>`, `</memory stats>`, `</memory delete-all>` are for all of them.\n"
            "- `</clear>` starts your conversation in this channel afresh (memories stay).\n"
            "- `</summary>` shows what I wrote down of our conversation in this channel, and deletes it if you like.\n"
            "- `</reset>` starts everybody's afresh: nothing that was written here before is read again. For members who "
            "may manage messages, and for whoever started the thread.\n"
            "- `</remind add>`, `</remind list>`, `</remind delete>`, `</remind resume>`: be told at a time you choose. “Remind me tomorrow at 9 …” works too.\n"
            "- `</heartbeat on>`, `</heartbeat off>`, `</heartbeat status>`: I speak to you when something is worth telling (off unless you want it).\n"
            "- `</canvas show>`, `</canvas clear>`: the cards, texts and charts that are up.\n"
            "- `</web>`: your own pages in a browser, with canvas, memories, conversations and usage.\n"
            "- `</agent list>`, `</agent use>`, `</agent default>`: who answers. `</agent default>` is for those who manage the server.\n"
            "- `</settings>` sets your own language and time zone, and has answers read aloud.\n"
            "- `</usage>` shows the tokens you used, and what is left.\n"
            "- `</privacy show>`, `</privacy export>`, `</privacy erase>`: what is stored about you.\n"
            "- Long-press (right-click) a message → Apps → "
            f"{CommandTexts.ask_about_this.en}, {CommandTexts.translate_this.en}, {CommandTexts.summarise_from_here.en}, {CommandTexts.remember_this.en}.\n"
            "{admin}"
            "\n"
            "**What is stored**\n"
            "Conversations and memories are kept on the server of whoever runs this bot. No other user sees your memories."
            "{stored}"
        ),
    )
    help_mention = Sentence(ja="- チャンネルやスレッドで私にメンションするか、私のメッセージに返信すると、その場の会話を踏まえて答えます。DM では、普通に話しかけてください。\n", en="- Mention me in a channel or thread, or reply to me, and I answer with what was said there. In a DM, just write.\n")
    help_admin = Sentence(
        ja="- `</admin status>`・`</admin limits show>`・`</admin access list>`・`</admin model list>`・`</admin maintenance on>` 私の管理です（管理者のあなただけに表示しています）。\n",
        en="- `</admin status>`, `</admin limits show>`, `</admin access list>`, `</admin model list>`, `</admin maintenance on>` look after me (shown to owners alone).\n",
    )
    help_stored_mentions = Sentence(
        ja="\nチャンネルのメッセージで保存されるのは、私へのメンションと返信だけです。Discord で消せば、保存されたものも、それへの私の回答も消えます。", en=("\nOf messages in channels, those that mention me or reply to me are stored. What you delete on Discord is deleted there too, with my answer to it.")
    )
    help_stored_all = Sentence(
        ja=("\n私が見られるチャンネルでは、みなさんのメッセージがすべて保存され、答えるときに使われます。Discord で消せば、保存されたものも、それへの私の回答も消えます。"),
        en=("\nIn channels that I can see, everybody's messages are stored and used for my answers. What you delete on Discord is deleted there too, with my answer to it."),
    )


class AgentTexts(Area):
    the_default = Sentence(ja="標準", en="Standard")
    title = Sentence(ja="ここで使えるエージェント", en="Agents that you can use here")
    in_use = Sentence(ja=" — 使用中", en=" — in use")
    channel_default = Sentence(ja=" — このチャンネルの既定", en=" — this channel's default")
    gone = Sentence(ja="選んだエージェントはいまここでは使えないので、「{display}」が答えます。", en="The agent that you chose can't be used here at present: {display} answers instead.")
    only_one = Sentence(ja="ここで使えるエージェントは「{display}」だけです。", en="The only agent here is {display}.")
    more = Sentence(ja="ほかに{count}個あります。</agent use> で名前の一部を入力すると見つかります。", en="There are {count} more. Type a part of the name into </agent use> to find them.")
    usage = Sentence(ja="</agent use> で切り替えます。会話・要約・キャンバスはエージェントごとに別で、メモリは共通です。", en="</agent use> switches. Each agent has its own conversation, summary and canvas; memories are shared.")
    using = Sentence(ja="🎭 この場所では、これから「{display}」がお答えします。会話・要約・キャンバスはエージェントごとに別で、メモリは共通です。", en="🎭 From now on {display} answers you here. Each agent has its own conversation, summary and canvas; memories are shared.")
    using_already = Sentence(ja="この場所では、もう「{display}」がお答えしています。", en="{display} answers you here already.")
    default_set = Sentence(ja="🎭 このチャンネルの既定のエージェントを「{display}」にしました。自分で選んだ人には、選んだエージェントが答えます。", en="🎭 The default agent of this channel is {display} now. Whoever chose one for themselves keeps it.")
    default_refused = Sentence(ja="チャンネルの既定を決められるのは、「サーバー管理」の権限がある人だけです。自分の分は </agent use> で選べます。", en="Only members who may manage the server can set a channel's default. Choose your own with </agent use>.")
    default_nowhere = Sentence(ja="既定を決められるのは、サーバーのチャンネルだけです。ここでは </agent use> で選んでください。", en="Only a server's channels have a default. Choose your own here with </agent use>.")


class UsageTexts(Area):
    title = Sentence(ja="使用量", en="What you used")
    server_title = Sentence(ja="このサーバーの使用量", en="What this server used")
    nothing = Sentence(ja="まだ何も使っていません。", en="Nothing has been used yet.")
    today = Sentence(ja="今日: {total}", en="Today: {total}")
    month = Sentence(ja="今月: {total}", en="This month: {total}")
    total = Sentence(ja="{tokens} トークン・質問 {turns}件", en="{tokens} tokens, questions: {turns}")
    total_cost = Sentence(ja="{tokens} トークン・質問 {turns}件・{cost}", en="{tokens} tokens, questions: {turns}, {cost}")
    sound = Sentence(ja="{total}・音声 {time}", en="{total}, sound: {time}")
    minutes = Sentence(ja="{minutes}分{seconds}秒", en="{minutes} min {seconds} s")
    left_today = Sentence(ja="今日の残り: {left} / {limit} トークン（{resets} に戻ります）", en="Left today: {left} of {limit} tokens (resets: {resets})")
    left_this_month = Sentence(ja="今月の残り: {left} / {limit} トークン（{resets} に戻ります）", en="Left this month: {left} of {limit} tokens (resets: {resets})")
    users = Sentence(ja="今月使った人: {count}人", en="Members who used it this month: {count}")
    models = Sentence(ja="今月よく使ったモデル", en="The models that used most this month")
    model = Sentence(ja="{model}: {tokens} トークン", en="{model}: {tokens} tokens")
    model_cost = Sentence(ja="{model}: {tokens} トークン・{cost}", en="{model}: {tokens} tokens, {cost}")
    offline = Sentence(ja="オフラインモデル", en="the offline model")
    unpriced = Sentence(ja="値段が決まっていないため、金額に入っていないモデル: {models}", en="Not in the cost, since they have no price: {models}")
    chart = Sentence(ja="日ごとのトークン", en="Tokens by day")
    at = Sentence(ja="{time}", en="at {time}")
    managers_only = Sentence(ja="サーバー全体の使用量を見られるのは、サーバーを管理できる人だけです。", en="Only those who manage the server can see what all of it used.")
    servers_only = Sentence(ja="サーバー全体の使用量は、サーバーの中で見てください。", en="Please ask for what a server used in that server.")

    def lines(self, report: UsageReport, moment: Callable[[datetime], str], name: Callable[[str], str] = str) -> list[str]:
        """Return usage and what is left. `moment` formats times, `name` model names."""
        lines = [self.today.format(total=self._total(report.today, report.currency)), self.month.format(total=self._total(report.month, report.currency))]
        for left in report.left:
            template = self.left_today if left.name == "tokens_per_day" else self.left_this_month
            resets = moment(left.resets_at)
            lines.append(template.format(left=f"{left.left:,}", limit=f"{left.limit:,}", resets=resets))
        if report.users is not None:
            lines.append(self.users.format(count=report.users))
        if report.unpriced:
            lines.append(self.unpriced.format(models=", ".join(map(name, report.unpriced))))
        return lines

    def model_lines(self, report: UsageReport, name: Callable[[str], str] = str) -> list[str]:
        return [(self.model_cost if report.currency else self.model).format(model=name(model) or self.offline, tokens=f"{total.tokens:,}", cost=money(total.cost_micros, report.currency)) + (f" ({self.time(total.seconds)})" if total.seconds else "") for model, total in report.models[:MAX_MODELS_NAMED]]

    def _total(self, total: Total, currency: str) -> str:
        template = self.total_cost if currency else self.total
        cost = money(total.cost_micros, currency)
        line = template.format(tokens=f"{total.tokens:,}", turns=f"{total.turns:,}", cost=cost)
        return self.sound.format(total=line, time=self.time(total.seconds)) if total.seconds else line

    def time(self, seconds: int) -> str:
        return self.minutes.format(minutes=seconds // 60, seconds=seconds % 60)


def money(micros: int, currency: str) -> str:
    """`0.0123 USD`"""
    amount = micros / MICROS
    return f"{amount:,.2f} {currency}" if amount >= 1 or not micros else f"{amount:,.4f} {currency}"
