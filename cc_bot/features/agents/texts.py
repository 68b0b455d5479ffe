from cc_bot.texts.area import Area, Both, Sentence
from cc_bot.texts.commands import CommandTexts


class AgentTexts(Area):
    title = Sentence(ja="ここで使えるエージェント", en="Agents that you can use here")
    choose = Sentence(ja="選ぶ", en="Choose")
    in_use = Sentence(ja=" — 使用中", en=" — in use")
    channel_default = Sentence(ja=" — このチャンネルの既定", en=" — this channel's default")
    gone = Sentence(ja="選んだエージェントはいまここでは使えないので、「{display}」が答えます。", en="The agent that you chose can't be used here at the moment, so {display} answers instead.")
    only_one = Sentence(ja="「{display}」だけです。", en="Only {display}.")
    more = Sentence(ja="ほかに{count}個あります。</agent use> で名前の一部を入力すると見つかります。", en="There are {count} more. Type a part of the name into </agent use> to find them.")
    usage = Sentence(ja="</agent use> で切り替えます。会話・要約・キャンバスはエージェントごとに別で、メモリは共通です。", en="</agent use> switches. Each agent has its own conversation, summary and canvas; memories are shared.")
    using = Sentence(ja="🎭 この場所では、これから「{display}」がお答えします。会話・要約・キャンバスはエージェントごとに別で、メモリは共通です。", en="🎭 From now on {display} answers you here. Each agent has its own conversation, summary and canvas; memories are shared.")
    using_already = Sentence(ja="この場所では、もう「{display}」がお答えしています。", en="{display} already answers you here.")
    default_set = Sentence(ja="🎭 このチャンネルの既定のエージェントを「{display}」にしました。自分で選んだ人には、選んだエージェントが答えます。", en="🎭 The default agent of this channel is {display} now. Users who chose their own agent keep it.")
    default_refused = Sentence(ja="チャンネルの既定を決められるのは、「サーバー管理」の権限がある人だけです。自分の分は </agent use> で選べます。", en="Only members who may manage the server can set a channel's default. Choose your own with </agent use>.")
    default_nowhere = Sentence(ja="既定を決められるのは、サーバーのチャンネルだけです。ここでは </agent use> で選んでください。", en="Only a server's channels have a default. Choose your own here with </agent use>.")


class AgentsFileTexts(Area):
    other_table = Sentence(ja="{key} は知らないキーです。エージェントは [agents.名前] の表に書いてください。", en="{key} is not a known key. Agents are written as tables named [agents.name].")
    too_many = Sentence(ja="エージェントは {limit} 個までです。", en="There can be at most {limit} agents.")
    bad_name = Sentence(ja="[agents.{name}]: 名前には半角の英小文字・数字・- と _ を使い、32文字までにしてください。", en="[agents.{name}]: a name may contain lower-case letters, digits, - and _, and has up to 32 characters.")
    default_locations = Sentence(ja="[agents.default] に {key} は書けません。default は、ほかに答えるエージェントがいないところすべてで答えます。", en="[agents.default] can't have {key}: it answers wherever no other agent does.")
    display_name = Sentence(ja='display_name = "先生" または {{ ja = "先生", en = "Teacher" }}（{limit}文字まで）', en='display_name = "Teacher" or {{ ja = "…", en = "Teacher" }} (up to {limit} characters)')
    description = Sentence(ja='description = "…" または {{ ja = "…", en = "…" }}（{limit}文字まで）', en='description = "…" or {{ ja = "…", en = "…" }} (up to {limit} characters)')
    prompt = Sentence(ja='prompt = """…"""（{limit}文字までの文字列）', en='prompt = """…""" (text of up to {limit} characters)')
    model = Sentence(ja='model = "gpt-5.4-mini"（カンマで区切ると、先頭が使えないときに次を試します）', en='model = "gpt-5.4-mini" (separated by commas, later models are fallbacks)')
    reasoning = Sentence(ja='reasoning = "low"（none、minimal、low、medium、high のどれか）', en='reasoning = "low" (one of none, minimal, low, medium and high)')
    temperature = Sentence(ja="temperature = 0.7（0 から 2 までの数）", en="temperature = 0.7 (a number from 0 to 2)")
    tools = Sentence(ja='tools = ["recall"]（使えるツールの名前のリスト。空なら何も使いません）。ツール: {tools}', en='tools = ["recall"] (a list of the tools it may use; none if empty). The tools: {tools}')
    guilds = Sentence(ja="guilds = [123456789012345678]（サーバーIDのリスト）", en="guilds = [123456789012345678] (a list of server ids)")
    channels = Sentence(ja="channels = [123456789012345678]（チャンネルIDのリスト）", en="channels = [123456789012345678] (a list of channel ids)")
    dms = Sentence(ja="dms = true または dms = false", en="dms = true or dms = false")


class AgentCommandTexts(CommandTexts):
    agent = Both(ja=("エージェント", "だれが答えるかを選びます"), en=("agent", "Who answers you"))
    agent_list = Both(ja=("一覧", "ここで使えるエージェントを一覧にします"), en=("list", "List the agents that you can use here"))
    agent_use = Both(ja=("使う", "このチャンネルであなたに答えるエージェントを選びます"), en=("use", "Choose who answers you in this channel"))
    agent_default = Both(ja=("既定", "このチャンネルの既定のエージェントを決めます（サーバーを管理する人だけ）"), en=("default", "Choose who answers in this channel by default (for those who manage the server)"))
    agent_name = Both(ja=("名前", "エージェント。名前の一部を入力すると候補が出ます"), en=("name", "An agent; type a part of its name to choose from matches"))


class AgentCheckTexts(Area):
    agents = Sentence(ja="エージェント", en="Agents")
    agents_ok = Sentence(ja="{count} 人が使えます。", en="Agents that can be used: {count}.")
    agents_none = Sentence(ja="ファイルはありません（既定のエージェントだけです）。", en="There is no file; only the default agent.")
