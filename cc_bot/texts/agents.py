"""Agents, as those who choose among them read of them."""

from dataclasses import dataclass

from cc_bot.domain.member import LARGEST


@dataclass(frozen=True, slots=True)
class AgentTexts:
    the_default: str
    """What the default agent is called where the operator gave it no name."""
    title: str
    in_use: str
    channel_default: str
    gone: str
    """Below the list. Parameter: display (who answers instead)."""
    only_one: str
    more: str
    """Parameter: count."""
    usage: str
    using: str
    """Parameter: display."""
    using_already: str
    """Parameter: display."""
    default_set: str
    """Everyone in the channel reads it. Parameter: display."""
    default_refused: str
    default_nowhere: str
    """In a DM."""


AGENTS_JA = AgentTexts(
    the_default="標準",
    title="ここで使えるエージェント",
    in_use=" — 使用中",
    channel_default=" — このチャンネルの既定",
    gone="選んだエージェントはいまここでは使えないので、「{display}」が答えます。",
    only_one="ここで使えるエージェントは「{display}」だけです。",
    more="ほかに{count}個あります。</agent use> で名前の一部を入力すると見つかります。",
    usage="</agent use> で切り替えます。会話・要約・キャンバスはエージェントごとに別で、メモリは共通です。",
    using="🎭 この場所では、これから「{display}」がお答えします。会話・要約・キャンバスはエージェントごとに別で、メモリは共通です。",
    using_already="この場所では、もう「{display}」がお答えしています。",
    default_set="🎭 このチャンネルの既定のエージェントを「{display}」にしました。自分で選んだ人には、選んだエージェントが答えます。",
    default_refused="チャンネルの既定を決められるのは、「サーバー管理」の権限がある人だけです。自分の分は </agent use> で選べます。",
    default_nowhere="既定を決められるのは、サーバーのチャンネルだけです。ここでは </agent use> で選んでください。",
)

AGENTS_EN = AgentTexts(
    the_default="Standard",
    title="Agents that you can use here",
    in_use=" — in use",
    channel_default=" — this channel's default",
    gone="The agent that you chose can't be used here at present: {display} answers instead.",
    only_one="The only agent here is {display}.",
    more="There are {count} more. Type a part of the name into </agent use> to find them.",
    usage="</agent use> switches. Each agent has its own conversation, summary and canvas; memories are shared.",
    using="🎭 From now on {display} answers you here. Each agent has its own conversation, summary and canvas; memories are shared.",
    using_already="{display} answers you here already.",
    default_set="🎭 The default agent of this channel is {display} now. Whoever chose one for themselves keeps it.",
    default_refused="Only members who may manage the server can set a channel's default. Choose your own with </agent use>.",
    default_nowhere="Only a server's channels have a default. Choose your own here with </agent use>.",
)

# ---- agents file -----------------------------------------------------------------------------------------
# What is wrong with the file of agents, as its operator reads of it. What is to be written stands there as it
# would in the file.


@dataclass(frozen=True, slots=True)
class AgentsFileTexts:
    other_table: str
    """Parameter: key."""
    too_many: str
    """Parameter: limit."""
    bad_name: str
    """Parameter: name."""
    not_a_table: str
    """Parameter: name."""
    unknown_key: str
    """Parameters: name, key, keys."""
    wrong: str
    """Parameters: name, key, expected."""
    default_places: str
    """Parameter: key."""
    display_name: str
    """Parameter: limit (characters)."""
    description: str
    """Parameter: limit (characters)."""
    prompt: str
    """Parameter: limit (characters)."""
    model: str
    temperature: str
    tools: str
    """Parameter: tools (their names)."""
    guilds: str
    channels: str
    dms: str


AGENTS_FILE_JA = AgentsFileTexts(
    other_table="{key} は知らないキーです。エージェントは [agents.名前] の表に書いてください。",
    too_many="エージェントは {limit} 個までです。",
    bad_name="[agents.{name}]: 名前には半角の英小文字・数字・- と _ を使い、32文字までにしてください。",
    not_a_table="agents.{name} は表にしてください（[agents.{name}] の下に display_name などを書きます）。",
    unknown_key="[agents.{name}] の {key} は知らないキーです。使えるキー: {keys}",
    wrong="[agents.{name}] の {key} を直してください。正しい書き方: {expected}",
    default_places="[agents.default] に {key} は書けません。default は、ほかに答えるエージェントがいないところすべてで答えます。",
    display_name='display_name = "先生" または {{ ja = "先生", en = "Teacher" }}（{limit}文字まで）',
    description='description = "…" または {{ ja = "…", en = "…" }}（{limit}文字まで）',
    prompt='prompt = """…"""（{limit}文字までの文字列）',
    model='model = "gpt-5.4-mini"（カンマで区切ると、先頭が使えないときに次を試します）',
    temperature="temperature = 0.7（0 から 2 までの数）",
    tools='tools = ["recall"]（使えるツールの名前のリスト。空なら何も使いません）。ツール: {tools}',
    guilds="guilds = [123456789012345678]（サーバーIDのリスト）",
    channels="channels = [123456789012345678]（チャンネルIDのリスト）",
    dms="dms = true または dms = false",
)

