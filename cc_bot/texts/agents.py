from cc_bot.domain.usage import MAX_LIMIT, MAX_PRICE
from cc_bot.texts.area import Area, Sentence


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


class AgentsFileTexts(Area):
    """Mistakes in agents.toml. What is to be written is quoted as in the file."""

    other_table = Sentence(ja="{key} は知らないキーです。エージェントは [agents.名前] の表に書いてください。", en="{key} is not a known key. Agents are written as tables named [agents.name].")
    too_many = Sentence(ja="エージェントは {limit} 個までです。", en="There may be up to {limit} agents.")
    bad_name = Sentence(ja="[agents.{name}]: 名前には半角の英小文字・数字・- と _ を使い、32文字までにしてください。", en="[agents.{name}]: a name is made of lower-case letters, digits, - and _, with up to 32 characters.")
    default_places = Sentence(ja="[agents.default] に {key} は書けません。default は、ほかに答えるエージェントがいないところすべてで答えます。", en="[agents.default] can't have {key}: it answers wherever no other agent does.")
    display_name = Sentence(ja='display_name = "先生" または {{ ja = "先生", en = "Teacher" }}（{limit}文字まで）', en='display_name = "Teacher" or {{ ja = "…", en = "Teacher" }} (up to {limit} characters)')
    description = Sentence(ja='description = "…" または {{ ja = "…", en = "…" }}（{limit}文字まで）', en='description = "…" or {{ ja = "…", en = "…" }} (up to {limit} characters)')
    prompt = Sentence(ja='prompt = """…"""（{limit}文字までの文字列）', en='prompt = """…""" (text of up to {limit} characters)')
    model = Sentence(ja='model = "gpt-5.4-mini"（カンマで区切ると、先頭が使えないときに次を試します）', en='model = "gpt-5.4-mini" (a comma list is a fallback chain)')
    reasoning = Sentence(ja='reasoning = "low"（none、minimal、low、medium、high のどれか）', en='reasoning = "low" (one of none, minimal, low, medium and high)')
    temperature = Sentence(ja="temperature = 0.7（0 から 2 までの数）", en="temperature = 0.7 (a number from 0 to 2)")
    tools = Sentence(ja='tools = ["recall"]（使えるツールの名前のリスト。空なら何も使いません）。ツール: {tools}', en='tools = ["recall"] (a list of the tools it may use; none if empty). The tools: {tools}')
    guilds = Sentence(ja="guilds = [123456789012345678]（サーバーIDのリスト）", en="guilds = [123456789012345678] (a list of server ids)")
    channels = Sentence(ja="channels = [123456789012345678]（チャンネルIDのリスト）", en="channels = [123456789012345678] (a list of channel ids)")
    dms = Sentence(ja="dms = true または dms = false", en="dms = true or dms = false")


class OperatorFileTexts(Area):
    """Mistakes in any file of the operator's."""

    missing = Sentence(ja="{variable} で指定されたファイルがありません。作成するか、指定を直してください。", en="The file that {variable} names does not exist. Create it or correct the setting.")
    unreadable = Sentence(ja="ファイルを開けません。読み取りの権限を確かめてください。", en="It can't be opened. Check the permission to read it.")
    no_file = Sentence(ja="ふつうのファイルではありません（フォルダやパイプなどです）。ファイルを置いてください。", en="It is no ordinary file but a folder, a pipe or the like. Put a file there.")
    too_large = Sentence(ja="ファイルが大きすぎます（{limit} KB まで）。", en="It is too large (up to {limit} KB).")
    not_utf8 = Sentence(ja="文字コードを UTF-8 にして保存し直してください。", en="Save it in UTF-8.")
    not_toml = Sentence(ja="TOML として読めないところがあります: {problem}", en="It is not valid TOML: {problem}")
    not_a_table = Sentence(ja="{name} は表にしてください（[{name}] の下に書きます）。", en="{name} has to be a table (its keys stand under [{name}]).")
    unknown_key = Sentence(ja="[{name}] の {key} は知らないキーです。使えるキー: {keys}", en="[{name}] has a key that is not known: {key}. The keys are: {keys}")
    wrong = Sentence(ja="[{name}] の {key} を直してください。正しい書き方: {expected}", en="[{name}] {key} is not as it should be. Write it like this: {expected}")


class ModelsFileTexts(Area):
    """Mistakes in models.toml."""

    no_providers = Sentence(ja="書けるのは [providers.名前] の表だけです。", en="It holds tables [providers.name] alone.")
    no_server = Sentence(
        ja="サーバーが1つも書かれておらず、OPENAI_API_KEY も OPENAI_BASE_URL もないので、CC_BOT_MODEL に聞けません。どれかを設定するか、CC_BOT_MODEL を消してください（内蔵の簡易モデルが答えます）。",
        en="It names no server, and neither OPENAI_API_KEY nor OPENAI_BASE_URL is set, so CC_BOT_MODEL can't be asked. Set one of them, or remove CC_BOT_MODEL (then the small built-in model answers).",
    )
    bad_name = Sentence(ja="[providers.{name}] の名前は、半角の英小文字・数字・-・_ で32文字までです。", en="The name of [providers.{name}] may have lower-case letters, digits, - and _, 32 at most.")
    wrong = Sentence(ja='[providers.{name}] には base_url = "http://…/v1" と、必要なら api_key = "${{変数}}" だけを書いてください。', en='[providers.{name}] needs base_url = "http://…/v1" and may have api_key = "${{VARIABLE}}", nothing else.')
    unset = Sentence(ja="[providers.{name}] の ${{{variable}}} が設定されていません。.env に書いてください。", en="${{{variable}}} of [providers.{name}] is not set. Put it in .env.")


class PolicyFileTexts(Area):
    """Mistakes in policy.toml. What is to be written is quoted as in the file."""

    other_table = Sentence(ja="{key} は知らないキーです。使えるのは [limits]、[prices]、[access] の表です。", en="{key} is not a known key. There are the tables [limits], [prices] and [access].")
    bad_id = Sentence(ja='[{name}]: Discord の ID を数字で書いてください（例: [limits.users."123456789012345678"]）。', en='[{name}]: write an id of Discord in digits, as in [limits.users."123456789012345678"].')
    limit = Sentence(ja=f'1 から {MAX_LIMIT} までの整数、または "unlimited"（制限なし）', en=f'a whole number from 1 to {MAX_LIMIT}, or "unlimited"')
    price = Sentence(
        ja=f"100万トークンあたりの値段（0 から {MAX_PRICE} までの数）。input と output は必ず書きます。音声のモデルは per_minute（1分あたり）だけでかまいません",
        en=f"the price of a million tokens (a number from 0 to {MAX_PRICE}); input and output have to be there, but for a model of speech, where per_minute (of a minute) is enough",
    )
    currency = Sentence(ja='currency = "JPY"（3文字の通貨コード）', en='currency = "USD" (a currency code of three letters)')
    ids = Sentence(ja="[123456789012345678]（ID のリスト）", en="[123456789012345678] (a list of ids)")
