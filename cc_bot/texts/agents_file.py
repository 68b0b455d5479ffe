"""What is wrong with the file of agents, as its operator reads of it. What is to be written stands there as it
would in the file."""

from dataclasses import dataclass


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


JA = AgentsFileTexts(
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

EN = AgentsFileTexts(
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