AGENTS_FILE_EN = AgentsFileTexts(
    other_table="{key} is not a known key. Agents are written as tables named [agents.name].",
    too_many="There may be up to {limit} agents.",
    bad_name="[agents.{name}]: a name is made of lower-case letters, digits, - and _, with up to 32 characters.",
    not_a_table="agents.{name} has to be a table (display_name and the like stand under [agents.{name}]).",
    unknown_key="[agents.{name}] has a key that is not known: {key}. The keys are: {keys}",
    wrong="[agents.{name}] {key} is not as it should be. Write it like this: {expected}",
    default_places="[agents.default] can't have {key}: it answers wherever no other agent does.",
    display_name='display_name = "Teacher" or {{ ja = "…", en = "Teacher" }} (up to {limit} characters)',
    description='description = "…" or {{ ja = "…", en = "…" }} (up to {limit} characters)',
    prompt='prompt = """…""" (text of up to {limit} characters)',
    model='model = "gpt-5.4-mini" (a comma list is a fallback chain)',
    temperature="temperature = 0.7 (a number from 0 to 2)",
    tools='tools = ["recall"] (a list of the tools it may use; none if empty). The tools: {tools}',
    guilds="guilds = [123456789012345678] (a list of server ids)",
    channels="channels = [123456789012345678] (a list of channel ids)",
    dms="dms = true or dms = false",
)

# ---- operator file ---------------------------------------------------------------------------------------
# What is wrong with a file that its operator wrote, whatever it is for.


@dataclass(frozen=True, slots=True)
class OperatorFileTexts:
    missing: str
    """Parameter: variable (the setting that names the file)."""
    unreadable: str
    no_file: str
    too_large: str
    """Parameter: limit (KB)."""
    not_utf8: str
    not_toml: str
    """Parameter: problem (of Python's parser, in English, with line and column)."""


OPERATOR_FILE_JA = OperatorFileTexts(
    missing="{variable} で指定されたファイルがありません。作成するか、指定を直してください。",
    unreadable="ファイルを開けません。読み取りの権限を確かめてください。",
    no_file="ふつうのファイルではありません（フォルダやパイプなどです）。ファイルを置いてください。",
    too_large="ファイルが大きすぎます（{limit} KB まで）。",
    not_utf8="文字コードを UTF-8 にして保存し直してください。",
    not_toml="TOML として読めないところがあります: {problem}",
)

OPERATOR_FILE_EN = OperatorFileTexts(
    missing="The file that {variable} names does not exist. Create it or correct the setting.",
    unreadable="It can't be opened. Check the permission to read it.",
    no_file="It is no ordinary file but a folder, a pipe or the like. Put a file there.",
    too_large="It is too large (up to {limit} KB).",
    not_utf8="Save it in UTF-8.",
    not_toml="It is not valid TOML: {problem}",
)

# ---- policy file -----------------------------------------------------------------------------------------
# What is wrong with the file of limits, prices and access, as its operator reads of it. What is to be written
# stands there as it would in the file.


@dataclass(frozen=True, slots=True)
class PolicyFileTexts:
    other_table: str
    """Parameter: key."""
    not_a_table: str
    """Parameter: name."""
    bad_id: str
    """Parameter: name."""
    unknown_key: str
    """Parameters: name, key, keys."""
    wrong: str
    """Parameters: name, key, expected."""
    limit: str
    price: str
    currency: str
    ids: str


POLICY_FILE_JA = PolicyFileTexts(
    other_table="{key} は知らないキーです。使えるのは [limits]、[prices]、[access] の表です。",
    not_a_table="{name} は表にしてください（[{name}] の下に書きます）。",
    bad_id='[{name}]: Discord の ID を数字で書いてください（例: [limits.users."123456789012345678"]）。',
    unknown_key="[{name}] の {key} は知らないキーです。使えるキー: {keys}",
    wrong="[{name}] の {key} を直してください。正しい書き方: {expected}",
    limit=f'1 から {LARGEST} までの整数、または "unlimited"（制限なし）',
    price="100万トークンあたりの値段（0 以上の数）。input と output は必ず書きます",
    currency='currency = "JPY"（3文字の通貨コード）',
    ids="[123456789012345678]（ID のリスト）",
)

POLICY_FILE_EN = PolicyFileTexts(
    other_table="{key} is not a known key. There are the tables [limits], [prices] and [access].",
    not_a_table="{name} has to be a table (its keys stand under [{name}]).",
    bad_id='[{name}]: write an id of Discord in digits, as in [limits.users."123456789012345678"].',
    unknown_key="[{name}] has a key that is not known: {key}. The keys are: {keys}",
    wrong="[{name}] {key} is not as it should be. Write it like this: {expected}",
    limit=f'a whole number from 1 to {LARGEST}, or "unlimited"',
    price="the price of a million tokens (a number from 0); input and output have to be there",
    currency='currency = "USD" (a currency code of three letters)',
    ids="[123456789012345678] (a list of ids)",
)
